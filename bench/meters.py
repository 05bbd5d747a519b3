"""Reading what processes cost from /proc: CPU of a whole tree, memory as the kernel shares it out."""

from __future__ import annotations

import os
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """The process and everything below it."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                todo += [int(child) for child in (task / "children").read_text("ascii").split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended; what it cost is in its parent's figure
    return found


def cpu_s(pid: int) -> float:
    """CPU seconds of the tree, user and system, children that have ended included.

    The kernel's clock ticks every 10 ms, so measure over hundreds of turns and divide.
    """
    ticks = 0
    for one in tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text("utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += sum(int(value) for value in fields[11:15])
    return ticks / TICKS_PER_S


def rss_mib(pid: int) -> float:
    """Resident memory of one process."""
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text("ascii").splitlines() if one.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def own_cpu_s(pid: int) -> float:
    """CPU seconds of one process with all its threads, in nanosecond resolution, its children not counted."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text("ascii").split()[0])
    return total / 1e9


def pss_mib(pid: int) -> float:
    """Proportional set size of the tree in MiB: each shared page counted once among those who share it."""
    total = 0
    for one in tree(pid):
        try:
            for line in Path(f"/proc/{one}/smaps_rollup").read_text("ascii").splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return total / 1024
