"""Making machines that show a session's folder, and what has to happen before one starts and after it ended.

Layer: machines. A session may have several: one for its work, and one for each terminal of the person's. Each has a key
of its own: the session's id, or that and, behind a dot, the terminal's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.domain.ids import SessionId
from stead.domain.ports import Egress
from stead.machines.first_look import FirstLooks
from stead.machines.git_paths import Answer, named_by_git, repositories, stamp
from stead.machines.host import Host
from stead.machines.machine import Binding, Machine, start_machine
from stead.machines.protected import Found, require_few, scan
from stead.machines.quarantine import QuarantineFolder
from stead.machines.sandbox import Limits, Role
from stead.machines.stage import OUTSIDE_USER
from stead.machines.sweeping import Sweep, Sweeper
from stead.machines.trial import TrialFolder


class Maker:
    """Makes them.

    Args:
        home: Stead's own.
        host: what there is to make them with; probes at its first call, which blocks.
        limits: what one machine may use.
        egress: the way out; without one, machines have none.
        on_swept: journals what was put under quarantine.
    """

    def __init__(
        self, home: Home, host: Callable[[], Host], limits: Limits, egress: Egress | None, on_swept: Sweep | None
    ) -> None:
        self._home = home
        self._host = host
        self._limits = limits
        self._egress = egress
        self._quarantine = QuarantineFolder(home)
        self._first_looks = FirstLooks(home)
        self._sweeper = Sweeper(self._quarantine, on_swept)
        self._shown: dict[str, Binding] = {}
        self._named: dict[str, tuple[Answer, object]] = {}

    @property
    def sweeping(self) -> set[str]:
        """Keys of machines that are being swept up after."""
        return self._sweeper.keys

    async def swept(self, key: str) -> None:
        """Wait until a machine is swept up after."""
        await self._sweeper.done(key)

    async def sweep_left(self) -> None:
        """Sweep up after machines whose end no daemon saw. To be called before any is made."""
        await self._sweeper.sweep_left()

    async def make(
        self, key: str, session: SessionId, binding: Binding, on_end: Callable[[str], None], role: Role = ""
    ) -> Machine:
        """Make one.

        Args:
            key: see the module; no other machine of it lives.
            session: whose way out it gets.
            binding: what it shows.
            on_end: called once, with the reason, when it is over.
            role: what it is for.

        Raises:
            MachineUnavailable: it could not be made; says why.
        """
        host = await asyncio.to_thread(self._host)
        await self._sweeper.done(key)
        if binding.writable and not binding.trial:
            await self._sweeper.require_clean(session, binding.directory)
        found = await self._look(key, session, binding)
        egress = await self._open(session, binding)
        self._shown[key] = binding

        def ended(why: str) -> None:
            self._let_go(key, binding, egress)
            self._sweeper.start(key)
            on_end(why)

        try:
            if named := await self._ask_git(host, binding, found):
                found = await self._look(key, session, binding, named)
            return await start_machine(host, binding, found, self._limits, ended, egress, role)
        except BaseException:
            self._let_go(key, binding, egress)
            raise

    def named_by_git(self, directory: str) -> tuple[str, ...]:
        """Paths that the settings of a folder's repositories name, as the last machine's start found them."""
        return self._named[directory][0].named if directory in self._named else ()

    async def _ask_git(self, host: Host, binding: Binding, found: Found) -> tuple[str, ...]:
        """Ask git in a machine of its own, which can write nothing, what the folder's repositories name."""
        places = repositories(found)
        if not places:
            self._named.pop(binding.directory, None)
            return ()
        last, was = self._named.get(binding.directory, (Answer((), ()), None))
        if was == (places, await asyncio.to_thread(stamp, last.sources)):
            return last.named

        @asynccontextmanager
        async def reading(directory: str) -> AsyncIterator[Machine]:
            reader = await start_machine(host, Binding(directory, writable=False), Found(), self._limits, _ignore)
            try:
                yield reader
            finally:
                reader.kill("it was for one question")
                await reader.gone()

        now = await named_by_git(reading, binding.directory, found)
        self._named[binding.directory] = now, (places, await asyncio.to_thread(stamp, now.sources))
        return now.named

    async def _look(self, key: str, session: SessionId, binding: Binding, named: Sequence[str] = ()) -> Found:
        found = await asyncio.to_thread(self._make_ready, key, session, binding, named)
        if found.missed and not binding.trial:
            self._sweeper.refuse(session, binding.directory, found.missed)
        return found

    def _make_ready(self, key: str, session: SessionId, binding: Binding, named: Sequence[str]) -> Found:
        """Look at what the folder has, and write it down if that was all; for a trial, make the place for changes."""
        if not binding.writable:
            return Found()
        if binding.trial:
            trial = TrialFolder(self._home, session)
            trial.prepare(binding.directory, (OUTSIDE_USER, OUTSIDE_USER))
            trial.note_named(named)
        try:
            found = scan(binding.directory, binding.released, named)
        except OSError as error:
            raise MachineUnavailable(
                "{!r} is no longer the folder that was chosen ({}); put it back, or start anew",
                binding.directory,
                error.strerror,
            ) from error
        if binding.trial:
            return found
        require_few(found, binding.directory)
        if not found.missed:
            self._first_looks.left_out(binding.directory)
            self._quarantine.begin(key, session, binding, found)
        return found

    async def _open(self, session: SessionId, binding: Binding) -> str:
        """The folder with a new machine's way out; "" when there is none."""
        if self._egress is None:
            return ""
        try:
            return await self._egress.open(session, binding.directory, binding.hosts)
        except OSError as error:
            raise MachineUnavailable("the machine's way out could not be made: {}", error) from error

    def _let_go(self, key: str, binding: Binding, egress: str) -> None:
        if self._egress is not None:
            self._egress.close(egress)
        if self._shown.get(key) is not binding:
            return  # it was let go before, or a newer machine of the session shows the folder by now
        del self._shown[key]
        others = any(other.directory == binding.directory for other in self._shown.values())
        if binding.writable and not binding.trial and not others:
            with suppress(OSError):  # the placeholder of a .git, unless another machine needs it; Git leaves none empty
                os.rmdir(f"{binding.directory}/.git")


def _ignore(_why: str) -> None:
    """Nothing is left behind by a machine that could write nothing."""
