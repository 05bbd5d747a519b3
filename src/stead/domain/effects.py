"""Every next step that the loop can ask the runtime for.

Layer: domain. ``brain.turn.next_effect`` returns one; ``runtime/sessions.py`` records its intent, performs it and
records its outcome.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.checks import CheckItem
from stead.domain.ends import End
from stead.domain.events import Body, ModelRef, Spend
from stead.domain.ids import CallKey, RequestNo
from stead.domain.messages import UserMessage


class CallModel(msgspec.Struct, frozen=True, tag="call_model"):
    """Send the next request. The reservation is already an upper bound of what it can cost.

    ``chain`` starts at the model to try first; it differs from the session's after a reply that was bad and charged.
    """

    number: RequestNo
    chain: tuple[ModelRef, ...]
    max_output_tokens: int
    reserve: Spend


class RunTools(msgspec.Struct, frozen=True, tag="run_tools"):
    """Take calls to the gate, which runs each, asks, or refuses. Several only if they may run side by side."""

    keys: tuple[CallKey, ...]


class Record(msgspec.Struct, frozen=True, tag="record"):
    """Write down what follows from the facts alone: a notice, a default plan, an expired question."""

    bodies: tuple[Body, ...]


class Wait(msgspec.Struct, frozen=True, tag="wait"):
    """Do nothing before this time (milliseconds since 1970), then ask again."""

    until_ms: int


class Compact(msgspec.Struct, frozen=True, tag="compact"):
    """Replace the messages before ``upto`` by a summary, once the history can be searched for all of them.

    Args:
        upto: the first message that is still sent.
        head: what takes their place.
        counted_percent: see ``ContextTrimmed``.
    """

    upto: int
    head: tuple[UserMessage, ...]
    counted_percent: int


class RunChecks(msgspec.Struct, frozen=True, tag="run_checks"):
    """Judge acceptance checks: ``before`` the work that they are about, or at its ``end``."""

    items: tuple[CheckItem, ...]
    when: Literal["before", "end"]


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """End the objective, or the turn of an interactive session."""

    status: End
    reason: str
    summary: str


Effect = CallModel | RunTools | Record | Wait | Compact | RunChecks | Finish
