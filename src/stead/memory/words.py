"""Words of a query and of names, as the index compares them.

Layer: memory. Pure. Knows no table.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

QUERY_CHARS = 8_000
"""Of a query; what is behind them is not looked for."""
QUERY_WORDS = 48
"""Different words of a query."""
NAME_WORDS = 6
"""Of a name that is recognised within a query."""
LONG = 5
"""Letters from which on a word may be misspelt."""
SURE = 2
"""First letters that are seldom mistyped; what differs in them is another word, as mango and Mongo are."""

_WORD = re.compile(r"[^\W_]+")

_STOP = """
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing don done down during each else ever few for from further get go
    got had has have having he hello her here hers herself hey hi him himself his how i if in into is it its itself
    just know let like ll m me mention mentioned might more most must my myself no nor not now of off ok okay on
    once only or other our ours ourselves out over own please re s same shall she should so some such t tell than
    that the their theirs them themselves then there these they this those through to too under until up us ve very
    was we were what when where which while who whom whose why will with would yes you your yours yourself
    yourselves
"""
STOP = frozenset(_STOP.split())
"""Words that say nothing about what is looked for."""


def words(text: str) -> list[str]:
    """The words of a text in order, without case and without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


def asked(text: str) -> tuple[str, ...]:
    """The words of a query that are looked for: each once, none that says nothing; all of them if there are no others.

    Accents stay, because the index has its own way of doing without them.
    """
    every = tuple(dict.fromkeys(map(str.lower, _WORD.findall(unicodedata.normalize("NFC", text[:QUERY_CHARS])))))
    return tuple(word for word in every if word not in STOP)[:QUERY_WORDS] or every[:QUERY_WORDS]


def matching(terms: Iterable[str]) -> str:
    """Any of the words, as FTS5 wants it. In quotes, nothing in a word is syntax."""
    return " OR ".join(f'"{term}"' for term in terms)


def spoken(text: str) -> tuple[str, ...]:
    """The words of a name or a query as names are compared: in the singular."""
    return tuple(map(singular, words(text[:QUERY_CHARS])))


def singular(word: str) -> str:
    """An English plural's singular, near enough: both sides are treated alike."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def phrases(said: Sequence[str], others: Sequence[Sequence[str]]) -> Iterator[tuple[int, int, str]]:
    """Every run of up to ``NAME_WORDS`` words: (start, end, phrase).

    Args:
        said: the words of a query.
        others: for each of them, the words that it may be a slip for. One slip a phrase.
    """
    for start in range(len(said)):
        for end in range(start + 1, min(start + NAME_WORDS, len(said)) + 1):
            run = said[start:end]
            yield start, end, " ".join(run)
            for place, meant in enumerate(others[start:end]):
                for word in meant:
                    yield start, end, " ".join((*run[:place], word, *run[place + 1 :]))


def slip(word: str, meant: str) -> bool:
    """Whether one is the other but for one letter too many, too few, wrong, or two that changed places.

    Its first letters are right, and one of the two is long; of short words there is nearly always another one.
    """
    if word == meant or max(len(word), len(meant)) < LONG or word[:SURE] != meant[:SURE]:
        return False
    short, long = sorted((word, meant), key=len)
    if len(long) - len(short) > 1:
        return False
    start = next((at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = long[start + 1 : start + 2] + long[start : start + 1] + long[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or short[start:] == swapped


def day(ts_ms: int) -> str:
    """A moment as people write its day, so that it is found by any part of it."""
    try:
        moment = datetime.fromtimestamp(ts_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment.day} {moment:%B %Y} {moment:%Y-%m-%d}"
