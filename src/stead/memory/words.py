"""Words of a query and of names, as the index compares them.

Layer: memory. Pure. Knows no table.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.stop_words import STOP

QUERY_CHARS = 8_000
"""Of a query; what is behind them is not looked for."""
QUERY_WORDS = 32
"""Different words of a query; what is behind them is not looked for."""
NAME_WORDS = 3
"""Of a name that is recognised within a query."""
LONG = 5
"""Letters from which on a word may be misspelt."""
SURE = 2
"""First letters that are seldom mistyped; what differs in them is another word, as mango and Mongo are."""
QUESTION = "?"
"""Ends what is a name in a question only."""

_MARK = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char) in ("Mn", "Mc"))
_MARKS = lazy_pattern(f"[{_MARK}]")
"""Vowels and accents that stand over, under and beside letters. Some write them and some do not, as in Arabic; the
index takes them for the end of a word."""
_HAN, _HIRAGANA = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", "\u3040-\u309f"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_OTHERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\uac00-\ud7af"  # Thai, Lao, Burmese, Khmer, Korean
_UNSPACED = lazy_pattern(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_OTHERS}]")
"""Letters of scripts that put no spaces between words, or few."""
_PARTS = lazy_pattern(f"[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_OTHERS}]+|[^{_HAN}{_HIRAGANA}{_KATAKANA}{_OTHERS}]+")
_GRAMMAR = lazy_pattern(f"[{_HIRAGANA}的了吗呢吧是我你您他她它们谁这那哪么什怎很就也都和与在]")
"""What joins Japanese and Chinese words and says nothing about what is looked for."""
_WORD = lazy_pattern(f"(?:[^\\W_]|[{_MARK}])+")
_ASKING = (QUESTION, "\u061f", "\u1367")
"""Latin and most others, Arabic, Ethiopic. The full-width sign becomes the first of these by NFKC."""

_TALK = """
    agreed ahead alright amazing awesome better bien bitte bon bye carry cheers continue cool correct danke done exactly
    excellent fine genau gerne good goodbye gracias grazie great gut hallo hello hm hmm hola indeed ja keep lgtm looks
    make makes maybe merci nah nein next nice nope oui perfect perfekt please prima proceed ready retry right sense si
    sorry sounds stop sure sí thank thanks thx try understood vale wait weiter welcome well wow yeah yep yup да нет
    спасибо 好 好的 是 是的 谢谢 继续 はい いいえ ありがとう ありがとうございます 네 아니요 감사합니다
"""
SMALL_TALK = frozenset(_TALK.split())
"""Words that keep a conversation going; where there is no other one, nothing is looked for."""


def words(text: str) -> list[str]:
    """The words of a text in order, without case and without accents; pairs of letters where words have no spaces."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in _MARKS.sub("", plain) if not unicodedata.combining(char))
    return [part for word in _WORD.findall(unicodedata.normalize("NFC", bare)) for part in _parts(word)]


def asked(text: str) -> tuple[str, ...]:
    """The words of a query that are looked for: each once, and none that says nothing, be there others or not.

    Accents stay that are part of their letter, because the index has its own way of doing without them.
    """
    every = [word.lower() for word in _bare(_WORD.findall(unicodedata.normalize("NFC", text[:QUERY_CHARS])))]
    if SMALL_TALK.issuperset(word for word in every if word not in STOP):
        return ()
    parts = dict.fromkeys(part for word in every if word not in STOP for part in _parts(word))
    return (tuple(part for part in parts if not _GRAMMAR.search(part)) or tuple(parts))[:QUERY_WORDS]


def beside(text: str) -> str:
    """What is indexed beside a text, so that its words are found that the index itself does not know for words."""
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFC", text)):
        (bare,) = _bare([word])
        if bare != word or _UNSPACED.search(word):
            found += [*_parts(bare), *re.findall(f"[{_HAN}]", bare)]
    return " ".join(found)


def around(text: str, terms: Sequence[str], chars: int) -> str:
    """A part of a text, so many characters of it and the signs of a cut: where most of these words stand."""
    if len(text) <= chars:
        return text
    begin = {term if _UNSPACED.search(term) else rf"(?<![^\W_]){re.escape(term[:LONG])}" for term in map(_flat, terms)}
    places = [(match.start(), match[0]) for match in re.finditer("|".join(begin), _flat(text))] if begin else []
    first, (low, high) = 0, (0, 0)
    most, seen = 0, Counter[str]()
    for at, term in places:
        seen[term] += 1
        while at - places[first][0] > chars // 2:
            seen[places[first][1]] -= 1
            first += 1
        if (different := sum(count > 0 for count in seen.values())) > most:
            most, (low, high) = different, (places[first][0], at)
    start = min(max((low + high - chars) // 2, 0), len(text) - chars) if most else 0
    end = start + chars
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


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


def is_question(text: str) -> bool:
    """Whether a text ends as questions do in writing, in any script that marks them."""
    return unicodedata.normalize("NFKC", text.rstrip()[-1:]) in _ASKING


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


def _bare(found: Iterable[str]) -> list[str]:
    """Words without the marks that are no part of their letters."""
    return [bare for word in found if (bare := _MARKS.sub("", word))]


def _parts(word: str) -> list[str]:
    """A word as it is, or what may be the words within: pairs of letters that follow each other, in one script each."""
    if not _UNSPACED.search(word):
        return [word]
    found: list[str] = []
    for run in _PARTS.findall(word):
        pairs = len(run) > 2 and _UNSPACED.match(run)
        found += map("".join, itertools.pairwise(run)) if pairs else [run]
    return found


def _flat(text: str) -> str:
    """In small letters without accents, each character where it stood."""
    if text.isascii():
        return text.lower()
    return "".join(unicodedata.normalize("NFD", char)[0].lower()[:1] for char in text)


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
