"""Figures as people read them, with the times of the local clock.

Layer: cli. Pure; the clock is handed in.
"""

from __future__ import annotations

import time

from stead.domain.figures import counted, duration, money, size, tokens

__all__ = ["age", "counted", "duration", "moment", "money", "size", "tokens"]


def age(then_ms: int, now_ms: float) -> str:
    """How long ago, in one unit: "just now", "5 min ago", "3 d ago"; "" for 0."""
    if not then_ms:
        return ""
    seconds = (now_ms - then_ms) / 1000
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)} {name} ago"
    return "just now"


def moment(ms: int) -> str:
    """A time of the local clock, "2031-05-04 14:07:09"; "" for 0."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000)) if ms else ""
