"""``schedule``: what runs by itself, when, with what it may use, and what became of each time.

Layer: cli. A time is read here as in every door (``domain.due_times``); the daemon decides whether it can be.
"""

from __future__ import annotations

from argparse import Namespace
from datetime import datetime
from typing import Any

import msgspec

from stead.cli.acceptance import DONE_WHEN, parse_check
from stead.cli.figures import moment
from stead.cli.forms import OBJECTIVE, YES, Act, Listing, Row, arg, family, fields, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.templates import fill, lines
from stead.cli.text_input import read_text
from stead.cli.work_options import WORK, folder_of, note_history, work_fields
from stead.client import Json
from stead.domain.errors import InvalidRequest
from stead.domain.watches import read_watch

_SKIPS = {
    "missed": "Stead did not run then",
    "overlap": "the run before still went on",
    "queue": "too many runs waited already",
    "unchanged": "what it watches was as before (since Stead was started)",
}


_HEARTBEAT = "Go through the checklist in {} with what has changed, and do what it says."


def _row(row: Json) -> Json:
    schedule = row["schedule"]
    last = row["last"] or {}
    return {
        **row,
        **schedule,
        "next": moment(row["next_ms"][0]) if row["next_ms"] else row["why"],
        "state": "running" if row["running"] else "on" if row["on"] else "off",
        "end": last.get("end", ""),
        "does": schedule["job"].get("goal") or f"reviews {schedule['job'].get('session', '')}",
    }


def _run(row: Json) -> Json:
    run: Json = {"session": "", "started_ms": 0, "ended_ms": 0, "end": "", "text": "", "times": 1, "last_ms": 0, **row}
    state = "running" if run["session"] else "waits"
    times = f"{run['times']} times until {moment(run['last_ms'])}: " if run["times"] > 1 else ""
    text = run["text"] or " ".join(run.get("given", "").split())
    return {**run, "state": run["end"] or state, "said": times + _SKIPS.get(text, text)}


def when_of(text: str, zone: str = "") -> Json:
    """When something runs, as a request has it.

    Raises:
        CommandError: the text says no time.
    """
    from stead.domain.due_times import read_when

    try:
        read: Json = msgspec.to_builtins(read_when(text, zone))
    except InvalidRequest as error:
        raise CommandError(str(error), "stead schedule add NAME GOAL --when '0 7 * * 1-5'") from error
    return read


def until_of(text: str) -> int:
    """The moment that a date, or a date and a time, means here, in milliseconds; 0 for ""."""
    if not text:
        return 0
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp()) * 1000
    except (ValueError, OverflowError) as error:
        raise CommandError(f"{text!r} is no date", "give one such as 2026-12-20, or 2026-12-20T18:00") from error


def _find(invocation: Invocation, name: str) -> Json:
    for row in invocation.client.items("/schedules"):
        if row["schedule"]["name"] == name:
            return dict(row)
    raise CommandError(f"there is no schedule {name!r}", "stead schedule list")


def _add(invocation: Invocation, arguments: Namespace) -> int:
    name = arguments.name
    if any(row["schedule"]["name"] == name for row in invocation.client.items("/schedules")):
        raise CommandError(f"there is a schedule {name!r} already", f"stead schedule change {name}, or another name")
    job: Json = {"type": "review", "session": vars(arguments).get("id")}
    if not job["session"]:
        goal = arguments.goal if "goal" in arguments else _HEARTBEAT.format(arguments.checklist)
        job = {"type": "session.open", "goal": read_text(goal, "goal")}
        job |= {"directory": folder_of(arguments.dir, "--dir DIR"), "constraints": arguments.constraint}
        job |= work_fields(arguments) | {"checks": [parse_check(text) for text in arguments.done_when]}
        note_history(invocation, arguments)
    schedule = {"name": name, "when": when_of(arguments.when, arguments.zone), "job": job, **_policies(arguments)}
    return _put(invocation, {**schedule, "until_ms": until_of(arguments.until)})


def _policies(arguments: Namespace) -> Json:
    given = {"missed": arguments.missed, "overlap": arguments.overlap, "most": arguments.most}
    if "watch" in arguments:
        given |= {"watches": _watches(arguments.watch), "checklist": vars(arguments).get("checklist", "")}
    watches_none = "watch" in arguments and arguments.watch == ["none"]
    return {name: value for name, value in given.items() if value or (name == "watches" and watches_none)}


