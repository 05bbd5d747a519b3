"""What finds turns again: Stead itself, and three others beside it, one fresh instance a conversation.

``bm25`` is FTS5's own ranking in its best plain form: porter stems, any of the words, no stop words, the speaker in
the text. ``rrf`` adds vectors of the same model by reciprocal ranks, which is what most peers do. ``mem0`` is the
package, see ``peer``.
"""

from __future__ import annotations

import asyncio
import struct
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from sqlcipher3 import dbapi2

from bench.recalling.data import Conversation, Note, moment_ms
from bench.recalling.figures import Answer
from bench.recalling.peer import mem0_answers
from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Query, Viewer, workspace_place
from stead.domain.policies import Confidentiality
from stead.memory import words
from stead.memory.embedding.embedder import Embedder
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning
from stead.memory.retrieval import Retriever

K = 10
_DAY_MS = 86_400_000
_RRF = 60
_CHATTERS = ("user", "assistant")


class System(Protocol):
    """Finds the turns of one conversation."""

    async def add(self, notes: Sequence[Note]) -> None:
        """Take all of them in."""

    async def search(self, text: str) -> list[str]:
        """The ids of the ``K`` best, best first."""
        ...

    async def close(self) -> None:
        """Put everything away."""


class Stead:
    """The product's own index and recall."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stead-bench-")
        self._place = workspace_place("bench", self._folder.name)
        self._index = Index(Path(self._folder.name) / "index.db", bytes(32), self._place)
        self._meaning = Meaning(embedder, embedder, deadline_s=30) if embedder else None
        self._now_ms = 0
        self._ids: dict[str, str] = {}
        indexes = {self._place: self._index}
        self._retriever = Retriever(indexes.get, self._meaning, now_ms=lambda: self._now_ms)

    async def add(self, notes: Sequence[Note]) -> None:
        """As ``System`` has it; a day without a date is the one before."""
        episodes, ts_ms = [], 0
        for seq, note in enumerate(notes, 1):
            ts_ms = moment_ms(note.date) or ts_ms
            source: Literal["chat", "talk"] = "chat" if note.who in _CHATTERS else "talk"
            episodes.append(Episode(seq, SessionId(f"s_{note.session}"), source, note.who, note.text, ts_ms))
            self._ids[f"e_{seq}"] = note.id
        self._now_ms = ts_ms + _DAY_MS
        self._index.take(Changes(episodes=episodes), len(episodes))
        while self._meaning and await self._meaning.embed_some(self._index):
            continue

    async def search(self, text: str) -> list[str]:
        """As ``System`` has it."""
        recalled = await self._retriever.recall(
            Query(text, limit=K, looked_up=True), Viewer(self._place, interactive=True)
        )
        if self._meaning and not all(leg.alive for leg in recalled.legs):
            raise SystemExit(f"a leg is dead: {recalled.legs}")
        return [self._ids[hit.ref] for hit in recalled.hits]

    async def close(self) -> None:
        """As ``System`` has it."""
        if self._meaning:
            await self._meaning.close()
        self._index.close()
        self._folder.cleanup()


class Bm25:
    """FTS5's ranking alone."""

    def __init__(self) -> None:
        self._database = dbapi2.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE said USING fts5 (text, tokenize = 'porter unicode61')")
        self._notes: list[Note] = []

    async def add(self, notes: Sequence[Note]) -> None:
        """As ``System`` has it."""
        self._notes = list(notes)
        rows = [(at, f"{note.who}: {note.text}") for at, note in enumerate(notes)]
        self._database.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", rows)

    async def search(self, text: str) -> list[str]:
        """As ``System`` has it."""
        return [self._notes[at].id for at in self.ranks(text)[:K]]

    def ranks(self, text: str) -> list[int]:
        """All that have one of the words, best first."""
        match = words.matching(words.asked(text))
        if not match:
            return []
        found = self._database.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank, rowid", (match,))
        return [at for (at,) in found]

    async def close(self) -> None:
        """As ``System`` has it."""
        self._database.close()


class Rrf:
    """BM25 and vectors, each rank counted alike."""

    def __init__(self, embedder: Embedder) -> None:
        self._bm25 = Bm25()
        self._embedder = embedder
        self._notes: list[Note] = []
        self._name = f"rrf {id(self)}"

    async def add(self, notes: Sequence[Note]) -> None:
        """As ``System`` has it."""
        self._notes = list(notes)
        await self._bm25.add(notes)
        vectors = await embedded(self._embedder, [f"{note.who}: {note.text}" for note in notes])
        await self._embedder.load(self._name, range(len(notes)), vectors)

    async def search(self, text: str) -> list[str]:
        """As ``System`` has it."""
        near = await self._embedder.nearest(self._name, text, len(self._notes), deadline_s=30)
        scores: dict[int, float] = {}
        for ranks in (self._bm25.ranks(text), [at for at, _ in near]):
            for place, at in enumerate(ranks, 1):
                scores[at] = scores.get(at, 0.0) + 1 / (_RRF + place)
        best = sorted(scores, key=lambda at: (-scores[at], at))
        return [self._notes[at].id for at in best[:K]]

    async def close(self) -> None:
        """As ``System`` has it."""
        await self._embedder.load(self._name, [], [])
        await self._bm25.close()


async def embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The vectors of any number of texts."""
    vectors: list[bytes] = []
    for at in range(0, len(texts), 64):
        vectors += await embedder.embed(texts[at : at + 64], held=Confidentiality.PUBLIC, deadline_s=120)
    return vectors


def floats(vector: bytes) -> list[float]:
    """A vector as numbers."""
    scale, *whole = struct.unpack(f"<f{len(vector) - 4}b", vector)
    return [scale * value for value in whole]


async def answers(name: str, conversation: Conversation, embedder: Embedder | None) -> list[Answer]:
    """Have a system answer every question of a conversation.

    Args:
        name: "stead", "bm25", "rrf" or "mem0".
        conversation: see there.
        embedder: nothing to go without.
    """
    if name == "mem0":
        if embedder is None:
            raise SystemExit("mem0 needs vectors; leave out --no-embedder")
        texts = [f"{note.who}: {note.text}" for note in conversation.notes]
        asked = [question.text for question in conversation.questions]
        vectors = [floats(vector) for vector in await embedded(embedder, texts + asked)]
        return await asyncio.to_thread(mem0_answers, conversation, texts, vectors, K)
    system = _made(name, embedder)
    try:
        await system.add(conversation.notes)
        given = []
        for question in conversation.questions:
            start = time.perf_counter()
            found = await system.search(question.text)
            given.append(Answer(question, tuple(found), (time.perf_counter() - start) * 1000))
        return given
    finally:
        await system.close()


def _made(name: str, embedder: Embedder | None) -> System:
    match name:
        case "stead":
            return Stead(embedder)
        case "bm25":
            return Bm25()
        case "rrf" if embedder is not None:
            return Rrf(embedder)
    raise SystemExit(f"{name!r} needs vectors; leave out --no-embedder")
