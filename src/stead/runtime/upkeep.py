"""Memory's upkeep: when consolidation runs, and what people say about its runs and proposals.

Layer: runtime. It runs when it has become quiet after work came to an end, at most every ten minutes, and
once a day for what time ends; nothing runs while nothing happens, and no model is asked where nothing is new.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import assert_never

from stead.domain import events as ev
from stead.domain import memory_commands as cmd
from stead.domain.commands import Answer
from stead.domain.errors import SteadError
from stead.domain.memory import RunId
from stead.domain.memory_events import MemoryConsolidated
from stead.domain.ports import Claimed
from stead.runtime.bus import Bus, Subscription
from stead.runtime.consolidation import Consolidation
from stead.runtime.extractor import Extractor
from stead.runtime.reverting import Runs
from stead.runtime.settling import Settling

QUIET_S = 180.0
EVERY_S = 600.0
LONGEST_S = 1_800.0
"""How long one waits for quiet where there is none."""
DAILY_S = 86_400.0

UpkeepCommand = cmd.Consolidate | cmd.RevertRun | cmd.SettleProposal

log = logging.getLogger(__name__)


class Upkeep:
    """Runs consolidation when it is due; the caller of ``keep`` owns the work.

    Args:
        consolidation: the runs by rules.
        extractor: the runs by a model.
        runs: those that there were.
        settling: answers proposals.
        bus: what happens.
        quiet_s: see ``QUIET_S``.
        every_s: from one run to the next at least, but for one that is asked for.
    """

    def __init__(
        self,
        consolidation: Consolidation,
        extractor: Extractor,
        runs: Runs,
        settling: Settling,
        bus: Bus,
        *,
        quiet_s: float = QUIET_S,
        every_s: float = EVERY_S,
    ) -> None:
        self._consolidation = consolidation
        self._extractor = extractor
        self._runs = runs
        self._settling = settling
        self._bus = bus
        self._quiet_s = quiet_s
        self._every_s = every_s
        self._waits = Waits()

    # -- commands -------------------------------------------------------------------------------------------------

    async def carry_out(self, command: UpkeepCommand, claim: Claimed, door: str) -> Answer:
        """Carry a command out; its facts are durable when this returns.

        Raises:
            CallerError: it cannot be, and nothing was written.
            StorageFault: the journal cannot be written, and nothing was.
        """
        stream, memories = self._consolidation.memories.stream, self._consolidation.memories
        match command:
            case cmd.Consolidate():
                text = _told(await self.run())
                async with stream.lock:
                    return await stream.answer(claim, (), text)
            case cmd.RevertRun(run=run):
                async with stream.lock:
                    new = RunId(memories.new_id("c"))
                    return await stream.answer(claim, *await self._runs.taken_back(run, new, door))
            case cmd.SettleProposal(id=id, accept=accept):
                await self._settling.before(id, accept, door)
                async with stream.lock:
                    return await stream.answer(claim, *await self._settling.facts(id, accept, door))
            case _:
                assert_never(command)

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Work in what is new, by rules and then by a model if there is one; gives the runs that there were.

        Raises:
            StorageFault: the journal or an index cannot be used; what was recorded before stays.
        """
        return (*await self._consolidation.run(), *await self._extractor.run())

    # -- by itself ------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Run whenever it is time, for as long as this runs. What was said before a crash is worked in at the start."""
        watch = self._bus.subscribe()
        now = asyncio.get_running_loop().time
        self._waits = Waits(ended_s=now(), quiet_s=self._quiet_s)
        try:
            while True:
                try:
                    async with asyncio.timeout_at(self._waits.due_s(now())):
                        watch = self._seen(await watch.next(), watch, now())
                except TimeoutError:
                    left_s = None if await self._work() else now()
                    self._waits = Waits(ran_s=now(), ended_s=left_s, quiet_s=self._quiet_s, every_s=self._every_s)
        finally:
            watch.close()

    def _seen(self, items: Sequence[object], watch: Subscription, now_s: float) -> Subscription:
        if not items:  # it fell behind: something has happened
            watch.close()
            self._waits.ended(now_s)
            return self._bus.subscribe()
        for item in items:
            if isinstance(item, ev.Event) and isinstance(item.body, ev.TurnEnded | ev.ObjectiveEnded):
                self._waits.ended(now_s)
        return watch

    async def _work(self) -> bool:
        """Run; whether it came to its end, or is to be tried again soon."""
        try:
            if runs := await self.run():
                log.info("%s", _told(runs))
        except SteadError as error:
            log.warning("memory was not consolidated, the next time goes on from here: %s", error)
            return False
        return True


class Waits:
    """When the next run is due, in seconds of some clock.

    Args:
        ran_s: when the last one was.
        ended_s: when work came to an end since.
        quiet_s: see ``QUIET_S``.
        every_s: from one run to the next at least.
    """

    def __init__(
        self,
        *,
        ran_s: float | None = None,
        ended_s: float | None = None,
        quiet_s: float = QUIET_S,
        every_s: float = EVERY_S,
    ) -> None:
        self._quiet_s = quiet_s
        self._every_s = every_s
        self._ran_s = ran_s
        self._first_s = ended_s
        self._last_s = ended_s

    def ended(self, now_s: float) -> None:
        """Work came to an end."""
        self._first_s = self._first_s if self._first_s is not None else now_s
        self._last_s = now_s

    def due_s(self, now_s: float) -> float:
        """When the next run is."""
        if self._first_s is None or self._last_s is None:
            return (self._ran_s if self._ran_s is not None else now_s) + DAILY_S
        quiet = min(self._last_s + self._quiet_s, self._first_s + LONGEST_S)
        return max(quiet, self._ran_s + self._every_s) if self._ran_s is not None else quiet


def _told(runs: tuple[MemoryConsolidated, ...]) -> str:
    if not runs:
        return "nothing was new"
    made, retired = sum(run.made for run in runs), sum(run.retired for run in runs)
    proposed, tokens = sum(run.proposed for run in runs), sum(run.tokens for run in runs)
    return f"{made} remembered, {retired} retired, {proposed} proposed, {tokens} tokens"
