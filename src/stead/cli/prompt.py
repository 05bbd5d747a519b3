"""A line that a person types while other things go on being shown.

Layer: cli. Keys come one by one and are echoed by us, because what the terminal echoes by itself lands in the middle of
whatever is being written. A line is only ever added to, but for its own last character: nothing else is rewritten.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stead.cli.output import clean, width_of

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
"""Have the terminal say what was pasted, so that the lines of a text do not go off one by one."""
_KEYS = re.compile(
    "\x1b\\[200~(?P<paste>.*?)(?:\x1b\\[201~|\\Z)|\x1b\\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.?|(?P<key>.)", re.DOTALL
)
_BREAK = "↵"


class Left(Exception):
    """The person is done here: the end of input, on an empty line."""


class Prompt:
    """One line at a time, in a terminal that ``with`` makes ready and gives back as it was.

    Args:
        label: stands before the line; ready to be written.
        before: called before it is shown, to end a line that other output has begun.
    """

    def __init__(self, label: str, before: Callable[[], None]) -> None:
        self.text = ""
        self.shown = False
        """Whether the cursor stands behind the label and the text."""
        self._label = label
        self._end_line = before
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._marks_pastes = os.environ.get("TERM", "dumb") != "dumb"
        self._keyboard = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._keyboard)

    def __enter__(self) -> Prompt:
        mode = termios.tcgetattr(self._keyboard)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._keyboard, termios.TCSADRAIN, mode)
        if self._marks_pastes:
            _write(_PASTE_ON)
        return self

    def __exit__(self, *_: object) -> None:
        if self._marks_pastes:
            _write(_PASTE_OFF)
        termios.tcsetattr(self._keyboard, termios.TCSADRAIN, self._before)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The terminal as it was, for a question or another command."""
        self.hide()
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def show(self) -> None:
        """Stand at the end of the output, if it does not already."""
        if not self.shown:
            self._end_line()
            _write(self._label + _echo(self.text))
            self.shown = True

    def hide(self) -> None:
        """Free the line for other output, which begins on a new one. What was typed is kept."""
        if self.shown:
            self.shown = False
            _write("\n")

    def read(self) -> list[str]:
        """Take the keys that were pressed; gives the lines that they end.

        Raises:
            Left: the end of input on an empty line.
        """
        data = os.read(self._keyboard, 65536)
        if not data:
            raise Left
        lines = []
        for match in _KEYS.finditer(self._decode(data)):
            if (pasted := match["paste"]) is not None:
                self._add(clean(pasted.replace("\r", "\n")))
            elif match["key"] and (line := self._press(match["key"])) is not None:
                lines.append(line)
        return lines

    def _press(self, key: str) -> str | None:
        match key:
            case "\r" | "\n":
                line, self.text = self.text, ""
                self.hide()
                return line
            case "\x04":
                if not self.text:
                    raise Left
            case "\x7f" | "\b":
                self._erase(1)
            case "\x17":
                self._erase(len(self.text) - len(re.sub(r"\S+\s*\Z", "", self.text)))
            case "\x15":
                self._erase(len(self.text))
            case _:
                self._add(clean(key))
        return None

    def _add(self, text: str) -> None:
        if text:
            self.show()
            self.text += text
            _write(_echo(text))

    def _erase(self, count: int) -> None:
        if count:
            gone, self.text = self.text[-count:], self.text[:-count]
            width = width_of(_echo(gone))
            _write("\b" * width + " " * width + "\b" * width)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _echo(text: str) -> str:
    """The text on one line."""
    return text.replace("\n", _BREAK).replace("\t", " ")
