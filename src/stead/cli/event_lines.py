"""Events in words at a terminal: what ``domain.event_words`` says, cleaned, and the lines of a diff.

Layer: cli. Every value here was written by a model, a tool or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from stead.cli.diffs import diff_lines
from stead.cli.output import Output
from stead.cli.templates import Line, fill
from stead.client import Json
from stead.domain.event_words import Words, worded

DIFF_LINES = 40
"""Lines of one change that are shown as it happens; ``stead session changes`` has them all."""


def filled(words: Iterable[Words]) -> Iterator[Line]:
    """Words as lines for the terminal."""
    return ((fill(template, values), style) for template, values, style in words)


def describe(stream: str, body: Json, out: Output, *, call: str = "a call", verbose: bool = False) -> Iterator[Line]:
    """The lines of an event; none for one that needs no words.

    Args:
        stream: the session's id.
        body: the event.
        out: for the colours of diffs.
        call: the call that it is about, in words.
        verbose: with what the model was given of memory, not only how much.
    """
    if body["type"] == "file.changed":
        yield from _changed(stream, body, out)
        return
    words = worded({**body, "call": call, "session": stream})
    brief = body["type"] == "memory.recalled" and not verbose
    yield from filled(islice(words, 1) if brief else words)


def _changed(stream: str, body: Json, out: Output) -> Iterator[Line]:
    for text, style in filled(worded(body)):
        yield f"{text}  [{fill('{key}', body)}]", style
    lines = diff_lines(body["change"], out, limit=DIFF_LINES)
    for line in lines:
        yield f"    {line}", ""
    if len(lines) > DIFF_LINES:
        yield fill("    all of it: stead session changes {stream} {key}", {**body, "stream": stream}), "dim"
