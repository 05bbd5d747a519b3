"""Drives the process of a channel as the daemon does: lines of ``domain.channel_wire`` over its pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from stead.channels.manifests import MANIFESTS
from stead.domain import channel_wire as wire
from tests.forks import Fork, template

PATIENCE_S = 30.0
_PACKAGES = ":".join(path for path in sys.path if os.path.basename(path) in ("site-packages", "src"))
_decoder = msgspec.json.Decoder(wire.FromChannel)
One = TypeVar("One", bound="wire.Up | wire.Down | wire.Update | wire.Response")


class Forked:
    """A process that is a fork of its kind's template, with what is used of ``asyncio.subprocess.Process``."""

    def __init__(
        self, fork: Fork, stdin: asyncio.WriteTransport, *output: tuple[asyncio.ReadTransport, asyncio.StreamReader]
    ) -> None:
        self._fork = fork
        self._pipes = (stdin, *(transport for transport, _ in output))
        self.pid = fork.pid
        self.kill = fork.kill
        self.stdin = stdin
        self.stdout, self.stderr = (reader for _, reader in output)

    @property
    def returncode(self) -> int | None:
        """None while it runs."""
        return self._fork.poll()

    async def wait(self) -> int:
        """Wait for its end."""
        code = await asyncio.to_thread(self._fork.wait, PATIENCE_S)
        for pipe in self._pipes:
            pipe.close()
        return code


class Driven:
    """One process. ``output`` is everything that it printed, standard error included."""

    def __init__(self, process: asyncio.subprocess.Process | Forked) -> None:
        self.process = process
        self.output = bytearray()
        self._numbers = count(1)
        self._lines: asyncio.Queue[wire.FromChannel] = asyncio.Queue()
        self._done: dict[int, asyncio.Future[wire.Done | wire.Response]] = {}
        self._reading = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.output += line
            said = _decoder.decode(line)
            if isinstance(said, wire.Done | wire.Response) and said.n in self._done:
                self._done.pop(said.n).set_result(said)
            else:
                self._lines.put_nowait(said)

    async def _listen(self) -> None:
        assert self.process.stderr
        while piece := await self.process.stderr.read(4096):
            self.output += piece

    def tell(self, line: wire.ToChannel | wire.Begin) -> None:
        """Give it a line; nothing is waited for."""
        assert self.process.stdin
        self.process.stdin.write(msgspec.json.encode(line) + b"\n")

    async def ask(self, line: wire.Send | wire.Edit | wire.Fetch | wire.Probe) -> wire.Done:
        """Give it a request, under a number of its own, and wait for how it went."""
        done = await self._asked(line)
        assert isinstance(done, wire.Done)
        return done

    async def request(self, line: wire.Request) -> wire.Response:
        """Give it a request of its platform, as the listener does, and wait for the answer."""
        response = await self._asked(line)
        assert isinstance(response, wire.Response)
        return response

    async def _asked(
        self, line: wire.Send | wire.Edit | wire.Fetch | wire.Probe | wire.Request
    ) -> wire.Done | wire.Response:
        n = next(self._numbers)
        done: asyncio.Future[wire.Done | wire.Response] = asyncio.get_running_loop().create_future()
        self._done[n] = done
        self.tell(replace(line, n=n))
        async with asyncio.timeout(PATIENCE_S):
            await done
        return done.result()

    async def next(self, kind: type[One]) -> One:
        """The next line of a kind; those of other kinds before it are passed over."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                if isinstance(line := await self._lines.get(), kind):
                    return line

    async def update(self) -> wire.Update:
        """The next update, acknowledged."""
        update = await self.next(wire.Update)
        self.tell(wire.Ack(update.n))
        return update

    async def kill(self) -> None:
        """As ``kill -9`` does."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)


@asynccontextmanager
async def channel(
    kind: str,
    settings: Mapping[str, str],
    tokens: Mapping[str, str],
    *,
    cursor: str = "",
    ca: str = "",
    environment: Mapping[str, str] | None = None,
    forked: bool = True,
    constants: Mapping[str, float] | None = None,
) -> AsyncIterator[Driven]:
    """The process of a channel, begun; it is killed at the end.

    Args:
        kind: of the platform.
        settings: what is left out is as the manifest has it.
        tokens: by field.
        cursor, ca: see ``wire.Begin``.
        environment: added to an empty one.
        forked: from a process that has loaded what its kind loads; False where its start or its size is what matters.
        constants: seconds of the platform's module that a test cannot wait for, made shorter in a fork.
    """
    whole = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": _PACKAGES, **(environment or {})}
    process = await (_forked(kind, whole, constants or {}) if forked else _started(whole))
    driven = Driven(process)
    defaults = {field.name: field.default for field in MANIFESTS[kind].fields if not field.secret}
    driven.tell(wire.Begin(kind, {**defaults, **settings}, dict(tokens), cursor, ca))
    try:
        yield driven
    finally:
        await driven.kill()


async def _started(environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-s", "-S", "-m", "stead.channels.worker"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        limit=16 << 20,
    )


async def _forked(kind: str, environment: Mapping[str, str], constants: Mapping[str, float]) -> Forked:
    (taken, stdin), (stdout, output), (stderr, errors) = (os.pipe() for _ in range(3))
    with open(taken, "rb", 0) as taken_in, open(output, "wb", 0) as said, open(errors, "wb", 0) as complained:
        control = template("tests.channels.template", kind, *(f"{name}={value}" for name, value in constants.items()))
        fork = Fork(
            *("stead.channels.worker", (), environment, said), errors=complained, stdin=taken_in, control=control
        )
    to, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, open(stdin, "wb", 0))  # noqa: SIM115 - the transport closes it
    return Forked(fork, to, await _read_from(stdout), await _read_from(stderr))


async def _read_from(handle: int) -> tuple[asyncio.ReadTransport, asyncio.StreamReader]:
    reader = asyncio.StreamReader(16 << 20)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, open(handle, "rb", 0))  # noqa: SIM115
    return transport, reader
