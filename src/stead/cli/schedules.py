"""``schedule``: what runs by itself, when, with what it may use, and what became of each time.

Layer: cli. A time is read here as in every door (``domain.due_times``); the daemon decides whether it can be.
"""

from __future__ import annotations

import re
import time
from argparse import Namespace
from datetime import datetime
from typing import Any

import msgspec

from stead.cli.acceptance import DONE_WHEN, parse_check
from stead.cli.figures import moment
from stead.cli.forms import OBJECTIVE, YES, Act, Listing, Row, arg, family, fields, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.spending import forecast_line
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
    "snoozed": "you had snoozed it",
    "unchanged": "what it watches was as before (since Stead was started)",
    "rate": "too many came in within an hour",
}


_HEARTBEAT = "Go through the checklist in {} with what has changed, and do what it says."


def _row(row: Json) -> Json:
    schedule = row["schedule"]
    last = row["last"] or {}
    return {
        **row,
        **schedule,
        "next": moment(row["next_ms"][0]) if row["next_ms"] else row["why"] or "when it comes",
        "state": "running" if row["running"] else "off" if not row["on"] else "snoozed" if row["snoozed_ms"] else "on",
        "end": last.get("end", ""),
        "does": schedule["job"].get("goal") or f"reviews {schedule['job'].get('session', '')}",
    }


def _run(row: Json) -> Json:
    run: Json = {"session": "", "started_ms": 0, "ended_ms": 0, "end": "", "text": "", "times": 1, "last_ms": 0, **row}
    state = "running" if run["session"] else "waits"
    times = f"{run['times']} times until {moment(run['last_ms'])}: " if run["times"] > 1 else ""
    text = run["text"] or " ".join(run.get("given", "").split()) or (run.get("arrived") or {}).get("delivery", "")
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


def find(invocation: Invocation, name: str) -> Json:
    """The row of a schedule; raises ``CommandError`` where there is none."""
    for row in invocation.client.items("/schedules"):
        if row["schedule"]["name"] == name:
            return dict(row)
    raise CommandError(f"there is no schedule {name!r}", "stead schedule list")


def _add(invocation: Invocation, arguments: Namespace) -> int:
    name = arguments.name
    require_new(invocation, name)
    job = job_of(invocation, arguments)
    schedule = {"name": name, "when": when_of(arguments.when, arguments.zone), "job": job, **_policies(arguments)}
    _confirm(invocation, arguments, schedule)
    return put(invocation, {**schedule, "until_ms": until_of(arguments.until)})


def require_new(invocation: Invocation, name: str) -> None:
    """Refuse the name of a schedule that there is."""
    if any(row["schedule"]["name"] == name for row in invocation.client.items("/schedules")):
        raise CommandError(f"there is a schedule {name!r} already", f"stead schedule change {name}, or another name")


def job_of(invocation: Invocation, arguments: Namespace) -> Json:
    """What is to be done each time, as a request has it."""
    job: Json = {"type": "review", "session": vars(arguments).get("id")}
    if not job["session"]:
        goal = arguments.goal if "goal" in arguments else _HEARTBEAT.format(arguments.checklist)
        job = {"type": "session.open", "goal": read_text(goal, "goal")}
        job |= {"directory": folder_of(arguments.dir, "--dir DIR"), "constraints": arguments.constraint}
        job |= work_fields(arguments) | {"checks": [parse_check(text) for text in arguments.done_when]}
        note_history(invocation, arguments)
    return job


def _confirm(invocation: Invocation, arguments: Namespace, schedule: Json) -> None:
    """At a terminal, read back in words when it would run, with the next five times, and ask.

    Raises:
        CommandError: it never comes, or the person did not mean it. Nothing was set.
    """
    from itertools import islice

    from stead.config import zone_name
    from stead.domain.due_times import SHOWN, due_times, settled, words
    from stead.domain.schedules import When

    if arguments.yes or not invocation.interactive:
        return
    now_ms = int(time.time() * 1000)
    try:
        when = settled(msgspec.convert(schedule["when"], When), zone_name(), now_ms)
    except InvalidRequest as error:
        raise CommandError(str(error), "stead schedule add NAME GOAL --when 'every weekday at 7:30'") from error
    times = [f"  {_at(ms, msgspec.to_builtins(when))}" for ms in islice(due_times(when, now_ms), SHOWN)]
    for line in (f"{schedule['name']} would run: {words(when)}", *times):
        invocation.out.line(line)
    invocation.confirm("yes", "Is that what you mean?", yes=False)


