"""How files differ, as people read it: one line a file, and the lines of its diff in their colours.

Layer: cli. Paths and lines were written by a model or a machine; people decide by them, so what hides is revealed.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.cli.figures import counted
from stead.cli.output import Output, reveal_line
from stead.cli.templates import fill
from stead.client import Json
from stead.domain.event_words import changed_file
from stead.domain.shown import reveal

_LINE_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def path_of(change: Json) -> str:
    """The path of a change, whole."""
    return reveal_line(change["path"]) + ("/" if change["what"] == "folder" else "")


def headline(change: Json) -> str:
    """A ``FileChange`` on one line: path, kind of change, and counts of lines."""
    return fill(changed_file(change), change)


def diff_lines(change: Json, out: Output, *, limit: int = 0) -> list[str]:
    """The lines of its diff, which has no names of files; cut to so many (0: all). What is cut is said."""
    lines = reveal(change["diff"].replace("\r\n", "\n")).split("\n") if change["diff"] else []
    shown = lines[:limit] if limit else lines
    left = len(lines) - len(shown) + max(0, change.get("cut", 0))
    return [styled(line, out) for line in shown] + ([f"… {counted(left, 'more line')}"] if left else [])


def print_changes(out: Output, changes: Sequence[Json], *, stat: bool) -> None:
    """Every change, with its diff unless only the figures are wanted, and the sum of them."""
    for change in changes:
        out.line(out.style(headline(change), "bold"))
        for line in () if stat else diff_lines(change, out):
            out.line(f"    {line}")
    added, removed = (sum(change[name] for change in changes) for name in ("added", "removed"))
    out.line(f"{counted(len(changes), 'path')} differ{'s' if len(changes) == 1 else ''}: +{added} -{removed} lines")


def styled(line: str, out: Output) -> str:
    """A line of a diff in its colour."""
    style = _LINE_STYLES.get(line[:1])
    return out.style(line, style) if style else line
