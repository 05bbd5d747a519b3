"""When heads are signed: after so many events, after so much time with new ones, and when the daemon leaves.

Layer: storage. An idle home signs nothing and wakes nobody.
"""

from __future__ import annotations

import asyncio
import logging

from stead.domain.errors import SteadError
from stead.storage.audit import Audit

HEAD_EVENTS = 1000
HEAD_EVERY_S = 600.0
RETRY_S = 60.0

_log = logging.getLogger(__name__)


class HeadKeeper:
    """Keeps a journal's heads up to date; whoever owns it runs ``keep`` as a task.

    Args:
        audit: what signs.
    """

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._newest = 0
        self._signed = 0
        self._grown = asyncio.Event()
        self._much = asyncio.Event()

    def noticed(self, seq: int) -> None:
        """The journal has this many events now. Called on the loop."""
        self._newest = max(self._newest, seq)
        if self._newest > self._signed:
            self._grown.set()
        if self._newest - self._signed >= HEAD_EVENTS:
            self._much.set()

    async def keep(self) -> None:
        """Sign whenever it is time, for as long as the task lives. A failure is logged and tried again."""
        while True:
            await self._grown.wait()
            try:
                async with asyncio.timeout(HEAD_EVERY_S):
                    await self._much.wait()
            except TimeoutError:
                pass  # so much time with new events is as good a reason as so many of them
            if not await self.sign():
                await asyncio.sleep(RETRY_S)

    async def sign(self) -> bool:
        """Sign now, if there is something new; whether that went well."""
        if self._newest <= self._signed:
            return True
        try:
            head = await self._audit.sign()
        except SteadError as fault:
            _log.error("no head of the journal was signed: %s", fault)
            return False
        self._signed = head.size
        self._grown.clear()
        self._much.clear()
        self.noticed(self._newest)
        return True
