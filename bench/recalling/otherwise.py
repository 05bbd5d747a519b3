"""Whether a memory is told that is asked for in near words, in other words or by a task, and what idle turns are told.

The memories and the turns are invented (``bench/data/asked_otherwise``): a line is a memory, a question in near words,
and a task or a question in other words.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from stead.domain.memory import Memory, MemoryId, MemoryRow, Query, Scope, Viewer, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.embedding.embedder import Embedder
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning
from stead.memory.retrieval import Retriever

DATA = Path(__file__).parent.parent / "data" / "asked_otherwise"
_LABEL = Label(Integrity.PERSON, Confidentiality.PRIVATE)
_PLACE = workspace_place("bench", "asked otherwise")
_NOW_MS = 1_800_000_000_000
_TOLD = 10


class Otherwise(msgspec.Struct, frozen=True):
    """Shares of the questions whose memory was told, idle turns that were told something, and hits a question."""

    near: float
    other: float
    idle: int
    hits: float


async def judged(embedder: Embedder | None) -> Otherwise:
    """Ask everything, as a session is told unasked."""
    lines = [line.split("\t") for line in (DATA / "memories.tsv").read_text("utf-8").splitlines()]
    idle = (DATA / "idle.txt").read_text("utf-8").splitlines()
    meaning = Meaning(embedder, embedder, deadline_s=30) if embedder else None
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as folder:
        index = Index(Path(folder) / "index.db", bytes(32), _PLACE)
        index.take(Changes(rows=[_row(number, text) for number, (text, _, _) in enumerate(lines)]), len(lines))
        while meaning and await meaning.embed_some(index):
            continue
        retriever = Retriever({_PLACE: index}.get, meaning, now_ms=lambda: _NOW_MS)

        async def told(text: str) -> list[str]:
            query = Query(text, limit=_TOLD, trusted=True)
            return [hit.ref for hit in (await retriever.recall(query, Viewer(_PLACE, interactive=True))).hits]

        near = [await told(question) for _, question, _ in lines]
        other = [await told(question) for _, _, question in lines]
        told_idle = [await told(text) for text in idle]
        if meaning:
            await meaning.close()
        index.close()
    return Otherwise(
        near=sum(_id(number) in hits for number, hits in enumerate(near)) / len(lines),
        other=sum(_id(number) in hits for number, hits in enumerate(other)) / len(lines),
        idle=sum(map(bool, told_idle)),
        hits=sum(map(len, (*near, *other))) / (2 * len(lines)),
    )


def _id(number: int) -> MemoryId:
    return MemoryId(f"m_{number:016x}")


def _row(number: int, text: str) -> MemoryRow:
    memory = Memory(
        id=_id(number),
        kind="knowledge",
        text=text,
        scope=Scope("workspace", _PLACE),
        origin="user_said",
        label=_LABEL,
        valid_from_ms=_NOW_MS - 86_400_000,
    )
    return MemoryRow(memory, "live", _NOW_MS - 86_400_000)
