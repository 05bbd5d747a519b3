"""Upgrades: every past schema, every step, killed before every statement: done whole, or not begun."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import msgspec
import pytest

from stead.config import Home
from stead.domain.errors import StorageFault, WrongKey
from stead.domain.events import Contract, Erased, Event, SessionOpened
from stead.domain.forgetting import Redaction
from stead.domain.ids import CommandId
from stead.domain.memory_events import ForgettingBegun
from stead.storage.audit import open_audit
from stead.storage.chain import Row, verify
from stead.storage.codec import successor
from stead.storage.database import Database, connect
from stead.storage.journal import JournalFile, open_journal
from stead.storage.migrate import known_steps, migrate
from tests.storage.drafts import KEYS, OTHER_KEYS, draft, finished, session
from tests.storage.killed import each_kill, killed_at
from tests.storage.schemas.__main__ import summaries
from tests.storage.workers import steps_with_one_more

if TYPE_CHECKING:
    from sqlite3 import Connection

SCHEMAS = Path(__file__).parent / "schemas"
PAST = sorted(SCHEMAS.glob("*.db"))
NEWEST = max(known_steps())
each_past_schema = pytest.mark.parametrize("past", PAST, ids=lambda path: path.stem)


def _require_whole(past: Path, journal: JournalFile) -> None:
    recorded = msgspec.json.decode((past.with_suffix(".json")).read_bytes())
    assert [_now(summary) for summary in summaries(journal)] == [_now(summary) for summary in recorded]
    assert journal.verify_chain().faults == ()
    assert journal.vault.get("provider/acme") == "not a real key"
    assert journal.snapshots.load(session(1)) == (3, b"a state")
    claimed = journal.claimed(CommandId("a-command"))
    assert claimed is not None
    assert claimed.answer.text == "made"


def _now(summary: list[object]) -> list[object]:
    """The summary with the tag of today; what was erased keeps the one in its header."""
    *place, tag = summary
    return [*place, successor(str(tag))]


def test_the_heads_of_a_past_schema_are_still_good(home: Home) -> None:
    shutil.copy(SCHEMAS / "0002.db", home.journal)
    open_journal(home.journal, KEYS).close()
    with open_audit(home.journal, KEYS, home.heads) as audit:
        report = audit.verify()
    assert (report.faults, report.heads) == ((), 1)


def _version(path: Path) -> int:
    connection = connect(path, KEYS.database)
    (version,) = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    connection.close()
    return int(version)


def test_the_recorded_schemas_are_all_there_and_steps_have_no_gap() -> None:
    assert [int(path.stem) for path in PAST] == list(range(1, NEWEST + 1))
    assert sorted(known_steps()) == list(range(1, NEWEST + 1))


@each_past_schema
async def test_a_past_schema_opens_with_all_that_was_in_it_and_goes_on(home: Home, past: Path) -> None:
    shutil.copy(past, home.journal)
    journal = open_journal(home.journal, KEYS)
    _require_whole(past, journal)
    await journal.append([draft(session(3), 1, finished())])
    assert journal.verify_chain().faults == ()
    journal.close()
    assert _version(home.journal) == NEWEST


@each_past_schema
async def test_words_can_be_taken_out_of_the_opening_of_an_objective_of_before(home: Home, past: Path) -> None:
    shutil.copy(past, home.journal)
    journal = open_journal(home.journal, KEYS)
    (opening,) = (event for event in journal.events(session=session(1)) if _has_goal(event))
    assert isinstance(opening.body, SessionOpened)
    less = msgspec.structs.replace(opening.body, contract=Contract("Read it"))
    begun = ForgettingBegun((), (opening.seq,), (), "cli")
    await journal.redact(Redaction({opening.seq: less}, begun, 0, CommandId(""), journal.head()), lambda _: False)
    assert journal.verify_chain().faults == ()
    journal.close()
    journal = open_journal(home.journal, KEYS)
    (again,) = (event for event in journal.events(session=session(1)) if _has_goal(event))
    assert again.body == less
    journal.close()


def _has_goal(event: Event | Erased) -> TypeGuard[Event]:
    return isinstance(event, Event) and isinstance(event.body, SessionOpened) and event.body.contract is not None


def _each_kill(folder: Path, past: Path | None, step: int) -> Iterator[Path]:
    """Upgrade again and again, each time killed ``step`` statements later; the folder that each kill left behind."""
    for number in each_kill(step):
        home = folder / str(number)
        home.mkdir()
        if past is not None:
            shutil.copy(past, home / "journal.db")
        if not killed_at(number, partial(_upgrade, home)):
            return
        yield home


def _upgrade(folder: Path, watched: Callable[[Path, bytes], Connection]) -> None:
    database = Database(folder / "journal.db", KEYS.database, watched)
    migrate(database, folder / "backups", steps_with_one_more())
    database.open().execute("SELECT 'after the upgrade'")


def _die(tmp_path: Path, past: Path, step: int) -> set[int]:
    """Every schema that a kill left behind."""
    found = set()
    for folder in _each_kill(tmp_path, past, step):
        found.add(_version(folder / "journal.db"))
        _require_upgrade_completes(folder, past)
        shutil.rmtree(folder)
    return found


def test_an_upgrade_killed_before_any_statement_of_any_step_is_whole_or_not_begun(tmp_path: Path) -> None:
    assert _die(tmp_path, PAST[0], 1) == set(range(1, NEWEST + 2))


@pytest.mark.parametrize("past", PAST[1:], ids=lambda path: path.stem)
def test_an_upgrade_killed_before_every_fifth_statement_is_whole_or_not_begun(tmp_path: Path, past: Path) -> None:
    assert {int(past.stem)} <= _die(tmp_path, past, 5) <= set(range(int(past.stem), NEWEST + 2))


@pytest.mark.long
@each_past_schema
def test_an_upgrade_killed_before_every_statement_is_whole_or_not_begun(tmp_path: Path, past: Path) -> None:
    assert _die(tmp_path, past, 1) == set(range(int(past.stem), NEWEST + 2))


def test_a_new_file_killed_before_every_fifth_statement_can_be_begun_again(tmp_path: Path) -> None:
    kills = 0
    for folder in _each_kill(tmp_path, None, 5):
        kills += 1
        database = Database(folder / "journal.db", KEYS.database)
        assert migrate(database, folder / "backups", steps_with_one_more()) == NEWEST + 1
        database.close()
    assert kills > 10


def _require_upgrade_completes(folder: Path, past: Path) -> None:
    database = Database(folder / "journal.db", KEYS.database)
    assert migrate(database, folder / "backups", steps_with_one_more()) == NEWEST + 1
    with database.reading() as connection:
        weights = connection.execute("SELECT count(*), sum(weight) FROM events").fetchone()
        notes = {note for (note,) in connection.execute("SELECT note FROM weights")}
        rows = connection.execute(f"SELECT {', '.join(Row._fields)} FROM events ORDER BY seq").fetchall()
    database.close()
    recorded = msgspec.json.decode(past.with_suffix(".json").read_bytes())
    assert weights == (len(recorded), (len(recorded) + 1) // 2)
    assert notes == {"old; and kept"}
    assert verify(map(Row._make, rows)).faults == ()


@each_past_schema
def test_the_file_is_copied_before_it_is_upgraded(home: Home, past: Path) -> None:
    shutil.copy(past, home.journal)
    backups = home.data / "backups"
    database = Database(home.journal, KEYS.database)
    migrate(database, backups, steps_with_one_more())
    database.close()
    (copy,) = backups.iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _version(copy) == int(past.stem)
    journal = open_journal(copy, KEYS)
    _require_whole(past, journal)
    journal.close()


def test_a_new_file_and_one_that_is_up_to_date_are_not_copied(home: Home) -> None:
    for _ in range(2):
        open_journal(home.journal, KEYS).close()
    assert not (home.data / "backups").exists()


def test_a_step_that_fails_leaves_the_file_as_it_was(home: Home) -> None:
    shutil.copy(PAST[-1], home.journal)
    database = Database(home.journal, KEYS.database)
    steps = known_steps()
    steps[NEWEST + 1] = "CREATE TABLE more (id integer);\nINSERT INTO nowhere VALUES (1);\n"
    with pytest.raises(StorageFault, match="nowhere"):
        migrate(database, home.data / "backups", steps)
    database.close()
    journal = open_journal(home.journal, KEYS)
    _require_whole(PAST[-1], journal)
    journal.close()


# -- files that are not ours ----------------------------------------------------------------------------------------


def test_a_file_of_a_newer_stead_is_refused_and_left_alone(home: Home) -> None:
    shutil.copy(PAST[-1], home.journal)
    database = Database(home.journal, KEYS.database)
    migrate(database, home.data / "backups", steps_with_one_more())
    database.close()
    before = home.journal.read_bytes()
    with pytest.raises(StorageFault, match=rf"newer Stead \(schema {NEWEST + 1}, this one knows {NEWEST}\); install"):
        open_journal(home.journal, KEYS)
    assert home.journal.read_bytes() == before


def test_a_journal_of_another_key_is_refused_and_left_alone(home: Home) -> None:
    open_journal(home.journal, KEYS).close()
    before = home.journal.read_bytes()
    with pytest.raises(WrongKey, match="recovery key"):
        open_journal(home.journal, OTHER_KEYS)
    assert home.journal.read_bytes() == before


def test_a_plain_database_is_refused_by_its_name(home: Home) -> None:
    import sqlite3

    plain = sqlite3.connect(home.journal)
    plain.execute("CREATE TABLE cookies (id integer)")
    plain.commit()
    plain.close()
    with pytest.raises(StorageFault, match="plain SQLite database"):
        open_journal(home.journal, KEYS)


def test_another_encrypted_database_is_refused(home: Home) -> None:
    other = connect(home.journal, KEYS.database)
    other.execute("CREATE TABLE cookies (id integer)")
    other.close()
    with pytest.raises(StorageFault, match="something else"):
        open_journal(home.journal, KEYS)


@pytest.mark.parametrize("content", [b"#!/bin/sh\necho hello\n", b"x", bytes(8192)])
def test_a_file_that_is_no_database_is_refused(home: Home, content: bytes) -> None:
    home.journal.write_bytes(content)
    with pytest.raises(WrongKey, match="restore a backup"):
        open_journal(home.journal, KEYS)
    assert home.journal.read_bytes() == content


@pytest.mark.parametrize("place", [16, 100, 4000])
def test_a_damaged_first_page_is_told_from_a_wrong_key(home: Home, place: int) -> None:
    content = bytearray(PAST[-1].read_bytes())
    content[place] ^= 0x10
    home.journal.write_bytes(content)
    with pytest.raises(StorageFault, match=r"damaged; keep a copy of it, and restore the newest backup"):
        open_journal(home.journal, KEYS)


def test_damage_anywhere_is_found_when_it_is_read(home: Home) -> None:
    whole = PAST[-1].read_bytes()
    for page in range(1, len(whole) // 4096):
        content = bytearray(whole)
        content[page * 4096 + 50] ^= 0x10
        home.journal.write_bytes(content)
        try:
            journal = open_journal(home.journal, KEYS)
        except StorageFault as error:
            assert "damaged" in str(error)
            continue
        try:
            _require_whole(PAST[-1], journal)
        except StorageFault as error:
            assert "damaged" in str(error)
        finally:
            journal.close()


def test_a_folder_or_a_file_without_permission_says_what_to_mend(home: Home) -> None:
    home.journal.mkdir()
    with pytest.raises(StorageFault, match="cannot be"):
        open_journal(home.journal, KEYS)
