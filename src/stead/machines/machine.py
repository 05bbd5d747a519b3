"""One session's machine: its start, its calls, its end.

Layer: machines. The process is started on the event loop's thread, since the kernel kills a sandbox whose parent
*thread* has ended. It is killed from outside, through a descriptor of the first process inside: when that is gone, the
kernel has killed everything else in its pid namespace.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import msgspec

from stead.domain.errors import MachineDied, MachineUnavailable
from stead.domain.obeyed import fold
from stead.machines.host import Host
from stead.machines.link import Link
from stead.machines.process import Process, readable, start
from stead.machines.protected import Found, identity
from stead.machines.sandbox import Descriptors, Limits, Role, Workspace, command_line, runner_line
from stead.machines.stage import Stage, make_stage, make_trial_stage

START_LIMIT_S = 20.0
_END_LIMIT_S = 5.0


@dataclass(frozen=True)
class Binding:
    """Which folder a machine shows, and how.

    Args:
        directory: absolute real path; "" for a machine that shows none and drives a browser.
        writable: or read-only.
        trial: absolute path of the folder that takes all changes instead; "" for none.
        released: protected paths that may be written nevertheless.
        allowed: those of them that a person's yes to the very call released: what it writes there is theirs.
        hosts: patterns of hosts that every command may reach.
    """

    directory: str
    writable: bool
    trial: str = ""
    released: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class _Info(msgspec.Struct, frozen=True):
    child_pid: int = msgspec.field(name="child-pid")


class Machine:
    """A running sandbox. Made by ``start_machine``.

    Args:
        binding: what it shows.
        process: bubblewrap, which waits outside.
        link: to the runner inside.
        first: descriptor of the first process inside.
        on_end: called once, with the reason, when it is over.
    """

    def __init__(
        self, binding: Binding, process: Process, link: Link, first: int, on_end: Callable[[str], None]
    ) -> None:
        self.binding = binding
        self.link = link
        self._process = process
        self._first = first
        self._why = ""
        self._on_end = on_end
        self._life = asyncio.create_task(self._live(), name="machine")

    def kill(self, why: str) -> None:
        """Kill everything inside, now, and fail the calls under way."""
        self._why = self._why or why
        self.link.end(why)
        if not self._life.done():
            _kill(self._first)

    async def gone(self) -> None:
        """Wait until every process inside is dead.

        Raises:
            MachineDied: they are not within five seconds, which a hung file system can do.
        """
        try:
            async with asyncio.timeout(_END_LIMIT_S):
                await asyncio.shield(self._life)
        except TimeoutError as error:
            raise MachineDied(
                "the machine's processes are still there {:.0f} s after being killed", _END_LIMIT_S
            ) from error

    async def call(
        self, operation: str, *arguments: bytes, limit_s: float, on_output: Callable[[bytes], None] | None = None
    ) -> list[bytes]:
        """As ``Link.call``; a runner that does not answer in time is killed."""
        try:
            return await self.link.call(operation, *arguments, limit_s=limit_s, on_output=on_output)
        except MachineDied:
            self.kill("its runner was lost")
            raise

    async def _live(self) -> None:
        """Serve the link; when that ends, for whatever reason, see everything dead and say so."""
        try:
            why = await self.link.serve()
            self._why = self._why or why
        finally:
            self.link.end(self._why)
            _kill(self._first)
            await readable(self._first)
            await _leave(self._process)
            os.close(self._first)
            self._on_end(self._why)


async def start_machine(
    host: Host,
    binding: Binding,
    found: Found,
    limits: Limits,
    on_end: Callable[[str], None],
    egress: str = "",
    role: Role = "",
) -> Machine:
    """Make the sandbox and hear its runner's hello.

    Args:
        host: what there is to make it with.
        binding: what to show.
        found: the folder's protected files; only those of a writable folder that is not on trial matter.
        limits: what it may use.
        on_end: see ``Machine``.
        egress: the folder with the way out; "" for none.
        role: what it is for.

    Raises:
        MachineUnavailable: the host offers none, or it could not be made; says why.
    """
    tools = host.require()
    prepared = await _prepare(host, binding, found, egress)
    stage = prepared.stage
    with ExitStack() as closing:
        closing.callback(stage.close)
        descriptors = Descriptors(host.code, host.committer if binding.directory else "")
        closing.callback(descriptors.close)
        info, info_inside = os.pipe()
        closing.callback(os.close, info)
        closing.callback(os.close, info_inside)
        words = runner_line(tools.python, limits, list(prepared.shown), role)
        inside = command_line(stage.bwrap, stage.prefix, tools, prepared.workspace, descriptors, stage.egress)
        try:
            process = await start(
                [*stage.command, *inside, "--info-fd", str(info_inside), "--", *words],
                pass_fds=[*descriptors.all(), info_inside],
            )
        except OSError as error:
            raise MachineUnavailable("a sandbox could not be started: {}", error) from error
        outer = _watch(process.pid)
        closing.callback(os.close, outer)
        try:
            return await _greet(process, prepared, info, binding, on_end)
        except BaseException:
            _kill(outer)
            await _leave(process)
            raise


@dataclass(frozen=True)
class _Prepared:
    """``shown``: paths in the workspace and the identity that each must have inside."""

    stage: Stage
    workspace: Workspace | None
    work: bytes
    shown: Mapping[str, bytes]


async def _prepare(host: Host, binding: Binding, found: Found, egress: str) -> _Prepared:
    """Look at the folder and make it reachable, in a thread: its file system may be slow."""
    work = asyncio.create_task(asyncio.to_thread(_look, host, binding, found, egress))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_discard)
        raise


def _discard(work: asyncio.Task[_Prepared]) -> None:
    if not work.cancelled() and work.exception() is None:
        work.result().stage.close()


def _look(host: Host, binding: Binding, found: Found, egress: str) -> _Prepared:
    directory = binding.directory
    if not directory:
        return _Prepared(make_stage(host.require(), "", writable=False, egress=egress), None, b"", {})
    if os.path.realpath(directory) != directory or not os.path.isdir(directory):
        raise MachineUnavailable("{!r} is no longer the folder that was chosen; put it back, or start anew", directory)
    if binding.trial:
        stage = make_trial_stage(host.require(), directory, binding.trial, egress)
        return _Prepared(stage, Workspace(stage.directory, writable=True), b"", {})
    work = identity(os.stat(directory, follow_symlinks=False)).encode()
    if not binding.writable:
        stage = make_stage(host.require(), directory, writable=False, egress=egress)
        return _Prepared(stage, Workspace(stage.directory, writable=False), work, {})
    if any(fold(path) == ".git" for path in found.links):
        raise MachineUnavailable(
            "{!r} is a symbolic link, which cannot be protected; choose a folder without one", directory + "/.git"
        )
    tops = {fold(path.partition("/")[0]) for path in (*found.kept, *binding.released)}
    placeholder = ".git" not in tops
    shown = {path: seen.encode() for path, seen in found.kept.items()} | ({".git": b""} if placeholder else {})
    stage = make_stage(host.require(), directory, writable=True, egress=egress)
    workspace = Workspace(stage.directory, True, tuple(sorted(found.kept)), tuple(found.above()), placeholder)
    return _Prepared(stage, workspace, work, shown)


async def _greet(
    process: Process, prepared: _Prepared, info: int, binding: Binding, on_end: Callable[[str], None]
) -> Machine:
    """Hear the hello and check it: another session may have swapped a folder for a link while we were mounting."""
    link = Link(process.stdout, process.stdin)
    try:
        async with asyncio.timeout(START_LIMIT_S):
            work, *seen = await link.hello()
    except (TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        said = await _complaint(process) or error
        raise MachineUnavailable("a sandbox for {!r} did not come up: {}", binding.directory, said) from error
    if not _as_meant(prepared, work, seen):
        raise MachineUnavailable("{!r} changed while its machine was being made; try again", binding.directory)
    try:
        first = os.pidfd_open(msgspec.json.decode(os.read(info, 4096), type=_Info).child_pid)
    except (OSError, msgspec.MsgspecError) as error:
        raise MachineUnavailable("a sandbox for {!r} ended as it came up: {}", binding.directory, error) from error
    return Machine(binding, process, link, first, on_end)


def _as_meant(prepared: _Prepared, work: bytes, seen: list[bytes]) -> bool:
    """Whether each path is the one that was looked at; a placeholder is on a device of its own."""
    if len(seen) != len(prepared.shown) or (prepared.work and work != prepared.work):
        return False
    device = work.partition(b":")[0]
    return all(
        found == wanted if wanted else found != b"" and found.partition(b":")[0] != device
        for found, wanted in zip(seen, prepared.shown.values(), strict=True)
    )


async def _complaint(process: Process) -> str:
    """What bubblewrap says before it gives up."""
    try:
        async with asyncio.timeout(1):
            return (await process.stderr.read(2000)).decode("utf-8", "replace").strip()
    except TimeoutError:
        return ""


def _watch(pid: int) -> int:
    """A descriptor of a process. Signals sent through it reach that process or none, whatever becomes of its number."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return os.open("/dev/null", os.O_RDONLY)  # it is gone already, and reaped


def _kill(pidfd: int) -> None:
    """Now; if it has not gone already."""
    with suppress(OSError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


async def _leave(process: Process) -> None:
    """See bubblewrap's own process off, which waits outside for the first inside."""
    process.stdin.close()
    await process.wait()
