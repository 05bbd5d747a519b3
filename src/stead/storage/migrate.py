"""Bringing a journal file up to the schema that this version of Stead knows.

Layer: storage. Steps are the numbered SQL files in ``schema/``. Each runs in one transaction together with the version
row, so a kill leaves the file before the step or after it, never between. A file that has something in it is copied
first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stead.domain.errors import StorageFault
from stead.storage.database import Database, is_whole_statement, transaction

if TYPE_CHECKING:
    from sqlite3 import Connection

KIND = "stead journal"
_SCHEMA_FOLDER = Path(__file__).parent / "schema"  # a wheel is unpacked; importlib.resources costs 80 ms to import


def known_steps() -> dict[int, str]:
    """The SQL of every step, by its number, from 1 without gaps."""
    return {int(file.name[:4]): file.read_text("utf-8") for file in sorted(_SCHEMA_FOLDER.glob("[0-9]*_*.sql"))}


def known_schema(database: Database, backups: Path | None, newest: int) -> int:
    """The schema version of a file, 0 for an empty one; the file is left as it is.

    Raises:
        StorageFault: it is not a journal, or its version is past ``newest``; then it was made by a newer Stead.
    """
    version = schema_of(database)
    if version > newest:
        kept = f" ({str(backups)!r})" if backups else ""
        raise StorageFault(
            f"{str(database.path)!r} was made by a newer Stead (schema {version}, this one knows {newest}); "
            f"install that version again, or restore a backup made before the upgrade{kept}"
        )
    return version


def migrate(database: Database, backups: Path | None, steps: Mapping[int, str] | None = None) -> int:
    """Run the steps that the file lacks; gives its schema version afterwards.

    Args:
        database: the journal's file.
        backups: the folder where a copy is put before the first step, unless the file is new; None for a file that is
            a copy itself.
        steps: other steps than the shipped ones.

    Raises:
        StorageFault: the file is not a journal, was made by a newer Stead, is damaged, or the disk is full.
    """
    steps = known_steps() if steps is None else steps
    newest = max(steps)
    version = known_schema(database, backups, newest)
    with database.faults():
        connection = database.open()
        try:
            if backups and 0 < version < newest:
                _back_up(database, backups, version)
            while version < newest:
                version = _step(connection, database.path, steps)
        finally:
            connection.close()
    return version


def statements(script: str) -> Iterator[str]:
    """Split a script, so that it can run inside a transaction; the library's own runner would commit first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if is_whole_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise StorageFault(f"a schema step does not end with a semicolon: {pending[-60:]!r}; reinstall Stead")


def schema_of(database: Database) -> int:
    """The schema version of a journal's file, which stays as it is; 0 for an empty one.

    Raises:
        StorageFault: it is no journal, or cannot be read.
    """
    with database.faults(), database.reading() as connection:
        return _version(connection, database.path)


def _version(connection: Connection, path: Path) -> int:
    """0 for an empty file."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    found = dict(connection.execute("SELECT name, value FROM meta")) if "meta" in tables else {}
    if found.get("kind") != KIND:
        raise StorageFault(f"{str(path)!r} is a database of something else; move it out of the home")
    return int(found["schema"])


def _step(connection: Connection, path: Path, steps: Mapping[int, str]) -> int:
    """Run the next step; the version is read again inside the transaction, since another process may be at it too."""
    with transaction(connection):
        version = _version(connection, path)
        if version < max(steps):
            version += 1
            if version == 1:
                connection.execute("CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)")
                connection.execute("INSERT INTO meta VALUES ('kind', ?), ('schema', '0')", (KIND,))
            for statement in statements(steps[version]):
                connection.execute(statement)
            connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(version),))
    return version


def _back_up(database: Database, backups: Path, version: int) -> None:
    """Copy the file under a final name only when the copy is whole; only the newest copy is kept."""
    backups.mkdir(mode=0o700, exist_ok=True)
    final = backups / f"journal-schema-{version:04d}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db"
    staged = final.with_suffix(".part")
    for leftover in backups.glob("journal-schema-*.part"):
        leftover.unlink()
    database.copy_to(staged)
    staged.replace(final)
    for older in backups.glob("journal-schema-*.db"):
        if older != final:
            older.unlink()
