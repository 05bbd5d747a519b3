"""How memories and turns are put into an index's tables, and how they are taken out without a trace.

Layer: memory. Runs inside a transaction of whoever calls; knows the tables of ``schema.sql`` and no file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from stead.brain.remembering import normal
from stead.domain.embedding import VectorBytes
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, Episode, Level, Memory, MemoryRow, PlaceId
from stead.domain.policies import Confidentiality
from stead.domain.stop_words import STOP
from stead.memory.words import LONG, QUESTION, SURE, beside, day, spoken

if TYPE_CHECKING:
    from sqlite3 import Connection

EPISODE_CHARS = 16_000
"""Of a turn; what is behind them, such as the rest of a long output, is in the journal alone."""

Table = Literal["known", "said"]
"""Memories, or turns."""
TABLES: tuple[Table, ...] = ("known", "said")

_encode = msgspec.json.Encoder().encode
_INSERT = """
INSERT INTO items (ref, source, level, integrity, confidentiality, typed, ts_ms, session, seq, who, status, valid_from,
    valid_to, retired, expires, pinned, standing, kind, key, origin, run, saying, uses, last_used)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_MORE_KNOWN, _MORE_SAID = "UPDATE progress SET known = known + 1", "UPDATE progress SET said = said + 1"
_LESS_KNOWN, _LESS_SAID = "UPDATE progress SET known = known - 1", "UPDATE progress SET said = said - 1"
_CLEARED = tuple(f"DELETE FROM {table} WHERE item = ?" for table in ("names", "spellings", "vectors"))  # noqa: S608
_BARE = "UPDATE items SET embedded = 0 WHERE id = ?"
_REMOVED = (
    "DELETE FROM known WHERE rowid = ?",
    "DELETE FROM said WHERE rowid = ?",
    "DELETE FROM items WHERE id = ?",  # and by it what refers to it
)
_AGAIN = """
UPDATE items SET level = ?, integrity = ?, confidentiality = ?, typed = ?, status = ?, valid_from = ?, valid_to = ?,
    retired = ?, expires = ?, pinned = ?, standing = ?, kind = ?, key = ?, origin = ?, run = ?, saying = ?
WHERE id = ?
"""
_USED = """
INSERT INTO uses (item, session, ts_ms) SELECT id, ?, ? FROM items WHERE ref = ? AND source = 'memory'
ON CONFLICT DO UPDATE SET ts_ms = max(ts_ms, excluded.ts_ms)
"""
_HEARD = "SELECT i.ref FROM uses u JOIN items i ON i.id = u.item WHERE u.session = ?"
_COUNTED = """
UPDATE items SET uses = (SELECT count(*) FROM uses WHERE item = id),
    last_used = (SELECT coalesce(max(ts_ms), 0) FROM uses WHERE item = id)
WHERE ref = ?
"""


class Used(msgspec.Struct, frozen=True):
    """A session's model was told of a memory."""

    ref: str
    session: SessionId
    ts_ms: int


