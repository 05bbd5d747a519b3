"""What one index has for a query: everything that could be a hit, with what speaks for it.

Layer: memory. Reads the tables of ``schema.sql``. Whatever leaves here stands in a scope that the viewer may see: the
scope is the first test of every statement, and it is made of the viewer alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from string import Template
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from stead.domain.ids import SessionId
from stead.domain.memory import Level, Memory, MemoryRow, PlaceId, Query, Scope, Source, Viewer, visible
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.stop_words import STOP
from stead.memory import words
from stead.memory.listing import shown
from stead.memory.writing import TABLES, Table

if TYPE_CHECKING:
    from sqlite3 import Connection

CANDIDATES = 100
"""By one leg, of one kind of text; twice as many as are asked for if that is more, for hits that say the same."""
ALWAYS = 200
"""That are always told, of one place."""
SPEAKERS = 500
"""Participants whose names are recognised."""

_ORDER = tuple(Confidentiality)
_FIRST = 8
"""Times as many are looked at first, since not all may be seen."""
_MISSPELT = 8
"""Words that one word may be a slip for."""
_PINNED = """
SELECT i.id FROM items i INDEXED BY told WHERE (i.pinned OR i.standing) AND $seen AND $trust
ORDER BY i.standing DESC, i.ts_ms DESC, i.id LIMIT :limit
"""
_NAMED = """
SELECT i.id, n.phrase FROM names n JOIN items i ON i.id = n.item
WHERE n.phrase IN (SELECT value FROM json_each(:phrases)) AND $seen AND $trust
ORDER BY length(n.phrase) DESC, i.ts_ms DESC, i.id LIMIT :limit
"""
_NEAR = """
SELECT DISTINCT word FROM spellings
WHERE start = :start AND length IN (:length - 1, :length, :length + 1) ORDER BY word
"""
_KEYS = "SELECT key FROM items WHERE key <> '' AND id IN (SELECT value FROM json_each(:items))"
_WORDED = """
SELECT i.id, -found.rank
FROM (SELECT rowid, rank FROM $table WHERE $table MATCH :match ORDER BY rank LIMIT :first) found
JOIN items i ON i.id = found.rowid WHERE $seen AND $trust ORDER BY found.rank, i.id LIMIT :limit
"""
_HAVING = """
SELECT count($table.rowid), json_group_array($table.rowid)
    FILTER (WHERE $table.rowid IN (SELECT value FROM json_each(:items)))
FROM json_each(:matches) term LEFT JOIN $table ON $table MATCH term.value GROUP BY term.key ORDER BY term.key
"""
_GROUNDS = """
SELECT g.seq, g.start, g.until, CASE WHEN $holds THEN 1 ELSE 0 END
FROM grounds g JOIN items i ON i.id = g.item WHERE g.seq IN (SELECT value FROM json_each(:turns))
    AND i.level IN (SELECT value FROM json_each(:levels)) AND i.confidentiality <= :held AND $trust
    AND i.status IN ('live', 'superseded')
"""
_KEYED = """
SELECT m.row, i.uses, i.last_used FROM items i JOIN memories m ON m.item = i.id
WHERE i.key <> '' AND i.key IN (SELECT value FROM json_each(:keys)) AND i.integrity <> 'untrusted'
    AND +i.level IN (SELECT value FROM json_each(:levels)) AND i.confidentiality <= :held
    AND (:known = 0 OR i.ts_ms <= :known) AND $holds
"""
_COUNTED = "SELECT count(*) FROM $table WHERE $table MATCH :match"
_STRANGE = "SELECT EXISTS (SELECT 1 FROM items i INDEXED BY strangers WHERE $tainted)"
_TOTALS = "SELECT known, said FROM progress"
_WITHHELD = """
SELECT -$table.rank FROM $table JOIN items i ON i.id = $table.rowid
WHERE $table MATCH :match AND $seen AND $tainted ORDER BY $table.rank LIMIT :limit
"""
_ALLOWED = "SELECT i.id FROM items i WHERE (i.source = 'memory') = (:table = 'known') AND $seen AND $trust"
_AMONG = "SELECT i.id FROM items i WHERE i.id IN (SELECT value FROM json_each(:items)) AND $seen AND $trust"
_BESIDE = """
SELECT o.id,
    (SELECT i.id FROM items i WHERE i.source <> 'memory' AND i.session = o.session AND i.seq < o.seq AND $seen
        AND $trust ORDER BY i.seq DESC LIMIT 1),
    (SELECT i.id FROM items i WHERE i.source <> 'memory' AND i.session = o.session AND i.seq > o.seq AND $seen
        AND $trust ORDER BY i.seq LIMIT 1)
