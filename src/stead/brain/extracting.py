"""What a person's turn tells that is worth keeping, by rules alone: no model has a part in it.

Layer: brain. Pure. Precision before recall: a rule takes a sentence that is as it expects and nothing else; what no
rule takes is still found by its words. Statements about one thing share a key, so that a newer one takes the older
one's place: ``person.dentist`` for "my dentist is Dr Lund", ``preference.indentation`` for "I prefer tabs".

Only turns of the person are read. What the assistant repeats, what tools return and what memory itself has told say
nothing new, and taking them in would make memory feed on itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from stead.brain.remembering import canonical, normal
from stead.brain.rules_orders import orders
from stead.brain.rules_own import OWN
from stead.brain.sentences import LEAD, Sentence, for_now, stated
from stead.brain.stating import Stated, first
from stead.domain.memory import Episode
from stead.domain.policies import Integrity

MOST = 20
"""Statements of one turn; more are a document."""

_RIGHT = (
    re.compile(r"(?:no|nope|wrong|that(?:'s| is) (?:wrong|not right|incorrect|not true))[,;:.! -]+(?P<rest>.+)", re.I),
    re.compile(r"(?:actually|correction|sorry|i meant)[,;:.! -]+(?P<rest>.+)", re.I),
)
_CHANGED = re.compile(
    r"\b(?:now|no longer|any ?more|instead|these days|switched|moved|migrated|changed|again|"
    r"(?:my|our|the) new|from now on|stopped)\b",
    re.I,
)
_TAIL = re.compile(
    r"[, ]+(?:now|nowadays|these days|instead|again|any ?more|please|thanks|thank you|by the way|btw|as of today|"
    r"from today|as of now|though|as well|too|at all|ever|all the time)$",
    re.I,
)
_SINCE = re.compile(
    r"^(?:from now on|from today on|as of (?:today|now|this week)|going forward|since [^,;]{3,30}),? "
    r"(?=(?:i|we|my|our|the)\b)",
    re.I,
)
_ALL = r"(?:all|every|each)(?: of)? (?:my |our )?"
_EVERYWHERE = re.compile(
    rf"[, ]*\b(?:everywhere|in {_ALL}(?:projects?|workspaces?|sessions?|chats?|folders?)|"
    rf"(?:across|for) {_ALL}(?:projects?|workspaces?))\b[, ]*",
    re.I,
)


def extracted(turn: Episode) -> tuple[Stated, ...]:
    """What a turn states, in order; nothing for a turn that is not the person's own."""
    if turn.who != "user" or turn.label.integrity is not Integrity.PERSON:
        return ()
    found: dict[tuple[str, str], Stated] = {}
    for sentence in stated(turn.text):
        for one in _statements(sentence):
            found[one.key, normal(one.value)] = one
    return tuple(found.values())[:MOST]


def everywhere(words: str) -> bool:
    """Whether words say of themselves that they hold in every project."""
    return _EVERYWHERE.search(words) is not None


def _statements(sentence: Sentence) -> Iterator[Stated]:
    words = LEAD.sub("", sentence.text, count=1)
    right = next((match for form in _RIGHT if (match := form.fullmatch(words))), None)
    if right is not None:
        words = right["rest"]
    wide = everywhere(words)
    words = " ".join(_EVERYWHERE.sub(" ", words).split())
    correcting = right is not None or _CHANGED.search(words) is not None
    plain = words
    while (shorter := _TAIL.sub("", plain)) != plain:
        plain = shorter
    plain = plain.strip(" ,;:-\u2013")
    since = _SINCE.sub("", plain, count=1)
    found = {canonical(str(one["key"])): one for one in (*orders(plain), *first(OWN, since))}
    for key, one in found.items() if not for_now(words) else ():
        place = {"key": key, "start": sentence.start, "end": sentence.end}
        yield msgspec.convert({**one, **place, "everywhere": wide, "correcting": correcting}, Stated)
