"""Candidates of one index, leg by leg.

Layer: memory. Runs in a thread, one borrowed connection a step; what is found leaves as values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from stead.domain.memory import Memory, Query, Viewer
from stead.domain.stop_words import STOP
from stead.memory import words
from stead.memory.finding import CANDIDATES, Finding, Found
from stead.memory.index import Index
from stead.memory.writing import TABLES, Table

ENOUGH = 6
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


def asked(query: Query, viewer: Viewer, now_ms: int) -> Asked:
    """Read a query."""
    text = query.text[: words.QUERY_CHARS]
    return Asked(query, viewer, now_ms, text, words.spoken(text), words.asked(text))


class Search:
    """A query's way through one index; what it has found so far, items by their numbers.

    Every method raises ``StorageFault`` as ``Index`` does.
    """

    def __init__(self, index: Index, ask: Asked) -> None:
        self.index = index
        self._ask = ask
        self.pinned: list[int] = []
        """What is always told, in order."""
        self.named: set[int] = set()
        """What the query has a name of."""
        self.words: dict[int, float] = {}
        """BM25 of what has one of its words."""
        self.told: dict[int, float] = {}
        """Which share of what the query's words tell apart stands in an item, 0 to 1."""
        self.speakers: set[str] = set()
        """Names of participants that are words of the query."""
        self.withheld = 0
        """How many that strangers made were left out."""
        self.nearest: list[dict[int, float]] = []
        """Cosines of what is near in meaning, the nearest first, whether it may be a hit or not."""
        self.near: dict[int, float] = {}
        """Of those, the ones that may be hits."""
        self.found: dict[int, Found] = {}
        """Every candidate."""
        self.beside: dict[int, tuple[int, ...]] = {}
        """Of turns, those before and after."""
        self.keyed: list[Memory] = []
        """What holds at the keys of candidates of any place."""
        self.grounds: list[tuple[int, int, int, bool]] = []
        """What memories of the place rest on: of which turn, from where to where, and whether the memory holds."""

    def gather(self) -> None:
        """Find candidates by every leg but the meaning. A table that is empty is not asked."""
        ask = self._ask
        with self._finding() as finding:
            names = set[str]()
            if finding.totals["known"]:
                self.named, names = _named(finding, ask.said, words.is_question(ask.text))
                self.pinned = finding.pinned()
            self.speakers = {who for who in finding.speakers() if _is_named(who, ask.said)}
            for table in (table for table in TABLES if ask.terms and finding.totals[table]):
                match = words.matching(ask.terms)
                found = finding.worded(table, match)
                self.words |= found
                self.told |= _told(finding, table, ask.terms, found, names if table == "known" else frozenset())
                if ask.query.trusted:
                    self.withheld += finding.withheld(table, match, min(found.values(), default=0.0))

    def seen(self, items: Collection[int]) -> int:
        """How many of these may be hits."""
        with self._finding() as finding:
            return len(finding.among(items))

    def allowed(self, table: Table) -> list[int]:
        """Every memory or turn that may be a hit."""
        with self._finding() as finding:
            return finding.allowed(table)

    def complete(self) -> None:
        """Fetch the candidates, and the turns next to them where those may be hits.

        In unasked recall, a turn of a chat for which only its neighbour speaks is never a hit.
        """
        with self._finding() as finding:
            for near in self.nearest:
                seen = finding.among(near)
                self.near |= dict([pair for pair in near.items() if pair[0] in seen][:CANDIDATES])
            leads = {*self.pinned, *self.named, *self.near, *self.words}
            self.found, self.beside = finding.rows(leads), finding.beside(leads)
            if self._ask.query.looked_up or any(one.source == "talk" for one in self.found.values()):
                others = {item for beside in self.beside.values() for item in beside} - leads
                self.beside |= finding.beside(others)
                self.found |= finding.rows(others)

    def check(self, keys: Collection[str], turns: Collection[int]) -> None:
        """Fetch what holds at these keys, found or not, and the words of these turns that memories rest on.

        The newer statement at a key may have no word of the query, and a turn may be of another place.
        """
        with self._finding() as finding:
            self.keyed = finding.keyed(keys) if keys else []
            self.grounds = finding.grounds(turns) if turns else []

    @contextmanager
    def _finding(self) -> Iterator[Finding]:
        ask = self._ask
        with self.index.reading() as connection:
            yield Finding(connection, self.index.place, ask.viewer, ask.query, ask.now_ms)


def _told(
    finding: Finding, table: Table, terms: Sequence[str], items: Collection[int], names: Collection[str]
) -> dict[int, float]:
    """How much of what the query's words tell apart each item has.

    A word tells apart as much as its idf. Of a long query nothing can have everything: ``ENOUGH`` words that nothing
    else has are all that is asked for. A name speaks for what has that name, not for whatever has it in its text.
    """
    total = finding.totals[table]
    most = _idf(0, total)
    weight, told = 0.0, dict.fromkeys(items, 0.0)
    for term, (count, those) in zip(terms, finding.having(table, terms, items), strict=True):
        idf = _idf(count, total)
        weight += idf
        for item in those if set(names).isdisjoint(words.spoken(term)) else ():
            told[item] += idf
    whole = min(weight, ENOUGH * most)
    return {item: min(1.0, share / whole) for item, share in told.items()}


def _idf(count: int, total: int) -> float:
    return math.log(1 + (total + OTHERS - count + 0.5) / (count + 0.5))


def _named(finding: Finding, said: Sequence[str], question: bool) -> tuple[set[int], set[str]]:
    """What the query has a name of, and the words of the query that are such names.

    What the keys of those have a name of is found too: ``auth_depends_on_redis`` speaks of both.
    """
    runs = [(phrase, said[start:end]) for start, end, phrase in words.phrases(said, [finding.meant(it) for it in said])]
    if question:
        runs += [(phrase + words.QUESTION, run) for phrase, run in runs if len(run) == 1]
    direct = finding.named({phrase for phrase, _ in runs})
    phrases = {phrase for _, phrase in direct}
    names = {word for phrase, run in runs if phrase in phrases for word in run}
    keys = [words.spoken(key.rpartition(".")[2]) for key in finding.keys({item for item, _ in direct})]
    beside = finding.named({phrase for key in keys for _, _, phrase in words.phrases(key, [[]] * len(key))})
    return {item for item, _ in (*direct, *beside)}, names


def _is_named(who: str, said: Collection[str]) -> bool:
    """Whether a participant is named, by the first name."""
    first = words.spoken(who)[:1]
    return bool(first) and first[0] in said and first[0] not in STOP
