"""What a person asks for again and again, and the way of working that led to a good end: patterns, procedures, skills.

Layer: brain. Pure. Two requests are alike when most of the words that say what is wanted are the same; figures, names
of files and politeness do not count. A way of working is the order of the calls without their values, so a skill has
the person's words and words from fixed lists alone, whatever the model that chose the calls had read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import msgspec

from stead.brain.consolidating import scope_of
from stead.brain.remembering import canonical
from stead.brain.sentences import own_words
from stead.domain.consolidating import Work
from stead.domain.memory import Episode, Evidence, Kind, Memory, MemoryId, PlaceId
from stead.domain.policies import Confidentiality, Integrity, Label

SESSIONS = 3
"""Different ones in which something is asked for, before it is a pattern."""
ALIKE = 0.6
LEAST = 2
"""Times that something has to be done in one way, before it is a procedure."""
USES, SUCCESS = 5, 0.8
"""What makes a procedure worth proposing as a skill: uses, and the share of them that ended well."""
_LEAST_STEPS, _MOST_STEPS = 2, 30
_SAME_WAY = 0.5
_EVIDENCE = 20
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


class Procedure(msgspec.Struct, frozen=True):
    """A way of working.

    Args:
        asked: what it is for, in the words in which it was asked for first.
        steps: in order; the same several times in a row is one.
        works: the work that was done this way, oldest first.
    """

    asked: str
    steps: tuple[str, ...]
    works: tuple[Work, ...]

    @property
    def successes(self) -> int:
        """How often it led to a good end."""
        return sum(work.ok for work in self.works)

    @property
    def worth_a_skill(self) -> bool:
        """Whether it has proved itself."""
        return len(self.works) >= USES and self.successes >= SUCCESS * len(self.works)

    @property
    def skill(self) -> str:
        """It as a skill, in Markdown."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        return (
            f"# {self.asked[:1].upper()}{self.asked[1:80]}\n\n"
            f"When asked for something like “{self.asked}”.\n\n"
            f"{steps}\n\n"
            f"It ended well {self.successes} of {len(self.works)} times.\n"
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


def pattern(turns: Sequence[Episode], place: PlaceId, id: MemoryId) -> Memory | None:
    """The pattern in requests that are alike, oldest first; nothing while they are of too few sessions."""
    sessions = len({turn.session for turn in turns})
    if sessions < SESSIONS:
        return None
    text = f"The person asks for this again and again: “{_asked(turns)}”."
    return _concluded("pattern", text, turns, place, id, sessions)


def procedure(turns: Sequence[Episode], works: Sequence[Work]) -> Procedure | None:
    """What work for requests that are alike has in common; nothing when no two that ended well went the same way.

    Args:
        turns: the requests, oldest first.
        works: what was done for them, oldest first.
    """
    good = Counter(way for work in works if work.ok and len(way := _way(work)) >= _LEAST_STEPS)
    steps, times = good.most_common(1)[0] if good else ((), 0)
    if times < LEAST:
        return None
    return Procedure(_asked(turns), steps, tuple(work for work in works if _overlap(_way(work), steps) >= _SAME_WAY))


def remembered(found: Procedure, turns: Sequence[Episode], place: PlaceId, id: MemoryId) -> Memory:
    """A procedure as it is remembered; ``turns`` as of ``procedure``."""
    seqs = {work.seq for work in found.works}
    text = f"For “{found.asked}” this has worked: {', then '.join(found.steps)}."
    kept = [turn for turn in turns if turn.seq in seqs]
    value = f"{found.successes} of {len(found.works)}"
    return _concluded("procedure", text, kept, place, id, found.successes, value)


def _concluded(
    kind: Kind, text: str, turns: Sequence[Episode], place: PlaceId, id: MemoryId, times: int, value: str = ""
) -> Memory:
    held = max((turn.label.confidentiality for turn in turns), key=list(Confidentiality).index)
    return Memory(
        id=id,
        kind=kind,
        text=text,
        scope=scope_of(turns[0], place, everywhere=False),
        origin="inferred",
        label=Label(Integrity.TRUSTED, held),
        valid_from_ms=turns[-1].ts_ms,
        key=canonical(f"{kind}.{'_'.join(sorted(gist(turns[0].text)))[:80]}"),
        value=value,
        evidence=tuple(Evidence(turn.session, turn.seq, 0, len(turn.text)) for turn in turns[:_EVIDENCE]),
        confidence=round(min(0.9, 0.4 + 0.1 * times), 2),
    )


def _asked(turns: Sequence[Episode]) -> str:
    return own_words(turns[0].text)[:200].rstrip(" .!?")


def _way(work: Work) -> tuple[str, ...]:
    return tuple(step for step, _ in groupby(work.steps))[:_MOST_STEPS]


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    first, second = set(one), set(other)
    return len(first & second) / len(first | second)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
