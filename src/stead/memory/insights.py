"""What is known about memories beside themselves: the words behind them, their versions, figures over time.

Layer: memory. Reads the indexes and the journal; changes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from stead.brain.dates import DAY_MS, day_of
from stead.domain import events as ev
from stead.domain.memory import Evidence, Memory, MemoryId, MemoryRow, PlaceId
from stead.domain.memory_ports import Analytics, Growth, Quote, RowsWanted, Tally
from stead.memory.books import MemoryBooks
from stead.memory.evidence import spoken
from stead.memory.files.rows import row_of

if TYPE_CHECKING:
    from sqlite3 import Connection

_QUOTE_CHARS = 2_000
_CHAIN = 200
_TOP = 20
_STALE_MS = 30 * DAY_MS
SUMS = """
SELECT status, origin, kind, count(*), total(run <> '' OR origin NOT IN ('user_said', 'file_edit')),
    total(uses = 0 AND ts_ms < ?)
FROM items WHERE source = 'memory' GROUP BY status, origin, kind
"""
"""Noted by itself is what a run noted, from the person's own words too."""
GROWTH = tuple(
    f"SELECT {moment} / {DAY_MS}, count(*) FROM items WHERE {which} AND {moment} >= ? GROUP BY 1"  # noqa: S608
    for moment, which in (
        ("ts_ms", "source = 'memory'"),
        ("retired", "source = 'memory' AND retired > 0"),
        ("ts_ms", "source <> 'memory'"),
    )
)
"""What a day brought. Days are numbers here, from 1970 on; to write one out for every row takes long."""
_USED = """
SELECT ref FROM items WHERE source = 'memory' AND status = 'live' AND uses > 0 ORDER BY uses DESC, ref LIMIT ?
"""


class Insights:
    """Implements ``domain.memory_ports.MemoryInsights``.

    Args:
        books: see there.
    """

    def __init__(self, books: MemoryBooks) -> None:
        self._books = books

    def quotes(self, memory: Memory) -> tuple[Quote, ...]:
        """See ``MemoryInsights``."""
        return tuple(self._quote(evidence) for evidence in memory.evidence)

    def chain(self, id: MemoryId) -> tuple[MemoryRow, ...]:
        """See ``MemoryInsights``."""
        found = {id: self._books.row(id)}
        todo = [id]
        while todo and len(found) < _CHAIN:
            row = found[todo.pop()]
            for other in (*row.memory.supersedes, row.superseded_by):
                if other and other not in found and (known := row_of(self._books, MemoryId(other))):
                    found[MemoryId(other)] = known
                    todo.append(MemoryId(other))
        return tuple(sorted(found.values(), key=lambda row: (row.memory.valid_from_ms, row.recorded_ms)))

    def analytics(self, place: PlaceId | Literal[""], since_ms: int, now_ms: int) -> Analytics:
        """See ``MemoryInsights``."""
        places = [place] if place else [one.id for one in self._books.places()]
        tallies = defaultdict[str, Counter[str]](Counter)
        days: dict[int, list[int]] = {}
        used: list[MemoryRow] = []
        for one in places:
            index = self._books.index(one)
            if index is None:
                continue
            with index.reading() as connection:
                _sum(connection, tallies, now_ms)
                _grow(connection, days, since_ms)
                refs = connection.execute(_USED, (_TOP,)).fetchall()
            used += [row for (ref,) in refs if (row := index.row(ref))]
        sums = tallies["sum"]
        patterns, _ = self._books.rows(RowsWanted(place=place, kinds=("pattern",), limit=_TOP))
        return Analytics(
            live=sums["live"],
            made=sums["made"],
            junk=sums["junk"],
            inferred=sums["inferred"],
            never_used=sums["never_used"],
            growth=tuple(Growth(day_of(day * DAY_MS), *days[day]) for day in sorted(days)),
            kinds=_shown(tallies["kind"]),
            origins=_shown(tallies["origin"]),
            statuses=_shown(tallies["status"]),
            most_used=tuple(sorted(used, key=lambda row: (-row.uses, row.memory.id))[:_TOP]),
            patterns=patterns,
        )

    def _quote(self, evidence: Evidence) -> Quote:
        event, known = self._books.event(evidence.seq), self._books.known(evidence.session)
        said = spoken(event, tainted=False) if isinstance(event, ev.Event) else None
        quote = Quote(evidence.session, known.title if known else "", evidence.seq, "", 0, "", 0, 0, gone=True)
        if said is None or said.session != evidence.session:
            return quote
        first = max(0, (evidence.start + evidence.end - _QUOTE_CHARS) // 2)
        return replace(
            quote,
            who=said.who,
            ts_ms=said.ts_ms,
            text=said.text[first : first + _QUOTE_CHARS],
            start=max(0, evidence.start - first),
            end=min(_QUOTE_CHARS, evidence.end - first),
            gone=False,
        )


def _sum(connection: Connection, tallies: dict[str, Counter[str]], now_ms: int) -> None:
    sums = tallies["sum"]
    for status, origin, kind, made, noted, unused in connection.execute(SUMS, (now_ms - _STALE_MS,)):
        sums.update(made=made, inferred=int(noted))
        tallies["status"][status] += made
        if status == "live":
            sums.update(live=made, never_used=int(unused))
            tallies["kind"][kind] += made
            tallies["origin"][origin] += made
        elif status == "retired":
            sums["junk"] += int(noted)


def _grow(connection: Connection, days: dict[int, list[int]], since_ms: int) -> None:
    for column, sql in enumerate(GROWTH):
        for day, count in connection.execute(sql, (since_ms,)):
            days.setdefault(day, [0, 0, 0])[column] += count


def _shown(counted: Counter[str]) -> tuple[Tally, ...]:
    return tuple(Tally(name, count) for name, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
