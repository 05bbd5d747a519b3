"""One file under a passphrase, and a home made from it elsewhere."""

from __future__ import annotations

import asyncio
import fcntl
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.errors import Conflict, InvalidRequest, NotFound, SteadError, StorageFault, WrongKey
from stead.storage.backup import NEWEST, backup, restore
from stead.storage.backup_stream import CHUNK_BYTES
from stead.storage.journal import open_journal
from stead.storage.keystore import open_keys
from tests.build import created
from tests.storage.drafts import KEYS, OTHER_KEYS, draft, finished, session, stream

PASSPHRASE = "six quiet otters"


def nobody() -> str:
    raise AssertionError("no passphrase was to be asked for")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A backup of a home with a few events, a secret and settings; over a chunk in size."""
    home = Home(tmp_path / "first")
    home.make()
    home.settings.write_text('log_level = "debug"\n', "utf-8")

    async def fill() -> None:
        journal = open_journal(home.journal, KEYS)
        await journal.append(stream(session(1), [created("tidy"), *[finished("x" * 90_000)] * 15]))
        await journal.vault.put("provider/acme", "not a real key")
        journal.close()

    asyncio.run(fill())
    target = tmp_path / "home.backup"
    assert backup(home, KEYS, PASSPHRASE, target) == target.stat().st_size > CHUNK_BYTES
    return target


def test_a_backup_restores_on_another_machine_with_its_passphrase(made: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "second")
    restored = restore(made, PASSPHRASE, home)
    assert (restored.head, restored.moved_to) == (16, "")
    assert open_keys(home, "file", nobody).keys == KEYS
    assert home.settings.read_text("utf-8") == 'log_level = "debug"\n'
    journal = open_journal(home.journal, KEYS)
    assert journal.verify_chain().faults == ()
    assert journal.vault.get("provider/acme") == "not a real key"
    asyncio.run(journal.append([draft(session(1), 17, finished())]))
    journal.close()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (home.key, home.journal, home.settings, home.root)}
    assert modes == {"key": 0o600, "journal.db": 0o600, "config.toml": 0o600, "second": 0o700}
    assert not list(home.root.glob("restoring-*"))


def test_the_restored_key_can_be_kept_under_the_passphrase(made: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "second")
    restore(made, PASSPHRASE, home, key_source="passphrase")
    assert open_keys(home, "file", lambda: PASSPHRASE).keys == KEYS
    assert all(KEYS.master not in path.read_bytes() for path in home.root.rglob("*") if path.is_file())


async def test_a_backup_is_consistent_while_the_journal_is_written(home: Home, tmp_path: Path) -> None:
    journal = open_journal(home.journal, KEYS)
    await journal.append([draft(session(1), 1, finished()), draft(session(2), 1, finished())])
    done = asyncio.Event()

    async def write() -> int:
        place = 2
        while not done.is_set():
            await journal.append([draft(session(1), place, finished("y" * 999)), draft(session(2), place, finished())])
            place += 1
        return place

    writing = asyncio.ensure_future(write())
    heads = []
    for number in range(3):
        target = tmp_path / f"{number}.backup"
        await asyncio.to_thread(backup, home, KEYS, PASSPHRASE, target)
        heads.append((await asyncio.to_thread(restore, target, PASSPHRASE, Home(tmp_path / str(number)))).head)
    done.set()
    assert await writing > 2
    assert all(head % 2 == 0 for head in heads), "half of a transaction was saved"
    assert sorted(heads) == heads
    assert [left.name for left in (home.data / "backups").iterdir()] == [NEWEST]
    journal.close()


def test_a_wrong_passphrase_is_told_from_damage(made: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongKey, match="passphrase does not open"):
        restore(made, "six quiet otter", Home(tmp_path / "second"))


def _require_refused(content: bytes, tmp_path: Path) -> SteadError:
    forged, home = tmp_path / "forged", Home(tmp_path / "second")
    forged.write_bytes(content)
    with pytest.raises((StorageFault, WrongKey)) as caught:
        restore(forged, PASSPHRASE, home)
    assert not home.journal.exists()
    assert not home.key.exists()
    assert not list(home.root.glob("restoring-*"))
    return caught.value


def test_a_flipped_bit_anywhere_is_refused(made: Path, tmp_path: Path) -> None:
    content = made.read_bytes()
    for place in (0, 5, 9, 14, 60, 100, 200, len(content) // 2, CHUNK_BYTES + 300, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        error = _require_refused(bytes(changed), tmp_path)
        if place > 300:
            assert "was cut off or changed" in str(error)


def test_a_backup_that_was_cut_off_or_grew_is_refused(made: Path, tmp_path: Path) -> None:
    content = made.read_bytes()
    start = content.index(b"}", content.index(b'"prefix"')) + 1 + 16  # after the header and the empty chunk
    for size in (0, 4, 11, 50, start, start + 1, start + CHUNK_BYTES + 16, len(content) - 1):
        _require_refused(content[:size], tmp_path)
    _require_refused(content + b"\x00", tmp_path)
    chunk = CHUNK_BYTES + 16
    swapped = content[:start] + content[start + chunk :] + content[start : start + chunk]
    _require_refused(swapped, tmp_path)


def test_something_else_is_no_backup(tmp_path: Path) -> None:
    assert "not a backup of Stead" in str(_require_refused(b"PK\x03\x04 a zip, say", tmp_path))
    with pytest.raises(NotFound, match="no backup"):
        restore(tmp_path / "nowhere", PASSPHRASE, Home(tmp_path / "second"))


def test_a_home_that_is_in_use_is_not_overwritten(made: Path, home: Home) -> None:
    journal = open_journal(home.journal, OTHER_KEYS)
    journal.close()
    before = home.journal.read_bytes()
    with pytest.raises(Conflict, match="has a home already"):
        restore(made, PASSPHRASE, home)
    assert home.journal.read_bytes() == before


def test_a_home_that_is_replaced_is_moved_aside_whole(made: Path, home: Home) -> None:
    old = open_keys(home, "file", nobody).keys
    open_journal(home.journal, old).close()
    restored = restore(made, PASSPHRASE, home, replace=True)
    aside = Path(restored.moved_to)
    assert aside.parent == home.root
    open_journal(aside / "data" / "journal.db", old).close()
    assert (aside / "key").exists()
    assert open_keys(home, "file", nobody).keys == KEYS


def test_files_of_memory_are_moved_aside_with_what_they_told_of(made: Path, home: Home) -> None:
    (home.memory_files / "global").mkdir(parents=True)
    (home.memory_files / "global" / "soul.md").write_text("of a later day")
    restored = restore(made, PASSPHRASE, home, replace=True)
    assert not home.memory_files.exists()
    assert (Path(restored.moved_to) / "memory-files" / "global" / "soul.md").read_text() == "of a later day"


def test_files_of_memory_that_lie_elsewhere_are_moved_aside_there(tmp_path: Path) -> None:
    files, target, home = tmp_path / "files", tmp_path / "home.backup", Home(tmp_path / "first")
    home.make()
    home.settings.write_text(f'memory_folder = "{files}"\n', "utf-8")
    open_journal(home.journal, KEYS).close()
    backup(home, KEYS, PASSPHRASE, target)
    for path in (files / "global", files / "private", files / "my own"):
        path.mkdir(parents=True)
    (files / "global" / "soul.md").write_text("of a later day")
    restore(target, PASSPHRASE, Home(tmp_path / "second"))
    mine, aside = sorted(path.name for path in files.iterdir())
    assert mine == "my own"
    assert aside.startswith("replaced-")
    assert (files / aside / "global" / "soul.md").read_text() == "of a later day"


def test_a_home_whose_daemon_runs_is_not_replaced(made: Path, home: Home) -> None:
    with home.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="daemon serves"):
            restore(made, PASSPHRASE, home, replace=True)


def test_a_backup_never_takes_the_place_of_a_file(made: Path, tmp_path: Path) -> None:
    before = made.read_bytes()
    with pytest.raises(Conflict, match="exists"):
        backup(Home(tmp_path / "first"), KEYS, PASSPHRASE, made)
    assert made.read_bytes() == before


def test_a_short_passphrase_an_empty_home_and_a_missing_folder_are_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="at least 8"):
        backup(home, KEYS, "short", tmp_path / "a.backup")
    with pytest.raises(StorageFault, match="no journal to back up"):
        backup(home, KEYS, PASSPHRASE, tmp_path / "a.backup")
    open_journal(home.journal, KEYS).close()
    with pytest.raises(StorageFault, match="cannot be written"):
        backup(home, KEYS, PASSPHRASE, tmp_path / "nowhere" / "a.backup")
    assert not list(tmp_path.glob("*.backup"))


def test_a_backup_is_for_its_owner_alone_and_shows_nothing(made: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o600
    content = made.read_bytes()
    assert KEYS.master not in content
    assert b"journal.db" not in content
    assert b"debug" not in content
