"""Processes that run on under a name: where they listen, what they printed last, how they ended.

Layer: machines, runner. Standard library only.
"""

from __future__ import annotations

import os

from .enter import namespace
from .frames import Fault
from .job import Job

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from collections.abc import Callable

MOST = 8
"""Services of a machine. Those that have ended are forgotten when there would be more."""
_KEPT_BYTES = 64 << 10
_COMMAND_CHARS = 300
_MOST_PORTS = 16
_LISTENS = "0A"


class Services:
    """The services of one machine, by name.

    Args:
        runs: whether any process of one is left.
        end: kills all of one, and waits for it to be gone.
    """

    def __init__(self, runs: Callable[[Job], bool], end: Callable[[Job], None]) -> None:
        self._runs = runs
        self._end = end
        self._known: dict[str, tuple[Job, str]] = {}

    def make_room(self, name: str) -> None:
        """See that one of this name can begin.

        Raises:
            Fault: it cannot; says what to do.
        """
        if name in self._known and self._runs(self._known[name][0]):
            raise Fault(f"a service {name!r} is running; stop it first, or take another name")
        if len(self._known) >= MOST:
            self._known = {other: one for other, one in self._known.items() if self._runs(one[0])}
        if len(self._known) >= MOST:
            raise Fault(f"{MOST} services are running; stop one first")

    def add(self, name: str, command: str, job: Job) -> None:
        """Keep one that has begun."""
        job.kept, job.deadline = _KEPT_BYTES, float("inf")
        self._known[name] = job, command[:_COMMAND_CHARS]

    def answer(self, operation: str, name: bytes = b"") -> list[bytes]:
        """Describe all of them ("services"), or one and what it printed last ("log"), or end one first ("end").

        Raises:
            Fault: there is none of this name.
        """
        if operation == "services":
            return [self._describe(known) for known in self._known]
        if name.decode() not in self._known:
            raise Fault(f"there is no service {name.decode()!r} any more")
        job, _ = self._known[name.decode()]
        if operation == "end" and self._runs(job):
            self._end(job)
        return [self._describe(name.decode()), bytes(job.found)]

    def _describe(self, name: str) -> bytes:
        """As ``domain.services.ServiceRow``."""
        import json  # most machines have no services

        job, command = self._known[name]
        runs = self._runs(job)
        row = {
            "name": name,
            "id": job.ident.hex(),
            "status": "running" if runs else "ended",
            "ports": _ports(job.mounts)[:_MOST_PORTS] if runs else [],
            "exit_code": job.code,
            "why": job.ended,
            "size_bytes": job.size,
            "command": command,
        }
        return json.dumps(row).encode()


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # it was just closed
        return ""


def _ports(mounts: str) -> list[int]:
    """Where processes that see these mounts accept TCP connections, lowest first."""
    sockets: set[str] = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if namespace(pid) == mounts:
                sockets |= {_link(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        except OSError:  # it has just ended, or cannot be looked at
            continue
    found = set()
    for table in filter(os.path.exists, ("/proc/net/tcp", "/proc/net/tcp6")):
        with open(table) as file:
            for fields in map(str.split, list(file)[1:]):
                if fields[3] == _LISTENS and f"socket:[{fields[9]}]" in sockets:
                    found.add(int(fields[1].rpartition(":")[2], 16))
    return sorted(found)
