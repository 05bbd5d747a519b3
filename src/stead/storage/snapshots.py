"""Folded states of long sessions, kept with the journal and never trusted over it.

Layer: storage. Does not know what a state is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.storage.database import Database
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection


class SnapshotTable:
    """The newest snapshot of each session. Implements ``domain.ports.Snapshots``."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    def load(self, session: SessionId) -> tuple[int, bytes] | None:
        """(session_seq, state), if the event there still has the chain hash that it had.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT s.session_seq, s.state FROM snapshots s JOIN events e "
                "ON e.session = s.session AND e.session_seq = s.session_seq AND e.chain = s.chain WHERE s.session = ?",
                (session,),
            ).fetchone()
        return (row[0], row[1]) if row else None

    async def save(self, session: SessionId, session_seq: int, state: bytes) -> None:
        """Keep it in place of the older one.

        Raises:
            NotFound: there is no such event.
            StorageFault: it was not written.
        """

        def work(connection: Connection) -> None:
            event = connection.execute(
                "SELECT chain FROM events WHERE session = ? AND session_seq = ?", (session, session_seq)
            ).fetchone()
            if event is None:
                raise NotFound(f"{session!r} has no event {session_seq}; snapshot only what is recorded")
            connection.execute("DELETE FROM snapshots WHERE session = ?", (session,))
            connection.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", (session, session_seq, event[0], state))

        await self._writer.submit(work)
