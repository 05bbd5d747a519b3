"""The kernel's own bound on a machine's memory: a cgroup for each, where this process may make some.

Layer: machines. A machine's runner watches its memory too and says what it ends, but looks only now and then; the
kernel is never late. Cgroups are made next to the daemon's own: a root daemon may, and so may an ordinary one that was
started below its ``user@.service``, as programs of a desktop are, or by a unit with ``Delegate=yes`` and
``DelegateSubgroup=``. They are removed when the next one is made, so that a crash leaves nothing for good. Source: the
kernel's Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path

_MOUNTED = "/sys/fs/cgroup"
_ROOM = 1 << 30
"""For what lies in folders of memory, and so that the runner, which can say why, comes first unless it is too slow."""
_numbers = count()


def find_parent(own: str = "") -> str:
    """The folder in which cgroups that limit memory can be made; "" where this process can make none.

    Args:
        own: what ``/proc/self/cgroup`` says; "" reads it.
    """
    own = own or Path("/proc/self/cgroup").read_text()
    found = re.search(r"^0::/(.*)$", own, re.MULTILINE)
    parent = Path(_MOUNTED, os.path.dirname(found[1]) if found else "..")
    with suppress(OSError):
        handed_on = parent / "cgroup.subtree_control"
        if "memory" not in handed_on.read_text().split():
            handed_on.write_text("+memory")
        if all(os.access(path, os.W_OK) for path in (parent, parent / "cgroup.procs")):
            return str(parent)
    return ""


def confine(parent: str, memory_bytes: int, pid: int) -> None:
    """Put a process into a new cgroup, before it has started others.

    Args:
        parent: see ``find_parent``; "" does nothing.
        memory_bytes: the kernel ends what takes more than this and a little room.
        pid: the process.

    Raises:
        OSError: it could not be done.
    """
    if not parent:
        return
    for left in Path(parent).glob("stead-*-*"):
        if (maker := left.name.split("-")[1]) == str(os.getpid()) or not os.path.exists(f"/proc/{maker}"):
            with suppress(OSError):  # those in use cannot be removed
                left.rmdir()
    folder = Path(parent, f"stead-{os.getpid()}-{next(_numbers)}")
    folder.mkdir()
    (folder / "memory.max").write_text(str(memory_bytes + _ROOM))
    with suppress(FileNotFoundError):  # a kernel without swap
        (folder / "memory.swap.max").write_text("0")
    (folder / "cgroup.procs").write_text(str(pid))
