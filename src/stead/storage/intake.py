"""Taking contents and trees in: naming them, and keeping those that are not kept yet.

Layer: storage. A walk of a folder hands what it finds to an ``Intake``, and need not know whether it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from stead.storage import trees
from stead.storage.chunking import Read, pieces
from stead.storage.contents import ContentStore, Place, Seen, SeenFolder, encode_seen
from stead.storage.packs import PACK_BYTES, Pack

if TYPE_CHECKING:
    from sqlite3 import Connection

_FLUSH_BYTES, _FLUSH_ROWS = 64 << 20, 20_000
"""How much may be pending: what a kill in the middle of a large folder costs, and what is held in memory."""

_BLOCK = 1 << 20


class Intake(Protocol):
    """What a walk of a folder reports to."""

    def content(self, read: Read) -> bytes:
        """The name of a file's content."""

    def tree(self, entries: trees.Entries, known: bytes = b"") -> bytes:
        """The name of a folder; ``known`` names a tree that is surely kept."""

    def see(self, path: bytes, tree: bytes, files: Seen) -> None:
        """Note what a folder's files look like from outside."""


class Naming:
    """Names things and keeps nothing but the trees, in memory. Implements ``Intake``."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        self._trees: dict[bytes, trees.Entries] = {}

    def content(self, read: Read) -> bytes:
        """See ``Intake``."""
        naming = self._store.naming()
        while block := read(_BLOCK):
            naming.update(block)
        return naming.digest()

    def tree(self, entries: trees.Entries, known: bytes = b"") -> bytes:
        """See ``Intake``."""
        name = self._store.name_of_tree(trees.encode(entries))
        self._trees[name] = entries
        return name

    def see(self, path: bytes, tree: bytes, files: Seen) -> None:
        """Not noted: what was not kept must be read again."""

    def look(self, tree: bytes) -> trees.Entries:
        """The entries of a tree that was named here."""
        return self._trees[tree]


class Keeping:
    """Keeps what is not kept yet, in batches, each whole or not at all. Implements ``Intake``; see ``keeping``.

    Args:
        store: where to.
        directory: whose files are noted by ``see``.
    """

    def __init__(self, store: ContentStore, directory: bytes = b"") -> None:
        self.stored_bytes = 0
        self._store = store
        self._directory = directory
        self._pack: Pack | None = None
        self._full: list[Pack] = []
        self._chunks: dict[bytes, Place] = {}
        self._contents: dict[bytes, bytes] = {}
        self._trees: dict[bytes, bytes] = {}
        self._seen: dict[bytes, SeenFolder] = {}
        self._pending_bytes = 0

    def content(self, read: Read) -> bytes:
        """See ``Intake``.

        Raises:
            StorageFault: the disk is full.
        """
        whole = self._store.naming()
        names: list[bytes] = []
        for piece in pieces(read):
            names.append(self._store.name_of(piece))
            whole.update(piece)
            if names[-1] not in self._chunks and self._store.place(names[-1]) is None:
                self._append(names[-1], piece)
        if len(names) == 1:
            name = names[0]
        else:
            name = whole.digest()
            if name not in self._contents and self._store.chunks_of(name) is None:
                self._contents[name] = b"".join(names)
                self._pending_bytes += len(self._contents[name])
        if self._pending_bytes > _FLUSH_BYTES or len(self._chunks) > _FLUSH_ROWS:
            self.flush()
        return name

    def tree(self, entries: trees.Entries, known: bytes = b"") -> bytes:
        """See ``Intake``."""
        encoded = trees.encode(entries)
        name = self._store.name_of_tree(encoded)
        if name != known:
            self._trees[name] = encoded
        return name

    def see(self, path: bytes, tree: bytes, files: Seen) -> None:
        """See ``Intake``."""
        self._seen[path] = SeenFolder(tree, encode_seen(files))
        if len(self._seen) > _FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Put everything so far on the disk, then into the index.

        Raises:
            StorageFault: nothing of it was kept.
        """
        packs = self._packs()
        if not (packs or self._contents or self._trees or self._seen):
            return
        for pack in packs:
            pack.sync()
        self._full, self._pack = [], None
        try:
            self.stored_bytes += self._store.write(self._record)
        except BaseException:
            for pack in packs:
                pack.close()  # the index may have taken it all the same, so nothing is cut off them before a restart
            raise
        for pack in packs:
            pack.acknowledge()
            self._store.packs.give_back(pack)
        for pending in (self._chunks, self._contents, self._trees, self._seen):
            pending.clear()
        self._pending_bytes = 0

    def undo(self) -> None:
        """Take back what is not in the index."""
        for pack in self._packs():
            pack.undo()
            self._store.packs.give_back(pack)
        self._full, self._pack = [], None

    def _packs(self) -> list[Pack]:
        return self._full if self._pack is None else [*self._full, self._pack]

    def _append(self, name: bytes, piece: bytes) -> None:
        sealed = self._store.sealed(piece, name)
        if self._pack is None:
            self._pack = self._store.packs.borrow()
        self._chunks[name] = Place(self._pack.number, self._pack.append(sealed), len(sealed))
        self._pending_bytes += len(sealed)
        if self._pack.end >= PACK_BYTES:
            self._full.append(self._pack)
            self._pack = None

    def _record(self, connection: Connection) -> int:
        """Tell the index; gives about how many bytes are new."""
        connection.executemany(
            "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, 0)",
            [(name, *place) for name, place in self._chunks.items()],
        )
        connection.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?)", self._contents.items())
        fresh = sum(place.size for place in self._chunks.values()) + sum(map(len, self._contents.values()))
        for row in self._trees.items():
            # One that is there, and is not what its name says, has been damaged: this repairs it.
            done = connection.execute(
                "INSERT INTO trees VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET entries = excluded.entries WHERE entries <> excluded.entries",
                row,
            )
            fresh += len(row[1]) * max(done.rowcount, 0)
        connection.executemany(
            "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
            [(self._directory, path, *folder) for path, folder in self._seen.items()],
        )
        return fresh


@contextmanager
def keeping(store: ContentStore, directory: bytes = b"") -> Iterator[Keeping]:
    """An intake; what it took in is kept when this ends well, and forgotten again when it does not."""
    intake = Keeping(store, directory)
    try:
        yield intake
        intake.flush()
    except BaseException:
        intake.undo()
        raise
