"""Consolidating what was said into memory, place by place.

Layer: runtime. One run is one transaction of the journal: its facts carry its id, and ``memory.consolidated`` closes
it with the last event that it speaks for. A crash leaves all of it or nothing, and what comes next goes on from there.
Here is what needs no model: explicit statements, what repeats, what time ends. ``runtime.extractor`` has a model
extract the rest, and hands it in. Where nothing is new nothing is written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from msgspec.structs import replace

from stead.brain.ahead import Ahead
from stead.brain.consolidating import decided, from_widest, memory_of, scope_of, wider
from stead.brain.decaying import FADES_MS, decayed
from stead.brain.explicit import explicit
from stead.brain.remembering import says_the_same, unsettled
from stead.domain import events as ev
from stead.domain.consolidating import RULES, Material
from stead.domain.errors import InvalidRequest
from stead.domain.memory import GLOBAL, Memory, MemoryId, MemoryRow, PlaceId, ProposalId, RunId, Scope
from stead.domain.memory_events import MemoryConsolidated, MemoryFact
from stead.domain.memory_ports import Said
from stead.domain.policies import Integrity
from stead.domain.reading_events import ReadingBody
from stead.runtime.memories import Memories
from stead.runtime.repeating import Repeating

_EVERYWHERE = Scope("global", GLOBAL)
TURNS = 500
"""Of one run; the rest is the next one's."""

log = logging.getLogger(__name__)


@dataclass
class Run:
    """A run that is under way.

    Args:
        id: for the facts.
        place: whose.
        facts: so far, in order.
        dropped: statements that may not be saved.
        work: new memories about the work, seen in sessions of the person's own alone.
        personal: new memories about the person, seen in one folder alone.
        ahead: what holds once the facts are recorded.
    """

    id: RunId
    place: PlaceId
    facts: list[MemoryFact] = field(default_factory=list)
    dropped: int = 0
    work: list[Memory] = field(default_factory=list)
    personal: list[Memory] = field(default_factory=list)
    ahead: Ahead = field(default_factory=Ahead)

    def add(self, facts: Sequence[MemoryFact]) -> None:
        """Let these come next."""
        self.facts += facts
        self.ahead.take(facts)

    def closed(
        self, facts: Sequence[MemoryFact | ReadingBody], upto: int, read: int, *, tokens: int = 0, by: str = RULES
    ) -> MemoryConsolidated:
        """The fact that closes it, with the number of these facts."""
        return MemoryConsolidated(
            run=self.id,
            place=self.place,
            upto=upto,
            read=read,
            made=sum(isinstance(fact, ev.MemoryMade) for fact in facts),
            retired=sum(isinstance(fact, ev.MemoryRetired) for fact in facts),
            proposed=sum(isinstance(fact, ev.MemoryProposed) for fact in facts),
            tokens=tokens,
            by=by,
        )


