"""A command at a real terminal (a pty), as a person sees it and types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import pyte

from tests.cli.conftest import Cli

DEADLINE_S = 20.0
_SCROLLBACK = 100_000


class Terminal:
    """One command at a terminal, as seen and typed by a person: every byte, and what a terminal makes of them."""

    def __init__(self, screen: int, process: subprocess.Popen[bytes], rows: int, columns: int) -> None:
        self._screen = screen
        self._process = process
        self.seen = ""
        self._read_up_to = 0
        self._shown = pyte.HistoryScreen(columns, rows, history=_SCROLLBACK, ratio=0.5)
        self._stream = pyte.ByteStream(self._shown)

    @property
    def pid(self) -> int:
        """The command's process."""
        return self._process.pid

    @property
    def rows(self) -> list[str]:
        """Every row that the terminal holds, from the first that scrolled away to the last with anything on it."""
        shown, columns = self._shown, self._shown.columns
        gone = ["".join(row[x].data for x in range(columns)).rstrip() for row in shown.history.top]
        rows = gone + [row.rstrip() for row in shown.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def shows(self, text: str) -> list[str]:
        """Wait until this text is there, in however many rows; gives all rows then."""
        width = self._shown.columns
        return self.until_rows(lambda rows: text in "".join(row.ljust(width) for row in rows), text)

    def until_rows(self, hold: Callable[[list[str]], bool], what: str) -> list[str]:
        """Wait until the rows are so; gives them."""
        deadline = time.monotonic() + DEADLINE_S
        while not hold(rows := self.rows):
            shown = "\n".join(rows)
            assert time.monotonic() < deadline, f"{what!r} is not on the screen:\n{shown}"
            assert self.more(0.2) or self._process.poll() is None, f"{what!r} is not on the screen:\n{shown}"
        return rows

    def resize(self, rows: int, columns: int) -> None:
        """Make the terminal larger or smaller."""
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._shown.resize(rows, columns)

    def until(self, text: str) -> str:
        """What appears up to and with this text, from where the last look ended."""
        deadline = time.monotonic() + DEADLINE_S
        while (found := self.seen.find(text, self._read_up_to)) < 0:
            assert time.monotonic() < deadline, f"{text!r} did not appear in:\n{self.seen}"
            assert self.more(0.2) or self._process.poll() is None, f"{text!r} did not appear in:\n{self.seen}"
        start, self._read_up_to = self._read_up_to, found + len(text)
        return self.seen[start : self._read_up_to]

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._screen, text.encode())

    def mode(self) -> int:
        """How the terminal treats keys now: its local flags."""
        return int(termios.tcgetattr(self._screen)[3])

    def end(self) -> int:
        """Wait until the command ends; gives its code."""
        deadline = time.monotonic() + DEADLINE_S
        while self.more(0.05) or self._process.poll() is None:
            assert time.monotonic() < deadline, self.seen
        return self._process.wait(DEADLINE_S)

    def more(self, timeout_s: float) -> bool:
        """Read what comes next; whether anything did in time."""
        if not select.select([self._screen], [], [], timeout_s)[0]:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # Linux says so when the last process has closed the terminal
            return False
        self._stream.feed(piece)
        self.seen += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(piece)


def take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C reaches the command."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def at_terminal(
    cli: Cli,
    *words: str,
    rows: int = 24,
    columns: int = 80,
    env: Mapping[str, str] = MappingProxyType({}),
    **extra: str,
) -> Iterator[Terminal]:
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "stead", *words],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        cwd=cli.directory,
        env=cli.environment(**{"TERM": "xterm-256color", **env, **extra}),
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(keyboard)
    try:
        yield Terminal(screen, process, rows, columns)
    finally:
        process.kill()
        process.wait(DEADLINE_S)
        os.close(screen)
