"""The file of an index: opened, begun anew when nothing can be made of it, read from many threads, written by one.

Layer: memory. Knows the schema as a whole and none of its tables but ``progress``.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stead.domain.errors import WrongKey
from stead.storage.database import Connect, Damaged, Database
from stead.storage.migrate import statements

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = (Path(__file__).parent / "schema.sql").read_text("utf-8")
_SCHEMA_ID = hashlib.sha256(_SCHEMA.encode()).hexdigest()
_CACHE_KIB = 16_384
"""Of each connection: what does not fit is read and deciphered again for every word."""

_log = logging.getLogger(__name__)


class IndexFile:
    """Writers wait for each other, readers for nobody.

    Args:
        path: the file; its folder exists. One that is damaged, of another key or of another schema is begun anew.
        key: 32 bytes.
        connect: how connections are made.
    """

    def __init__(self, path: Path, key: bytes, connect: Connect) -> None:
        self._path = path
        self._key = key
        self._connect = partial(_connected, connect)
        self._lock = threading.Lock()  # held by whoever writes
        self._database, self._connection = self._open_or_renew()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Borrow a connection that only reads; keep it short."""
        with self._database.reading() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing."""
        with self._lock, self._database.faults():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def scrub(self) -> None:
        """As ``Database.scrub``."""
        self._database.scrub()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
            self._database.close()

    def _open_or_renew(self) -> tuple[Database, Connection]:
        try:
            database, connection, schema = self._open()
        except (Damaged, WrongKey) as error:
            _log.warning("an index of what is remembered is begun anew: %s", error)
            return self._renew()
        if schema == _SCHEMA_ID:
            return database, connection
        _log.info("an index of what is remembered is begun anew: it is of another version of Stead")
        connection.close()
        database.close()
        return self._renew()

    def _renew(self) -> tuple[Database, Connection]:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        database, connection, _ = self._open()
        return database, connection

    def _open(self) -> tuple[Database, Connection, str]:
        """The file, a connection to write with, and the digest of its schema."""
        database = Database(self._path, self._key, self._connect, mend="rebuild the index")
        with database.faults():
            connection = database.open()
            try:
                connection.execute("PRAGMA synchronous = normal")  # what a power cut takes is in the journal still
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                    for statement in statements(_SCHEMA):
                        connection.execute(statement)
                    connection.execute("INSERT INTO progress VALUES (0, ?, 0, 0, ?)", (b"", _SCHEMA_ID))
                (schema,) = connection.execute("SELECT schema FROM progress").fetchone()
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                database.close()
                raise
        return database, connection, schema


def _connected(connect: Connect, path: Path, key: bytes) -> Connection:
    connection = connect(path, key)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection
