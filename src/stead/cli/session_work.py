"""A session's queue of calls, its plan and its budget, looked at and changed.

Layer: cli.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from stead.cli.budgets import cost_line, parse_tokens, parse_usd
from stead.cli.editing import edited, parse
from stead.cli.finding import call_key, find_session
from stead.cli.invocation import NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.narrating import subject_of
from stead.cli.output import clean_line
from stead.cli.session_reading import print_plan
from stead.cli.session_talking import read_text
from stead.client import Json

_MARKS = {" ": "todo", "": "todo", ">": "doing", "x": "done", "X": "done", "-": "skipped"}
_STEP = re.compile(r"(?:[-*]\s+|\d+[.)]\s+)?(?:\[(?P<mark>[ xX>-]?)\]\s*)?(?P<title>.*)")


def _calls(invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    rows = list(invocation.client.items(f"/sessions/{session}/calls"))
    cells = [
        [
            *(row["key"], row["tool"], row["step"] + (", edited" if row["edited"] else "")),
            *(subject_of(row["arguments"], 80), row["approval"]),
        ]
        for row in rows
    ]
    invocation.out.rows(rows, ["KEY", "TOOL", "STEP", "ABOUT", "QUESTION"], cells, "The queue is empty.")
    return OK


def _call(invocation: Invocation, arguments: Namespace) -> int:
    session, key = find_session(invocation.client, arguments.id), call_key(arguments.key)
    path = f"/sessions/{session}/calls/{key}"
    if arguments.action != "edit" and arguments.arguments:
        raise CommandError("only edit takes arguments", f"stead session call edit {session} {key} JSON")
    match arguments.action:
        case "edit":
            body = {"arguments": _wanted(invocation, session, key, arguments.arguments)}
            answer = invocation.client.post(f"{path}/edit", body)
            return invocation.report(answer, f"{key} runs so. Watch it: stead session attach {session}")
        case "cancel":
            answer = invocation.client.post(f"{path}/cancel", {"reason": arguments.reason})
            return invocation.report(answer, f"{key} is called off; the others go on.")
        case _:
            answer = invocation.client.post(f"{path}/retry", {})
            return invocation.report(answer, f"{key} is to run again. Watch it: stead session attach {session}")


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
        raise CommandError(
            "there is no terminal to edit at",
            f"stead session call edit {session} {key} JSON",
            exit_code=NEEDS_PERSON,
        )
    return edited(invocation, row["arguments"])


def _plan(invocation: Invocation, arguments: Namespace) -> int:
    session, out = find_session(invocation.client, arguments.id), invocation.out
    if arguments.set:
        steps = _steps(read_text("-", "plan") if arguments.set == "-" else Path(arguments.set).read_text("utf-8"))
        answer = invocation.client.put(f"/sessions/{session}/plan", {"steps": steps})
        return invocation.report(answer, f"The plan has {len(steps)} steps; the model is told before its next request.")
    steps = invocation.client.get(f"/sessions/{session}")["plan"]
    if out.as_json:
        out.json({"steps": steps})
    elif steps:
        print_plan(out, steps)
        out.line(f"put another in its place: stead session plan {session} --set FILE")
    else:
        out.line(f"There is no plan. Make one: stead session plan {session} --set FILE")
    return OK


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
    session = find_session(invocation.client, arguments.id)
    tokens = parse_tokens(arguments.tokens, "--tokens") if arguments.tokens else None
    usd_micros = parse_usd(arguments.usd, "--usd") if arguments.usd else None
    row = invocation.client.get(f"/sessions/{session}")
    if tokens is None and usd_micros is None:
        return invocation.report(
            {name: row[name] for name in ("id", "budget", "tokens_used", "usd_micros_used", "price_known")},
            cost_line(row),
        )
    body = {
        "tokens": row["budget"]["tokens"] if tokens is None else tokens,
        "usd_micros": row["budget"]["usd_micros"] if usd_micros is None else usd_micros,
    }
    answer = invocation.client.post(f"/sessions/{session}/budget", body)
    return invocation.report(answer, f"{session} may spend that in all. Look: stead session budget {session}")


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "calls": _calls,
    "call": _call,
    "plan": _plan,
    "budget": _budget,
}
