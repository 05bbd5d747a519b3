"""Candidates of one index, leg by leg.

Layer: memory. Runs in a thread, one borrowed connection a call; what is found leaves as values.
"""

from __future__ import annotations

import msgspec

from stead.domain.memory import Query, Viewer
from stead.memory import words
from stead.memory.finding import Finding, Found, Table
from stead.memory.index import Index

TABLES: tuple[Table, ...] = ("known", "said")


class Asked(msgspec.Struct, frozen=True):
    """A query, read once for every index.

    Args:
        query: as it came.
        viewer: who looks.
        now_ms: milliseconds since 1970.
        text: the query's, cut.
        said: its words in order, as names are compared.
        terms: those that are looked for in texts.
    """

    query: Query
    viewer: Viewer
    now_ms: int
    text: str
    said: tuple[str, ...]
    terms: tuple[str, ...]


class Gathered(msgspec.Struct, kw_only=True):
    """What one index has for a query; items by their numbers.

    Args:
        pinned: what is always told, in order.
        named: what the query has a name of.
        words: BM25 of what has one of its words, of memories and of turns.
        allowed: the only items that may be found by meaning; nothing for all of them.
        speakers: names of participants that are words of the query.
        withheld: how many that strangers made were left out.
        near: cosines of what is near in meaning.
        found: every candidate, filled in at last.
        beside: of turns, those before and after.
    """

    pinned: list[int] = []
    named: set[int] = set()
    words: dict[Table, dict[int, float]] = {}
    allowed: tuple[int, ...] | None = None
    speakers: set[str] = set()
    withheld: int = 0
    near: dict[int, float] = {}
    found: dict[int, Found] = {}
    beside: dict[int, tuple[int, ...]] = {}


def asked(query: Query, viewer: Viewer, now_ms: int) -> Asked:
    """Read a query."""
    text = query.text[: words.QUERY_CHARS]
    return Asked(query, viewer, now_ms, text, words.spoken(text), words.asked(text))


def gather(index: Index, asked: Asked) -> Gathered:
    """What the index has by every leg but the meaning.

    Raises:
        StorageFault: as ``Index``.
    """
    with index.reading() as connection:
        finding = Finding(connection, index.place, asked.viewer, asked.query, asked.now_ms)
        gathered = Gathered(
            pinned=finding.pinned(),
            named=_named(finding, asked.said) if asked.said else set(),
            words={},
            allowed=finding.allowed(),
            speakers={who for who in finding.speakers() if _is_named(who, asked.said)},
        )
        match = words.matching(asked.terms)
        for table in TABLES if match else ():
            gathered.words[table] = found = finding.worded(table, match)
            if asked.query.trusted:
                gathered.withheld += finding.withheld(table, match, min(found.values(), default=0.0))
    return gathered


def complete(index: Index, asked: Asked, gathered: Gathered) -> None:
    """Fetch the candidates, and the turns beside them.

    Raises:
        StorageFault: as ``Index``.
    """
    leads = {
        *gathered.pinned,
        *gathered.named,
        *gathered.near,
        *(item for some in gathered.words.values() for item in some),
    }
    with index.reading() as connection:
        finding = Finding(connection, index.place, asked.viewer, asked.query, asked.now_ms)
        first = finding.beside(leads)
        every = leads | {item for beside in first.values() for item in beside}
        gathered.beside = first | finding.beside(every - leads)
        gathered.found = finding.rows(every)


def _named(finding: Finding, said: tuple[str, ...]) -> set[int]:
    """What the query has a name of, and what the keys of those have a name of: such a key speaks of both."""
    others = [finding.meant(word) if len(word) >= words.LONG - 1 and word not in words.STOP else [] for word in said]
    found = finding.named({phrase for _, _, phrase in words.phrases(said, others)})
    keys = [words.spoken(key.rpartition(".")[2]) for key in finding.keys(found)]
    return found | finding.named({phrase for key in keys for _, _, phrase in words.phrases(key, [[]] * len(key))})


def _is_named(who: str, said: tuple[str, ...]) -> bool:
    """Whether a participant is named, by the first name or the whole one."""
    name = words.spoken(who)
    return bool(name) and (name[0] in said or all(word in said for word in name))
