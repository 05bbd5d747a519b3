"""Bringing a home to another version of Stead, and back.

Layer: storage. The journal is never changed where it lies. A copy is brought up to date and compared with it, row for
row, and then takes its name in one step; the old file keeps a name of its own in ``data/backups``. A kill at any moment
leaves the old journal whole or the new one whole, and a version that cannot read the home leaves it as it was.

``data/backups/upgrade.json`` says which version served the home last, and which file leads back.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from stead.brain.memory_files import FOLDERS
from stead.config import Home, sole_daemon
from stead.domain.errors import NotFound, StorageFault
from stead.storage.chain import ChainReport, verify
from stead.storage.database import Connect, Database, connect, sync
from stead.storage.event_rows import stored_rows
from stead.storage.head_copy import HeadCopy, decode_head
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.migrate import known_schema, known_steps, migrate
from stead.storage.replacement_audit import wrong_replacements

WORK = "upgrading"
"""How the names of what an upgrade makes begin, until it is done."""


class Served(msgspec.Struct, frozen=True):
    """Which version served a home last.

    Args:
        version: of Stead.
        schema: of the journal that it wrote.
        kept: the journal of before, a file of ``data/backups``; "" for none.
        before: the version that served the home before, "" where that is not known.
        proven: it has started well.
    """

    version: str
    schema: int
    kept: str = ""
    before: str = ""
    proven: bool = False


class WentBack(NamedTuple):
    """What going back came to: events that were recorded since the upgrade, and where they are now ("" for none)."""

    before: str
    set_aside: int
    moved_to: str


def served(home: Home) -> Served | None:
    """What is recorded of the last start; None for a home of a Stead that did not record it, and a new one."""
    try:
        return msgspec.json.decode(_record(home).read_bytes(), type=Served)
    except (
        FileNotFoundError,
        NotADirectoryError,
        msgspec.DecodeError,
    ):  # then the home is looked at as one of another version
        return None


def upgrade(
    home: Home, keys: Keys, version: str, steps: Mapping[int, str] | None = None, connect: Connect = connect
) -> None:
    """Bring the home to this version, where another one served it last. The home's lock is held.

    Args:
        home: its folders; one without a journal is left alone.
        keys: the home's.
        version: of the Stead that is about to serve it.
        steps: other steps of the schema than the shipped ones.
        connect: how connections are made.

    Raises:
        StorageFault: this version cannot read the home, or the disk is full; the home is as it was.
        WrongKey: the journal belongs to another key.
    """
    newest = max(steps or known_steps())
    last = served(home)
    folder = home.data / "backups"
    work = folder / WORK
    copy = work / "journal.db"
    done = (
        last and (last.version, last.schema) == (version, newest) and not copy.exists()
    )  # else killed before its swap
    if done or not home.journal.exists():
        return
    before = "" if last is None else last.before if last.version == version else last.version
    folder.mkdir(mode=0o700, exist_ok=True)
    shutil.rmtree(work, ignore_errors=True)  # of an upgrade that was killed
    work.mkdir(mode=0o700)
    database = Database(home.journal, keys.database, connect)
    try:
        schema = known_schema(database, folder, newest)
        database.copy_to(copy)
        (work / "archives").symlink_to(home.data / "archives")  # what the copy speaks of
        _prove(database, copy, keys, steps, connect)
        database.fold()
    except StorageFault as error:
        was = f", {before}" if before else ""
        raise StorageFault(
            f"this home cannot be served by Stead {version}, and is as it was: {error}; the version of before{was}, "
            "serves it still: stead upgrade --back, or install that again"
        ) from error
    finally:
        database.close()
    kept = folder / f"journal-schema-{schema:04d}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db"
    kept.unlink(missing_ok=True)
    os.link(home.journal, kept)
    sync(folder)
    _write(home, Served(version, newest, kept.name, before))
    copy.replace(home.journal)
    sync(home.data)
    for older in folder.glob("journal-schema-*.db"):
        if older != kept:
            older.unlink()
    shutil.rmtree(work)


def proven(home: Home, version: str) -> None:
    """Record that this version has started well; the way back stays until the next upgrade."""
    last = served(home) or Served(version, max(known_steps()))
    if not last.proven:
        (home.data / "backups").mkdir(mode=0o700, exist_ok=True)
        _write(home, msgspec.structs.replace(last, proven=True))


def back(home: Home, keys: Keys, heads: Path) -> WentBack:
    """Put the journal of before the last upgrade back. What was recorded since is moved aside, into the home's folder.

    Args:
        home: its daemon does not run; with the folder that its settings name for the files of memory.
        keys: the home's.
        heads: the copy of its signed heads.

    Raises:
        NotFound: no upgrade is recorded, or the journal of before is gone.
        Conflict: a daemon serves the home.
        StorageFault: the disk is full or refuses.
    """
    last = served(home)
    if last is None or not last.kept or not (kept := home.data / "backups" / last.kept).is_file():
        raise NotFound(f"{str(home.root)!r} has no journal of before an upgrade; restore a backup: stead restore FILE")
    with sole_daemon(home):
        with closing(Database(home.journal, keys.database)) as database:
            database.fold()
        with closing(connect(kept, keys.database)) as old, closing(connect(home.journal, keys.database)) as new:
            (size, schema), (newer, _) = (one.execute(_SIZE).fetchone() for one in (old, new))
        aside = home.root / f"replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(2)}"
        if since := max(0, newer - size):
            aside.mkdir(mode=0o700)
            os.link(home.journal, aside / "journal.db")
            _move_later_words(home, heads, size, aside)
        work = home.data / "backups" / WORK
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        os.link(kept, work / "journal.db")
        (work / "journal.db").replace(home.journal)
        sync(home.data)
        _write(home, Served(last.before, int(schema), proven=True))
        kept.unlink()
        shutil.rmtree(work)
    return WentBack(last.before, since, str(aside) if since else "")


_SIZE = (
    "SELECT (SELECT coalesce(max(seq), 0) FROM events), (SELECT CAST(value AS integer) FROM meta WHERE name = 'schema')"
)


def _move_later_words(home: Home, heads: Path, size: int, aside: Path) -> None:
    """Files of memory of a later state would come in as the person's new words; later heads would be ahead of it.

    What is lost of it by a kill is made again from the journal that there is then.
    """
    for path in (home.mirrored, *(home.memory_files / folder for folder in FOLDERS.values())):
        if path.exists():
            shutil.move(path, aside / path.name)
    if heads.exists():
        shutil.copyfile(heads, aside / "heads.jsonl")
        left = b"".join(line for line in HeadCopy(heads).lines() if decode_head(line).size <= size)
        _replace(heads, left)


def _prove(database: Database, copy: Path, keys: Keys, steps: Mapping[int, str] | None, connect: Connect) -> None:
    """Bring the copy up to date, and see that it has what the journal has and that this version reads all of it."""
    before, rows = _facts(database), _counts(database)
    migrated = Database(copy, keys.database, connect)
    migrate(migrated, None, steps)
    try:
        if _facts(migrated) != before or any(_counts(migrated).get(name) != count for name, count in rows.items()):
            raise StorageFault(f"the upgraded copy of {str(database.path)!r} is not what it was made from; report this")
        journal = JournalFile(migrated, keys)
        try:
            for _ in journal.events():
                pass  # decoded; read models follow from what is decoded, and are made again where their form changed
        finally:
            journal.close()
    finally:
        migrated.close()
    sync(copy)


def _facts(database: Database) -> tuple[ChainReport, list[str]]:
    """What the journal is, to the byte: a payload, or what is read in its place, is bound by what the chain covers."""
    report = verify(stored_rows(database))
    return report, wrong_replacements(database, report.redacted, report.head)


def _counts(database: Database) -> dict[str, int]:
    with database.reading() as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}  # noqa: S608 - the file's own names


def _record(home: Home) -> Path:
    return home.data / "backups" / "upgrade.json"


def _write(home: Home, record: Served) -> None:
    _replace(_record(home), msgspec.json.encode(record))


def _replace(path: Path, content: bytes) -> None:
    """Put content under a name in one step, for the owner only."""
    staged = path.with_name(f".{path.name}.part")
    with open(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    staged.replace(path)
    sync(path.parent)
