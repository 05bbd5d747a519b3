"""What is remembered once facts have been recorded that still have not been.

Layer: brain. Pure. A thousand statements at once each have to know of those before them, so these are kept by what they
are looked for by: their key, and their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stead.brain.remembering import normal
from stead.domain import events as ev
from stead.domain.memory import Memory, MemoryId, MemoryRow, Scope
from stead.domain.memory_events import MemoryFact

_Place = tuple[Scope, str, str]


class Ahead:
    """Facts that are to be recorded, in order."""

    def __init__(self) -> None:
        self._live: dict[MemoryId, Memory] = {}
        self._gone: set[MemoryId] = set()
        self._there: dict[_Place, dict[MemoryId, None]] = {}

    def take(self, facts: Iterable[MemoryFact]) -> None:
        """Let these come next."""
        for fact in facts:
            match fact:
                case ev.MemoryMade(memory=memory) | ev.MemoryAmended(memory=memory):
                    self._live[memory.id] = memory
                    self._gone.discard(memory.id)
                    for place in _places(memory):
                        self._there.setdefault(place, {})[memory.id] = None
                case ev.MemoryRetired(id=id):
                    self._live.pop(id, None)
                    self._gone.add(id)
                case _:
                    continue

    def amid(self, alike: Sequence[MemoryRow], new: Memory) -> list[MemoryRow]:
        """The live memories with a statement's key or words, the newest last.

        Args:
            alike: those that are recorded.
            new: the statement.
        """
        rows = {row.memory.id: row for row in alike if row.memory.id not in self._gone}
        for place in _places(new):
            for id in self._there.get(place, ()):
                memory = self._live.get(id)
                if memory is not None and place in _places(memory):
                    rows[id] = MemoryRow(memory, "live", 0)
        return list(rows.values())


def _places(memory: Memory) -> tuple[_Place, ...]:
    words = (memory.scope, "words", normal(memory.text))
    return ((memory.scope, "key", memory.key), words) if memory.key else (words,)
