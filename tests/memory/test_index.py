"""The index of one place: kept up, renewed, and rid of what is removed without a trace."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain.embedding import VectorBytes
from stead.domain.ids import SessionId
from stead.domain.memory import RunId
from stead.domain.memory_ports import RowsWanted
from stead.memory.index import Changes, Index, Progress
from stead.memory.listing import BARE
from stead.memory.writing import EPISODE_CHARS, Used
from stead.storage.database import connect
from tests.memory.finding import HERE, KEY, NOW_MS, row, turn
from tests.memory.saying import memory
from tests.storage.raw import raw

VECTOR = VectorBytes(b"\x00\x00\x80\x3f" + bytes(range(1, 9)))
SECRET = "Zanzibarquokka"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    index = Index(tmp_path / "here.db", KEY, HERE)
    yield index
    index.close()


def leftovers(path: Path, word: str) -> list[str]:
    """Where a part of a word still stands, in any table or on any page of the file and its log, freed ones included."""
    parts = (word.lower().encode()[:9], word.lower().encode()[-8:-1])
    connection = connect(path, KEY)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = []
    for table in tables:
        for values in connection.execute(f"SELECT * FROM {table}"):
            text = b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in values)
            if any(part in text.lower() for part in parts):
                found.append(table)
    connection.close()
    for file in (path, path.with_name(path.name + "-wal")):
        whole = raw(file, KEY).lower()
        if any(part in whole for part in parts):
            found.append(file.suffix)
    return found


def test_a_new_index_has_taken_nothing_in(index: Index) -> None:
    assert index.progress == Progress(0, b"")
    assert index.counts("m").memories == 0


def test_what_is_taken_in_is_there_with_how_far_that_is(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Ada likes tea.")], episodes=[turn(7, "Tea, please.")]), 9, b"chain")
    assert index.progress == Progress(9, b"chain")
    assert index.row("m_0000000000000001") == row(1, "Ada likes tea.")
    assert index.episode("e_7") == turn(7, "Tea, please.")
    assert index.episodes(SessionId("s_1")) == (turn(7, "Tea, please."),)


def test_changes_that_cannot_all_be_taken_in_are_not_taken_in_at_all(index: Index) -> None:
    broken = replace(turn(8, "x"), ts_ms=2**70)
    with pytest.raises(OverflowError):
        index.take(Changes(episodes=[turn(7, "Tea."), broken]), 9)
    assert index.progress.seq == 0
    assert index.episode("e_7") is None


def test_a_turn_is_taken_in_once_and_a_memory_as_it_is_now(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Ada likes tea.")], episodes=[turn(7, "First.")]), 1)
    index.take(Changes(rows=[row(1, "Ada likes cocoa.")], episodes=[turn(7, "Second.")]), 2)
    assert index.counts("m") == index.counts("other")
    found = index.row("m_0000000000000001")
    assert found is not None
    assert found.memory.text == "Ada likes cocoa."
    turned = index.episode("e_7")
    assert turned is not None
    assert turned.text == "First."


def test_what_was_told_is_counted_and_stays_counted(index: Index) -> None:
    ref = "m_0000000000000001"
    index.take(Changes(rows=[row(1, "Ada likes tea.")]), 1)
    told = [Used(ref, SessionId("s_1"), NOW_MS), Used(ref, SessionId("s_2"), NOW_MS - 5)]
    index.take(Changes(used=[*told, Used("e_7", SessionId("s_1"), 1)]), 2)
    index.take(Changes(rows=[row(1, "Ada likes tea.", pinned=True)]), 3)
    found = index.row("m_0000000000000001")
    assert found is not None
    assert (found.uses, found.last_used_ms, found.memory.pinned) == (2, NOW_MS, True)


def test_a_session_counts_once_also_when_changes_are_taken_in_again(index: Index) -> None:
    told = Changes(used=[Used("m_0000000000000001", SessionId("s_1"), NOW_MS)])
    index.take(Changes(rows=[row(1, "Ada likes tea.")]), 1)
    for upto in (2, 2, 5):
        index.take(told, upto)
    found = index.row("m_0000000000000001")
    assert found is not None
    assert found.uses == 1
    index.take(Changes(unsaid=[SessionId("s_1")]), 6)
    found = index.row("m_0000000000000001")
    assert found is not None
    assert (found.uses, found.last_used_ms) == (0, 0)


def test_another_models_vectors_go_with_the_first_of_the_new_one(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Ada likes tea."), row(2, "Ada likes cocoa.")]), 1)
    index.put_vectors("m", [(one.item, VECTOR) for one in index.unembedded("m", 10)])
    assert index.holds_vectors("m")
    assert not index.holds_vectors("other")
    assert list(index.vectors("other", "known")) == []
    first = index.unembedded("other", 10)[0]
    index.put_vectors("other", [(first.item, VECTOR)])
    assert list(index.vectors("m", "known")) == []
    assert list(index.vectors("other", "known")) == [[(first.item, VECTOR)]]
    assert (index.counts("m").embedded, index.counts("other").embedded) == (0, 1)
    assert len(index.unembedded("other", 10)) == 1


def test_what_lacks_a_vector_is_found_without_looking_at_what_has_one(index: Index) -> None:
    with index.reading() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {BARE}", (1,)).fetchall()
    assert "USING INDEX bare" in plan[0][3]
    assert not any("TEMP B-TREE" in step[3] for step in plan)


def test_memories_are_listed_newest_first_in_pages(index: Index) -> None:
    rows = [replace(row(number, f"Note {number}."), recorded_ms=NOW_MS + number % 3) for number in range(1, 8)]
    index.take(Changes(rows=rows), 1)
    wanted, seen = RowsWanted(limit=3), []
    while True:
        page, cursor = index.rows(wanted)
        seen += [one.memory.text for one in page]
        if not cursor:
            break
        wanted = replace(wanted, after=cursor)
    expected = sorted(rows, key=lambda one: (one.recorded_ms, one.memory.id), reverse=True)
    assert seen == [one.memory.text for one in expected]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RowsWanted(), ["1", "2", "3"]),
        (RowsWanted(kinds=("preference",)), ["2"]),
        (RowsWanted(pinned=True), ["3"]),
        (RowsWanted(words="AND tea"), []),
        (RowsWanted(words="likes te"), ["1"]),
        (RowsWanted(words='"'), []),
        (RowsWanted(status=("superseded",)), ["4"]),
        (RowsWanted(status=()), ["1", "2", "3", "4"]),
        (RowsWanted(origins=("imported",)), []),
        (RowsWanted(run=RunId("c_0000000000000001")), []),
        (RowsWanted(after="nonsense"), ["1", "2", "3"]),
    ],
)
def test_a_list_has_what_was_wanted(index: Index, wanted: RowsWanted, found: list[str]) -> None:
    rows = [
        row(1, "Ada likes tea."),
        row(2, "Ada wants short answers.", kind="preference"),
        row(3, "The office is in Oslo.", pinned=True),
        replace(row(4, "The office is in Bergen."), status="superseded", retired_ms=NOW_MS),
    ]
    index.take(Changes(rows=rows), 1)
    assert sorted(one.memory.id[-1] for one in index.rows(wanted)[0]) == found


def test_memories_alike_have_the_key_or_say_the_same(index: Index) -> None:
    rows = [row(1, "Lives in Oslo.", key="ada.home"), row(2, "  lives in OSLO "), row(3, "Lives in Bergen.")]
    index.take(Changes(rows=[*rows, replace(row(4, "Lives in Oslo."), status="superseded")]), 1)
    assert [one.memory.id[-1] for one in index.alike("workspace", "lives in oslo", "")] == ["1", "2"]
    assert [one.memory.id[-1] for one in index.alike("workspace", "Moved.", "ada.home")] == ["1"]
    assert index.alike("private", "Lives in Oslo.", "ada.home") == ()


def test_a_removed_memory_and_a_removed_turn_leave_no_byte(index: Index, tmp_path: Path) -> None:
    marks = {"aliases": (f"{SECRET} deal",), "key": f"deal.{SECRET.lower()}", "value": SECRET}
    index.take(
        Changes(rows=[row(1, f"The {SECRET} deal.", **marks)], episodes=[turn(7, f"Say {SECRET}s!", who=SECRET)]), 1
    )
    index.put_vectors("m", [(1, VECTOR), (2, VECTOR)])
    assert set(leftovers(tmp_path / "here.db", SECRET)) >= {
        "names",
        "spellings",
        "memories",
        "known_content",
        "said_data",
        ".db-wal",
    }
    index.take(Changes(removed=["m_0000000000000001", "e_7", "e_99"]), 2)
    assert leftovers(tmp_path / "here.db", SECRET) == []
    assert index.counts("m").embedded == 0
    assert (tmp_path / "here.db-wal").stat().st_size == 0


def test_other_words_in_a_memorys_place_leave_nothing_of_the_old_ones(index: Index, tmp_path: Path) -> None:
    index.take(Changes(rows=[row(1, f"The {SECRET} deal.", aliases=(SECRET,))]), 1)
    index.take(Changes(rows=[row(1, "The deal.")], removed=["m_none"]), 2)
    assert leftovers(tmp_path / "here.db", SECRET) == []


def test_vectors_are_wanted_for_what_has_none_and_void_when_the_words_change(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Ada likes tea.")], episodes=[turn(7, "Tea.", who="Grace")]), 1)
    bare = index.unembedded("m", 10)
    assert [(one.table, one.text) for one in bare] == [("known", "Ada likes tea."), ("said", "Grace: Tea.")]
    index.put_vectors("m", [(one.item, VECTOR) for one in bare] + [(99, VECTOR)])
    assert index.unembedded("m", 10) == ()
    assert len(index.unembedded("other", 10)) == 2
    assert list(index.vectors("m", "known")) == [[(bare[0].item, VECTOR)]]
    index.take(Changes(rows=[row(1, "Ada likes tea.", pinned=True)]), 2)
    assert index.voided() == set()
    index.take(Changes(rows=[row(1, "Ada likes cocoa.")]), 3)
    assert index.voided() == {bare[0].item}
    assert [one.text for one in index.unembedded("m", 10)] == ["Ada likes cocoa."]


def test_of_memories_that_hold_no_longer_no_vector_is_counted(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Ada likes tea."), row(2, "Ada likes cocoa.")]), 1)
    index.put_vectors("m", [(one.item, VECTOR) for one in index.unembedded("m", 10)])
    index.take(Changes(rows=[replace(row(1, "Ada likes tea."), status="superseded")]), 2)
    counts = index.counts("m")
    assert (counts.memories, counts.embedded) == (1, 1)


@pytest.mark.parametrize("damage", [b"no database at all", b"\x00" * 8192, b""])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "here.db"
    Index(path, KEY, HERE).close()
    whole = path.read_bytes()
    path.write_bytes(damage or whole[:4096] + bytes(reversed(whole[4096:8192])) + whole[8192:])
    index = Index(path, KEY, HERE)
    assert index.progress == Progress(0, b"")
    index.take(Changes(rows=[row(1, "Ada likes tea.")]), 1)
    assert index.row("m_0000000000000001") is not None
    index.close()


def test_a_file_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    index = Index(tmp_path / "here.db", KEY, HERE)
    index.take(Changes(rows=[row(1, "Ada likes tea.")]), 5)
    index.close()
    connection = connect(tmp_path / "here.db", KEY)
    connection.execute("UPDATE progress SET schema = 'older'")
    connection.close()
    again = Index(tmp_path / "here.db", KEY, HERE)
    assert again.progress.seq == 0
    again.close()


def test_a_file_that_is_opened_again_has_what_it_had(tmp_path: Path) -> None:
    index = Index(tmp_path / "here.db", KEY, HERE)
    index.take(Changes(rows=[row(1, "Ada likes tea.")]), 5)
    index.close()
    again = Index(tmp_path / "here.db", KEY, HERE)
    assert again.progress.seq == 5
    assert again.row("m_0000000000000001") is not None
    again.close()


def test_an_index_that_is_opened_again_goes_by_another_name(tmp_path: Path) -> None:
    names = set()
    for _ in range(2):
        index = Index(tmp_path / "here.db", KEY, HERE)
        names.add(index.name)
        index.close()
    assert len(names) == 2


def test_a_huge_turn_is_indexed_by_its_beginning(index: Index) -> None:
    index.take(Changes(episodes=[turn(7, "tea " * 3_000_000)]), 1)
    found = index.episode("e_7")
    assert found is not None
    assert len(found.text) == EPISODE_CHARS


def test_many_threads_may_write_and_read(index: Index) -> None:
    def fill(start: int) -> None:
        for number in range(start, start + 20):
            index.take(Changes(rows=[row(number, f"Note {number}.")]), number)
            assert index.row(f"m_{number:016x}") is not None

    threads = [threading.Thread(target=fill, args=(start,)) for start in (100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.counts("m").memories == 60


def test_a_memory_of_another_level_is_not_alike(index: Index) -> None:
    index.take(Changes(rows=[row(1, "Lives in Oslo.")]), 1)
    assert index.alike("workspace", memory(1, "Lives in Oslo.").text, "") != ()
    assert index.alike("global", "Lives in Oslo.", "") == ()
