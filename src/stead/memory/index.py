"""The index of one place: what is remembered there, in a form in which it can be found.

Layer: memory. One encrypted file a place, derived from the journal and rebuilt from it at any time. A file of its own,
because how rare a word is must not tell one place what another one holds. What is removed leaves no byte in it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stead.domain.embedding import VectorBytes
from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Level, MemoryRow, PlaceId
from stead.domain.memory_ports import RowsWanted
from stead.domain.policies import Confidentiality
from stead.memory import listing
from stead.memory.index_file import Awake, IndexFile
from stead.memory.writing import Table, Used, Writing
from stead.storage.database import Connect, connect

if TYPE_CHECKING:
    from sqlite3 import Connection

_PIECE = 5_000


class Changes(msgspec.Struct, frozen=True):
    """What became of a place, in the order in which it is taken in.

    Args:
        removed: refs that are to leave no trace; others than there are do no harm.
        rows: memories as they are now; one that is there already takes its own place.
        episodes: turns that are new; one that is there already is left as it is.
        used: memories that models were told of.
        unsaid: sessions that the journal has no more; what they were told is not counted any more.
        failed: refs of turns whose run came to nothing; they are not recalled, and can still be learned from.
    """

    removed: Sequence[str] = ()
    rows: Sequence[MemoryRow] = ()
    episodes: Sequence[Episode] = ()
    used: Sequence[Used] = ()
    unsaid: Sequence[SessionId] = ()
    failed: Sequence[str] = ()


class Progress(msgspec.Struct, frozen=True):
    """How far an index has come: the last event taken in, and its chain hash, b"" for none."""

    seq: int
    chain: bytes


class Unembedded(msgspec.Struct, frozen=True):
    """A text without a vector: where it stands, under which number, and how confidential it is."""

    item: int
    table: Table
    text: str
    held: Confidentiality


class Counts(msgspec.Struct, frozen=True):
    """How much there is: memories that are live, turns, and of both how many have a vector of a model."""

    memories: int
    episodes: int
    embedded: int


class Index:
    """Safe to call from several threads; writers wait for each other, readers for nobody.

    Args:
        path: the file; its folder exists.
        key: 32 bytes.
        place: whose.
        connect: how connections are made.
        awake: with which others it shares what may be open; nothing for one alone.

    Every method raises ``StorageFault`` when the file cannot be read or written; after ``Damaged`` its owner drops it,
    and the one that is opened then is new.
    """

    def __init__(
        self, path: Path, key: bytes, place: PlaceId, *, connect: Connect = connect, awake: Awake | None = None
    ) -> None:
        self.place = place
        self.name = f"{place}.{secrets.token_hex(4)}"
        """For whoever keeps copies of the vectors: another one when it is opened again, with other numbers perhaps."""
        self._file = IndexFile(path, key, connect, awake or Awake())
        self._lock = threading.Lock()  # held by whoever reads or writes what follows
        self._void: set[int] = set()
        self._taken = 0
        self._full = ("", -1)  # for which model nothing lacked a vector, and after how many takings-in

    # -- keeping up -----------------------------------------------------------------------------------------------

    @property
    def damaged(self) -> bool:
        """Whether it was found to be of no use any more, by whoever read or wrote it."""
        return self._file.damaged

    @property
    def progress(self) -> Progress:
        """How far it has come; (0, b"") when it is new, or was damaged and so is new again."""
        with self.reading() as connection:
            return Progress(*connection.execute("SELECT seq, chain FROM progress").fetchone())

    def take(self, changes: Changes, upto: int, chain: bytes = b"") -> tuple[int, ...]:
        """Take changes in, all of them or none, and note how far that is; gives the items whose vectors are void."""
        with self._file.writing() as connection:
            writing = Writing(connection, self.place)
            writing.remove(changes.removed)
            for row in changes.rows:
                writing.put_row(row)
            for episode in changes.episodes:
                writing.put_episode(episode)
            writing.note_used(changes.used)
            writing.forget_uses(changes.unsaid)
            writing.mark_failed(changes.failed)
            connection.execute("UPDATE progress SET seq = ?, chain = ?", (upto, chain))
        if changes.removed:  # also when they are gone already: a kill may have come before this line
            self._file.scrub()
        with self._lock:
            self._void.update(writing.void)
            self._taken += 1
        return tuple(writing.void)

    def voided(self) -> set[int]:
        """Items that are gone or have another text since this was asked last: copies of their vectors are to go."""
        with self._lock:
            void, self._void = self._void, set()
        return void

    def void_again(self, items: set[int]) -> None:
        """Take back what ``voided`` gave: the copies are there still."""
        with self._lock:
            self._void |= items

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, VectorBytes]]) -> set[int]:
        """Keep vectors of items, and none of any other model; gives the items that are there still, the others' go."""
        with self._file.writing() as connection:
            return Writing(connection, self.place).put_vectors(model, vectors)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # -- reading --------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Borrow a connection that only reads; keep it short."""
        with self._file.reading() as connection:
            yield connection

    def row(self, ref: str) -> MemoryRow | None:
        """A memory, whatever became of it."""
        with self.reading() as connection:
            return listing.row(connection, ref)

    def episode(self, ref: str) -> Episode | None:
        """A turn."""
        with self.reading() as connection:
            return next(listing.episodes(connection, "ref = ?", (ref,)), None)

    def episodes(self, session: SessionId) -> tuple[Episode, ...]:
        """A session's turns, in order."""
        with self.reading() as connection:
            return tuple(listing.episodes(connection, "session = ? AND source <> 'memory'", (session,)))

    def alike(self, level: Level, text: str, key: str, after_ms: int | None = None) -> tuple[MemoryRow, ...]:
        """See ``domain.memory_ports.Remembered``; the newest last of each kind."""
        with self.reading() as connection:
            return listing.alike(connection, level, text, key, after_ms)

    def rows(self, wanted: RowsWanted) -> tuple[tuple[MemoryRow, ...], str]:
        """A page of memories, newest first, and the cursor of the next one, "" for none; ``wanted.place`` is ours."""
        with self.reading() as connection:
            return listing.rows(connection, wanted)

    def counts(self, model: str) -> Counts:
        """How much there is."""
        with self.reading() as connection:
            return Counts(*listing.counts(connection, model))

    def holds_vectors(self, model: str) -> bool:
        """Whether anything has a vector of this model."""
        with self.reading() as connection:
            return listing.has_vectors(connection, model)

    def unembedded(self, model: str, limit: int) -> tuple[Unembedded, ...]:
        """Texts that have no vector of this model, memories and then the newest turns first."""
        with self.reading() as connection:
            order = tuple(Confidentiality)
            return tuple(
                Unembedded(item, "known" if memory else "said", text, order[held])
                for item, memory, text, held in listing.bare(connection, model, limit)
            )

    def is_bare(self, model: str) -> bool:
        """Whether a text has no vector of this model; nothing is read when nothing was taken in since every one had."""
        with self._lock:
            now = (model, self._taken)
            if self._full == now:
                return False
        bare = bool(self.unembedded(model, 1))
        with self._lock:
            self._full = self._full if bare else now
        return bare

    def vectors(self, model: str, table: Table) -> Iterator[list[tuple[int, VectorBytes]]]:
        """Every vector of a model, of memories or of turns, in pieces, for whoever compares them."""
        after = -1
        while True:
            with self.reading() as connection:
                piece = connection.execute(
                    "SELECT v.item, v.vector FROM progress p CROSS JOIN vectors v JOIN items i ON i.id = v.item "
                    "WHERE p.model = ? AND v.item > ? AND (i.source = 'memory') = ? ORDER BY v.item LIMIT ?",
                    (model, after, table == "known", _PIECE),
                ).fetchall()
            if not piece:
                return
            yield [(item, VectorBytes(vector)) for item, vector in piece]
            after = piece[-1][0]
