"""The last of what a terminal printed, and how far each of its watchers has read.

Layer: machines. Knows no process: it keeps bytes, and never more than so many of them.
"""

from __future__ import annotations

import asyncio

from stead.domain.errors import Conflict

KEPT_BYTES = 256 << 10
_MOST_READ = 64 << 10


class Scrollback:
    """What was printed, counted from the first byte on; the last ``KEPT_BYTES`` are kept."""

    def __init__(self) -> None:
        self.end = 0
        self.over = self.hurried = False
        self.watchers: set[Place] = set()
        self._kept = bytearray()
        self._changed = asyncio.Event()

    @property
    def begin(self) -> int:
        """Where what is kept begins."""
        return self.end - len(self._kept)

    def add(self, data: bytes) -> None:
        """More was printed."""
        self._kept += data
        self.end += len(data)
        del self._kept[: max(0, len(self._kept) - KEPT_BYTES)]
        self.tell()

    def hurry(self) -> None:
        """From now on nothing waits for a watcher."""
        self.hurried = True
        self.tell()

    def finish(self) -> None:
        """Nothing more will be."""
        self.over = True
        self.tell()

    def watch(self) -> Place:
        """A place at the beginning of what is kept; of a line, if what was before it is lost."""
        at = self.begin
        if at:
            at += self._kept.find(b"\n") + 1
        place = Place(self, at)
        self.watchers.add(place)
        return place

    def after(self, at: int) -> bytes:
        """What is kept from there on, so much of it as is read at once."""
        start = at - self.begin
        return bytes(self._kept[start : start + _MOST_READ])

    async def taken(self) -> None:
        """Wait until a watcher has taken everything, no watcher is left, or it is hurried."""
        while self.watchers and not self.hurried and max(place.at for place in self.watchers) < self.end:
            await self.change()

    async def change(self) -> None:
        """Wait until something was printed or taken, or a watcher left."""
        await self._changed.wait()

    def tell(self) -> None:
        """Wake those who wait for a change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Place:
    """How far one watcher is. Implements ``domain.terminals.Seat``.

    Args:
        scrollback: what is read.
        at: the first byte that was not taken yet.
    """

    def __init__(self, scrollback: Scrollback, at: int) -> None:
        self.at = at
        self._scrollback = scrollback
        self._given = 0

    async def read(self) -> bytes:
        """As ``Seat.read``; who asks again has dealt with what was given before."""
        scrollback = self._scrollback
        if self._given:
            self.at += self._given
            self._given = 0
            scrollback.tell()
        while self.at == scrollback.end and not scrollback.over:
            await scrollback.change()
        if self.at < scrollback.begin:
            raise Conflict("more was printed than is kept before it was read here; attach to the terminal again")
        data = scrollback.after(self.at)
        self._given = len(data)
        return data

    def leave(self) -> None:
        """As ``Seat.leave``."""
        self._scrollback.watchers.discard(self)
        self._scrollback.tell()
