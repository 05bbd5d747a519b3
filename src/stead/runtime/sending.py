"""Sends what waits in an outbox: to each target one message after another, again until it arrived.

Layer: runtime. What notifications and chats share; what is said, and by what way it goes, is theirs.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from stead.domain.errors import SteadError, StorageFault
from stead.domain.events import Event
from stead.domain.notices import Notice, plain
from stead.domain.notifications import Undelivered
from stead.domain.ports import Clock
from stead.runtime.alarms import WallAlarm

if TYPE_CHECKING:
    from stead.storage.outbox import Grouped, Outbox, Outgoing, State

log = logging.getLogger(__name__)
FIRST_RETRY_S, LONGEST_RETRY_S, GIVEN_UP_MS = 5.0, 1800.0, 86_400_000
WHY_CHARS = 300
LOOK_AGAIN_S = 30.0
_UNWRITTEN = 1000
"""Of the journal's events that have nothing to tell, so many may be looked at again after a crash."""
Row = tuple[str, Notice, int, bool]
"""As of ``Outbox.add``."""


class TaggedEvents(Protocol):
    """The journal by the types of events."""

    def after(self, seq: int, tags: Sequence[str]) -> tuple[list[Event], int]:
        """Events of these types past one, and up to where was looked."""


def take_in(
    box: Outbox,
    journal: TaggedEvents,
    after: int,
    tags: Sequence[str],
    rows: Callable[[Event], Iterable[Row]],
    is_kept: Callable[[str, Notice, int, bool], bool] = lambda *_: True,
) -> int:
    """Take into an outbox what is to be sent of all events past one; gives the last that was looked at. It blocks."""
    events: list[Event] | None = None
    while events is None or events:
        events, reached = journal.after(after, tags)
        found = [row for event in events for row in rows(event)]
        if found or reached - box.reached > _UNWRITTEN:
            box.add([row for row in found if is_kept(*row)], reached)
        after = max(after, reached)
    return after


class OutboxSender(ABC):
    """The caller of ``keep`` owns the work.

    Args:
        all: what is said, for people, before why nothing goes out.
        one: what a message to a target is, for the log.
        clock: says what time it is.
        clean: takes secrets out of a text.
    """

    def __init__(self, all: str, one: Callable[[str], str], clock: Clock, clean: Callable[[str], str]) -> None:
        self.turn = asyncio.Event()
        """Set when something may have to be sent."""
        self.again_s = LOOK_AGAIN_S
        """How long to wait after a fault of the outbox's file."""
        self.waits = ""
        """Why nothing can be sent for now; "" where it can."""
        self._all, self._one = all, one
        self._clock = clock
        self._clean = clean
        self._sending: dict[str, asyncio.Task[None]] = {}

    async def keep(self) -> None:
        """Find what is to be sent and send it, now and whenever something happens or a time comes."""
        alarm = WallAlarm(self.turn.set)
        try:
            while True:
                self.turn.clear()
                now_ms = self._clock.now_ms()
                try:
                    alarm.set(await self._round(now_ms), now_ms)
                    self.waits = ""
                except SteadError as fault:
                    log.error("%s: %s", self._all, fault)
                    if isinstance(fault, StorageFault):  # any other stops nothing that comes in
                        self.waits = f"{self._all}: {fault}"
                    alarm.set(now_ms + round(self.again_s * 1000), now_ms)
                await self.turn.wait()
        finally:
            alarm.close()
            tasks = list(self._sending.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @abstractmethod
    async def _round(self, now_ms: int) -> int | None:
        """Take in what happened, ``_begin`` to send; gives when to look again; None: as something happens."""

    @abstractmethod
    async def _sent(self, box: Outbox, target: str, outgoing: Outgoing) -> bool:
        """Send one message; false where there is nothing to say any more. Raises ``SteadError``."""

    @abstractmethod
    async def _settled(self, outgoing: Outgoing, target: str, fault: Undelivered | None, *, over: bool) -> None:
        """Called once it is kept how sending went; with a fault that is not ``over`` it is tried again."""

    async def _begin(self, box: Outbox, targets: Iterable[str], now_ms: int, grouped: Grouped) -> int | None:
        """Begin to send what is due for targets that nothing is being sent to; gives when the next will be."""
        times: list[int] = []
        for target in targets:
            if target in self._sending:
                continue  # it is looked again once that is over
            outgoing = await asyncio.to_thread(box.head, target, now_ms, grouped)
            if outgoing and outgoing.next_ms <= now_ms:
                self._sending[target] = asyncio.create_task(self._send(box, target, outgoing), name=self._one(target))
            elif due := await asyncio.to_thread(box.due_ms, target):
                times.append(due if due > now_ms else now_ms + round(self.again_s * 1000))
        return min(times, default=None)

    async def _send(self, box: Outbox, target: str, outgoing: Outgoing) -> None:
        """Send one message, and record how that went."""
        try:
            await self._try(box, target, outgoing)
        finally:
            del self._sending[target]
        self.turn.set()  # not after a fault of ours, which would come again at once

    async def _try(self, box: Outbox, target: str, outgoing: Outgoing) -> None:
        fault: Undelivered | None = None
        try:
            state: State = "sent" if await self._sent(box, target, outgoing) else "void"
        except StorageFault as error:
            log.error("%s waits: %s", self._one(target), error)
            await asyncio.sleep(self.again_s)
            return
        except SteadError as error:
            fault = error if isinstance(error, Undelivered) else Undelivered(str(error))
            state = "open"
        await self._settle(box, target, outgoing, state, fault)

    async def _settle(
        self, box: Outbox, target: str, outgoing: Outgoing, state: State, fault: Undelivered | None
    ) -> None:
        """Record how sending went. Until that is kept nothing else goes there: the same would be sent again."""
        now_ms, next_ms, why = self._clock.now_ms(), 0, ""
        if fault:
            why = plain(self._clean(str(fault)), WHY_CHARS)
            wait_s = max(fault.after_s, min(FIRST_RETRY_S * 2**outgoing.tries, LONGEST_RETRY_S))
            next_ms = now_ms + round(wait_s * 1000)
            if fault.final or next_ms > outgoing.made_ms + GIVEN_UP_MS:
                state = "lost"
            log.warning("%s %s: %s", self._one(target), "is given up" if state == "lost" else "waits", why)
        while True:
            try:
                await asyncio.to_thread(box.settle, outgoing, state, now_ms, next_ms, why)
                await self._settled(outgoing, target, fault, over=state != "open")
            except StorageFault as error:
                log.error("%s: what came of it cannot be kept: %s", self._one(target), error)
                await asyncio.sleep(self.again_s)
            else:
                return
