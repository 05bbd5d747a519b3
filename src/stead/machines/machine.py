"""One session's machine: its start, its calls, its end.

Layer: machines. The process is started on the event loop's thread, since the kernel kills a sandbox whose parent
*thread* has ended. It is killed from outside, through a descriptor of the first process inside: when that is gone, the
kernel has killed everything else in its pid namespace.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import msgspec

from stead.domain.errors import MachineDied, MachineUnavailable
from stead.machines.cgroup import confine
from stead.machines.host import Host
from stead.machines.link import Link
from stead.machines.process import Process, readable, start
from stead.machines.sandbox import Descriptors, Limits, Role, command_line, runner_line
from stead.machines.space import Space
from stead.machines.stage import Stage, make_stage
from stead.machines.workspace import identity

START_LIMIT_S = 20.0
_END_LIMIT_S = 5.0


@dataclass(frozen=True)
class Binding:
    """Which folder a machine shows, and how.

    Args:
        directory: absolute real path; "" for a machine that shows none and drives a browser.
        writable: whether commands may change anything of it, in a view of their own.
        hosts: patterns of hosts that every command may reach.
    """

    directory: str
    writable: bool
    hosts: tuple[str, ...] = ()


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
        copies: no overlay can be laid in it, so that it has to be given copies of the folder.
    """

    def __init__(
        self, binding: Binding, process: Process, link: Link, first: int, on_end: Callable[[str], None], copies: bool
    ) -> None:
        self.binding = binding
        self.link = link
        self.copies = copies
        self._process = process
        self.first = first
        self._why = ""
        self._on_end = on_end
        self._life = asyncio.create_task(self._live(), name="machine")

    def kill(self, why: str) -> None:
        """Kill everything inside, now, and fail the calls under way."""
        self._why = self._why or why
        self.link.end(why)
        if not self._life.done():
            _kill(self.first)

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
            _kill(self.first)
            await readable(self.first)
            await _leave(self._process)
            os.close(self.first)
            self._on_end(self._why)


async def start_machine(
    host: Host,
    binding: Binding,
    space: Space | None,
    limits: Limits,
    on_end: Callable[[str], None],
    egress: str = "",
    role: Role = "",
    job: str = "",
) -> Machine:
    """Make the sandbox and hear its runner's hello.

    Args:
        host: what there is to make it with.
        binding: what to show.
        space: where changes go; None for a machine that shows no folder.
        limits: what it may use.
        on_end: see ``Machine``.
        egress: the folder with the way out; "" for none.
        role: what it is for.
        job: the transaction of a terminal.

    Raises:
        MachineUnavailable: the host offers none, or it could not be made; says why.
    """
    tools = host.require()
    stage, folder = await _prepare(host, binding, space, egress, toolchains=space is not None or role == "program")
    with ExitStack() as closing:
        closing.callback(stage.close)
        descriptors = Descriptors(host.code, host.committer if binding.directory else "", stage.shown)
        closing.callback(descriptors.close)
        info, info_inside = os.pipe()
        closing.callback(os.close, info)
        closing.callback(os.close, info_inside)
        inside = command_line(stage.bwrap, stage.prefix, tools, stage.workspace, descriptors, stage.egress)
        try:
            process = await start(
                [
                    *(*stage.command, *inside, "--info-fd", str(info_inside), "--"),
                    *runner_line(tools.python, limits, role, job),
                ],
                pass_fds=[*descriptors.all(), info_inside],
            )
        except OSError as error:
            raise MachineUnavailable("a sandbox could not be started: {}", error) from error
        outer = _watch(process.pid)
        closing.callback(os.close, outer)
        try:
            machine = await _greet(process, folder, info, binding, on_end, (host.cgroups, limits.memory_bytes))
        except BaseException:
            _kill(outer)
            await _leave(process)
            raise
        machine.copies |= host.isolation.copies
        return machine


_Prepared = tuple[Stage, bytes]
"""And the identity that the person's folder must have inside."""


async def _prepare(host: Host, binding: Binding, space: Space | None, egress: str, *, toolchains: bool) -> _Prepared:
    """Look at the folder and make it reachable, in a thread: its file system may be slow."""
    work = asyncio.create_task(asyncio.to_thread(_look, host, binding, space, egress, toolchains=toolchains))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_discard)
        raise


def _discard(work: asyncio.Task[_Prepared]) -> None:
    if not work.cancelled() and work.exception() is None:
        work.result()[0].close()


def _look(host: Host, binding: Binding, space: Space | None, egress: str, *, toolchains: bool) -> _Prepared:
    if space is None:
        return make_stage(host.require(), None, egress, toolchains=toolchains), b""
    directory = binding.directory
    if os.path.realpath(directory) != directory or not os.path.isdir(directory):
        raise MachineUnavailable("{!r} is no longer the folder that was chosen; put it back, or start over", directory)
    folder = identity(os.stat(directory, follow_symlinks=False)).encode()
    return make_stage(host.require(), space.prepare(), egress), folder


async def _greet(
    process: Process,
    folder: bytes,
    info: int,
    binding: Binding,
    on_end: Callable[[str], None],
    memory: tuple[str, int],  # where its cgroup is made, and bytes
) -> Machine:
    """Hear the hello and check it: another process may have swapped the folder for a link while we were mounting."""
    link = Link(process.stdout, process.stdin)
    try:
        async with asyncio.timeout(START_LIMIT_S):
            seen, layered = await link.hello()
    except (TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        said = await _complaint(process) or error
        raise MachineUnavailable("a sandbox for {!r} did not come up: {}", binding.directory, said) from error
    if seen != folder:
        raise MachineUnavailable("{!r} changed while its machine was being made; try again", binding.directory)
    try:
        pid = msgspec.json.decode(os.read(info, 4096), type=_Info).child_pid
        confine(*memory, pid)
        first = os.pidfd_open(pid)
    except (OSError, msgspec.MsgspecError) as error:
        raise MachineUnavailable("a sandbox for {!r} ended as it came up: {}", binding.directory, error) from error
    return Machine(binding, process, link, first, on_end, not layered)


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
