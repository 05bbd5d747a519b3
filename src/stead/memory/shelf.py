"""The indexes of a home and the directory of them: opened together, kept up with the journal together.

Layer: memory. Every read first takes in what has been recorded since the last one, so that what was said is found as
soon as it is durable, and whoever writes never waits for an index. A file that is missing, damaged or of another
journal is made anew from the journal, together with all others, whenever that is found out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from stead.domain.errors import NotFound, WrongKey
from stead.domain.events import Erased, Event, SessionDeleted
from stead.domain.ids import SessionId
from stead.domain.memory import MEMORY, MemoryId, MemoryRow, PlaceId
from stead.memory.directory import Directory, note
from stead.memory.evidence import taints
from stead.memory.feed import Feed
from stead.memory.index import Index
from stead.memory.index_file import Awake
from stead.storage.database import Connect, Damaged, connect
from stead.storage.journal import JournalFile

CHUNK_EVENTS = 500
_Read = TypeVar("_Read")
_log = logging.getLogger(__name__)


class Shelf:
    """Safe to call from several threads.

    Args:
        root: the folder of the files; made if it is not there.
        key: 32 bytes.
        record: the truth.
        model: names the vectors that count, "" for none.
        connect: how connections are made.

    Every method raises ``StorageFault`` when a file cannot be read or written.
    """

    def __init__(
        self, root: Path, key: bytes, record: JournalFile, *, model: str = "", connect: Connect = connect
    ) -> None:
        self._root = root
        self._key = key
        self._record = record
        self._model = model
        self._connect = connect
        self._lock = threading.RLock()
        self._awake = Awake()
        self._indexes: dict[PlaceId, Index] = {}
        self._places: set[PlaceId] = set()  # that have an index, opened already or not
        self._opened: Directory | None = None

    # -- keeping up -----------------------------------------------------------------------------------------------

    def catch_up(self) -> int:
        """Take in every event since the last one taken in; gives how many. Every read does this first."""
        with self._lock:
            if any(index.damaged for index in self._indexes.values()):
                self._drop_all("one was found to be damaged")
            return self._mending(self._follow)

    def rebuild(self) -> int:
        """Drop every file and replay the journal; gives how many events that were."""
        with self._lock:
            self._drop_all("that was asked for")
            return self.catch_up()

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()
            self._places.clear()
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def index(self, place: PlaceId) -> Index | None:
        """A place's index, up to date; nothing when there is nothing."""
        with self._lock:
            self.catch_up()
            return self._mending(lambda: self._index(place)) if place in self._places else None

    @contextmanager
    def changing(self) -> Iterator[tuple[Directory, Callable[[PlaceId], Index], tuple[int, bytes]]]:
        """The directory, the index of a place, and how far they have come; nobody else reads or writes meanwhile."""
        with self._lock:
            self.catch_up()
            seq, chain, _ = self._directory.progress
            yield self._directory, self._index, (seq, chain)

    def event(self, seq: int) -> Event | Erased | None:
        """An event of the journal, if there is one of this number."""
        event = next(iter(self._record.events(after=seq - 1)), None)
        return event if event is not None and event.seq == seq else None

    # -- inside ---------------------------------------------------------------------------------------------------

    def _read(self, step: Callable[[Directory], _Read]) -> _Read:
        """Read the directory, caught up, and indexes with it while nobody else does."""
        with self._lock:
            self.catch_up()
            return self._mending(lambda: step(self._directory))

    def _in(self, place: PlaceId, step: Callable[[Index], _Read], without: _Read) -> _Read:
        """Read the index of a place, caught up; nobody waits for it."""
        index = self.index(place)
        try:
            return step(index) if index is not None else without
        except Damaged:
            index = self.index(place)  # a new one
            return step(index) if index is not None else without

    def _mending(self, step: Callable[[], _Read]) -> _Read:
        """Do something under the lock; if a file is found to be damaged, make all of them anew and do it again."""
        try:
            return step()
        except (Damaged, WrongKey) as error:
            self._drop_all(error)
            self._follow()
            return step()

    def _follow(self) -> int:
        count = 0
        while self._directory.reached < self._record.head():
            count += self._take_chunk()
        return count

    def _take_chunk(self) -> int:
        events = list(islice(self._record.events(after=self._directory.reached), CHUNK_EVENTS))
        feed = Feed(self._row_in, self._place_of, self._turns)
        with self._directory.writing() as connection:
            for event in events:
                if isinstance(event, Erased):
                    continue
                known = None if event.session == MEMORY else self._directory.session(event.session)
                if isinstance(event.body, SessionDeleted):
                    feed.take(event, known)
                    note(connection, event, known)
                else:
                    note(connection, event, known)
                    feed.take(event, known or self._directory.session(event.session))
                if known and not known.tainted and taints(event):
                    connection.execute("UPDATE sessions SET tainted = 1 WHERE session = ?", (event.session,))
            if events:
                last = events[-1].seq
                chain = self._record.chain_at(last)
                for place, changes in feed.changes().items():
                    self._index(place).take(changes, last, chain)
                connection.execute("UPDATE progress SET seq = ?, chain = ?", (last, chain))
        self._directory.reached = events[-1].seq if events else self._directory.reached
        return len(events)

    def _row_in(self, place: PlaceId, id: MemoryId) -> MemoryRow | None:
        return self._index(place).row(id)

    def _place_of(self, id: MemoryId) -> PlaceId | None:
        try:
            return self._directory.place_of(id)
        except NotFound:
            return None

    def _turns(self, place: PlaceId, session: SessionId) -> tuple[str, ...]:
        return tuple(f"e_{turn.seq}" for turn in self._index(place).episodes(session))

    def _index(self, place: PlaceId) -> Index:
        if place not in self._indexes:
            index = Index(self._path(place), self._key, place, connect=self._connect, awake=self._awake)
            if place in self._places and not index.progress.seq:
                index.close()
                raise Damaged(f"{str(self._path(place))!r} had to be begun anew")
            self._indexes[place] = index
            self._places.add(place)
        return self._indexes[place]

    def _path(self, place: PlaceId) -> Path:
        return self._root / f"{place}.db"

    @property
    def _directory(self) -> Directory:
        if self._opened is None:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._opened = self._open()
        return self._opened

    def _open(self) -> Directory:
        """Open all files; if one does not fit the journal or this version, every one is begun anew."""
        try:
            opened = Directory(self._root / "directory.db", self._key, self._connect)
            seq, chain, current = opened.progress
            places = {place for place, _, _ in opened.places()}
            whole = all(self._path(place).exists() for place in places)  # what is in them is seen when they are opened
            if current and self._record.chain_at(seq) == chain and whole:
                self._places = places
                return opened
            opened.close()
            why = "they do not fit the journal or this version"
        except (Damaged, WrongKey) as error:
            why = str(error)
        self._drop_all(why)
        return Directory(self._root / "directory.db", self._key, self._connect)

    def _drop_all(self, why: object) -> None:
        _log.warning("the indexes of what is remembered are begun anew: %s", why)
        self.close()
        for file in self._root.glob("*.db*"):
            file.unlink()
