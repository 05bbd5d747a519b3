"""Making machines that show a session's folder, and what has to happen before one starts and after it ended.

Layer: machines. A session may have several: one for its work, and one for each terminal of the person's. Each has a key
of its own: the session's id, or that and, behind a dot, the terminal's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.domain.ids import SessionId
from stead.domain.ports import Egress
from stead.machines.first_look import FirstLooks
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
        found = await asyncio.to_thread(self._make_ready, key, session, binding)
        if found.missed:
            self._sweeper.refuse(session, binding.directory, found.missed)
        egress = await self._open(session, binding)
        self._shown[key] = binding

        def ended(why: str) -> None:
            self._let_go(key, egress)
            self._sweeper.start(key)
            on_end(why)

        try:
            return await start_machine(host, binding, found, self._limits, ended, egress, role)
        except BaseException:
            self._let_go(key, egress)
            raise

    def _make_ready(self, key: str, session: SessionId, binding: Binding) -> Found:
        """Look at what the folder has, and write it down if that was all; for a trial, make the place for changes."""
        if binding.trial:
            TrialFolder(self._home, session).prepare(binding.directory, (OUTSIDE_USER, OUTSIDE_USER))
        if binding.trial or not binding.writable:
            return Found()
        try:
            found = scan(binding.directory, binding.released)
        except OSError as error:
            raise MachineUnavailable(
                f"{binding.directory!r} is no longer the folder that was chosen ({error.strerror}); put it back, or "
                "start anew"
            ) from error
        require_few(found, binding.directory)
        if not found.missed:
            self._first_looks.left_out(binding.directory)
            self._quarantine.begin(key, session, binding.directory, binding.released, found)
        return found

    async def _open(self, session: SessionId, binding: Binding) -> str:
        """The folder with a new machine's way out; "" when there is none."""
        if self._egress is None:
            return ""
        try:
            return await self._egress.open(session, binding.directory, binding.hosts)
        except OSError as error:
            raise MachineUnavailable(f"the machine's way out could not be made: {error}") from error

    def _let_go(self, key: str, egress: str) -> None:
        if self._egress is not None:
            self._egress.close(egress)
        binding = self._shown.pop(key)
        others = any(other.directory == binding.directory for other in self._shown.values())
        if binding.writable and not binding.trial and not others:
            with suppress(OSError):  # the placeholder of a .git, unless another machine needs it; Git leaves none empty
                os.rmdir(f"{binding.directory}/.git")
