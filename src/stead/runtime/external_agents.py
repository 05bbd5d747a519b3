"""External coding agents: how a person sets them up, what they hold, and their runs.

Layer: runtime. Knows no wire of an agent. A key of a vendor's never comes near one: its variable holds a placeholder,
and the value takes its place on the way to the hosts that the person bound the secret to.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Protocol, assert_never

import msgspec
from msgspec.structs import replace

from stead.domain.bindings import matches_host
from stead.domain.errors import FetchFault, InvalidRequest, MachineError, MachineUnavailable, NotFound
from stead.domain.external_agents import (
    MOST_AGENTS,
    MOST_RUNS,
    AgentCommand,
    AgentConfigured,
    AgentFact,
    AgentRemoved,
    AgentReport,
    AgentRow,
    AgentRun,
    AgentRunEnded,
    AgentRunStarted,
    ConfigureAgent,
    ExternalAgent,
    RemoveAgent,
)
from stead.domain.hosts import parse_host
from stead.domain.ids import NO_COMMAND, CommandId, SessionId
from stead.domain.secrets import HostBinding, Secret
from stead.domain.sessions import Session
from stead.runtime.secrets import SecretBook

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True)
class Agents:
    """What the home's stream says of them: those that are set up, by name, and their last runs, the newest last."""

    configured: Mapping[str, ExternalAgent] = field(default_factory=dict)
    runs: tuple[AgentRun, ...] = ()


def fold_agents(agents: Agents, fact: AgentFact, ts_ms: int) -> Agents:
    """The agents after one more fact about them."""
    match fact:
        case AgentConfigured(agent=agent):
            return changed(agents, configured={**agents.configured, agent.name: agent})
        case AgentRemoved(name=name):
            left = {key: agent for key, agent in agents.configured.items() if key != name}
            return changed(agents, configured=left)
        case AgentRunStarted(agent=name, session=session, key=key):
            run = AgentRun(name, session, key, ts_ms)
            return changed(agents, runs=(*agents.runs[1 - MOST_RUNS :], run))
        case AgentRunEnded(session=session, key=key, report=report):
            runs = tuple(
                replace(run, report=report) if (run.session, run.key, run.report) == (session, key, None) else run
                for run in agents.runs
            )
            return changed(agents, runs=runs)
        case _:
            assert_never(fact)


def lost_runs(agents: Agents) -> tuple[AgentRunEnded, ...]:
    """The facts that close the runs that the last daemon left open; what those did is not known."""
    open_ = [run for run in agents.runs if run.report is None]
    return tuple(AgentRunEnded(run.session, run.key, AgentReport("unknown")) for run in open_)


def agent_change(command: AgentCommand, agents: Agents, secrets: Mapping[str, Secret]) -> AgentFact:
    """The fact that a command makes.

    Raises:
        InvalidRequest: an agent that cannot be; says what to do.
        NotFound: there is no such agent, or secret.
    """
    match command:
        case RemoveAgent(name=name):
            if name not in agents.configured:
                raise NotFound(f"no external agent {name[:80]!r} is set up; see: stead agent list")
            return AgentRemoved(name)
        case ConfigureAgent():
            if command.name not in agents.configured and len(agents.configured) >= MOST_AGENTS:
                raise InvalidRequest(f"{MOST_AGENTS} agents are the most; remove one first: stead agent remove NAME")
            return AgentConfigured(_agent(command, secrets))


