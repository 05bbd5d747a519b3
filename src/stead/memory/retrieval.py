"""Recall: what a viewer may see that a query finds, best first.

Layer: memory. The order is fixed: who may see it, what is always told, what is asked for by name, words, meaning, then
the weighing. Who may see it is tested twice: by each statement, and once more on each hit before it leaves. A leg that
does not work is named in the answer, and the others answer without it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from stead.domain.embedding import VectorBytes
from stead.domain.errors import EmbeddingFault, StorageFault
from stead.domain.memory import Hit, Leg, LegState, PlaceId, Query, Recalled, Viewer
from stead.memory import gathering
from stead.memory.answering import answer
from stead.memory.finding import CANDIDATES
from stead.memory.gathering import Asked, Search
from stead.memory.index import Index
from stead.memory.meaning import Meaning
from stead.memory.writing import TABLES, Table

ALWAYS_CHARS = 8_000
"""Of what is always told."""
_NO_VECTORS = "nothing here has a vector yet; they are made when it has been quiet for a while"
_FIRST = 4 * CANDIDATES
_NO_EMBEDDER = "no embedder is installed, so only words and names are searched"


class Retriever:
    """Finds what is remembered.

    Args:
        indexes: the index of a place; nothing where nothing is remembered yet.
        meaning: the dense leg; nothing to go without.
        now_ms: milliseconds since 1970.
        always_chars: of what is always told, as many characters at most.
    """

    def __init__(
        self,
        indexes: Callable[[PlaceId], Index | None],
        meaning: Meaning | None = None,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        always_chars: int = ALWAYS_CHARS,
    ) -> None:
        self._indexes = indexes
        self._meaning = meaning
        self._now_ms = now_ms
        self._always_chars = always_chars

    async def recall(self, query: Query, viewer: Viewer) -> Recalled:
        """As ``domain.memory_ports.Remembered`` has it; nothing is raised for a leg that does not work."""
        start = time.perf_counter()
        ask = gathering.asked(query, viewer, self._now_ms())
        searches, faults, meaning, hits = await asyncio.to_thread(self._by_words, ask)
        if meaning is not None:
            lack = await self._near(meaning, searches, ask)
            hits = await asyncio.to_thread(self._answered, searches, faults, ask)
        elif self._meaning is None:
            lack = _NO_EMBEDDER
        else:
            lack = self._meaning.lack() or (_NO_VECTORS if ask.terms else "")
        took = round((time.perf_counter() - start) * 1000, 3)
        return Recalled(hits, _legs(faults, lack), sum(search.withheld for search in searches), took)

    def _by_words(self, ask: Asked) -> tuple[list[Search], list[str], Meaning | None, tuple[Hit, ...]]:
        """What names and words find in each place, and why some cannot be read.

        Then what can also look by the meaning, with no hits yet; or nothing, with the hits: where nothing has a
        vector, no model need start.
        """
        searches: list[Search] = []
        faults: list[str] = []
        bare = True
        for place in ask.viewer.places:
            try:
                index = self._indexes(place)
                if index is None:
                    continue
                search = Search(index, ask)
                search.gather()
                bare = bare and not (self._meaning is not None and self._meaning.holds(index))
            except StorageFault as fault:
                faults.append(str(fault))
            else:
                searches.append(search)
        if not bare and ask.terms:
            return searches, faults, self._meaning, ()
        return searches, faults, None, self._answered(searches, faults, ask)

    def _answered(self, searches: list[Search], faults: list[str], ask: Asked) -> tuple[Hit, ...]:
        """The hits. Places that cannot be read any more are taken out of ``searches``, and ``faults`` say why."""
        faults += _each(searches, lambda search: search.complete())
        every = [one for search in searches for one in search.found.values()]
        query = ask.query
        by_key = not (query.superseded or query.overtaken)
        keys = {one.row.memory.key for one in every if by_key and one.row and one.row.memory.key}
        turns = {one.seq for one in every if one.row is None and not query.superseded}
        faults += _each(searches, lambda search: search.check(keys, turns))
        return answer(searches, ask, self._always_chars)

    async def _near(self, meaning: Meaning, searches: Sequence[Search], ask: Asked) -> str:
        """Have each search take in what is near; gives why that is not so, "" where nothing is wrong."""
        try:
            vector = await meaning.vector(ask.text)
            for search in searches:
                for table in TABLES:
                    await self._nearest(meaning, search, table, vector)
        except (EmbeddingFault, StorageFault) as fault:
            return str(fault)
        return ""

    async def _nearest(self, meaning: Meaning, search: Search, table: Table, vector: VectorBytes) -> None:
        """The nearest that may be hits. What compares them knows no scopes, so more are asked for than are needed."""
        near = await meaning.nearest(search.index, table, vector, _FIRST)
        if len(near) == _FIRST and await asyncio.to_thread(search.seen, near) < CANDIDATES:
            allowed = await asyncio.to_thread(search.allowed, table)  # others stood before those that may be seen
            near = await meaning.nearest(search.index, table, vector, CANDIDATES, allowed)
        search.nearest.append(near)


def _each(searches: list[Search], step: Callable[[Search], None]) -> list[str]:
    """Take a step in each index; those that cannot be read are taken out. Gives why."""
    faults = []
    for search in tuple(searches):
        try:
            step(search)
        except StorageFault as fault:
            faults.append(str(fault))
            searches.remove(search)
    return faults


def _legs(faults: Sequence[str], lack: str) -> tuple[LegState, ...]:
    read: tuple[Leg, ...] = ("pinned", "alias", "words")
    return (*(LegState(leg, not faults, "; ".join(faults)) for leg in read), LegState("meaning", not lack, lack))
