"""Events of some types, found without reading the others.

Layer: storage.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.events import Event
from stead.storage.database import Database
from stead.storage.event_rows import CHUNK_ROWS, read

_HEAD = "SELECT coalesce(max(seq), 0) FROM events"


class TaggedEvents:
    """Reads the journal by the types of events.

    Args:
        database: the journal's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def after(self, seq: int, tags: Sequence[str]) -> tuple[list[Event], int]:
        """Events of these types past one, in order, some hundreds at most; and up to where was looked.

        Raises:
            StorageFault: the file cannot be read.
        """
        where = f"e.seq > ? AND e.seq <= ? AND e.tag IN ({', '.join('?' for _ in tags)}) ORDER BY e.seq LIMIT ?"
        with self._database.reading() as connection:
            head = int(connection.execute(_HEAD).fetchone()[0])
            rows = read(connection, where, (seq, head, *tags, CHUNK_ROWS))
        found = [event for row in rows if isinstance(event := row.event(), Event)]
        return found, rows[-1].header.seq if len(rows) == CHUNK_ROWS else head
