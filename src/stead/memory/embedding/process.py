"""The embedding worker's process, seen from the daemon: start it, ask it one thing at a time, end it.

Layer: memory, daemon. Knows pipes and messages; no text and no vector. What the worker says is bounded and checked, and
what does not fit ends it.

It is started as machines are, without copying the daemon first (see ``machines.process``), and on the loop's thread,
because a parent-death signal follows the thread.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from asyncio import BaseTransport, StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from stead.memory.embedding import wire

WORKER = (sys.executable, "-I", "-m", "stead.memory.embedding.worker")
_GOING_S = 5.0
"""How long it may take to end once it has closed its pipe."""
_LAST_BYTES = 4096
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",  # more threads than free cores stall each other
    "MALLOC_ARENA_MAX": "2",
}


class WorkerEnded(Exception):
    """It ended, or is to be ended, before it answered; the text says why."""


@dataclass(eq=False, repr=False)
class WorkerProcess:
    """A running worker. Made by ``start``."""

    _process: subprocess.Popen[bytes]
    _requests: StreamWriter
    _answers: StreamReader
    _pipe: BaseTransport
    _errors: int

    @property
    def pid(self) -> int:
        """Its number; 0 when it has ended."""
        return self._process.pid if self._process.poll() is None else 0

    async def ask(self, request: bytes) -> wire.Message:
        """One request and its answer. When that fails or is cancelled, the process is to be killed.

        Raises:
            WorkerEnded: see there.
        """
        try:
            self._requests.write(request)
            await self._requests.drain()
            size = int.from_bytes(await self._answers.readexactly(4), "big")
            if size > wire.LARGEST_ANSWER:
                raise WorkerEnded(f"it answered {size} bytes; {wire.LARGEST_ANSWER} are the most")
            return wire.decoded(await self._answers.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self.ended() from error
        except msgspec.MsgspecError as error:
            raise WorkerEnded(f"its answer makes no sense: {error}") from error

    async def ended(self) -> WorkerEnded:
        """What ended it: a signal, or the last line that it wrote. It is ending already."""
        try:
            code = await asyncio.to_thread(self._process.wait, _GOING_S)
        except subprocess.TimeoutExpired:
            return WorkerEnded("it closed its pipe")
        if code < 0:
            return WorkerEnded(f"it was ended by {signal.Signals(-code).name}")
        size = os.fstat(self._errors).st_size
        lines = os.pread(self._errors, _LAST_BYTES, max(0, size - _LAST_BYTES)).decode("utf-8", "replace").split("\n")
        last = next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
        return WorkerEnded(f"it ended with code {code}" + (f": {last}" if last else ""))

    async def kill(self) -> None:
        """End it now, and let go of its pipes."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._requests.close()
        self._pipe.close()
        os.close(self._errors)


async def start(command: Sequence[str] = WORKER) -> WorkerProcess:
    """Start a worker in a session of its own, at the root. Call it on the loop's thread.

    Raises:
        WorkerEnded: it could not be started.
    """
    loop, errors = asyncio.get_running_loop(), os.memfd_create("errors of the embedder")
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - it blocks until the program runs, which is what it is for
            [*command, str(os.getpid())],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        os.close(errors)
        raise WorkerEnded(f"it could not be started: {error.strerror or error}") from error
    assert process.stdin and process.stdout, "both are pipes"
    answers = StreamReader(limit=1 << 20)
    protocol = StreamReaderProtocol(answers)
    pipe, _ = await loop.connect_read_pipe(lambda: protocol, process.stdout)
    requests, flow = await loop.connect_write_pipe(lambda: StreamReaderProtocol(StreamReader()), process.stdin)
    return WorkerProcess(process, StreamWriter(requests, flow, None, loop), answers, pipe, errors)
