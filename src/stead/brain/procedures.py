"""Ways of working that have led to the same kind of end, counted, and written down as skills.

Layer: brain. Pure. A procedure is the order of the calls, without their values: what a file was called does not make
the next time go better, and nothing that was read comes into a skill by this way. So it has the person's words and
words from fixed lists alone, whatever the model had read that chose the calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import msgspec

from stead.brain.patterns import concluded, confidence, topic
from stead.brain.sentences import own_words
from stead.domain.consolidating import Work
from stead.domain.memory import Evidence, Memory, MemoryId, Scope
from stead.domain.sessions import PERSON

USES = 5
"""And ``SUCCESS`` make a procedure a skill that is worth proposing."""
SUCCESS = 0.8
_LEAST_STEPS = 2
LEAST = 2
"""Times that something has to be done in one way, before it is one."""
_MOST_STEPS = 30
_SAME = 0.5
_EVIDENCE = 20


class Procedure(msgspec.Struct, frozen=True):
    """A way of working.

    Args:
        asked: what it is for, in the words in which it was asked for first.
        steps: in order; the same several times in a row is one.
        uses: how often it was gone.
        successes: how often to a good end.
        works: those times, oldest first.
    """

    asked: str
    steps: tuple[str, ...]
    uses: int
    successes: int
    works: tuple[Work, ...]

    @property
    def worth_a_skill(self) -> bool:
        """Whether it has proved itself."""
        return self.uses >= USES and self.successes >= SUCCESS * self.uses

    @property
    def value(self) -> str:
        """The count, as the memory has it."""
        return f"{self.successes} of {self.uses}"


def procedure(works: Sequence[Work]) -> Procedure | None:
    """The way that pieces of work of one kind have in common; nothing when no two that went well went the same way."""
    good = Counter(way for work in works if work.ok and len(way := _way(work.steps)) >= _LEAST_STEPS)
    if not good or good.most_common(1)[0][1] < LEAST:
        return None
    most = good.most_common(1)[0][1]
    steps = next(way for work in works if work.ok and good[way := _way(work.steps)] == most)
    gone = tuple(work for work in works if _same_way(_way(work.steps), steps))
    asked = own_words(gone[0].asked)[:200].rstrip(" .!?")
    return Procedure(asked, steps, len(gone), sum(work.ok for work in gone), gone)


def memory(found: Procedure, scope: Scope, id: MemoryId) -> Memory:
    """A procedure as it is remembered."""
    return Memory(
        id=id,
        kind="procedure",
        text=f"For “{found.asked}” this has worked: {', then '.join(found.steps)}.",
        scope=scope,
        origin="inferred",
        label=concluded([PERSON]),
        valid_from_ms=found.works[-1].ts_ms,
        key=topic("procedure", found.asked),
        value=found.value,
        evidence=tuple(Evidence(work.session, work.seq, 0, len(work.asked)) for work in found.works[:_EVIDENCE]),
        confidence=confidence(found.successes),
    )


def skill(found: Procedure) -> str:
    """A procedure as a skill, in Markdown."""
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(found.steps, start=1))
    return (
        f"# {found.asked[:1].upper()}{found.asked[1:80]}\n\n"
        f"When asked for something like “{found.asked}”.\n\n"
        f"{steps}\n\n"
        f"It went to a good end {found.successes} of {found.uses} times.\n"
    )


def _way(steps: Sequence[str]) -> tuple[str, ...]:
    return tuple(step for step, _ in groupby(steps))[:_MOST_STEPS]


def _same_way(one: Sequence[str], other: Sequence[str]) -> bool:
    first, second = set(one), set(other)
    return bool(first) and len(first & second) / len(first | second) >= _SAME
