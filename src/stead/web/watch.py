"""What one watcher is to see: every event of its streams once, in order, however slowly or brokenly it reads.

Layer: a door. Knows the journal and the bus; must not know the wire. The whole argument:

- A watcher subscribes to the bus *before* it reads the journal. Whatever is committed earlier is in what it reads,
  whatever is committed later is in its queue, and what is in both is recognised by ``seq``.
- ``seen`` is the last place of the whole journal up to which nothing of the watcher's streams is outstanding. A live
  event is sent only if it is the very next one. If it is not (the queue overran, or events were published out of their
  order), the journal, which has no gaps of its own making, is read after ``seen``, and the queue's copies are dropped
  by their ``seq``.
- A read ends at the head that was there when it began, so that ``seen`` may move on to that head even when nothing of
  the watcher's streams came before it.

Transients are sent as they come and lost without harm. Of a session that the watcher looks at, the whole text of a
reply under way is sent when it begins to look, and again after each reading, as pieces of it may have been lost.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Collection, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from stead.domain.events import Erased, Event
from stead.domain.ids import SessionId
from stead.domain.live import Transient
from stead.domain.ports import Journal
from stead.runtime.bus import Bus
from stead.web.envelopes import Encoded, encode_event

FRAME_LIMIT = 100
"""Events in a frame."""
CHUNK_LIMIT = 500
"""Events read from the journal at a time."""
FRAME_LIMIT_BYTES = 256_000
"""A frame ends with the envelope that passes this."""


class Frame(NamedTuple):
    """Envelopes that are sent together, and the ``seq`` from which a reader goes on after them."""

    seen: int
    envelopes: list[bytes]

    def array(self) -> bytes:
        """As a JSON array."""
        return b"[" + b",".join(self.envelopes) + b"]"


class _Packer:
    """Puts envelopes into frames of a bounded size."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._envelopes: list[bytes] = []
        self._size_bytes = 0

    def add(self, seen: int, envelope: bytes) -> None:
        """One more, after which a reader stands at ``seen``."""
        self._envelopes.append(envelope)
        self._size_bytes += len(envelope)
        if len(self._envelopes) == FRAME_LIMIT or self._size_bytes >= FRAME_LIMIT_BYTES:
            self.flush(seen)

    def flush(self, seen: int) -> None:
        """End the frame, if it holds anything."""
        if self._envelopes:
            self.frames.append(Frame(seen, self._envelopes))
            self._envelopes, self._size_bytes = [], 0


def read(journal: Journal, after: int, streams: Collection[SessionId], limit: int) -> tuple[list[Event | Erased], int]:
    """The next events of these streams (of all, if none is named), and the head when the reading began.

    Fewer than ``limit`` means all up to that head. Blocks: call it in a thread.
    """
    head = journal.head()
    sources = [journal.events(after=after, session=stream) for stream in sorted(streams)]
    merged = heapq.merge(*sources, key=_place) if sources else journal.events(after=after)
    return list(islice(takewhile(lambda event: event.seq <= head, merged), limit)), head


def _read_frames(journal: Journal, after: int, streams: Collection[SessionId]) -> tuple[list[Frame], int, bool]:
    """A chunk of the journal as frames, the place after it, and whether there is more."""
    events, head = read(journal, after, streams, CHUNK_LIMIT)
    packer = _Packer()
    for event in events:
        packer.add(event.seq, encode_event(event))
    more = len(events) == CHUNK_LIMIT
    seen = events[-1].seq if more else max(after, head)
    packer.flush(seen)
    return packer.frames, seen, more


def _place(event: Event | Erased) -> int:
    return event.seq


class Watch:
    """One watcher. Close it when done.

    Args:
        journal: what happened.
        bus: what happens.
        encoded: envelopes shared with other watchers.
        after: the ``seq`` after which to begin; not past the journal's head.
        streams: whose events; empty for all.
        tick_s: live frames keep this distance, and so gather what comes meanwhile; after a silence one goes at once.
    """

    def __init__(
        self,
        journal: Journal,
        bus: Bus,
        encoded: Encoded,
        after: int,
        streams: Collection[SessionId],
        tick_s: float,
    ) -> None:
        self.seen = after
        self.streams = frozenset(streams)
        self._journal = journal
        self._bus = bus
        self._encoded = encoded
        self._tick_s = tick_s
        self._subscription = bus.subscribe()
        self._behind = True
        self._ready: deque[Frame] = deque()
        self._not_before_s = 0.0
        self._looks = self.streams
        self._unsaid: Collection[SessionId] = ()

    def look(self, sessions: Collection[SessionId]) -> None:
        """Say what is being written in these sessions, now and whenever pieces of it may have been lost."""
        self._looks = self._unsaid = frozenset(sessions)
        self._subscription.wake()

    def close(self) -> None:
        """Watch no more. Closing twice is the same as once."""
        self._subscription.close()

    async def next(self, timeout_s: float) -> Frame | None:
        """The next frame; nothing if none comes in time. Cancelling it loses nothing."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._ready:
                    if self._behind:
                        await self._catch_up()
                    elif self._unsaid:
                        self._say_replies()
                    else:
                        await self._listen()
        except TimeoutError:
            return None
        return self._ready.popleft()

    async def _catch_up(self) -> None:
        if self._subscription.overrun:
            self._subscription.close()
            self._subscription = self._bus.subscribe()
        frames, self.seen, self._behind = await asyncio.to_thread(_read_frames, self._journal, self.seen, self.streams)
        self._ready.extend(frames)
        self._unsaid = self._looks

    def _say_replies(self) -> None:
        packer = _Packer()
        for session in self._unsaid:
            if reply := self._bus.reply_of(session):
                packer.add(self.seen, self._encoded.transient(reply))
        packer.flush(self.seen)
        self._ready.extend(packer.frames)
        self._unsaid = ()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._not_before_s - loop.time()))
        items = await self._subscription.next()
        self._not_before_s = loop.time() + self._tick_s
        self._behind = self._subscription.overrun
        packer = _Packer()
        for item in items[self._count_stale(items) :]:
            if isinstance(item, Event):
                if item.seq <= self.seen:
                    continue
                if item.seq > self.seen + 1:
                    self._behind = True
                    break
                self.seen = item.seq
            if self.streams and item.session not in self.streams:
                continue
            packer.add(self.seen, self._encoded.of(item))
        packer.flush(self.seen)
        self._ready.extend(packer.frames)

    def _count_stale(self, items: Sequence[Event | Transient]) -> int:
        """How many items at the head came before something that the journal gave already, transients included."""
        stale = 0
        for index, item in enumerate(items):
            if isinstance(item, Event):
                if item.seq > self.seen:
                    break
                stale = index + 1
        return stale
