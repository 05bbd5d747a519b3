"""An encrypted SQLite file: how it is opened, read from many threads, and what its errors mean.

Layer: storage. Knows nothing of what is in the file. The library is imported here, so that whoever imports ``storage``
for a type pays nothing.

The file's first 16 bytes are its salt, and the salt follows from the key. So a wrong key, a plain SQLite file and a
damaged file can be told apart, which the library alone cannot do: to it they are all "not a database".
"""

from __future__ import annotations

import gc
import hashlib
import hmac
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlcipher3 import dbapi2

from stead.domain.errors import StorageFault, WrongKey

if TYPE_CHECKING:
    from sqlite3 import Connection  # the same interface; the encrypted library has no types of its own

BUSY_TIMEOUT_S = 10.0
CACHE_KIB = 512
"""Pages that each connection keeps decrypted."""
_LOG_BYTES = 1 << 20
"""A log that was longer is cut to that once it is folded back."""
_IDLE_READERS = 8
_PAUSE_S = 0.05
_PLAIN_SQLITE = b"SQLite format 3\x00"

DatabaseError = dbapi2.Error
IntegrityError = dbapi2.IntegrityError
is_whole_statement: Callable[[str], bool] = dbapi2.complete_statement

Connect = Callable[[Path, bytes], "Connection"]
"""Opens a file with a 32-byte key. Handed in, so that tests can watch or limit every connection."""


def connect(path: Path, key: bytes) -> Connection:
    """Open the file for one thread at a time, durable on every commit; it is created when absent.

    Args:
        path: the database file.
        key: 32 bytes. Given raw: a passphrase would cost 120 ms for each connection.
    """
    connection = cast(
        "Connection",
        dbapi2.connect(str(path), isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_S),
    )
    connection.execute(f"PRAGMA key = \"x'{key.hex()}{file_salt(key).hex()}'\"")  # nothing may come before it
    connection.execute("PRAGMA cipher_log_level = none")  # our errors say more, and not on stderr
    sizes = f"cache_size = -{CACHE_KIB}", f"journal_size_limit = {_LOG_BYTES}"
    for pragma in ("synchronous = full", "secure_delete = on", "foreign_keys = on", "temp_store = memory", *sizes):
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All that is written inside, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def file_salt(key: bytes) -> bytes:
    """The first 16 bytes of a file of this key."""
    return hmac.digest(key, b"stead file salt", hashlib.sha256)[:16]


def require_ours(path: Path, key: bytes) -> None:
    """Check that a file was written with this key, before the library looks at it; an absent or empty one passes.

    Raises:
        StorageFault: it is a plain SQLite database of something else, or cannot be read.
        WrongKey: it was written with another key, or is no database at all.
    """
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageFault(f"{str(path)!r} cannot be read: {error.strerror}; fix its owner or mode") from error
    if start == _PLAIN_SQLITE:
        raise Damaged(f"{str(path)!r} is a plain SQLite database, not one of Stead; move it out of the home")
    if start and start != file_salt(key):
        raise WrongKey(
            f"{str(path)!r} does not open with this home's key; put back the key file that belongs to it or give its "
            "recovery key, or, if the file is not Stead's or is damaged, restore a backup"
        )


class Damaged(StorageFault):
    """The file has been there and cannot be made sense of; what is derived may be begun anew."""


