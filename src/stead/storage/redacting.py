"""Taking words out of single events: the payload goes, what is read instead is put beside it and committed to.

Layer: storage. Knows nothing of words: what stands in place of an event is handed in. All of it runs in one transaction
of the journal's writer, so that a crash leaves all the words or none; what is left to do then needs no words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from stead.domain.errors import Conflict, NotFound
from stead.domain.events import Body, Draft, Event
from stead.domain.forgetting import Redaction, Touches
from stead.domain.ids import SessionId
from stead.domain.memory import MEMORY
from stead.domain.memory_events import ContentRedacted, Redacted
from stead.domain.redacting import has
from stead.storage.appending import next_place, scrub_due, seal, write
from stead.storage.chain import SALT_BYTES
from stead.storage.codec import decode, encode, successor
from stead.storage.replacements import committed

if TYPE_CHECKING:
    from sqlite3 import Connection

_PUT = """
    INSERT INTO replacements VALUES (?, ?, ?, ?)
    ON CONFLICT (seq) DO UPDATE SET version = excluded.version, payload = excluded.payload, salt = excluded.salt
"""


class Replacement(NamedTuple):
    """What is read in place of an event. An empty tag: nothing is."""

    seq: int
    tag: str
    version: int
    payload: bytes
    salt: bytes
    commitment: str


def prepared(redaction: Redaction) -> list[Replacement]:
    """What is to be read instead, encoded and committed to, each under a fresh salt."""
    return [_replacement(seq, body) for seq, body in sorted(redaction.events.items())]


def redact(
    connection: Connection, redaction: Redaction, replacements: Iterable[Replacement], touches: Touches
) -> tuple[Event, ...]:
    """Take the payloads away, put the replacements there, and record it in every stream.

    Raises:
        Conflict, NotFound: as ``RedactableJournal.redact``; the transaction is to be undone.
    """
    _require_seen(connection, redaction.read, touches)
    streams: dict[SessionId, list[Redacted]] = {}
    for replacement in replacements:
        session = _replace(connection, replacement)
        streams.setdefault(session, []).append(Redacted(replacement.seq, replacement.commitment))
    facts: list[tuple[SessionId, Body]] = [(id, ContentRedacted(tuple(events))) for id, events in streams.items()]
    facts.append((MEMORY, redaction.begun))
    events: list[Event] = []
    actor: Literal["person", "stead"] = "person" if redaction.cause else "stead"
    for id, body in facts:
        draft = Draft(id, next_place(connection, id), redaction.ts_ms, actor, redaction.cause, body)
        events += write(connection, [seal(draft)], None)
    for id in streams:
        connection.execute("DELETE FROM snapshots WHERE session = ?", (id,))
    _blank_answers(connection, touches)
    scrub_due(connection)
    return tuple(events)


def _replacement(seq: int, body: Body | None) -> Replacement:
    if body is None:
        return Replacement(seq, "", 0, b"", b"", "")
    tag, version, payload = encode(body)
    salt = os.urandom(SALT_BYTES)
    return Replacement(seq, tag, version, payload, salt, committed(salt, version, payload))


def _require_seen(connection: Connection, read: int, touches: Touches) -> None:
    rows = connection.execute("SELECT seq, tag, version, payload FROM events WHERE seq > ?", (read,))
    for seq, tag, version, payload in rows:
        touched = payload is not None and touches(payload)
        if touched and has(decode(tag, version, payload), lambda it: touches(it.encode())):
            raise Conflict(f"event {seq} came meanwhile and has the words too; look for them again")


def _replace(connection: Connection, replacement: Replacement) -> SessionId:
    row = connection.execute("SELECT session, tag FROM events WHERE seq = ?", (replacement.seq,)).fetchone()
    if row is None or replacement.tag not in ("", successor(row[1])):
        raise NotFound(f"there is no event {replacement.seq} of the type {replacement.tag!r}; read the journal again")
    connection.execute("UPDATE events SET payload = NULL, salt = NULL WHERE seq = ?", (replacement.seq,))
    if replacement.tag:
        connection.execute(_PUT, (replacement.seq, replacement.version, replacement.payload, replacement.salt))
    else:
        connection.execute("DELETE FROM replacements WHERE seq = ?", (replacement.seq,))
    return SessionId(row[0])


def _blank_answers(connection: Connection, touches: Touches) -> None:
    rows = connection.execute("SELECT id, answer FROM claims WHERE answer <> ''").fetchall()
    named = [(id,) for id, text in rows if touches(text.encode())]
    connection.executemany("UPDATE claims SET answer = '' WHERE id = ?", named)
