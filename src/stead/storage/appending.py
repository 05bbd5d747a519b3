"""What a transaction of the journal does: rows written and chained, places fenced, payloads erased.

Layer: storage. Each function runs inside a transaction that ``writer`` or an opening owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from stead.domain.errors import Conflict, Fenced
from stead.domain.events import Draft, Event, SessionDeleted
from stead.domain.ids import SessionId
from stead.domain.ports import Claimed
from stead.storage import ledger, track_records
from stead.storage.archives import drop, sweep
from stead.storage.chain import GENESIS, commit_to, link
from stead.storage.codec import encode, tag_of
from stead.storage.database import Database, IntegrityError, transaction

if TYPE_CHECKING:
    from sqlite3 import Connection

_INSERT = """
    INSERT INTO events (seq, session, session_seq, ts_ms, actor, cause, tag, version, payload, salt, commitment, chain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_DELETED = tag_of(SessionDeleted)


class Sealed(NamedTuple):
    """A draft, encoded and committed to; all that can be done before its place is known."""

    draft: Draft
    tag: str
    version: int
    payload: bytes
    salt: bytes
    commitment: bytes


def seal(draft: Draft) -> Sealed:
    """Encode a draft and commit to it under a fresh salt."""
    tag, version, payload = encode(draft.body)
    return Sealed(draft, tag, version, payload, *commit_to(payload))


def write(connection: Connection, sealed: Sequence[Sealed], claim: Claimed | None) -> tuple[Event, ...]:
    """Write drafts and claim after the last row.

    Raises:
        Fenced, BudgetRefused, Conflict: as ``Journal.append``; the transaction is to be undone.
    """
    seq, chain = tip(connection)
    events = []
    places = {
        session: next_place(connection, session) for session in dict.fromkeys(one.draft.session for one in sealed)
    }
    for draft, tag, version, payload, salt, commitment in sealed:
        if draft.session_seq != (following := places[draft.session]):
            raise _fenced(draft, f"the next one is {following}")
        places[draft.session] += 1
        seq += 1
        header = (seq, draft.session, draft.session_seq, draft.ts_ms, draft.actor, draft.cause, tag, version)
        chain = link(chain, header, commitment)
        try:
            connection.execute(_INSERT, (*header, payload, salt, commitment, chain))
        except IntegrityError as error:
            raise _fenced(draft, "it is taken") from error
        ledger.record(connection, draft)
        track_records.record(connection, draft)
        if isinstance(draft.body, SessionDeleted):
            connection.execute("INSERT INTO erasures_due VALUES (?) ON CONFLICT DO NOTHING", (draft.session,))
        events.append(Event(seq, draft.session, draft.session_seq, draft.ts_ms, draft.actor, draft.cause, draft.body))
    if claim is not None:
        _claim(connection, claim, seq)
    return tuple(events)


def next_place(connection: Connection, session: SessionId) -> int:
    """The ``session_seq`` of the stream's next event."""
    (last,) = connection.execute(
        "SELECT coalesce(max(session_seq), 0) FROM events WHERE session = ?", (session,)
    ).fetchone()
    return int(last) + 1


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


def erase(connection: Connection, session: SessionId) -> int:
    """Take the payloads of a deleted stream away, its last event's apart; gives how many there were.

    Raises:
        Conflict: its last event does not say that it was deleted.
    """
    last = connection.execute(
        "SELECT session_seq, tag FROM events WHERE session = ? ORDER BY session_seq DESC LIMIT 1", (session,)
    ).fetchone()
    if last is None or last[1] != _DELETED:
        raise Conflict(f"no deletion of {session!r} is recorded as its last event; record that before erasing")
    connection.execute("DELETE FROM erasures_due WHERE session = ?", (session,))
    connection.execute("DELETE FROM snapshots WHERE session = ?", (session,))
    drop(connection, session)
    connection.execute("DELETE FROM replacements WHERE seq IN (SELECT seq FROM events WHERE session = ?)", (session,))
    connection.execute("UPDATE claims SET answer = '' WHERE session = ?", (session,))
    scrub_due(connection)
    return connection.execute(
        "UPDATE events SET payload = NULL, salt = NULL WHERE session = ? AND session_seq < ? AND payload IS NOT NULL",
        (session, last[0]),
    ).rowcount


def finish_erasures(database: Database) -> None:
    """Erase what was deleted before a crash and not erased after it, and empty the log of what was redacted."""
    with database.faults():
        connection = database.open()
        try:
            due = connection.execute("SELECT session FROM erasures_due").fetchall()
            with transaction(connection):
                for (session,) in due:
                    erase(connection, SessionId(session))
            (left,) = connection.execute("SELECT max(seq) FROM scrubs_due").fetchone()
            if left is not None:
                database.scrub()
                scrubbed(connection, left)
        finally:
            connection.close()
    sweep(database)


def scrub_due(connection: Connection) -> None:
    """Note that the write-ahead log is to be emptied of what this transaction takes away."""
    connection.execute("INSERT INTO scrubs_due VALUES (?) ON CONFLICT DO NOTHING", (tip(connection)[0],))


def scrubbed(connection: Connection, seq: int) -> None:
    """The log has been emptied of what was taken away up to this event."""
    connection.execute("DELETE FROM scrubs_due WHERE seq <= ?", (seq,))


def tip(connection: Connection) -> tuple[int, bytes]:
    """Seq and chain hash of the last row."""
    row = connection.execute("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, GENESIS)
