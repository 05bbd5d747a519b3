"""The outbox: what is to be sent, kept until it was, in order for each target, and sent again under the same id.

Layer: storage. An encrypted file of its own, so that a retry writes nothing into the journal. How far the journal was
read is written in one transaction with what was found there: each thing is found once. The sender says afterwards
how that went; a crash in between sends again, under the same id.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from stead.domain.errors import StorageFault, WrongKey
from stead.domain.notices import Notice
from stead.storage.database import Damaged, Database, transaction
from stead.storage.derived import opening
from stead.storage.keys import Keys

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = Path(__file__).parent / "schema"
KEPT_MS = 7 * 86_400_000
"""How long it is known what was sent and what was given up."""
_DUE = "SELECT notice, digest FROM notices WHERE target = ? AND due_ms <= ? ORDER BY seq"
_OPEN = """
    SELECT id, notices, made_ms, tries, next_ms, why
    FROM messages WHERE target = ? AND state = 'open' ORDER BY n LIMIT 1
"""
_MAKE = """
    INSERT OR IGNORE INTO messages (id, target, notices, made_ms, state, tries, next_ms, why, ended_ms)
    VALUES (?, ?, ?, ?, 'open', 0, 0, '', 0)
"""
_NEXT = """
    SELECT coalesce(
        (SELECT next_ms FROM messages WHERE target = :name AND state = 'open' ORDER BY n LIMIT 1),
        (SELECT min(due_ms) FROM notices WHERE target = :name)
    )
"""
_KNOWS = """
    WITH known (notices) AS (
        SELECT notice FROM notices WHERE target = :target UNION ALL SELECT notices FROM messages WHERE target = :target
    )
    SELECT EXISTS (
        SELECT 1 FROM known, json_each(known.notices) one
        WHERE one.value ->> 'seq' = :seq AND one.value ->> 'ts_ms' = :ts_ms
    )
"""
_FIGURES = """
    SELECT (SELECT count(*) FROM notices WHERE target = :name)
         + coalesce(sum(json_array_length(notices)) FILTER (WHERE state = 'open'), 0),
           coalesce(max(ended_ms) FILTER (WHERE state = 'sent'), 0),
           coalesce(max(tries) FILTER (WHERE state = 'open'), 0),
           coalesce(max(next_ms) FILTER (WHERE state = 'open'), 0),
           count(*) FILTER (WHERE state = 'lost'),
           coalesce((SELECT why FROM messages WHERE target = :name AND why <> '' ORDER BY n DESC LIMIT 1), '')
    FROM messages WHERE target = :name
