"""The state of the folder in which memory can be read and edited.

Layer: domain.
"""

from __future__ import annotations

import msgspec


class MirrorState(msgspec.Struct, frozen=True):
    """How the files of memory are.

    Args:
        alive: they are kept up.
        reason: why not, and what to do; "" when they are.
        folder: where they are.
        last_sync_ms: when they last were as memory is; 0 for never.
        notices: what a person should know, newest first: files that were not read, lines that were not taken in,
            changes on both sides. None has a word of a memory.
    """

    alive: bool
    reason: str
    folder: str
    last_sync_ms: int
    notices: tuple[str, ...] = ()
