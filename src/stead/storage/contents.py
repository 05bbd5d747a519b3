"""The contents of files and the trees of folders, each kept once, encrypted, under a name that follows from it.

Layer: storage. Knows no file system but its own: what is kept comes as bytes and entries.

Every name is a BLAKE3 digest under a key of the home, so it tells nobody without the key what it stands for. A content
is cut into chunks; each is sealed with AES-256-GCM, its name bound to it, and appended to a pack. Nonces are random,
which is sound for the first four thousand million chunks of a home. The index, an encrypted database, knows where each
chunk lies, and holds the trees.

What is new is written to the packs, and to the disk, before the index records it in one transaction. So the index
never speaks of what is not there, whenever the process is killed; what it does not speak of does not exist.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from blake3 import blake3

from stead.domain.errors import Conflict, NotFound, StorageFault, WrongKey
from stead.storage import trees
from stead.storage.database import Damaged, Database, DatabaseError, connect
from stead.storage.migrate import statements
from stead.storage.packs import Packs, refusal
from stead.storage.sealing import Sealing
from stead.storage.sharing import SharedLock

if TYPE_CHECKING:
    from sqlite3 import Connection

NAME_BYTES = 32
_KIND = ("stead contents", "1")
_SCHEMA = Path(__file__).parent / "schema" / "contents.sql"
_CURE = (
    "its packs are of no use without it: restore a copy of the folder, or move the folder away and start with a new one"
)
_CLOSE_S = 30.0

T = TypeVar("T")
Seen = dict[bytes, tuple[int, int, int, int, bytes]]
"""By name of a file in a folder: size, mtime and ctime in ns, inode, and the content that was read then."""
_log = logging.getLogger(__name__)


class Place(NamedTuple):
    """Where a sealed chunk lies."""

    pack: int
    at: int
    size: int


class SeenFolder(NamedTuple):
    """What was known of one folder: the tree that it had, and its files, still encoded."""

    tree: bytes
    encoded: bytes

    @property
    def files(self) -> Seen:
        """By name."""
        return _seen.decode(self.encoded)


class ContentStore:
    """One folder of a home. Safe to use from many threads, and by one process.

    Args:
        folder: created for the owner only when it is absent.
        key: 32 bytes, the home's own for this.

    Raises:
        Conflict: another process has it open.
        StorageFault, WrongKey: it is not ours, or cannot be opened.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self.lock = SharedLock()
        self._names, self._tree_names = _subkey(key, "names"), _subkey(key, "trees")
        self._sealing = Sealing(_subkey(key, "chunks"))
        self._file_lock = _locked(folder)
        self._writing = threading.Lock()
        self._connection: Connection | None = None
        try:
            self.database = Database(folder / "index.db", index_key(key), _shrinkable, cure=_CURE)
            self.packs = Packs(folder / "packs", self.write(_prepare))
        except BaseException:
            self._drop_connection()
            os.close(self._file_lock)
            raise

    def close(self) -> None:
        """Wait for what is at work, then let go of every file.

        Raises:
            StorageFault: something was still at work after 30 s; nothing is lost by that.
        """
        if not self.lock.close(_CLOSE_S):
            raise StorageFault("the checkpoints were still being written after 30 s; check the disk")
        self._drop_connection()
        self.database.close()
        os.close(self._file_lock)

    # -- names ------------------------------------------------------------------------------------------------------

    def name_of(self, content: bytes) -> bytes:
        """What a content, or a chunk, is called."""
        return blake3(content, key=self._names).digest()

    def naming(self) -> blake3:
        """For a content that comes in parts."""
        return blake3(key=self._names)

    def name_of_tree(self, encoded: bytes) -> bytes:
        """What a tree is called."""
        return blake3(encoded, key=self._tree_names).digest()

    # -- reading ----------------------------------------------------------------------------------------------------

    def place(self, chunk: bytes) -> Place | None:
        """Where a sound chunk lies; None also for one that was found damaged."""
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT pack, at, size FROM chunks WHERE name = ? AND bad = 0", (chunk,)
            ).fetchone()
        return Place(*row) if row else None

    def chunks_of(self, content: bytes) -> list[bytes] | None:
        """The chunks of a content that has several."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT chunks FROM contents WHERE name = ?", (content,)).fetchone()
        return split(row[0]) if row else None

    def read(self, content: bytes) -> Iterator[bytes]:
        """The content, chunk by chunk, each checked before it is given; the whole is checked before the end.

        Raises:
            NotFound: it is not kept.
            Damaged: it is not what it was.
            StorageFault: the disk refuses.
        """
        parts = self.chunks_of(content) or [content]
        whole = self.naming()
        for name in parts:
            opened = self._opened(name)
            if len(parts) > 1:
                whole.update(opened)
            yield opened
        if len(parts) > 1 and whole.digest() != content:
            raise Damaged(f"the content {content.hex()} is not what it was; restore another checkpoint")

    def tree(self, name: bytes) -> trees.Entries:
        """The entries of a tree.

        Raises:
            NotFound: it is not kept.
            Damaged: it is not what it was.
        """
        with self.database.reading() as connection:
            row = connection.execute("SELECT entries FROM trees WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise NotFound(f"there is no checkpoint {name.hex()!r}; see the list of them")
        if self.name_of_tree(row[0]) != name:
            self._mark("DELETE FROM seen")
            raise Damaged(f"the folder {name.hex()} of a checkpoint is not what it was; restore another checkpoint")
        return trees.decode(row[0])

    def last(self, directory: bytes) -> tuple[bytes, int]:
        """The last tree of a folder, and how many files it had; nothing and 0 when there is none."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT root, files FROM folders WHERE directory = ?", (directory,)).fetchone()
        return (row[0], row[1]) if row else (b"", 0)

    def seen(self, directory: bytes) -> dict[bytes, SeenFolder]:
        """What is known of each folder below a directory, by its path."""
        with self.database.reading() as connection:
            rows = connection.execute("SELECT path, tree, files FROM seen WHERE directory = ?", (directory,)).fetchall()
        return {path: SeenFolder(tree, files) for path, tree, files in rows}

    def _opened(self, name: bytes) -> bytes:
        with self.database.reading() as connection:
            row = connection.execute("SELECT pack, at, size FROM chunks WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise NotFound(f"the content {name.hex()} is not kept any more")
        try:
            content = self._sealing.opened(self.packs.read(*row), name)
            if self.name_of(content) == name:
                return content
        except (Damaged, WrongKey) as error:
            self._mark_bad(name)
            raise Damaged(f"a kept content is damaged ({error}); restore another checkpoint") from error
        self._mark_bad(name)
        raise Damaged(f"the content {name.hex()} is not what it was; restore another checkpoint")

    def _mark_bad(self, chunk: bytes) -> None:
        """Have it stored again when it is met again."""
        self._mark("UPDATE chunks SET bad = 1 WHERE name = ?", chunk)

    def _mark(self, statement: str, *values: bytes) -> None:
        """Note a damage; and have every file read again once, so that what is still there repairs it."""
        try:
            with self._exclusively() as connection:
                connection.execute(statement, values)
                connection.execute("DELETE FROM seen")
        except StorageFault:
            _log.exception("what was found damaged could not be marked; it is marked when it is read again")

    # -- writing ----------------------------------------------------------------------------------------------------

    def sealed(self, content: bytes, name: bytes) -> bytes:
        """As it lies in a pack."""
        return self._sealing.sealed(content, name)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do it in one transaction that is on the disk when this returns.

        Raises:
            StorageFault: nothing of it was written.
        """
        with self._exclusively() as connection:
            return work(connection)

    def note_last(self, directory: bytes, root: bytes, files: int) -> None:
        """What ``last`` gives from now on.

        Raises:
            StorageFault: it was not written.
        """
        self.write(lambda c: c.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (directory, root, files)))

    def shrink_index(self) -> None:
        """Give the disk back what was deleted from the index.

        Raises:
            StorageFault: the disk refuses, or the index is being read.
        """
        with self._writing, self.database.faults():
            connection = self._connection = self._connection or self.database.open()
            connection.execute("PRAGMA incremental_vacuum").fetchall()
        self.database.scrub()

    @contextmanager
    def _exclusively(self) -> Iterator[Connection]:
        with self._writing, self.database.faults():
            connection = self._connection = self._connection or self.database.open()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except DatabaseError:
                self._drop_connection()  # which undoes what was begun
                raise
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def split(chunks: bytes) -> list[bytes]:
    """Names that stand one after another."""
    return [chunks[at : at + NAME_BYTES] for at in range(0, len(chunks), NAME_BYTES)]


def encode_seen(files: Seen) -> bytes:
    """As it is kept."""
    return msgspec.msgpack.encode(files)


def index_key(key: bytes) -> bytes:
    """The key of a store's index."""
    return _subkey(key, "index")


def _subkey(key: bytes, label: str) -> bytes:
    return hmac.digest(key, f"stead contents {label}".encode(), hashlib.sha256)


def _shrinkable(path: Path, key: bytes) -> Connection:
    """A connection to a file that gives back what is deleted from it; that is settled before its first page is."""
    connection = connect(path, key)
    connection.execute("PRAGMA auto_vacuum = incremental")
    return connection


def _locked(folder: Path) -> int:
    """Hold the folder for as long as this descriptor is open; the kernel lets go of it when the process dies."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise refusal(folder, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise Conflict(f"another process has the checkpoints in {str(folder)!r} open; end it first") from error
    return lock


def _prepare(connection: Connection) -> dict[int, int]:
    """Make the tables of a new file, check those of an older one; gives where each pack ends."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        for statement in statements(_SCHEMA.read_text("utf-8")):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES (?, ?)", _KIND)
    if connection.execute("SELECT name, value FROM meta").fetchone() != _KIND:
        raise StorageFault("the index of the checkpoints was made by a newer Stead; install that version again")
    return dict(connection.execute("SELECT pack, max(at + size) FROM chunks GROUP BY pack").fetchall())


_seen = msgspec.msgpack.Decoder(Seen)
