"""Making machines that show a session's folder.

Layer: machines. A session may have several: one for its work, and one for each terminal of the person's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.domain.ids import SessionId
from stead.domain.ports import Egress
from stead.machines.host import Host
from stead.machines.machine import Binding, Machine, start_machine
from stead.machines.sandbox import Limits, Role
from stead.machines.space import Space


class Maker:
    """Makes them.

    Args:
        home: Stead's own.
        host: what there is to make them with; probes at its first call, which blocks.
        limits: what one machine may use.
        egress: the way out; without one, machines have none.
    """

    def __init__(self, home: Home, host: Callable[[], Host], limits: Limits, egress: Egress | None) -> None:
        self._home = home
        self._host = host
        self._limits = limits
        self._egress = egress

    async def make(
        self,
        session: SessionId,
        binding: Binding,
        on_end: Callable[[str], None],
        role: Role = "",
        job: str = "",
        listed: str = "",
    ) -> Machine:
        """Make one.

        Args:
            session: whose changes it makes, and whose way out it gets.
            binding: what it shows.
            on_end: called once, with the reason, when it is over.
            role: what it is for; a browser is shown no folder.
            job: the transaction of a terminal or a program.
            listed: the folder whose allow-list of hosts holds, where it is another than the one that is shown.

        Raises:
            MachineUnavailable: it could not be made; says why.
        """
        host = await asyncio.to_thread(self._host)
        egress = await self._open(session, listed or binding.directory, binding.hosts)

        def ended(why: str) -> None:
            self._close(egress)
            on_end(why)

        try:
            if role == "browse" or not binding.directory:
                return await start_machine(host, Binding("", writable=False), None, self._limits, ended, egress, role)
            space = Space(self._home, session, binding.directory)
            return await start_machine(host, binding, space, self._limits, ended, egress, role, job)
        except BaseException:
            self._close(egress)
            raise

    async def _open(self, session: SessionId, directory: str, hosts: Sequence[str]) -> str:
        """The folder with a new machine's way out; "" when there is none."""
        if self._egress is None:
            return ""
        try:
            return await self._egress.open(session, directory, hosts)
        except OSError as error:
            raise MachineUnavailable("the machine's way out could not be made: {}", error) from error

    def _close(self, egress: str) -> None:
        if self._egress is not None:
            self._egress.close(egress)
