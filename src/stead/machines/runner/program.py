"""A program that the daemon talks to through its standard input and output, in a machine of its own.

Layer: machines, runner. Standard library only. As with a terminal, what is not asked for makes
the program wait.
"""

from __future__ import annotations

import _socket  # the module ``socket`` would cost milliseconds
import os

from .jobs import spawn
from .terminal import Terminal

_COMPLAINTS = "/tmp/stderr"  # noqa: S108 - the machine's own
_KEPT_BYTES = 2000


class Program(Terminal):
    """Reads requests, keeps the program, writes answers.

    Args:
        disk_bytes: free space below which everything inside is killed; in a machine without a folder that is its own.
        memory_bytes: memory of all processes inside, above which it is killed too.
        job: the transaction of the program; None in a machine that shows no folder.
    """

    def __init__(self, disk_bytes: int, memory_bytes: int, job: str | None) -> None:
        super().__init__(0 if job is None else disk_bytes, memory_bytes, job)
        self._heard = -1

    def _open(self, *arguments: bytes) -> None:
        """Start it: how many variables its environment has on top, each as ``NAME=VALUE``, then its words."""
        count, *words = arguments
        given = dict(word.decode().split("=", 1) for word in words[: int(count)])
        self._heard = os.open(_COMPLAINTS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._master, fd = ours.detach(), theirs.detach()
        try:
            line = [b"bash", b"-c", b'exec "$@"', b"bash", *words[int(count) :]]
            self._pid, _ = spawn(self._job, line, lambda: [fd, fd, self._heard], {**os.environ, **given})
        finally:
            os.close(fd)
        os.set_blocking(self._master, False)

    def _last_words(self) -> bytes:
        """Why it ended, and the last that it complained of."""
        size = os.fstat(self._heard).st_size
        return super()._last_words() + b"\n" + os.pread(self._heard, _KEPT_BYTES, max(0, size - _KEPT_BYTES))
