"""Memory under strain: an embedder that is no good, and far more to remember than anybody has."""

from __future__ import annotations

import asyncio
import resource
import struct
import time
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from random import Random

import pytest

from stead.domain import events as ev
from stead.domain.embedding import EmbedderState, VectorBytes
from stead.domain.errors import EmbeddingFault
from stead.domain.memory import GLOBAL, Query, Scope, Viewer, workspace_place
from stead.domain.memory_ports import RowsWanted
from stead.domain.policies import Confidentiality
from stead.memory.meaning import Meaning
from stead.memory.retrieval import ALWAYS_CHARS, Retriever
from tests.attacks.memory_grounds import FOLDERS, Grounds
from tests.memory.saying import memory

DEADLINE_S = 0.3
MANY = 8_000
LOOK = Viewer(workspace_place("default", "/ada/notes"), interactive=True)


class Bad:
    """An embedder in whose place anything may answer: nothing, nonsense, or nobody.

    Args:
        way: "fails", "hangs", "nan" in vectors, "nan" in cosines, or items that are not there.
    """

    model_id = "bad"

    def __init__(self, way: str) -> None:
        self.way = way
        self.asked = 0

    def state(self) -> EmbedderState:
        return EmbedderState(alive=True, reason="", model=self.model_id)

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        self.asked += 1
        if self.way == "fails":
            raise EmbeddingFault("the weights cannot be read; build them again: `stead doctor`", kind="died")
        if self.way == "hangs":
            try:
                await asyncio.wait_for(asyncio.Event().wait(), deadline_s)
            except TimeoutError as late:
                raise EmbeddingFault(f"no vector within {deadline_s} s", kind="timeout") from late
        scale = float("nan") if self.way == "nan" else 0.01
        return [VectorBytes(struct.pack("<f4b", scale, 1, 2, 3, 4)) for _ in texts]

    async def load(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        return

    async def extend(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> bool:
        return False

    async def drop(self, place: str, ids: Collection[int]) -> bool:
        return False

    async def nearest(
        self,
        place: str,
        query: str | bytes,
        count: int,
        *,
        allowed: Collection[int] | None = None,
        deadline_s: float = 1.0,
    ) -> list[tuple[int, float]]:
        if self.way == "strange":
            return [(item, 0.99) for item in (-1, 0, 1, 2, 3, 2**62)]
        return [(1, float("nan")), (2, float("inf"))]


@pytest.fixture
async def grounds(tmp_path: Path) -> AsyncIterator[Grounds]:
    grounds = Grounds(tmp_path, Random(6), model="bad")
    for number in range(1, 4):
        text = f"The boiler of house {number} is in the cellar."
        await _keep(grounds, ev.MemoryMade(memory(number, text, aliases=("boiler",)), "cli"))
    index = grounds.books.index(GLOBAL)
    assert index is not None
    index.put_vectors("bad", [(item, VectorBytes(struct.pack("<f4b", 0.01, 1, 2, 3, 4))) for item in (1, 2, 3)])
    yield grounds
    grounds.close()


@pytest.mark.parametrize("way", ["fails", "hangs", "nan", "strange"])
async def test_a_recall_with_a_bad_embedder_is_answered_in_time_and_says_which_leg_is_dead(
    grounds: Grounds, way: str
) -> None:
    bad = Bad(way)
    meaning = Meaning(bad, bad, deadline_s=DEADLINE_S)
    began = time.monotonic()
    found = await Retriever(grounds.books.index, meaning, now_ms=grounds.clock.now_ms).recall(_query("boiler"), LOOK)
    assert time.monotonic() - began < DEADLINE_S + 2
    assert bad.asked == 1
    assert len(found.hits) == 3
    assert all(0 <= hit.score < 3 for hit in found.hits)
    legs = {leg.leg: leg for leg in found.legs}
    assert legs["meaning"].alive is (way == "strange"), "items that are not there are no hits, and no fault"
    assert bool(legs["meaning"].text) is (way != "strange")
    assert legs["words"].alive
    await meaning.close()


async def test_a_great_many_memories_are_listed_told_counted_and_looked_up_in_bounded_time(tmp_path: Path) -> None:
    grounds = Grounds(tmp_path, Random(6))
    place = workspace_place("default", FOLDERS[0])
    scope = Scope("workspace", place)
    try:
        for start in range(0, MANY, 1_000):
            texts = (
                (number, f"Item {number} of the stock lies in hall {number % 97}.")
                for number in range(start, start + 1_000)
            )
            facts = [
                ev.MemoryMade(
                    memory(number + 1, text, scope=scope, key=f"stock.item_{number}", pinned=number % 8 == 0), "cli"
                )
                for number, text in texts
            ]
            await _keep(grounds, *facts)
        await asyncio.to_thread(grounds.books.catch_up)
        look = Viewer(place, interactive=True)
        before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.process_time()
        rows, after = grounds.books.rows(RowsWanted(limit=1_000))
        assert (len(rows), bool(after)) == (1_000, True)
        files = grounds.files.loaded(look, grounds.clock.now_ms(), Confidentiality.PRIVATE)
        assert 0 < sum(len(file.text) for file in files) < 10_000
        figures = grounds.queries.insights.analytics(place, 0, grounds.clock.now_ms())
        assert (figures.live, len(figures.most_used)) == (MANY, 0)
        for query in (Query("stock.item_77"), Query("Which hall has the stock?", limit=100), Query("")):
            hits = (await grounds.recalls.recall(query, look)).hits
            always = [hit for hit in hits if "pinned" in [why.by for why in hit.why]]
            assert always and sum(len(hit.text) for hit in always) <= ALWAYS_CHARS  # beside what is found, not of it
            assert len(hits) - len(always) <= query.limit
        assert time.process_time() - began < 3
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 60_000
    finally:
        grounds.close()


def _query(text: str) -> Query:
    return Query(text, sources=("memory",))


async def _keep(grounds: Grounds, *facts: ev.MemoryMade) -> None:
    async with grounds.memories.stream.lock:
        await grounds.memories.stream.record(facts, by="person")