def _at(ms: int, when: Json) -> str:
    """A due time with its weekday, by the clocks of its zone."""
    from zoneinfo import ZoneInfo

    from stead.config import zone_name

    zone = when.get("zone") or zone_name()
    return f"{datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)):%a %Y-%m-%d %H:%M:%S} {zone}"


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
    schedule = {**find(invocation, arguments.name)["schedule"], **_policies(arguments)}
    if arguments.when or arguments.zone:
        text = arguments.when or schedule["when"].get("expression") or schedule["when"].get("at", "").replace("T", " ")
        schedule["when"] = when_of(text, arguments.zone or schedule["when"].get("zone", ""))
        _confirm(invocation, arguments, schedule)
    if arguments.goal:
        schedule["job"] = {**schedule["job"], "goal": read_text(arguments.goal, "goal")}
    if arguments.until:
        schedule["until_ms"] = 0 if arguments.until == "never" else until_of(arguments.until)
    return put(invocation, schedule)


def put(invocation: Invocation, schedule: Json) -> int:
    """Set a schedule, and show when it will run."""
    answer = invocation.client.post("/schedules", schedule)
    if answer["text"]:
        invocation.out.note(f"note: {clean_line(answer['text'])}")
    row = find(invocation, schedule["name"])
    return invocation.report({"id": schedule["name"], **row}, *shown(invocation, row))


def _check(invocation: Invocation, arguments: Namespace) -> int:
    rows = invocation.client.post(f"/schedules/{arguments.name}/check", {})["items"]
    return _CHECKED.show(invocation, rows, arguments)


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row = find(invocation, arguments.name)
    return invocation.report(row, *shown(invocation, row))


def shown(invocation: Invocation, row: Json) -> list[str]:
    """A schedule's row as lines."""
    job = row["schedule"]["job"]
    cost = forecast_line(invocation.client.get("/forecast", schedule=row["schedule"]["name"]))
    named = ("tools", "allow", "hosts", "secrets", "constraints")
    shown: dict[str, Any] = {
        **_row(row),
        **{name: ", ".join(job.get(name, ())) for name in named},
        "profile": job.get("profile", ""),
        "folder": job.get("directory", ""),
        "end_ms": moment(row["schedule"]["until_ms"]) if row["schedule"]["until_ms"] else "",
        "by": "proposed by a model, confirmed by you" if row["proposed"] else "",
        "waits": row["waiting"] or "",
        "cost": cost if job["type"] == "session.open" else "",
        "snoozed": _at(row["snoozed_ms"], {}) if row["snoozed_ms"] else "",
        "watches": ", ".join(row["watched"]),
        "checked": f"{row['quiet']} times quiet, last {moment(row['checked_ms'])}" if row["checked_ms"] else "",
    }
    times = [f"  {_at(next_ms, row['schedule']['when'])}" for next_ms in row["next_ms"]]
    return [*lines(_SHOWN, shown), *(["  next:", *(f"  {line}" for line in times)] if times else [])]


def _run_now(invocation: Invocation, arguments: Namespace) -> int:
    name, again_ms = arguments.name, 0
    if arguments.again:
        runs = (run for run in invocation.client.items(f"/schedules/{name}/runs") if run["started_ms"])
        again_ms = next((run["due_ms"] for run in runs), 0)
        if not again_ms:
            raise CommandError(f"{name} has not run yet", f"stead schedule run {name}")
    invocation.client.post(f"/schedules/{name}/run", {"again_ms": again_ms})
    return invocation.report({"id": name}, f"{name} runs. See: stead schedule history {name}")


