"""How long what a person has deleted can be taken back.

Layer: domain. A deleted session keeps everything that it has, its checkpoints, the versions of files before its changes
and its conversation included, until it is erased. Of a session that is not deleted nothing of these is ever dropped.
"""

from __future__ import annotations

KEPT_DAYS = 30
KEPT_MS = KEPT_DAYS * 86_400_000


def is_due(trashed_ms: int, now_ms: int) -> bool:
    """Whether what was put into the trash then (0: is not in it) is to be erased by now."""
    return 0 < trashed_ms <= now_ms - KEPT_MS