def _watches(texts: list[str]) -> Json:
    """What is watched, as a request has it."""
    try:
        read: Json = msgspec.to_builtins([read_watch(text) for text in texts if text != "none"])
    except InvalidRequest as error:
        raise CommandError(str(error), "stead schedule add NAME GOAL --when 'every 30m' --watch folder=.") from error
    return read


def _change(invocation: Invocation, arguments: Namespace) -> int:
    schedule = {**_find(invocation, arguments.name)["schedule"], **_policies(arguments)}
    if arguments.when or arguments.zone:
        text = arguments.when or schedule["when"].get("expression") or schedule["when"].get("at", "").replace("T", " ")
        schedule["when"] = when_of(text, arguments.zone or schedule["when"].get("zone", ""))
    if arguments.goal:
        schedule["job"] = {**schedule["job"], "goal": read_text(arguments.goal, "goal")}
    if arguments.until:
        schedule["until_ms"] = 0 if arguments.until == "never" else until_of(arguments.until)
    return _put(invocation, schedule)


def _put(invocation: Invocation, schedule: Json) -> int:
    """Set a schedule, and show when it will run."""
    answer = invocation.client.post("/schedules", schedule)
    if answer["text"]:
        invocation.out.note(f"note: {clean_line(answer['text'])}")
    row = _find(invocation, schedule["name"])
    return invocation.report({"id": schedule["name"], **row}, *_shown(row))


def _check(invocation: Invocation, arguments: Namespace) -> int:
    rows = invocation.client.post(f"/schedules/{arguments.name}/check", {})["items"]
    return _CHECKED.show(invocation, rows, arguments)


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row = _find(invocation, arguments.name)
    return invocation.report(row, *_shown(row))


def _shown(row: Json) -> list[str]:
    job = row["schedule"]["job"]
    named = ("tools", "allow", "hosts", "secrets", "constraints")
    shown: dict[str, Any] = {
        **_row(row),
        **{name: ", ".join(job.get(name, ())) for name in named},
        "profile": job.get("profile", ""),
        "folder": job.get("directory", ""),
        "end_ms": moment(row["schedule"]["until_ms"]) if row["schedule"]["until_ms"] else "",
        "by": "proposed by a model, confirmed by you" if row["proposed"] else "",
        "waits": row["waiting"] or "",
        "watches": ", ".join(row["watched"]),
        "checked": f"{row['quiet']} times quiet, last {moment(row['checked_ms'])}" if row["checked_ms"] else "",
    }
    times = [f"  {moment(next_ms)}" for next_ms in row["next_ms"]]
    return [*lines(_SHOWN, shown), *(["  next:", *(f"  {line}" for line in times)] if times else [])]


