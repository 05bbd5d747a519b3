"""A change of policy, and what it would have changed in the home's own history.

Layer: domain. Rows for doors; nothing decides by them. Times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.policies import Profile, Rule

Shift = Literal["unasked", "asked", "refused", "released"]
"""What becomes of a verdict: asked before and allowed now; allowed before and asked now; refused now; refused before
and not now."""
Answered = Literal["given", "denied", "lapsed", ""]
ANSWERS: dict[type[ev.Body], Answered] = {
    ev.ApprovalGiven: "given",
    ev.ApprovalDenied: "denied",
    ev.ApprovalLapsed: "lapsed",
}
"""What each end of a question says."""
Apart = Literal["erased", "no-sandbox", "older", "changed"]
"""Why a verdict of the record is not compared: words that it rested on were erased; there was no sandbox; an older
version of Stead gave it, and this one gives another; the tool completes the call's arguments differently now."""


class TriedGrant(msgspec.Struct, frozen=True):
    """A lasting yes.

    Args:
        tool: that is allowed ahead.
        shape: of its calls, as ``ApprovalRow.shape``; "any" for all.
        directory: the folder whose sessions have it; "" for every one.
    """

    tool: str
    shape: str = "any"
    directory: str = ""


class PolicyChange(msgspec.Struct, frozen=True):
    """A change of policy, to be tried on the last verdicts of the home.

    Args:
        add: rules that hold, in place of those with the same id.
        remove: ids of rules that do not.
        profile: of every session; none for its own.
        grants: what is allowed ahead.
        last: on so many verdicts.
        examples: at most so many calls of each kind of shift are shown.
    """

    add: tuple[Rule, ...] = ()
    remove: tuple[str, ...] = ()
    profile: Profile | None = None
    grants: tuple[TriedGrant, ...] = ()
    last: Annotated[int, Meta(ge=1, le=20_000)] = 2000
    examples: Annotated[int, Meta(ge=0, le=100)] = 5

    @property
    def changes(self) -> bool:
        """Whether it changes anything."""
        return bool(self.add or self.remove or self.profile or self.grants)


class ShiftRow(msgspec.Struct, frozen=True):
    """How many calls a change moves one way, and of these how many the person had said yes and no to."""

    shift: Shift
    calls: int
    given: int
    denied: int


class ShiftedCall(msgspec.Struct, frozen=True):
    """One such call: ``before`` and ``after`` are the rules that decided; ``event`` is its verdict's seq."""

    shift: Shift
    event: int
    ts_ms: int
    session: SessionId
    tool: str
    arguments: str
    before: str
    after: str
    answer: Answered


class Simulation(msgspec.Struct, frozen=True):
    """What a change would have done to the last calls.

    Args:
        verdicts: that were looked at, the second ones after an answer included.
        same: those that come out as recorded by the policy of their moment.
        differing: events of those that should and do not; any is a fault of Stead.
        apart: how many are not compared, by reason.
        calls: that were compared: those whose first verdict comes out as recorded.
        shifts: what the change moves; empty where it moves nothing.
        examples: the newest of each kind.
    """

    verdicts: int
    same: int
    differing: tuple[int, ...]
    apart: dict[Apart, int]
    calls: int
    shifts: tuple[ShiftRow, ...]
    examples: tuple[ShiftedCall, ...]
