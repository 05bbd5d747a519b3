"""Acceptance checks: what has to be true before an objective counts as verified.

Layer: cli. A check is typed data in the API; here it is one word of a kind, a colon and what it is about, or simply a
command line.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence

from stead.cli.forms import OBJECTIVE, Act, Row, arg, family
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import Output
from stead.cli.templates import fill
from stead.client import Json
from stead.domain.event_words import TOUCHED

_KINDS = ("command", "exists", "absent", "contains", "matches", "parses", "changed", "untouched", "effect", "person")
_JSON = '{"kind"'
"""How a check in JSON begins; a command line may begin with a brace."""
_WITH_TEXT = ("contains", "matches")
DONE_WHEN = arg(
    "--done-when CHECK...",
    "a command that must exit 0, or exists:FILE, absent:FILE, contains:FILE:TEXT, matches:FILE:REGEX, parses:FILE, "
    "changed:GLOB, untouched:GLOB, effect:CLASS[:TOOL], person:QUESTION, or a check in JSON; again for more",
)


def parse_check(text: str) -> Json:
    """A check as typed data.

    Raises:
        CommandError: its kind needs more than was given.
    """
    if text.lstrip().startswith(_JSON):
        try:
            check: Json = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{text!r} is no check: {error}", "see docs/how-to/checks.md") from error
        return check
    kind, colon, rest = text.partition(":")
    if not colon or kind not in _KINDS:
        return {"kind": "command", "subject": text.strip()}
    subject, second, more = rest.partition(":")
    if kind == "effect":
        return {"kind": kind, "subject": subject.strip(), "tool": more.strip()}
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
        if touched := ", ".join(row["touched"]):
            out.line(out.style(fill(f"      {TOUCHED}", {"touched": touched}), "yellow"))
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


def _rows(invocation: Invocation, arguments: Namespace, named: Sequence[str] = ()) -> list[Json]:
    """The checks of an objective, each as an item; those that are named are among them."""
    items = [row["item"] for row in invocation.client.get(f"/objectives/{arguments.id}")["checks"]]
    if unknown := [id for id in named if id not in [item["id"] for item in items]]:
        raise CommandError(f"there is no check {unknown[0]!r}", f"stead checks show {arguments.id}")
    return items


def _put(invocation: Invocation, arguments: Namespace, checks: list[Json], dropped: Sequence[str] = ()) -> int:
    body = {"checks": checks, "dropped": dropped}
    answer = invocation.client.put(f"/sessions/{arguments.id}/checks", body)
    if invocation.out.as_json:
        return invocation.report(answer)
    return _show(invocation, arguments)


def _own(items: Sequence[Json], but: Sequence[str] = ()) -> list[Json]:
    return [item["check"] for item in items if item.get("accepted", True) and item["id"] not in but]


def _add(invocation: Invocation, arguments: Namespace) -> int:
    items = _rows(invocation, arguments)
    return _put(invocation, arguments, [*_own(items), *map(parse_check, arguments.check)])


def _accept(invocation: Invocation, arguments: Namespace) -> int:
    items = _rows(invocation, arguments, arguments.check)
    wanted = arguments.check or [item["id"] for item in items]
    kept = [item["check"] for item in items if item.get("accepted", True) or item["id"] in wanted]
    return _put(invocation, arguments, kept)


def _change(invocation: Invocation, arguments: Namespace) -> int:
    items = _rows(invocation, arguments, [arguments.old])
    checks = [*_own(items, [arguments.old]), parse_check(arguments.check)]
    return _put(invocation, arguments, checks, [arguments.old])


def _remove(invocation: Invocation, arguments: Namespace) -> int:
    items = _rows(invocation, arguments, arguments.check)
    return _put(invocation, arguments, _own(items, arguments.check), arguments.check)


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
    "change": (
        "put a check of yours in place of another, or of a proposal",
        (OBJECTIVE, arg("old ID", "which"), arg("check CHECK", "as after --done-when")),
        _change,
    ),
    "remove": ("take checks away, proposals included", (OBJECTIVE, _IDS), _remove),
    "confirm": (
        "answer a check that asks you",
        (OBJECTIVE, arg("check ID", "which"), arg("--no", "it does not hold")),
        Act("POST /sessions/{id}/checks/{check}", "Noted.", _answer),
    ),
}
COMMANDS = {"checks": family("checks", _ROWS, "show")}
