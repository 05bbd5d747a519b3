"""What every session works with, handed in by the composition root.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from stead.domain import events as ev
from stead.domain.agents import Order
from stead.domain.channel_wire import Manifest
from stead.domain.channels import ChannelCheck, ChannelCommand, ChannelRow, PairingCode, WantedPairing
from stead.domain.checkpoints import Checkpoints, Versions
from stead.domain.commands import Answer
from stead.domain.directives import Directives
from stead.domain.folders import Folders
from stead.domain.ids import CallKey, SessionId
from stead.domain.notifications import PushKey, TargetCheck, TargetCommand, TargetFact, TargetRow, TargetState
from stead.domain.ports import Claimed, Clock, Ingested, Journal, Machines, Models, Project, Snapshots
from stead.domain.proving import Proofs
from stead.domain.services import Services
from stead.domain.sessions import Session
from stead.domain.terminals import Terminals
from stead.domain.trials import Trials
from stead.domain.trust import TierRow
from stead.runtime.attachments import GivenAttachments
from stead.runtime.bus import Bus
from stead.runtime.gate import Gate
from stead.runtime.memory_service import MemoryService
from stead.runtime.pinned_blobs import PinnedBlobs


class Opening(NamedTuple):
    """A subagent to be opened: the parent's fact, and the first ones of its own session."""

    spawned: ev.AgentSpawned
    opened: ev.SessionOpened
    facts: tuple[ev.Body, ...]


class TrustService(Protocol):
    """The trust tiers of models, as sessions and doors need them."""

    async def led(self, session: Session) -> tuple[ev.TierSet, ...]:
        """How the session's model is to be led from its next request on, if that is otherwise than now."""

    def rows(self) -> tuple[TierRow, ...]:
        """The tier of every model that has replied or was given one by the person, and its figures. It blocks."""


class NotificationService(Protocol):
    """Where the person is notified while they look elsewhere."""

    async def rows(self) -> tuple[TargetRow, ...]:
        """The targets by name, and how each stands."""

    async def test(self, name: str) -> TargetCheck:
        """Send one real message, within half a minute; raises ``NotFound``."""

    async def push_key(self) -> PushKey:
        """The key that a browser subscribes with."""

    async def carry_out(self, command: TargetCommand, claim: Claimed, door: str) -> Answer:
        """Carry a command out; raises ``InvalidRequest``, ``NotFound``, ``Conflict``, ``StorageFault``."""

    async def tried(self, command: TargetCommand, known: Mapping[str, TargetState]) -> TargetFact:
        """The fact that it would make of these targets; raises as ``carry_out``."""


class ChannelService(Protocol):
    """The bots through which the person is reached, and their chats.

    ``turn`` is set when a token may have changed.
    """

    turn: asyncio.Event

    async def rows(self) -> tuple[ChannelRow, ...]:
        """The channels by name, and how each stands."""

    def kinds(self) -> tuple[Manifest, ...]:
        """The platforms that there are, and what each asks for."""

    async def test(self, name: str) -> ChannelCheck:
        """Ask the platform whether the token holds, now; raises ``NotFound``."""

    async def pair(self, name: str, wanted: WantedPairing) -> PairingCode:
        """A code that pairs one chat, once; raises ``NotFound``, ``InvalidRequest``, ``Conflict``."""

    async def carry_out(self, command: ChannelCommand, claim: Claimed, door: str) -> Answer:
        """Carry a command out; raises ``InvalidRequest``, ``NotFound``, ``Conflict``, ``StorageFault``."""


class SubagentService(Protocol):
    """Subagents, as the session that starts them needs them. The caller holds that session's lock."""

    async def opening(self, session: Session, key: CallKey, order: Order) -> Opening | str:
        """What a call starts; or why it starts nothing, for the model. Nothing is written."""

    def wake(self, id: SessionId) -> None:
        """Let a session look for what there is to do: a subagent that was opened, a parent whose subagent ended."""

    async def settled(self, session: Session) -> tuple[ev.Body, ...]:
        """The ends of subagents that the session does not know of, each with the outcome of its call.

        A subagent that a fault paused pauses the session too, so that it does not wait for it unsaid.
        """

    async def cancel(self, session: Session, key: CallKey | None = None) -> None:
        """End the session's subagents, or that of one call, and all below them."""

    async def below(self, session: Session) -> tuple[SessionId, ...]:
        """The subagents under way below a session that is halted or locked, leaves first."""


@dataclass(frozen=True)
class Deps:
    """What every actor works with."""

    journal: Journal
    snapshots: Snapshots
    models: Models
    machines: Machines
    terminals: Terminals
    services: Services
    proofs: Proofs
    trials: Trials
    checkpoints: Checkpoints
    versions: Versions
    pinned: PinnedBlobs
    project: Project
    folders: Folders
    history: Ingested
    gate: Gate
    bus: Bus
    clock: Clock
    directives: Callable[[], Directives]
    """What the person tells models always, as it is now."""
    new_id: Callable[[str], str]
    """Makes an id with this prefix."""
    attachments: GivenAttachments
    memory: MemoryService
    agents: SubagentService
    trust: TrustService
    notifications: NotificationService
    channels: ChannelService
    approval_ttl_s: int
    backoff_ms: int = 1000
    """The first pause after a model failure; it doubles up to a minute."""
    lanes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    """How many sessions work at the same time."""