class Database:
    """One encrypted file, with connections to read it that any thread may borrow.

    Args:
        path: the file. It is created, for the owner only, when it is absent.
        key: 32 bytes.
        connect: how connections are made.
        cure: what a person can do when the file is damaged.

    Raises:
        StorageFault, WrongKey: it is not ours, or cannot be opened.
    """

    def __init__(
        self, path: Path, key: bytes, connect: Connect = connect, *, cure: str = "restore the newest backup"
    ) -> None:
        self.path = path
        self._cure = cure
        self._key = key
        self._connect = connect
        self._idle: list[Connection] = []
        self._closed = False
        require_ours(path, key)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # the library would let the umask decide
        except OSError as error:
            raise StorageFault(f"{str(path)!r} cannot be opened: {error.strerror}; fix its folder") from error
        with self.faults():
            connection = self.open()
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                connection.execute("PRAGMA journal_mode = wal")
            finally:
                connection.close()

    def open(self) -> Connection:
        """A connection of one's own, to write with. Its owner closes it."""
        return self._connect(self.path, self._key)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Borrow a read-only connection; keep it short, so that the log can be folded back into the file.

        Raises:
            StorageFault: closed, damaged or unreadable.
        """
        if self._closed:
            raise StorageFault(f"{str(self.path)!r} is closed; start Stead again")
        with self.faults():
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self.open()
                connection.execute("PRAGMA query_only = on")
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            if self._closed or len(self._idle) >= _IDLE_READERS:
                connection.close()
            else:
                self._idle.append(connection)

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn the library's errors inside into ``StorageFault``."""
        try:
            yield
        except DatabaseError as error:
            raise self.fault(error) from error

    def fault(self, error: BaseException) -> StorageFault:
        """What an error of the library means for a person: cause and next step."""
        name = str(getattr(error, "sqlite_errorname", type(error).__name__))
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return Damaged(f"{str(self.path)!r}: the file is damaged; keep a copy of it, and {self._cure} ({name})")
        for start, text in _MEANINGS:
            if name.startswith(start):
                return StorageFault(f"{str(self.path)!r}: {text} ({name})")
        return StorageFault(f"{str(self.path)!r}: unexpected {name}: {error}; see the log and report it")

    def scrub(self) -> None:
        """Fold the write-ahead log back and empty it, so that nothing erased is left in it.

        Raises:
            StorageFault: a reader held on for longer than the busy timeout; erase again later.
        """
        with self.faults():
            connection = self.open()
            try:
                until = time.monotonic() + BUSY_TIMEOUT_S
                connection.execute(f"PRAGMA busy_timeout = {round(_PAUSE_S * 1000)}")
                while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                    if time.monotonic() > until:
                        raise StorageFault(
                            f"{str(self.path)!r} was being read, so its log still has what was erased; erase again"
                        )
                    gc.collect()  # a reader that was given up amid an error reads on until its traceback goes
                    time.sleep(_PAUSE_S)
            finally:
                connection.close()

    def fold(self) -> None:
        """Have everything in the main file and no log next to it, so that the file can be given another name.

        Raises:
            StorageFault: another program has it open.
        """
        while self._idle:
            self._idle.pop().close()
        with self.faults():
            connection = self.open()
            try:
                connection.execute("PRAGMA journal_mode = delete")
            finally:
                connection.close()

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy, encrypted with the same key, while others go on reading and writing.

        The target must not exist; it is on the disk when this returns.

        Raises:
            StorageFault: no space, or the source is damaged.
        """
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with self.faults():
            connection = self.open()
            try:
                connection.execute("VACUUM INTO ?", (str(target),))
            finally:
                connection.close()
        sync(target)
        sync(target.parent)

    def close(self) -> None:
        """Close the idle connections; a borrowed one closes when it is given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_MEANINGS = (
    ("SQLITE_FULL", "the disk is full, nothing was written; free some space and try again"),
    ("SQLITE_IOERR", "the disk refuses to read or write, nothing was written; check its space and health"),
    ("SQLITE_READONLY", "the file cannot be written; fix its mode, or mount its disk for writing"),
    ("SQLITE_PERM", "the file cannot be written; fix its mode"),
    ("SQLITE_CANTOPEN", "the file cannot be opened; fix the mode of its folder, or free some space"),
    ("SQLITE_BUSY", f"another program has held it for {BUSY_TIMEOUT_S:.0f} s; end that program and try again"),
    ("SQLITE_LOCKED", "another program has it locked; end that program and try again"),
)
