"""The host's clock, and alarms: one callback, once, in a while or at a time of day.

Layer: runtime. Knows nothing of what it wakes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence

from stead.domain.ports import Clock

log = logging.getLogger(__name__)

LONGEST_S = 24 * 3600.0
LEAST_SLEEP_S = 10.0
"""What is shorter breaks no connection."""
_YEAR_MS = 366 * 86_400_000
_LOOK_S = 30.0
_CLOCK_REALTIME, _ABSOLUTE, _TELL_OF_JUMPS = 0, 1, 2
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class WallClock:
    """The host's clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 (UTC)."""
        return time.time_ns() // 1_000_000


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


class WallAlarm:
    """Rings at a moment of the host's clock, and whenever that clock is set; a host that was asleep rings as it wakes.

    The loop's own timers stand still while the host sleeps, and hear nothing of a clock that is set. Linux has a timer
    that does both (timerfd_create(2), ``TFD_TIMER_CANCEL_ON_SET``); elsewhere the clock is looked at twice a minute,
    while an alarm is set.

    Args:
        ring: what it calls, in the loop. It may ring early, and for nothing.
        timer: makes the descriptor of such a timer; gives -1 where there is none.
    """

    def __init__(self, ring: Callable[[], None], timer: Callable[[], int] | None = None) -> None:
        self._ring = ring
        self._plain = Alarm(ring)
        self._descriptor = (timer or _timer)()
        if self._descriptor >= 0:
            asyncio.get_running_loop().add_reader(self._descriptor, self._rang)

    def set(self, at_ms: int | None, now_ms: int) -> None:
        """Ring at a moment, in milliseconds since 1970; None for no moment, ``now_ms`` is what time it is."""
        self._plain.cancel()
        wall = self._descriptor >= 0 and _set_timer(self._descriptor, 0 if at_ms is None else max(1, at_ms))
        if at_ms is not None and not wall:
            self._plain.set(min(_LOOK_S, (at_ms - now_ms) / 1000))

    def close(self) -> None:
        """Ring no more."""
        self._plain.cancel()
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _rang(self) -> None:
        with contextlib.suppress(OSError):  # ECANCELED: the clock was set
            os.read(self._descriptor, 8)
        self._ring()


class SleepWatch:
    """Notices that the host has slept, or that its clock was set far ahead, which is the same to what waits.

    Args:
        clock: the host's.
        woke: what is called then, in the loop.
        timer: as of ``WallAlarm``.
    """

    def __init__(
        self, clock: Clock, woke: Sequence[Callable[[], None]], timer: Callable[[], int] | None = None
    ) -> None:
        self._clock = clock
        self._woke = woke
        self._timer = timer

    async def keep(self) -> None:
        """Watch until cancelled. Nothing runs while nothing happens."""
        rang = asyncio.Event()
        alarm = WallAlarm(rang.set, self._timer)
        try:
            while True:
                ahead_s = self._ahead_s()
                alarm.set(self._clock.now_ms() + _YEAR_MS, self._clock.now_ms())
                await rang.wait()
                rang.clear()
                if self._ahead_s() - ahead_s >= LEAST_SLEEP_S:
                    log.info("this computer has slept, or its clock was set: %d s", self._ahead_s() - ahead_s)
                    for call in self._woke:
                        call()
        finally:
            alarm.close()

    def _ahead_s(self) -> float:
        """By how much the clock is ahead of one that stands still while the host sleeps."""
        return self._clock.now_ms() / 1000 - time.monotonic()


class _Spec(ctypes.Structure):
    """``struct itimerspec``: again after, and first at; seconds and nanoseconds each."""

    _fields_ = (("again", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


def _timer() -> int:
    """The descriptor of a timer on the host's clock; -1 where there is none."""
    return int(ctypes.CDLL(None).timerfd_create(_CLOCK_REALTIME, _FLAGS)) if sys.platform == "linux" else -1


def _set_timer(descriptor: int, at_ms: int) -> bool:
    """Set it, or with 0 take it back; whether that was done."""
    spec = _Spec((0, 0), (at_ms // 1000, at_ms % 1000 * 1_000_000))
    flags = _ABSOLUTE | _TELL_OF_JUMPS
    return bool(ctypes.CDLL(None).timerfd_settime(descriptor, flags, ctypes.byref(spec), None) == 0)
