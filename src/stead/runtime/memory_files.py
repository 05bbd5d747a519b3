"""When the files of memory are synced, and how forgetting reaches them.

Layer: runtime. They are looked at after facts, before a model's first word, and while anything is live. Nothing runs
while nothing happens: a file that is edited then is taken in when something does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from stead.domain import events as ev
from stead.domain.errors import StorageFault
from stead.domain.forgetting import Touches
from stead.domain.memory import MemoryId
from stead.domain.memory_events import MemoryFact
from stead.domain.mirroring import MirrorState
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.sync import FileSync
from stead.runtime.bus import Bus

FRESH_S = 1.0
"""How long a model's first word waits for a person's edit."""
SOON_S = 1.0
"""After something happened: more of it often follows."""
POLL_S = 30.0
_REST = 5
"""So many times as long as a look took nothing is looked at again, so that what goes on meanwhile is not held up."""

_MOVES = MemoryFact | ev.DirectiveSet | ev.DirectiveRemoved | ev.TurnEnded | ev.ObjectiveEnded | ev.SessionDeleted

log = logging.getLogger(__name__)


class MemoryFiles:
    """Runs the syncs. The task that runs ``keep`` owns the work.

    Args:
        sync: keeps the files and the memories the same.
        bus: what happens.
        soon_s: after something happened, when the files are looked at.
        poll_s: how often they are while anything is live.
    """

    def __init__(self, sync: FileSync, bus: Bus, *, soon_s: float = SOON_S, poll_s: float = POLL_S) -> None:
        self._sync = sync
        self._bus = bus
        self._soon_s = soon_s
        self._poll_s = poll_s
        self._task: asyncio.Task[MirrorState] | None = None

    @property
    def state(self) -> MirrorState:
        """How the files are."""
        return self._sync.state

    async def fresh(self, look: Callable[..., Any], *args: object) -> Any:
        """Look at memory in a thread, after a person's latest edits are taken in, for which it waits only so long.

        Mostly nothing was written, and one way to the thread and back is enough.
        """
        seen = await asyncio.to_thread(lambda: () if self._sync.changed() else (look(*args),))
        if not seen:
            if self._task is None or self._task.done():  # it goes on when nothing waits for it any more
                self._task = asyncio.create_task(self._sync.sync(), name="files of memory")
            try:
                await asyncio.wait_for(asyncio.shield(self._task), FRESH_S)
            except TimeoutError:
                log.info("a model reads what is remembered before the files of memory are taken in: they take long")
        return seen[0] if seen else await asyncio.to_thread(look, *args)

    async def keep(self, live: Callable[[], bool]) -> None:
        """Keep both the same, for as long as this runs: after facts, and while anything is live, after edits.

        Args:
            live: whether anything works or is watched; files are looked at only then, and once at the start.
        """
        watch = self._bus.subscribe()
        now = asyncio.get_running_loop().time
        facts, soon_s = True, self._soon_s
        due_s: float | None = now()
        try:
            while True:
                try:
                    async with asyncio.timeout_at(due_s):
                        items = await watch.next()
                except TimeoutError:
                    began = now()
                    if facts or await asyncio.to_thread(self._sync.changed):
                        await self._sync.sync()
                    soon_s, facts = max(self._soon_s, _REST * (now() - began)), False
                    wait_s = soon_s if self._sync.busy else self._poll_s
                    due_s = now() + wait_s if self._sync.busy or live() else None
                    continue
                if not items:  # it fell behind: something has happened
                    watch.close()
                    watch = self._bus.subscribe()
                if not items or any(isinstance(item, ev.Event) and isinstance(item.body, _MOVES) for item in items):
                    due_s = due_s if facts else min(now() + soon_s, due_s or now() + soon_s)
                    facts = True
                elif due_s is None and live():
                    due_s = now() + self._poll_s
        finally:
            watch.close()


class FilePurges:
    """Implements ``domain.forgetting.Purges`` for the files of memory.

    Args:
        sync: writes the files without what was forgotten.
        files: the folder.
        inside: it lies in the home, whose files are all searched anyway.
    """

    def __init__(self, sync: FileSync, files: MemoryFolder, *, inside: bool) -> None:
        self._sync = sync
        self._files = files
        self._inside = inside

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """See ``Purges``. A folder that is not usable now is reported by ``scan``, and caught up with when it is."""
        await self._sync.sync(whole=True)

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """See ``Purges``: a person's own lines may have the words too, and copies that an editor left."""
        state = self._sync.state
        if not state.alive:
            return (f"{state.folder!r} could not be looked into: {state.reason}",)
        if self._inside:
            return ()
        try:
            return await asyncio.to_thread(self._files.left, touches)
        except StorageFault as fault:
            return (str(fault),)
