"""Payloads in archives: read as before, verified as one chain, gone with what is deleted, safe from kills."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.events import Erased, Event, SessionDeleted
from stead.domain.forgetting import Redaction
from stead.domain.ids import CommandId
from stead.domain.memory_events import ForgettingBegun
from stead.storage.archives import file_of, folder_of, listed, opened
from stead.storage.audit import open_audit
from stead.storage.backup import backup, restore
from stead.storage.database import connect
from stead.storage.journal import JournalFile, open_journal
from stead.storage.upgrading import upgrade
from tests.build import START_MS
from tests.storage.drafts import KEYS, draft, finished, session
from tests.storage.killed import each_kill, killed_at
from tests.storage.workers import steps_with_one_more

OLD, YOUNG = session(1), session(2)
WORDS = "the harbour of Lisbon"


async def _write(journal: JournalFile) -> None:
    for place in range(1, 9):
        await journal.append([draft(OLD, place, finished(f"{WORDS} {place}")), draft(YOUNG, place, finished("new"))])


def _bodies(journal: JournalFile) -> list[object]:
    return [event.body if isinstance(event, Event) else event for event in journal.events()]


def _faults(home: Home) -> tuple[str, ...]:
    with open_audit(home.journal, KEYS, home.heads) as audit:
        return audit.verify().faults


def _files(home: Home) -> list[Path]:
    return sorted(folder_of(home.journal).iterdir())


async def test_what_is_archived_is_read_as_before_and_verified_as_one_chain(home: Home, journal: JournalFile) -> None:
    await _write(journal)
    before, chain = _bodies(journal), journal.chain_at(16)
    assert await journal.archive(OLD) == 8
    assert await journal.archive(OLD) == 0

    assert _bodies(journal) == before
    assert journal.chain_at(16) == chain
    assert _faults(home) == ()
    (file,) = _files(home)
    assert file.stat().st_mode & 0o777 == 0o600
    assert WORDS.encode() not in file.read_bytes()
    connection = connect(home.journal, KEYS.database)
    left = connection.execute(
        "SELECT count(*) FROM events WHERE payload IS NOT NULL AND session = ?", (OLD,)
    ).fetchone()
    assert left == (0,), "it is still in the journal's file"
    connection.close()

    await journal.append([draft(OLD, 9, finished("it goes on"))])
    assert await journal.archive(OLD) == 1
    assert len(_files(home)) == 2
    assert len(_bodies(journal)) == len(before) + 1
    assert _faults(home) == ()


@pytest.mark.parametrize("place", [0, 8, 40, 72, 90, -1])
async def test_an_archive_that_was_changed_or_lost_is_found(home: Home, journal: JournalFile, place: int) -> None:
    await _write(journal)
    await journal.archive(OLD)
    (file,) = _files(home)
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    assert any("archive" in fault for fault in _faults(home))
    file.unlink()
    faults = " ".join(_faults(home))
    assert "cannot be read" in faults
    assert "was erased, but no deletion is recorded" in faults
    assert isinstance(next(journal.events(session=OLD)), Erased)


async def test_an_archive_of_another_session_does_not_pass_for_it(home: Home, journal: JournalFile) -> None:
    await _write(journal)
    await journal.archive(OLD)
    await journal.archive(YOUNG)
    one, other = _files(home)
    shutil.copy(one, other)
    assert _faults(home) != ()


async def test_a_deleted_session_takes_its_archive_and_its_key_along(home: Home, journal: JournalFile) -> None:
    await _write(journal)
    await journal.archive(OLD)
    await journal.append([draft(OLD, 9, SessionDeleted())])
    await journal.erase(OLD)
    assert _files(home) == []
    assert journal.archived() == []
    assert _faults(home) == ()


async def test_forgotten_words_leave_the_archive_and_copies_of_the_old_file_do_not_open(
    home: Home, journal: JournalFile
) -> None:
    await _write(journal)
    await journal.archive(OLD)
    (old,) = _files(home)
    copy = old.read_bytes()
    events = list(journal.touched(lambda text: WORDS.encode() in text))
    assert len(events) == 8, "forgetting does not find what is in an archive"

    begun = ForgettingBegun((), tuple(event.seq for event in events[:3]), (), "cli")
    less = {event.seq: finished("…") for event in events[:3]}
    await journal.redact(Redaction(less, begun, START_MS, CommandId(""), journal.head()), lambda _: False)
    left = [event for event in journal.events(session=OLD) if isinstance(event, Event)]
    assert [WORDS in str(event.body) for event in left[:8]] == [False] * 3 + [True] * 5
    (new,) = _files(home)
    assert new != old
    (archive,) = journal.archived()
    assert archive.events == 5
    new.write_bytes(copy)
    assert opened(folder_of(home.journal), archive) == {}


async def test_a_kill_at_any_moment_leaves_every_payload_in_one_place(tmp_path: Path) -> None:
    origin = Home(tmp_path / "origin")
    origin.make()
    journal = open_journal(origin.journal, KEYS)
    await _write(journal)
    before = _bodies(journal)
    journal.close()

    for number in each_kill():
        home = Home(tmp_path / str(number))
        shutil.copytree(origin.root, home.root)

        def move(watched: object, at: Home = home) -> None:
            moving = open_journal(at.journal, KEYS, connect=watched)  # type: ignore[arg-type]
            asyncio.run(moving.archive(OLD))
            moving.close()

        died = killed_at(number, move)
        journal = open_journal(home.journal, KEYS)
        assert _bodies(journal) == before
        assert _faults(home) == ()
        assert len(list(folder_of(home.journal).glob("*"))) == len(journal.archived())
        journal.close()
        if not died:
            return


async def test_a_backup_and_an_upgrade_bring_archives_along(home: Home, journal: JournalFile, tmp_path: Path) -> None:
    await _write(journal)
    await journal.archive(OLD)
    before = _bodies(journal)
    journal.close()
    upgrade(home, KEYS, "2.0.0", steps_with_one_more())
    assert _faults(home) == ()

    home.journal.unlink()
    shutil.copy(next((home.data / "backups").glob("*.db")), home.journal)
    backup(home, KEYS, "a long passphrase", tmp_path / "backup")
    other = Home(tmp_path / "other")
    restore(tmp_path / "backup", "a long passphrase", other)
    journal = open_journal(other.journal, KEYS)
    assert _bodies(journal) == before
    assert file_of(folder_of(other.journal), 1).is_file()
    connection = connect(other.journal, KEYS.database)
    assert [archive.session for archive in listed(connection)] == [OLD]
    connection.close()
    journal.close()
