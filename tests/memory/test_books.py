"""All indexes of a home, as they follow the journal."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.errors import NotFound
from stead.domain.ids import DEFAULT_WORKSPACE, CallKey
from stead.domain.memory import GLOBAL, MemoryId, PlaceId, Scope, channel_place, workspace_place
from stead.domain.memory_ports import RowsWanted
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON
from stead.memory.books import MemoryBooks
from stead.storage.database import connect
from stead.storage.journal import JournalFile
from tests.memory.saying import EVERYWHERE, Sayings, memory
from tests.storage.drafts import KEYS, session

ADA, BOB, GROUP = session(1), session(2), session(3)
HERE = workspace_place(DEFAULT_WORKSPACE, "/ada/notes")
THERE = workspace_place(DEFAULT_WORKSPACE, "/ada/shop")
STRANGER = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)


def turns(books: MemoryBooks, place: PlaceId) -> list[str]:
    index = books.index(place)
    assert index is not None
    return [turn.text for id in (ADA, BOB, GROUP) for turn in index.episodes(id)]


async def test_what_is_said_stands_in_the_index_of_its_place_alone(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    await sayings.open(BOB, "/ada/shop", attended=False)
    await sayings.open(GROUP, "/ada/notes", channel="team")
    await sayings.says(ADA, "The boiler is serviced in March.")
    await sayings.answers(ADA, "Noted.")
    await sayings.says(GROUP, "Lunch is at noon.")
    assert turns(books, HERE) == ["The boiler is serviced in March.", "Noted."]
    assert turns(books, THERE) == ["work"], "an objective's goal is what the person said first"
    assert turns(books, channel_place(DEFAULT_WORKSPACE, "team")) == ["Lunch is at noon."]


async def test_what_memory_itself_tells_is_not_said_by_anybody(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    told = (ev.Told("m_1", "The boiler is serviced in March.", ("words",)),)
    await sayings.tell(ADA, ev.MemoryRecalled(told, (), STRANGER))
    assert turns(books, HERE) == []
    assert books.said(ADA, "The boiler is serviced in March.") is None


async def test_a_model_that_read_a_strangers_words_says_things_with_their_taint(
    books: MemoryBooks, sayings: Sayings
) -> None:
    await sayings.open(ADA, "/ada/notes")
    await sayings.answers(ADA, "The harbour opens at six.")
    await sayings.says(ADA, "See what this mail says.", STRANGER)
    await sayings.answers(ADA, "The harbour opens at nine.")
    index = books.index(HERE)
    assert index is not None
    labels = [turn.label.integrity for turn in index.episodes(ADA)]
    assert labels == [Integrity.TRUSTED, Integrity.UNTRUSTED, Integrity.UNTRUSTED]
    assert [books.said(ADA, f"The harbour opens at {hour}.") for hour in ("six", "nine")] == [None, None]


async def test_a_memory_goes_through_its_life(books: MemoryBooks, sayings: Sayings) -> None:
    old, new = memory(1, "Ada lives in Bergen.", key="ada.city"), memory(2, "Ada lives in Oslo.", key="ada.city")
    await sayings.note(ev.MemoryMade(old, "cli"))
    assert [row.memory for row in books.alike(EVERYWHERE, "", "ada.city")] == [old]
    await sayings.note(
        ev.MemoryMade(replace(new, supersedes=(old.id,)), "cli"),
        ev.MemoryRetired(old.id, "superseded", new.id, new.valid_from_ms + 5, "cli"),
        ev.MemoryAmended(replace(new, pinned=True), "web"),
    )
    row = books.row(old.id)
    assert (row.status, row.superseded_by, row.memory.valid_to_ms) == ("superseded", new.id, new.valid_from_ms + 5)
    assert books.row(new.id).memory.pinned
    assert [row.memory.id for row in books.alike(EVERYWHERE, old.text, "ada.city")] == [new.id]
    await sayings.note(ev.MemoryRestored(old.id, "web"))
    assert (books.row(old.id).status, books.row(old.id).memory.valid_to_ms) == ("live", 0)
    await sayings.note(ev.ForgettingBegun((old.id, new.id), (), (), "cli"))
    for id in (old.id, new.id, MemoryId("m_none")):
        with pytest.raises(NotFound, match="there is no memory"):
            books.row(id)


async def test_being_told_counts_as_use(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    await sayings.note(ev.MemoryMade(memory(1, "Ada lives in Bergen."), "cli"))
    await sayings.open(BOB, "/ada/shop")
    books.catch_up()
    for one in (ADA, BOB, ADA):
        told = (ev.Told(memory(1, "").id, "Ada lives in Bergen.", ("alias",)), ev.Told("e_1", "x", ("words",)))
        await sayings.tell(one, ev.MemoryRecalled(told, (), STRANGER))
    row = books.row(memory(1, "").id)
    assert (row.uses, row.last_used_ms) == (2, sayings.now_ms), "once a session"


async def test_what_a_model_looked_up_counts_as_use_and_what_its_session_began_with_does_not(
    books: MemoryBooks, sayings: Sayings
) -> None:
    here = Scope("workspace", HERE)
    ids = [memory(number, "").id for number in range(1, 5)]
    scopes = (EVERYWHERE, here, EVERYWHERE, Scope("workspace", THERE))
    for number, scope in enumerate(scopes, 1):
        await sayings.note(ev.MemoryMade(memory(number, f"Thing {number}.", scope=scope), "cli"))
    await sayings.open(ADA, "/ada/notes")
    lines = f"- [{ids[0]}] 2026-01-31 Thing 1.\n- [{ids[3]}] 2026-01-31 Thing 4, see [{ids[2]}]."
    for tool in ("recall", "recall_all", "shell"):
        await sayings.tell(ADA, ev.ToolFinished(CallKey("1.1"), tool, "ok", lines, STRANGER, 1, 1))
    file = ev.LoadedFile("notes/MEMORY.md", f"- [{ids[1]}] Thing 2.", "0" * 64)
    await sayings.tell(ADA, ev.MemoryLoaded((file,), PERSON))
    assert [books.row(id).uses for id in ids] == [1, 0, 0, 0], "no text tells a session of another place's memories"
    books.rebuild()
    assert [books.row(id).uses for id in ids] == [1, 0, 0, 0]


@pytest.mark.parametrize("more", [0, 1])
async def test_what_an_index_took_in_before_a_crash_is_not_counted_again(
    more: int, tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    await sayings.open(ADA, "/ada/notes")
    await sayings.note(ev.MemoryMade(memory(1, "Ada lives in Bergen."), "cli"))
    books.catch_up()
    told = (ev.Told(memory(1, "").id, "Ada lives in Bergen.", ("alias",)),)
    seq = await sayings.tell(ADA, ev.MemoryRecalled(told, (), STRANGER))
    index = books.index(GLOBAL)
    assert index is not None
    connection = connect(tmp_path / "memory" / "directory.db", KEYS.views)
    connection.execute("UPDATE progress SET seq = ?, chain = ?", (seq - 1, journal.chain_at(seq - 1)))
    connection.close()
    for _ in range(more):
        await sayings.says(ADA, "The index is ahead of the directory now.")
    books.close()
    again = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    live = again.row(memory(1, "").id)
    again.rebuild()
    assert again.row(memory(1, "").id) == live
    assert live.uses == 1
    again.close()


async def test_a_deleted_session_was_told_nothing(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    await sayings.note(ev.MemoryMade(memory(1, "Ada lives in Bergen."), "cli"))
    told = (ev.Told(memory(1, "").id, "Ada lives in Bergen.", ("alias",)),)
    await sayings.tell(ADA, ev.MemoryRecalled(told, (), STRANGER))
    assert books.row(memory(1, "").id).uses == 1
    await sayings.tell(ADA, ev.SessionDeleted())
    assert books.row(memory(1, "").id).uses == 0
    books.rebuild()
    assert books.row(memory(1, "").id).uses == 0


async def test_all_places_are_listed_together_page_by_page(books: MemoryBooks, sayings: Sayings) -> None:
    for number in range(1, 24):
        scope = EVERYWHERE if number % 3 else Scope("workspace", HERE)
        await sayings.note(ev.MemoryMade(memory(number, f"Thing {number}.", scope=scope), "cli"))
    listed, after = [], ""
    while True:
        rows, after = books.rows(RowsWanted(after=after, limit=5))
        assert len(rows) <= 5
        listed += [row.memory.text for row in rows]
        if not after:
            break
    assert listed == [f"Thing {number}." for number in range(23, 0, -1)]


async def test_a_deleted_session_leaves_the_index_and_its_days(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    await sayings.says(ADA, "The boiler is serviced in March.")
    await sayings.tell(ADA, ev.TurnEnded(1, "done", "The date is noted.\n\nMore."))
    (line,) = books.days(HERE, 0, 2**62)
    assert (line.session, line.text) == (ADA, "The date is noted. More.")
    await sayings.tell(ADA, ev.SessionDeleted())
    assert turns(books, HERE) == []
    assert books.days(HERE, 0, 2**62) == ()


@pytest.mark.parametrize("damage", ["directory", "index", "missing", "none"])
async def test_indexes_that_do_not_fit_are_made_anew_from_the_journal(
    damage: str, tmp_path: Path, journal: JournalFile, sayings: Sayings
) -> None:
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    await sayings.open(ADA, "/ada/notes")
    await sayings.says(ADA, "The boiler is serviced in March.")
    await sayings.note(ev.MemoryMade(memory(1, "Ada lives in Bergen."), "cli"))
    before = (turns(books, HERE), books.row(memory(1, "").id), books.places())
    books.close()
    match damage:
        case "directory":
            (tmp_path / "memory" / "directory.db").write_bytes(b"\0" * 8192)
        case "index":
            (tmp_path / "memory" / f"{GLOBAL}.db").write_bytes(b"\0" * 8192)
        case "missing":
            (tmp_path / "memory" / f"{HERE}.db").unlink()
        case _:
            assert damage == "none"
    again = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    assert (turns(again, HERE), again.row(memory(1, "").id), again.places()) == before
    again.close()


async def test_live_indexes_equal_rebuilt_ones(books: MemoryBooks, sayings: Sayings) -> None:
    await sayings.open(ADA, "/ada/notes")
    for number in range(1, 30):
        await sayings.says(ADA, f"Thing {number} is blue.")
        await sayings.note(ev.MemoryMade(memory(number, f"Thing {number} is blue."), "stead"))
        if number % 5 == 0:
            books.catch_up()
            await sayings.note(ev.MemoryRetired(memory(number - 1, "").id, "removed", "", sayings.now_ms, "web"))
    live = (books.rows(RowsWanted(status=(), limit=100)), turns(books, HERE), books.places())
    assert books.rebuild() == sayings.count
    assert (books.rows(RowsWanted(status=(), limit=100)), turns(books, HERE), books.places()) == live


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_over_all_places_have_everything_once_also_what_was_recorded_in_one_moment(
    books: MemoryBooks, sayings: Sayings, limit: int
) -> None:
    places = [EVERYWHERE, Scope("workspace", HERE), Scope("workspace", THERE)]
    for number in range(1, 16):
        sayings.now_ms -= 1000 * (number % 5 > 0)
        await sayings.note(ev.MemoryMade(memory(number, f"Thing {number}.", scope=places[number % 3]), "cli"))
    whole, _ = books.rows(RowsWanted(limit=100))
    paged, after = books.rows(RowsWanted(limit=limit))
    while after:
        rows, after = books.rows(RowsWanted(after=after, limit=limit))
        paged += rows
    assert len(whole) == 15
    assert paged == whole
