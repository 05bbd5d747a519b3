"""Programs that the daemon talks to, each in a machine of its own: MCP servers over stdio, coding agents, channels.

Layer: machines. Implements ``domain.mcp.Programs``, ``domain.external_agents.AgentPrograms`` and
``domain.channels.ChannelPrograms``. A server's machine shows nothing, or a view of the session's folder whose changes
are thrown away; an agent's is a view whose changes land at its end; a channel's shows no folder. It reaches the hosts
that the person named for the program and no others, so not those of the folder. What it prints is asked for in pieces,
so that nothing piles up here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.external_agents import ExternalAgent
from stead.domain.hosts import OF_CHANNELS, OF_PROGRAMS
from stead.domain.ids import HOME, SessionId
from stead.domain.mcp import McpServer
from stead.domain.registries import spelled_out
from stead.domain.trials import Landing
from stead.machines.machine import Binding, Machine
from stead.machines.making import Maker
from stead.machines.own_python import python_line
from stead.machines.runner.enter import PROOF
from stead.machines.transactions import Transactions

_ASK_LIMIT_S = 30.0
_WRITE_LIMIT_S = 60.0
_FULL_S = 0.02
"""How long is waited before input is offered again to a program that does not read."""


class _Program:
    """One program. Implements ``domain.mcp.Program``."""

    def __init__(
        self, machine: Machine, on_end: Callable[[], Awaitable[Landing]], on_landed: Callable[[Landing], None]
    ) -> None:
        self._machine = machine
        self._on_end = on_end
        self._on_landed = on_landed
        self._ending: asyncio.Task[None] | None = None
        self.last_words = ""
        self.landing = Landing()

    async def open(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it; it is ended again when it cannot be.

        Raises:
            MachineUnavailable, MachineDied: it could not be started; says why.
        """
        given = [f"{name}={value}".encode() for name, value in environment.items()]
        try:
            words = [word.encode() for word in command]
            await self._machine.call("open", b"%d" % len(given), *given, *words, limit_s=_ASK_LIMIT_S)
        except BaseException as error:
            await self.end()
            if isinstance(error, ToolFault):
                raise MachineUnavailable("it could not be started: {}", error) from error
            raise

    async def write(self, data: bytes) -> None:
        """As ``Program.write``."""
        deadline = time.monotonic() + _WRITE_LIMIT_S
        while data:
            (taken,) = await self._machine.call("type", data[: 32 << 10], limit_s=_ASK_LIMIT_S)
            count = int(taken) if taken.isdigit() and len(taken) < 9 else -1
            if not 0 <= count <= len(data):
                self._machine.kill("its runner answered what makes no sense")
                raise MachineDied("the machine's answer made no sense, and it was ended; call again")
            data = data[count:]
            if data and time.monotonic() > deadline:
                raise ToolFault("it does not read what it is sent; it was given {:g} s", _WRITE_LIMIT_S)
            if data and not count:
                await asyncio.sleep(_FULL_S)

    async def read(self) -> bytes:
        """As ``Program.read``."""
        try:
            while True:
                data, code, why = await self._machine.call("read", limit_s=_ASK_LIMIT_S)
                if data:
                    return data
                if code:
                    reason, _, said = why.decode("utf-8", "replace").partition("\n")
                    complaint = said[-2000:].strip() or "it printed no error"
                    self.last_words = f"{reason} with {code[:10].decode('utf-8', 'replace')}: {complaint}"
                    break
        except (MachineDied, ToolFault, ValueError) as error:
            self.last_words = self.last_words or str(error)
        await self.end()
        return b""

    async def end(self) -> None:
        """As ``Program.end``; a later caller waits for the same end, and no caller can interrupt it."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(), name="end of a program")
        await asyncio.shield(self._ending)

    def record(self) -> None:
        """As ``WorkProgram.record``."""
        if self.landing != Landing():
            self._on_landed(self.landing)

    async def _end(self) -> None:
        self._machine.kill("its program ended")
        with suppress(MachineDied):  # it will go when its file system lets it
            await self._machine.gone()
        self.landing = await self._on_end()


class MachinePrograms:
    """Every session's.

    Args:
        maker: makes their machines.
        channels: makes those of channels, which show Stead's own Python.
        bindings: what each session's machine shows.
        transactions: the view of the folder that a program gets.
        check: a folder that may be shown, as its real path; raises ``InvalidRequest``.
    """

    def __init__(
        self,
        maker: Maker,
        channels: Maker,
        bindings: Mapping[SessionId, Binding],
        transactions: Transactions,
        check: Callable[[str], str],
    ) -> None:
        self._check = check
        self._maker, self._channels = maker, channels
        self._bindings = bindings
        self._transactions = transactions
        self._open: list[tuple[SessionId, _Program]] = []

    @property
    def sessions(self) -> set[SessionId]:
        """Those that have one."""
        return {session for session, _ in self._open}

    async def start(
        self, session: SessionId, server: McpServer, environment: Mapping[str, str], directory: str = ""
    ) -> _Program:
        """As ``Programs.start``."""
        binding: Binding | None = Binding("", writable=False)
        if server.folder and directory:
            binding = Binding(await asyncio.to_thread(self._check, directory), writable=False)
        elif server.folder and session != HOME:
            binding = self._bindings.get(session)
        return await self._start(session, server, binding, environment, lands=False)

    async def start_agent(self, session: SessionId, agent: ExternalAgent, environment: Mapping[str, str]) -> _Program:
        """As ``AgentPrograms.start_agent``."""
        await self._transactions.catch_up(session)
        return await self._start(session, agent, self._bindings.get(session), environment, lands=True)

    async def start_channel(self, name: str, hosts: Sequence[str]) -> _Program:
        """As ``ChannelPrograms.start_channel``. It is no session's: it goes on when all of them are stopped."""

        async def ended() -> Landing:
            return Landing()

        own = Binding("", writable=False, hosts=tuple(hosts))
        machine = await self._channels.make(HOME, own, lambda _: None, "program", listed=OF_CHANNELS + name)
        program = _Program(machine, ended, lambda _: None)
        await program.open(*python_line("stead.channels.worker"))
        return program

    async def _start(
        self,
        session: SessionId,
        wanted: McpServer | ExternalAgent,
        binding: Binding | None,
        environment: Mapping[str, str],
        *,
        lands: bool,
    ) -> _Program:
        if binding is None:
            raise MachineUnavailable("no folder was chosen for {!r}", session)
        own = Binding(binding.directory, binding.writable, tuple(spelled_out(wanted.hosts)))
        job = self._transactions.begin(session, prefix="" if lands else PROOF) if own.directory else ""
        try:
            machine = await self._maker.make(session, own, lambda _: None, "program", job, OF_PROGRAMS + wanted.name)
        except BaseException:
            await self._over(session, job, lands=False)
            raise

        async def ended() -> Landing:
            self._open.remove((session, program))
            return await self._over(session, job, lands=lands)

        program = _Program(machine, ended, lambda landing: self._transactions.on_landed(session, landing))
        self._open.append((session, program))
        try:
            if machine.copies and own.directory:
                await self._transactions.copy(session, job)
        except BaseException:
            await program.end()
            raise
        await program.open(wanted.command, environment)
        return program

    async def _over(self, session: SessionId, job: str, *, lands: bool) -> Landing:
        """Land what a program changed in its view, or throw it away."""
        if not job:
            return Landing()
        if not lands:
            self._transactions.drop(session, job)
        return await self._transactions.land(session, job)

    async def stop(self, session: SessionId) -> bool:
        """End all of a session; true if there was one."""
        ending = [program for other, program in self._open if other == session]
        await asyncio.gather(*(program.end() for program in ending))
        return bool(ending)
