"""The dense leg: vectors of what an index holds, kept up in the background, and which are nearest to a query.

Layer: memory. Knows who makes vectors and who compares them by protocols alone. It may be slow, dead or not built yet;
then it says so, and the other legs answer.
"""

from __future__ import annotations

import asyncio
import math
from asyncio import Task
from collections.abc import Collection, Sequence
from typing import Protocol

from stead.domain.embedding import BATCH, QUERY_DEADLINE_S, Embeds, VectorBytes
from stead.domain.errors import EmbeddingFault
from stead.domain.policies import Confidentiality
from stead.memory.index import Index
from stead.memory.writing import TABLES, Table

BATCH_DEADLINE_S = 60.0


class Compares(Protocol):
    """Says which vectors of a place are nearest; ``memory.embedding.embedder`` has it."""

    async def load(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Have a place hold these vectors and no others."""

    async def extend(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> bool:
        """Add vectors to a place; False when it is not loaded."""

    async def drop(self, place: str, ids: Collection[int]) -> bool:
        """Take vectors out of a place; False when it is not loaded."""

    async def nearest(
        self,
        place: str,
        query: str | bytes,
        count: int,
        *,
        allowed: Collection[int] | None = None,
        deadline_s: float = QUERY_DEADLINE_S,
    ) -> list[tuple[int, float]]:
        """The ids of the nearest vectors with their cosines; of those that are allowed, if that is said.

        Raises:
            EmbeddingFault: ``unloaded`` when the place is to be loaded first.
        """


class Meaning:
    """Close it.

    Args:
        embeds: makes vectors.
        compares: compares them.
        deadline_s: how long a query waits, for its vector and then for each place.
    """

    def __init__(self, embeds: Embeds, compares: Compares, *, deadline_s: float = QUERY_DEADLINE_S) -> None:
        self._embeds = embeds
        self._compares = compares
        self._deadline_s = deadline_s
        self._loading: dict[str, Task[None]] = {}

    def lack(self) -> str:
        """Why it would not work now, "" when it would."""
        return self._embeds.state().reason

    def holds(self, index: Index) -> bool:
        """Whether anything in an index can be found by its meaning."""
        return index.holds_vectors(self._embeds.model_id)

    async def vector(self, text: str) -> VectorBytes:
        """The vector of a query.

        Raises:
            EmbeddingFault: there is none, or not in time.
        """
        (vector,) = await self._embeds.embed([text], held=Confidentiality.PRIVATE, deadline_s=self._deadline_s)
        return vector

    async def nearest(
        self, index: Index, table: Table, vector: VectorBytes, count: int, allowed: Collection[int] | None = None
    ) -> dict[int, float]:
        """The nearest memories or turns of an index, with their cosines.

        Args:
            index: whose.
            table: memories or turns.
            vector: of the query.
            count: at most so many.
            allowed: the only items that may be found; nothing for all.

        Raises:
            EmbeddingFault: they cannot be compared now.
            StorageFault: as ``Index``.
        """
        await self.drop_void(index)
        name = _name(index, table)

        async def ask() -> list[tuple[int, float]]:
            return await self._compares.nearest(name, vector, count, allowed=allowed, deadline_s=self._deadline_s)

        try:
            return _sound(await ask())
        except EmbeddingFault as fault:
            if fault.kind != "unloaded":
                raise
        await self._loaded(index, table)
        return _sound(await ask())

    async def embed_some(self, index: Index) -> int:
        """Give vectors to up to ``BATCH`` texts that have none; gives how many.

        Raises:
            EmbeddingFault: none of them has one now.
            StorageFault: as ``Index``.
        """
        model = self._embeds.model_id
        bare = await asyncio.to_thread(index.unembedded, model, BATCH)
        if not bare:
            return 0
        held = max((one.held for one in bare), key=list(Confidentiality).index)
        vectors = await self._embeds.embed([one.text for one in bare], held=held, deadline_s=BATCH_DEADLINE_S)
        made = list(zip(bare, vectors, strict=True))
        there = await asyncio.to_thread(index.put_vectors, model, [(one.item, vector) for one, vector in made])
        await self.drop_void(index)  # first: what is void by now would take the new ones along
        for table in TABLES:
            some = [(one.item, vector) for one, vector in made if one.table == table and one.item in there]
            if some:
                items, those = zip(*some, strict=True)
                await self._compares.extend(_name(index, table), items, those)
        return len(made)

    async def drop_void(self, index: Index) -> None:
        """Have no copy of a vector whose text the index has no more.

        Raises:
            EmbeddingFault: there may still be one, as ``Embedder.drop`` says; the next call tries again.
        """
        loading = [task for table in TABLES if (task := self._loading.get(_name(index, table))) is not None]
        if loading:
            await asyncio.wait(loading)  # they may have read it before it was removed
        void = index.voided()
        if not void:
            return
        try:
            for table in TABLES:
                await self._compares.drop(_name(index, table), void)
        except EmbeddingFault:
            index.void_again(void)
            raise

    async def close(self) -> None:
        """End what is under way."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _loaded(self, index: Index, table: Table) -> None:
        """Have the vectors loaded; whoever comes meanwhile waits for the same, and no longer than a query may."""
        name = _name(index, table)
        task = self._loading.get(name)
        if task is None:
            task = asyncio.create_task(self._load(index, table), name="memory's vectors")
            self._loading[name] = task
            task.add_done_callback(lambda done: self._forget(name, done))
        done, _ = await asyncio.wait([task], timeout=self._deadline_s)
        if not done:
            raise EmbeddingFault("the vectors are being loaded; ask again in a moment", kind="busy")
        task.result()

    def _forget(self, name: str, task: Task[None]) -> None:
        """A load has ended. Whoever waited has its fault; when nobody did, the next query asks again."""
        self._loading.pop(name, None)
        if not task.cancelled():
            task.exception()

    async def _load(self, index: Index, table: Table) -> None:
        pieces = await asyncio.to_thread(lambda: list(index.vectors(self._embeds.model_id, table)))
        pairs = [pair for piece in pieces for pair in piece]
        await self._compares.load(_name(index, table), [item for item, _ in pairs], [vector for _, vector in pairs])


def _sound(near: Sequence[tuple[int, float]]) -> dict[int, float]:
    """Cosines that can be weighed: one that is no number would put every hit in any order."""
    if not all(math.isfinite(cosine) for _, cosine in near):
        raise EmbeddingFault("the embedder gave a cosine that is no number", kind="bad_vector")
    return dict(near)


def _name(index: Index, table: Table) -> str:
    return f"{index.name}.{table}"