class Writing:
    """One transaction's work.

    Args:
        connection: within the transaction.
        place: whose index it is.
    """

    def __init__(self, connection: Connection, place: PlaceId) -> None:
        self._connection = connection
        self._place = place
        self.void: list[int] = []
        """Items that are gone, or have another text: their vectors are not theirs any more."""

    def put_row(self, row: MemoryRow) -> None:
        """A memory as it is now. How many sessions were told of it is counted here and stays."""
        run, memory = self._connection.execute, row.memory
        found = run(
            "SELECT i.id, k.head, k.text FROM items i JOIN known k ON k.rowid = i.id WHERE i.ref = ?", (memory.id,)
        ).fetchone()
        head = _head(" ".join((*memory.aliases, memory.key)), memory.text)
        label, state = _label(memory.scope.level, memory), (*_state(row), saying(memory.text))
        if found is None:
            said = (row.recorded_ms, "", 0, "")  # of no session and nobody's
            item = self._insert(memory.id, "memory", *label, *said, *state, row.uses, row.last_used_ms)
        else:
            item = int(found[0])
            run(_AGAIN, (*label, *state, item))
        run("INSERT OR REPLACE INTO memories (item, row) VALUES (?, ?)", (item, _encode(row)))
        run("DELETE FROM grounds WHERE item = ?", (item,))
        self._connection.executemany(
            "INSERT OR REPLACE INTO grounds (seq, start, until, item) VALUES (?, ?, ?, ?)",
            [(one.seq, one.start, one.end, item) for one in memory.evidence],
        )
        changed = found is None or found[1:] != (head, memory.text)
        if not changed:
            return
        self.void += [] if found is None else [item]
        for statement in (*_CLEARED, _BARE):
            run(statement, (item,))
        run("DELETE FROM known WHERE rowid = ?", (item,))
        run("INSERT INTO known (rowid, head, text) VALUES (?, ?, ?)", (item, head, memory.text))
        self._name(item, memory)

    def put_episode(self, episode: Episode) -> None:
        """A turn, once."""
        run, ref = self._connection.execute, f"e_{episode.seq}"
        if run("SELECT 1 FROM items WHERE ref = ?", (ref,)).fetchone():
            return
        said, nothing = (episode.ts_ms, episode.session, episode.seq, episode.who), (None,) * 14
        item = self._insert(ref, episode.source, *_label(self._level(episode), episode), *said, *nothing)
        text = episode.text[:EPISODE_CHARS]
        head = _head(f"{episode.who} {day(episode.ts_ms)}", text)
        run("INSERT INTO said (rowid, head, text) VALUES (?, ?, ?)", (item, head, text))

    def remove(self, refs: Sequence[str]) -> None:
        """Take items out."""
        for ref in refs:
            run = self._connection.execute
            for item, memory in run("SELECT id, source = 'memory' FROM items WHERE ref = ?", (ref,)).fetchall():
                for statement in _REMOVED:
                    run(statement, (item,))
                run(_LESS_KNOWN if memory else _LESS_SAID)
                self.void.append(item)

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, VectorBytes]]) -> set[int]:
        """Vectors of items that are there, all of one model: those of the one before go. Gives which are there."""
        run, there = self._connection.execute, set[int]()
        if run("SELECT model <> ? FROM progress", (model,)).fetchone()[0]:
            for statement in ("DELETE FROM vectors", "UPDATE items SET embedded = 0 WHERE embedded"):
                run(statement)
            run("UPDATE progress SET model = ?", (model,))
        for item, vector in vectors:
            if run("UPDATE items SET embedded = 1 WHERE id = ?", (item,)).rowcount:
                run("INSERT OR REPLACE INTO vectors (item, vector) VALUES (?, ?)", (item, vector))
                there.add(item)
        return there

    def note_used(self, used: Sequence[Used]) -> None:
        """Count what was told, once a session: so replaying changes nothing. Turns are not counted."""
        for one in used:
            self._connection.execute(_USED, (one.session, one.ts_ms, one.ref))
            self._connection.execute(_COUNTED, (one.ref,))

    def mark_failed(self, turns: Sequence[str]) -> None:
        """Have these turns not be recalled any more."""
        rows = ((ref,) for ref in turns)
        self._connection.executemany("UPDATE items SET status = 'failed' WHERE ref = ? AND source <> 'memory'", rows)

    def forget_uses(self, sessions: Sequence[SessionId]) -> None:
        """Count no more what these sessions were told: the journal does not say it any more."""
        run = self._connection.execute
        for session in sessions:
            refs = run(_HEARD, (session,)).fetchall()
            run("DELETE FROM uses WHERE session = ?", (session,))
            self._connection.executemany(_COUNTED, refs)

    def _insert(self, *values: object) -> int:
        """Put an item in, and count it; gives its number."""
        item = self._connection.execute(_INSERT, values).lastrowid
        assert item is not None, "what was put in has a number"
        self._connection.execute(_MORE_KNOWN if values[1] == "memory" else _MORE_SAID)
        return item

    def _level(self, episode: Episode) -> Level:
        if self._place == GLOBAL:
            return "global"
        if self._place.startswith("c_"):
            return "channel"
        return "private" if episode.private else "workspace"

    def _name(self, item: int, memory: Memory) -> None:
        """What it is asked for by: its aliases, its key, and what the key ends with.

        One word of an end is one of everyday work as often as a name ("test", "port"): only a question means it.
        """
        end = spoken(memory.key.rpartition(".")[2])
        named = {*map(spoken, (*memory.aliases, memory.key)), *([end] if len(end) > 1 else [])}
        told = [name for name in named if not STOP.issuperset(name)]
        phrases = sorted(map(" ".join, told))
        if len(end) == 1 and end not in named and not STOP.issuperset(end):
            phrases.append(f"{end[0]}{QUESTION}")
        run = self._connection.executemany
        run("INSERT INTO names (item, phrase) VALUES (?, ?)", [(item, phrase) for phrase in phrases])
        long = {word for name in told for word in name if len(word) >= LONG - 1}
        run(
            "INSERT INTO spellings (start, length, word, item) VALUES (?, ?, ?, ?)",
            [(word[:SURE], len(word), word, item) for word in long],
        )


def _head(names: str, text: str) -> str:
    return f"{names} {found}" if (found := beside(text)) else names


def saying(text: str) -> bytes:
    """A digest of what a text says, as texts are compared."""
    return hashlib.blake2b(normal(text).encode("utf-8", "replace"), digest_size=16).digest()


def _label(level: Level, owner: Memory | Episode) -> tuple[object, ...]:
    label = owner.label
    return (level, label.integrity.value, list(Confidentiality).index(label.confidentiality), label.typed)


def _state(row: MemoryRow) -> tuple[object, ...]:
    memory = row.memory
    holds = (row.status, memory.valid_from_ms, memory.valid_to_ms, row.retired_ms, memory.expires_ms)
    return (*holds, memory.pinned, memory.standing, memory.kind, memory.key, memory.origin, row.run)
