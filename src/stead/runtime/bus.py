"""Who watches what happens: each door subscribes, and nobody who watches can slow down who works.

Layer: runtime. A subscription's queue is bounded: transients are dropped first; when events do not fit either, the
subscription is over (``overrun``) and its owner reads again from the journal after the last seq that it saw.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable

from stead.domain.events import Event
from stead.domain.live import Transient

QUEUE_LIMIT = 1000


class Subscription:
    """One watcher's view of the stream, from the moment of subscribing on."""

    def __init__(self, bus: Bus, limit: int) -> None:
        self._bus = bus
        self._limit = limit
        self._queue: deque[Event | Transient] = deque()
        self._ready = asyncio.Event()
        self.overrun = False

    async def next(self) -> list[Event | Transient]:
        """Everything that came since the last call, oldest first; waits until there is something.

        An empty list means ``overrun``: read the journal and subscribe anew.
        """
        await self._ready.wait()
        self._ready.clear()
        items = list(self._queue)
        self._queue.clear()
        return [] if self.overrun else items

    def close(self) -> None:
        """Watch no more."""
        self._bus.leave(self)

    def offer(self, item: Event | Transient) -> None:
        """Take an item in; for the bus alone."""
        if self.overrun:
            return
        if len(self._queue) >= self._limit:
            if not isinstance(item, Event):
                return
            kept = [held for held in self._queue if isinstance(held, Event)]
            self._queue = deque(kept)
            self.overrun = len(kept) >= self._limit
        self._queue.append(item)
        self._ready.set()

    def drop(self, seqs: Collection[int]) -> None:
        """Hand none of these events out; for the bus alone."""
        if any(isinstance(item, Event) and item.seq in seqs for item in self._queue):
            self._queue.clear()
            self.overrun = True
            self._ready.set()


class Bus:
    """Hands every committed event, and every transient, to all who watch."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()

    def subscribe(self, limit: int = QUEUE_LIMIT) -> Subscription:
        """Start watching. Close it when done."""
        subscription = Subscription(self, limit)
        self._subscriptions.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Forget a watcher."""
        self._subscriptions.discard(subscription)

    @property
    def watchers(self) -> int:
        """How many subscriptions there are."""
        return len(self._subscriptions)

    def forget(self, seqs: Collection[int]) -> None:
        """Words of these events were forgotten: whoever has one in the queue reads the journal again instead."""
        for subscription in tuple(self._subscriptions):
            subscription.drop(seqs)

    def publish(self, items: Iterable[Event | Transient]) -> None:
        """Hand out events (after their commit, in order of seq) or transients. Never waits."""
        batch = tuple(items)
        for subscription in tuple(self._subscriptions):
            for item in batch:
                subscription.offer(item)
