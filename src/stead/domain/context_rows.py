"""What a model's context holds and costs, as doors show it.

Layer: domain. Figures are estimates, brought to the measure of what the provider counted where it has; nothing decides
by them. Money is millionths of a dollar.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.objectives import ModelRef

ContextKind = Literal[
    "instructions",
    "tools",
    "words",
    "memory",
    "notices",
    "rules",
    "summary",
    "others",
    "replies",
    "thinking",
    "calls",
    "results",
]
"""``words`` are the person's, ``notices`` Stead's, ``rules`` the project's own, ``others`` what third parties wrote."""


class ContextPart(msgspec.Struct, frozen=True):
    """Parts of one kind that are treated alike.

    Args:
        kind: as ``ContextKind``.
        name: the tool of calls and results, the source of what others wrote; else "".
        count: how many there are.
        tokens: of the next request.
        share_percent: of the window.
        trimmed: a placeholder is sent for what is long in them.
        cached: they were a part of the last request, so a provider is likely to have them in its cache.
    """

    kind: ContextKind
    name: str
    count: int
    tokens: int
    share_percent: float
    trimmed: bool
    cached: bool


class ContextRow(msgspec.Struct, frozen=True):
    """The next request of a session, by its parts, the largest first.

    Args:
        parts: of the next request, in order.
        tokens: of all of them.
        window_tokens: of the smallest window in the session's chain; 0 when none of its providers is there any more.
        used_percent: of the window.
        trims_at_tokens: past this, room for a reply included, older parts are trimmed.
        trimmed_messages: how many messages are sent trimmed.
        messages: how many there are.
        counted: whether the figures follow a provider's count.
        model: which one comes first; prices are its own.
        usd_micros: what the input costs at most, with nothing in the provider's cache.
        cached_usd_micros: the same with everything there that the last request had; the same where no price is known
            for what is cached.
        price_known: whether the prices mean anything.
    """

    parts: tuple[ContextPart, ...]
    tokens: int
    window_tokens: int
    used_percent: float
    trims_at_tokens: int
    trimmed_messages: int
    messages: int
    counted: bool
    model: ModelRef
    usd_micros: int
    cached_usd_micros: int
    price_known: bool
