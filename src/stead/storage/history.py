"""The search of what was said and done, for the models of a workspace's sessions.

Layer: storage. Reads the tables of ``views``; what is in them was taken in by ``projector``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.domain.ports import HistoryQuery
from stead.domain.rows import HistoryRow

if TYPE_CHECKING:
    from sqlite3 import Connection

QUERY_WORDS = 32
_EXCERPT = 300
_LARGEST = 2**63 - 1
_SEEN = """
(? = '' OR t.of IN (
    SELECT o.seq FROM states o JOIN states a ON a.session = ?
    WHERE json_extract(CAST(o.state AS text), '$.row.directory')
        = json_extract(CAST(a.state AS text), '$.row.directory')
        AND (a.kind = 'session' OR o.kind = 'objective')
        AND (SELECT channel FROM objectives WHERE id = o.session)
            = (SELECT channel FROM objectives WHERE id = a.session)
))
"""
"""Whose words a session may see: its folder's, what people work in themselves only where they do too, and a channel's
in that channel alone; as memory's scopes have it."""
_ROWS = """
SELECT t.seq, s.id, t.ts_ms, t.who, {text} FROM {tables} JOIN objectives s ON s.seq = t.of
WHERE {words} AND (? = '' OR s.id = ?) AND {seen} AND t.ts_ms >= ? AND t.ts_ms < ? AND t.who NOT GLOB ?
ORDER BY {order} LIMIT ? OFFSET ?
"""
_ONE = f"""
SELECT t.seq, s.id, t.ts_ms, t.who, unpacked(t.text) FROM texts t JOIN objectives s ON s.seq = t.of
WHERE t.seq = ? AND {_SEEN}
"""  # noqa: S608 - a constant
_BY_WORDS = _ROWS.format(
    text="snippet(words, 0, '«', '»', '…', 40)",
    tables="words w JOIN texts t ON t.seq = w.rowid",
    words="words MATCH ?",
    seen=_SEEN,
    order="w.rank, t.seq DESC",
)
_BY_DATE = _ROWS.format(
    text=f"substr(unpacked(t.text), 1, {_EXCERPT})",
    tables="texts t",
    words="? = ''",
    seen=_SEEN,
    order="t.seq DESC",
)


def matching(query: str) -> str:
    """All of the words, the last of which may be a beginning, as the index wants it; marks count as spaces."""
    words = re.findall(r"\w+", query)[:QUERY_WORDS]
    return " ".join(f'"{word}"' for word in words) + "*" if words else ""


def lines_around(text: str, context: int) -> str:
    """The first line of an answer of ``highlight`` that has a match, and so many before and after it."""
    at = max(0, text.find("\x02"))
    before, after = text[:at].split("\n")[-context - 1 :], text[at:].split("\n", context + 1)[: context + 1]
    lines = "\n".join([*before[:-1], before[-1] + after[0], *after[1:]]).split("\n")
    return "\n".join(_cut(line) for line in lines).replace("\x02", "«").replace("\x03", "»")


def _cut(line: str) -> str:
    """At most ``_EXCERPT`` characters of a line, from a little before its first match on."""
    start = max(0, line.find("\x02") - _EXCERPT // 3) if len(line) > _EXCERPT else 0
    cut = line[start : start + _EXCERPT]
    return f"{'…' if start else ''}{cut}{'…' if start + _EXCERPT < len(line) else ''}"


class History:
    """Implements ``domain.ports.History``.

    Args:
        reading: the read models of the workspace, see ``Views.reading``.
        own: tools whose results are no hits, because they only repeat others; a pattern as in GLOB.
    """

    def __init__(self, reading: Callable[[], AbstractContextManager[Connection]], own: str) -> None:
        self._reading = reading
        self._own = own

    def search(self, query: HistoryQuery, limit: int) -> list[HistoryRow]:
        """See ``domain.ports.History``."""
        match = matching(query.words)
        if query.words and not match:
            return []
        looks = (query.viewer, query.viewer)
        period = (max(0, query.since_ms), min(query.until_ms, _LARGEST))
        with self._reading() as connection:
            rows = connection.execute(
                _BY_WORDS if match else _BY_DATE,
                (match, query.session, query.session, *looks, *period, self._own, limit, query.skip),
            ).fetchall()
        return [HistoryRow(*row) for row in rows]

    def said(self, seq: int, viewer: SessionId) -> HistoryRow:
        """See ``domain.ports.History``."""
        with self._reading() as connection:
            row = connection.execute(
                _ONE,
                (min(seq, _LARGEST), viewer, viewer),
            ).fetchone()
        if row is None:
            raise NotFound(f"nothing was said or done at event {seq}; search for it")
        return HistoryRow(*row)
