"""Candidates of one index, leg by leg.

Layer: memory. Runs in a thread, one borrowed connection a call; what is found leaves as values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import msgspec

from stead.domain.memory import Memory, Query, Viewer
from stead.memory import words
from stead.memory.finding import Finding, Found
from stead.memory.index import Index
from stead.memory.writing import TABLES, Table

TERMS = 16
"""Words of one query that are looked for; of more, the rarest."""
ENOUGH = 6
GOOD_PART = 2
"""Words of a query of which one is a good part."""
SELDOM = 200
"""Turns of which fewer than one has a word that is seldom used."""
OTHERS = 100
"""Texts of something else, as if they were there: among the first few texts of a place no word would tell anything."""


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
        told: which share of what the query's words tell apart stands in an item, 0 to 1.
        speakers: names of participants that are words of the query.
        withheld: how many that strangers made were left out.
        near: cosines of what is near in meaning.
        found: every candidate, filled in at last.
        beside: of turns, those before and after.
        keyed: what holds at the keys of candidates of any place.
        grounds: what memories of the place rest on: of which turn, from where to where, and whether the memory holds.
    """

    pinned: list[int] = []
    named: set[int] = set()
    words: dict[Table, dict[int, float]] = {}
    told: dict[int, float] = {}
    speakers: set[str] = set()
    withheld: int = 0
    near: dict[int, float] = {}
    found: dict[int, Found] = {}
    beside: dict[int, tuple[int, ...]] = {}
    keyed: list[Memory] = []
    grounds: list[tuple[int, int, int, bool]] = []


def asked(query: Query, viewer: Viewer, now_ms: int) -> Asked:
    """Read a query."""
    text = query.text[: words.QUERY_CHARS]
    return Asked(query, viewer, now_ms, text, words.spoken(text), words.asked(text))


def gather(index: Index, asked: Asked) -> Gathered:
    """What the index has by every leg but the meaning.

    Raises:
        StorageFault: as ``Index``.
    """
    with _finding(index, asked) as finding:
        named, names = _named(finding, asked)
        gathered = Gathered(
            pinned=finding.pinned(),
            named=named,
            speakers={who for who in finding.speakers() if _is_named(who, asked.said)},
        )
        for table in TABLES if asked.terms else ():
            terms, unknown = _rarest(finding, table, asked.terms)
            match = words.matching(terms)
            found = finding.worded(table, match)
            gathered.words[table] = found
            turns = table == "said"
            told = _told(finding, table, terms, unknown, found, set() if turns else names)
            if turns and not asked.query.looked_up and len(asked.terms) == 1:
                told = {item: share * _telling(finding, table, match) for item, share in told.items()}
            gathered.told |= told
            if asked.query.trusted:
                gathered.withheld += finding.withheld(table, match, min(found.values(), default=0.0))
    return gathered


def among(index: Index, asked: Asked, items: Collection[int]) -> set[int]:
    """Those of these items that may be hits.

    Raises:
        StorageFault: as ``Index``.
    """
    with index.reading() as connection:
        return Finding(connection, index.place, asked.viewer, asked.query, asked.now_ms).among(items)


def allowed(index: Index, asked: Asked, table: Table) -> list[int]:
    """Every memory or turn that may be a hit.

    Raises:
        StorageFault: as ``Index``.
    """
    with index.reading() as connection:
        return Finding(connection, index.place, asked.viewer, asked.query, asked.now_ms).allowed(table)


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
    with _finding(index, asked) as finding:
        first = finding.beside(leads)
        every = leads | {item for beside in first.values() for item in beside}
        gathered.beside = first | finding.beside(every - leads)
        gathered.found = finding.rows(every)


def at(index: Index, asked: Asked, gathered: Gathered, keys: Collection[str]) -> None:
    """Fetch what holds at these keys, found or not: the newer one may have no word of the query.

    Raises:
        StorageFault: as ``Index``.
    """
    with _finding(index, asked) as finding:
        gathered.keyed = finding.keyed(keys)


