"""What an index has, as lists and as single rows.

Layer: memory. Reads the tables of ``schema.sql``; knows no query's meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Level, MemoryRow
from stead.domain.memory_ports import RowsWanted
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.writing import saying
from stead.storage.history import matching

if TYPE_CHECKING:
    from sqlite3 import Connection

_decode = msgspec.json.Decoder(MemoryRow).decode
_ORDER = tuple(Confidentiality)
_MEMORIES = "SELECT id, row, uses, last_used FROM items JOIN memories ON memories.item = items.id WHERE "
_TURNS = """
SELECT i.seq, i.session, i.source, i.who, s.text, i.ts_ms, i.level, i.integrity, i.confidentiality, i.typed
FROM items i JOIN said s ON s.rowid = i.id WHERE
"""
_TEXTS = """
SELECT i.id, i.source = 'memory', coalesce(k.text, i.who || ': ' || s.text), i.confidentiality
FROM items i LEFT JOIN known k ON k.rowid = i.id AND i.source = 'memory' LEFT JOIN said s ON s.rowid = i.id
{} ORDER BY i.source <> 'memory', i.id DESC LIMIT ?
"""
BARE = _TEXTS.format("WHERE NOT i.embedded")
"""Texts without a vector."""
_EMBEDDED = "SELECT count(*) FROM items WHERE embedded AND (source <> 'memory' OR status = 'live')"


def row(connection: Connection, ref: str) -> MemoryRow | None:
    """A memory."""
    return next(memories(connection, "ref = ?", (ref,)), None)


def alike(
    connection: Connection, level: Level, text: str, key: str, after_ms: int | None = None
) -> tuple[MemoryRow, ...]:
    """The live ones with the same words, or with the same key if there is one; the newest last.

    Behind them, if a moment is given, the superseded ones with that key that held after it.
    """
    # The sign keeps SQLite from going through a whole level, which would take the longer the more is remembered.
    same = "+level = ? AND status = 'live' AND (saying = ? OR (key <> '' AND key = ?)) ORDER BY ts_ms, id"
    live = tuple(memories(connection, same, (level, saying(text), key)))
    if not key or after_ms is None:
        return live
    ended = "+level = ? AND status = 'superseded' AND key = ? AND valid_to > ? ORDER BY ts_ms, id"
    return (*live, *memories(connection, ended, (level, key, after_ms)))


def rows(connection: Connection, wanted: RowsWanted) -> tuple[tuple[MemoryRow, ...], str]:
    """A page, and where the next one begins. Where there are no memories, nothing is looked for."""
    if connection.execute("SELECT known FROM progress").fetchone() == (0,):
        return (), ""
    tests, values = ["source = 'memory'"], list[object]()
    for column, choice in (("kind", wanted.kinds), ("status", wanted.status), ("origin", wanted.origins)):
        if choice:
            tests.append(f"{column} IN ({', '.join('?' * len(choice))})")
            values += choice
    if wanted.pinned:
        tests.append("pinned")
    if wanted.run:
        tests.append("run = ?")
        values.append(wanted.run)
    if wanted.words:
        match = matching(wanted.words)
        if not match:
            return (), ""
        tests.append("id IN (SELECT rowid FROM known WHERE known MATCH ?)")
        values.append(match)
    moment, _, item = wanted.after.partition("_")
    if moment.isdecimal() and item.isdecimal():
        tests.append("(ts_ms, id) < (?, ?)")
        values += [min(int(moment), 2**62), min(int(item), 2**62)]
    newest = f"{' AND '.join(tests)} ORDER BY ts_ms DESC, id DESC"
    # In two steps, so that of all that fit only one page's rows are fetched and put in order.
    where = f"id IN (SELECT id FROM items WHERE {newest} LIMIT ?) ORDER BY ts_ms DESC, id DESC"  # noqa: S608
    found = list(_numbered(connection, where, (*values, wanted.limit + 1)))
    page = found[: wanted.limit]
    cursor = f"{page[-1][1].recorded_ms}_{page[-1][0]}" if len(found) > len(page) > 0 else ""
    return tuple(row for _, row in page), cursor


def episodes(connection: Connection, where: str, values: tuple[object, ...]) -> Iterator[Episode]:
    """Turns in order."""
    for seq, session, source, who, text, ts_ms, level, integrity, held, typed in connection.execute(
        f"{_TURNS} {where} ORDER BY i.seq", values
    ):
        label = Label(Integrity(integrity), _ORDER[held], bool(typed))
        yield Episode(seq, SessionId(session), source, who, text, ts_ms, level == "private", label)


def counts(connection: Connection, model: str) -> tuple[int, int, int]:
    """Live memories, turns, and how many of both have a vector."""
    (memories,) = connection.execute(
        "SELECT count(*) FROM items WHERE source = 'memory' AND status = 'live'"
    ).fetchone()
    (turns,) = connection.execute("SELECT count(*) FROM items WHERE source <> 'memory'").fetchone()
    if not has_vectors(connection, model):
        return memories, turns, 0
    (embedded,) = connection.execute(_EMBEDDED).fetchone()
    return memories, turns, embedded


def has_vectors(connection: Connection, model: str) -> bool:
    """Whether there are vectors of this model."""
    sql = "SELECT model = ? AND EXISTS (SELECT 1 FROM vectors) FROM progress"
    return bool(connection.execute(sql, (model,)).fetchone()[0])


def bare(connection: Connection, model: str, limit: int) -> list[tuple[int, bool, str, int]]:
    """Texts without a vector: (item, a memory, text, confidentiality's place), memories and then the newest turns."""
    (ours,) = connection.execute("SELECT model IN ('', ?) FROM progress", (model,)).fetchone()
    return connection.execute(BARE if ours else _TEXTS.format(""), (limit,)).fetchall()


def shown(blob: bytes, uses: int, last_used_ms: int) -> MemoryRow:
    """A memory as its row has it, with how often it was used."""
    return replace(_decode(blob), uses=uses, last_used_ms=last_used_ms)


def memories(connection: Connection, where: str, values: tuple[object, ...]) -> Iterator[MemoryRow]:
    """Memories for which something holds, in the order that ``where`` ends with."""
    return (row for _, row in _numbered(connection, where, values))


def _numbered(connection: Connection, where: str, values: tuple[object, ...]) -> Iterator[tuple[int, MemoryRow]]:
    found = connection.execute(_MEMORIES + where, values)
    return ((item, shown(blob, uses, last_used)) for item, blob, uses, last_used in found)
