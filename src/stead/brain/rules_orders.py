"""Rules for instructions that last.

Layer: brain. Pure. Used by ``brain.extracting`` alone. An instruction lasts when it says so: from now on, always,
never, every time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stead.brain.ordering import is_order
from stead.brain.stating import Fields, bare, slug
from stead.domain.lazy_patterns import lazy_pattern

_FROM_NOW = (
    lazy_pattern(
        r"(?:from now on|from here on|in (?:the )?future|going forward|from today on)[,:]? (?:please )?(?P<rest>.+)",
        re.I,
    ),
    lazy_pattern(r"(?:please )?(?P<rest>.+?),? (?:from now on|from here on|going forward|in (?:the )?future)", re.I),
)
_WHENEVER = lazy_pattern(
    r"(?P<when>(?:whenever|every time|each time|any time|anytime) (?:you|we|i) [^,;]{3,80}), (?:please )?"
    r"(?P<rest>[a-z][^;]{3,160})",
    re.I,
)
_HOW_OFTEN = lazy_pattern(
    r"(?:please |you (?:should|must) |i (?:want|need) you to |(?:please )?make sure (?:to |you |that you )|"
    r"be sure to )?"
    r"(?P<how>always|never|don't ever|do not ever|stop) (?P<rest>.+)",
    re.I,
)
_DONT = lazy_pattern(r"(?:please )?(?:don't|do not) (?P<rest>[a-z].+)", re.I)
_STOPPED = {
    "using": "use",
    "adding": "add",
    "writing": "write",
    "asking": "ask",
    "putting": "put",
    "calling": "call",
    "saying": "say",
    "sending": "send",
    "making": "make",
    "repeating": "repeat",
}
_ANSWER_IN = lazy_pattern(
    r"(?:answer|reply|respond|write|speak|talk|explain)(?: (?:to )?me)?(?: everything)? in (?P<value>(?-i:[A-Z])\w+)",
    re.I,
)
_USE_FOR = lazy_pattern(r"(?:use|run|take|pick|choose) (?P<value>[^,;]{1,80}?) (?:for|as) (?P<topic>[^,;]{2,80})", re.I)


def orders(words: str) -> Iterator[Fields]:
    """An instruction that lasts."""
    lasting, rest = False, words
    for form in _FROM_NOW:
        if match := form.fullmatch(rest):
            rest, lasting = match["rest"], True
    if (match := _WHENEVER.fullmatch(rest)) and is_order(match["rest"]):
        yield _order(f"{match['when']}, {match['rest']}", f"{slug(match['when'])}.{slug(match['rest'])}", "yes")
    elif match := _HOW_OFTEN.fullmatch(rest):
        yield from _how_often(match["how"], match["rest"])
    elif lasting and (match := _DONT.fullmatch(rest)) and is_order(match["rest"]):
        yield _told(match["rest"], "never", f"Never {match['rest']}")
    elif lasting and is_order(rest):
        yield _told(rest, "always", f"From now on, {rest[:1].lower()}{rest[1:]}")


def _how_often(how: str, rest: str) -> Iterator[Fields]:
    what = rest
    if how.casefold() == "stop":
        first, _, others = rest.partition(" ")
        if (verb := _STOPPED.get(first.casefold())) is None:
            return
        what = f"{verb} {others}"
    elif not is_order(rest):
        return
    yield _told(what, "always" if how.casefold() == "always" else "never", f"{how.capitalize()} {rest}")


def _told(what: str, how: str, text: str) -> Fields:
    if match := _ANSWER_IN.fullmatch(what):
        return _order(text, "language", match["value"] if how == "always" else f"not {match['value']}")
    if how == "always" and (match := _USE_FOR.fullmatch(what)):
        return _order(text, slug(bare(match["topic"])), match["value"])
    return _order(text, slug(what), how)


def _order(text: str, topic: str, value: str) -> Fields:
    return {
        "kind": "preference",
        "text": f"{text[:1].upper()}{text[1:]}.",
        "key": f"instruction.{topic}",
        "value": value,
        "standing": True,
    }
