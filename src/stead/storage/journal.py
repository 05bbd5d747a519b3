"""The append-only record of a home: one encrypted file, one writer, one chain.

Layer: storage. Gives every event its place and makes it durable; what events mean is not known here, except to the
ledger, which must charge a model request in the same transaction that records it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stead.domain.commands import Answer
from stead.domain.errors import StorageFault
from stead.domain.events import Draft, Erased, Event, Spend
from stead.domain.forgetting import Redaction, Touches
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Claimed
from stead.domain.rows import UsageBy, UsagePer, UsageRow
from stead.storage import archives, ledger
from stead.storage.appending import erase, finish_erasures, scrub_due, scrubbed, seal, tip, write
from stead.storage.chain import ChainReport, verify
from stead.storage.database import Connect, Database, connect
from stead.storage.decisions import DecisionLog
from stead.storage.event_rows import read, stored_rows
from stead.storage.heads import HeadTable
from stead.storage.keys import Keys
from stead.storage.migrate import migrate
from stead.storage.redacting import prepared, redact
from stead.storage.replacement_audit import wrong_replacements
from stead.storage.snapshots import SnapshotTable
from stead.storage.tagged import TaggedEvents
from stead.storage.track_records import TrackRecordTable
from stead.storage.vault import Vault
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection

CHUNK_ROWS = 128
_ALL = "e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?"
_STREAM = "e.session = ? AND e.session_seq > ? AND e.seq <= ? ORDER BY e.session_seq LIMIT ?"


def open_journal(path: Path, keys: Keys, *, connect: Connect = connect) -> JournalFile:
    """Open a home's journal, made or brought up to date as needed; erasures that a crash cut off are finished.

    Args:
        path: the file; its folder exists. Copies made before an upgrade go to ``backups`` beside it.
        keys: the home's.
        connect: how connections are made.

    Raises:
        WrongKey: the file belongs to another key.
        StorageFault: it is foreign, damaged, of a newer Stead, or cannot be written.
    """
    database = Database(path, keys.database, connect)
    try:
        migrate(database, path.parent / "backups")
        finish_erasures(database)
    except BaseException:
        database.close()
        raise
    return JournalFile(database, keys)


class JournalFile:
    """Implements ``domain.ports.Journal``; ``open_journal`` makes it.

    Appends and erasures come from event loops; everything else may be called from any thread.

    Args:
        database: open, at the current schema.
        keys: the home's.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._seed = keys.audit
        self._writer = Writer(database, "stead-journal")
        self.snapshots = SnapshotTable(database, self._writer)
        self.vault = Vault(database, self._writer, keys.vault)
        self.heads = HeadTable(database, self._writer, keys.audit)
        self.decisions = DecisionLog(database)
        self.track_records = TrackRecordTable(database)
        self.tagged = TaggedEvents(database)
        self.on_growth: Callable[[int], None] | None = None
        """Told the seq of the last event after each append."""

    async def append(self, drafts: Sequence[Draft], *, claim: Claimed | None = None) -> tuple[Event, ...]:
        """Write all drafts and the claim, or nothing, in one transaction; on the disk when it returns.

        If the wait is given up, the events are written all the same.

        Raises:
            Fenced: a ``session_seq`` is not the next one of its stream.
            BudgetRefused: the home's daily cap would be passed.
            Conflict: the claim's id is taken, or a model request's number.
            StorageFault: the disk is full or the database is damaged; nothing was written.
        """
        sealed = [seal(draft) for draft in drafts]
        events = await self._writer.submit(lambda connection: write(connection, sealed, claim))
        if events and self.on_growth:
            self.on_growth(events[-1].seq)
        return events

    def events(self, *, after: int = 0, session: SessionId | None = None) -> Iterator[Event | Erased]:
        """Events with ``seq > after`` up to the head at the first step, in order; of one stream if named.

        Rows come in chunks, and no transaction is open between them: an iterator may be kept or dropped at will.

        Raises:
            StorageFault: the file cannot be read, or an event is of a newer Stead.
        """
        head = self.head()
        last = after if session is None else self._before(session, after)
        while True:
            with self._database.reading() as connection:
                if session is None:
                    rows = read(connection, _ALL, (last, head, CHUNK_ROWS))
                else:
                    rows = read(connection, _STREAM, (session, last, head, CHUNK_ROWS))
            for row in rows:
                yield row.event()
            if len(rows) < CHUNK_ROWS:
                return
            last = rows[-1].header.seq if session is None else rows[-1].header.session_seq

    def head(self) -> int:
        """The seq of the last event, 0 when there is none.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            return tip(connection)[0]

    def claimed(self, command: CommandId) -> Claimed | None:
        """What was answered to this id, if anything was.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT digest, session, seq, answer FROM claims WHERE id = ?", (command,)
            ).fetchone()
        if row is None:
            return None
        digest, session, seq, text = row
        return Claimed(command, digest, Answer(command, SessionId(session), seq, text))

    async def erase(self, session: SessionId) -> int:
        """Delete payload and salt of every event of the stream but its last, and what was derived from them.

        The chain stays whole. If a crash comes before it is done, the next opening does it. Gives how many there were.

        Raises:
            Conflict: the stream's last event does not say that it was deleted.
            StorageFault: it was not written, or the write-ahead log could not be emptied; erase again.
        """
        count, head = await self._writer.submit(lambda connection: (erase(connection, session), tip(connection)[0]))
        await self._scrub(head)
        return count

    async def archive(self, session: SessionId) -> int:
        """Move the payloads of a stream into an archive, where readers find them; gives how many there were.

        Raises:
            StorageFault: the disk did not take it; the payloads are where they were.
        """
        folder = archives.folder_of(self._database.path)

        def work(connection: Connection) -> tuple[int, int]:
            try:
                count = archives.move(connection, folder, self._seed, session)
            except OSError as error:
                raise StorageFault(f"no archive can be written to {str(folder)!r}: {error.strerror}") from error
            if count:
                scrub_due(connection)
            return count, tip(connection)[0]

        count, head = await self._writer.submit(work)
        if count:
            await self._scrub(head)
        return count

    def archived(self) -> list[archives.Archive]:
        """What has been moved into archives.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            return archives.listed(connection)

    def touched(self, touches: Touches) -> Iterator[Event]:
        """See ``domain.forgetting.RedactableJournal``; only what has the words is decoded."""
        head, last = self.head(), 0
        while last < head:
            with self._database.reading() as connection:
                rows = read(connection, _ALL, (last, head, CHUNK_ROWS))
            for row in rows:
                if row.header.version is not None and touches(bytes(row.payload)):
                    event = row.event()
                    assert isinstance(event, Event)
                    yield event
            last = rows[-1].header.seq if rows else head

    async def redact(self, redaction: Redaction, touches: Touches) -> tuple[Event, ...]:
        """See ``domain.forgetting.RedactableJournal``."""
        replacements = await asyncio.to_thread(prepared, redaction)
        folder = archives.folder_of(self._database.path)

        def work(connection: Connection) -> tuple[Event, ...]:
            events = redact(connection, redaction, replacements, touches)
            archives.take_out(connection, folder, self._seed, redaction.events.keys())
            return events

        events = await self._writer.submit(work)
        if self.on_growth:
            self.on_growth(events[-1].seq)
        await self._scrub(events[-1].seq)
        return events

    def usage(self, since: str, until: str = "9", by: UsageBy = "model", per: UsagePer = "day") -> list[UsageRow]:
        """What each model used on the days (``YYYY-MM-DD``) from ``since`` to ``until``; see ``ledger.usage``."""
        with self._database.reading() as connection:
            return ledger.usage(connection, since, until, by, per)

    def spent(self, period: str, channel: str = "", *, settled: bool = False) -> Spend:
        """What was spent on a day or in a month; see ``ledger.spent``."""
        with self._database.reading() as connection:
            return ledger.spent(connection, period, channel, settled=settled)

    def place_of(self, session: SessionId) -> int:
        """The ``session_seq`` of a stream's last event, 0 for none."""
        return self._before(session, 2**62)

    def chain_at(self, seq: int) -> bytes:
        """The chain hash of an event, by which a reader knows that it goes on in the same journal; b"" for none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT chain FROM events WHERE seq = ?", (seq,)).fetchone()
        return row[0] if row else b""

    def verify_chain(self) -> ChainReport:
        """Check every row against its payload and its neighbours, and what is read in place of those that are gone."""
        report = verify(stored_rows(self._database))
        wrong = wrong_replacements(self._database, report.redacted, report.head)
        return report._replace(faults=(*report.faults, *wrong))

    def close(self) -> None:
        """Write what is queued and close the file.

        Raises:
            StorageFault: the disk did not take it in time.
        """
        try:
            self._writer.close()
        finally:
            self._database.close()

    async def _scrub(self, seq: int) -> None:
        """Empty the log of what was erased or redacted up to an event."""
        await asyncio.to_thread(self._database.scrub)
        await asyncio.to_thread(archives.sweep, self._database)
        await self._writer.submit(lambda connection: scrubbed(connection, seq))

    def _before(self, session: SessionId, seq: int) -> int:
        """The ``session_seq`` of the stream's last event up to ``seq``; found from the end, where readers stand."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT session_seq FROM events WHERE session = ? AND seq <= ? ORDER BY session_seq DESC LIMIT 1",
                (session, seq),
            ).fetchone()
        return row[0] if row else 0
