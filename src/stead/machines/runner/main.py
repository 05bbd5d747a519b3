"""The start of the runner: confine this process, and with it all that it starts; say hello; serve.

Layer: machines, runner. Standard library only, Python 3.9 or newer.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what signal is made of; the checker does not know it
import _socket  # the module ``socket`` would cost milliseconds
import os
import resource
import sys

from .enter import SPACE, can_lay, prctl, ready
from .jobs import Runner

WAY_OUT = "/run/egress/proxy.sock"
PORT = 3128
_BACKLOG = 64
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_OOM_SCORE = 900
"""When the host runs out of memory, the kernel ends what is in here first."""


TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from .browse import Driver
    from .terminal import Terminal


def main(words: list[str]) -> None:
    """Work until the daemon closes the pipe.

    Args:
        words: ``NAME=NUMBER``: ``disk``, ``memory``, ``search`` and ``entries`` as ``Runner`` takes them,
            ``browse=1`` to drive a browser instead, ``terminal=1`` to keep a person's terminal, ``program=1`` a program
            that the daemon talks to, whose changes go to the transaction ``job`` (0 for none); the others are resource
            limits. They are set here and not outside,
            because inside its own user namespace the limit on processes counts those of this machine alone.
    """
    os.closerange(3, 65_536)
    os.umask(0o022)  # the daemon's own is strict; what is made here is the person's, and as readable as usual
    named = {name: value for name, _, value in (word.partition("=") for word in words)}
    job = named.pop("job")
    limits = {name: int(value) for name, value in named.items()}
    seen, layered = _identity(f"{SPACE}/folder"), b""
    if seen:
        ready()
        layered = b"1" if can_lay() else b""
    runner = _resident(limits, "" if job == "0" else job, shows=bool(seen))
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (lowest, lowest))
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(_OOM_SCORE))
    # Python's own handler would let a SIGINT from inside through to the first process.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) != 0:
        sys.exit("the runner cannot make itself undumpable")
    runner.send(b"", b"hello", seen, layered)
    nowhere = os.open("/dev/null", os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    if os.path.exists(WAY_OUT):  # after the hello, so that the daemon need not wait for it
        runner.watch_way_out(_listen())
    runner.serve()


def _resident(limits: dict[str, int], job: str, *, shows: bool) -> Runner | Driver | Terminal:
    """What the machine is for, and whether it shows a folder; takes from the limits what are none of the system's."""
    disk, memory, search, entries = (limits.pop(name) for name in ("disk", "memory", "search", "entries"))
    if limits.pop("program", 0):
        from .program import Program

        return Program(disk, memory, job if shows else None)
    if limits.pop("browse", 0):
        from .browse import Driver  # other machines need not load it

        return Driver(memory)
    if limits.pop("terminal", 0):
        from .terminal import Terminal

        return Terminal(disk, memory, job)
    return Runner(disk, memory, search, entries)


def _listen() -> _socket.socket:
    """A socket where programs look for a proxy. What carries its connections is loaded with the first of them."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", PORT))
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


def _identity(path: str) -> bytes:
    """Which file or folder it is, so that the daemon can tell whether it is the one that was meant; "" for none."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return b""
    return b"%d:%d" % (found.st_dev, found.st_ino)
