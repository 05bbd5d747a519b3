"""Alarms on the host's clock."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial

import pytest

from stead.runtime.alarms import SleepWatch, WallAlarm, WallClock


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.mark.parametrize("linux", [True, False])
async def test_an_alarm_rings_at_its_moment_or_at_once_where_that_has_passed(linux: bool) -> None:
    rang = asyncio.Event()
    alarm = WallAlarm(rang.set) if linux else WallAlarm(rang.set, timer=lambda: -1)  # where there is no such timer
    for ahead_ms in (60, -5_000):
        rang.clear()
        at_ms = now_ms() + ahead_ms
        alarm.set(at_ms, now_ms())
        await asyncio.wait_for(rang.wait(), 10)
        assert now_ms() >= at_ms - 1
    alarm.close()


async def test_an_alarm_that_was_taken_back_or_closed_does_not_ring() -> None:
    rang: list[str] = []
    one, other, last = (WallAlarm(partial(rang.append, name)) for name in ("one", "other", "last"))
    done = asyncio.Event()
    one.set(now_ms() + 30, now_ms())
    one.set(None, now_ms())
    other.set(now_ms() + 30, now_ms())
    other.close()
    waits = WallAlarm(done.set)
    waits.set(now_ms() + 90, now_ms())
    await asyncio.wait_for(done.wait(), 10)
    assert rang == []
    for alarm in (one, last, waits):
        alarm.close()


async def test_a_sleep_is_noticed_by_the_clock_that_went_on_and_a_correction_of_seconds_is_none() -> None:
    clock = WallClock()
    ahead = {"ms": 0}
    clock.now_ms = lambda: now_ms() + ahead["ms"]  # type: ignore[method-assign]
    descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    woke = asyncio.Event()
    rings: list[int] = []

    def heard() -> None:
        rings.append(ahead["ms"])
        woke.set()

    watch = asyncio.create_task(SleepWatch(clock, (heard,), lambda: descriptor).keep())
    await asyncio.sleep(0)
    for ahead_ms in (5_000, 4_000, 3 * 86_400_000):
        ahead["ms"] = ahead_ms
        os.eventfd_write(descriptor, 1)
        for _ in range(3):
            await asyncio.sleep(0)
    await asyncio.wait_for(woke.wait(), 10)
    assert rings == [3 * 86_400_000]
    watch.cancel()