def ground(index: Index, asked: Asked, gathered: Gathered, turns: Collection[int]) -> None:
    """Find out which words of turns, by their numbers in the journal, memories of this place rest on.

    Raises:
        StorageFault: as ``Index``.
    """
    with _finding(index, asked) as finding:
        gathered.grounds = finding.grounds(turns)


@contextmanager
def _finding(index: Index, asked: Asked) -> Iterator[Finding]:
    with index.reading() as connection:
        yield Finding(connection, index.place, asked.viewer, asked.query, asked.now_ms)


def _rarest(finding: Finding, table: Table, terms: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The words of a long query that tell most apart, and how many there are that no text has."""
    if len(terms) <= TERMS:
        return terms, 0
    counts = {term: finding.count(table, words.matching([term])) for term in terms}
    known = sorted((term for term in terms if counts[term]), key=lambda term: counts[term])
    return tuple(known[:TERMS]) or terms[:1], len(terms) - len(known)


def _told(
    finding: Finding, table: Table, terms: tuple[str, ...], unknown: int, items: Collection[int], names: set[str]
) -> dict[int, float]:
    """How much of what the query's words tell apart each item has.

    A word tells apart as much as its idf. Of a long query nothing can have everything: ``ENOUGH`` words that nothing
    else has are all that is asked for. A name speaks for what has that name, not for whatever has it in its text.
    """
    most = _idf(0, finding.total(table))
    weight, told = unknown * most, dict.fromkeys(items, 0.0)
    for term in terms:
        count, those = finding.having(table, words.matching([term]), items)
        idf = _idf(count, finding.total(table))
        weight += idf
        for item in those if names.isdisjoint(words.spoken(term)) else ():
            told[item] += idf
    whole = min(weight, ENOUGH * most)
    return {item: min(1.0, share / whole) if whole > 0 else 0.0 for item, share in told.items()}


def _telling(finding: Finding, table: Table, match: str) -> float:
    """How much a word tells apart, 0 to 1: the only one of a query is always all of it."""
    total = finding.total(table)
    return _idf(finding.count(table, match), total) / _idf(0, total)


def _idf(count: int, total: int) -> float:
    return math.log(1 + (total + OTHERS - count + 0.5) / (count + 0.5))


def _named(finding: Finding, asked: Asked) -> tuple[set[int], set[str]]:
    """What the query has a name of, and the words of the query that are such names.

    What the keys of those have a name of is found too: ``auth_depends_on_redis`` speaks of both.
    """
    said = asked.said
    others = [finding.meant(word) for word in said]
    runs = [(phrase, said[start:end]) for start, end, phrase in words.phrases(said, others)]
    found = finding.named({phrase for phrase, _ in runs})
    direct = [(item, phrase) for item, phrase, weak in found if not weak or _is_meant(finding, asked, item, phrase)]
    phrases = {phrase for _, phrase in direct}
    names = {word for phrase, run in runs if phrase in phrases for word in run}
    keys = [words.spoken(key.rpartition(".")[2]) for key in finding.keys({item for item, _ in direct})]
    beside = finding.named({phrase for key in keys for _, _, phrase in words.phrases(key, [[]] * len(key))})
    return {item for item, _ in direct} | {item for item, _, weak in beside if not weak}, names


def _is_meant(finding: Finding, asked: Asked, item: int, name: str) -> bool:
    """Whether a query speaks of a memory when it has but the one word that its key ends with.

    It does when that is a good part of the query, when another word of the query stands in the memory too, or when
    people here seldom use the word.
    """
    has = [bool(finding.having("known", words.matching([term]), [item])[1]) for term in asked.terms]
    if len(has) <= GOOD_PART or sum(has) > 1:
        return True
    return finding.count("said", words.matching([name])) * SELDOM < finding.total("said")


def _is_named(who: str, said: Collection[str]) -> bool:
    """Whether a participant is named, by the first name."""
    first = words.spoken(who)[:1]
    return bool(first) and first[0] in said and first[0] not in words.STOP
