"""Indexes filled by hand, and a person who looks something up in them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, Episode, Memory, MemoryRow, PlaceId, Query, Recalled, Scope, Viewer
from stead.memory.index import Changes, Index
from stead.memory.meaning import Meaning
from stead.memory.retrieval import Retriever
from tests.memory.saying import memory

KEY = bytes(range(32))
HERE = PlaceId("w_00000000000000aa")
THERE = PlaceId("w_00000000000000bb")
CHANNEL = PlaceId("c_00000000000000cc")
DAY_MS = 86_400_000
NOW_MS = 1_800_000_000_000
ME = Viewer(HERE, interactive=True)


def row(number: int, text: str, **marks: object) -> MemoryRow:
    """A memory that is live, of the workspace HERE but for what is said otherwise."""
    level = {"scope": Scope("workspace", HERE), "valid_from_ms": NOW_MS - DAY_MS, **marks}
    return MemoryRow(memory(number, text, **level), "live", NOW_MS - DAY_MS)


def turn(seq: int, text: str, who: str = "user", session: str = "s_1", **marks: object) -> Episode:
    """A turn of a chat, or of a talk when a person's name is given."""
    source: Literal["chat", "talk"] = "chat" if who in ("user", "assistant") else "talk"
    return replace(Episode(seq, SessionId(session), source, who, text, NOW_MS - DAY_MS + seq * 1000), **marks)


def chain(*steps: tuple[str, int]) -> list[MemoryRow]:
    """Statements about one thing, each since a day; the next one ends the one before, as the journal folds it."""
    rows = []
    for number, (text, since_ms) in enumerate(steps, 1):
        rows.append(MemoryRow(_of_chain(number, text, since_ms), "live", since_ms))
    for number in range(len(rows) - 1):
        later = rows[number + 1]
        ended = replace(rows[number].memory, valid_to_ms=later.memory.valid_from_ms)
        rows[number] = MemoryRow(ended, "superseded", rows[number].recorded_ms, later.recorded_ms, later.memory.id)
    return rows


def _of_chain(number: int, text: str, since_ms: int) -> Memory:
    return memory(number, text, scope=Scope("workspace", HERE), valid_from_ms=since_ms, key="ada.home")


class Person:
    """Someone who has indexes and looks things up."""

    def __init__(self, folder: Path, meaning: Meaning | None = None, **options: Any) -> None:
        self.folder = folder
        self.indexes: dict[PlaceId, Index] = {}
        self._retriever = Retriever(self.indexes.get, meaning, now_ms=lambda: NOW_MS, **options)

    def index(self, place: PlaceId = HERE) -> Index:
        """The index of a place, opened when it is needed."""
        if place not in self.indexes:
            self.indexes[place] = Index(self.folder / f"{place}.db", KEY, place)
        return self.indexes[place]

    def keep(self, *what: MemoryRow | Episode, place: PlaceId = HERE) -> None:
        """Put memories and turns into a place's index."""
        rows = [one for one in what if isinstance(one, MemoryRow)]
        episodes = [one for one in what if isinstance(one, Episode)]
        self.index(place).take(Changes(rows=rows, episodes=episodes), 1)

    def recall(self, text: str, viewer: Viewer = ME, **marks: object) -> Recalled:
        """Look something up."""
        return asyncio.run(self._retriever.recall(replace(Query(text), **marks), viewer))

    def texts(self, text: str, viewer: Viewer = ME, **marks: object) -> list[str]:
        """What is found, in words."""
        return [hit.text for hit in self.recall(text, viewer, **marks).hits]

    def close(self) -> None:
        """Close every index."""
        for index in self.indexes.values():
            index.close()


PLACES = (GLOBAL, HERE, THERE, CHANNEL)
