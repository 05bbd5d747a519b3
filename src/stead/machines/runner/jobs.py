"""Requests and the processes that work on them.

Layer: machines, runner. Standard library only. One thread: file work, searches and parsing are done in a fork with a
deadline, commands in a session of their own, each in a transaction (``enter``). So nothing that a command does, and no
regular expression, keeps the runner from its next request for long.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what signal is made of; importing that would cost milliseconds
import os
import resource
import select
import time

from . import files
from .enter import LAYERS, PROOF, WORK, enter, lingering, namespace, refresh
from .frames import Fault, Pipe, encode
from .job import SIGKILL, Job
from .services import Services

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; importing it here would cost milliseconds
    from _socket import socket
    from collections.abc import Callable, Mapping

_MOST_JOBS = 60
_CHUNK = 32 << 10
_PIPE_CHUNKS = 2
_TICK_S = 0.2
_REFRESH_S = 2.0
_GRACE_S = 1.0
_MEMORY_LEFT = 256 << 20
_ENTRIES_LEFT = 20_000
"""Of the inodes of the workspace's disk; a tenth of them where there are few."""
_SIGPIPE, _SIGXFSZ = 13, 25


class Runner(Pipe):
    """Reads requests, keeps jobs, writes answers.

    Args:
        disk_bytes: free space on the workspace's disk below which everything inside is killed.
        memory_bytes: memory of all processes inside, above which everything is killed.
        search_s: seconds that work in a fork may take.
        entries: files and folders that may be made on the workspace's disk from when something begins to run in here
            until nothing does; past it everything is killed.
    """

    def __init__(self, disk_bytes: int, memory_bytes: int, search_s: int, entries: int) -> None:
        self._search_s = search_s
        self._entries = entries
        self._entries_before = 0
        self._next_watch = self._next_refresh = 0.0
        self._disk_bytes = disk_bytes
        self._memory_bytes = memory_bytes
        super().__init__()
        self._jobs: dict[bytes, Job] = {}
        self._by_fd: dict[int, Job] = {}
        self._open: dict[str, str] = {}
        self._services = Services(lambda job: not job.reaped or job.name in self._still_open(), self._end_service)
        self._children = False
        self._way_out: socket | None = None
        self._bridge = 0
        self._poll = select.epoll()
        self._poll.register(0, select.EPOLLIN)

    def watch_way_out(self, listener: socket) -> None:
        """Have connections to the proxy's port carried out of the machine, from the first one on."""
        self._way_out = listener
        self._poll.register(listener.fileno(), select.EPOLLIN)

    def serve(self) -> None:
        """Work until the daemon closes the pipe."""
        while True:
            for fd, _ in self._poll.poll(self._patience()):
                if fd == 0:
                    for ident, operation, *arguments in self.requests():
                        self._answer(ident, operation.decode(), arguments)
                elif (job := self._by_fd.get(fd)) and fd == job.out:
                    self._take_output(job)
                elif self._way_out and fd == self._way_out.fileno():
                    self._build_bridge(self._way_out)
            if self._children:
                self._reap()
                self._watch()

    def _patience(self) -> float | None:
        if not self._children:
            return None
        first = min((job.deadline for job in self._jobs.values()), default=float("inf"))
        return max(0.0, min(_TICK_S, first - time.monotonic()))

    def _answer(self, ident: bytes, operation: str, arguments: list[bytes]) -> None:
        try:
            if len(self._jobs) >= _MOST_JOBS and operation not in ("stop", "end"):
                raise Fault(f"{_MOST_JOBS} calls are at work in this machine; wait for one to end")
            if operation == "run":
                self._run(ident, *arguments)
            elif operation == "stop":
                if job := self._jobs.get(arguments[0]):
                    job.kill("stopped")
                    self._end_all_of(job)
            elif operation == "open":
                running = [job.name or "service" for job in self._jobs.values() if job.name or job.kept]
                self.send(ident, b"done", *map(encode, [*running, *self._still_open()]))
            elif operation in ("services", "log", "end"):
                self.send(ident, b"done", *self._services.answer(operation, *arguments))
            elif operation == "refresh":
                self._refresh()
                self.send(ident, b"done")
            else:
                self._fork(ident, operation, arguments)
        except Fault as fault:
            self.send(ident, b"fault", encode(str(fault)))
        except OSError as error:
            self.send(ident, b"fault", encode(files.explain(error, operation)))
        except (ValueError, MemoryError) as error:  # a zero byte in a path or a command; a file that does not fit
            self.send(ident, b"fault", encode(f"{operation}: {str(error) or 'out of memory'}"))

    def _run(
        self, ident: bytes, name: bytes, command: bytes, timeout_ms: bytes, flood: bytes, service: bytes = b""
    ) -> None:
        """Start a command; one that runs on under the name ``service`` is answered for at once."""
        if 0 in command:
            raise ValueError("a command has no zero byte")
        if service:
            self._services.make_room(service.decode())
        out, into = os.pipe()
        try:
            words = [b"bash", b"-c", command]
            pid, mounts = spawn(name.decode(), words, lambda: [_nothing(), into, into], os.environ)
        except BaseException:
            os.close(out)
            raise
        finally:
            os.close(into)
        deadline = time.monotonic() + int(timeout_ms) / 1000
        job = Job(ident, pid, out, deadline, int(flood), name.decode(), mounts)
        self._keep(job)
        if service:
            self._services.add(service.decode(), command.decode("utf-8", "replace"), job)
            self.send(ident, b"done")

    def _end_service(self, job: Job) -> None:
        """Kill all of a service, and wait a moment for it to be gone."""
        job.kill("stopped")
        self._end_all_of(job)
        patience = time.monotonic() + _GRACE_S
        while (not job.reaped or job.name in self._still_open()) and time.monotonic() < patience:
            self._reap()
            time.sleep(0.005)

    def _fork(self, ident: bytes, operation: str, arguments: list[bytes]) -> None:
        from .search import work_apart  # loaded once, here, so that no fork has to

        out, into = os.pipe()
        deadline = time.monotonic() + self._search_s
        try:
            pid = os.fork()
        except OSError as error:
            os.close(out)
            raise _no_process(error) from error
        else:
            if pid == 0:
                work_apart(into, operation, arguments, deadline - _GRACE_S)
        finally:
            os.close(into)
        self._keep(Job(ident, pid, out, deadline, 0))

    def _still_open(self) -> dict[str, int]:
        """Transactions of commands that have ended, of which a process is still at work, and that process."""
        own = self._own()
        found = {name: lingering(mounts, own) for name, mounts in self._open.items()}
        self._open = {name: mounts for name, mounts in self._open.items() if found[name]}
        return {name: found[name] for name in self._open}

    def _end_all_of(self, job: Job) -> None:
        """Kill what a command has started, whatever group or session it went to."""
        own = self._own()
        while job.mounts and (pid := lingering(job.mounts, own)):
            os.kill(pid, SIGKILL)
            own.add(pid)

    def _own(self) -> set[int]:
        """Processes of the runner's, which wait for themselves."""
        return {os.getpid(), self._bridge, *(job.pid for job in self._jobs.values() if not job.flood)}

    def _refresh(self) -> None:
        """Have commands that are at work see what changed in the person's folder meanwhile."""
        self._next_refresh = time.monotonic() + _REFRESH_S
        refresh([*(job.pid for job in self._jobs.values() if job.flood), *self._still_open().values()])

    def _build_bridge(self, listener: socket) -> None:
        from .bridge import carry_apart, turn_away

        try:
            self._bridge = os.fork()
        except OSError:  # no process is left; the caller may ask again
            turn_away(listener)
            return
        if self._bridge == 0:
            carry_apart(listener)
        self._children = True
        self._poll.unregister(listener.fileno())

    def _keep(self, job: Job) -> None:
        if not self._children:
            self._entries_before = entries_used()
            self._next_refresh = time.monotonic() + _REFRESH_S
        self._children = True
        self._jobs[job.ident] = self._by_fd[job.out] = self._by_fd[job.pidfd] = job
        self._poll.register(job.out, select.EPOLLIN)
        self._poll.register(job.pidfd, select.EPOLLIN)

    def _take_output(self, job: Job) -> bool:
        """Pass on one chunk; false when there is nothing (more) to read now."""
        try:
            data = os.read(job.out, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(job.out)
            del self._by_fd[job.out]
            if job.ident not in self._jobs:
                os.close(job.out)
            return False
        job.size += len(data)
        if job.kept:
            job.found = (job.found + data)[-job.kept :]
        elif not job.flood:
            job.found += data
        elif job.size <= job.flood:
            self.send(job.ident, b"output", data)
        else:
            job.kill("flood")
        return job.ended != "flood"

    def _reap(self) -> None:
        now = time.monotonic()
        for job in self._jobs.values():
            if now >= job.deadline:
                job.kill("timeout")
        gone = {job.pid: job for job in self._jobs.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._children = False
                return
            if pid == 0:
                return
            if self._way_out and pid == self._bridge:
                self._poll.register(self._way_out.fileno(), select.EPOLLIN)  # the next connection builds another
            elif pid in gone:
                self._finish(gone[pid], os.waitstatus_to_exitcode(status))

    def _finish(self, job: Job, code: int) -> None:
        job.reaped, job.code = True, code if code >= 0 else 128 - code
        rest = _PIPE_CHUNKS if job.kept else -1  # what outlives a service's first process may print for ever
        while rest and job.out in self._by_fd and self._take_output(job):
            rest -= 1
        del self._jobs[job.ident]
        for fd in (job.pidfd,) if job.kept and job.out in self._by_fd else (job.out, job.pidfd):
            if self._by_fd.pop(fd, None):
                self._poll.unregister(fd)
            os.close(fd)
        if job.name.startswith(PROOF):
            self._end_all_of(job)
        if job.flood:
            if job.name:
                self._open[job.name] = job.mounts
            lingers = b"1" if job.name in self._still_open() else b"0"
            if not job.kept:
                self.send(job.ident, b"done", b"%d" % job.code, b"%d" % job.size, job.ended.encode(), lingers)
        else:
            self._report(job)

    def _report(self, job: Job) -> None:
        """Answer with what a fork found: rows, then its total, which is missing when it was killed on the way."""
        whole = bytes(job.found)
        rows, fields, last, at = [], [], b"", 0
        while at + 4 <= len(whole) and (end := at + 4 + int.from_bytes(whole[at : at + 4], "big")) <= len(whole):
            record = whole[at + 4 : end]
            at = end
            if record[:1] == b"r":
                rows.append(record[1:])
            elif record[:1] == b"d":
                fields.append(record[1:])
            else:
                last = record
        if last[:1] == b"f":
            self.send(job.ident, b"fault", last[1:])
        elif fields and last:
            self.send(job.ident, b"done", *fields)
        elif last or job.ended == "timeout":
            late = not last or last[:1] == b"l"
            total = last[1:] or b"%d" % len(rows)
            self.send(job.ident, b"done", total, b"1" if late else b"0", *rows)
        else:
            self.send(job.ident, b"fault", b"the work was cut off: memory or processes ran out in the machine")

    def _watch(self) -> None:
        """Kill everything inside when it is about to take the host's disk or memory; looks once a tick."""
        if time.monotonic() < self._next_watch:
            return
        self._next_watch = time.monotonic() + _TICK_S
        if time.monotonic() >= self._next_refresh:
            self._refresh()
        if disk_is_full(self._disk_bytes):
            self._kill_all("disk")
        elif entries_used() - self._entries_before > self._entries:
            self._kill_all("entries")
        elif memory_is_full(self._memory_bytes):
            self._kill_all("memory")

    def _kill_all(self, why: str) -> None:
        for job in self._jobs.values():
            job.ended = why
        signal_all(SIGKILL)
        patience = time.monotonic() + _GRACE_S
        while self._children and time.monotonic() < patience:  # or the next look would still count the dying
            self._reap()
            time.sleep(0.005)


def spawn(
    job: str | None, words: list[bytes], streams: Callable[[], list[int]], environment: Mapping[str, str]
) -> tuple[int, str]:
    """Start bash in a transaction and a session of its own; gives its pid, and what it sees (``enter.namespace``).

    Args:
        job: see ``enter``; None in a machine that shows no folder, where there is nothing to enter.
        words: its name and arguments.
        streams: opens, inside, what it reads, prints to and complains to.
        environment: its own.

    Raises:
        Fault: it could not be started.
    """
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(reader)
        raise _no_process(error) from error
    else:
        if pid == 0:
            _become(job, words, streams, environment, writer)
    finally:
        os.close(writer)
    said = os.read(reader, 4096).decode()
    os.close(reader)
    if said.startswith("mnt:"):
        return pid, said
    os.waitpid(pid, 0)
    raise Fault(said or "no process could be started")


def _become(
    job: str | None, words: list[bytes], streams: Callable[[], list[int]], environment: Mapping[str, str], tell: int
) -> None:
    """In a fork: enter a transaction and become a command. It never returns."""
    try:
        os.setsid()
        opened = streams()
        if job is not None:
            enter(job)
        for new, old in enumerate(opened):
            os.dup2(old, new)
        for number in (_SIGPIPE, _SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        os.write(tell, namespace("self").encode())
        os.execve("/bin/bash", words, environment)  # noqa: S606 - it is a shell
    except (OSError, Fault) as error:
        os.write(tell, encode(str(error)))
    finally:
        os._exit(127)


def _nothing() -> int:
    return os.open("/dev/null", os.O_RDONLY)


def _no_process(error: OSError) -> Fault:
    return Fault(f"no process could be started ({error.strerror}); end background processes first")


def signal_all(number: int) -> None:
    """Send a signal to every other process inside, if there is one."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return


def _disk() -> os.statvfs_result:
    """Where changes go; in a transaction itself, that is the workspace."""
    return os.statvfs(LAYERS if os.path.isdir(LAYERS) else WORK)


def disk_is_full(least_bytes: int) -> bool:
    """Whether the disk that takes the changes has less than that left, or hardly an inode; some do not tell."""
    disk = _disk()
    few = disk.f_favail < min(_ENTRIES_LEFT, disk.f_files // 10)
    return few or (disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < least_bytes)


def entries_used() -> int:
    """Inodes in use on the disk that takes the changes, by anybody; 0 where the file system does not count them."""
    disk = _disk()
    return disk.f_files - disk.f_ffree


def memory_is_full(most_bytes: int) -> bool:
    """Whether the processes inside hold more than that, or the host has hardly any left."""
    return held_bytes() > most_bytes or available_bytes() < _MEMORY_LEFT


def held_bytes() -> int:
    """Memory of all processes inside that belongs to no file."""
    pages = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/statm", "rb") as file:
                    _, resident, shared, *_ = file.read().split()
            except OSError:
                continue
            pages += int(resident) - int(shared)
    return pages * resource.getpagesize()


def available_bytes() -> int:
    """What the host has left; memory that no process maps shows only here."""
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) << 10
    return _MEMORY_LEFT
