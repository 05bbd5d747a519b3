"""The one long thing that a session does at a time, with its lock free meanwhile: a request, or a call of a tool.

Layer: runtime. Knows nothing of what is done; it can cut it off at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Protocol, TypeVar

Done = TypeVar("Done")


class Cut:
    """What performing gives when it was cut off from outside."""


CUT = Cut()


class Perform(Protocol):
    """Does something long with the session's lock free; being cut off from outside gives ``CUT``, errors pass."""

    async def __call__(self, work: Coroutine[object, object, Done]) -> Done | Cut:
        """Do it."""
        ...


class Performer:
    """Performs for one session.

    Args:
        lock: the session's. Whoever calls ``perform`` holds it, and holds it again afterwards.
    """

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._task: asyncio.Task[object] | None = None
        self._halting = False

    @property
    def halting(self) -> bool:
        """Whether nothing may be started."""
        return self._halting

    @property
    def performing(self) -> bool:
        """Whether something is under way."""
        return self._task is not None

    async def perform(self, work: Coroutine[object, object, Done]) -> Done | Cut:
        """Do something long with the lock free. Being cut off (``halt``, shutdown) gives ``CUT``; other errors pass."""
        task = asyncio.create_task(work)
        if self._halting:
            task.cancel()
        self._task = task
        self._lock.release()
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await self._lock.acquire()
            self._task = None
        return CUT if task.cancelled() else task.result()

    def halt(self) -> None:
        """Cut off what is under way, and start nothing until ``release``."""
        self._halting = True
        if self._task is not None:
            self._task.cancel()

    def release(self) -> None:
        """Let things be started again."""
        self._halting = False
