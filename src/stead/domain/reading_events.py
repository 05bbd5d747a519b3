"""Facts of readings in quarantine: requests to a session's model apart from its own, made by a call while it runs.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too. Neither the text
that was read nor the model's answer is recorded: what passed of it is the call's outcome.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.ids import CallKey, RequestNo
from stead.domain.messages import Usage
from stead.domain.objectives import ModelRef, Spend


class ReadingRequested(msgspec.Struct, frozen=True, tag="reading.requested"):
    """Intent: the request was about to be sent.

    Args:
        number: one past the session's last request; the two kinds are numbered together.
        key: the call that needs it.
        size_bytes: of the text that is read.
        max_output_tokens: the cap on the reply.
        reserved: taken from every budget before the request; an upper bound.
    """

    number: RequestNo
    key: CallKey
    size_bytes: int
    max_output_tokens: int
    reserved: Spend


class ReadingReplied(msgspec.Struct, frozen=True, tag="reading.replied"):
    """A whole reply came. ``refused`` names the fields for which it held something that does not pass."""

    number: RequestNo
    key: CallKey
    stop: Literal["stop", "length", "tool_call", "content_filter"]
    refused: tuple[str, ...]
    model: ModelRef
    usage: Usage
    spend: Spend
    attempts: tuple[str, ...]
    duration_ms: int


class ReadingFailed(msgspec.Struct, frozen=True, tag="reading.failed"):
    """No reply came. ``spend``: nothing when it surely was not served, else the whole reservation."""

    number: RequestNo
    key: CallKey
    kind: str
    error: str
    attempts: tuple[str, ...]
    spend: Spend


ReadingBody = ReadingRequested | ReadingReplied | ReadingFailed