def _agent(command: ConfigureAgent, secrets: Mapping[str, Secret]) -> ExternalAgent:
    if not _NAME.fullmatch(command.name):
        raise InvalidRequest(f"the name {command.name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if not command.command or not command.command[0] or any("\0" in word for word in command.command):
        raise InvalidRequest("a command is a program and its arguments; the program is not empty")
    if not command.hosts:
        raise InvalidRequest("an agent reaches nothing but the hosts that you name; name its vendor's: --host HOST")
    both = [*command.settings, *command.secrets]
    if odd := next((name for name in both if not _VARIABLE.fullmatch(name) or both.count(name) > 1), ""):
        raise InvalidRequest(f"{odd[:80]!r} is no name of a variable, or is set twice")
    if any("\0" in value for value in command.settings.values()):
        raise InvalidRequest("the value of a variable has no NUL in it")
    agent = ExternalAgent(
        command.name,
        command.command,
        tuple(str(parse_host(host)) for host in command.hosts),
        command.settings,
        command.secrets,
        command.method,
        command.mode,
    )
    for name in command.secrets.values():
        if why := _useless(agent, name, secrets):
            raise InvalidRequest(why)
    return agent


def _useless(agent: ExternalAgent, name: str, secrets: Mapping[str, Secret]) -> str:
    """Why a secret is of no use to an agent; "" when it is of some."""
    if name not in secrets:
        return f"there is no secret {name[:80]!r}; add it: stead secret add {name[:80]}"
    bound = [one for one in secrets[name].bindings if isinstance(one, HostBinding)]
    names = [host.partition(":")[0] for host in agent.hosts]
    if any(matches_host(one.host, host) or one.host == host for one in bound for host in names):
        return ""
    return f"the secret {name!r} goes to none of its hosts; bind it: stead secret bind {name} --host {names[0]} --tls"


class AgentCheck(msgspec.Struct, frozen=True):
    """What a test came to: what the agent says that it is, or why it could not be asked."""

    ok: bool
    text: str


class AgentHome(Protocol):
    """The home's stream, as far as agents need it."""

    @property
    def agents(self) -> Agents:
        """They, as they are now."""

    async def record(self, *bodies: AgentRunStarted, cause: CommandId) -> object:
        """Record facts."""

    async def reached(self, directory: str, host: str) -> None:
        """Record that a folder's machine is connected to a host."""

    def note(self, body: AgentRunEnded) -> None:
        """Record a fact that nobody waits for."""


@dataclass(eq=False, repr=False)
class AgentRoom:
    """Implements ``AgentHouse``, and what doors ask about agents.

    Args:
        home: has the agents, and records what becomes of them; asked for when it is needed, as ``book`` is.
        book: has the secrets' placeholders.
        session: as it is now.
        meet: starts an agent, and has it say who it is.
    """

    _home: Callable[[], AgentHome]
    _book: Callable[[], SecretBook]
    _session: Callable[[SessionId], Awaitable[Session]]
    _meet: Callable[[ExternalAgent], Awaitable[str]]

    def find(self, name: str) -> ExternalAgent | None:
        """See ``AgentHouse``."""
        return self._home().agents.configured.get(name)

    def names(self) -> tuple[str, ...]:
        """See ``AgentHouse``."""
        return tuple(sorted(self._home().agents.configured))

    async def environment(self, agent: ExternalAgent, session: SessionId) -> dict[str, str]:
        """See ``AgentHouse``."""
        try:
            given = self._book().given([*agent.secrets.values()], session)
        except NotFound as gone:
            raise MachineUnavailable("{}", gone) from gone
        placeholders = {secret.name: secret.placeholder for secret in given}
        folder = (await self._session(session)).spec.directory
        for host in agent.hosts:
            # What it brings in lies in the folder from then on, whatever host of its own it was that sent it.
            await self._home().reached(folder, host.partition(":")[0])
        return {**agent.settings, **{variable: placeholders[name] for variable, name in agent.secrets.items()}}

    async def started(self, run: AgentRunStarted) -> None:
        """See ``AgentHouse``."""
        await self._home().record(run, cause=NO_COMMAND)

    def ended(self, run: AgentRunEnded) -> None:
        """See ``AgentHouse``."""
        self._home().note(run)

    async def rows(self) -> tuple[AgentRow, ...]:
        """The agents that are set up, by name."""
        agents = self._home().agents
        open_ = [run.agent for run in agents.runs if run.report is None]
        return tuple(AgentRow(one, open_.count(name)) for name, one in sorted(agents.configured.items()))

    async def runs(self, name: str = "") -> tuple[AgentRun, ...]:
        """The last runs of one, or of all (""), the newest first."""
        return tuple(run for run in reversed(self._home().agents.runs) if name in ("", run.agent))

    async def test(self, name: str) -> AgentCheck:
        """Start one in a machine without a folder, and have it say who it is; within three minutes.

        Raises:
            NotFound: there is no such agent.
        """
        agent = self.find(name)
        if agent is None:
            raise NotFound(f"no external agent {name[:80]!r} is set up; see: stead agent list")
        try:
            said = await self._meet(agent)
        except (FetchFault, MachineError) as fault:
            return AgentCheck(False, self._book().redactor().clean(str(fault)))
        return AgentCheck(True, self._book().redactor().clean(said))
