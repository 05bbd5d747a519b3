"""What a person asks for again and again.

Layer: brain. Pure. Two requests are alike when most of the words that say what is wanted are the same; figures, names
of files and politeness do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from stead.brain.consolidating import scope_of
from stead.brain.remembering import canonical
from stead.brain.sentences import own_words
from stead.domain.memory import Episode, Evidence, Memory, MemoryId, PlaceId
from stead.domain.policies import Confidentiality, Integrity, Label

SESSIONS = 3
"""Different ones in which something is asked for, before it is a pattern."""
ALIKE = 0.6
EVIDENCE = 20
_MOST_WORDS = 60
_LEAST = 3
_WORD = re.compile(r"[^\W\d_]{2,}(?:'[a-z]+)?")
_NAMES = re.compile(r"\S*[/\\@]\S+|\S+\.\w{1,5}\b|https?://\S+")
_FILLERS = re.compile(
    r"a|about|again|all|also|an|and|any|are|as|at|be|been|by|can|could|do|does|for|from|get|give|go|has|have|hello|"
    r"help|here|hey|hi|how|i'd|i'll|i'm|if|in|into|is|it|its|just|let|like|make|me|my|need|now|of|off|ok|okay|on|once|"
    r"one|or|our|out|please|so|some|still|than|thank|thanks|that|the|their|them|then|there|these|they|this|those|to|"
    r"today|too|up|us|want|was|we|what|when|where|which|will|with|would|yes|yesterday|you|your"
)


def gist(text: str) -> frozenset[str]:
    """The words of a request that say what is wanted; empty for what is too short or too long to be one."""
    words = _WORD.findall(_NAMES.sub(" ", own_words(text)).casefold())
    if len(words) > _MOST_WORDS:
        return frozenset()
    kept = frozenset(_singular(word) for word in words if not _FILLERS.fullmatch(word))
    return kept if len(kept) >= _LEAST else frozenset()


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two gists want the same; an empty one wants nothing."""
    return bool(one and other) and len(one & other) / len(one | other) >= ALIKE


def pattern(group: Sequence[Episode], place: PlaceId, id: MemoryId) -> Memory | None:
    """The pattern in requests that are alike, oldest first; nothing while they are of too few sessions."""
    if len({turn.session for turn in group}) < SESSIONS:
        return None
    asked = own_words(group[0].text)[:200].rstrip(" .!?")
    private = max(group, key=lambda turn: turn.private)
    return Memory(
        id=id,
        kind="pattern",
        text=f"The person asks for this again and again: “{asked}”.",
        scope=scope_of(private, place, everywhere=False),
        origin="inferred",
        label=concluded(turn.label for turn in group),
        valid_from_ms=group[-1].ts_ms,
        key=topic("pattern", asked),
        evidence=evidence(group),
        confidence=confidence(len({turn.session for turn in group})),
    )


def concluded(labels: Iterable[Label]) -> Label:
    """The label of what Stead concludes: no better than trusted, and no better than what it was concluded from."""
    said = list(labels)
    stranger = any(label.taints for label in said)
    order = list(Confidentiality)
    held = max((label.confidentiality for label in said), key=order.index, default=Confidentiality.PRIVATE)
    return Label(Integrity.UNTRUSTED if stranger else Integrity.TRUSTED, held)


def evidence(turns: Sequence[Episode]) -> tuple[Evidence, ...]:
    """The words of the first requests."""
    return tuple(Evidence(turn.session, turn.seq, 0, len(turn.text)) for turn in turns[:EVIDENCE])


def confidence(count: int) -> float:
    """How sure something is that was seen so often."""
    return round(min(0.9, 0.4 + 0.1 * count), 2)


def topic(kind: str, asked: str) -> str:
    """The key of what was concluded from a request."""
    return canonical(f"{kind}.{'_'.join(sorted(gist(asked)))[:80]}")


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
