"""What a run of consolidation changed, and taking it back.

Layer: runtime. A run is taken back by facts, as a run of its own: the record shows both. What has been built on it
since stays in place: a memory that took the place of one of the run's has its predecessors instead, one of the run's
that the person changed is theirs, and what they said meanwhile is not set beside what the run took away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from stead.brain.decaying import SURE
from stead.brain.remembering import excludes
from stead.domain import events as ev
from stead.domain.consolidating import BY_PERSON, Changed, RunDiff
from stead.domain.errors import Conflict, NotFound
from stead.domain.memory import MEMORY, Memory, MemoryId, MemoryRow, RunId
from stead.domain.memory_events import MemoryConsolidated, MemoryFact, MemoryProposed
from stead.domain.memory_ports import MemoryReports, Remembered
from stead.domain.ports import Journal
from stead.memory.files.rows import row_of


@dataclass(frozen=True)
class _Back:
    """One taking back: its own run and door, what the run made, and all that it changed and nobody has since."""

    run: RunId
    door: str
    made: frozenset[MemoryId]
    changed: frozenset[MemoryId]


class Runs:
    """The runs that there were.

    Args:
        journal: has their facts.
        remembered: what has become of memories.
        reports: what has become of proposals.
    """

    def __init__(self, journal: Journal, remembered: Remembered, reports: MemoryReports) -> None:
        self._journal = journal
        self._remembered = remembered
        self._reports = reports

    async def diff(self, run: RunId) -> RunDiff:
        """What a run changed.

        Raises:
            NotFound: there was no such run.
        """
        return await asyncio.to_thread(self._diff, run)

    async def taken_back(self, run: RunId, new: RunId, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        """The facts that take a run back, and that in words; the caller holds the stream's lock.

        Raises:
            NotFound: there was no such run.
            Conflict: it was taken back before, or is itself one that took another back.
        """
        return await asyncio.to_thread(lambda: self._taken_back(self._diff(run), new, door))

    def _diff(self, run: RunId) -> RunDiff:
        held: dict[MemoryId, Memory] = {}
        changed: list[Changed] = []
        proposed: list[MemoryProposed] = []
        ended: tuple[int, MemoryConsolidated] | None = None
        reverted_by = RunId("")
        forgotten: set[MemoryId] = set()
        for event in self._journal.events(session=MEMORY):
            if not isinstance(event, ev.Event):
                continue
            match event.body:
                case ev.MemoryMade(memory=memory) | ev.MemoryAmended(memory=memory) as fact:
                    if fact.run == run:
                        made = isinstance(fact, ev.MemoryMade)
                        changed.append(Changed("made" if made else "amended", held.get(memory.id), memory))
                    held[memory.id] = memory
                case ev.MemoryRetired(id=id) | ev.MemoryRestored(id=id) as fact if fact.run == run and id in held:
                    if isinstance(fact, ev.MemoryRetired):
                        changed.append(Changed("retired", held[id], None, fact.why, fact.by))
                    else:
                        changed.append(Changed("restored", None, held[id]))
                case ev.MemoryProposed(run=of) as asks if of == run:
                    proposed.append(asks)
                case ev.MemoryConsolidated() as end if end.run == run:
                    ended = event.ts_ms, end
                case ev.MemoryConsolidated() as end if end.reverted == run:
                    reverted_by = end.run
                case ev.ForgettingBegun(memories=ids):
                    forgotten.update(ids)
                case _:
                    continue
        if ended is None:
            raise NotFound(f"there was no consolidation {run!r}; `stead memory runs` lists them")
        kept = tuple(one for one in changed if not forgotten & {each.id for each in (one.before, one.after) if each})
        return RunDiff(ended[1], ended[0], kept, tuple(proposed), reverted_by)

    def _taken_back(self, diff: RunDiff, new: RunId, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        if diff.reverted_by:
            raise Conflict(f"consolidation {diff.run.run!r} was taken back before, by {diff.reverted_by!r}")
        if diff.run.reverted:
            raise Conflict(
                f"{diff.run.run!r} took {diff.run.reverted!r} back; `stead memory restore` has single memories back"
            )
        left = {one.after.id: one.after for one in diff.changed if one.after}
        made = {one.after.id for one in diff.changed if one.how == "made" and one.after}
        kept = {
            id
            for id in made
            if (row := row_of(self._remembered, id)) and row.status == "live" and _changed(row.memory, left[id])
        }
        named = {memory.id for one in diff.changed for memory in (one.before, one.after) if memory}
        back = _Back(new, door, frozenset(made), frozenset(named - kept))
        facts: list[MemoryFact] = []
        for one in diff.changed:
            if one.after is None or one.after.id not in kept:
                facts += self._undone(one, back)
        waiting = {row.proposal.id for row in self._reports.proposals(waiting=True)}
        facts += [
            ev.ProposalSettled(asks.id, accepted=False, door=door) for asks in diff.proposed if asks.id in waiting
        ]
        closing = MemoryConsolidated(
            run=new,
            place=diff.run.place,
            upto=diff.run.upto,
            read=0,
            made=0,
            retired=sum(isinstance(fact, ev.MemoryRetired) for fact in facts),
            proposed=0,
            tokens=0,
            by=BY_PERSON,
            reverted=diff.run.run,
        )
        stays = f"; what you have changed since stays: {', '.join(sorted(kept))}" if kept else ""
        return (*facts, closing), f"{diff.run.run} is taken back, {len(facts)} changes{stays}"

    def _undone(self, one: Changed, back: _Back) -> Iterator[MemoryFact]:
        memory = one.before or one.after
        row = row_of(self._remembered, memory.id) if memory else None
        if memory is None or row is None:
            return
        match one.how:
            case "made":
                if row.status != "retired":
                    yield ev.MemoryRetired(memory.id, "reverted", "", 0, back.door, back.run)
            case "amended":
                if one.before and row.status == "live" and row.memory == one.after:
                    yield ev.MemoryAmended(_stood_by(one.before, one.after), back.door, back.run)
            case "retired":
                if memory.id not in back.made:
                    yield from self._again(one, memory, row, back)
            case "restored":
                yield ev.MemoryRetired(memory.id, "reverted", "", row.memory.valid_from_ms, back.door, back.run)

    def _again(self, one: Changed, memory: Memory, row: MemoryRow, back: _Back) -> Iterator[MemoryFact]:
        """A memory that the run retired, unless something else became of it, or stands in its place, since."""
        instead = self._instead(memory, back)
        if one.why == "expired" and row.status == "expired" and instead is None:
            yield ev.MemoryRestored(memory.id, back.door, back.run)
            over = _stood_by(replace(memory, valid_to_ms=0, expires_ms=0), memory)
            yield ev.MemoryAmended(over, back.door, back.run)
        elif one.why == "superseded" and row.status == "superseded" and row.superseded_by == one.by:
            heir = row_of(self._remembered, MemoryId(one.by))
            if heir is not None and heir.superseded_by:  # another one has taken the heir's place since
                until = heir.memory.valid_to_ms
                yield ev.MemoryRetired(memory.id, "superseded", heir.superseded_by, until, back.door, back.run)
            elif instead is None:
                yield ev.MemoryRestored(memory.id, back.door, back.run)
            elif instead.id != one.by:
                until = instead.valid_from_ms
                yield ev.MemoryRetired(memory.id, "superseded", instead.id, until, back.door, back.run)

    def _instead(self, memory: Memory, back: _Back) -> Memory | None:
        """What holds now and cannot hold beside it: the newest, but for what this taking back changes."""
        alike = self._remembered.alike(memory.scope, memory.text, memory.key)
        others = [row.memory for row in alike if row.memory.id not in back.changed]
        return next((one for one in reversed(others) if excludes(one, memory)), None)


def _changed(now: Memory, then: Memory) -> bool:
    """Whether somebody made something else of what a run left; time alone makes it less sure."""
    return replace(now, confidence=max(now.confidence, then.confidence)) != then


def _stood_by(before: Memory, after: Memory | None) -> Memory:
    """A memory as it was. A conclusion that the person takes back from time's hands does not fade again."""
    faded = before.origin == "inferred" and after is not None and after.confidence <= before.confidence
    return replace(before, confidence=SURE) if faded else before
