"""Taking what was forgotten out of the indexes and out of the embedder's process.

Layer: memory. By numbers alone: the words are gone by then, and what is to stay is read in the journal again. Every
step may be done twice, so that a crash in between is mended by doing all of it again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from stead.domain.errors import EmbeddingFault, StorageFault
from stead.domain.events import Event
from stead.domain.forgetting import Touches
from stead.domain.memory import Episode, MemoryId, PlaceId
from stead.domain.policies import Integrity
from stead.memory.books import MemoryBooks
from stead.memory.directory import Directory, again
from stead.memory.feed import episode
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning


class MemoryPurges:
    """Implements ``domain.forgetting.Purges``.

    Args:
        books: the indexes.
        meaning: what compares vectors; nothing where there is none.
    """

    def __init__(self, books: MemoryBooks, meaning: Meaning | None) -> None:
        self._books = books
        self._meaning = meaning

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """See ``Purges``."""
        indexes = await asyncio.to_thread(self._purge, memories, events)
        if self._meaning is None:
            return
        for index in indexes:
            try:
                await self._meaning.drop_void(index)
            except EmbeddingFault as fault:
                raise StorageFault(f"vectors of what was forgotten may still be in memory: {fault}") from fault

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """See ``Purges``: the files are looked into with all of the home's, and vectors have no words."""
        return ()

    def _purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> list[Index]:
        with self._books.changing() as (directory, index_of, here):
            removed: dict[PlaceId, list[str]] = defaultdict(list)
            turns: dict[PlaceId, list[Event]] = defaultdict(list)
            for place, _, _ in directory.places():
                removed[place] = [*memories]
            with directory.writing() as connection:
                connection.executemany("DELETE FROM memories WHERE id = ?", [(id,) for id in memories])
                for seq in events:
                    event = self._books.event(seq)
                    known = directory.session(event.session) if event is not None else None
                    again(connection, seq, event if isinstance(event, Event) else None, known)
                    if known is not None:
                        removed[known.place].append(f"e_{seq}")
                        if isinstance(event, Event):
                            turns[known.place].append(event)
            directory.database.scrub()
            indexes = []
            for place, refs in removed.items():
                index = index_of(place)
                indexes.append(index)
                said = [turn for event in turns[place] if (turn := self._again(event, directory, index))]
                index.take(Changes(removed=refs, episodes=said), *here)
            return indexes

    def _again(self, event: Event, directory: Directory, index: Index) -> Episode | None:
        """A turn as it reads now; what the session had read of strangers until then, not until today, marks it."""
        known = directory.session(event.session)
        if known is None:
            return None
        before = index.episode(f"e_{event.seq}")
        tainted = known.tainted if before is None else before.label.integrity is Integrity.UNTRUSTED
        return episode(event, replace(known, tainted=tainted))
