"""Events as they are read from the journal's file: any number of rows in one step of the database.

Layer: storage. The database's library gives up the interpreter's lock whenever it steps to a row, and beside a busy
event loop a thread waits for it again each time (ADR 0037). So a query's rows come as one JSON text.

Where words were forgotten, what replaces them is read in their place (``replacements``); what was moved into an archive
is read from there (``archives``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from stead.domain.errors import StorageFault
from stead.domain.events import Erased, Event
from stead.domain.ids import CommandId, SessionId
from stead.storage.archives import find
from stead.storage.chain import Row
from stead.storage.codec import decode
from stead.storage.database import Database

if TYPE_CHECKING:
    from sqlite3 import Connection

CHUNK_ROWS = 256
"""Rows that are read at once where they are checked."""

Actor = Literal["person", "model", "stead"]

THERE = "(e.payload IS NOT NULL OR EXISTS (SELECT 1 FROM replacements r WHERE r.seq = e.seq))"
"""A condition: the event has something to read in the journal's file."""

_READ = """
    SELECT CAST('[' || coalesce(group_concat(line), '') || ']' AS BLOB) FROM (
        SELECT '[' || json_array(
            e.seq, e.session, e.session_seq, e.ts_ms, e.actor, e.cause, e.tag,
            CASE WHEN e.payload IS NULL THEN (SELECT r.version FROM replacements r WHERE r.seq = e.seq)
                 ELSE e.version END
        ) || ',' || coalesce(
            e.payload, (SELECT r.payload FROM replacements r WHERE r.seq = e.seq), 'null'
        ) || ']' AS line
        FROM events e WHERE
"""


class Header(NamedTuple):
    """What is known of an event besides its body. ``version`` is None where nothing is left to read."""

    seq: int
    session: SessionId
    session_seq: int
    ts_ms: int
    actor: Actor
    cause: CommandId
    tag: str
    version: int | None


class EventRow(NamedTuple):
    """One event as it is kept."""

    header: Header
    payload: msgspec.Raw
    """JSON; ``null`` where it was erased."""

    def event(self) -> Event | Erased:
        """The event, decoded.

        Raises:
            StorageFault: it is damaged, or of a newer Stead.
        """
        seq, session, session_seq, ts_ms, actor, cause, tag, version = self.header
        if version is None:
            return Erased(seq, session, session_seq, ts_ms, tag)
        return Event(seq, session, session_seq, ts_ms, actor, cause, decode(tag, version, self.payload))


_rows = msgspec.json.Decoder(list[EventRow]).decode


def read(connection: Connection, where: str, parameters: Sequence[object]) -> list[EventRow]:
    """The events that a query finds, in its order.

    Args:
        connection: of the journal's file.
        where: what follows WHERE, with order and limit; the events' table is ``e``. A constant of the caller's.
        parameters: for the marks in it.

    Raises:
        StorageFault: one of them is damaged.
    """
    (found,) = connection.execute(f"{_READ} {where})", parameters).fetchone()
    try:
        rows = _rows(found)
        kept = find(connection, ((row.header.seq, row.header.session) for row in rows if row.header.version is None))
        return [_unpacked(connection, row, kept[row.header.seq][0]) if row.header.seq in kept else row for row in rows]
    except msgspec.DecodeError as error:
        raise StorageFault(f"an event of the journal cannot be read: {error}; restore a backup") from error


def _unpacked(connection: Connection, row: EventRow, payload: bytes) -> EventRow:
    """An event whose payload is in an archive, with it."""
    (version,) = connection.execute("SELECT version FROM events WHERE seq = ?", (row.header.seq,)).fetchone()
    return EventRow(row.header._replace(version=version), msgspec.Raw(payload))


_STORED = """
    SELECT seq, session, session_seq, ts_ms, actor, cause, tag, version, payload, salt, commitment, chain
    FROM events WHERE seq > ? ORDER BY seq LIMIT ?
"""


def stored_rows(database: Database, after: int = 0) -> Iterator[Row]:
    """Every row past an event in order, as it is stored. No transaction is open between the chunks that are read.

    Raises:
        StorageFault: the file is damaged.
    """
    while True:
        with database.reading() as connection:
            rows = [Row(*row) for row in connection.execute(_STORED, (after, CHUNK_ROWS))]
            kept = find(connection, ((row.seq, row.session) for row in rows if row.payload is None))
        for row in rows:
            payload, salt = kept.get(row.seq, (row.payload, row.salt))
            yield row._replace(payload=payload, salt=salt)
        if len(rows) < CHUNK_ROWS:
            return
        after = rows[-1][0]
