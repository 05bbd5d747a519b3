"""How files differ, as people read it: one line a file, and the lines of its diff in their colours.

Layer: cli. Paths and lines were written by a model or a machine, and are cleaned before they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.cli.figures import counted
from stead.cli.output import Output, clean, clean_line
from stead.client import Json

MARKS = {"added": "+", "changed": "~", "deleted": "-", "mode": "m"}
_LINE_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_LINE_LIMIT = 400


def headline(change: Json) -> str:
    """A ``FileChange`` on one line: what became of which path, and how many lines of it."""
    path = clean_line(change["path"], 200) + ("/" if change["what"] == "folder" else "")
    lines = f"  +{change['added']} -{change['removed']}" if change["added"] or change["removed"] else ""
    note = f"  ({clean_line(change['note'], 240)})" if change["note"] else ""
    return f"{MARKS[change['kind']]} {path}{lines}{note}"


def diff_lines(change: Json, out: Output, *, limit: int = 0) -> list[str]:
    """The lines of its diff, which has no names of files; cut to so many (0: all), and then said."""
    lines = clean(change["diff"]).splitlines()
    shown = lines[:limit] if limit else lines
    styled = [_styled(line[:_LINE_LIMIT], out) for line in shown]
    return styled + ([f"… {counted(len(lines) - len(shown), 'more line')}"] if len(shown) < len(lines) else [])


def print_changes(out: Output, changes: Sequence[Json], *, stat: bool) -> None:
    """Every change, with its diff unless only the figures are wanted, and the sum of them."""
    for change in changes:
        out.line(out.style(headline(change), "bold"))
        for line in () if stat else diff_lines(change, out):
            out.line(f"    {line}")
    added, removed = (sum(change[name] for change in changes) for name in ("added", "removed"))
    out.line(f"{counted(len(changes), 'path')} differ{'s' if len(changes) == 1 else ''}: +{added} -{removed} lines")


def _styled(line: str, out: Output) -> str:
    style = _LINE_STYLES.get(line[:1])
    return out.style(line, style) if style else line
