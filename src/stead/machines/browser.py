"""A browser for each session that asks for one, in a machine of its own.

Layer: machines. Implements ``domain.ports.Browser``. The machine that a browser runs in shows no workspace and shares
nothing with the session's own but the allow-list of hosts: a page that breaks out of the browser finds an empty room,
and what it makes the browser use up is not the session's. It is made by the first page, ended after half an hour
without a call, and killed with the session's machine.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from stead.config import CHROMIUM
from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.ports import Egress, PageShown
from stead.domain.trials import Landing
from stead.machines.machine import Binding, Machine
from stead.machines.making import Maker
from stead.machines.sandbox import Limits

_MB = 1 << 20
LIMITS = Limits(
    file_bytes=64 * _MB,
    files=1024,
    processes=320,
    memory_bytes=1536 * _MB,
    disk_bytes=0,
    data_bytes=1024 * _MB,
)
"""What a browser needs, and no more: an empty page takes 130 threads and 220 MB."""
IDLE_S = 1800.0
_CALL_LIMIT_S = 60.0

Save = Callable[[SessionId, str, bytes], Awaitable[tuple[int, Landing]]]
"""Puts a file into the session's workspace, by way of its own machine; gives its size."""


@dataclass
class _Slot:
    """One browser. ``task`` makes its machine; calls take turns; ``idle`` ends it."""

    binding: Binding
    task: asyncio.Task[Machine]
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    idle: asyncio.TimerHandle | None = None


@dataclass(eq=False, repr=False)
class MachineBrowser:
    """Every session's browser.

    Args:
        maker: makes their machines, with ``LIMITS``.
        bindings: each session's folder and hosts.
        egress: the way out; without one, no page can be reached.
        save: takes a picture to the workspace.
        programs: where to look for Chromium.

    ``load_s`` is how many seconds a page may take to load; what it takes longer for is left out.
    """

    _maker: Maker
    _bindings: Mapping[SessionId, Binding]
    _egress: Egress | None
    _save: Save
    _programs: Sequence[str] = CHROMIUM

    def __post_init__(self) -> None:
        self.load_s = 15.0
        self._slots: dict[SessionId, _Slot] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def open(self, permit: Permit, url: str, hosts: Sequence[str]) -> PageShown:
        """As ``Browser.open``."""
        permit.require_live(permit.session)
        program = next((path for path in self._programs if os.access(path, os.X_OK)), "")
        if not program:
            raise MachineUnavailable(
                "there is no Chromium under /usr on this computer; ask the person to install it: apt install chromium"
            )
        return await self._shown(permit, hosts, "open", program, url)

    async def read(self, permit: Permit, url: str) -> PageShown:
        """As ``Browser.read``."""
        permit.require_live(permit.session)
        return await self._shown(permit, (), "read", url)

    async def act(
        self,
        permit: Permit,
        url: str,
        element: tuple[int, str],
        hosts: Sequence[str],
        *,
        text: str | None,
        submit: bool,
    ) -> PageShown:
        """As ``Browser.act``."""
        permit.require_live(permit.session)
        ref, label = element
        filled = "" if text is None else "1"
        return await self._shown(permit, hosts, "act", url, str(ref), label, text or "", filled, "1" if submit else "")

    async def shot(self, permit: Permit, url: str, path: str) -> tuple[bytes, Landing]:
        """As ``Browser.shot``."""
        permit.require_live(permit.session)
        (picture,) = await self._call(permit, (), "shot", url)
        _, landing = await self._save(permit.session, path, picture)
        return picture, landing

    async def kill(self, session: SessionId) -> bool:
        """Kill the session's browser now; true if there was one."""
        slot = self._slots.pop(session, None)
        if slot is None:
            return False
        if slot.idle:
            slot.idle.cancel()
        if slot.task.done() and not slot.task.cancelled() and slot.task.exception() is None:
            machine = slot.task.result()
            machine.kill("killed")
            await machine.gone()
        else:
            slot.task.cancel()
            await asyncio.wait([slot.task])
        return True

    @property
    def sessions(self) -> set[SessionId]:
        """Those that have one."""
        return set(self._slots)

    async def _shown(self, permit: Permit, hosts: Sequence[str], operation: str, *words: str) -> PageShown:
        fields = await self._call(permit, hosts, operation, *words)
        try:
            url, title, text, hidden, count, *rest = (value.decode() for value in fields)
            notes, refused = rest[: int(count)], [one.partition(" ") for one in rest[int(count) :]]
            return PageShown(
                url, title, text, int(hidden), tuple(notes), tuple((host, int(number)) for number, _, host in refused)
            )
        except ValueError as error:
            await self.kill(permit.session)
            raise MachineDied("the browser's answer made no sense; open the page again") from error

    async def _call(self, permit: Permit, hosts: Sequence[str], operation: str, *words: str) -> list[bytes]:
        """Have the driver do something, while the call's hosts may be reached."""
        slot = await self._slot(permit.session, make=operation == "open")
        machine = await self._machine(permit.session, slot)
        async with slot.turn:
            if slot.idle:
                slot.idle.cancel()
            try:
                with self._egress.grant(permit, hosts) if self._egress and hosts else nullcontext():
                    verdict, *fields = await machine.call(
                        operation, b"%d" % (self.load_s * 1000), *map(_bytes, words), limit_s=_CALL_LIMIT_S
                    )
            finally:
                loop = asyncio.get_running_loop()
                slot.idle = loop.call_later(IDLE_S, self._expire, permit.session, slot)
        if verdict == b"ok":
            return fields
        await self._drop(permit.session, slot)
        why = b" ".join(fields)[:500].decode("utf-8", "replace")
        raise ToolFault("the browser was closed: {}; open a page to start it again", why)

    async def _slot(self, session: SessionId, *, make: bool) -> _Slot:
        binding = self._bindings.get(session)
        if binding is None:
            raise MachineUnavailable("no folder was chosen for {!r}", session)
        slot = self._slots.get(session)
        if slot and slot.binding != binding:  # what it may reach has changed
            await self.kill(session)
            slot = None
        if slot is None and not make:
            raise ToolFault("no page is open; open one first")
        if slot is None:
            task = asyncio.create_task(self._start(session, binding), name=f"start browser of {session}")
            slot = self._slots[session] = _Slot(binding, task)
        return slot

    async def _machine(self, session: SessionId, slot: _Slot) -> Machine:
        try:
            return await asyncio.shield(slot.task)
        except asyncio.CancelledError:
            if slot.task.cancelled():
                raise MachineDied("the browser was killed while it started") from None
            raise
        except MachineUnavailable:
            self._forget(session, slot)
            raise

    async def _start(self, session: SessionId, binding: Binding) -> Machine:
        own = asyncio.current_task()

        def on_end(_why: str) -> None:
            slot = self._slots.get(session)
            if slot and slot.task is own:
                self._forget(session, slot)

        return await self._maker.make(session, binding, on_end, "browse")

    def _forget(self, session: SessionId, slot: _Slot) -> None:
        if self._slots.get(session) is slot:
            del self._slots[session]
        if slot.idle:
            slot.idle.cancel()

    async def _drop(self, session: SessionId, slot: _Slot) -> None:
        """Be done with a browser that has ended."""
        if self._slots.get(session) is slot:
            await self.kill(session)

    def _expire(self, session: SessionId, slot: _Slot) -> None:
        """Close a browser that was not used for a long time."""
        ending = asyncio.create_task(self._drop(session, slot), name=f"end browser of {session}")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
