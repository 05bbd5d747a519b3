"""External coding agents as the person set them up, what one asks leave for, and what a run of one came to.

Layer: domain. An agent is a stranger that works in a machine: what it says is its own word, and what it asks leave for
is judged by what it would do, as a call of Stead's own tools would be. What kind of thing it says that is counts for
nothing.

Source: Agent Client Protocol, version 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Protocol

import msgspec

from stead.domain.bounds import Name, bounds
from stead.domain.ids import CallKey, SessionId
from stead.domain.mcp import Program
from stead.domain.trials import Landing

DELEGATE = "delegate"
"""Name of the tool by which a model hands a task to an agent."""
MOST_AGENTS, MOST_RUNS = 20, 200
_Words = Annotated[str, bounds(maxLength=8000)]


class ExternalAgent(msgspec.Struct, frozen=True):
    """How an agent is started.

    Args:
        name: the person's own choice.
        command: the program and its arguments; it speaks the protocol over its standard input and output.
        hosts: patterns of what its machine may reach: its vendor's.
        settings: variables of its environment. No secrets.
        secrets: variables of its environment, each with the name of the secret whose placeholder it holds; the value
            takes its place on the way to a host that the secret is bound to.
        method: the id of its way to sign in; "" for none.
        mode: in which of its modes it works, as it calls them; "" for the one that it chooses.
    """

    name: Name
    command: tuple[str, ...]
    hosts: tuple[str, ...]
    settings: Mapping[str, str] = {}
    secrets: Mapping[str, str] = {}
    method: str = ""
    mode: str = ""


class AgentReport(msgspec.Struct, frozen=True):
    """What a run came to, by Stead's own count.

    Args:
        end: "done" (the agent ended its turn), how the protocol says that it ended before (``max_tokens``,
            ``max_turn_requests``, ``refusal``, ``cancelled``), or "time", "requests", "output" (a limit), "fault" (it
            died, or made no sense), "unknown" (Stead was interrupted).
        duration_ms: all of it, without what a person took to answer.
        asked, refused: how many requests for leave there were, and how many were not given.
        changed: how many files its changes landed in, or wait for the person in.
    """

    end: str
    duration_ms: int = 0
    asked: int = 0
    refused: int = 0
    changed: int = 0


class AgentRun(msgspec.Struct, frozen=True):
    """A run. ``report`` is None while it goes on."""

    agent: str
    session: SessionId
    key: CallKey
    started_ms: int
    report: AgentReport | None = None


class AgentRow(msgspec.Struct, frozen=True):
    """An agent for people, and how many of its runs go on."""

    agent: ExternalAgent
    running: int


# -- events of the home ------------------------------------------------------------------------------------------------


class AgentConfigured(msgspec.Struct, frozen=True, tag="external_agent.configured"):
    """An external agent was added or changed."""

    agent: ExternalAgent


class AgentRemoved(msgspec.Struct, frozen=True, tag="external_agent.removed"):
    """An external agent is no longer used."""

    name: str


class AgentRunStarted(msgspec.Struct, frozen=True, tag="external_agent.run_started"):
    """A task is about to be handed to an agent, by a call of a session."""

    agent: str
    session: SessionId
    key: CallKey


class AgentRunEnded(msgspec.Struct, frozen=True, tag="external_agent.run_ended"):
    """What came of it. ``key`` is the call of the session."""

    session: SessionId
    key: CallKey
    report: AgentReport


AgentFact = AgentConfigured | AgentRemoved | AgentRunStarted | AgentRunEnded


# -- commands ----------------------------------------------------------------------------------------------------------


class ConfigureAgent(msgspec.Struct, frozen=True, tag="external_agent.configure", forbid_unknown_fields=True):
    """Add or change an external agent; see ``ExternalAgent`` for the fields."""

    name: Name
    command: Annotated[tuple[_Words, ...], bounds(minItems=1, maxItems=100)]
    hosts: Annotated[tuple[Annotated[str, bounds(maxLength=300)], ...], bounds(maxItems=20)] = ()
    settings: dict[Annotated[str, bounds(maxLength=100)], _Words] = {}
    secrets: dict[Annotated[str, bounds(maxLength=100)], Annotated[str, bounds(maxLength=64)]] = {}
    method: Annotated[str, bounds(maxLength=100)] = ""
    mode: Annotated[str, bounds(maxLength=100)] = ""


class RemoveAgent(msgspec.Struct, frozen=True, tag="external_agent.remove", forbid_unknown_fields=True):
    """Forget an external agent."""

    name: Name


AgentCommand = ConfigureAgent | RemoveAgent


# -- what an agent asks leave for --------------------------------------------------------------------------------------


class Wanted(msgspec.Struct, frozen=True):
    """One thing that an agent asks leave for, as the call of Stead's own that would do the same.

    Args:
        agent: who asks.
        tool: of Stead's.
        arguments: of such a call, as JSON.
        title: the agent's own words for it; cut.
    """

    agent: str
    tool: str
    arguments: str
    title: str


class Leave(msgspec.Struct, frozen=True):
    """The answer. ``waited_ms``: how long a person took for it."""

    given: bool
    why: str
    waited_ms: int = 0


class AskLeave(Protocol):
    """Puts what an agent asks leave for to the gate, and to the person where the gate says so."""

    async def __call__(self, wanted: Wanted) -> Leave:
        """Ask; it may take as long as a question may stand."""


# -- ports -------------------------------------------------------------------------------------------------------------


class WorkProgram(Program, Protocol):
    """A program that works in the session's folder; what it changed lands when it ends."""

    @property
    def landing(self) -> Landing:
        """What became of its changes, once it has ended."""

    def record(self) -> None:
        """Put the landing on record where no outcome of a call will say it."""


class AgentPrograms(Protocol):
    """Starting agents."""

    async def start_agent(
        self, session: SessionId, agent: ExternalAgent, environment: Mapping[str, str]
    ) -> WorkProgram:
        """Start an agent in a machine of its own, in a view of the session's folder.

        Raises:
            MachineUnavailable, MachineDied: no machine could be made.
        """


class AgentHouse(Protocol):
    """The set-up of agents, as the tool that hands work to them reads it, and the record of runs."""

    def find(self, name: str) -> ExternalAgent | None:
        """The agent of this name; nothing when there is none."""

    def names(self) -> tuple[str, ...]:
        """Of all agents."""

    async def environment(self, agent: ExternalAgent, session: SessionId) -> dict[str, str]:
        """Its variables, with placeholders for secrets. From now on its hosts count as reached from the folder.

        Raises:
            MachineUnavailable: a secret of it is gone, or no host of it gets it.
        """

    async def started(self, run: AgentRunStarted) -> None:
        """Record that a run is about to begin."""

    def ended(self, run: AgentRunEnded) -> None:
        """Have it recorded what came of it."""
