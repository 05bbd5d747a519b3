"""What became of the changes of an objective or a session, in words.

Layer: cli. Every path was chosen by a machine, and what hides in it is revealed.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead.cli.figures import counted
from stead.cli.output import clean_line, reveal_line
from stead.cli.templates import Line
from stead.client import Json

_PATHS = 10


def review_lines(row: Json) -> Iterator[str]:
    """What waits in an objective or a session, and the commands for it; none where nothing does.

    Args:
        row: with ``id`` and ``review``: its row, or as the event has them.
    """
    waiting, session = row["review"]["waiting"], clean_line(row["id"])
    if not waiting:
        return
    many = "more changes than can be counted wait" if waiting < 0 else counted(waiting, "change waits", "changes wait")
    yield f"{many} for your review: stead held diff {session}"
    for held in row["review"]["held"]:
        yield f"  {reveal_line(held['path'])}" + (f"  ({reveal_line(held['why'])})" if held["why"] else "")
    yield f"then: stead held apply {session}  or  stead held discard {session}"


def told_of_changes(stream: str, body: Json) -> Iterator[Line]:
    """The lines that tell an event of them; none where everything simply landed."""
    match body["type"]:
        case "changes.landed":
            landing = body["landing"]
            for path in landing.get("merged", ())[:_PATHS]:
                yield f"    merged with what you changed meanwhile: {reveal_line(path)}", "yellow"
            yield from _listed("held for your review", landing["held"])
            yield from _listed("never carried over", landing["refused"])
            if landing["failed"]:
                yield f"    not in your folder yet, to be tried again: {reveal_line(landing['failed'])}", "red"
        case "review.wanted":
            for path in body["runnable"]:
                yield f"new in your folder, and can be run: {reveal_line(path)}", "yellow"
            for line in review_lines({"id": stream, "review": body["review"]}):
                yield line, "yellow"
        case "trial.applied":
            yield f"applied {counted(body['applied'], 'change')} (from {clean_line(body['door'])})", ""
        case _:
            yield f"the changes that waited were thrown away (from {clean_line(body['door'])})", "yellow"


def _listed(what: str, held: list[Json]) -> Iterator[Line]:
    for one in held[:_PATHS]:
        yield f"    {what}: {reveal_line(one['path'])} ({reveal_line(one['why'])})", "yellow"
    if len(held) > _PATHS:
        yield f"    … and {len(held) - _PATHS} more", "yellow"
