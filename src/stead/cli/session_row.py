"""An objective or a session in full, as both kinds of command show it.

Layer: cli.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.cli.acceptance import print_checks
from stead.cli.figures import counted
from stead.cli.labels import model_name
from stead.cli.output import Output, clean
from stead.cli.spending import cost_line
from stead.cli.templates import fill, pairs
from stead.client import Json
from stead.domain.event_words import fact_words, opinion_words

_STYLES = {
    "running": "cyan",
    "waiting": "yellow",
    "paused": "yellow",
    "idle": "green",
    "answered": "green",
    "verified": "green",
    "unverified": "yellow",
    "incomplete": "red",
    "failed": "red",
}
_PAIRS = (
    "status: {status:raw}[ ({why:200})] | turns: [{turns}] | directory: {directory} | models: {models:then}"
    " | used: {used} | created: {created_ms:moment} | ended: {ended_ms:moment} | here: {here}"
    " | tags: {tags:400} | archived: {archived?yes} | deleted: {trashed_ms?yes, it is in the trash}"
)
_LAST_LINES = 20


def print_row(out: Output, row: Json, watchers: Sequence[Json] = ()) -> None:
    """Its status, what it uses, its words and its plan."""
    status = fill("{status}", row)
    shown = {
        **row,
        "status": out.style(status, _STYLES[status]) if status in _STYLES else status,
        "why": "" if row["reason"] == "done" else row["reason"],
        "models": [model_name(model) for model in row["chain"]],
        "used": cost_line(row),
        "here": [watcher["door"] for watcher in watchers],
    }
    out.line(out.style(fill("{id}: {title}", row), "bold"))
    by = {True: "kept by the guard", False: "only asked of the model"}
    keep = [("keep", f"{fill('{}', text)}  ({by[text in row['guarded']]})") for text in row["constraints"]]
    out.pairs([*pairs(_PAIRS, shown), *keep], indent="  ")
    _print_text(out, row, "goal", row["goal"])
    _print_text(out, row, "last words" if row["kind"] == "session" else "summary", row["summary"])
    if row["ended_ms"] or row["turns"]:
        out.line("on record")
        words = (*fact_words(row["facts"]), *opinion_words(row.get("opinion")))
        out.lines(fill(template, given) for template, given, _ in words)
    if row["checks"]:
        out.line("done when")
        print_checks(out, row["checks"])
    if row["plan"]:
        out.line("plan")
        print_plan(out, row["plan"])


def print_plan(out: Output, steps: Sequence[Json]) -> None:
    """A plan, one numbered line a step."""
    for number, step in enumerate(steps, 1):
        out.line(f"  {number}. {fill('{status}', step):<7} {fill('{title}', step)}")


def _print_text(out: Output, row: Json, heading: str, text: str) -> None:
    if text.strip() in ("", row["title"]):
        return
    every = clean(text).strip("\n").split("\n")
    out.line(heading)
    for line in every[:_LAST_LINES]:
        out.line(f"  {line}".rstrip())
    if len(every) > _LAST_LINES:
        rest = counted(len(every) - _LAST_LINES, "more line")
        out.line(f"  … {rest}: stead session export {fill('{id}', row)}")
