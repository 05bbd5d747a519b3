"""Working what was said into memory, place by place.

Layer: runtime. One run is one transaction of the journal: its facts carry its id, and ``memory.consolidated`` closes
it with the last event that it speaks for. A crash leaves all of it or nothing, and what comes next goes on from there.
Nothing is asked of a model here (``runtime.gleaning`` does that), and where nothing is new nothing is written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from msgspec.structs import replace

from stead.brain.consolidating import decided, from_widest, memory_of, scope_of, wider
from stead.brain.decaying import FADES_MS, decayed
from stead.brain.explicit import Explicit, explicit
from stead.brain.remembering import says_the_same, unsettled
from stead.domain import events as ev
from stead.domain.consolidating import Material, Unread
from stead.domain.errors import InvalidRequest
from stead.domain.memory import GLOBAL, Episode, Memory, MemoryId, MemoryRow, PlaceId, ProposalId, RunId, Scope
from stead.domain.memory_events import MemoryConsolidated, MemoryFact
from stead.domain.memory_ports import MemoryReports, Said
from stead.domain.policies import Integrity
from stead.runtime.memories import Memories, amid
from stead.runtime.repeating import Repeating

_EVERYWHERE = Scope("global", GLOBAL)
TURNS = 500
"""Of one run; the rest is the next one's."""
RULES = "rules"
BY_PERSON = "person"
"""Who extracted, where it was no model."""

log = logging.getLogger(__name__)


@dataclass
class Gathering:
    """A run on its way.

    Args:
        run: its id.
        place: whose.
        facts: so far, in order.
        dropped: statements that may not be saved.
    """

    run: RunId
    place: PlaceId
    facts: list[MemoryFact] = field(default_factory=list)
    dropped: int = 0
    narrow: list[Memory] = field(default_factory=list)
    """Memories about the work that only sessions of the person's own see."""

    def closed(self, upto: int, read: int, *, tokens: int = 0, by: str = RULES) -> MemoryConsolidated:
        """The fact that closes it."""
        return MemoryConsolidated(
            run=self.run,
            place=self.place,
            upto=upto,
            read=read,
            made=sum(isinstance(fact, ev.MemoryMade) for fact in self.facts),
            retired=sum(isinstance(fact, ev.MemoryRetired) for fact in self.facts),
            proposed=sum(isinstance(fact, ev.MemoryProposed) for fact in self.facts),
            tokens=tokens,
            by=by,
        )


