"""What is remembered once facts have been recorded that still have not been.

Layer: brain. Pure. A thousand statements at once each have to know of those before them, so these are kept by what they
are looked for by: their key, and their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from stead.brain.remembering import normal
from stead.domain import events as ev
from stead.domain.memory import Memory, MemoryId, MemoryRow, Scope
from stead.domain.memory_events import MemoryFact

_Place = tuple[Scope, str, str]


class Ahead:
    """Facts that are to be recorded, in order."""

    def __init__(self) -> None:
        self._rows: dict[MemoryId, MemoryRow] = {}
        self._ends: dict[MemoryId, int] = {}
        """Of what is retired, until when it held."""
        self._there: dict[_Place, dict[MemoryId, None]] = {}

    def take(self, facts: Iterable[MemoryFact]) -> None:
        """Let these come next."""
        for fact in facts:
            match fact:
                case ev.MemoryMade(memory=memory) | ev.MemoryAmended(memory=memory):
                    self._rows[memory.id] = MemoryRow(memory, "live", 0)
                    self._ends.pop(memory.id, None)
                    for place in _places(memory):
                        self._there.setdefault(place, {})[memory.id] = None
                case ev.MemoryRetired(id=id, why=why, valid_to_ms=valid_to_ms):
                    self._ends[id] = valid_to_ms if why == "superseded" else 0
                case _:
                    continue

    def touches(self, id: MemoryId) -> bool:
        """Whether one of the facts is about a memory."""
        return id in self._rows or id in self._ends

    def holds(self, id: MemoryId) -> bool:
        """Whether none of the facts retires a memory."""
        return id not in self._ends

    def amid(self, alike: Sequence[MemoryRow], new: Memory) -> list[MemoryRow]:
        """The live memories with a statement's key or words, and the superseded ones that still held when it began to.

        Args:
            alike: those that are recorded, the newest last.
            new: the statement.
        """
        rows = {row.memory.id: row for row in alike}
        for place in _places(new):
            ids = self._there.get(place, ())
            rows |= {id: self._rows[id] for id in ids if place in _places(self._rows[id].memory)}
        now = [self._now(row) for row in rows.values()]
        return [row for row in now if row.status == "live" or row.memory.valid_to_ms > new.valid_from_ms]

    def _now(self, row: MemoryRow) -> MemoryRow:
        end = self._ends.get(row.memory.id)
        if end is None:
            return row
        return replace(row, memory=replace(row.memory, valid_to_ms=end), status="superseded")


def _places(memory: Memory) -> tuple[_Place, ...]:
    words = (memory.scope, "words", normal(memory.text))
    return ((memory.scope, "key", memory.key), words) if memory.key else (words,)
