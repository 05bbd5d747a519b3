"""What a person's turn tells that is worth keeping, by rules alone: no model has a part in it.

Layer: brain. Pure. Precision before recall: a rule takes a sentence that is as it expects and nothing else; what no
rule takes is still found by its words. Statements about one thing share a key, so that a newer one takes the older
one's place: ``person.dentist`` for "my dentist is Dr Lund", ``project.database`` for "we use SQLite for the database".

Only turns of the person are read. What the assistant repeats, what tools return and what memory itself has told say
nothing new, and taking them in would make memory feed on itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, tzinfo

import msgspec

from stead.brain.remembering import canonical, normal
from stead.brain.rules_orders import appointments, orders
from stead.brain.rules_people import PEOPLE
from stead.brain.rules_work import WORK
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


def extracted(turn: Episode, zone: tzinfo = UTC) -> tuple[Stated, ...]:
    """What a turn states, in order; nothing for a turn that is not the person's own.

    Args:
        turn: any.
        zone: where the person was when they said it, for the days that they named.
    """
    if turn.who != "user" or turn.label.integrity is not Integrity.PERSON:
        return ()
    found: dict[tuple[str, str], Stated] = {}
    for sentence in stated(turn.text):
        for one in _statements(sentence, turn.ts_ms, zone):
            found[one.key or one.text, normal(one.value)] = one
    return tuple(found.values())[:MOST]


def everywhere(words: str) -> bool:
    """Whether words say of themselves that they hold in every project."""
    return _EVERYWHERE.search(words) is not None


def _statements(sentence: Sentence, ts_ms: int, zone: tzinfo) -> Iterator[Stated]:
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
    seen: set[str] = set()
    since = _SINCE.sub("", plain, count=1)
    for one in (*appointments(plain, ts_ms, zone), *first(PEOPLE, since), *first(WORK, since), *orders(plain)):
        key = canonical(str(one["key"]))
        if (key and key in seen) or (for_now(words) and "expires_ms" not in one):
            continue
        seen.add(key)
        yield msgspec.convert(
            {
                **one,
                "key": key,
                "start": sentence.start,
                "end": sentence.end,
                "everywhere": wide,
                "correcting": correcting or "instead_of" in one or "ends" in one,
            },
            Stated,
        )
