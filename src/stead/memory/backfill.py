"""Vectors for what was said and remembered, made in the background.

Layer: memory. What is new is found by its words at once and by its meaning a little later: the model's process starts
when it has been quiet for a while, makes what vectors are missing, and ends. Nothing waits for it, and a day on which
nothing is said costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stead.domain.errors import EmbeddingFault, StorageFault
from stead.memory.books import MemoryBooks
from stead.memory.meaning import Meaning

QUIET_S = 20.0
LONGEST_S = 600.0
"""How long one waits for quiet where there is none."""

log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Backfill:
    """Whoever runs ``keep`` owns the work.

    Args:
        books: what is indexed.
        meaning: makes vectors.
        ready: has the model built and loaded, raising as ``Embeds.embed``; nothing for one that needs no such thing.
    """

    _books: MemoryBooks
    _meaning: Meaning
    _ready: Callable[[], Awaitable[None]] | None

    def __post_init__(self) -> None:
        self._grown = asyncio.Event()
        self._told = ""

    def noticed(self, seq: int) -> None:
        """The journal has grown up to an event; from the loop that runs ``keep``."""
        if seq:
            self._grown.set()

    async def keep(self) -> None:
        """Make vectors whenever it has become quiet, for as long as this runs."""
        while True:
            await self._grown.wait()
            await self._quiet()
            try:
                made = await self.fill()
            except (EmbeddingFault, StorageFault) as fault:
                if str(fault) != self._told:  # the same fault every minute says nothing new
                    self._told = str(fault)
                    log.warning("what is remembered is not found by its meaning yet: %s", fault)
            else:
                self._told = ""
                if made:
                    log.info("%d texts can be found by their meaning now", made)

    async def fill(self) -> int:
        """Make every vector that is missing; gives how many.

        Raises:
            EmbeddingFault: no more can be made now.
            StorageFault: an index cannot be read or written.
        """
        made = 0
        for place in await asyncio.to_thread(self._books.bare_places):
            index = await asyncio.to_thread(self._books.index, place)
            if index is None:
                continue
            if not made and self._ready is not None:
                await self._ready()
            while some := await self._meaning.embed_some(index):
                made += some
        return made

    async def _quiet(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_S
        while self._grown.is_set() and loop.time() < end:
            self._grown.clear()
            try:
                await asyncio.wait_for(self._grown.wait(), QUIET_S)
            except TimeoutError:
                return
