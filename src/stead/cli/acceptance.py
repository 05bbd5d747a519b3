"""Acceptance checks: what has to be true before an objective counts as verified.

Layer: cli. A check is typed data in the API; here it is one word of a kind, a colon and what it is about, or simply a
command line.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from stead.cli.forms import OBJECTIVE, Act, Row, arg, family
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import Output
from stead.cli.templates import fill
from stead.client import Json

_KINDS = ("command", "exists", "absent", "contains", "matches", "parses", "changed", "untouched", "person")
_WITH_TEXT = ("contains", "matches")
DONE_WHEN = arg(
    "--done-when CHECK...",
    "a command that must exit 0, or exists:FILE, absent:FILE, contains:FILE:TEXT, matches:FILE:REGEX, parses:FILE, "
    "changed:GLOB, untouched:GLOB, person:QUESTION; again for more",
)


def parse_check(text: str) -> Json:
    """A check as typed data.

    Raises:
        CommandError: its kind needs more than was given.
    """
    kind, colon, rest = text.partition(":")
    if not colon or kind not in _KINDS:
        return {"kind": "command", "subject": text.strip()}
    subject, second, more = rest.partition(":")
    if kind not in _WITH_TEXT:
        return {"kind": kind, "subject": rest.strip()}
    if not second or not more:
        raise CommandError(f"{text!r} lacks its text", f"{kind}:FILE:TEXT")
    return {"kind": kind, "subject": subject.strip(), "text": more}


def print_checks(out: Output, rows: Sequence[Json]) -> None:
    """Each check in a line: what it came to, and whose it is."""
    for row in rows:
        item, holds = row["item"], row["holds"]
        state = "not run" if holds is None else "holds" if holds else "fails"
        notes = [
            *([f"by the {item['by']}, not accepted"] if not item.get("accepted", True) else []),
            *(["held before the work: proves nothing"] if row["before"] else []),
        ]
        shown = {**row, "id": item["id"], "state": f"{state:<7}", "notes": "; ".join(notes)}
        style = {True: "green", False: "red"}.get(holds, "")
        out.lines([fill("  {id:raw}  {state:raw}  {words:200}[  ({notes:raw})]", shown)], style)
        if holds is False and row["detail"]:
            out.lines([fill("      {detail:300}", row)], "dim")


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row = invocation.client.get(f"/objectives/{arguments.id}")
    if invocation.out.as_json:
        return invocation.report({"checks": row["checks"]})
    if not row["checks"]:
        invocation.out.line(fill("It has no checks. Give it one: stead checks add {id} 'make test'", row))
    print_checks(invocation.out, row["checks"])
    return OK


def _owned(invocation: Invocation, arguments: Namespace) -> list[Json]:
    rows = invocation.client.get(f"/objectives/{arguments.id}")["checks"]
    return [row["item"] for row in rows if row["item"].get("accepted", True)]


def _put(invocation: Invocation, arguments: Namespace, checks: list[Json]) -> int:
    answer = invocation.client.put(f"/sessions/{arguments.id}/checks", {"checks": checks})
    if invocation.out.as_json:
        return invocation.report(answer)
    return _show(invocation, arguments)


def _add(invocation: Invocation, arguments: Namespace) -> int:
    own = [item["check"] for item in _owned(invocation, arguments)]
    return _put(invocation, arguments, [*own, *map(parse_check, arguments.check)])


def _accept(invocation: Invocation, arguments: Namespace) -> int:
    rows = invocation.client.get(f"/objectives/{arguments.id}")["checks"]
    wanted = arguments.check or [row["item"]["id"] for row in rows]
    if unknown := [id for id in wanted if id not in [row["item"]["id"] for row in rows]]:
        raise CommandError(f"there is no check {unknown[0]!r}", f"stead checks show {arguments.id}")
    items = [row["item"] for row in rows]
    kept = [item["check"] for item in items if item.get("accepted", True) or item["id"] in wanted]
    return _put(invocation, arguments, kept)


def _remove(invocation: Invocation, arguments: Namespace) -> int:
    own = _owned(invocation, arguments)
    if unknown := [id for id in arguments.check if id not in [item["id"] for item in own]]:
        raise CommandError(f"there is no check of yours {unknown[0]!r}", f"stead checks show {arguments.id}")
    return _put(invocation, arguments, [item["check"] for item in own if item["id"] not in arguments.check])


def _answer(arguments: Namespace) -> Json:
    return {"holds": not arguments.no}


_CHECKS = arg("check CHECK...", "as after --done-when")
_IDS = arg("check ID...", "as `stead checks show` lists them")
_ROWS: dict[str, Row] = {
    "show": ("the checks of an objective, and what each came to (the default)", (OBJECTIVE,), _show),
    "add": ("add checks of your own", (OBJECTIVE, _CHECKS), _add),
    "accept": (
        "make proposed checks yours; without an ID all of them",
        (OBJECTIVE, arg("[check ID...]", "which")),
        _accept,
    ),
    "remove": ("take checks of yours back", (OBJECTIVE, _IDS), _remove),
    "confirm": (
        "answer a check that asks you",
        (OBJECTIVE, arg("check ID", "which"), arg("--no", "it does not hold")),
        Act("POST /sessions/{id}/checks/{check}", "Noted.", _answer),
    ),
}
COMMANDS = {"checks": family("checks", _ROWS, "show")}
