"""Who watches what happens: each door subscribes, and nobody who watches can slow down who works.

Layer: runtime. A subscription's queue is bounded: transients are dropped first; when events do not fit either, the
subscription is over (``overrun``) and its owner reads again from the journal after the last seq that it saw.

The text of each reply under way is kept until its request has ended, for watchers that come or return meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable

from stead.domain.events import Event, ModelFailed, ModelReplied, SessionDeleted
from stead.domain.ids import RequestNo, SessionId
from stead.domain.live import TextDelta, Transient

QUEUE_LIMIT = 1000
REPLY_LIMIT = 200_000
"""Characters of a reply under way that are kept; what comes after them is only passed on."""


class Subscription:
    """One watcher's view of the stream, from the moment of subscribing on."""

    def __init__(self, bus: Bus, limit: int, *, own: bool = False) -> None:
        self.own = own
        self._bus = bus
        self._limit = limit
        self._queue: deque[Event | Transient] = deque()
        self._ready = asyncio.Event()
        self.overrun = False

    async def next(self) -> list[Event | Transient]:
        """Everything that came since the last call, oldest first; waits until there is something.

        An empty list means ``overrun`` (read the journal and subscribe anew), or that ``wake`` was called.
        """
        await self._ready.wait()
        self._ready.clear()
        items = list(self._queue)
        self._queue.clear()
        return [] if self.overrun else items

    def close(self) -> None:
        """Watch no more."""
        self._bus.leave(self)

    def wake(self) -> None:
        """Have whoever waits for the next items look around, though there may be none."""
        self._ready.set()

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


class _OpenReply:
    """The text of one reply under way: its pieces, and how many characters they have."""

    def __init__(self, number: RequestNo) -> None:
        self.number = number
        self.length = 0
        self.pieces: list[str] = []


class Bus:
    """Hands every committed event, and every transient, to all who watch."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._replies: dict[SessionId, _OpenReply] = {}

    def subscribe(self, limit: int = QUEUE_LIMIT, *, own: bool = False) -> Subscription:
        """Start watching. Close it when done. ``own``: it is no door's, and is not among the ``watchers``."""
        subscription = Subscription(self, limit, own=own)
        self._subscriptions.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Forget a watcher."""
        self._subscriptions.discard(subscription)

    @property
    def watchers(self) -> int:
        """How many subscriptions there are, but for the house's own."""
        return sum(not one.own for one in self._subscriptions)

    def reply_of(self, session: SessionId) -> TextDelta | None:
        """The text so far of the reply that is under way in a session, as one piece; None where there is none."""
        reply = self._replies.get(session)
        return TextDelta(session, reply.number, 0, "".join(reply.pieces)) if reply else None

    def forget(self, seqs: Collection[int]) -> None:
        """Words of these events were forgotten: whoever has one in the queue reads the journal again instead."""
        for subscription in tuple(self._subscriptions):
            subscription.drop(seqs)

    def publish(self, items: Iterable[Event | Transient]) -> None:
        """Hand out events (after their commit, in order of seq) or transients. Never waits."""
        batch = tuple(items)
        for item in batch:
            self._keep(item)
        for subscription in tuple(self._subscriptions):
            for item in batch:
                subscription.offer(item)

    def _keep(self, item: Event | Transient) -> None:
        if isinstance(item, TextDelta):
            if item.offset == 0:
                self._replies[item.session] = _OpenReply(item.number)
            reply = self._replies.get(item.session)
            if reply and (reply.number, reply.length) == (item.number, item.offset) and reply.length < REPLY_LIMIT:
                reply.pieces.append(item.text)
                reply.length += len(item.text)
        elif isinstance(item, Event) and isinstance(item.body, ModelReplied | ModelFailed | SessionDeleted):
            self._replies.pop(item.session, None)
