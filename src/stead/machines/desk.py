"""Changes that wait, for the person to look at and to decide on.

Layer: machines. Implements ``Trials`` of ``domain.trials``; all work is done in threads.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from stead.config import Home
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Applied, Choice, Trial
from stead.machines.applying import apply, chosen_of
from stead.machines.changes import changes
from stead.machines.space import Space


class Desk:
    """Reads, applies, discards.

    Args:
        home: Stead's own.
        kill: ends a session's machine, if it has one, and returns when everything in it is dead.
    """

    def __init__(self, home: Home, kill: Callable[[SessionId], Awaitable[bool]]) -> None:
        self._home = home
        self._kill = kill

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """As ``Trials.trial``."""
        space = self._space(session)
        try:
            found = await asyncio.to_thread(changes, space, whole=path)
        except OSError as error:
            raise Conflict(f"the changes cannot be read just now ({error}); try again") from error
        chosen = chosen_of(found, (path,) if path else ())
        return Trial(session, space.directory, space.began_ns // 1_000_000, tuple(chosen))

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        """As ``Trials.apply_trial``; kills the session's machine first."""
        space = self._space(session)
        await self._kill(session)
        try:
            return await asyncio.to_thread(apply, space, choice)
        except OSError as error:
            raise Conflict(f"{space.directory!r} cannot be changed ({error}); nothing more was applied") from error

    async def discard_trial(self, session: SessionId) -> int:
        """As ``Trials.discard_trial``; kills the session's machine first."""
        space = self._space(session)
        await self._kill(session)
        try:
            count = len(await asyncio.to_thread(changes, space, diffs=False))
        except (Conflict, OSError):
            count = 0  # what cannot be read can still be thrown away
        await asyncio.to_thread(space.discard)
        return count

    def _space(self, session: SessionId) -> Space:
        space = Space(self._home, session)
        if not os.listdir(space.pending):
            raise NotFound(f"no changes of {session!r} wait; see `stead held list`")
        return space
