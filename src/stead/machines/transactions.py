"""Which transactions of each session are under way, and landing them.

Layer: machines. A transaction begins with a call that may change something, and lands when the call has ended. Where a
process of the call lives on, and in a terminal, what there is lands after every later call and at intervals (in a
terminal, when it prints), and the rest at the end.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from stead.config import Home
from stead.domain.errors import MachineDied, NotFound, StorageFault
from stead.domain.ids import SessionId
from stead.domain.trials import Barred, Hold, Landing, unbarred
from stead.machines.copies import forget_view, lay
from stead.machines.landing import Before, land, unknown
from stead.machines.merging import Stamp
from stead.machines.space import Space, new_job, remove_tree

log = logging.getLogger(__name__)
INTERVAL_S, MOMENT_S = 5.0, 0.5

Ask = Callable[[SessionId, Literal["open", "refresh"]], Awaitable[Sequence[bytes]]]
"""Asks a session's machines: in which transactions a process is still at work (their names); or to have what is at work
see what has landed meanwhile."""


@dataclass
class _Own:
    """One session's.

    ``jobs``: what was taken up of each; ``calls``: those whose call is under way; ``lingering``: those whose call has
    ended, when a process was still at work.
    """

    directory: str = ""
    hold: Hold = "all"
    barred: Barred = unbarred
    jobs: dict[str, dict[str, Stamp] | None] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    terminals: set[str] = field(default_factory=set)
    lingering: set[str] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    later: asyncio.Task[None] | None = None


class Transactions:
    """Every session's.

    Args:
        home: Stead's own.
        ask: asks about what is under way.
    """

    def __init__(self, home: Home, ask: Ask) -> None:
        self._home = home
        self._ask = ask
        self._own: dict[SessionId, _Own] = {}
        self.before: Before = unknown
        """The versions that changes of one file by two are merged on."""
        self.on_landed: Callable[[SessionId, Landing], None] = lambda _session, _landing: None
        """Puts on record what landed while no call waited for it."""

    def bind(self, session: SessionId, directory: str, hold: Hold, barred: Barred) -> None:
        """Set the folder that the session may change ("" for none), and which of its changes wait for the person."""
        own = self._own.setdefault(session, _Own())
        own.directory, own.hold, own.barred = directory, hold, barred

    def release(self, session: SessionId) -> bool:
        """Forget a session's folder; false while anything of it is under way, or when there is none."""
        own = self._own.get(session, _Own())
        if own.jobs or own.lock.locked():
            return False
        if own.later:
            own.later.cancel()
        return self._own.pop(session, None) is not None

    def begin(self, session: SessionId, *, terminal: bool = False, prefix: str = "") -> str:
        """A name, so prefixed, for a new one; "" for a session that may change nothing. Under way until landed."""
        own = self._own.get(session)
        if own is None or not own.directory:
            return ""
        job = prefix + new_job()
        own.jobs[job] = {}
        (own.terminals if terminal else own.calls).add(job)
        return job

    async def copy(self, session: SessionId, job: str) -> None:
        """Have a machine that can lay no overlay show a copy of the folder in one, or in none for what only reads.

        Raises:
            ToolFault: see ``lay``.
        """
        if self._own[session].directory:
            await asyncio.to_thread(lay, Space(self._home, session), job)

    async def land(self, session: SessionId, job: str, *, lingers: bool = False, record: bool = False) -> Landing:
        """Land a finished transaction, and the changes so far of the session's others, which go on.

        Args:
            session: whose.
            job: its name; "" for a call that could change nothing.
            lingers: a process of it is still at work.
            record: no call says what became of it.
        """
        if not job:
            return Landing()
        own = self._own[session]
        if lingers:
            own.lingering.add(job)
        for under_way in (own.calls, own.terminals):
            under_way.discard(job)
        return await self.land_open(session, record=record)

    def drop(self, session: SessionId, job: str) -> None:
        """Nothing of one is to land."""
        if job:
            self._own[session].jobs[job] = None

    async def catch_up(self, session: SessionId) -> None:
        """Land what the session's terminals have changed so far, so that the next call sees it."""
        own = self._own.get(session)
        if own is not None and own.terminals:
            await self.land_open(session)

    async def end(self, session: SessionId) -> None:
        """Land all that is left of a session, but for its terminals. Its own machine is gone."""
        own = self._own.get(session)
        if own is not None and own.directory:
            await self.land_open(session)
        with suppress(NotFound):  # no machine has come up
            await asyncio.to_thread(forget_view, Space(self._home, session))

    async def take_up_left(self) -> None:
        """Recover every session's unfinished transactions; their changes wait for the person. No machine may run."""
        folder = self._home.root / "trials"
        for name in await asyncio.to_thread(os.listdir, folder) if folder.exists() else ():
            try:
                space = Space(self._home, SessionId(name))
                await asyncio.to_thread(space.put_away)
                if left := await asyncio.to_thread(space.left):
                    await asyncio.to_thread(land, space, {job: {} for job in left}, "all", alone=True)
                await asyncio.to_thread(forget_view, space)
            except NotFound:  # a crash while it was made, or thrown away: what is in it is nobody's
                await asyncio.to_thread(remove_tree, str(folder / name))
            except (OSError, StorageFault) as error:
                log.warning("what session %s changed could not be taken up: %s", name, error)

    async def land_open(self, session: SessionId, *, record: bool = True) -> Landing:
        """Land what a session's transactions have changed so far, but for calls that are under way; as ``land``."""
        landing = await self._land_all(session)
        if record and replace(landing, open=False, holding=0) != Landing():
            self.on_landed(session, landing)
        return landing

    async def _land_all(self, session: SessionId) -> Landing:
        own = self._own[session]
        async with own.lock:
            if own.lingering:
                try:
                    own.lingering &= {name.decode() for name in await self._ask(session, "open")}
                except MachineDied as error:
                    return Landing(failed=str(error), open=True)
            live = own.terminals | own.lingering
            jobs = {job: taken for job, taken in own.jobs.items() if job not in own.calls}
            if not jobs:
                return Landing()
            try:
                space = Space(self._home, session)
                landing = await asyncio.to_thread(
                    land,
                    space,
                    jobs,
                    own.hold,
                    live=live,
                    barred=own.barred,
                    before=self.before,
                    busy=bool(live or own.calls),
                )
            except NotFound:
                return Landing()  # no machine has come up
            except (OSError, StorageFault) as error:
                log.warning("what session %s changed could not land: %s", session, error)
                return Landing(failed=str(error))
            for job in jobs.keys() - live:
                del own.jobs[job]
            if landing.count:
                _ = asyncio.get_running_loop().run_in_executor(None, space.put_away)  # nothing waits for it
                if live or own.calls:
                    await self._ask(session, "refresh")
            if live - own.terminals:
                self._after(session, INTERVAL_S)
            return landing

    def soon(self, session: SessionId) -> None:
        """Something is going on in a terminal: land it when a moment has passed."""
        self._after(session, MOMENT_S)

    def _after(self, session: SessionId, wait_s: float) -> None:
        own = self._own[session]
        if own.later is None:
            own.later = asyncio.create_task(self._land_later(session, own, wait_s), name=f"land of {session}")

    async def _land_later(self, session: SessionId, own: _Own, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        own.later = None
        await self.land_open(session)