def _snooze(invocation: Invocation, arguments: Namespace) -> int:
    name, until = arguments.name, arguments.until.removeprefix("until ").strip()
    if until == "off":
        until_ms = 0
    elif span := re.fullmatch(r"(\d{1,5}) ?([mhdw])", until):
        until_ms = (
            int(time.time() * 1000) + int(span[1]) * {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}[span[2]] * 1000
        )
    else:
        until_ms = until_of(until)
    invocation.client.post(f"/schedules/{name}/snooze", {"until_ms": until_ms})
    said = f"What is due until {_at(until_ms, {})} is skipped." if until_ms else f"{name} is not snoozed any more."
    return invocation.report({"id": name, "until_ms": until_ms}, said)


def _agenda(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/schedules/agenda", days=arguments.days))
    shown: list[str] = []
    day = ""
    for row in rows:
        if row["day"] != day:
            day = row["day"]
            shown.append(f"{datetime.fromisoformat(day):%a} {day}")
        times = f" and {row['times'] - 1} more until {moment(row['last_ms'])[11:16]}" if row["times"] > 1 else ""
        dots = " …" if row["more"] else ""
        shown.append(f"  {moment(row['first_ms'])[11:16]}  {row['name']}{times}{dots}")
    return invocation.report({"items": rows}, *(shown or ["Nothing will run."]))


_SHOWN = (
    "{name}: {words}, {state}[ ({why})]\n  does: {does:2000}\n[  in: {folder:500}]\n[  may use: {tools:1000}]\n"
    "[  unasked: {allow:1000}]\n[  hosts: {hosts:1000}]\n[  secrets: {secrets:500}]\n[  keeps: {constraints:1000}]\n"
    "[  watches: {watches:2000}]\n[  heartbeat: {checklist:200}]\n[  compared: {checked}]\n"
    "[  profile: {profile}]\n[  a run: {cost:200}]\n  missed: {missed}; while one runs: {overlap}\n"
    "[  until: {end_ms}]\n[  {by}]\n[  snoozed until {snoozed}]\n[  running: {running}]\n[  waiting: {waits}]\n"
    "[  last: {end}]\n[  calendar: {problem:500}]"
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
_WHEN = (
    "a day and a time ('every weekday at 7:30'), cron ('0 7 * * 1-5'), an interval ('every 3h'), a moment "
    "('2026-12-01 07:00'), or a calendar ('15m before events of team.ics matching review')"
)
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
    YES,
)
_WATCH = arg(
    "--watch KIND=WHAT...",
    "run only if this has changed: folder=PATH, file=PATH, http=URL, feed=URL, port=HOST:PORT, command=LINE (in the "
    "sandbox), calendar=PATH, calendar=URL, mailbox=SECRET,USER@HOST[:PORT][/FOLDER]; none to watch nothing",
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
REMOVE: Row = (
    "forget it; what it started goes on",
    (_NAME, YES),
    Act("DELETE /schedules/{name}", "{name} is removed.", confirm="{name} and its history are forgotten."),
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
        (_NAME, arg("--again", "as it ran last, with the event that this run was for")),
        _run_now,
    ),
    "snooze": (
        "skip what is due for a while",
        (_NAME, arg("until UNTIL", "how long (2h, 3d), a date and a time, or off")),
        _snooze,
    ),
    "agenda": (
        "show what will run on the next days",
        (number("--days N", 14, "how many, today included", most=62),),
        _agenda,
    ),
    "check": ("compare what it watches now; nothing runs, and nothing is recorded", (_NAME,), _check),
    "history": ("list its due times, and what became of each", (_NAME,), _HISTORY),
    "remove": REMOVE,
}
COMMANDS = {"schedule": family("schedule", _ROWS, "list")}


def review(invocation: Invocation, session: str, arguments: Namespace) -> None:
    """Have an objective that was just given be reviewed, as ``stead run`` was asked to."""
    when = when_of(f"every {arguments.review_every}")
    name = f"review-{session.removeprefix('s_')}"
    schedule = {"name": name, "when": when, "job": {"type": "review", "session": session}}
    invocation.client.post("/schedules", {**schedule, "until_ms": until_of(arguments.until)})
    invocation.out.note(
        fill("note: it is reviewed {words}; see: stead schedule show {schedule.name}", find(invocation, name))
    )
