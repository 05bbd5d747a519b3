"""What is remembered, told and forgotten, event by event, in words.

Layer: cli. Every text here may have been written by a model, a tool or a stranger, and is cleaned before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead.cli import figures
from stead.cli.output import clean_line
from stead.client import Json

Line = tuple[str, str]
"""A line, ready to be shown, and its style; "" for none."""
_MARKS = {"memory.made": "+", "memory.amended": "~", "memory.retired": "-", "memory.restored": "+"}
_TEXT = 140


def told(body: Json, *, verbose: bool) -> Iterator[Line]:
    """The lines that tell an event of memory; none for any other.

    Args:
        body: the event.
        verbose: with what was told to the model, not only how much.
    """
    match body["type"]:
        case "memory.loaded":
            names = ", ".join(clean_line(file["path"], 80) for file in body["files"])
            yield f"begins with what is remembered: {names or 'nothing yet'}", "dim"
        case "memory.recalled":
            yield from _recalled(body, verbose=verbose)
        case "content.redacted":
            yield f"words of {figures.counted(len(body['events']), 'event')} here were forgotten", "yellow"
        case "memory.forgetting":
            yield f"is being forgotten: {_size(body)} (from {clean_line(body['door'])})", "yellow"
        case "memory.forgotten":
            yield from _forgotten(body)
        case "memory.proposed":
            yield f"? {clean_line(body['id'])}  {clean_line(body['why'], _TEXT)}", ""
        case "memory.settled":
            answer = "accepted" if body["accepted"] else "refused"
            yield f"{clean_line(body['id'])} was {answer} (from {clean_line(body['door'])})", ""
        case "memory.consolidated":
            did = ", ".join(f"{body[name]:,} {name}" for name in ("read", "made", "retired", "proposed"))
            yield f"{clean_line(body['run'])} by {clean_line(body['by'])}: {did}", "dim"
        case kind if kind in _MARKS:
            yield _fact(_MARKS[kind], body), ""
        case _:
            return


def _recalled(body: Json, *, verbose: bool) -> Iterator[Line]:
    dead = f" ({clean_line(', '.join(body['dead']), 80)}: out of work)" if body["dead"] else ""
    many = figures.counted(len(body["told"]), "remembered thing") if body["told"] else "nothing that is remembered"
    yield f"told {many}{dead}", "dim"
    for one in body["told"] if verbose else ():
        by = clean_line(", ".join(one["by"]), 60)
        yield f"  {clean_line(one['ref'])}  {clean_line(one['text'], _TEXT)}  ({by})", "dim"


def _forgotten(body: Json) -> Iterator[Line]:
    receipt = body["receipt"]
    yield f"forgotten for good: {_size(receipt)}", "yellow"
    for name in receipt["left"]:
        yield f"  still in {clean_line(name, 200)}", "red"
    for name in receipt["backups"]:
        yield f"  an older backup has it: {clean_line(name, 200)}", ""


def _size(body: Json) -> str:
    memories = figures.counted(len(body["memories"]), "memory", "memories")
    return f"{memories}, words of {figures.counted(len(body['events']), 'event')}"


def _fact(mark: str, body: Json) -> str:
    if "memory" in body:
        return f"{mark} {clean_line(body['memory']['id'])}  {clean_line(body['memory']['text'], _TEXT)}"
    by = f", in its place {clean_line(body['by'])}" if body.get("by") else ""
    return f"{mark} {clean_line(body['id'])}  {clean_line(body.get('why', 'told again'))}{by}"
