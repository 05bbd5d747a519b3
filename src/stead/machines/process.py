"""A program outside, started without copying this process first.

Layer: machines. Knows nothing of sandboxes.

An event loop's own way to start a program is to fork: the kernel copies the page tables of the whole daemon, and both
sides then pay for every page that is written to. With 150 MB that was 14 ms of the loop's thread for each machine.
``subprocess`` lends the memory to the child until the program runs (vfork), which takes one. It stays on the calling
thread, because a parent-death signal follows the thread.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from asyncio import BaseTransport, StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Sequence
from functools import partial


class Process:
    """A running program and its pipes. Made by ``start``."""

    stdin: StreamWriter

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.stdout = StreamReader()
        self.stderr = StreamReader()
        self._child = child
        self._transports: list[BaseTransport] = []

    async def connect(self) -> None:
        """Take up its pipes."""
        loop, child = asyncio.get_running_loop(), self._child
        assert child.stdin and child.stdout and child.stderr
        for reader, pipe in ((self.stdout, child.stdout), (self.stderr, child.stderr)):
            reading, _ = await loop.connect_read_pipe(partial(StreamReaderProtocol, reader), pipe)
            self._transports.append(reading)
        writing, protocol = await loop.connect_write_pipe(lambda: StreamReaderProtocol(StreamReader()), child.stdin)
        self._transports.append(writing)
        self.stdin = StreamWriter(writing, protocol, None, loop)

    @property
    def pid(self) -> int:
        """Its number, its own until ``wait`` has returned."""
        return self._child.pid

    async def wait(self) -> None:
        """Wait until it has ended, then close it and its pipes."""
        if self._child.poll() is None:
            ended = os.pidfd_open(self._child.pid)
            try:
                await readable(ended)
            finally:
                os.close(ended)
            self._child.wait()
        for transport in self._transports:
            transport.close()


async def start(words: Sequence[str], pass_fds: Sequence[int]) -> Process:
    """Start a program in a session of its own, at the root, with an empty environment. Call it on the loop's thread.

    Args:
        words: the program, and its arguments.
        pass_fds: descriptors that it inherits.

    Raises:
        OSError: it could not be started.
    """
    child = subprocess.Popen(  # noqa: ASYNC220 - it blocks until the program runs, which is what it is for
        words,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=pass_fds,
        start_new_session=True,
    )
    process = Process(child)
    try:
        await process.connect()
    except BaseException:
        child.kill()
        child.wait()
        raise
    return process


async def readable(fd: int) -> None:
    """Wait until a descriptor has something to read; that of a process has once it is dead."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
