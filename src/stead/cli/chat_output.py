"""What ``stead chat`` writes: whole lines, above the line at which the person types; Markdown in styles.

Layer: cli. A line is written once, when all of it is there, and never again; what there is of the next one is the
``tail``, which stands above the person's line until it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stead.cli.output import Output

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6} \S")
_SPAN = re.compile(r"`[^`\n]+`|\*\*[^*\n]+\*\*")


class Markdown:
    """The lines of one text in Markdown, with its signs kept: what is copied from a terminal is what was written.

    Args:
        style: gives a clean text in one of the styles of ``Output``.
    """

    def __init__(self, style: Callable[[str, str], str]) -> None:
        self._style = style
        self._fenced = False

    def line(self, text: str) -> str:
        """The next line, which is clean, in its styles."""
        if _FENCE.match(text):
            self._fenced = not self._fenced
            return self._style(text, "dim")
        if self._fenced:
            return self._style(text, "cyan") if text else text
        if _HEADING.match(text):
            return self._style(text, "bold")
        return _SPAN.sub(lambda found: self._style(found[0], "cyan" if found[0][0] == "`" else "bold"), text)


class ChatOutput(Output):
    """Output in whole lines.

    Args:
        of: what it takes the place of; its styles are kept.
    """

    def __init__(self, of: Output) -> None:
        self.__dict__.update(of.__dict__)
        self.tail = ""
        """What there is of a line that is not whole."""
        self.in_lines = True
        """Whether a part of a line waits for the rest; not while a question or a command has the terminal."""
        self._text = Markdown(self.style)
        self._is_prose = False

    def write(self, text: str) -> None:
        """As ``Output.write``; where lines are written whole, what this completes."""
        if not self.in_lines:
            super().write(text)
            return
        self._is_prose = self._is_prose and bool(self.tail)
        self._add(text)

    def prose(self, text: str, *, begins: bool) -> None:
        """As ``Output.prose``."""
        if begins:
            self._text = Markdown(self.style)
        self._is_prose = True
        self._add(text)

    def _add(self, text: str) -> None:
        *lines, self.tail = (self.tail + text).split("\n")
        for line in lines:
            self.line(self._text.line(line) if self._is_prose else line)
