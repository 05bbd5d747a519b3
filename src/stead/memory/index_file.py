"""The file of an index: opened, begun anew when nothing can be made of it, read from many threads, written by one.

Layer: memory. Knows the schema as a whole and none of its tables but ``progress``. A home has a file for every folder
that somebody ever worked in, and a process may have few open: those that were not used for longest are closed, and
opened again when they are needed.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stead.domain.errors import StorageFault, WrongKey
from stead.storage.database import Connect, Damaged, Database, transaction
from stead.storage.derived import opening

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = (Path(__file__).parent / "schema.sql").read_text("utf-8")
_SCHEMA_ID = hashlib.sha256(_SCHEMA.encode()).hexdigest()
_CACHE_KIB = 16_384
"""Of each connection: what does not fit is read and deciphered again for every word."""
MOST_AWAKE = 32
"""Files that are open at once, of each as many connections as there are threads that read it."""

_log = logging.getLogger(__name__)


class Awake:
    """The files that are open, the one used last at the end. Safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held by whoever reads or changes ``_files``
        self._files: dict[IndexFile, None] = {}

    def used(self, file: IndexFile) -> None:
        """A file is about to be used: others are closed for it. One that is being written stays open until later."""
        with self._lock:
            self._files.pop(file, None)
            self._files[file] = None
            idle = list(self._files)[:-MOST_AWAKE]
        for one in idle:
            if one.rest():
                with self._lock:
                    self._files.pop(one, None)


class IndexFile:
    """Writers wait for each other, readers for nobody.

    Args:
        path: the file; its folder exists. One that is damaged, of another key or of another schema is begun anew.
        key: 32 bytes.
        connect: how connections are made.
        awake: with which others it shares what may be open.
    """

    def __init__(self, path: Path, key: bytes, connect: Connect, awake: Awake) -> None:
        self.damaged = False
        """It was found out while it was in use; it is of no use any more."""
        self._path = path
        self._key = key
        self._connect = partial(_connected, connect)
        self._awake = awake
        self._lock = threading.Lock()  # held by whoever writes
        self._opening = threading.Lock()  # held by whoever reads or changes ``_opened`` and ``_closed``
        self._closed = False
        self._opened: tuple[Database, Connection] | None = self._open_or_renew()
        awake.used(self)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Borrow a connection that only reads; keep it short."""
        self._awake.used(self)
        with self._watched(), ExitStack() as borrowed:
            with self._opening:
                database, _ = self._woken()
                connection = borrowed.enter_context(database.reading())
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing."""
        self._awake.used(self)
        with self._watched(), self._lock:
            with self._opening:
                database, connection = self._woken()
            with database.faults(), transaction(connection):
                yield connection

    def scrub(self) -> None:
        """As ``Database.scrub``."""
        with self._watched():
            with self._opening:
                database, _ = self._woken()
            database.scrub()

    def rest(self) -> bool:
        """Close what is not in use, until it is needed again; False while it is written, and then nothing is closed."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            with self._opening:
                self._shut()
        finally:
            self._lock.release()
        return True

    def close(self) -> None:
        """Close the file."""
        with self._lock, self._opening:
            self._closed = True
            self._shut()

    def _shut(self) -> None:
        if self._opened is not None:
            database, connection = self._opened
            connection.close()
            database.close()
        self._opened = None

    def _woken(self) -> tuple[Database, Connection]:
        """The file as it is open, opened again if it rests. It has been whole, so it is not begun anew here."""
        if self._closed:
            raise StorageFault(f"{str(self._path)!r} is closed; ask again")
        if self._opened is None:
            if not self._path.exists():
                raise Damaged(f"{str(self._path)!r} is gone; it is made anew from the journal")
            try:
                database, connection, _ = self._open()
            except WrongKey as error:
                raise Damaged(f"{str(self._path)!r} was whole, and is not any more; it is made anew") from error
            self._opened = database, connection
        return self._opened

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except Damaged:
            self.damaged = True
            raise

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
        database = Database(self._path, self._key, self._connect, cure="rebuild the index")
        with opening(database, _SCHEMA, (0, b"", 0, 0, "", _SCHEMA_ID)) as connection:
            (schema,) = connection.execute("SELECT schema FROM progress").fetchone()
        return database, connection, schema


def _connected(connect: Connect, path: Path, key: bytes) -> Connection:
    connection = connect(path, key)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection
