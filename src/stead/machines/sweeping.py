"""Sweeping up after machines: what one planted is put under quarantine as soon as everything in it is dead.

Layer: machines. One task a machine at a time; the next machine of the same key waits for it. A key begins with its
session's id (see ``making``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

from msgspec.structs import replace

from stead.domain.errors import MachineUnavailable
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
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def keys(self) -> set[str]:
        """Which machines are being swept up after."""
        return set(self._tasks)

    def start(self, key: str) -> None:
        """Begin, now that the machine is dead."""
        self._tasks[key] = asyncio.create_task(self._sweep(key), name=f"sweep after {key}")

    async def done(self, key: str) -> None:
        """Wait until the machine is swept up after; at once when it is already, or never had to be."""
        if task := self._tasks.get(key):
            await asyncio.wait([task])

    async def sweep_left(self) -> None:
        """Sweep up after machines whose end no daemon saw. To be called before any is made."""
        for key in await asyncio.to_thread(self._quarantine.left):
            await self._sweep(key)

    async def require_clean(self, session: SessionId, directory: str) -> None:
        """Compare what could not be compared whole at an earlier machine's end, before another one starts.

        Raises:
            MachineUnavailable: it still cannot: what was planted could pass for what was there.
        """
        missed = ""
        for of, swept in await asyncio.to_thread(self._quarantine.sweep_again, directory):
            missed = missed or swept.where
            self._tell(of, replace(swept, unseen=False, where=""))
        if missed:
            self.refuse(session, directory, missed)

    def refuse(self, session: SessionId, directory: str, missed: str) -> NoReturn:
        """Keep a session's machine from starting, as a part of the folder could not be looked at; journals which.

        Raises:
            MachineUnavailable: always.
        """
        self._tell(session, Swept(unseen=True, where=missed))
        raise MachineUnavailable(
            "{!r} cannot be looked through whole for files that your programs act on, so no machine may write in it; "
            "the session's record names the part: make it readable or remove it, work on a part of the folder, or on "
            "trial (--trial)",
            directory,
        )

    async def _sweep(self, key: str) -> None:
        swept = await asyncio.to_thread(self._quarantine.sweep, key)
        self._tasks.pop(key, None)
        self._tell(SessionId(key.partition(".")[0]), swept)

    def _tell(self, session: SessionId, swept: Swept) -> None:
        if swept != Swept():
            self._on_swept(session, swept)
