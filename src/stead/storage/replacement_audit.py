"""Whether what is read in the place of forgotten words is what was recorded when they were forgotten.

Layer: storage. It reads, and decides nothing while Stead runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stead.domain.memory_events import ContentRedacted
from stead.storage.chain import redactions
from stead.storage.codec import tag_of
from stead.storage.database import Database
from stead.storage.replacements import committed

if TYPE_CHECKING:
    from sqlite3 import Connection

_LATER = f"SELECT payload FROM events WHERE seq > ? AND tag = '{tag_of(ContentRedacted)}' AND payload IS NOT NULL"  # noqa: S608
_STANDING = (
    "SELECT e.payload IS NULL, r.version, r.payload, r.salt FROM events e LEFT JOIN replacements r ON r.seq = e.seq "
    "WHERE e.seq = ?"
)


def wrong_replacements(database: Database, redacted: Mapping[int, str], head: int) -> list[str]:
    """What is not as the stream's own facts say.

    Args:
        database: the journal's file; one of an older Stead has no replacements.
        redacted: what was recorded, as of ``ChainReport``.
        head: up to which event; what was recorded since is looked up here, as the daemon may be at work.

    Raises:
        StorageFault: the file is damaged.
    """
    with database.reading() as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'replacements'").fetchall():
            return ["the journal has lost what is read in place of forgotten words"] if redacted else []
        connection.execute("BEGIN")  # one moment for all of it
        try:
            return list(_wrong(connection, dict(redacted), head))
        finally:
            connection.execute("ROLLBACK")


def _wrong(connection: Connection, redacted: dict[int, str], head: int) -> Iterator[str]:
    for (payload,) in connection.execute(_LATER, (head,)).fetchall():
        redacted |= redactions(payload)
    for (seq,) in connection.execute("SELECT seq FROM replacements ORDER BY seq").fetchall():
        if not redacted.get(seq):
            yield f"event {seq} is read otherwise than it was written, and nothing records why"
    for seq, commitment in redacted.items():
        row = connection.execute(_STANDING, (seq,)).fetchone()
        if row is None or not row[0]:
            yield f"words of event {seq} were forgotten, and its payload is there: it was put back"
        elif _commitment(*row[1:]) != commitment:
            yield f"what is read in place of event {seq} is not what was recorded when its words were forgotten"


def _commitment(version: object, payload: object, salt: object) -> str:
    """Of what stands there; the file's format would let anything stand anywhere."""
    if payload is None:
        return ""
    if not (isinstance(version, int) and isinstance(payload, bytes) and isinstance(salt, bytes)):
        return "strange"
    return committed(salt, version, payload)
