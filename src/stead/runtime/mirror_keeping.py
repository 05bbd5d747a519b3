"""When the files of memory are looked at: after facts, before a model's first word, and while anything is live.

Layer: runtime. Nothing runs while nothing happens: a file that is edited then is taken in when something does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from stead.domain import events as ev
from stead.domain.memory_events import MemoryFact
from stead.domain.mirroring import MirrorState
from stead.runtime.bus import Bus
from stead.runtime.mirroring import Mirroring

FRESH_S = 1.0
"""How long a model's first word waits for a person's edit."""
SOON_S = 1.0
"""After something happened: more of it often follows."""
POLL_S = 30.0
_REST = 5
"""So many times as long as a look took nothing is looked at again, so that what goes on meanwhile is not held up."""

_MOVES = MemoryFact | ev.DirectiveSet | ev.DirectiveRemoved | ev.TurnEnded | ev.ObjectiveEnded | ev.SessionDeleted

log = logging.getLogger(__name__)


class MirrorKeeper:
    """Whoever runs ``keep`` owns the work.

    Args:
        mirroring: what is kept.
        bus: what happens.
        soon_s: after something happened, when the files are looked at.
        poll_s: how often they are while anything is live.
    """

    def __init__(self, mirroring: Mirroring, bus: Bus, *, soon_s: float = SOON_S, poll_s: float = POLL_S) -> None:
        self._mirroring = mirroring
        self._bus = bus
        self._soon_s = soon_s
        self._poll_s = poll_s
        self._task: asyncio.Task[MirrorState] | None = None

    async def fresh(self) -> None:
        """Take in what a person has just written, before a model is told what is remembered; it waits only so long."""
        if await self._mirroring.changed():
            try:
                await asyncio.wait_for(asyncio.shield(self._started()), FRESH_S)
            except TimeoutError:
                log.info("a model is told what is remembered before the files of memory are taken in: they take long")

    async def keep(self, live: Callable[[], bool]) -> None:
        """Keep both the same, for as long as this runs: after facts, and while anything is live, after edits.

        Args:
            live: whether anybody works or looks; files are looked at only then, and once at the start.
        """
        watch = self._bus.subscribe()
        now = asyncio.get_running_loop().time
        waits = _Waits(now(), self._soon_s, self._poll_s)
        waits.facts = True
        try:
            while True:
                try:
                    async with asyncio.timeout_at(waits.due_s):
                        items = await watch.next()
                except TimeoutError:
                    began = now()
                    if waits.facts or await self._mirroring.changed():
                        await self._mirroring.sync()
                    soon_s = max(self._soon_s, _REST * (now() - began))
                    waits = _Waits(now() + (soon_s if self._mirroring.busy else self._poll_s), soon_s, self._poll_s)
                    if not self._mirroring.busy and not live():
                        waits.due_s = None
                    continue
                if not items:  # it fell behind: something has happened
                    watch.close()
                    watch = self._bus.subscribe()
                waits.saw([item.body for item in items if isinstance(item, ev.Event)], now(), live())
        finally:
            watch.close()

    def _started(self) -> asyncio.Task[MirrorState]:
        """A sync that goes on when nobody waits for it any more."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._mirroring.sync(), name="files of memory")
        return self._task


class _Waits:
    """When the next look is due, in seconds of the loop's clock; none while nothing is live."""

    def __init__(self, due_s: float, soon_s: float, poll_s: float) -> None:
        self.due_s: float | None = due_s
        self._soon_s = soon_s
        self._poll_s = poll_s
        self.facts = False

    def saw(self, bodies: Sequence[ev.Body], now_s: float, live: bool) -> None:
        """Something happened; nothing at all when it is not known what."""
        if not bodies or any(isinstance(body, _MOVES) for body in bodies):
            if not self.facts:
                self.due_s = min(now_s + self._soon_s, self.due_s or now_s + self._soon_s)
            self.facts = True
        elif self.due_s is None and live:
            self.due_s = now_s + self._poll_s
