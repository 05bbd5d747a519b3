"""A browser in a machine of its own: starts it, drives it, and lets it run only while a call is under way.

Layer: machines, runner. Standard library only. This process is the machine's first, as the runner is in others, and it
speaks the same frames. It serves one request at a time.

Between calls every process here is stopped, so that a page computes and sends nothing behind a person's back. When
the browser or its page is lost, or hangs, this process says so and ends, and the kernel takes everything with it.
"""

from __future__ import annotations

import os
import select
import sys
import time

from .browser_page import Page
from .devtools import Gone, Refused, Stopped
from .frames import Fault, Pipe, encode
from .jobs import memory_is_full, signal_all

_CALL_S = 40.0
_LOOK_S = 0.2
_SIGCONT, _SIGSTOP = 18, 19  # importing signal would cost a third of the start time


class Driver(Pipe):
    """Reads requests, drives the browser, writes answers.

    Args:
        memory_bytes: memory of all processes inside, above which the browser is ended.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        super().__init__()
        self._waiting: list[list[bytes]] = []
        self._current = b""
        self._stopped = False
        self._page: Page | None = None
        self._next_look_s = 0.0

    def serve(self) -> None:
        """Work until the daemon closes the pipe or the browser is lost."""
        while True:
            while not self._waiting:
                self._receive()
            self._current, operation, *arguments = self._waiting.pop(0)
            if operation != b"stop":
                self._answer(operation.decode(), arguments)

    def _receive(self) -> None:
        for fields in self.requests():
            if fields[1] == b"stop" and fields[2] == self._current:
                self._stopped = True
            self._waiting.append(fields)

    def _answer(self, operation: str, arguments: list[bytes]) -> None:
        ident, self._stopped = self._current, False
        try:
            signal_all(_SIGCONT)
            self.send(ident, b"done", b"ok", *self._work(operation, *arguments))
        except (Fault, Refused) as fault:
            self.send(ident, b"fault", encode(str(fault)))
        except Stopped:
            self.send(ident, b"fault", b"stopped")
        except Gone as gone:
            self.send(ident, b"done", b"gone", encode(str(gone)))
            sys.exit(0)
        self._current = b""
        signal_all(_SIGSTOP)

    def _work(self, operation: str, load_ms: bytes, *arguments: bytes) -> list[bytes]:
        deadline = time.monotonic() + _CALL_S
        if operation == "pages":
            from .pictures import pages

            return [b"%d" % pages(arguments[0])]
        words = [argument.decode() for argument in arguments]
        if self._page is not None:
            self._page.load_s = int(load_ms) / 1000
        if operation == "scale":
            from .pictures import scaled

            program, data, edge, most = words
            return [scaled(self._started(program, load_ms).run, data, int(edge), int(most), deadline)]
        if operation == "open":
            program, url = words
            if not url.startswith(("http://", "https://")):
                raise Fault(f"only http and https are opened, not {url[:100]!r}")
            return self._started(program, load_ms).open(url, deadline)
        if self._page is None:
            raise Fault("no page is open; open one first")
        if operation == "read":
            return self._page.read(words[0], deadline)
        if operation == "act":
            url, ref, label, text, filled, submit = words
            return self._page.act(url, int(ref), label, text if filled else None, bool(submit), deadline)
        if operation == "shot":
            return self._page.shot(words[0], deadline)
        raise Fault(f"{operation!r} is nothing that a browser does")

    def _started(self, program: str, load_ms: bytes) -> Page:
        if self._page is None:
            try:
                self._page = Page(program, self._watch)
            except Refused as error:
                raise Gone(f"the browser did not start: {error}") from error
            self._page.load_s = int(load_ms) / 1000
        return self._page

    def _watch(self) -> None:
        """Look after what a page could use up, and whether the answer is still wanted."""
        if select.select([0], [], [], 0)[0]:
            self._receive()
        if self._stopped:
            raise Stopped
        if time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + _LOOK_S
        _reap()
        if memory_is_full(self._memory_bytes):
            raise Gone("the page used too much memory")


def _reap() -> None:
    """Take note of what has ended: as the first process this one inherits what others leave behind."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return
