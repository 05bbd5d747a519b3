"""Machines made by bubblewrap: one per session, with a resident runner.

Layer: machines. Implements ``Machines``, ``Shell``, ``Files``, ``Edits`` and ``Parser`` of ``domain.ports``. A machine
is made by the first work that needs it and kept until it is killed; when it dies, the next work makes another.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal, TypeVar

from msgspec.structs import replace

from stead.config import Home
from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.ports import Egress, FileText, Isolation, Ran, Written
from stead.domain.ports import Found as Rows
from stead.domain.trials import Barred, Hold, Landing, unbarred
from stead.machines.browser import LIMITS as BROWSER_LIMITS
from stead.machines.browser import MachineBrowser
from stead.machines.host import Host, probe
from stead.machines.machine import Binding, Machine
from stead.machines.making import Maker
from stead.machines.output import Output
from stead.machines.own_python import with_own_python
from stead.machines.pictures import MachinePictures
from stead.machines.programs import MachinePrograms
from stead.machines.proofs import MachineProofs
from stead.machines.sandbox import Limits
from stead.machines.services import MachineServices
from stead.machines.terminals import Closed, MachineTerminals
from stead.machines.transactions import Transactions
from stead.machines.workspace import check_directory

Change = Callable[[SessionId, Literal["started", "ended"], str], None]
"""Called when a machine was made ("") and when it is over (why). Must not block."""

T = TypeVar("T")

READ_CAP_BYTES = 256 << 10
_FILE_LIMIT_S = 30.0
_SLACK_S = 10.0
_LARGEST_REQUEST = 24 << 20
_FLOOD = 10
_ENDED_EARLY = {
    "flood": "killed: more than ten times as much output as is kept",
    "disk": "killed, with everything else in the machine: the disk is nearly full",
    "entries": "killed, with everything else in the machine: too many files and folders made at once",
    "memory": "killed, with everything else in the machine: too much memory in use",
}


@dataclass(frozen=True)
class _Slot:
    binding: Binding
    task: asyncio.Task[Machine]

    def machine(self) -> Machine | None:
        """The machine, once it is up."""
        started = self.task.done() and not self.task.cancelled() and self.task.exception() is None
        return self.task.result() if started else None


class BubblewrapMachines:
    """Every session's machine.

    Args:
        home: Stead's own; never shown to a machine.
        limits: what one machine may use.
        on_change: journals starts and ends.
        host: what ``probe`` found, or ``without(why)`` to switch machines off; None probes when it is first needed.
        egress: the way out; without one, machines have none.
        on_terminal: journals the end of a person's terminal.
    """

    def __init__(
        self,
        home: Home,
        *,
        limits: Limits | None = None,
        on_change: Change | None = None,
        host: Host | None = None,
        egress: Egress | None = None,
        on_terminal: Closed | None = None,
    ) -> None:
        self._home = home
        self._egress = egress
        limits = limits or Limits()
        self._maker = Maker(home, self._probed, limits, egress)
        self.transactions = Transactions(home, self._ask)
        self._on_change = on_change or (lambda _session, _what, _why: None)
        self._search_limit_s = limits.search_s + _SLACK_S
        self._host = host
        self._probing = threading.Lock()  # the start tries the host in a thread, and others may ask meanwhile
        self._bindings: dict[SessionId, Binding] = {}
        self._given = host is not None
        self._slots: dict[SessionId, _Slot] = {}
        self.browser = MachineBrowser(
            Maker(home, self._probed, BROWSER_LIMITS, egress),
            self._bindings,
            egress,
            lambda session, path, data: self._change(session, "save", _bytes(path), data, answer=int),
        )
        self.pictures = MachinePictures(Maker(home, self._probed, BROWSER_LIMITS, None), self._work)
        self.terminals = MachineTerminals(self._maker, self._bindings, self.transactions, on_terminal)
        self.programs = MachinePrograms(
            self._maker,
            Maker(home, lambda: with_own_python(self._probed()), limits, egress),
            self._bindings,
            self.transactions,
            lambda path: check_directory(path, home.root, writable=False, memory=home.memory_files),
        )
        self.proofs = MachineProofs(self.transactions, self._work, self._search_limit_s)
        self.services = MachineServices(
            self.transactions, self._work, lambda id: self._slots[id].machine() if id in self._slots else None
        )

    def isolation(self, *, again: bool = False) -> Isolation:
        """See ``Machines``. A try takes about a tenth of a second. A host that was given is never tried."""
        if again and not self._given and self._host is not None and self._host.tools is None:
            self._host = None
        return self._probed().isolation

    def bind(
        self,
        session: SessionId,
        directory: str,
        *,
        writable: bool,
        hold: Hold = "obeyed",
        hosts: Sequence[str] = (),
        barred: Barred = unbarred,
    ) -> None:
        """Say which folder the session's machine shows at ``/work``. A machine that shows another is replaced.

        Args:
            session: whose.
            directory: absolute; "" to forget what was said, unless something of the session's is at work.
            writable: or read-only.
            hold: what of its changes waits for the person; it holds for calls that end from now on.
            hosts: patterns of hosts that every command may reach.
            barred: what else waits, for the sentence that it gives.

        Raises:
            InvalidRequest: the folder may not be shown; see ``check_directory``.
        """
        if not directory:
            if self.transactions.release(session):
                self._bindings.pop(session, None)
            return
        real = check_directory(directory, self._home.root, writable=writable, memory=self._home.memory_files)
        self._bindings[session] = Binding(real, writable, tuple(hosts))
        self.transactions.bind(session, real if writable else "", hold, barred)

    async def fingerprint(self, session: SessionId, paths: Sequence[str]) -> Mapping[str, str]:
        """SHA-256 (hex) of each workspace file, "absent" or "folder" else; "unreadable" when it cannot be opened.

        Raises:
            MachineUnavailable, MachineDied, ToolFault: as for other work.
        """
        wanted = list(dict.fromkeys(paths))

        def answer(_total: bytes, late: bytes, *hashes: bytes) -> dict[str, str]:
            if late == b"1":
                raise ToolFault(
                    "the files that the call names are too large to be looked at in time; name smaller ones"
                )
            return dict(zip(wanted, (found.decode() for found in hashes), strict=True))

        if not wanted:
            return {}
        return await self._work(session, "hash", *map(_bytes, wanted), answer=answer, limit_s=self._search_limit_s)

    async def kill(self, session: SessionId, *, resting: bool = False) -> bool:
        """Kill the session's whole process tree now, and land what it changed; true if there was one.

        One that is only ``resting`` keeps what it left running in the background, and with it its machine.
        """
        if resting:
            return False if await self._ask(session, "open") else await self._kill_own(session)
        apart = (self.browser.kill(session), self.terminals.stop(session), self.programs.stop(session))
        killed = await asyncio.gather(*apart, self._kill_own(session))
        return any(killed)

    async def _kill_own(self, session: SessionId) -> bool:
        """As ``kill``, without the session's browser and terminals."""
        slot = self._slots.pop(session, None)
        if slot is not None:
            if machine := slot.machine():
                machine.kill("killed")
                await machine.gone()
            else:
                slot.task.cancel()
                await asyncio.wait([slot.task])
        await self.transactions.end(session)
        return slot is not None

    async def close(self) -> None:
        """Kill every machine, and end every preview."""
        await self.services.previews.close()
        left = {*self._slots, *self.browser.sessions, *self.terminals.sessions, *self.programs.sessions}
        await asyncio.gather(*(self.kill(session) for session in left))

    async def run(
        self,
        permit: Permit,
        command: str,
        *,
        timeout_s: float,
        cap_bytes: int,
        on_output: Callable[[str], None],
        hosts: Sequence[str] = (),
    ) -> Ran:
        """Run a bash command line in ``/work``; past the time or ten times the size cap its process group is killed.

        While it runs, the session may reach ``hosts`` too.

        Raises:
            PermitRefused: the permit is not live for this session.
            MachineUnavailable, MachineDied: no machine, or it went away.
            ToolFault: no further process could be started.
        """
        permit.require_live(permit.session)
        output = Output(cap_bytes, on_output)

        def answer(code: bytes, size: bytes, ended: bytes, _open: bytes) -> Ran:
            note = _ENDED_EARLY.get(ended.decode(), "")
            return Ran(int(code), output.text(note), int(size), ended == b"timeout")

        with self._egress.grant(permit, hosts) if self._egress and hosts else nullcontext():
            ran, landing = await self._change(
                permit.session,
                "run",
                _bytes(command),
                b"%d" % int(timeout_s * 1000),
                b"%d" % (cap_bytes * _FLOOD),
                answer=answer,
                limit_s=timeout_s + _SLACK_S,
                on_output=output.add,
            )
        return replace(ran, landing=landing)

    async def read(self, permit: Permit, path: str, *, first_line: int, lines: int) -> FileText:
        """As ``Files.read``."""
        permit.require_live(permit.session)
        first = max(1, first_line)

        def answer(text: bytes, total: bytes, size: bytes, cut: bytes) -> FileText:
            return FileText(text.decode(), first, int(total), int(size), cut == b"1")

        counts = (b"%d" % first, b"%d" % max(0, lines), b"%d" % READ_CAP_BYTES)
        return await self._work(permit.session, "read", _bytes(path), *counts, answer=answer)

    async def write(self, permit: Permit, path: str, text: str) -> Written:
        """As ``Edits.write``."""
        permit.require_live(permit.session)
        written, landing = await self._change(permit.session, "write", _bytes(path), _bytes(text), answer=_written)
        return replace(written, landing=landing)

    async def edit(self, permit: Permit, path: str, old: str, new: str, *, every: bool) -> Written:
        """As ``Edits.edit``."""
        permit.require_live(permit.session)
        arguments = (_bytes(path), _bytes(old), _bytes(new), b"%d" % every)
        written, landing = await self._change(permit.session, "edit", *arguments, answer=_written)
        return replace(written, landing=landing)

    async def glob(self, permit: Permit, pattern: str, *, ignored: bool = False) -> Rows:
        """As ``Files.glob``."""
        permit.require_live(permit.session)
        arguments = (_bytes(pattern), b"%d" % ignored)
        return await self._work(permit.session, "glob", *arguments, answer=_found, limit_s=self._search_limit_s)

    async def grep(self, permit: Permit, pattern: str, path: str, include: str, *, ignored: bool = False) -> Rows:
        """As ``Files.grep``; an empty ``path`` is the whole workspace, an empty ``include`` every file."""
        permit.require_live(permit.session)
        arguments = (_bytes(pattern), _bytes(path), _bytes(include), b"%d" % ignored)
        return await self._work(permit.session, "grep", *arguments, answer=_found, limit_s=self._search_limit_s)

    async def html_text(self, permit: Permit, content: bytes) -> str:
        """As ``Parser.html_text``; the text is cut at a megabyte."""
        permit.require_live(permit.session)
        found = await self._work(permit.session, "html", content, answer=_found, limit_s=self._search_limit_s)
        if not found.rows:
            raise ToolFault("the page could not be turned into text in time; fetch something smaller")
        return found.rows[0]

    async def _change(
        self,
        session: SessionId,
        operation: str,
        *arguments: bytes,
        answer: Callable[..., T],
        limit_s: float = _FILE_LIMIT_S,
        on_output: Callable[[bytes], None] | None = None,
    ) -> tuple[T, Landing]:
        """Have the runner do something in a transaction, and land its changes, even when it fails."""
        job = self.transactions.begin(session)
        lingers = True  # until the runner says that nothing does

        def noted(*fields: bytes) -> T:
            nonlocal lingers
            lingers = operation == "run" and fields[-1:] != (b"0",)
            return answer(*fields)

        try:
            words = (job.encode(), *arguments)
            answered = await self._work(
                session, operation, *words, answer=noted, limit_s=limit_s, on_output=on_output, job=job
            )
        except BaseException:
            if operation != "run":  # half a file is none
                self.transactions.drop(session, job)
            await self.transactions.land(session, job, lingers=lingers, record=True)
            raise
        landing = await self.transactions.land(session, job, lingers=lingers)
        return answered, landing

    async def _ask(self, session: SessionId, operation: str) -> Sequence[bytes]:
        """Ask a session's machine, and its terminals, about what is under way; nothing is in one that is not there."""
        if operation == "refresh":
            await self.terminals.refresh(session)
        slot = self._slots.get(session)
        machine = slot.machine() if slot else None
        if machine is None:
            return ()
        try:
            return await machine.call(operation, limit_s=_FILE_LIMIT_S)
        except MachineDied:
            await machine.gone()
            return ()

    async def _work(
        self,
        session: SessionId,
        operation: str,
        *arguments: bytes,
        answer: Callable[..., T],
        limit_s: float = _FILE_LIMIT_S,
        on_output: Callable[[bytes], None] | None = None,
        job: str = "",
    ) -> T:
        """Have the runner do something; ``answer`` makes sense of its fields, or the machine is killed."""
        if sum(map(len, arguments)) > _LARGEST_REQUEST:
            raise ToolFault("more than {} MB cannot be sent into a machine; send less at once", _LARGEST_REQUEST >> 20)
        await self.transactions.catch_up(session)
        machine = await self._machine(session)
        if machine.copies:
            await self.transactions.copy(session, job)
        fields = await machine.call(operation, *arguments, limit_s=limit_s, on_output=on_output)
        try:
            return answer(*fields)
        except (ValueError, TypeError) as error:
            machine.kill("its runner answered what makes no sense")
            raise MachineDied("the machine's answer made no sense; the next call starts it again") from error

    async def _machine(self, session: SessionId) -> Machine:
        binding = self._bindings.get(session)
        if binding is None:
            raise MachineUnavailable("no folder was chosen for {!r}", session)
        slot = self._slots.get(session)
        if slot and slot.binding != binding:
            await self._kill_own(session)
            slot = None
        if slot is None:
            task = asyncio.create_task(self._start(session, binding), name=f"start machine of {session}")
            slot = self._slots[session] = _Slot(binding, task)
        try:
            return await asyncio.shield(slot.task)
        except asyncio.CancelledError:
            if slot.task.cancelled():
                raise MachineDied("the machine was killed while it started") from None
            raise
        except MachineUnavailable:
            if self._slots.get(session) is slot:
                del self._slots[session]
            raise

    async def _start(self, session: SessionId, binding: Binding) -> Machine:
        own = asyncio.current_task()

        def on_end(why: str) -> None:
            slot = self._slots.get(session)
            if slot and slot.task is own:
                del self._slots[session]
            self._on_change(session, "ended", why)

        machine = await self._maker.make(session, binding, on_end)
        self._on_change(session, "started", "")
        return machine

    def _probed(self) -> Host:
        with self._probing:
            if self._host is None:
                self._host = probe(self._home)
            return self._host


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFault("{!r} is no text that UTF-8 can hold; leave half surrogate pairs out", text[:40]) from error


def _written(created: bytes, size: bytes, replaced: bytes, diff: bytes) -> Written:
    return Written(created == b"1", int(size), int(replaced), diff.decode())


def _found(total: bytes, late: bytes, *rows: bytes) -> Rows:
    counts = [int(count) for count in total.split()]  # the total alone when the search was killed at its end
    left_out, unsure = counts[1:] or (0, 0)
    return Rows(tuple(row.decode() for row in rows), counts[0], late == b"1", left_out, unsure == 1)
