"""Changes that wait, for the person to look at and to decide on.

Layer: machines. Implements ``Trials`` of ``domain.trials``; all work is done in threads. What the person chooses is
carried over as ``landing`` does it, and only that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence

from stead.config import Home
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Applied, Change, Choice, Held, Stay, Trial
from stead.machines.changes import changes
from stead.machines.landing import bring_over, carry_over, machine_layer
from stead.machines.space import Space

_LOOK = "look at the whole of it first (`stead held diff ID --path PATH`)"


class HeldChanges:
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
        return Trial(session, space.directory, space.noted().began_ns // 1_000_000, tuple(chosen))

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        """As ``Trials.stays``."""
        return await asyncio.to_thread(machine_layer, Space(self._home, session))

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        """As ``Trials.apply_trial``; kills the session's machine first."""
        space = Space(self._home, session) if choice.bring else self._space(session)
        await self._kill(session)
        try:
            return await asyncio.to_thread(bring if choice.bring else apply, space, choice)
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


def apply(space: Space, choice: Choice) -> Applied:
    """Apply what is chosen and not held back. No machine may be at work in it.

    Raises:
        NotFound: a path is not among the changes.
        Conflict, OSError: as ``changes``.
    """
    found = changes(space, seen=choice.seen)
    chosen = chosen_of(found, choice.paths)
    over = {"protected": choice.include_protected, "conflict": choice.force, "": True, "impossible": False}
    held = [Held(change.path, change.why) for change in chosen if not over[change.held]]
    free = [change for change in chosen if over[change.held]]
    unseen = [change for change in free if change.unseen]
    held += [Held(change.path, f"{change.unseen}; {_LOOK}") for change in unseen]
    paths = [change.path for change in free if change not in unseen]
    done, failed = carry_over(space, paths)
    left = len(done) < len(found)
    if not left:
        space.discard()
    return Applied(done, (*held, *failed), left)


def bring(space: Space, choice: Choice) -> Applied:
    """Bring over what is chosen of what stays in the machine. No machine may be at work in it.

    Raises:
        NotFound: a path is not among that.
        OSError: the folder cannot be opened.
    """
    known = {stay.path for stay in machine_layer(space)}
    if absent := [path for path in choice.bring if path not in known]:
        raise NotFound(f"{absent[0]!r} does not stay in the machine; see `stead held bring`")
    held = [one for path in choice.bring for one in bring_over(space, path)]
    return Applied(choice.bring, tuple(held), bool(os.listdir(space.pending)))


def chosen_of(found: list[Change], paths: Sequence[str]) -> list[Change]:
    """The changes at these paths and below them; no path means all.

    Raises:
        NotFound: a path is not among the changes.
    """
    wanted = [path.strip("/") for path in paths]
    for path in wanted:
        if not any(change.path == path or change.path.startswith(path + "/") for change in found):
            raise NotFound(f"{path!r} is not among the changes; see `stead held diff`")
    if not wanted:
        return found
    return [c for c in found if any(c.path == path or c.path.startswith(path + "/") for path in wanted)]
