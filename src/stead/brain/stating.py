"""A statement that a sentence makes, and the parts that the rules for them share.

Layer: brain. Pure. English. A rule matches the whole sentence, so that whatever it does not expect keeps it from
matching.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.memory import Kind


class Stated(msgspec.Struct, frozen=True):
    """One thing that a sentence states.

    Args:
        kind: as of ``Memory``.
        text: the statement by itself, in words that need no context.
        start: of its words in the turn, in characters.
        end: behind them.
        key: canonical.
        value: see ``Memory``.
        aliases: names that it may be asked for by.
        standing: an instruction for how to work.
        confidence: 0 to 1.
        everywhere: the person said that it holds in every project.
        correcting: it puts something right, so it is no contradiction.
    """

    kind: Kind
    text: str
    start: int
    end: int
    key: str
    value: str
    aliases: tuple[str, ...] = ()
    standing: bool = False
    confidence: float = 0.9
    everywhere: bool = False
    correcting: bool = False


Fields = Mapping[str, object]
"""Those of a ``Stated`` that a rule fills in."""

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], Fields | None]]

NAME = (
    r"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-Þ][\w'\u2019-]*\w"
    r"(?: (?:van |de |von |der |la )?[A-ZÀ-Þ][\w'\u2019-]*\w){0,3})"
)
"""A name of somebody or something, by its capitals; every rule ignores case otherwise."""

NEW = r"(?: new| current| old| default| preferred| usual| main| private| work)?"
IS = r"(?: is| are|'s|\u2019s)(?: now| currently)?"

POINTING = lazy_pattern(
    r"^(?:this|that|it|the|these|those|your|yours|how|what|whatever|whichever|where|when|why|who|to be|"
    r"to see|to think|to know|him|her|"
    r"them|you|us|me|one|ones|both|neither|either|option|number|all of|some of|my|our|his|their|as|so|a lot|a bit|"
    r"no longer|version|answer|not|very|too|more|less|here|there|being|having)\b",
    re.I,
)
"""What begins so means something that was there before; by itself it says nothing."""


def rule(pattern: str, build: Callable[[re.Match[str]], Fields | None]) -> Rule:
    """A rule; the pattern is for a whole sentence."""
    return lazy_pattern(pattern, re.I), build


def first(rules: tuple[Rule, ...], words: str) -> tuple[Fields, ...]:
    """What the first rule says that takes the sentence."""
    for pattern, build in rules:
        if (match := pattern.fullmatch(words)) and (fields := build(match)):
            return (fields,)
    return ()


def slug(text: str) -> str:
    """Words as a part of a key."""
    words = re.findall(r"[^\W_]+[+#]*", text.casefold())
    return "_".join(word for word in words if word not in ("a", "an", "the", "my", "our", "of"))[:60].strip("_")


def bare(noun: str) -> str:
    """A noun without whose it is."""
    return re.sub(r"^(?:the|our|my|all|all of our|all of the) ", "", noun, flags=re.I)
