"""A workbench for machine tests: a home, a project folder, and real machines over them."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from stead.config import Home
from stead.domain.errors import NotFound
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.ports import Egress, Ran
from stead.domain.terminals import Ended
from stead.domain.trials import Barred, Change, Hold, Landing, unbarred
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.held_changes import HeldChanges
from stead.machines.host import Host, probe
from stead.machines.sandbox import Limits

SESSION = SessionId("s_0123456789abcdef")


def fresh_permit(session: SessionId = SESSION, tool: str = "shell") -> Permit:
    """One that no tool has spent yet."""
    return Permit(
        session=session,
        call=CallKey("call_1_0"),
        tool=tool,
        arguments={},
        digest=CallDigest("d"),
        nonce=os.urandom(16),
    )


def live_permit(session: SessionId = SESSION, tool: str = "shell") -> Permit:
    """One under which a tool is at work."""
    permit = fresh_permit(session, tool)
    permit.spend(tool, {})
    return permit


@cache
def this_host() -> Host:
    """What this host offers, tried once for all tests."""
    return probe()


def this_host_copying() -> Host:
    """The same, as if no overlay could be laid on it."""
    return replace(this_host(), isolation=structs.replace(this_host().isolation, copies=True))


def require_sandbox() -> None:
    """Skip, loudly, where no sandbox can be made."""
    if not this_host().isolation.available:
        pytest.skip(f"NO SANDBOX ON THIS HOST, so machines are not tested: {this_host().isolation.missing}")


class Bench:
    """Machines over one project folder.

    Args:
        root: a folder of the test; the home and the project are made in it.
        limits: of each machine.
        egress: the way out.
        copies: as on a host where no overlay can be laid.
    """

    def __init__(
        self, root: Path, limits: Limits | None = None, egress: Egress | None = None, *, copies: bool = False
    ) -> None:
        self.changes: list[tuple[SessionId, str, str]] = []
        self.ended: list[tuple[SessionId, str, Ended]] = []
        self.home = Home(root / "stead-home")
        self.home.make()
        self.project = root / "project"
        self.project.mkdir()
        self.machines = BubblewrapMachines(
            self.home,
            limits=limits,
            on_change=lambda *change: self.changes.append(change),
            host=this_host_copying() if copies else this_host(),
            egress=egress,
            on_terminal=lambda *ended: self.ended.append(ended),
        )
        self.held_changes = HeldChanges(self.home, self.machines.kill)

    async def until_output(self, command: str, wanted: str) -> None:
        for _ in range(200):
            if await self.output(command) == wanted:
                return
        raise AssertionError(f"{command!r} never gave {wanted!r}")

    def bind(
        self,
        *,
        writable: bool = True,
        session: SessionId = SESSION,
        hold: Hold = "obeyed",
        barred: Barred = unbarred,
    ) -> None:
        self.machines.bind(session, str(self.project), writable=writable, hold=hold, barred=barred)

    async def run(
        self,
        command: str,
        *,
        timeout_s: float = 30,
        cap_bytes: int = 100_000,
        session: SessionId = SESSION,
        on_output: Callable[[str], None] = lambda _text: None,
    ) -> Ran:
        permit = live_permit(session)
        return await self.machines.run(permit, command, timeout_s=timeout_s, cap_bytes=cap_bytes, on_output=on_output)

    async def output(self, command: str) -> str:
        """What a command prints; it must succeed."""
        ran = await self.run(command)
        assert ran.exit_code == 0, ran
        return ran.output

    async def landing(self, command: str, session: SessionId = SESSION) -> Landing:
        """What becomes of what a command changes, whether it succeeds or not."""
        return (await self.run(command, session=session)).landing

    async def waiting(self, session: SessionId = SESSION) -> dict[str, Change]:
        """What waits for the person, by path; the machine is ended."""
        await self.machines.kill(session)
        try:
            return {change.path: change for change in (await self.held_changes.trial(session)).changes}
        except NotFound:
            return {}

    def tree(self) -> dict[str, str]:
        """What the person's folder holds."""
        found = {}
        for path in sorted(self.project.rglob("*")):
            name = str(path.relative_to(self.project))
            if path.is_symlink():
                found[name] = f"-> {os.readlink(path)}"
            else:
                found[name] = path.read_text() if path.is_file() else "/"
        return found


@asynccontextmanager
async def open_bench(
    root: Path, limits: Limits | None = None, egress: Egress | None = None, *, copies: bool = False
) -> AsyncIterator[Bench]:
    """A bench whose writable machine is bound; everything is killed at the end."""
    require_sandbox()
    bench = Bench(root, limits, egress, copies=copies)
    bench.bind()
    try:
        yield bench
    finally:
        await bench.machines.close()


async def until(condition: Callable[[], bool], limit_s: float = 10) -> None:
    """Wait for a condition of the world outside, which sends no event."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        await asyncio.sleep(0.01)


def fresh_nap() -> str:
    """An argument for ``sleep`` that no other test, and no other run of the tests, uses at the same time."""
    return f"9{secrets.randbelow(10**9):09}.5"


def napping(nap: str) -> list[int]:
    """Host processes that sleep for it."""
    return processes_with(f"sleep\0{nap}")


def processes_with(marker: str) -> list[int]:
    """Host processes whose command line holds a marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in words:
                found.append(int(entry.name))
    return found
