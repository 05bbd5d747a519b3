"""Keeps the read models near the journal's end while sessions work, so that no reader finds much to take in.

Layer: storage. An idle home wakes nobody, and what a few events change is left to the next read (ADR 0037).
"""

from __future__ import annotations

import asyncio
import logging

from stead.domain.errors import SteadError
from stead.storage.views import CHUNK_EVENTS, Views

_log = logging.getLogger(__name__)


class Follower:
    """Takes a batch of events in as soon as there is one; whoever owns it runs ``keep`` as a task.

    Args:
        views: the read models.
    """

    def __init__(self, views: Views) -> None:
        self._views = views
        self._behind = asyncio.Event()

    def noticed(self, seq: int) -> None:
        """The journal has this many events now. Called on the loop."""
        if seq - self._views.reached >= CHUNK_EVENTS:
            self._behind.set()

    async def keep(self) -> None:
        """Catch up whenever it is worth a transaction. A failure is logged, and met again by whoever reads."""
        while True:
            await self._behind.wait()
            self._behind.clear()
            try:
                await asyncio.to_thread(self._views.catch_up)
            except SteadError as fault:
                _log.error("the read models are behind the journal: %s", fault)
