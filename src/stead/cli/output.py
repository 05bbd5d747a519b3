"""What is written to the terminal, and what never may be.

Layer: cli. Almost every string that is shown was written by a model, a tool or a file. ``clean`` takes out of it what a
terminal would obey or a reader would be misled by, and is for prose alone; ``reveal`` shows the same things as visible
escapes, for everything that a person decides by. Nothing printed is ever rewritten, so pipes, screen readers and
scrollback see what a person sees.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from stead.domain.shown import HIDDEN, reveal

_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, clearing
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\\\|\x9c)"  # strings: titles, links
    "|\x1b[ -/]*[0-~]"  # everything else that starts with an escape
)
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def clean(text: str) -> str:
    """The text without escape sequences, control characters and invisible characters; lines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return HIDDEN.sub("", _SEQUENCE.sub("", text))


def cut_line(text: str, limit: int) -> str:
    """The beginning of a revealed text on one line, white space collapsed."""
    return clean_line(reveal(text), limit)


def clean_line(text: str, limit: int = 0) -> str:
    """The same on one line, white space collapsed; cut to so many characters (0: uncut) with an ellipsis."""
    line = " ".join(clean(text).split())
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def reveal_line(text: str) -> str:
    """The whole text on one line, with what would be hidden, or end the line, written out."""
    return reveal(text).replace("\n", "\\n").replace("\t", "\\t")


def width_of(text: str) -> int:
    """Columns that a clean line takes on a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


class Output:
    """Standard output (results) and standard error (progress, errors) of one command.

    Args:
        plain: no colour, whatever the terminal can do.
        as_json: results are JSON, one object a line.
        colourless: the environment asks for no colour (``NO_COLOR``).
        dumb: the terminal can only print, so nothing is drawn either.
    """

    def __init__(self, *, plain: bool, as_json: bool, colourless: bool, dumb: bool = False) -> None:
        self.as_json = as_json
        self.dumb = plain or dumb
        """Whether nothing may be drawn but lines, one after another."""
        self.colour = not (self.dumb or colourless or as_json) and sys.stdout.isatty()
        """Whether styles may be used."""
        self._colour_errors = self.colour and sys.stderr.isatty()
        self.before: Callable[[], None] = lambda: None
        """Called before each line and each part of one, so that a prompt on the last line can be hidden first."""

    def style(self, text: str, style: str) -> str:
        """The text in a style, where colours are wanted; the text must be clean."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour else text

    def line(self, text: str = "") -> None:
        """A line of the result, already clean."""
        self.before()
        print(text)

    def lines(self, texts: Iterable[str], style: str = "") -> None:
        """Lines of the result, already clean, each in a style unless it is ""."""
        for text in texts:
            self.line(self.style(text, style) if style else text)

    def write(self, text: str) -> None:
        """Part of a line, shown at once; already clean."""
        self.before()
        sys.stdout.write(text)
        sys.stdout.flush()

    def prose(self, text: str, *, begins: bool) -> None:
        """Part of a text in Markdown, already clean; ``begins``: the first part of it."""
        self.write(text)

    def json(self, value: Any) -> None:
        """One JSON value on one line, in ASCII, so that no terminal obeys any of it."""
        print(json.dumps(value).replace("\x7f", "\\u007f"), flush=True)

    def note(self, text: str) -> None:
        """A line about progress, on standard error: what is awaited, what to do next."""
        self.before()
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)

    def error(self, cause: str, next_step: str, code: str) -> None:
        """Say what went wrong and what to do about it, on standard error."""
        cause, next_step = clean(cause), clean(next_step)
        if self.as_json:
            self.note(json.dumps({"error": {"code": code, "message": cause, "next": next_step}}))
            return
        label = "\x1b[31merror:\x1b[0m" if self._colour_errors else "error:"
        self.note(f"{label} {cause}")
        if next_step:
            self.note(f"next: {next_step}")

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Aligned columns; cells are cleaned. A heading that starts with ">" aligns its column right."""
        cells = [[clean_line(cell) for cell in row] for row in rows]
        names = [heading.lstrip(">") for heading in headings]
        widths = [max(map(width_of, column)) for column in zip(names, *cells, strict=True)]
        if stream_is_terminal(sys.stdout):
            widths = _fitted(widths, list(map(width_of, names)))
            cells = [[cut_to(cell, width) for cell, width in zip(row, widths, strict=True)] for row in cells]
        right = [heading.startswith(">") for heading in headings]
        for index, row in enumerate([names, *cells]):
            padded = []
            for cell, width, to_right in zip(row, widths, right, strict=True):
                space = " " * (width - width_of(cell))
                padded.append(space + cell if to_right else cell + space)
            text = "  ".join(padded).rstrip()
            print(self.style(text, "bold") if index == 0 else text)

    def pairs(self, rows: Sequence[tuple[str, str]], indent: str = "") -> None:
        """Names and values, one pair a line; the values are clean."""
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            self.line(f"{indent}{name:<{width}}  {value}".rstrip())


def cut_to(cell: str, width: int) -> str:
    """A clean line in at most so many columns, with an ellipsis where it is cut."""
    if width_of(cell) <= width:
        return cell
    while width_of(cell) > width - 1:
        cell = cell[:-1]
    return cell + "…"


def _fitted(widths: list[int], least: list[int]) -> list[int]:
    """Widths of columns that fit the terminal, the widest made narrower first; the first column, an id, stays whole."""
    from shutil import get_terminal_size

    over = sum(widths) + 2 * (len(widths) - 1) - get_terminal_size().columns
    while over > 0:
        room = {place: width for place, width in enumerate(widths) if place and width > max(least[place], 6)}
        if not room:
            return widths
        widths[max(room, key=room.__getitem__)] -= 1
        over -= 1
    return widths


def stream_is_terminal(stream: TextIO | None) -> bool:
    """Whether there is a person at the other end; a closed stream has none."""
    return stream is not None and not stream.closed and stream.isatty()
