"""A process at work, as the runner keeps track of it.

Layer: machines, runner. Standard library only.
"""

from __future__ import annotations

import os

SIGKILL = 9


class Job:
    """A process at work for one request: a command, or a fork of the runner.

    Args:
        ident: the request.
        pid: its first process, the leader of its process group when it is a command.
        out: what it prints, or what the fork found.
        deadline: by ``time.monotonic``.
        flood: bytes of output after which a command is killed; 0 marks a fork, whose output is collected instead.
        name: of its transaction; "" for one that can change nothing.
        mounts: what a command sees; see ``enter.namespace``.

    ``kept``: of a service's output, how many of the last bytes are kept in ``found``; 0 for what is no service.
    """

    def __init__(
        self, ident: bytes, pid: int, out: int, deadline: float, flood: int, name: str = "", mounts: str = ""
    ) -> None:
        self.ident = ident
        self.pid = pid
        self.out = out
        self.pidfd = os.pidfd_open(pid)
        os.set_blocking(out, False)
        self.deadline = deadline
        self.flood = flood
        self.name = name
        self.mounts = mounts
        self.size = 0
        self.found = bytearray()
        self.ended = "exit"
        self.reaped = False
        self.code = 0
        self.kept = 0

    def kill(self, why: str) -> None:
        """End it and its process group; ``why`` goes into the answer. Once it is reaped, its number is another's."""
        if self.ended == "exit":
            self.ended = why
        if self.reaped:
            return
        if self.flood:
            os.killpg(self.pid, SIGKILL)
        else:
            os.kill(self.pid, SIGKILL)
