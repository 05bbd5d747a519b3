"""Patterns and procedures of a place: what is asked for again and again, and how it was done.

Layer: runtime. A part of a run of consolidation. What they rest on is read anew each time from what was said and done,
so nothing is counted twice; one that the person took away is not concluded again from the same words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import get_args

from msgspec.structs import replace

from stead.brain import patterns, procedures
from stead.brain.consolidating import DOOR, scope_of
from stead.brain.explicit import explicit
from stead.domain import events as ev
from stead.domain.consolidating import Material, Work
from stead.domain.errors import InvalidRequest
from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Kind, Memory, MemoryId, MemoryRow, PlaceId, ProposalId, RunId, Standing
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import MemoryReports, RowsWanted
from stead.runtime.memories import Memories

REQUESTS = 2_000
"""The newest ones, among which those that are alike are looked for."""
_SESSIONS = 50


class Repeating:
    """Finds what repeats, for one run.

    Args:
        memories: says what may be saved, and makes ids.
        reports: what was proposed before.
        material: see there.
        place: whose.
        run: for the facts.
    """

    def __init__(
        self, memories: Memories, reports: MemoryReports, material: Material, place: PlaceId, run: RunId
    ) -> None:
        self._memories = memories
        self._reports = reports
        self._material = material
        self._place = place
        self._run = run
        self._works: dict[SessionId, tuple[Work, ...]] = {}

    async def facts(self, turns: Sequence[Episode]) -> tuple[MemoryFact, ...]:
        """What new turns add, in order; the caller holds the stream's lock."""
        news = [(turn, wanted) for turn in turns if (wanted := _wanted(turn))]
        if not news:
            return ()
        asked = await asyncio.to_thread(self._material.requests, self._place, REQUESTS)
        gists = [(turn, wanted) for turn in asked if (wanted := _wanted(turn))]
        facts: list[MemoryFact] = []
        done: set[int] = set()
        for turn, wanted in news:
            group = [other for other, words in gists if patterns.alike(wanted, words) and other.private == turn.private]
            if turn.seq in done or len(group) < procedures.LEAST:
                continue
            done |= {other.seq for other in group}
            seqs = {other.seq for other in group}
            works = [work for work in await self._works_of(group) if work.seq in seqs and work.steps]
            worked = {work.session for work in works}
            facts += await self._pattern([other for other in group if other.session in worked])
            facts += await self._procedure(group, works)
        return tuple(facts)

    async def _pattern(self, group: Sequence[Episode]) -> tuple[MemoryFact, ...]:
        new = patterns.pattern(group, self._place, MemoryId(self._memories.new_id("m")))
        return await self._concluded(new) if new else ()

    async def _procedure(self, group: Sequence[Episode], works: Sequence[Work]) -> tuple[MemoryFact, ...]:
        found = procedures.procedure(sorted(works, key=lambda work: work.seq))
        if found is None:
            return ()
        scope = scope_of(group[0], self._place, everywhere=False)
        new = procedures.memory(found, scope, MemoryId(self._memories.new_id("m")))
        facts = await self._concluded(new)
        held = next((fact.memory for fact in facts if isinstance(fact, ev.MemoryMade | ev.MemoryAmended)), None)
        if held is None or not found.worth_a_skill or await self._proposed(held.id):
            return facts
        return (
            *facts,
            ev.MemoryProposed(
                id=ProposalId(self._memories.new_id("p")),
                what="skill",
                memories=(held.id,),
                text=procedures.skill(found),
                why=f"It went to a good end {found.successes} of {found.uses} times; as a skill it is offered by name.",
                label=held.label,
                run=self._run,
            ),
        )

    async def _concluded(self, new: Memory) -> tuple[MemoryFact, ...]:
        """What a conclusion changes: nothing when it is there as it is, or was taken away."""
        held = await self._held(new)
        if held is None:
            try:
                return (ev.MemoryMade(self._memories.require_savable(new), DOOR, self._run),)
            except InvalidRequest:
                return ()  # it says what may not be saved; the words that it rests on are found by themselves
        if held.status != "live":
            return ()
        grown = replace(
            held.memory,
            value=new.value,
            evidence=new.evidence,
            label=new.label,
            confidence=max(held.memory.confidence, new.confidence),
        )
        return (ev.MemoryAmended(grown, DOOR, self._run),) if grown != held.memory else ()

    async def _held(self, new: Memory) -> MemoryRow | None:
        """What was concluded before from some of the same words, whatever became of it."""
        kinds: tuple[Kind, ...] = (new.kind,)
        wanted = RowsWanted(place=self._place, kinds=kinds, status=get_args(Standing), limit=1_000)
        rows, _ = await asyncio.to_thread(self._memories.remembered.rows, wanted)
        seqs = {one.seq for one in new.evidence}
        return next((row for row in rows if seqs & {one.seq for one in row.memory.evidence}), None)

    async def _proposed(self, id: MemoryId) -> bool:
        rows = await asyncio.to_thread(lambda: self._reports.proposals(waiting=False))
        return any(row.proposal.what == "skill" and id in row.proposal.memories for row in rows)

    async def _works_of(self, group: Sequence[Episode]) -> list[Work]:
        """The work of a group's last sessions; what was only answered, from memory perhaps, is none."""
        sessions = list(dict.fromkeys(turn.session for turn in group))[-_SESSIONS:]
        for session in sessions:
            if session not in self._works:
                self._works[session] = await asyncio.to_thread(self._material.work, session)
        return [work for session in sessions for work in self._works[session]]


def _wanted(turn: Episode) -> frozenset[str]:
    """What a turn asks for; nothing for one that states something instead."""
    return frozenset() if explicit(turn) else patterns.gist(turn.text)
