"""What a run of consolidation changed, and taking it back.

Layer: runtime. A run is taken back by facts, as a run of its own: the record shows both. What has been built on it
since stays in place: a memory that took the place of one of the run's has its predecessors instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from msgspec.structs import replace

from stead.brain.decaying import SURE
from stead.domain import events as ev
from stead.domain.consolidating import Changed, RunDiff
from stead.domain.errors import Conflict, NotFound
from stead.domain.memory import MEMORY, Memory, MemoryId, MemoryRow, RunId
from stead.domain.memory_events import MemoryConsolidated, MemoryFact, MemoryProposed
from stead.domain.memory_ports import MemoryReports, Remembered
from stead.domain.ports import Journal
from stead.runtime.consolidation import BY_PERSON


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

    async def taken_back(self, run: RunId, new: RunId, door: str) -> tuple[MemoryFact, ...]:
        """The facts that take a run back; the caller holds the stream's lock.

        Raises:
            NotFound: there was no such run.
            Conflict: it was taken back before, or is itself one that took another back.
        """
        return await asyncio.to_thread(lambda: tuple(self._taken_back(self._diff(run), new, door)))

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

    def _taken_back(self, diff: RunDiff, new: RunId, door: str) -> Iterator[MemoryFact]:
        if diff.reverted_by:
            raise Conflict(f"consolidation {diff.run.run!r} was taken back before, by {diff.reverted_by!r}")
        if diff.run.reverted:
            raise Conflict(
                f"{diff.run.run!r} took {diff.run.reverted!r} back; `stead memory restore` has single memories back"
            )
        facts: list[MemoryFact] = []
        made = {one.after.id for one in diff.changed if one.how == "made" and one.after}
        for one in diff.changed:
            facts += self._undone(one, made, new, door)
        waiting = {row.proposal.id for row in self._reports.proposals(waiting=True)}
        facts += [
            ev.ProposalSettled(asks.id, accepted=False, door=door) for asks in diff.proposed if asks.id in waiting
        ]
        yield from facts
        yield MemoryConsolidated(
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

    def _undone(self, one: Changed, made: set[MemoryId], new: RunId, door: str) -> Iterator[MemoryFact]:
        memory = one.before or one.after
        row = self._row(memory.id) if memory else None
        if memory is None or row is None:
            return
        match one.how:
            case "made":
                if row.status != "retired":
                    yield ev.MemoryRetired(memory.id, "reverted", "", 0, door, new)
            case "amended":
                if one.before and row.status == "live" and row.memory == one.after:
                    yield ev.MemoryAmended(_stood_by(one.before, one.after), door, new)
            case "retired":
                if memory.id not in made:
                    yield from self._back(one, memory, row, new, door)
            case "restored":
                yield ev.MemoryRetired(memory.id, "reverted", "", row.memory.valid_from_ms, door, new)

    def _back(self, one: Changed, memory: Memory, row: MemoryRow, new: RunId, door: str) -> Iterator[MemoryFact]:
        """A memory that the run retired, unless something else became of it since."""
        if one.why == "expired" and row.status == "expired":
            yield ev.MemoryRestored(memory.id, door, new)
            yield ev.MemoryAmended(_stood_by(replace(memory, valid_to_ms=0, expires_ms=0), memory), door, new)
        elif one.why == "superseded" and row.status == "superseded" and row.superseded_by == one.by:
            heir = self._row(MemoryId(one.by))
            if heir is not None and heir.superseded_by:  # another one has taken the heir's place since
                until = heir.memory.valid_to_ms
                yield ev.MemoryRetired(memory.id, "superseded", heir.superseded_by, until, door, new)
            else:
                yield ev.MemoryRestored(memory.id, door, new)

    def _row(self, id: MemoryId) -> MemoryRow | None:
        try:
            return self._remembered.row(id)
        except NotFound:
            return None


def _stood_by(before: Memory, after: Memory | None) -> Memory:
    """A memory as it was. A conclusion that the person takes back from time's hands does not fade again."""
    faded = before.origin == "inferred" and after is not None and after.confidence <= before.confidence
    return replace(before, confidence=SURE) if faded else before
