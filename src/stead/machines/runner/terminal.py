"""A person's terminal in a machine of its own: a shell on a pseudo-terminal, and what is typed and printed.

Layer: machines, runner. Standard library only. This process is the machine's first, as the runner is in others, and it
speaks the same frames. It has one shell; when that ends, so does everything else in here.

Output is not pushed: the daemon asks for it (``read``), and is answered when there is some. So what nobody takes stays
in the kernel's few kilobytes, and whatever prints waits there, as it does in front of any slow terminal.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import time

from .enter import refresh
from .frames import Fault, Pipe, encode
from .jobs import disk_is_full, memory_is_full, signal_all, spawn

_CHUNK = 32 << 10
_MOST_TYPED = 64 << 10
"""Bytes that wait for a program that does not read what is typed."""
_ANSWER_S = 10.0
"""A question for output is answered after so long even when there is none, so that the daemon sees that we live."""
_LOOK_S = 0.2
_LAST_WORDS_S = 1.0
_SIGKILL = 9  # importing signal would cost a third of the start time
_TIOCSWINSZ = 0x5414
_ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "SHELL": "/bin/bash", "PS1": r"\w\$ "}
_FOR_A_LINE = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}
"""Nobody sits at it, and models read what is printed."""
_WAITING = b'IFS= read -rs _; eval "$0"'
"""Runs a line once it may: when a line break is typed, of which nothing is shown."""


class Terminal(Pipe):
    """Reads requests, keeps the shell, writes answers.

    Args:
        disk_bytes: free space on the workspace's disk below which everything inside is killed.
        memory_bytes: memory of all processes inside, above which it is killed too.
        job: the transaction of the shell; "" for one that can change nothing.
    """

    def __init__(self, disk_bytes: int, memory_bytes: int, job: str | None) -> None:
        self._job = job
        self._disk_bytes = disk_bytes
        self._memory_bytes = memory_bytes
        super().__init__()
        self._typed = bytearray()
        self._asked = b""
        self._answer_by = 0.0
        self._next_look = 0.0
        self._master = self._pid = -1
        self._code = ""
        self._why = "exited"
        self._drained = False
        self._drained_by = 0.0

    def serve(self) -> None:
        """Work until the daemon closes the pipe."""
        while True:
            poll = select.poll()
            poll.register(0, select.POLLIN)
            wanted = (select.POLLIN if self._asked else 0) | (select.POLLOUT if self._typed else 0)
            if self._master >= 0 and wanted:
                poll.register(self._master, wanted)
            ready = dict(poll.poll(_LOOK_S * 1000 if self._master >= 0 else None))
            if 0 in ready:
                for ident, operation, *arguments in self.requests():
                    self._answer(ident, operation.decode(), arguments)
            if self._typed and ready.get(self._master, 0) & select.POLLOUT:
                self._pass_on()
            if self._pid > 0:
                self._reap()
                self._watch()
            if self._asked:
                self._tell()

    def _answer(self, ident: bytes, operation: str, arguments: list[bytes]) -> None:
        try:
            if operation == "read":
                self._asked, self._answer_by = ident, time.monotonic() + _ANSWER_S
            elif operation == "stop":
                if arguments[0] == self._asked:
                    self._asked = b""
            else:
                self.send(ident, b"done", *self._work(operation, *arguments))
        except Fault as fault:
            self.send(ident, b"fault", encode(str(fault)))
        except OSError as error:
            self.send(ident, b"fault", encode(f"{operation}: {error.strerror}"))

    def _work(self, operation: str, *arguments: bytes) -> list[bytes]:
        if operation == "open" and self._pid == -1:
            self._open(*arguments)
            return []
        if self._master < 0:
            raise Fault("no shell is open in this terminal")
        if operation == "type":
            taken = arguments[0][: max(0, _MOST_TYPED - len(self._typed))]
            self._typed += taken
            self._pass_on()
            return [b"%d" % len(taken)]
        if operation == "refresh":
            refresh([self._pid])
            return []
        if operation == "size":
            self._size(*map(int, arguments))
            return []
        raise Fault(f"{operation!r} is nothing that a terminal does")

    def _open(self, *arguments: bytes) -> None:
        """Start the shell, or one line: rows, columns, and the line ("" for none)."""
        rows, columns, line = arguments
        self._master, slave = os.openpty()
        self._size(int(rows), int(columns))
        try:
            # The leader of a session gets the first terminal that it opens as its own: job control and Ctrl-C work.
            name, environment = os.ttyname(slave), {**os.environ, **_ENVIRONMENT, **(_FOR_A_LINE if line else {})}
            program = [b"bash", b"-c", _WAITING, line] if line else [b"bash", b"-i"]
            self._pid, _ = spawn(self._job, program, lambda: [os.open(name, os.O_RDWR)] * 3, environment)
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)

    def _size(self, rows: int, columns: int) -> None:
        wanted = b"".join(value.to_bytes(2, sys.byteorder) for value in (rows, columns, 0, 0))
        fcntl.ioctl(self._master, _TIOCSWINSZ, wanted)

    def _pass_on(self) -> None:
        """Give the shell what was typed, as much as it takes now."""
        try:
            del self._typed[: os.write(self._master, self._typed)]
        except BlockingIOError:
            return
        except OSError:
            self._typed.clear()  # nobody is there any more to read it

    def _tell(self) -> None:
        """Answer the daemon's question: output, how the shell ended, or, after a while, that there is neither."""
        data = self._output()
        if data or time.monotonic() >= self._answer_by:
            self._reply(data, b"", b"")
        elif self._code and (self._drained or time.monotonic() >= self._drained_by):
            self._reply(b"", self._code.encode(), self._last_words())

    def _last_words(self) -> bytes:
        return self._why.encode()

    def _reply(self, *fields: bytes) -> None:
        ident, self._asked = self._asked, b""
        self.send(ident, b"done", *fields)

    def _output(self) -> bytes:
        if self._master < 0:
            return b""
        try:
            data = os.read(self._master, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:  # everybody on the other side has left
            self._drained = True
            if not self._code:
                signal_all(_SIGKILL)  # a shell that let go of its terminal cannot be reached any more
        return data

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid:
                code = os.waitstatus_to_exitcode(status)
                self._code, self._pid = str(code if code >= 0 else 128 - code), -2
                self._drained_by = time.monotonic() + _LAST_WORDS_S
                signal_all(_SIGKILL)

    def _watch(self) -> None:
        """Kill everything inside when it is about to take the host's disk or memory."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK_S
        if disk_is_full(self._disk_bytes):
            self._why = "disk"
        elif memory_is_full(self._memory_bytes):
            self._why = "memory"
        else:
            return
        signal_all(_SIGKILL)
