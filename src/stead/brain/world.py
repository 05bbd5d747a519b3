"""What the loop is told about the world beside the journal.

Layer: brain.
"""

from __future__ import annotations

import msgspec

from stead.domain.ports import ModelInfo
from stead.domain.tools import ToolSpec


class World(msgspec.Struct, frozen=True):
    """Facts of the moment.

    Args:
        now_ms: milliseconds since 1970 (UTC).
        tools: what the session may be offered, in a constant order.
        models: what is known of each model of the session's chain, in the chain's order.
    """

    now_ms: int
    tools: tuple[ToolSpec, ...]
    models: tuple[ModelInfo, ...]
