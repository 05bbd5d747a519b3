"""The long things that a session does, with its lock free meanwhile: a request, or calls of tools.

Layer: runtime. Knows nothing of what is done; it can cut off any part of it, or all of it, at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Protocol, TypeVar

Done = TypeVar("Done")


class Cancelled:
    """The result of work that was cancelled from outside."""


CANCELLED = Cancelled()

REQUEST = "request"
"""The name of a model request that is under way."""


class Perform(Protocol):
    """Does something long with the session's lock free; being cut off from outside gives ``CANCELLED``, errors pass."""

    async def __call__(self, work: Coroutine[object, object, Done]) -> Done | Cancelled:
        """Do it."""


class Performer:
    """Performs for one session.

    Args:
        lock: the session's. The caller of ``perform`` holds it, and holds it again afterwards.
    """

    def __init__(self, lock: asyncio.Lock) -> None:
        self.lock = lock
        self._tasks: dict[str, asyncio.Task[object]] = {}
        self._halting = False

    @property
    def halting(self) -> bool:
        """Whether nothing may be started."""
        return self._halting

    @property
    def performing(self) -> bool:
        """Whether something is under way."""
        return bool(self._tasks)

    async def perform(self, work: Coroutine[object, object, Done], name: str = "") -> Done | Cancelled:
        """Do something long with the lock free; ``CANCELLED`` when it was cut off (``halt``, shutdown); errors pass."""
        return (await self.perform_all({name: work}))[name]

    async def perform_all(self, works: Mapping[str, Coroutine[object, object, Done]]) -> dict[str, Done | Cancelled]:
        """Do several things side by side, each by its name; gives what became of each when all are over.

        An error of one passes once the others are over too.
        """
        tasks = {name: asyncio.create_task(work) for name, work in works.items()}
        if self._halting:
            for task in tasks.values():
                task.cancel()
        self._tasks = {**tasks}
        self.lock.release()
        try:
            await asyncio.wait(tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()
            await self._take_back()
            self._tasks = {}
        return {name: CANCELLED if task.cancelled() else task.result() for name, task in tasks.items()}

    async def _take_back(self) -> None:
        """Hold the lock again, even when being ended meanwhile: the caller releases it on the way out."""
        ended: asyncio.CancelledError | None = None
        while True:
            try:
                await self.lock.acquire()
                break
            except asyncio.CancelledError as error:
                ended = error
        if ended is not None:
            raise ended

    def cut(self, name: str) -> None:
        """Cut off the thing of this name, if it is under way. The others go on."""
        if name and name in self._tasks:
            self._tasks[name].cancel()

    def halt(self) -> None:
        """Cut off what is under way, and start nothing until ``release``."""
        self._halting = True
        for task in self._tasks.values():
            task.cancel()

    def release(self) -> None:
        """Let things be started again."""
        self._halting = False
