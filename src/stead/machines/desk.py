"""Changes on trial and things under quarantine, for the person to look at and to decide on.

Layer: machines. Implements ``Trials`` and ``Quarantine`` of ``domain.trials``; all work is done in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from stead.config import Home
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Applied, Choice, Quarantined, Trial
from stead.machines.applying import apply, chosen_of
from stead.machines.changes import changes
from stead.machines.quarantine import QuarantineFolder
from stead.machines.trial import TrialFolder


class Desk:
    """Reads, applies, discards, restores, removes.

    Args:
        home: Stead's own.
        kill: ends a session's machine, if it has one, and returns when everything in it is dead.
    """

    def __init__(self, home: Home, kill: Callable[[SessionId], Awaitable[bool]]) -> None:
        self._home = home
        self._kill = kill
        self._quarantine = QuarantineFolder(home)

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """As ``Trials.trial``."""
        folder = self._folder(session)
        try:
            found = await asyncio.to_thread(changes, folder, whole=path)
        except OSError as error:
            raise Conflict(f"the changes cannot be read just now ({error}); try again") from error
        chosen = chosen_of(found, (path,) if path else ())
        return Trial(session, folder.directory, folder.began_ns // 1_000_000, tuple(chosen))

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        """As ``Trials.apply_trial``; kills the session's machine first."""
        folder = self._folder(session)
        await self._kill(session)
        try:
            return await asyncio.to_thread(apply, folder, choice)
        except OSError as error:
            raise Conflict(f"{folder.directory!r} cannot be changed ({error}); nothing more was applied") from error

    async def discard_trial(self, session: SessionId) -> int:
        """As ``Trials.discard_trial``; kills the session's machine first."""
        folder = self._folder(session)
        await self._kill(session)
        try:
            count = len(await asyncio.to_thread(changes, folder, diffs=False))
        except (Conflict, OSError):
            count = 0  # what cannot be read can still be thrown away
        await asyncio.to_thread(folder.discard)
        return count

    async def quarantined(self) -> tuple[Quarantined, ...]:
        """As ``Quarantine.quarantined``."""
        return await asyncio.to_thread(self._quarantine.rows)

    async def settle_quarantined(self, id: str, *, restore: bool) -> Quarantined:
        """As ``Quarantine.settle_quarantined``."""
        return await asyncio.to_thread(self._quarantine.settle, id, restore=restore)

    def _folder(self, session: SessionId) -> TrialFolder:
        folder = TrialFolder(self._home, session)
        if not folder.exists():
            raise NotFound(f"{session!r} has nothing on trial; run a goal with --trial to look before you apply")
        return folder
