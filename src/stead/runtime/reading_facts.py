"""How a reading ends: with a reply, with a fault, or lost.

Layer: runtime. Facts alone; what may be read, and what a reply is worth, is decided elsewhere.
"""

from __future__ import annotations

from stead.domain import events as ev
from stead.domain.errors import ModelFault
from stead.domain.ports import Reply


def replied(intent: ev.ReadingRequested, reply: Reply, refused: tuple[str, ...] = ()) -> ev.ReadingReplied:
    """It was answered; ``refused`` names the values that were not let through."""
    return ev.ReadingReplied(
        number=intent.number,
        key=intent.key,
        stop=reply.stop,
        refused=refused,
        model=reply.model,
        usage=reply.usage,
        spend=reply.spend,
        attempts=reply.attempts,
        duration_ms=reply.duration_ms,
    )


def failed(intent: ev.ReadingRequested, fault: ModelFault) -> ev.ReadingFailed:
    """No model answered; it counts in full where the provider may have served it."""
    spend = intent.reserved if fault.charged else ev.Spend()
    return ev.ReadingFailed(intent.number, intent.key, fault.kind, str(fault), fault.attempts, spend)


def lost(intent: ev.ReadingRequested, kind: str, error: str) -> ev.ReadingFailed:
    """Nobody saw the reply; it counts in full."""
    return ev.ReadingFailed(intent.number, intent.key, kind, error, (), intent.reserved)
