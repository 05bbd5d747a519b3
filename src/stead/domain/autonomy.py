"""How much is asked, how it is answered, and what is allowed ahead: rows for doors.

Layer: domain. Nothing decides by them. Times are milliseconds since 1970; days are those of UTC.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.policies import Condition
from stead.domain.simulation import Simulation


class Period(msgspec.Struct, frozen=True):
    """What was asked in a time.

    Args:
        since: its first day, as YYYY-MM-DD.
        tasks: objectives that were given, and turns of interactive sessions that ended.
        asks: questions to the person; ``given``, ``denied`` and ``lapsed`` of them were answered so or ran out.
        median_ms: from a question to its answer; 0 without one.
        about: by the rule that asked, how many.
        reflex: the answers look like reflex, see ``brain.autonomy``.
    """

    since: str
    tasks: int
    asks: int
    given: int
    denied: int
    lapsed: int
    median_ms: int
    about: dict[str, int]
    reflex: bool


class LiveGrant(msgspec.Struct, frozen=True):
    """What is allowed ahead now: in one session, or (``session`` is "") in every new one of a folder.

    ``used``: how many calls of the tool a grant has let through there since it was made.
    """

    tool: str
    shape: str
    session: str
    directory: str
    since_ms: int
    expires_at_ms: int
    used: int = 0


class RuleProposal(msgspec.Struct, frozen=True):
    """A rule that would have spared questions which the person always answered with yes.

    ``history``: what it would have changed in the last calls; none for a proposal that was not tried.
    """

    decision: Literal["allow"]
    tools: tuple[str, ...]
    where: tuple[Condition, ...]
    asks: int
    history: Simulation | None = None


class Autonomy(msgspec.Struct, frozen=True):
    """The whole of it, newest week first, and the proposals that would spare most questions first."""

    overall: Period
    weeks: tuple[Period, ...]
    grants: tuple[LiveGrant, ...]
    proposals: tuple[RuleProposal, ...]
