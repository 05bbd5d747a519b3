"""How fast something is, on a machine that others use too: of several goes the fastest, which they slow down least."""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest_s(work: Callable[[], object], goes: int = 3) -> float:
    """The CPU time that ``work`` took when it took least, in seconds. It must do the same each time."""
    took_s = []
    for _ in range(goes):
        began_s = time.process_time()
        work()
        took_s.append(time.process_time() - began_s)
    return min(took_s)