FROM items o WHERE o.id IN (SELECT value FROM json_each(:items)) AND o.source <> 'memory'
"""
_ROWS = """
SELECT i.id, i.ref, i.source, i.level, i.integrity, i.confidentiality, i.typed, i.ts_ms, i.session, i.seq, i.who,
    coalesce(k.text, s.text, ''), m.row, i.uses, i.last_used
FROM items i LEFT JOIN memories m ON m.item = i.id
    LEFT JOIN known k ON k.rowid = i.id LEFT JOIN said s ON s.rowid = i.id
WHERE i.id IN (SELECT value FROM json_each(:items)) AND $seen AND $trust
"""
_SPEAKERS = """
WITH RECURSIVE names (who) AS (
    SELECT min(who) FROM items WHERE source = 'talk'
    UNION ALL SELECT (SELECT min(who) FROM items WHERE source = 'talk' AND who > names.who) FROM names
        WHERE names.who IS NOT NULL
)
SELECT who FROM names WHERE who IS NOT NULL LIMIT :limit
"""
_TAINTED = "(i.integrity = 'untrusted' AND NOT i.typed)"
_HOLDS = """
CASE WHEN i.retired > 0 AND (:known = 0 OR i.retired <= :known)
         THEN i.valid_to > max(:at, CASE WHEN :now THEN i.retired ELSE 0 END)
     WHEN i.retired > 0 THEN 1
     ELSE i.valid_to = 0 OR i.valid_to > :at END
AND i.valid_from <= max(:at, CASE WHEN :now THEN i.ts_ms ELSE 0 END)
AND (i.expires = 0 OR i.pinned OR i.expires > :at)
"""
"""Whether a memory holds at a moment of the world, by the record of another one. For the present the moment is never
before the record's own, so that a clock that was set back brings nothing back."""


_SEEN = """
i.level IN (SELECT value FROM json_each(:levels)) AND i.confidentiality <= :held $sources AND
CASE WHEN i.source = 'memory' THEN (:known = 0 OR i.ts_ms <= :known) $kinds $holds
     ELSE i.status IS NOT 'failed' AND i.ts_ms <= :until AND (:session = '' OR i.session <> :session) END
"""


class Found(msgspec.Struct, frozen=True):
    """Something that may be a hit."""

    item: int
    ref: str
    source: Source
    scope: Scope
    label: Label
    ts_ms: int
    session: SessionId
    seq: int
    who: str
    text: str
    row: MemoryRow | None


