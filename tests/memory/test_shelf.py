"""How the indexes of a home hold: damaged under way, and many more of them than a process may have files open."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.embedding import VectorBytes
from stead.domain.ids import DEFAULT_WORKSPACE, SessionId
from stead.domain.memory import GLOBAL, PlaceId, Query, Scope, Viewer, workspace_place
from stead.domain.memory_ports import RowsWanted
from stead.memory.books import MemoryBooks
from stead.memory.index_file import MOST_AWAKE
from stead.memory.retrieval import Retriever
from stead.storage.journal import JournalFile
from tests.memory.saying import Sayings, memory
from tests.storage.drafts import KEYS, session

ADA, BOB = session(1), session(2)
HERE = workspace_place(DEFAULT_WORKSPACE, "/ada/notes")
THERE = workspace_place(DEFAULT_WORKSPACE, "/ada/shop")
FEW = 256
MANY = 100
"""Each has three files where it is open."""


@pytest.fixture
def few_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def two_places(sayings: Sayings) -> None:
    for id, folder, what in ((ADA, "/ada/notes", "kayak"), (BOB, "/ada/shop", "canoe")):
        await sayings.open(id, folder)
        await sayings.says(id, f"The {what} is red.")
    await sayings.note(ev.MemoryMade(memory(1, "Ada lives in Bergen."), "cli"))


def spoil(folder: Path, name: str) -> None:
    """Turn the pages of a file over while it is open, and take its log away."""
    path = folder / "memory" / f"{name}.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + bytes(byte ^ 0x5A for byte in whole[4096:]))
    path.with_name(path.name + "-wal").unlink(missing_ok=True)


def look(place: PlaceId) -> Viewer:
    return Viewer(place, interactive=True)


async def found(books: MemoryBooks, place: PlaceId, words: str) -> list[str]:
    recalled = await Retriever(books.index, now_ms=lambda: 2**41).recall(Query(words), look(place))
    return [hit.text for hit in recalled.hits]


@pytest.mark.parametrize("spoilt", [HERE, THERE, GLOBAL, "directory"])
async def test_a_file_that_is_damaged_under_way_is_made_anew_and_stops_nothing(
    spoilt: str, tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    await two_places(sayings)
    filled = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    filled.catch_up()
    filled.close()  # so that all of it stands in the file, and none of it in a log or in anybody's memory
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    for place in (HERE, THERE, GLOBAL):
        assert books.index(place) is not None
    spoil(tmp_path, spoilt)
    await sayings.says(BOB, "The canoe is blue now.")
    await found(books, THERE, "canoe")
    await found(books, HERE, "kayak")
    assert await found(books, HERE, "kayak") == ["The kayak is red."]
    assert sorted(await found(books, THERE, "canoe")) == ["The canoe is blue now.", "The canoe is red."]
    assert books.row(memory(1, "").id).memory.text == "Ada lives in Bergen."
    assert len(books.rows(RowsWanted())[0]) == 1
    assert len(books.places()) == 3
    books.close()


async def test_a_recall_that_meets_the_damage_says_so_and_the_next_one_is_whole(
    tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    await two_places(sayings)
    filled = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    filled.catch_up()
    filled.close()
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    assert books.index(HERE) is not None
    spoil(tmp_path, HERE)
    recalls = Retriever(books.index, now_ms=lambda: 2**41)
    first = await recalls.recall(Query("kayak"), look(HERE))
    assert (first.hits, [leg.alive for leg in first.legs][:3]) == ((), [False] * 3)
    assert "damaged" in first.legs[0].text
    second = await recalls.recall(Query("kayak"), look(HERE))
    assert [hit.text for hit in second.hits] == ["The kayak is red."]
    assert all(leg.alive for leg in second.legs[:3])
    books.close()


@pytest.mark.usefixtures("few_files")
async def test_more_places_than_files_may_be_open_are_held_read_and_opened_again(
    tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    before = len(os.listdir("/proc/self/fd"))
    places = [workspace_place(DEFAULT_WORKSPACE, f"/ada/{number}") for number in range(MANY)]
    for number, place in enumerate(places):
        await sayings.open(SessionId(f"s_{number:016x}"), f"/ada/{number}")
        made = memory(number, f"Thing {number}.", scope=Scope("workspace", place))
        await sayings.note(ev.MemoryMade(made, "cli"))
    for _ in range(2):
        assert len(books.places()) == MANY
        assert len(books.rows(RowsWanted(limit=MANY + 1))[0]) == MANY
        assert await found(books, places[7], "thing") == ["Thing 7."]
        assert len(os.listdir("/proc/self/fd")) - before <= 5 * MOST_AWAKE + 10
        books.close()
        books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    assert await found(books, places[8], "thing") == ["Thing 8."]
    assert len(os.listdir("/proc/self/fd")) - before <= 20, "what is not asked for is not opened"
    books.close()


async def test_an_index_that_rested_goes_on_where_it_was(books: MemoryBooks, sayings: Sayings) -> None:
    await two_places(sayings)
    index = books.index(HERE)
    assert index is not None
    name, upto = index.name, index.progress
    for number in range(MOST_AWAKE + 5):
        await sayings.open(session(100 + number), f"/ada/{number}")
    books.catch_up()
    assert index.progress == upto
    assert books.index(HERE) is index
    assert index.name == name
    await sayings.says(ADA, "The kayak is blue now.")
    assert len(await found(books, HERE, "kayak")) == 2


async def test_a_file_that_goes_while_it_rests_is_made_anew(
    tmp_path: Path, books: MemoryBooks, sayings: Sayings
) -> None:
    await two_places(sayings)
    books.catch_up()
    for number in range(MOST_AWAKE + 5):
        await sayings.open(session(100 + number), f"/ada/{number}")
    books.catch_up()
    (tmp_path / "memory" / f"{HERE}.db").unlink()
    await found(books, HERE, "kayak")
    assert await found(books, HERE, "kayak") == ["The kayak is red."]


async def test_places_are_bare_until_their_texts_have_vectors_and_again_when_something_comes(
    tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal, model="m")
    await two_places(sayings)
    assert set(books.bare_places()) == {HERE, THERE, GLOBAL}
    for place in (HERE, THERE, GLOBAL):
        index = books.index(place)
        assert index is not None
        index.put_vectors("m", [(one.item, VectorBytes(b"vector")) for one in index.unembedded("m", 10)])
    for _ in range(2):
        assert books.bare_places() == ()
    await sayings.says(ADA, "The kayak is blue now.")
    assert books.bare_places() == (HERE,)
    books.close()