"""
State = Literal["open", "sent", "lost", "void"]
Grouped = Callable[[Sequence[tuple[Notice, bool]], Sequence[int]], Sequence[Sequence[Notice]]]
"""Of what is due (each with whether it is for a digest), and when messages were made lately, what goes together."""


class Outgoing(NamedTuple):
    """A message that is to be sent: what it is of, and how its sending went so far."""

    id: str
    notices: tuple[Notice, ...]
    made_ms: int
    tries: int
    next_ms: int
    why: str


class Figures(NamedTuple):
    """Of one target, as of ``domain.notifications.TargetRow``."""

    waiting: int
    sent_ms: int
    tries: int
    next_ms: int
    lost: int
    error: str


class Outbox:
    """Safe to call from several threads; each call waits for the one before it.

    Args:
        path: the file; its folder exists. One that is damaged is left to the person: nothing else has what waits.
        keys: the home's.
        head: the last event of the journal, where a new file begins.

    This, too, and every method raises ``StorageFault`` when the file cannot be read or written.
    """

    schemas: tuple[str, ...] = ("outbox.sql",)
    loses = "what was to be sent by then is lost"
    """What it means to begin again with a new file."""

    def __init__(self, path: Path, keys: Keys, head: int) -> None:
        self._lock = threading.Lock()
        self._connection: Connection
        cure = f"stop Stead, move the file away and start again: {self.loses}"
        try:
            self._open(path, keys.views, head, cure)
        except (Damaged, WrongKey) as fault:
            text = f"{str(path)!r}: the file is damaged; keep a copy of it, and {cure}"
            raise StorageFault(text) from fault

    def _open(self, path: Path, key: bytes, head: int, cure: str) -> None:
        self._database = Database(path, key, cure=cure)
        schema = "".join((_SCHEMA / name).read_text("utf-8") for name in self.schemas)
        with opening(self._database, schema, (head,)) as self._connection:
            if self._connection.execute("SELECT seq > ? FROM progress", (head,)).fetchone()[0]:
                # The journal is that of an older backup, and its next events have numbers that were seen.
                for table in ("notices", "messages"):
                    self._connection.execute(f"DELETE FROM {table}")  # noqa: S608 - two constants
                self._connection.execute("UPDATE progress SET seq = ?", (head,))
        self._connection.execute("PRAGMA synchronous = full")  # no journal has what a power cut would take here

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._lock, self._database.faults():
            yield self._connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._lock, self._database.faults(), transaction(self._connection):
            yield self._connection

    @property
    def reached(self) -> int:
        """The last event of the journal that was looked at."""
        with self._reading() as connection:
            return int(connection.execute("SELECT seq FROM progress").fetchone()[0])

    def add(self, found: Sequence[tuple[str, Notice, int, bool]], reached: int) -> None:
        """Take in what is to be sent: to whom, what, from when on, and whether in a digest; and how far was looked."""
        rows = [(target, one.seq, due_ms, digest, notice_text((one,))) for target, one, due_ms, digest in found]
        with self._writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO notices VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute("UPDATE progress SET seq = max(seq, ?)", (reached,))

    def knows(self, target: str, notice: Notice) -> bool:
        """Whether something waits for a target, or was in a message to it within the last week."""
        of = {"target": target, "seq": notice.seq, "ts_ms": notice.ts_ms}
        with self._reading() as connection:
            return bool(connection.execute(_KNOWS, of).fetchone()[0])

    def head(self, target: str, now_ms: int, grouped: Grouped) -> Outgoing | None:
        """The message that is next for a target, made of what is due where none is open; nothing where nothing is."""
        with self._writing() as connection:
            row = connection.execute(_OPEN, (target,)).fetchone()
            if row is None:
                self._make(connection, target, now_ms, grouped)
                row = connection.execute(_OPEN, (target,)).fetchone()
        return Outgoing(row[0], _notices(row[1]), *row[2:]) if row else None

    def _make(self, connection: Connection, target: str, now_ms: int, grouped: Grouped) -> None:
        connection.execute("DELETE FROM messages WHERE state <> 'open' AND ended_ms < ?", (now_ms - KEPT_MS,))
        due = [(_notices(text)[0], bool(digest)) for text, digest in connection.execute(_DUE, (target, now_ms))]
        made = [
            made_ms for (made_ms,) in connection.execute("SELECT made_ms FROM messages WHERE target = ?", (target,))
        ]
        for group in grouped(due, made):
            values = (message_id(target, group[0]), target, notice_text(group), now_ms)
            connection.execute(_MAKE, values)
            connection.executemany(
                "DELETE FROM notices WHERE target = ? AND seq = ?", [(target, one.seq) for one in group]
            )

    def settle(self, sent: Outgoing, state: State, now_ms: int, next_ms: int = 0, why: str = "") -> None:
        """How sending went: it arrived, is given up, is needed no more, or is tried again at ``next_ms``."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE messages SET state = ?, tries = tries + 1, next_ms = ?, why = ?, ended_ms = ? WHERE id = ?",
                (state, next_ms, why, 0 if state == "open" else now_ms, sent.id),
            )

    def forget(self, target: str) -> None:
        """A target is no more, or is off: nothing waits for it."""
        with self._writing() as connection:
            for table in ("notices", "messages"):
                connection.execute(f"DELETE FROM {table} WHERE target = ?", (target,))  # noqa: S608 - two constants

    def due_ms(self, target: str) -> int | None:
        """When something is due for a target next; None where nothing waits."""
        with self._reading() as connection:
            found = connection.execute(_NEXT, {"name": target}).fetchone()[0]
        return None if found is None else int(found)

    def figures(self, target: str) -> Figures:
        """How a target stands."""
        with self._reading() as connection:
            row = connection.execute(_FIGURES, {"name": target}).fetchone()
        return Figures(*row)

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._connection.close()
            self._database.close()


def message_id(target: str, first: Notice) -> str:
    """The id of the message that begins with a notice, the same however often it is made."""
    return f"msg_{hashlib.sha256(f'{target} {first.seq} {first.ts_ms}'.encode()).hexdigest()[:24]}"


def notice_text(notices: Sequence[Notice]) -> str:
    """Notices as the file has them."""
    return msgspec.json.encode(notices).decode()


def _notices(text: str) -> tuple[Notice, ...]:
    return msgspec.json.decode(text, type=tuple[Notice, ...])
