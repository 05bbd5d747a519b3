"""The embedding worker's process, seen from the daemon: start it, ask it one thing at a time, end it.

Layer: memory, daemon. Knows pipes and frames; no text and no vector. What the worker says is bounded and checked, and
what does not fit ends it.

It is started as machines are, without copying the daemon first (see ``machines.process``), and on the loop's thread,
because a parent-death signal follows the thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from asyncio import BaseTransport, StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stead.memory.embedding import frames

_WORKER = "stead.memory.embedding.worker"
_GOING_S = 5.0
"""How long it may take to end once its pipe is closed."""
_READING_S = 1.0
"""How long what it said last is waited for once it has ended."""
_LAST_WORDS = 4096
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",  # more threads than free cores stall each other
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


class ChildDied(Exception):
    """It ended, or had to be ended, before it answered; the text says why.

    Args:
        text: see there.
        idle: it ended in good order, because nothing had been asked for long.
    """

    def __init__(self, text: str, *, idle: bool = False) -> None:
        super().__init__(text)
        self.idle = idle


class _LastWords(asyncio.Protocol):
    """Takes whatever it says and keeps the end of it."""

    def __init__(self) -> None:
        self._tail = b""
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-_LAST_WORDS:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    def line(self) -> str:
        """The last that is not blank, cut short."""
        lines = self._tail.decode("utf-8", "replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


class Child:
    """A running worker. Made by ``start``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._answers = StreamReader(limit=1 << 20)
        self._said = _LastWords()
        self._requests: StreamWriter
        self._transports: list[BaseTransport] = []

    @property
    def pid(self) -> int:
        """Its number, its own until ``end`` or ``kill`` has returned."""
        return self._process.pid

    async def connect(self) -> None:
        """Take up its pipes."""
        loop, process = asyncio.get_running_loop(), self._process
        assert process.stdin and process.stdout and process.stderr
        answering, _ = await loop.connect_read_pipe(partial(StreamReaderProtocol, self._answers), process.stdout)
        saying, _ = await loop.connect_read_pipe(lambda: self._said, process.stderr)
        self._transports += [answering, saying]
        writing, protocol = await loop.connect_write_pipe(lambda: StreamReaderProtocol(StreamReader()), process.stdin)
        self._transports.append(writing)
        self._requests = StreamWriter(writing, protocol, None, loop)

    async def ask(self, fields: list[bytes], limit_s: float) -> list[bytes]:
        """One request and its answer. When the caller is cancelled, the child is to be killed.

        Args:
            fields: as ``frames`` says.
            limit_s: seconds after which it counts as stuck.

        Raises:
            ChildDied: see there; it is to be killed then.
            frames.FrameError: the request is too large; nothing was sent.
        """
        request = frames.pack(fields)
        try:
            async with asyncio.timeout(limit_s):
                self._requests.write(request)
                await self._requests.drain()
                size = frames.size_of(await self._answers.readexactly(4))
                return frames.unpack(await self._answers.readexactly(size))
        except TimeoutError as error:
            raise ChildDied(f"it did not answer within {limit_s:g} s") from error
        except frames.FrameError as error:
            raise ChildDied(f"it answered {error}") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self.death() from error

    async def end(self) -> None:
        """Let it end in good order, or kill it when it does not."""
        self._requests.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GOING_S):
                await self._ended()
        await self.kill()

    async def kill(self) -> None:
        """End it now, and let go of it and its pipes."""
        if self._process.poll() is None:
            self._process.kill()
            await self._ended()
        self._process.wait()
        for transport in self._transports:
            transport.close()

    def has_ended(self) -> bool:
        """Whether it has, by itself or by a stranger's hand."""
        return self._process.poll() is not None

    async def _ended(self) -> None:
        if self._process.poll() is not None:
            return
        descriptor = os.pidfd_open(self._process.pid)
        loop, dead = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(descriptor, dead.set)
        try:
            await dead.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    async def death(self) -> ChildDied:
        """What ended it: a signal, or the last line that it said. It is ending already."""
        try:
            async with asyncio.timeout(_GOING_S):
                await self._ended()
        except TimeoutError:
            return ChildDied("it closed its pipe")
        code = self._process.wait()
        if code < 0:
            return ChildDied(f"it was ended by {signal.Signals(-code).name}")
        with contextlib.suppress(TimeoutError):  # what it started may hold the pipe open still
            async with asyncio.timeout(_READING_S):
                await self._said.ended.wait()
        said = self._said.line()
        return ChildDied(f"it ended with code {code}" + (f": {said}" if said else ""), idle=code == 0)


async def start(cache: Path, idle_s: float, python: Sequence[str] = (sys.executable,)) -> Child:
    """Start a worker in a session of its own, at the root. Call it on the loop's thread.

    Args:
        cache: where the built model is, or is to be; absolute.
        idle_s: seconds after which it ends when nothing is asked.
        python: the interpreter, and options.

    Raises:
        ChildDied: it could not be started.
    """
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - it blocks until the program runs, which is what it is for
            [*python, "-I", "-m", _WORKER, str(cache), str(os.getpid()), str(idle_s)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise ChildDied(f"it could not be started: {error.strerror or error}") from error
    child = Child(process)
    try:
        await child.connect()
    except BaseException:
        process.kill()
        process.wait()
        raise
    return child
