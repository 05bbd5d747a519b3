"""M5: recall from 100,000 memories of one scope, and what the daemon's side and the worker take.

The words are invented and as often as words are in English (Zipf and Mandelbrot), the vectors are random: neither
changes what the search costs. Every memory has a key, and every fourth a name. Queries are of six words, drawn alike,
so that some are frequent.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import struct
import tempfile
import time
from pathlib import Path

from bench.bar import Bar
from stead.domain.embedding import VectorBytes
from stead.domain.memory import Memory, MemoryId, MemoryRow, Query, Scope, Viewer, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.embedding.embedder import Embedder
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning
from stead.memory.retrieval import Retriever

MEMORIES = 100_000
DIMENSIONS = 384
_WORDS, _OFFSET = 40_000, 50
_PIECE = 5_000
_QUERIES = 100
_PLACE = workspace_place("bench", "scale")
_LABEL = Label(Integrity.PERSON, Confidentiality.PRIVATE)
_START_MS = 1_800_000_000_000


class Texts:
    """Invented words, drawn as often as their places in a list say."""

    def __init__(self) -> None:
        self._random = random.Random(6)
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        weights = [1 / (at + 1) for at in range(len(letters))]
        made = (
            "".join(self._random.choices(letters, weights, k=self._random.randint(3, 10))) for _ in itertools.count()
        )
        self._words = list(itertools.islice(dict.fromkeys(itertools.islice(made, 2 * _WORDS)), _WORDS))
        self._often = list(itertools.accumulate(1 / (at + _OFFSET) for at in range(len(self._words))))

    def some(self, count: int) -> str:
        """So many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._often, k=count))

    def length(self) -> int:
        """Of a statement, in words."""
        return self._random.randint(8, 25)

    def vector(self) -> VectorBytes:
        """In no direction in particular."""
        return VectorBytes(struct.pack("<f", 0.0007) + self._random.randbytes(DIMENSIONS))


def measure() -> list[Bar]:
    """Words and names alone, then with the query embedded here."""
    return asyncio.run(_measure())


async def _measure() -> list[Bar]:
    texts = Texts()
    embedder = Embedder()
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as folder:
        index = Index(Path(folder) / "index.db", bytes(32), _PLACE)
        start = time.perf_counter()
        for at in range(0, MEMORIES, _PIECE):
            index.take(Changes(rows=[_row(texts, number) for number in range(at, at + _PIECE)]), at + _PIECE)
        filled_s = time.perf_counter() - start
        try:
            used = time.process_time()
            bare = await _times(Retriever({_PLACE: index}.get), texts)
            used = (time.process_time() - used) / _QUERIES * 1000
            saved = await _saved(index, Retriever({_PLACE: index}.get), texts)
            for at in range(0, MEMORIES, _PIECE):
                pairs = [(number + 1, texts.vector()) for number in range(at, at + _PIECE)]
                index.put_vectors(embedder.model_id, pairs)
            await embedder.ready(deadline_s=300)
            meaning = Meaning(embedder, embedder, deadline_s=30)
            full = await _times(Retriever({_PLACE: index}.get, meaning), texts)
            rss = _rss_mb(os.getpid()) + sum(map(_rss_mb, _children(os.getpid())))
            await meaning.close()
        finally:
            await embedder.close()
            index.close()
    told = (
        f"{MEMORIES:,} memories in {filled_s:.0f} s; {_QUERIES} queries of six words, {used:.1f} ms "
        "of CPU each without embedding; with the query embedded "
        f"p50 {_at(full, 0.5):.1f} ms, p95 {_at(full, 0.95):.1f} ms"
    )
    return [
        Bar("M5", _at(bare, 0.5), "ms p50 without embedding", "≤ 60", _at(bare, 0.5) <= 60, {}, told),
        Bar("M5.p95", _at(bare, 0.95), "ms p95 without embedding", "≤ 150", _at(bare, 0.95) <= 150, {}, told),
        Bar("M5.embedded", _at(full, 0.5), "ms p50 with embedding", "≤ 100", _at(full, 0.5) <= 100, {}, told),
        Bar("M5.memory", rss, "MB of the bench and the worker", "≤ 600", rss <= 600, {}, told),
        Bar("M5.saved", saved, "ms from saved to found", "≤ 50", saved <= 50, {}, told),
    ]


async def _times(retriever: Retriever, texts: Texts) -> list[float]:
    await retriever.recall(Query(texts.some(6)), Viewer(_PLACE))  # opens a connection, loads the vectors
    times = []
    for _ in range(_QUERIES):
        start = time.perf_counter()
        await retriever.recall(Query(texts.some(6)), Viewer(_PLACE))
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)


async def _saved(index: Index, retriever: Retriever, texts: Texts) -> float:
    """From the moment a memory is taken in until it is found, the median of nine."""
    times = []
    for number in range(MEMORIES, MEMORIES + 9):
        row = _row(texts, number, f"xylophone{number}")
        start = time.perf_counter()
        index.take(Changes(rows=[row]), number)
        found = await retriever.recall(Query(f"xylophone{number}"), Viewer(_PLACE))
        times.append((time.perf_counter() - start) * 1000)
        assert found.hits[0].ref == row.memory.id
    return sorted(times)[len(times) // 2]


def _row(texts: Texts, number: int, name: str = "") -> MemoryRow:
    memory = Memory(
        id=MemoryId(f"m_{number:016x}"),
        kind="knowledge",
        text=texts.some(texts.length()),
        scope=Scope("workspace", _PLACE),
        origin="inferred",
        label=_LABEL,
        valid_from_ms=_START_MS,
        key=f"thing.{texts.some(2).replace(' ', '_')}",
        aliases=(name,) if name else (texts.some(2),) if number % 4 == 0 else (),
    )
    return MemoryRow(memory, "live", _START_MS + number)


def _at(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
        print(f"    {bar.conditions}")
