"""Quarantined reading: what a stranger's text says becomes values that can carry no instruction.

Layer: domain. A model without tools reads the text alone and answers with a JSON object. Neither the text nor the
answer is believed: only values of the declared types pass, whatever it holds, and nothing else of it is kept. So the
session that asked learns an amount or a day, and never reads a sentence that a stranger wrote.

What each type lets through: a number, a day and a yes or no carry no words. A word of ``enum`` is one that the asker
wrote. An ``id``, an address and a host are a stranger's own signs, so they must stand in the text, whole. Ids are kept
from being words: each has a digit, and all of an answer share ``ID_LETTERS`` letters. An email address or a host name
can be a sentence (``pay.everything.to@eve.example``), so an answer with such fields taints as the text itself would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Annotated, Literal

import msgspec

from stead.domain.errors import InvalidRequest
from stead.domain.hosts import parse_host
from stead.domain.lazy_patterns import lazy_pattern

TEXT_LIMIT = 100_000
"""Characters of a text that is read in one go."""
MANY_LIMIT = 100
"""Values of one field."""
ID_LETTERS = 12
"""Letters that the different words in all ids of one answer have together: room for INV and ORDER, none to speak."""
NUMBER_LIMIT = 10**15
"""The largest number, either way; every whole one below it is exact."""


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to look for. ``options``: the words that an ``enum`` may be; ``many``: a list of values."""

    name: Annotated[str, msgspec.Meta(pattern="^[a-z_]{1,40}$")]
    type: Literal["number", "date", "boolean", "enum", "id", "email", "host"]
    options: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=40)], ...], msgspec.Meta(max_length=50)
    ] = ()
    many: bool = False

    def __post_init__(self) -> None:
        if (self.type == "enum") != bool(self.options):
            raise ValueError(f"field {self.name!r}: `options` are for the type enum, which needs them")


class Question(msgspec.Struct, frozen=True):
    """What is to be read out of a text.

    Args:
        fields: 1 to 20, of different names.
        wanted: what to look for, in the asker's words.
        text: the stranger's, at most ``TEXT_LIMIT`` characters.
    """

    fields: tuple[Field, ...]
    wanted: str
    text: str

    @property
    def typed(self) -> bool:
        """Whether no answer can carry an instruction, see above."""
        return not any(field.type in ("email", "host") for field in self.fields)


class Values(msgspec.Struct, frozen=True):
    """What passed.

    Args:
        values: one a field, in their order: a value, nothing, or for ``many`` a list.
        refused: names of fields for which something was answered that is no such value.
    """

    values: dict[str, object]
    refused: tuple[str, ...]


def values_in(question: Question, answer: str) -> Values | None:
    """The values in a model's answer; nothing when it holds no JSON object.

    Args:
        question: what was asked.
        answer: anything.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        said = msgspec.json.decode(answer[start : end + 1], type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    read = _Reader(question.text)
    values: dict[str, object] = {}
    refused = []
    for field in question.fields:
        values[field.name], whole = _field(field, said.get(field.name), read)
        if not whole:
            refused.append(field.name)
    return Values(values, tuple(refused))


def _field(field: Field, said: object, read: _Reader) -> tuple[object, bool]:
    """A field's value, and whether all that was said of it passed."""
    if not field.many:
        value = read.value(field, said)
        return value, said is None or value is not None
    items = said if isinstance(said, list) else []
    passed = [value for item in items[:MANY_LIMIT] if (value := read.value(field, item)) is not None]
    return passed, said is None or (isinstance(said, list) and len(passed) == len(said))


class _Reader:
    """Lets values of one answer through."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: set[str] = set()
        self._of: Mapping[str, Callable[[str], str | None]] = {
            "date": _date,
            "id": self._id,
            "email": self._email,
            "host": self._host,
        }

    def value(self, field: Field, said: object) -> object:
        """What was said if it is a value of the field's type, else nothing."""
        match field.type:
            case "number":
                return _number(said)
            case "boolean":
                return said if isinstance(said, bool) else None
            case "enum":
                return next((option for option in field.options if option == said), None)
            case other:
                return self._of[other](said) if isinstance(said, str) else None

    def _id(self, said: str) -> str | None:
        if not _ID.fullmatch(said) or not any(sign.isdigit() for sign in said) or not self._stands(said):
            return None
        words = set() if _HEX.fullmatch(said) else {run.lower() for run in _LETTERS.findall(said)}
        if sum(map(len, self._words | words)) > ID_LETTERS:
            return None
        self._words |= words
        return said

    def _email(self, said: str) -> str | None:
        found = _EMAIL.fullmatch(said)
        return said if found and _is_host(found[1]) and self._stands(said) else None

    def _host(self, said: str) -> str | None:
        return said if _is_host(said) and self._stands(said) else None

    def _stands(self, said: str) -> bool:
        """Whether the text has it, with no more of a name, an address or a number at either end."""
        return any(
            not _ADJOINS.search(self._text[max(0, at - 2) : at][::-1])
            and not _ADJOINS.search(self._text[at + len(said) : at + len(said) + 2])
            for at in _places(said, self._text)
        )


_ID = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?")
_HEX = lazy_pattern(r"[0-9a-fA-F-]{16,}")
_LETTERS = lazy_pattern(r"[A-Za-z]+")
_EMAIL = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@([A-Za-z0-9.-]{1,253})")
_DATE = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ADJOINS = lazy_pattern(r"^(?:\w|[@%+-]|\.\w)")
"""How a name goes on, read away from it. A dot ends a sentence, unless a letter or digit follows."""


def _number(said: object) -> int | float | None:
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    if abs(said) > NUMBER_LIMIT:
        return None
    return int(said) if float(said).is_integer() else said


def _date(said: str) -> str | None:
    if not _DATE.fullmatch(said):
        return None
    try:
        return date.fromisoformat(said).isoformat()
    except ValueError:
        return None


def _is_host(said: str) -> bool:
    try:
        return parse_host(said, wildcard=False).port == 0 and not said.endswith(".")
    except InvalidRequest:
        return False


def _places(said: str, text: str) -> Iterator[int]:
    at = text.find(said)
    while at >= 0:
        yield at
        at = text.find(said, at + 1)