class Consolidation:
    """The runs without a model, and what every run takes in.

    Args:
        memories: takes statements in; its stream is where the facts go.
        material: what was said.
        zone: where the person lives, for the days that they name; none for the process's, which is theirs.
        fades_ms: unused for so long, a conclusion is believed less.
    """

    def __init__(
        self, memories: Memories, material: Material, zone: tzinfo | None = None, *, fades_ms: int = FADES_MS
    ) -> None:
        self.memories = memories
        self.material = material
        self._zone = zone
        self._fades_ms = fades_ms

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Work in what is new in every place; gives the runs that there were.

        Raises:
            StorageFault: the journal or an index cannot be used; what was recorded before stays.
        """
        runs: list[MemoryConsolidated] = []
        for place in await asyncio.to_thread(self.memories.reports.places):
            while one := await self._one(place.id):
                runs.append(one)
        return tuple(runs)

    def zone_at(self, ts_ms: int) -> tzinfo:
        """The zone; of the process's, how far it was from UTC at a moment, and UTC at one that no calendar has."""
        try:
            return self._zone or datetime.fromtimestamp(ts_ms / 1000).astimezone().tzinfo or UTC
        except (ValueError, OverflowError, OSError):
            return UTC

    async def _one(self, place: PlaceId) -> MemoryConsolidated | None:
        """One run; nothing when there is nothing to do."""
        async with self.memories.stream.lock:
            unread = await asyncio.to_thread(self.material.unread, place, model=False, limit=TURNS)
            run = Run(RunId(self.memories.new_id("c")), place)
            for turn in unread.turns:
                for one in explicit(turn):
                    scope = scope_of(turn, place, everywhere=one.everywhere)
                    memory = memory_of(one, turn, scope, MemoryId(self.memories.new_id("m")))
                    await self.take_in(run, memory, correcting=one.correcting)
            repeating = Repeating(self.memories, self.material, place, run.id)
            run.add(await asyncio.to_thread(lambda: list(repeating.facts(unread.turns))))
            now_ms = self.memories.stream.now_ms()
            due = await asyncio.to_thread(self.material.due, place, now_ms, now_ms - self._fades_ms)
            run.add(
                decayed([row for row in due if not run.ahead.touches(row.memory.id)], now_ms, run.id, self._fades_ms)
            )
            facts = [*run.facts, *self.asked(run)]
            if not unread.turns and not facts:
                return None
            closing = run.closed(facts, unread.upto, len(unread.turns))
            await self.memories.stream.record([*facts, closing], by="stead")
        if run.dropped:
            log.info("consolidation of %s: %d statements were not to be saved", place, run.dropped)
        return closing

    def asked(self, run: Run) -> tuple[MemoryFact, ...]:
        """What a run asks the person: whether more of their sessions are to know what it noted."""
        work, personal = ([one for one in some if run.ahead.holds(one.id)] for some in (run.work, run.personal))
        return wider(work, personal, run.id, lambda: ProposalId(self.memories.new_id("p")))

    async def take_in(self, run: Run, memory: Memory, *, correcting: bool, said: Said | None = None) -> None:
        """Let a run take a memory in, unless it may not be saved, or is known everywhere; needs the stream's lock.

        Args:
            run: that takes it in.
            memory: what was stated.
            correcting: it puts something right.
            said: the words that a model took it from; nothing where the person's own sentence is the statement.
        """
        try:
            memory = self.memories.require_savable(memory)
        except InvalidRequest:
            run.dropped += 1  # a secret, or what was forgotten for good; no word of it goes into a log
            return
        wide = [row.memory for row in await self._alike(run, memory, _EVERYWHERE) if row.status == "live"]
        if memory.scope != _EVERYWHERE and any(says_the_same(one, memory) for one in wide):
            return
        proposal = ProposalId(self.memories.new_id("p"))
        if said is not None:
            scopes = from_widest(memory.scope)
            known = [row.memory for scope in scopes for row in await self._alike(run, memory, scope)]
            memory = unsettled(memory, known, said)
        rows = await self._alike(run, memory, memory.scope)
        taken = decided(memory, rows, run.id, correcting=correcting, proposal=proposal)
        run.add(taken.facts)
        if taken.change == "same" or taken.contradicts or memory.scope.level in ("global", "channel"):
            return  # nothing new, or the person is asked already which of two holds
        if memory.key.startswith("person."):
            run.personal.append(taken.memory)
        elif memory.scope.level == "private" and (
            memory.standing or memory.kind == "context" or await self._otherwise(run, memory)
        ):
            run.work.append(taken.memory)

    async def _otherwise(self, run: Run, memory: Memory) -> bool:
        """Whether the folder's objectives know something else at its key.

        It is not put right for them unasked: whatever is remembered there, by a stranger's doing too, would choose by
        the key what of the person's own sessions they see.
        """
        there = await self._alike(run, memory, replace(memory.scope, level="workspace"))
        known = (row.memory for row in there if row.memory.label.integrity is not Integrity.UNTRUSTED)
        return bool(memory.key) and any(one.key == memory.key for one in known)

    async def known_from(self, run: Run, memory: Memory) -> bool:
        """Whether something is remembered at the memory's key already that rests on the same turn."""
        seqs = {one.seq for one in memory.evidence}
        rows = await self._alike(run, memory, memory.scope)
        return any(row.memory.key == memory.key and seqs & {one.seq for one in row.memory.evidence} for row in rows)

    async def _alike(self, run: Run, memory: Memory, scope: Scope) -> list[MemoryRow]:
        """What a scope has at its key or in its words, as of ``Memories.like``; what this run has made, too."""
        there = replace(memory, scope=scope)
        return run.ahead.amid(await asyncio.to_thread(self.memories.like, there), there)
