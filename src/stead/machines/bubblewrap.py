"""Machines made by bubblewrap: one per session, with a resident runner.

Layer: machines. Implements ``Machines``, ``Shell``, ``Files``, ``Edits`` and ``Parser`` of ``domain.ports``. A machine
is made by the first work that needs it and kept until it is killed; when it dies, the next work makes another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal, TypeVar

from stead.config import Home
from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.ports import Egress, FileText, Isolation, Ran, Written
from stead.domain.ports import Found as Rows
from stead.machines.browser import MachineBrowser
from stead.machines.git_facts import MachineGit
from stead.machines.host import Host, probe
from stead.machines.machine import Binding, Machine
from stead.machines.making import Maker
from stead.machines.output import Output
from stead.machines.protected import check_released
from stead.machines.sandbox import Limits
from stead.machines.sweeping import Sweep
from stead.machines.terminals import Closed, MachineTerminals
from stead.machines.trial import TrialFolder
from stead.machines.workspace import check_directory

Change = Callable[[SessionId, Literal["started", "ended"], str], None]
"""Told when a machine was made ("") and when it is over (why). Must not block."""

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
        on_swept: journals what was put under quarantine.
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
        on_swept: Sweep | None = None,
        egress: Egress | None = None,
        on_terminal: Closed | None = None,
    ) -> None:
        self._home = home
        self._egress = egress
        limits = limits or Limits()
        self._maker = Maker(home, self._probed, limits, egress, on_swept)
        self._on_change = on_change or (lambda _session, _what, _why: None)
        self._search_limit_s = limits.search_s + _SLACK_S
        self._host = host
        self._bindings: dict[SessionId, Binding] = {}
        self._given = host is not None
        self._slots: dict[SessionId, _Slot] = {}
        self.browser = MachineBrowser(
            self._probed,
            self._bindings,
            egress,
            lambda session, path, data: self._work(session, "save", _bytes(path), data, answer=int),
        )
        self.git = MachineGit(self._machine, self._maker.named_by_git)
        self.terminals = MachineTerminals(self._maker, self._bindings, on_terminal)

    def isolation(self, *, again: bool = False) -> Isolation:
        """See ``Machines``. A try takes about a third of a second. A host that was given is never tried."""
        if again and not self._given and self._host is not None and self._host.tools is None:
            self._host = None
        return self._probed().isolation

    def bind(
        self,
        session: SessionId,
        directory: str,
        *,
        writable: bool,
        trial: bool = False,
        released: Sequence[str] = (),
        allowed: Sequence[str] = (),
        hosts: Sequence[str] = (),
    ) -> None:
        """Say which folder the session's machine shows at ``/work``. A machine that shows another is replaced.

        Args:
            session: whose.
            directory: absolute.
            writable: or read-only.
            trial: all that is written goes to the session's trial, and nothing of the folder changes.
            released: protected paths that may be written nevertheless.
            allowed: likewise, by a person's yes to the very call.
            hosts: patterns of hosts that every command may reach.

        Raises:
            InvalidRequest: the folder may not be shown, or a path not be released; see ``check_directory`` and
                ``check_released``.
        """
        real = check_directory(
            directory, self._home.root, writable=writable and not trial, memory=self._home.memory_files
        )
        aside = str(TrialFolder(self._home, session).root) if writable and trial else ""
        free = check_released((*released, *allowed))
        self._bindings[session] = Binding(real, writable, aside, free, tuple(hosts), tuple(allowed))

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
        """Kill the session's whole process tree now, and sweep up after it; true if there was one."""
        if resting:
            return await self._kill_own(session)
        killed = await asyncio.gather(self.browser.kill(session), self.terminals.stop(session), self._kill_own(session))
        return any(killed)

    async def _kill_own(self, session: SessionId) -> bool:
        """Likewise, but for its browser and its terminals."""
        slot = self._slots.pop(session, None)
        if slot is None:
            await self._maker.swept(session)
            return False
        if machine := slot.machine():
            machine.kill("killed")
            await machine.gone()
        else:
            slot.task.cancel()
            await asyncio.wait([slot.task])
        await self._maker.swept(session)
        return True

    async def close(self) -> None:
        """Kill every machine."""
        left = {*self._slots, *self.browser.sessions, *self.terminals.sessions}
        await asyncio.gather(*(self.kill(session) for session in left))
        await asyncio.gather(*(self._maker.swept(key) for key in self._maker.sweeping))

    async def sweep_left(self) -> None:
        """Sweep up after machines whose end no daemon saw. To be called before any is made."""
        await self._maker.sweep_left()

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

        def answer(code: bytes, size: bytes, ended: bytes) -> Ran:
            note = _ENDED_EARLY.get(ended.decode(), "")
            return Ran(int(code), output.text(note), int(size), ended == b"timeout")

        with self._egress.grant(permit, hosts) if self._egress and hosts else nullcontext():
            return await self._work(
                permit.session,
                "run",
                _bytes(command),
                b"%d" % int(timeout_s * 1000),
                b"%d" % (cap_bytes * _FLOOD),
                answer=answer,
                limit_s=timeout_s + _SLACK_S,
                on_output=output.add,
            )

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
        return await self._work(permit.session, "write", _bytes(path), _bytes(text), answer=_written)

    async def edit(self, permit: Permit, path: str, old: str, new: str, *, every: bool) -> Written:
        """As ``Edits.edit``."""
        permit.require_live(permit.session)
        arguments = (_bytes(path), _bytes(old), _bytes(new), b"%d" % every)
        return await self._work(permit.session, "edit", *arguments, answer=_written)

    async def glob(self, permit: Permit, pattern: str) -> Rows:
        """As ``Files.glob``."""
        permit.require_live(permit.session)
        return await self._work(permit.session, "glob", _bytes(pattern), answer=_found, limit_s=self._search_limit_s)

    async def grep(self, permit: Permit, pattern: str, path: str, include: str) -> Rows:
        """As ``Files.grep``; an empty ``path`` is the whole workspace, an empty ``include`` every file."""
        permit.require_live(permit.session)
        arguments = (_bytes(pattern), _bytes(path), _bytes(include))
        return await self._work(permit.session, "grep", *arguments, answer=_found, limit_s=self._search_limit_s)

    async def html_text(self, permit: Permit, content: bytes) -> str:
        """As ``Parser.html_text``; the text is cut at a megabyte."""
        permit.require_live(permit.session)
        found = await self._work(permit.session, "html", content, answer=_found, limit_s=self._search_limit_s)
        if not found.rows:
            raise ToolFault("the page could not be turned into text in time; fetch something smaller")
        return found.rows[0]

    async def _work(
        self,
        session: SessionId,
        operation: str,
        *arguments: bytes,
        answer: Callable[..., T],
        limit_s: float = _FILE_LIMIT_S,
        on_output: Callable[[bytes], None] | None = None,
    ) -> T:
        """Have the runner do something; ``answer`` makes sense of its fields, or the machine is killed."""
        if sum(map(len, arguments)) > _LARGEST_REQUEST:
            raise ToolFault("more than {} MB cannot be sent into a machine; send less at once", _LARGEST_REQUEST >> 20)
        machine = await self._machine(session)
        fields = await machine.call(operation, *arguments, limit_s=limit_s, on_output=on_output)
        try:
            return answer(*fields)
        except (ValueError, TypeError) as error:
            machine.kill("its runner answered what makes no sense")
            raise MachineDied("the machine's answer made no sense; the next call starts it anew") from error

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

        machine = await self._maker.make(session, session, binding, on_end)
        self._on_change(session, "started", "")
        return machine

    def _probed(self) -> Host:
        if self._host is None:
            self._host = probe()
        return self._host


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFault("{!r} is no text that UTF-8 can hold; leave half surrogate pairs out", text[:40]) from error


def _written(created: bytes, size: bytes, replaced: bytes, diff: bytes) -> Written:
    return Written(created == b"1", int(size), int(replaced), diff.decode())


def _found(total: bytes, late: bytes, *rows: bytes) -> Rows:
    return Rows(tuple(row.decode() for row in rows), int(total), late == b"1")
