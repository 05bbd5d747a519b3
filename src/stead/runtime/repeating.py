"""Patterns and procedures of a place: what is asked for again and again, and how it was done.

Layer: runtime. A part of a run of consolidation. What they rest on is read from what was said and done each time, so
nothing is counted twice; one that the person took away is not concluded again from the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec.structs import replace

from stead.brain import repeats
from stead.brain.consolidating import DOOR
from stead.brain.explicit import explicit
from stead.domain import events as ev
from stead.domain.consolidating import Material, Work
from stead.domain.errors import InvalidRequest
from stead.domain.memory import Episode, Memory, MemoryId, PlaceId, ProposalId, RunId, Standing
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import RowsWanted
from stead.runtime.memories import Memories

REQUESTS = 500
"""The newest ones, among which those that are alike are looked for."""
_SESSIONS = 50


class Repeating:
    """Finds what repeats, for one run.

    Args:
        memories: says what may be saved, and makes ids.
        material: what was said and done.
        place: whose.
        run: for the facts.
    """

    def __init__(self, memories: Memories, material: Material, place: PlaceId, run: RunId) -> None:
        self._memories = memories
        self._material = material
        self._place = place
        self._run = run

    def facts(self, turns: Sequence[Episode]) -> Iterator[MemoryFact]:
        """What new turns add, in order. It blocks; the caller holds the stream's lock."""
        news = [(turn, wanted) for turn in turns if (wanted := _wanted(turn))]
        asked = self._material.requests(self._place, REQUESTS) if news else ()
        gists = [(turn, wanted) for turn in asked if (wanted := _wanted(turn))]
        done: set[int] = set()
        for turn, wanted in news:
            group = [other for other, words in gists if repeats.alike(wanted, words) and other.private == turn.private]
            if turn.seq in done or len(group) < repeats.LEAST:
                continue
            done |= {other.seq for other in group}
            works = self._works_of(group)
            worked = {work.session for work in works}
            yield from self._pattern([other for other in group if other.session in worked])
            yield from self._procedure(group, works)

    def _pattern(self, group: Sequence[Episode]) -> Iterator[MemoryFact]:
        if new := repeats.pattern(group, self._place, MemoryId(self._memories.new_id("m"))):
            yield from self._concluded(new)

    def _procedure(self, group: Sequence[Episode], works: Sequence[Work]) -> Iterator[MemoryFact]:
        found = repeats.procedure(group, works)
        if found is None:
            return
        new = repeats.remembered(found, group, self._place, MemoryId(self._memories.new_id("m")))
        for fact in self._concluded(new):
            yield fact
            if found.worth_a_skill and not self._proposed(fact.memory.id):
                yield ev.MemoryProposed(
                    id=ProposalId(self._memories.new_id("p")),
                    what="skill",
                    memories=(fact.memory.id,),
                    text=found.skill,
                    why=f"It ended well {fact.memory.value} times; as a skill it is offered by name.",
                    label=fact.memory.label,
                    run=self._run,
                )

    def _concluded(self, new: Memory) -> Iterator[ev.MemoryMade | ev.MemoryAmended]:
        """What a conclusion changes: nothing when it is there as it is, was taken away, or may not be saved."""
        wanted = RowsWanted(place=self._place, kinds=(new.kind,), status=get_args(Standing), limit=1_000)
        seqs = {one.seq for one in new.evidence}
        rows, _ = self._memories.remembered.rows(wanted)
        held = next((row for row in rows if seqs & {one.seq for one in row.memory.evidence}), None)
        if held is None:
            try:
                yield ev.MemoryMade(self._memories.require_savable(new), DOOR, self._run)
            except InvalidRequest:
                return  # the words that it rests on are found by themselves
        elif held.status == "live":
            grown = {"value": new.value, "evidence": new.evidence, "label": new.label}
            now = replace(held.memory, confidence=max(held.memory.confidence, new.confidence), **grown)
            if now != held.memory:
                yield ev.MemoryAmended(now, DOOR, self._run)

    def _proposed(self, id: MemoryId) -> bool:
        rows = self._memories.reports.proposals(waiting=False)
        return any(row.proposal.what == "skill" and id in row.proposal.memories for row in rows)

    def _works_of(self, group: Sequence[Episode]) -> list[Work]:
        """The work that these requests of the last sessions led to, oldest first; a mere answer is none."""
        seqs = {turn.seq for turn in group}
        sessions = list(dict.fromkeys(turn.session for turn in group))[-_SESSIONS:]
        works = [work for session in sessions for work in self._material.work(session)]
        return sorted((work for work in works if work.seq in seqs and work.steps), key=lambda work: work.seq)


def _wanted(turn: Episode) -> frozenset[str]:
    """What a turn asks for; nothing for one that states something instead."""
    return frozenset() if explicit(turn) else repeats.gist(turn.text)
