"""A home that another version of Stead serves: brought over whole or left as it was, and a way back."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import msgspec
import pytest

from stead.brain.memory_files import FOLDERS
from stead.config import Home
from stead.domain.errors import NotFound, StorageFault
from stead.storage.chain import Row, verify
from stead.storage.database import connect
from stead.storage.journal import open_journal
from stead.storage.migrate import known_steps
from stead.storage.upgrading import back, proven, served, upgrade
from tests.storage.drafts import KEYS, draft, finished, session
from tests.storage.killed import each_kill, killed_at
from tests.storage.test_migrate import NEWEST, PAST, each_past_schema
from tests.storage.workers import steps_with_one_more


def _go_back(home: Home, _: object) -> None:
    back(home, KEYS, home.heads)


def _content(path: Path) -> tuple[int, list[tuple[object, ...]], tuple[str, ...]]:
    """Schema, rows and faults of a journal's file."""
    connection = connect(path, KEYS.database)
    (schema,) = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    rows = connection.execute(f"SELECT {', '.join(Row._fields)} FROM events ORDER BY seq").fetchall()
    connection.close()
    return int(schema), rows, verify(map(Row._make, rows)).faults


def _home(root: Path, past: Path) -> Home:
    home = Home(root)
    home.make()
    shutil.copy(past, home.journal)
    home.journal.chmod(0o600)
    return home


def _kept(home: Home) -> list[Path]:
    return sorted((home.data / "backups").glob("journal-schema-*.db"))


@each_past_schema
def test_a_home_is_brought_over_with_every_row_and_the_old_journal_is_kept(tmp_path: Path, past: Path) -> None:
    home = _home(tmp_path / "home", past)
    before = _content(home.journal)

    upgrade(home, KEYS, "2.0.0")
    assert _content(home.journal) == (NEWEST, *before[1:])
    (kept,) = _kept(home)
    assert _content(kept) == before
    assert (home.journal.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o600, 0o600)
    assert served(home) == msgspec.convert(
        {"version": "2.0.0", "schema": NEWEST, "kept": kept.name}, type=type(served(home))
    )
    assert not (home.data / "backups" / "upgrading").exists()

    taken_in = home.journal.stat().st_ino
    proven(home, "2.0.0")
    upgrade(home, KEYS, "2.0.0")
    assert home.journal.stat().st_ino == taken_in, "the same version copied it again"


def _die(tmp_path: Path, past: Path, step: int) -> None:
    """Upgrade and be killed, later each time: the journal is the old one or the new one, and the next try is whole."""
    home = _home(tmp_path / "whole", past)
    old = _content(home.journal)
    upgrade(home, KEYS, "2.0.0", steps_with_one_more())
    new = _content(home.journal)
    found = set()
    for number in each_kill(step):
        home = _home(tmp_path / str(number), past)
        died = killed_at(number, partial(upgrade, home, KEYS, "2.0.0", steps_with_one_more()))
        there = _content(home.journal)
        assert there in (old, new), f"half done after a kill at {number}"
        found.add(there[0])
        upgrade(home, KEYS, "2.0.0", steps_with_one_more())
        assert _content(home.journal) == new
        assert [_content(kept)[1:] for kept in _kept(home)] == [old[1:]]
        shutil.rmtree(home.root)
        if not died:
            break
    assert found == {old[0], new[0]}


@pytest.mark.parametrize("past", [PAST[0], PAST[-1]], ids=lambda path: path.stem)
def test_an_upgrade_killed_at_any_moment_leaves_the_old_journal_or_the_new_one(tmp_path: Path, past: Path) -> None:
    _die(tmp_path, past, 17)


@pytest.mark.long
@each_past_schema
def test_an_upgrade_killed_at_every_moment_leaves_the_old_journal_or_the_new_one(tmp_path: Path, past: Path) -> None:
    _die(tmp_path, past, 1)


def test_a_journal_of_a_newer_stead_is_refused_untouched_with_what_to_do(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", PAST[-1])
    upgrade(home, KEYS, "3.0.0", steps_with_one_more())
    before = home.journal.read_bytes()
    with pytest.raises(StorageFault, match=r"2\.0\.0, and is as it was: .* newer Stead .*stead upgrade --back"):
        upgrade(home, KEYS, "2.0.0")
    assert home.journal.read_bytes() == before


def test_events_that_this_version_does_not_know_refuse_it_and_leave_the_home_as_it_was(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", PAST[-1])
    connection = connect(home.journal, KEYS.database)
    connection.execute("UPDATE events SET tag = 'session.teleported' WHERE seq = 1")
    connection.close()
    before = home.journal.read_bytes()
    with pytest.raises(StorageFault, match="is as it was"):
        upgrade(home, KEYS, "2.0.0")
    assert home.journal.read_bytes() == before
    assert served(home) is None


def test_a_step_that_loses_rows_is_found_and_the_home_is_as_it_was(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", PAST[-1])
    before = home.journal.read_bytes()
    for loss in ("UPDATE events SET ts_ms = ts_ms + 1 WHERE seq = 2;", "DELETE FROM secrets;"):
        with pytest.raises(StorageFault, match="not what it was made from"):
            upgrade(home, KEYS, "2.0.0", {**known_steps(), NEWEST + 1: loss})
        assert home.journal.read_bytes() == before


async def test_going_back_puts_the_old_journal_back_and_what_came_since_aside(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", PAST[1])
    old = _content(home.journal)
    upgrade(home, KEYS, "2.0.0")
    journal = open_journal(home.journal, KEYS)
    (event,) = await journal.append([draft(session(9), 1, finished("since"))])
    journal.close()
    home.heads.write_bytes(b"")
    words = home.memory_files / next(iter(FOLDERS.values()))
    words.mkdir(parents=True)
    (words / "ann.md").write_text("she likes tea")
    new = _content(home.journal)

    went = back(home, KEYS, home.heads)
    assert went.set_aside == event.seq - len(old[1]) == 1
    assert _content(home.journal) == old
    assert _content(Path(went.moved_to) / "journal.db") == new
    assert (Path(went.moved_to) / words.name / "ann.md").read_text() == "she likes tea"
    assert not words.exists()
    with pytest.raises(NotFound, match="no journal of before"):
        back(home, KEYS, home.heads)
    upgrade(home, KEYS, "2.0.0")
    assert _content(home.journal)[0] == NEWEST


def test_going_back_killed_at_any_moment_can_be_done_again(tmp_path: Path) -> None:
    home = _home(tmp_path / "whole", PAST[0])
    old = _content(home.journal)
    upgrade(home, KEYS, "2.0.0")
    new = _content(home.journal)
    shutil.copytree(home.root, tmp_path / "upgraded")
    for number in each_kill():
        home = Home(tmp_path / str(number))
        shutil.copytree(tmp_path / "upgraded", home.root)
        died = killed_at(number, partial(_go_back, home))
        assert _content(home.journal) in (old, new)
        if died and served(home) != served(Home(tmp_path / "whole")):
            shutil.rmtree(home.root)
            continue  # it was done but for tidying up
        if died:
            back(home, KEYS, home.heads)
        assert _content(home.journal) == old
        if not died:
            return
