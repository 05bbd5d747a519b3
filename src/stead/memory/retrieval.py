"""Recall: what a viewer may see that a query finds, best first.

Layer: memory. The order is fixed: who may see it, what is always told, what is asked for by name, words, meaning, then
the weighing. Who may see it is tested twice: by each statement, and once more on each hit before it leaves. A leg that
does not work is named in the answer, and the others answer without it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from stead.domain.embedding import VectorBytes
from stead.domain.errors import EmbeddingFault, StorageFault
from stead.domain.memory import LegState, PlaceId, Query, Recalled, Viewer
from stead.memory import gathering
from stead.memory.answering import answer
from stead.memory.finding import CANDIDATES
from stead.memory.gathering import Asked, Gathered
from stead.memory.index import Index
from stead.memory.meaning import Meaning
from stead.memory.writing import TABLES, Table

ALWAYS_CHARS = 8_000
"""Of what is always told."""
_NO_VECTORS = "nothing here has a vector yet; they are made when it has been quiet for a while"
_FIRST = 4 * CANDIDATES
_NO_EMBEDDER = "there is no embedder; what is found is found by its words and names"


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
        looks, unread = await asyncio.to_thread(self._looks, ask, viewer)
        bare = not any(look.dense for look in looks)
        vector, _ = await asyncio.gather(self._vector(ask, bare), asyncio.to_thread(_each, looks, _Look.gather))
        lack = vector if isinstance(vector, str) else await self._near(looks, vector)
        await asyncio.to_thread(_each, looks, _Look.complete)
        if not (query.superseded or query.overtaken):
            rows = (one.row for look in looks for one in look.gathered.found.values())
            keys = {row.memory.key for row in rows if row and row.memory.key}
            await asyncio.to_thread(_each, looks, lambda look: look.at(keys))
        if not query.superseded:
            turns = {one.seq for look in looks for one in look.gathered.found.values() if one.row is None}
            await asyncio.to_thread(_each, looks, lambda look: look.ground(turns))
        hits = answer({look.index.place: look.gathered for look in looks}, ask, self._always_chars)
        withheld = sum(look.gathered.withheld for look in looks)
        took = round((time.perf_counter() - start) * 1000, 3)
        return Recalled(hits, _legs([*unread, *(look.fault for look in looks if look.fault)], lack), withheld, took)

    def _looks(self, ask: Asked, viewer: Viewer) -> tuple[list[_Look], list[str]]:
        """What is looked through, and why some of it cannot be."""
        found: list[_Look] = []
        faults: list[str] = []
        for place in viewer.places:
            try:
                index = self._indexes(place)
            except StorageFault as fault:
                faults.append(str(fault))
            else:
                found += [_Look(index, ask)] if index is not None else []
        if (meaning := self._meaning) is not None:
            _each(found, lambda look: look.ask_for_vectors(meaning))
        return found, faults

    async def _vector(self, ask: Asked, bare: bool) -> VectorBytes | str:
        """The query's, or why there is none; "" when none is wanted. Where nothing has one, no model need start."""
        if self._meaning is None:
            return _NO_EMBEDDER
        if not ask.terms:
            return self._meaning.lack()
        if bare:
            return self._meaning.lack() or _NO_VECTORS
        try:
            return await self._meaning.vector(ask.text)
        except EmbeddingFault as fault:
            return str(fault)

    async def _near(self, looks: Sequence[_Look], vector: VectorBytes) -> str:
        """Ask for what is near in each index; gives what was wrong, "" for nothing."""
        lack = ""
        for look in looks:
            try:
                for table in TABLES:
                    look.gathered.near |= await self._nearest(look, table, vector)
            except (EmbeddingFault, StorageFault) as fault:
                lack = str(fault)
        return lack

    async def _nearest(self, look: _Look, table: Table, vector: VectorBytes) -> dict[int, float]:
        """The nearest that may be hits. Whoever compares knows no scopes, so more are asked for than are needed."""
        assert self._meaning is not None, "whoever made the vector compares it"
        near = await self._meaning.nearest(look.index, table, vector, _FIRST)
        seen = await asyncio.to_thread(gathering.among, look.index, look.ask, near)
        if len(seen) < CANDIDATES and len(near) == _FIRST:  # others stood before those that may be seen
            allowed = await asyncio.to_thread(gathering.allowed, look.index, look.ask, table)
            return await self._meaning.nearest(look.index, table, vector, CANDIDATES, allowed)
        return dict([pair for pair in near.items() if pair[0] in seen][:CANDIDATES])


@dataclass
class _Look:
    """A query's way through one index."""

    index: Index
    ask: Asked
    gathered: Gathered = field(default_factory=Gathered)
    fault: str = ""
    dense: bool = False

    def ask_for_vectors(self, meaning: Meaning) -> None:
        self.dense = meaning.holds(self.index)

    def gather(self) -> None:
        self.gathered = gathering.gather(self.index, self.ask)

    def complete(self) -> None:
        gathering.complete(self.index, self.ask, self.gathered)

    def at(self, keys: Collection[str]) -> None:
        gathering.at(self.index, self.ask, self.gathered, keys)

    def ground(self, turns: Collection[int]) -> None:
        gathering.ground(self.index, self.ask, self.gathered, turns)


def _each(looks: Sequence[_Look], step: Callable[[_Look], None]) -> None:
    """Take a step in each index; one that cannot be read is left out from then on."""
    for look in looks:
        if look.fault:
            continue
        try:
            step(look)
        except StorageFault as fault:
            look.fault, look.gathered = str(fault), Gathered()


def _legs(faults: Sequence[str], lack: str) -> tuple[LegState, ...]:
    told = "; ".join(faults)
    return (
        LegState("pinned", not faults, told),
        LegState("alias", not faults, told),
        LegState("words", not faults, told),
        LegState("meaning", not lack, lack),
    )