class Finding:
    """One query in one index.

    Args:
        connection: borrowed; it is not used any more when the query is done.
        place: whose index it is.
        viewer: who looks.
        query: see there.
        now_ms: milliseconds since 1970.
    """

    def __init__(self, connection: Connection, place: PlaceId, viewer: Viewer, query: Query, now_ms: int) -> None:
        self._connection = connection
        self._place = place
        self._most = max(CANDIDATES, 2 * query.limit)
        every: tuple[Level, ...] = get_args(Level)
        self._values: dict[str, object] = {
            "levels": json.dumps([level for level in every if visible(Scope(level, place), viewer)]),
            "held": _ORDER.index(query.clearance),
            "sources": json.dumps(query.sources),
            "kinds": json.dumps(query.kinds),
            "session": query.session,
            "at": query.as_of_ms or now_ms,
            "now": not query.as_of_ms,
            "known": query.known_ms,
            "until": min((at for at in (query.as_of_ms, query.known_ms) if at), default=2**62),
        }
        self._form = (bool(query.sources), bool(query.kinds), query.superseded, query.trusted)

    def pinned(self) -> list[int]:
        """What is always told: instructions first, then the newest."""
        return [item for (item,) in self._run(_PINNED, limit=ALWAYS)]

    def named(self, phrases: Collection[str]) -> list[tuple[int, str]]:
        """Memories that one of these phrases is a name of, and the phrase; of too many, those with the longest ones."""
        return self._run(_NAMED, phrases=_list(phrases), limit=self._most)

    def keys(self, items: Collection[int]) -> list[str]:
        """The canonical keys of items."""
        return [key for (key,) in self._run(_KEYS, items=_list(items))]

    def meant(self, word: str) -> list[str]:
        """The words of names that a word may be a slip for. One that stands in what is known here is none."""
        if len(word) < words.LONG - 1 or word in STOP or self.count("known", words.matching([word])):
            return []
        near = self._run(_NEAR, start=word[: words.SURE], length=len(word))
        return [other for (other,) in near if words.slip(word, other)][:_MISSPELT]

    def worded(self, table: Table, match: str) -> dict[int, float]:
        """The items that have one of the words, the best first, with their BM25."""
        first = _FIRST * self._most
        found = self._run(_WORDED, table, match=match, first=first, limit=self._most)
        if len(found) < self._most and self.count(table, match) > first:  # others stood before those that may be seen
            found = self._run(_WORDED, table, match=match, first=-1, limit=self._most)
        return dict(found)

    def having(self, table: Table, terms: Sequence[str], items: Collection[int]) -> list[tuple[int, list[int]]]:
        """Of each word: how many of all have it, and which of these."""
        matches = _list([words.matching([term]) for term in terms])
        found = self._run(_HAVING, table, matches=matches, items=_list(items))
        return [(int(count), json.loads(those)) for count, those in found]

    def count(self, table: Table, match: str) -> int:
        """How many have a word."""
        return int(self._run(_COUNTED, table, match=match)[0][0])

    @cached_property
    def totals(self) -> dict[Table, int]:
        """How many memories and turns there are, visible or not."""
        return dict(zip(TABLES, self._run(_TOTALS)[0], strict=True))

    def withheld(self, table: Table, match: str, least: float) -> int:
        """How many items that strangers made have the words at least as well as this; at most ``CANDIDATES``."""
        if not self._run(_STRANGE)[0][0]:
            return 0
        return sum(score >= least for (score,) in self._run(_WITHHELD, table, match=match, limit=CANDIDATES))

    def allowed(self, table: Table) -> list[int]:
        """Every item that may be a hit."""
        return [item for (item,) in self._run(_ALLOWED, table)]

    def among(self, items: Collection[int]) -> set[int]:
        """Those of these that may be hits."""
        return {item for (item,) in self._run(_AMONG, items=_list(items))}

    def beside(self, items: Collection[int]) -> dict[int, tuple[int, ...]]:
        """Of turns: the turn before and the turn after in the same session, those that may be seen."""
        found = self._run(_BESIDE, items=_list(items))
        return {item: tuple(one for one in sides if one is not None) for item, *sides in found}

    def grounds(self, turns: Collection[int]) -> list[tuple[int, int, int, bool]]:
        """What memories rest on of these turns: seq, start, end, and whether the memory holds."""
        return [(seq, start, end, bool(holds)) for seq, start, end, holds in self._run(_GROUNDS, turns=_list(turns))]

    def keyed(self, keys: Collection[str]) -> list[Memory]:
        """What holds at these keys, of whichever kind, but for what strangers made."""
        return [shown(*row).memory for row in self._run(_KEYED, keys=_list(keys))]

    def rows(self, items: Collection[int]) -> dict[int, Found]:
        """These items, those of them that may be seen."""
        return {row[0]: self._found(*row) for row in self._run(_ROWS, items=_list(items))}

    def speakers(self) -> list[str]:
        """Who takes part in the conversations among people."""
        return [who for (who,) in self._run(_SPEAKERS, limit=SPEAKERS)]

    def _run(self, statement: str, table: Table = "known", **values: object) -> list[tuple[Any, ...]]:
        whole = _whole(statement, table, *self._form)
        return self._connection.execute(whole, {**self._values, "table": table, **values}).fetchall()

    def _found(self, *row: Any) -> Found:
        item, ref, source, level, integrity, held, typed, ts_ms, session, seq, who, text, blob, uses, last_used = row
        memory = None if blob is None else shown(blob, uses, last_used)
        scope = Scope(level, self._place)
        return Found(
            item, ref, source, scope, _label(integrity, held, typed), ts_ms, SessionId(session), seq, who, text, memory
        )


@lru_cache(maxsize=256)
def _whole(statement: str, table: Table, sources: bool, kinds: bool, superseded: bool, trusted: bool) -> str:
    """A statement with its table and with what the query asks of every item."""
    seen = Template(_SEEN).substitute(
        sources="AND i.source IN (SELECT value FROM json_each(:sources))" if sources else "",
        kinds="AND i.kind IN (SELECT value FROM json_each(:kinds))" if kinds else "",
        holds="" if superseded else f"AND {_HOLDS}",
    )
    trust = f"NOT {_TAINTED}" if trusted else "1"
    return Template(statement).substitute(seen=seen, trust=trust, tainted=_TAINTED, holds=_HOLDS, table=table)


@lru_cache
def _label(integrity: str, held: int, typed: int) -> Label:
    return Label(Integrity(integrity), _ORDER[held], bool(typed))


def _list(values: Collection[object]) -> str:
    return json.dumps(list(values))
