"""Every next step that the loop can ask the runtime for.

Layer: domain. ``brain.turn.next_effect`` returns one; ``runtime/sessions.py`` records its intent, performs it and
records its outcome.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.events import Body, ModelRef, Spend
from stead.domain.ids import CallKey, RequestNo


class CallModel(msgspec.Struct, frozen=True, tag="call_model"):
    """Send the next request. The reservation is already an upper bound of what it can cost.

    ``chain`` starts at the model to try first; it differs from the session's after a reply that was bad and charged.
    """

    number: RequestNo
    chain: tuple[ModelRef, ...]
    max_output_tokens: int
    reserve: Spend


class RunTool(msgspec.Struct, frozen=True, tag="run_tool"):
    """Take one call to the gate, which runs it, asks, or refuses."""

    key: CallKey


class Record(msgspec.Struct, frozen=True, tag="record"):
    """Write down what follows from the facts alone: a notice, a default plan, an expired question."""

    bodies: tuple[Body, ...]


class Wait(msgspec.Struct, frozen=True, tag="wait"):
    """Do nothing before this time (milliseconds since 1970), then ask again."""

    until_ms: int


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """End the objective."""

    status: Literal["completed", "failed", "cancelled"]
    reason: str
    summary: str


Effect = CallModel | RunTool | Record | Wait | Finish
