"""Trust tiers of models: how strictly a model's replies are supervised, set by the person or measured.

Layer: domain. Pure. A tier says how a model is led and permits nothing: the guardian does not know of it. What is
measured are facts that every tier counts alike, so that no tier brings about the figures that keep a model in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from stead.domain.objectives import ModelRef

Tier = Literal["strict", "normal", "trusted"]
WINDOW = 200
"""The newest replies of a model that are measured."""
LEAST_REPLIES = 30
"""With fewer nothing is measured."""
LEAST_CALLS, LEAST_ENDS = 20, 10
"""With fewer the rate says nothing."""
VERIFIED = 10
"""Runs that ended verified, before a model is trusted."""
_STRICT = {"strict": (0.04, 0.15), "normal": (0.10, 0.30), "trusted": (0.10, 0.30)}
"""By the tier of before: from which rates of faults and of refuted ends on a model is led strictly. Lower for one that
is, so that it does not change back and forth."""
_TRUSTED = {"strict": (0.01, 0.05), "normal": (0.01, 0.05), "trusted": (0.03, 0.12)}
"""As above: up to which rates it is trusted."""


class TrackRecord(msgspec.Struct, frozen=True):
    """What the newest replies of a model were, counted; at most ``WINDOW`` replies.

    Args:
        replies: in all.
        calls: of tools in them.
        malformed: calls whose arguments did not fit the tool.
        unknown: calls of tools that there are not, or that were not offered.
        sent_back: replies that ended nothing: a check failed, or they were empty or cut off.
        repeated: runs and turns that ended because the same call or reply came again and again.
        verified: runs that ended verified.
        ends: runs and turns that it ended itself, those included.
    """

    replies: int = 0
    calls: int = 0
    malformed: int = 0
    unknown: int = 0
    sent_back: int = 0
    repeated: int = 0
    verified: int = 0
    ends: int = 0


class TierRow(msgspec.Struct, frozen=True):
    """How a model is led from its next session on, and why.

    ``by``: the person set it, it follows from the figures, or there is too little to measure.
    """

    provider: str
    model: str
    tier: Tier
    by: Literal["person", "measured", "default"]
    record: TrackRecord


class TrackRecords(Protocol):
    """What models have done, as counted with the record. It blocks."""

    def of(self, model: ModelRef) -> TrackRecord:
        """What a model's newest replies were; of one that never replied, zeros."""

    def models(self) -> Sequence[ModelRef]:
        """Every model that has replied to a session, by name."""


def measured(record: TrackRecord, before: Tier = "normal") -> Tier:
    """The tier that a track record comes to, for a model that had another one before.

    A model without enough of a record keeps what it has: "normal" where nothing was ever measured.
    """
    faults = _rate(record.malformed + record.unknown, record.calls, LEAST_CALLS)
    refuted = _rate(record.sent_back + record.repeated, record.sent_back + record.ends, LEAST_ENDS)
    rates = (faults, refuted)
    if record.replies < LEAST_REPLIES or rates == (None, None):
        return before
    if any(rate is not None and rate >= most for rate, most in zip(rates, _STRICT[before], strict=True)):
        return "strict"
    earned = record.verified >= VERIFIED or before == "trusted"
    proven = all(rate is not None and rate <= most for rate, most in zip(rates, _TRUSTED[before], strict=True))
    return "trusted" if earned and proven else "normal"


def _rate(count: int, of: int, least: int) -> float | None:
    return count / of if of >= least else None
