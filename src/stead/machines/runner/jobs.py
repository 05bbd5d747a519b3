"""Requests and the processes that work on them.

Layer: machines, runner. Standard library only. One thread: short file work is done at once, slow work (searches,
parsing) in a fork with a deadline, commands in a session of their own. So nothing that a command does, and no regular
expression, keeps the runner from its next request for long.
"""

from __future__ import annotations

import os
import resource
import select
import time

from . import files
from .frames import Fault, Pipe, encode

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; importing it here would cost milliseconds
    from _socket import socket

_MOST_JOBS = 60
_HASHED_AT_ONCE = 8 << 20
_CHUNK = 32 << 10
_TICK_S = 0.2
_GRACE_S = 1.0
_MEMORY_LEFT = 256 << 20
_ENTRIES_LEFT = 20_000
"""Of the inodes of the workspace's disk; a tenth of them where there are few."""
_SIGKILL, _SIGPIPE, _SIGXFSZ = 9, 13, 25  # importing signal would cost a third of the start time


class Job:
    """A process at work for one request: a command, or a fork of the runner.

    Args:
        ident: the request.
        pid: its first process, the leader of its process group when it is a command.
        out: what it prints, or what the fork found.
        deadline: by ``time.monotonic``.
        flood: bytes of output after which a command is killed; 0 marks a fork, whose output is collected instead.
    """

    def __init__(self, ident: bytes, pid: int, out: int, deadline: float, flood: int) -> None:
        self.ident = ident
        self.pid = pid
        self.out = out
        self.pidfd = os.pidfd_open(pid)
        os.set_blocking(out, False)
        self.deadline = deadline
        self.flood = flood
        self.size = 0
        self.found = bytearray()
        self.ended = "exit"
        self.reaped = False

    def kill(self, why: str) -> None:
        """End it and its process group; ``why`` goes into the answer. Once it is reaped, its number is another's."""
        if self.ended == "exit":
            self.ended = why
        if self.reaped:
            return
        if self.flood:
            os.killpg(self.pid, _SIGKILL)
        else:
            os.kill(self.pid, _SIGKILL)


