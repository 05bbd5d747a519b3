"""Notices that a share of the day's or the month's cap is spent: once for each share, period and cap.

Layer: runtime. Looks at the ledger after whatever was spent; a home without a cap has nothing to look at.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from stead.domain import events as ev
from stead.domain.errors import SteadError
from stead.domain.ids import NO_COMMAND
from stead.domain.objectives import NO_CAP, Spend
from stead.domain.ports import Clock
from stead.runtime.bus import Bus
from stead.runtime.home import HomeState, HomeStream
from stead.runtime.loading import day_of

log = logging.getLogger(__name__)
_UNITS: tuple[Literal["tokens", "usd_micros"], ...] = ("tokens", "usd_micros")
_SPENT = (ev.ModelReplied, ev.ModelFailed, ev.ReadingReplied, ev.ReadingFailed, ev.CapSet)


class CapWarnings:
    """Watches what is spent; the caller of ``keep`` owns the work.

    Args:
        home: has the caps, and records the notices.
        bus: tells when something is spent.
        clock: says which day it is.
        spent: on a day or in a month, without what is only reserved, which may come to much less; it blocks.
    """

    def __init__(self, home: HomeStream, bus: Bus, clock: Clock, spent: Callable[[str], Spend]) -> None:
        self._home = home
        self._bus = bus
        self._clock = clock
        self._spent = spent

    async def keep(self) -> None:
        """Record what is reached, now and after each request; those that come together are looked at once."""
        watching = self._bus.subscribe()
        spent = True
        try:
            while True:
                if spent:
                    await self.look()
                items = await watching.next()
                facts = (item.body for item in items if isinstance(item, ev.Event))
                spent = watching.overrun or any(isinstance(fact, _SPENT) for fact in facts)
                if watching.overrun:
                    watching.close()
                    watching = self._bus.subscribe()
        finally:
            watching.close()

    async def look(self) -> None:
        """Record the shares that are reached and not yet recorded."""
        state = self._home.state
        if (state.caps.daily, state.caps.monthly) == (NO_CAP, NO_CAP):
            return
        today = day_of(self._clock.now_ms()).name
        try:
            used = [await asyncio.to_thread(self._spent, period) for period in (today, today[:7])]
            if facts := due_warnings(state, today, *used):
                await self._home.record(*facts, cause=NO_COMMAND)
        except SteadError as fault:
            log.warning("caps: %s; looked at again after the next request", fault)


def due_warnings(state: HomeState, today: str, day: Spend, month: Spend) -> list[ev.CapWarned]:
    """The notices that what is spent on a day and in its month calls for."""
    found = []
    for period, cap, used in ((today, state.caps.daily, day), (today[:7], state.caps.monthly, month)):
        for unit in _UNITS:
            most, spent = getattr(cap, unit), getattr(used, unit)
            if not isinstance(most, int) or not most:
                continue
            share = max((share for share in state.caps.warn_at if 100 * spent >= share * most), default=0)
            last = state.warned.get((len(period), unit))
            known = last.share if last and (last.period, last.most) == (period, most) else 0
            if share > known:
                found.append(ev.CapWarned(period, unit, share, spent, most))
    return found


def standing_warnings(state: HomeState, today: str) -> tuple[ev.CapWarned, ...]:
    """The notices of this day and month that are about the caps as they are, the highest share first."""
    caps = {(today, unit): getattr(state.caps.daily, unit) for unit in _UNITS}
    caps |= {(today[:7], unit): getattr(state.caps.monthly, unit) for unit in _UNITS}
    standing = [one for one in state.warned.values() if caps.get((one.period, one.unit)) == one.most]
    return tuple(sorted(standing, key=lambda one: -one.share))
