"""Sweeping up after machines: what one planted is put under quarantine as soon as everything in it is dead.

Layer: machines. One task a session at a time; the next machine of a session waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stead.domain.ids import SessionId
from stead.domain.trials import Swept
from stead.machines.quarantine import QuarantineFolder

Sweep = Callable[[SessionId, Swept], None]
"""Told after a machine's end, if something had to be put under quarantine, or looked at. Must not block."""


class Sweeper:
    """The sweeps that are under way.

    Args:
        quarantine: where things are moved to, and the lists of what was there before.
        on_swept: journals what was put there.
    """

    def __init__(self, quarantine: QuarantineFolder, on_swept: Sweep | None) -> None:
        self._quarantine = quarantine
        self._on_swept = on_swept or (lambda _session, _swept: None)
        self._tasks: dict[SessionId, asyncio.Task[None]] = {}

    @property
    def sessions(self) -> set[SessionId]:
        """Whose machine is being swept up after."""
        return set(self._tasks)

    def start(self, session: SessionId) -> None:
        """Begin, now that the session's machine is dead."""
        self._tasks[session] = asyncio.create_task(self._sweep(session), name=f"sweep after {session}")

    async def done(self, session: SessionId) -> None:
        """Wait until the session is swept up after; at once when it is already, or never had to be."""
        if task := self._tasks.get(session):
            await asyncio.wait([task])

    async def sweep_left(self) -> None:
        """Sweep up after machines whose end no daemon saw. To be called before any is made."""
        for session in await asyncio.to_thread(self._quarantine.left):
            await self._sweep(session)

    async def _sweep(self, session: SessionId) -> None:
        swept = await asyncio.to_thread(self._quarantine.sweep, session)
        self._tasks.pop(session, None)
        if swept != Swept():
            self._on_swept(session, swept)
