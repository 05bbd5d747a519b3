"""A command at a real terminal (a pty), as a person sees it and types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.conftest import Cli

DEADLINE_S = 20.0


class Terminal:
    """One command at a terminal, as seen and typed by a person."""

    def __init__(self, screen: int, process: subprocess.Popen[bytes]) -> None:
        self._screen = screen
        self._process = process
        self.seen = ""
        self._read_up_to = 0

    def until(self, text: str) -> str:
        """What appears up to and with this text, from where the last look ended."""
        deadline = time.monotonic() + DEADLINE_S
        while (found := self.seen.find(text, self._read_up_to)) < 0:
            assert time.monotonic() < deadline, f"{text!r} did not appear in:\n{self.seen}"
            assert self._more(0.2) or self._process.poll() is None, f"{text!r} did not appear in:\n{self.seen}"
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
        while self._more(0.05) or self._process.poll() is None:
            assert time.monotonic() < deadline, self.seen
        return self._process.wait(DEADLINE_S)

    def _more(self, timeout_s: float) -> bool:
        if not select.select([self._screen], [], [], timeout_s)[0]:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # Linux says so when the last process has closed the terminal
            return False
        self.seen += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(piece)


def take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C reaches the command."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def at_terminal(cli: Cli, *words: str, **extra: str) -> Iterator[Terminal]:
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "stead", *words],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        cwd=cli.directory,
        env=cli.environment(**{"TERM": "xterm-256color", **extra}),
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(keyboard)
    try:
        yield Terminal(screen, process)
    finally:
        process.kill()
        process.wait(DEADLINE_S)
        os.close(screen)