class Runner(Pipe):
    """Reads requests, keeps jobs, writes answers.

    Args:
        disk_bytes: free space on the workspace's disk below which everything inside is killed.
        memory_bytes: memory of all processes inside, above which likewise.
        search_s: seconds that work in a fork may take.
        entries: files and folders that may be made on the workspace's disk from when something begins to run in here
            until nothing does; past it likewise.
    """

    def __init__(self, disk_bytes: int, memory_bytes: int, search_s: int, entries: int) -> None:
        self._search_s = search_s
        self._entries = entries
        self._entries_before = 0
        self._next_watch = 0.0
        self._disk_bytes = disk_bytes
        self._memory_bytes = memory_bytes
        super().__init__()
        self._jobs: dict[bytes, Job] = {}
        self._by_fd: dict[int, Job] = {}
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
            if len(self._jobs) >= _MOST_JOBS and operation != "stop":
                raise Fault(f"{_MOST_JOBS} calls are at work in this machine; wait for one to end")
            if operation == "run":
                self._run(ident, *arguments)
            elif operation == "stop":
                if job := self._jobs.get(arguments[0]):
                    job.kill("stopped")
            elif operation == "hash" and files.total_size(arguments) <= _HASHED_AT_ONCE:
                self.send(ident, b"done", b"0", b"0", *files.hashes(*arguments))
            elif operation in files.AT_ONCE:
                self.send(ident, b"done", *files.AT_ONCE[operation](*arguments))
            else:
                self._fork(ident, operation, arguments)
        except Fault as fault:
            self.send(ident, b"fault", encode(str(fault)))
        except OSError as error:
            self.send(ident, b"fault", encode(files.explain(error, operation)))
        except (ValueError, MemoryError) as error:  # a zero byte in a path or a command; a file that does not fit
            self.send(ident, b"fault", encode(f"{operation}: {str(error) or 'out of memory'}"))

    def _run(self, ident: bytes, command: bytes, timeout_ms: bytes, flood: bytes) -> None:
        out, into = os.pipe()
        try:
            pid = os.posix_spawn(
                "/bin/bash",
                [b"bash", b"-c", command],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, into, 1),
                    (os.POSIX_SPAWN_DUP2, into, 2),
                ],
                setsid=True,
                setsigdef=[_SIGPIPE, _SIGXFSZ],
            )
        except OSError as error:
            os.close(out)
            raise Fault(f"no process could be started ({error.strerror}); end background processes first") from error
        finally:
            os.close(into)
        self._keep(Job(ident, pid, out, time.monotonic() + int(timeout_ms) / 1000, int(flood)))

    def _fork(self, ident: bytes, operation: str, arguments: list[bytes]) -> None:
        from .search import work_apart  # loaded once, here, so that no fork has to

        out, into = os.pipe()
        deadline = time.monotonic() + self._search_s
        pid = os.fork()
        if pid == 0:
            work_apart(into, operation, arguments, deadline - _GRACE_S)
        os.close(into)
        self._keep(Job(ident, pid, out, deadline, 0))

    def _build_bridge(self, listener: socket) -> None:
        from .bridge import carry_apart, turn_away

        try:
            self._bridge = os.fork()
        except OSError:  # no process is left; whoever asked may ask again
            turn_away(listener)
            return
        if self._bridge == 0:
            carry_apart(listener)
        self._children = True
        self._poll.unregister(listener.fileno())

    def _keep(self, job: Job) -> None:
        if not self._children:
            self._entries_before = entries_used()
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
            return False
        job.size += len(data)
        if not job.flood:
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
        job.reaped = True
        while job.out in self._by_fd and self._take_output(job):
            pass
        del self._jobs[job.ident]
        for fd in (job.out, job.pidfd):
            if self._by_fd.pop(fd, None):
                self._poll.unregister(fd)
            os.close(fd)
        if job.flood:
            self.send(
                job.ident, b"done", b"%d" % (code if code >= 0 else 128 - code), b"%d" % job.size, job.ended.encode()
            )
        else:
            self._report(job)

    def _report(self, job: Job) -> None:
        """Answer with what a fork found: rows, then its total, which is missing when it was killed on the way."""
        whole = bytes(job.found)
        rows, last, at = [], b"", 0
        while at + 4 <= len(whole) and (end := at + 4 + int.from_bytes(whole[at : at + 4], "big")) <= len(whole):
            record = whole[at + 4 : end]
            at = end
            if record[:1] == b"r":
                rows.append(record[1:])
            else:
                last = record
        if last[:1] == b"f":
            self.send(job.ident, b"fault", last[1:])
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
        if disk_is_full(self._disk_bytes):
            self._kill_all("disk")
        elif entries_used() - self._entries_before > self._entries:
            self._kill_all("entries")
        elif memory_is_full(self._memory_bytes):
            self._kill_all("memory")

    def _kill_all(self, why: str) -> None:
        for job in self._jobs.values():
            job.ended = why
        signal_all(_SIGKILL)
        patience = time.monotonic() + _GRACE_S
        while self._children and time.monotonic() < patience:  # or the next look would still count the dying
            self._reap()
            time.sleep(0.005)


def signal_all(number: int) -> None:
    """Send a signal to every other process inside, if there is one."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return


def disk_is_full(least_bytes: int) -> bool:
    """Whether the workspace's disk has less than that left, or hardly an inode; some file systems do not tell."""
    disk = os.statvfs(files.WORK)
    few = disk.f_favail < min(_ENTRIES_LEFT, disk.f_files // 10)
    return few or (disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < least_bytes)


def entries_used() -> int:
    """Inodes in use on the workspace's disk, by anybody; 0 where the file system does not count them."""
    disk = os.statvfs(files.WORK)
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
