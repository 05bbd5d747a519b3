"""What the loop knows of the world besides the journal.

Layer: brain.
"""

from __future__ import annotations

import msgspec

from stead.brain.trimming import Prompt
from stead.domain.ports import ModelInfo
from stead.domain.tools import ToolSpec


class World(msgspec.Struct, frozen=True):
    """Facts of the moment.

    Args:
        now_ms: milliseconds since 1970 (UTC).
        tools: what the session may be offered, in a constant order.
        models: what is known of each model of the session's chain, in the chain's order.
        prompt: the session's, kept from step to step.
    """

    now_ms: int
    tools: tuple[ToolSpec, ...]
    models: tuple[ModelInfo, ...]
    prompt: Prompt = msgspec.field(default_factory=Prompt)
