"""Every session's services: started, described, stopped, previewed.

Layer: machines. Implements ``domain.services.Services``. The runner keeps them (``runner.services``) and is asked each
time, so that nothing here can differ from what runs; what it answers is bounded and checked here.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from stead.domain.errors import Conflict, MachineDied, NotFound, ToolFault
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.services import MOST, ServiceLog, ServicePreview, ServiceRow
from stead.domain.trials import Landing
from stead.machines.machine import Machine
from stead.machines.network import connect
from stead.machines.previews import Previews
from stead.machines.transactions import Transactions

_START_WAIT_S = 5.0
"""How long a start waits for a port; a service that takes longer comes up later."""
_POLL_S = 0.1
_ASK_LIMIT_S = 30.0
_MOST_BYTES = 64 << 10

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class MachineServices:
    """Every session's.

    Args:
        transactions: where what they change lands.
        work: has a machine's runner do something; makes the machine where there is none.
        running: a session's machine, once it is up.
    """

    _transactions: Transactions
    _work: Callable[..., Awaitable[None]]
    _running: Callable[[SessionId], Machine | None]

    def __post_init__(self) -> None:
        self.previews = Previews(self._dial)

    async def start(self, permit: Permit, name: str, command: str) -> tuple[ServiceLog, Landing]:
        """As ``Services.start``."""
        permit.require_live(permit.session)
        job = self._transactions.begin(permit.session)
        try:
            words = (job.encode(), command.encode(), b"0", b"1", name.encode())
            await self._work(permit.session, "run", *words, answer=lambda: None, job=job)
            until = time.monotonic() + _START_WAIT_S
            while (seen := await self.log(permit.session, name)).service.status == "running":
                if seen.service.ports or time.monotonic() > until:
                    break
                await asyncio.sleep(_POLL_S)
        except UnicodeEncodeError as error:
            raise ToolFault("the command is no text that UTF-8 can hold; leave half surrogate pairs out") from error
        finally:
            landing = await self._transactions.land(permit.session, job, lingers=True)
        return seen, landing

    async def rows(self, session: SessionId) -> tuple[ServiceRow, ...]:
        """As ``Services.rows``."""
        return await self._ask(session, _rows, "services")

    async def log(self, session: SessionId, name: str) -> ServiceLog:
        """As ``Services.log``."""
        return await self._one(session, "log", name)

    async def stop(self, session: SessionId, name: str, *, record: bool = False) -> tuple[ServiceLog, Landing]:
        """As ``Services.stop``."""
        return await self._one(session, "end", name), await self._transactions.land_open(session, record=record)

    async def preview(self, session: SessionId, name: str, port: int) -> ServicePreview:
        """As ``Services.preview``."""
        row = (await self.log(session, name)).service
        if row.ports and (not port or port in row.ports):
            return ServicePreview(await self.previews.open(session, row.id, port or row.ports[0]))
        said = f"listens at {', '.join(map(str, row.ports))}" if row.ports else "accepts no connections"
        raise Conflict(f"the service {name!r} {said} at the moment; look at its log")

    async def _dial(self, session: SessionId, id: str, port: int) -> socket.socket | None:
        """A connection to a service that is still this one; None when that has ended."""
        runs = [row for row in await self.rows(session) if row.id == id and row.status == "running"]
        machine = self._running(session)
        return await connect(machine.first, port) if machine and runs else None

    async def _one(self, session: SessionId, operation: str, name: str) -> ServiceLog:
        if name in [row.name for row in await self.rows(session)]:
            return await self._ask(session, _log, operation, name.encode())
        raise NotFound(
            f"there is no service {name!r} in this session: services end when the session is stopped or closed, "
            "and when Stead restarts; start it again"
        )

    async def _ask(self, session: SessionId, read: Callable[..., T], operation: str, *arguments: bytes) -> T:
        """What a machine's runner answers; what makes no sense ends the machine."""
        machine = self._running(session)
        fields = await machine.call(operation, *arguments, limit_s=_ASK_LIMIT_S) if machine else ()
        try:
            return read(*fields)
        except (msgspec.MsgspecError, TypeError, ValueError) as error:
            if machine:
                machine.kill("its runner answered what makes no sense")
            raise MachineDied("the machine's answer made no sense, and it was ended; call again") from error


def _rows(*fields: bytes) -> tuple[ServiceRow, ...]:
    if len(fields) > MOST:
        raise ValueError(f"{len(fields)} services")
    return tuple(msgspec.json.decode(field, type=ServiceRow) for field in fields)


def _log(row: bytes, text: bytes) -> ServiceLog:
    return ServiceLog(msgspec.json.decode(row, type=ServiceRow), text[-_MOST_BYTES:].decode("utf-8", "replace"))