_SHOWN = (
    "{name}: {words}, {state}[ ({why})]\n  does: {does:2000}\n[  in: {folder:500}]\n[  may use: {tools:1000}]\n"
    "[  unasked: {allow:1000}]\n[  hosts: {hosts:1000}]\n[  secrets: {secrets:500}]\n[  keeps: {constraints:1000}]\n"
    "[  watches: {watches:2000}]\n[  heartbeat: {checklist:200}]\n[  compared: {checked}]\n"
    "[  profile: {profile}]\n  missed: {missed}; while one runs: {overlap}\n[  until: {end_ms}]\n[  {by}]\n"
    "[  running: {running}]\n[  waiting: {waits}]\n[  last: {end}]"
)
_LIST = Listing(
    "/schedules",
    "NAME: {name} | WHEN: {words:60} | NEXT: {next} | STATE: {state} | LAST: {end|never} | DOES: {does:60}",
    "Nothing is scheduled. Add something: stead schedule add NAME GOAL --when '0 7 * * 1-5'",
    view=_row,
)
_HISTORY = Listing(
    "/schedules/{name}/runs",
    "DUE: {due_ms:moment} | END: {state} | SESSION: {session} | BY: {by} | WHY: {said:80}",
    "{name} has not been due yet.",
    view=_run,
)
_CHECKED = Listing(
    "",
    "WATCHES: {watch:60} | STATE: {state} | FOUND: {text:200}",
    "{name} watches nothing. Change that: stead schedule change {name} --watch folder=.",
)
_NAME = arg("name NAME", "a small letter, then up to 30 of a-z, 0-9 and -")
_WHEN = "five fields of cron ('0 7 * * 1-5'), an interval ('every 3h'), or a moment ('2026-12-01 07:00')"
_POLICIES = (
    arg(
        "--missed WHAT",
        "after a time off: skip what was due, run once for it, or run all",
        choices=("skip", "once", "all"),
    ),
    number("--most N", 0, "of --missed all, how many at most (10)", most=100),
    arg("--overlap WHAT", "while the run before goes on: skip the time, or queue it", choices=("skip", "queue")),
    arg("--zone ZONE", "whose clocks count, such as Europe/Berlin (yours)"),
    arg("--until DATE", "nothing is due after that"),
)
_WATCH = arg(
    "--watch KIND=WHAT...",
    "run only if this has changed: folder=PATH, file=PATH, http=URL, feed=URL, port=HOST:PORT, command=LINE (in the "
    "sandbox); none to watch nothing",
)
_CHECKLIST = "a file of the folder that its runs go through; they speak only when there is something to say"
_JOB = (
    *_POLICIES,
    arg("--dir D", "the folder to work in (else the current one)", default="."),
    _WATCH,
    arg("--constraint C...", "a rule to keep"),
    DONE_WHEN,
    *WORK,
)
_ADD = (
    _NAME,
    arg("goal GOAL", 'what to reach each time; "-" reads it from standard input'),
    arg("--when WHEN", _WHEN, required=True),
    *_JOB,
)
_BEAT = (
    _NAME,
    arg("--when WHEN", _WHEN, default="every 30m"),
    arg("--checklist FILE", _CHECKLIST, default="HEARTBEAT.md"),
    *_JOB,
)
_ROWS: dict[str, Row] = {
    "list": ("show schedules (the default)", (), _LIST),
    "add": ("run a goal by itself, with what you allow it here and nothing else", _ADD, _add),
    "heartbeat": ("go through a checklist, only when it or what is watched has changed", _BEAT, _add),
    "review": (
        "take an objective up again each time, until its checks hold",
        (_NAME, OBJECTIVE, arg("--when WHEN", _WHEN, required=True), *_POLICIES),
        _add,
    ),
    "show": ("show one: when it runs, what it may use", (_NAME,), _show),
    "change": (
        "change when it runs, its goal or its policies",
        (
            _NAME,
            arg("--when WHEN", _WHEN),
            arg("--goal GOAL", "what to reach each time"),
            *_POLICIES,
            _WATCH,
            arg("--checklist FILE", _CHECKLIST),
        ),
        _change,
    ),
    "enable": (
        "have it run by itself again; what came meanwhile is not made up for",
        (_NAME,),
        Act("POST /schedules/{name}/switch", "{name} is on.", fields(on=True)),
    ),
    "disable": (
        "have it run by itself no more",
        (_NAME,),
        Act("POST /schedules/{name}/switch", "{name} is off. On again: stead schedule enable {name}", fields(on=False)),
    ),
    "run": (
        "run it once, now",
        (_NAME,),
        Act("POST /schedules/{name}/run", "{name} runs. See: stead schedule history {name}"),
    ),
    "check": ("compare what it watches now; nothing runs, and nothing is recorded", (_NAME,), _check),
    "history": ("list its due times, and what became of each", (_NAME,), _HISTORY),
    "remove": (
        "forget it; what it started goes on",
        (_NAME, YES),
        Act(
            "DELETE /schedules/{name}",
            "{name} is removed.",
            confirm="The schedule {name} and its history are forgotten.",
        ),
    ),
}
COMMANDS = {"schedule": family("schedule", _ROWS, "list")}


def review(invocation: Invocation, session: str, arguments: Namespace) -> None:
    """Have an objective that was just given be reviewed, as ``stead run`` was asked to."""
    when = when_of(f"every {arguments.review_every}")
    name = f"review-{session.removeprefix('s_')}"
    schedule = {"name": name, "when": when, "job": {"type": "review", "session": session}}
    invocation.client.post("/schedules", {**schedule, "until_ms": until_of(arguments.until)})
    invocation.out.note(
        fill("note: it is reviewed {words}; see: stead schedule show {schedule.name}", _find(invocation, name))
    )
