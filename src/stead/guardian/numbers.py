"""Numbers as people write them: 1840, 1,840, 1.840,00, 96.4, "twelve hundred".

Layer: guardian. Pure. Two spellings are the same number only where no reading of them says otherwise: "1.840" is 1.84,
as a program writes it, and never 1840.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

_NUMBER = re.compile(r"(?<![\w.,:/@#%&=~$+-])(?:[$€£¥]\s?)?([0-9][0-9.,'\u2019]*)(?![\w@]|[.,:/-]+\w)")
_GROUPED = re.compile(
    r"[0-9]{1,3}(?:[,'\u2019][0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(?:\.[0-9]{3}){2,}"
)
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: number for number, word in enumerate(_UNITS.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_SPELT = re.compile(rf"\b(?:{'|'.join(_WORDS)})(?:[\s-]+(?:and\s+)?(?:{'|'.join((*_WORDS, *_SCALES))}))*\b")


def number(text: str) -> Decimal | None:
    """The number that a whole text is, written in digits; nothing where it is none or can be read in two ways."""
    if _GROUPED.fullmatch(text):
        decimal = max(text.rfind(","), text.rfind("."))
        last = text[decimal] if decimal >= 0 else ""
        if last and text.count(last) == 1 and (len(text) - decimal != 4 or last == "."):
            whole = re.sub(r"[.,'\u2019]", "", text[:decimal])
            return Decimal(f"{whole}.{text[decimal + 1 :]}")
        return Decimal(re.sub(r"[.,'\u2019]", "", text))
    return Decimal(text.replace(",", ".")) if _PLAIN.fullmatch(text) else None


def said(value: Decimal, text: str) -> bool:
    """Whether a text holds this number, in digits or in English words."""
    return value in _numbers(text)


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[Decimal]:
    found = (number(match[1].rstrip(".,'\u2019")) for match in _NUMBER.finditer(text))
    return frozenset({*(one for one in found if one is not None), *_spelt(text.casefold())})


def _spelt(text: str) -> Iterator[Decimal]:
    for match in _SPELT.finditer(text):
        total = part = 0
        for word in re.split(r"[\s-]+", match[0]):
            if word in _WORDS:
                part += _WORDS[word]
            elif word in _SCALES:
                part = max(part, 1) * _SCALES[word]
                total, part = (total, part) if word == "hundred" else (total + part, 0)
        yield Decimal(total + part)