class Consolidation:
    """The runs by rules.

    Args:
        memories: takes statements in; its stream is where the facts go.
        reports: places and runs.
        material: what was said.
        zone: where the person lives, for the days that they name; none for this computer's zone.
    """

    def __init__(
        self, memories: Memories, reports: MemoryReports, material: Material, zone: tzinfo | None = None
    ) -> None:
        self.memories = memories
        self.reports = reports
        self.material = material
        self._zone = zone

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Work in what is new in every place; gives the runs that there were.

        Raises:
            StorageFault: the journal or an index cannot be used; what was recorded before stays.
        """
        runs: list[MemoryConsolidated] = []
        for place in await asyncio.to_thread(self.reports.places):
            while one := await self._one(place.id):
                runs.append(one)
        return tuple(runs)

    def zone_at(self, ts_ms: int) -> tzinfo:
        """The zone; of this computer's, how far it was from UTC at a moment, and UTC at one that no calendar has."""
        try:
            return self._zone or datetime.fromtimestamp(ts_ms / 1000).astimezone().tzinfo or UTC
        except (ValueError, OverflowError, OSError):
            return UTC

    async def _one(self, place: PlaceId) -> MemoryConsolidated | None:
        """One run; nothing when there is nothing to do."""
        async with self.memories.stream.lock:
            unread = await asyncio.to_thread(self.material.unread, place, model=False, limit=TURNS)
            gathering = Gathering(RunId(self.memories.new_id("c")), place)
            for turn in unread.turns:
                await self.take_in(gathering, turn, explicit(turn))
            await self._repeated(gathering, unread)
            await self._decayed(gathering)
            gathering.facts += wider(gathering.narrow, gathering.run, ProposalId(self.memories.new_id("p")))
            if not unread.turns and not gathering.facts:
                return None
            closing = gathering.closed(unread.upto, len(unread.turns))
            await self.memories.stream.record([*gathering.facts, closing], by="stead")
        if gathering.dropped:
            log.info("consolidation of %s: %d statements were not to be saved", place, gathering.dropped)
        return closing

    async def take_in(self, gathering: Gathering, turn: Episode, stated: Sequence[Explicit]) -> None:
        """Let a run take in what a turn states; the caller holds the stream's lock."""
        for one in stated:
            scope = scope_of(turn, gathering.place, everywhere=one.everywhere)
            memory = memory_of(one, turn, scope, self._new_id())
            await self.take_in_memory(gathering, memory, correcting=one.correcting)

    async def take_in_memory(
        self, gathering: Gathering, memory: Memory, *, correcting: bool, said: Said | None = None
    ) -> None:
        """Likewise one memory, unless it may not be saved, or is known everywhere.

        Args:
            gathering: the run.
            memory: see there.
            correcting: it puts something right.
            said: the words that a model took it from; nothing where the person's own sentence is the statement.
        """
        try:
            memory = self.memories.require_savable(memory)
        except InvalidRequest:
            gathering.dropped += 1  # a secret, or what was forgotten for good; no word of it goes into a log
            return
        everywhere = await self._alike(gathering, replace(memory, scope=_EVERYWHERE))
        wide = (row.memory for row in everywhere if row.status == "live")
        if memory.scope != _EVERYWHERE and any(says_the_same(one, memory) for one in wide):
            return
        proposal = ProposalId(self.memories.new_id("p"))
        if said is not None:
            scopes = from_widest(memory.scope)
            known = [
                row.memory for scope in scopes for row in await self._alike(gathering, replace(memory, scope=scope))
            ]
            memory = unsettled(memory, known, said)
        rows = await self._alike(gathering, memory)
        taken = decided(memory, rows, gathering.run, correcting=correcting, proposal=proposal)
        gathering.facts += taken.facts
        if taken.change == "same" or memory.scope.level != "private":
            return
        if memory.standing or memory.kind == "context" or await self._otherwise(gathering, memory):
            gathering.narrow.append(taken.memory)

    async def _otherwise(self, gathering: Gathering, memory: Memory) -> bool:
        """Whether the folder's objectives know something else at its key.

        It is not put right for them unasked: whoever has something remembered there, a stranger too, would choose by
        the key what of the person's own sessions they are told.
        """
        there = await self._alike(gathering, replace(memory, scope=replace(memory.scope, level="workspace")))
        known = (row.memory for row in there if row.memory.label.integrity is not Integrity.UNTRUSTED)
        return bool(memory.key) and any(one.key == memory.key for one in known)

    async def known_from(self, gathering: Gathering, memory: Memory) -> bool:
        """Whether something is remembered at the memory's key already that rests on the same turn."""
        seqs = {one.seq for one in memory.evidence}
        rows = await self._alike(gathering, memory)
        return any(row.memory.key == memory.key and seqs & {one.seq for one in row.memory.evidence} for row in rows)

    async def _alike(self, gathering: Gathering, memory: Memory) -> list[MemoryRow]:
        """The live memories with its key or words in its scope, those of this run too."""
        alike = await asyncio.to_thread(self.memories.like, memory)
        return amid(alike, gathering.facts, memory)

    async def _repeated(self, gathering: Gathering, unread: Unread) -> None:
        """Patterns and procedures; what they rest on is read anew each time, so that nothing is counted twice."""
        if not unread.turns:
            return
        repeating = Repeating(self.memories, self.reports, self.material, gathering.place, gathering.run)
        gathering.facts += await repeating.facts(unread.turns)

    async def _decayed(self, gathering: Gathering) -> None:
        now_ms = self.memories.stream.now_ms()
        rows = await asyncio.to_thread(self.material.due, gathering.place, now_ms, now_ms - FADES_MS)
        gone = {fact.id for fact in gathering.facts if isinstance(fact, ev.MemoryRetired)}
        touched = gone | {fact.memory.id for fact in gathering.facts if isinstance(fact, ev.MemoryAmended)}
        gathering.facts += decayed([row for row in rows if row.memory.id not in touched], now_ms, gathering.run)

    def _new_id(self) -> MemoryId:
        return MemoryId(self.memories.new_id("m"))
