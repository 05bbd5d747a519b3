"""A session's queue of calls, its plan and its budget, looked at and changed.

Layer: cli.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace

from stead.cli.editing import edited, parse
from stead.cli.forms import CALL, SESSION, Act, Listing, Row, arg, fields
from stead.cli.invocation import NEEDS_PERSON, CommandError, Invocation
from stead.cli.labels import subject_of
from stead.cli.output import clean_line
from stead.cli.session_control import ONE, SWITCH, switch
from stead.cli.session_row import print_plan
from stead.cli.spending import cost_line, tokens_option, usd_option
from stead.cli.templates import fill
from stead.cli.text_input import LIMIT_BYTES, read_file, read_text
from stead.cli.work_options import STRICTNESS
from stead.client import Json

_MARKS = {" ": "todo", "": "todo", ">": "doing", "x": "done", "X": "done", "-": "skipped"}
_STEP = re.compile(r"(?:[-*]\s+|\d+[.)]\s+)?(?:\[(?P<mark>[ xX>-]?)\]\s*)?(?P<title>.*)")
_DONE = {
    "edit": "{key} runs so. Watch it: stead session attach {id}",
    "cancel": "{key} is called off; the others go on.",
    "retry": "{key} is to run again. Watch it: stead session attach {id}",
}


def _call(invocation: Invocation, arguments: Namespace) -> int:
    session, key, action = arguments.id, arguments.key, arguments.action
    if action != "edit" and arguments.arguments:
        raise CommandError("only edit takes arguments", f"stead session call edit {session} {key} JSON")
    body: Json = {"reason": arguments.reason} if action == "cancel" else {}
    if action == "edit":
        body = {"arguments": _wanted(invocation, session, key, arguments.arguments)}
    answer = invocation.client.post(f"/sessions/{session}/calls/{key}/{action}", body)
    return invocation.report(answer, fill(_DONE[action], {"key": key, "id": session}))


def _wanted(invocation: Invocation, session: str, key: str, typed: str) -> str:
    """The new arguments of a call: as they were given, else as the person makes them from those there are."""
    if typed:
        text = read_text(typed, "argument")
        parse(text)
        return text
    rows = invocation.client.items(f"/sessions/{session}/calls")
    row = next((row for row in rows if row["key"] == key), None)
    if row is None:
        raise CommandError(f"there is no open call {key!r}", f"stead session calls {session}", code="not_found")
    if not invocation.interactive:
        way = f"stead session call edit {session} {key} JSON"
        raise CommandError("there is no terminal to edit at", way, exit_code=NEEDS_PERSON)
    return edited(invocation, row["arguments"])


def _plan(invocation: Invocation, arguments: Namespace) -> int:
    session, out = arguments.id, invocation.out
    if arguments.set:
        steps = _steps(read_text("-", "plan") if arguments.set == "-" else read_file(arguments.set, LIMIT_BYTES))
        answer = invocation.client.put(f"/sessions/{session}/plan", {"steps": steps})
        return invocation.report(answer, f"The plan has {len(steps)} steps; the model's next request has them.")
    steps = invocation.client.get(f"/sessions/{session}")["plan"]
    if not out.as_json:
        print_plan(out, steps)
    said = "put another in its place" if steps else "There is no plan. Make one"
    return invocation.report({"steps": steps}, f"{said}: stead session plan {session} --set FILE")


def _steps(text: str) -> list[Json]:
    """The steps of a plan: JSON as ``--json`` gives it, else a line each, like ``[x] done`` or ``todo``."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        steps = value.get("steps") if isinstance(value, dict) else value
        if isinstance(steps, list) and all(isinstance(step, dict) for step in steps):
            return steps
    steps = []
    for line in filter(None, map(str.strip, text.splitlines())):
        found = _STEP.fullmatch(line)
        if found is None or not found["title"].strip():
            raise CommandError(
                f"{clean_line(line, 60)!r} is no step", "a line a step: [x] done, [>] doing, [-] skipped"
            )
        steps.append({"title": found["title"].strip(), "status": _MARKS[found["mark"] or ""]})
    return steps


def _budget(invocation: Invocation, arguments: Namespace) -> int:
    row = invocation.client.get(f"/sessions/{arguments.id}")
    given = {"tokens": arguments.tokens, "usd_micros": arguments.usd}
    given = {name: figure for name, figure in given.items() if figure is not None}
    if not given:
        names = ("id", "budget", "tokens_used", "usd_micros_used", "price_known")
        return invocation.report({name: row[name] for name in names}, cost_line(row))
    answer = invocation.client.post(f"/sessions/{arguments.id}/budget", row["budget"] | given)
    said = f"{arguments.id} may spend that in all. Look: stead session budget {arguments.id}"
    return invocation.report(answer, said)


_CALLS = Listing(
    "/sessions/{id}/calls",
    "KEY: {key} | TOOL: {tool} | STEP: {step}{edited?, edited} | ABOUT: {about} | QUESTION: {approval}",
    "The queue is empty.",
    view=lambda row: {**row, "about": subject_of(row["arguments"], 80)},
)
_CALL = (
    arg("action ACTION", "run it otherwise, not at all, or again", choices=tuple(_DONE)),
    SESSION,
    CALL,
    arg("[arguments JSON]", 'of edit (else your editor); "-": stdin'),
    arg("--reason TEXT", "of cancel; the model reads it"),
)
_SET = arg("--set FILE", 'put another in place, a line a step; "-": stdin')
_IN_ALL = 'in all, or "unlimited"'
_BUDGET = (SESSION, tokens_option("--tokens", _IN_ALL), usd_option("--usd", _IN_ALL))
_PROFILE = arg("profile PROFILE", STRICTNESS, choices=("work", "ask", "readonly"))
_STRICTER = Act(f"POST {ONE}/profile", "{id} has the profile {profile} from its next call on.", fields("profile"))
ROWS: dict[str, Row] = {
    "calls": ("list the queue of calls", (SESSION,), _CALLS),
    "call": ("edit, cancel or retry one call", _CALL, _call),
    "plan": ("show or set the plan", (SESSION, _SET), _plan),
    "model": ("show or switch the model that serves it", (SESSION, *SWITCH), switch),
    "profile": ("choose another strictness", (SESSION, _PROFILE), _STRICTER),
    "budget": ("show or set what it may spend in all", _BUDGET, _budget),
}
