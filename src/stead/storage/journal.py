"""The append-only record of a home: one encrypted file, one writer, one chain.

Layer: storage. Gives every event its place and makes it durable; what events mean is not known here, except to the
ledger, which must charge a model request in the same transaction that records it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from stead.domain.commands import Answer
from stead.domain.errors import Conflict, Fenced
from stead.domain.events import Budget, Draft, Erased, Event, SessionDeleted, Spend
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Claimed
from stead.domain.rows import UsageRow
from stead.storage import ledger
from stead.storage.chain import GENESIS, ChainReport, Row, commit_to, link, verify
from stead.storage.codec import decode, encode, tag_of
from stead.storage.database import Connect, Database, IntegrityError, connect
from stead.storage.keys import Keys
from stead.storage.migrate import migrate
from stead.storage.snapshots import SnapshotTable
from stead.storage.vault import Vault
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection

CHUNK_ROWS = 256
_INSERT = """
    INSERT INTO events (seq, session, session_seq, ts_ms, actor, cause, tag, version, payload, salt, commitment, chain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_READ_ALL = """
    SELECT seq, session, session_seq, ts_ms, actor, cause, tag, version, payload
    FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?
"""
_READ_STREAM = """
    SELECT seq, session, session_seq, ts_ms, actor, cause, tag, version, payload
    FROM events WHERE session = ? AND session_seq > ? AND seq <= ? ORDER BY session_seq LIMIT ?
"""
_READ_ROWS = """
    SELECT seq, session, session_seq, ts_ms, actor, cause, tag, version, payload, salt, commitment, chain
    FROM events WHERE seq > ? ORDER BY seq LIMIT ?
"""
_DELETED = tag_of(SessionDeleted)


def open_journal(path: Path, keys: Keys, *, connect: Connect = connect) -> JournalFile:
    """Open a home's journal, made or brought up to date as needed. Close it when done.

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
    except BaseException:
        database.close()
        raise
    return JournalFile(database, keys.vault)


class _Sealed(NamedTuple):
    draft: Draft
    tag: str
    version: int
    payload: bytes
    salt: bytes
    commitment: bytes


class JournalFile:
    """Implements ``domain.ports.Journal``; ``open_journal`` makes it.

    Appends and erasures come from event loops; everything else may be called from any thread.

    Args:
        database: open, at the current schema.
        vault_key: 32 bytes.
    """

    def __init__(self, database: Database, vault_key: bytes) -> None:
        self._database = database
        self._writer = Writer(database, "stead-journal")
        self.snapshots = SnapshotTable(database, self._writer)
        self.vault = Vault(database, self._writer, vault_key)

    async def append(self, drafts: Sequence[Draft], *, claim: Claimed | None = None) -> tuple[Event, ...]:
        """Write all drafts and the claim, or nothing, in one transaction; on the disk when it returns.

        If the wait is given up, the events are written all the same.

        Raises:
            Fenced: a ``session_seq`` is not the next one of its stream.
            BudgetRefused: the home's daily cap would be passed.
            Conflict: the claim's id is taken, or a model request's number.
            StorageFault: the disk is full or the database is damaged; nothing was written.
        """
        sealed = [_seal(draft) for draft in drafts]
        return await self._writer.submit(lambda connection: _append(connection, sealed, claim))

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
                    rows = connection.execute(_READ_ALL, (last, head, CHUNK_ROWS)).fetchall()
                else:
                    rows = connection.execute(_READ_STREAM, (session, last, head, CHUNK_ROWS)).fetchall()
            for row in rows:
                yield _event(row)
            if len(rows) < CHUNK_ROWS:
                return
            last = rows[-1][0] if session is None else rows[-1][2]

    def head(self) -> int:
        """The seq of the last event, 0 when there is none.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            return _tip(connection)[0]

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

        Done again, it does what was left undone; the chain stays whole. Gives how many payloads were there.

        Raises:
            Conflict: the stream's last event does not say that it was deleted.
            StorageFault: it was not written, or the write-ahead log could not be emptied; erase again.
        """
        count = await self._writer.submit(lambda connection: _erase(connection, session))
        await self._scrub()
        return count

    def spent(self, day: str) -> Spend:
        """What all sessions spent on a UTC day (``YYYY-MM-DD``), open reservations included."""
        with self._database.reading() as connection:
            return ledger.spent(connection, day)

    def cap(self) -> Budget:
        """What all sessions together may spend in a UTC day."""
        with self._database.reading() as connection:
            return ledger.cap(connection)

    def usage(self, since: str) -> list[UsageRow]:
        """What each model used on each UTC day from ``since`` (``YYYY-MM-DD``) on, newest first."""
        with self._database.reading() as connection:
            return ledger.usage(connection, since)

    def chain_at(self, seq: int) -> bytes:
        """The chain hash of an event, by which a reader knows that it goes on in the same journal; b"" for none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT chain FROM events WHERE seq = ?", (seq,)).fetchone()
        return row[0] if row else b""

    def verify_chain(self) -> ChainReport:
        """Check every row against its payload and its neighbours."""
        return verify(self._rows())

    def close(self) -> None:
        """Write what is queued and close the file.

        Raises:
            StorageFault: the disk did not take it in time.
        """
        try:
            self._writer.close()
        finally:
            self._database.close()

    async def _scrub(self) -> None:
        await asyncio.to_thread(self._database.scrub)

    def _before(self, session: SessionId, seq: int) -> int:
        """The ``session_seq`` of the stream's last event up to ``seq``; found from the end, where readers stand."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT session_seq FROM events WHERE session = ? AND seq <= ? ORDER BY session_seq DESC LIMIT 1",
                (session, seq),
            ).fetchone()
        return row[0] if row else 0

    def _rows(self) -> Iterator[Row]:
        seq = 0
        while True:
            with self._database.reading() as connection:
                rows = connection.execute(_READ_ROWS, (seq, CHUNK_ROWS)).fetchall()
            yield from map(Row._make, rows)
            if len(rows) < CHUNK_ROWS:
                return
            seq = rows[-1][0]


def _seal(draft: Draft) -> _Sealed:
    tag, version, payload = encode(draft.body)
    return _Sealed(draft, tag, version, payload, *commit_to(payload))


def _append(connection: Connection, sealed: Sequence[_Sealed], claim: Claimed | None) -> tuple[Event, ...]:
    seq, chain = _tip(connection)
    events = []
    for draft, tag, version, payload, salt, commitment in sealed:
        _require_next(connection, draft)
        seq += 1
        header = (seq, draft.session, draft.session_seq, draft.ts_ms, draft.actor, draft.cause, tag, version)
        chain = link(chain, header, commitment)
        try:
            connection.execute(_INSERT, (*header, payload, salt, commitment, chain))
        except IntegrityError as error:
            raise _fenced(draft, "it is taken") from error
        ledger.record(connection, draft)
        events.append(Event(seq, draft.session, draft.session_seq, draft.ts_ms, draft.actor, draft.cause, draft.body))
    if claim is not None:
        _claim(connection, claim, seq)
    return tuple(events)


def _require_next(connection: Connection, draft: Draft) -> None:
    (last,) = connection.execute(
        "SELECT coalesce(max(session_seq), 0) FROM events WHERE session = ?", (draft.session,)
    ).fetchone()
    if draft.session_seq != last + 1:
        raise _fenced(draft, f"the next one is {last + 1}")


def _fenced(draft: Draft, why: str) -> Fenced:
    return Fenced(
        f"place {draft.session_seq} of {draft.session!r} cannot be written, {why}: another runner works on it; "
        "drop this one's state and read the session again"
    )


def _claim(connection: Connection, claim: Claimed, seq: int) -> None:
    answer = claim.answer
    try:
        connection.execute(
            "INSERT INTO claims (id, digest, session, seq, answer) VALUES (?, ?, ?, ?, ?)",
            (claim.id, claim.digest, answer.session, seq, answer.text),
        )
    except IntegrityError as error:
        raise Conflict(f"the command id {claim.id!r} was used before; read its answer, or take a new id") from error


def _erase(connection: Connection, session: SessionId) -> int:
    last = connection.execute(
        "SELECT session_seq, tag FROM events WHERE session = ? ORDER BY session_seq DESC LIMIT 1", (session,)
    ).fetchone()
    if last is None or last[1] != _DELETED:
        raise Conflict(f"no deletion of {session!r} is recorded as its last event; record that before erasing")
    connection.execute("DELETE FROM snapshots WHERE session = ?", (session,))
    connection.execute("UPDATE claims SET answer = '' WHERE session = ?", (session,))
    return connection.execute(
        "UPDATE events SET payload = NULL, salt = NULL WHERE session = ? AND session_seq < ? AND payload IS NOT NULL",
        (session, last[0]),
    ).rowcount


def _tip(connection: Connection) -> tuple[int, bytes]:
    """Seq and chain hash of the last row."""
    row = connection.execute("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, GENESIS)


def _event(row: tuple[int, str, int, int, str, str, str, int, bytes | None]) -> Event | Erased:
    seq, session, session_seq, ts_ms, actor, cause, tag, version, payload = row
    if payload is None:
        return Erased(seq, SessionId(session), session_seq, ts_ms, tag)
    known = cast("Literal['person', 'model', 'stead']", actor)
    body = decode(tag, version, payload)
    return Event(seq, SessionId(session), session_seq, ts_ms, known, CommandId(cause), body)
