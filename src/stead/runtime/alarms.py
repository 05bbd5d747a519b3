"""An alarm: one callback, once, in a while.

Layer: runtime. Knows nothing of what it wakes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LONGEST_S = 24 * 3600.0


class Alarm:
    """Rings once after it was set; setting it again puts it off.

    Args:
        ring: what it calls, in the loop.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether it is going to ring."""
        return self._timer is not None

    def set(self, delay_s: float) -> None:
        """Ring after so long, at once for what has passed, after ``LONGEST_S`` at the latest."""
        self.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(max(delay_s, 0.0), LONGEST_S), self._rang)

    def cancel(self) -> None:
        """Do not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rang(self) -> None:
        self._timer = None
        self._ring()
