"""A second model's opinion of a run: values of fixed types and numbers of events, so that it can repeat no sentence.

Layer: domain. Pure. The model gets the goal, the checks and what the record holds, and none of the talk. What it cites
is looked up: an opinion that cites no event of the run is void, whatever it says. It changes no end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from stead.domain.readings import Field

Verdict = Literal["supported", "contradicted", "unclear", "void"]
CONCERNS = (
    "part of the goal is not done",
    "something changed that the goal does not speak of",
    "tests or checks were changed",
    "a command failed and the record shows no repair",
)
FIELDS = (
    Field("verdict", "enum", ("supported", "contradicted", "unclear")),
    Field("cited", "number", many=True),
    Field("concerns", "enum", CONCERNS, many=True),
)
WANTED = (
    "The text is the record of a finished piece of work: its goal, its checks, and numbered events. `verdict`: whether "
    "the events show that the goal was reached. `cited`: the numbers of the events that show it. `concerns`: what the "
    "events give reason for."
)
_MOST = 20


class Cited(msgspec.Struct, frozen=True):
    """An event that the opinion rests on: its global number, and what it was, by the record."""

    seq: int
    words: str


class Opinion(msgspec.Struct, frozen=True):
    """What a second model made of a run.

    Args:
        verdict: whether the record supports that the goal was reached; ``void`` where nothing true was cited.
        cited: events that were looked up and found, at most 20.
        concerns: of ``CONCERNS``.
        unfounded: cited numbers that are no events of the run.
        why: why there is none; "" where there is one.
    """

    verdict: Verdict
    cited: tuple[Cited, ...] = ()
    concerns: tuple[str, ...] = ()
    unfounded: int = 0
    why: str = ""


def opinion(values: Mapping[str, object], events: Mapping[int, str]) -> Opinion:
    """The opinion that an answer gives, as far as it holds.

    Args:
        values: of ``FIELDS``.
        events: what each event of the run was, by its number.
    """
    numbers = dict.fromkeys(_list(values.get("cited")))
    known = [seq for seq in numbers if isinstance(seq, int) and seq in events]
    cited = tuple(Cited(seq, events[seq]) for seq in known[:_MOST])
    concerns = tuple(str(concern) for concern in dict.fromkeys(_list(values.get("concerns"))))
    if not cited:
        return Opinion("void", unfounded=len(numbers))
    said = values.get("verdict")
    verdict: Verdict = said if said == "supported" or said == "contradicted" else "unclear"
    return Opinion(verdict, cited, concerns, len(numbers) - len(known))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
