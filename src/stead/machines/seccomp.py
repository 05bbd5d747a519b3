"""The system-call filter of every machine, as classic BPF.

Layer: machines. Knows nothing of processes: it only makes bytes, which bubblewrap loads just before the runner starts.

A filter is a list of instructions that the kernel runs on each system call's (architecture, number, arguments). This
one allows by default and refuses what a sandboxed program has no use for: the calls with which sandboxes are left or
kernels attacked. Refusals are EPERM, so that programs see an ordinary error; ``clone3`` and ``openat2`` are ENOSYS,
because their flags lie in memory where a filter cannot look, and libraries then fall back to ``clone`` and ``openat``.
A program of a foreign architecture (i386 on x86_64) would have other numbers, so it is killed.

No file can be given a set-user or set-group bit: in the workspace it would belong to the person, or to root, and
anyone who runs it on the host would be them. Every call that takes a mode is refused when the mode has such a bit; but
for ``mkdir``, where the kernel drops them.
Extended attributes cannot be set at all (ENOTSUP, which programs take for a file system without them): a file's
capabilities are one, and its name lies in memory.

Arguments are compared by their low 32 bits: the kernel itself takes flags of ``clone``, the command of ``ioctl`` and
the family of ``socket`` as 32-bit values.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from errno import ENOSYS, ENOTSUP, EPERM

_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # name: (x86_64, aarch64); None where the architecture has no such call
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # large or young parts of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # the kernel and the machine as a whole
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "settimeofday": (164, 170),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "personality": (135, 92),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    # where memory lies
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
    "set_mempolicy_home_node": (450, 450),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
"""Refused whatever their arguments."""

_UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}
"""ENOSYS: what they are to do lies in memory."""

_ATTRIBUTES = {"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)}

_MODES: dict[str, tuple[int | None, int | None, int]] = {
    # name: (x86_64, aarch64, which argument is the mode, counted from 0)
    "chmod": (90, None, 1),
    "fchmod": (91, 52, 1),
    "fchmodat": (268, 53, 2),
    "fchmodat2": (452, 452, 2),
    "mknod": (133, None, 1),
    "mknodat": (259, 33, 2),
    "creat": (85, None, 1),
}
_OPENS: dict[str, tuple[int | None, int | None, int]] = {"open": (2, None, 2), "openat": (257, 56, 3)}
"""Calls that take a mode; the flags come right before the mode, which counts only when a file may be made."""
_SET_ID = 0o6000
_MAKES_FILE = 0o100 | 0o20_000_000
"""O_CREAT, and the bit that only O_TMPFILE has; the same on both architectures."""

_JUDGED = {
    "clone": (56, 220),
    "ioctl": (16, 29),
    "prlimit": (302, 261),
    "socket": (41, 198),
    "socketpair": (53, 199),
}
"""Refused by one of their arguments."""

_CLONE_NEW = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000
"""CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET. (``clone`` cannot ask for a time namespace.)"""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

_ALLOW, _ERRNO, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, (16, 24, 32, 40)
"""Offsets in the kernel's ``struct seccomp_data`` (both architectures are little-endian)."""


_ARCHITECTURES = {"x86_64": (0xC000_003E, 0), "aarch64": (0xC000_00B7, 1)}
"""What the kernel calls it, and its column in the tables."""
ARCHITECTURES = frozenset(_ARCHITECTURES)
"""What ``platform.machine()`` may be."""


def refused(machine: str) -> dict[str, int]:
    """Names and numbers of the calls that are refused whatever their arguments; for tests and documents."""
    _, column = _ARCHITECTURES[machine]
    return {name: number for name, numbers in _NUMBERS.items() if (number := numbers[column]) is not None}


def assemble(machine: str) -> bytes:
    """The filter for an architecture, as the ``struct sock_filter`` array that the kernel takes.

    Args:
        machine: one of ``ARCHITECTURES``.
    """
    audit, column = _ARCHITECTURES[machine]
    program = _Program()
    program.load(_ARCH)
    program.unless(_EQUAL, audit, then="kill")
    program.load(_NUMBER)
    if machine == "x86_64":  # x32: the same architecture with other numbers
        program.when(_AT_LEAST, 0x4000_0000, then="refuse")
    blocks: list[tuple[Sequence[int | None], str]] = [(numbers, "refuse") for numbers in _NUMBERS.values()]
    blocks += [(numbers, "unknown") for numbers in _UNKNOWN.values()]
    blocks += [(numbers, "unsupported") for numbers in _ATTRIBUTES.values()]
    blocks += [(numbers, f"mode {at}") for *numbers, at in _MODES.values()]
    blocks += [(numbers, f"open {at}") for *numbers, at in _OPENS.values()]
    blocks += [(numbers, name.removesuffix("pair")) for name, numbers in _JUDGED.items()]
    for numbers, then in blocks:
        if (call := numbers[column]) is not None:
            program.when(_EQUAL, call, then=then)
    program.result("allow", _ALLOW)
    for at in sorted({at for *_, at in _OPENS.values()}):
        program.label(f"open {at}")
        program.load(_ARGUMENTS[at - 1])
        program.unless(_ANY_BIT, _MAKES_FILE, then="permit")
        program.load(_ARGUMENTS[at])
        program.when(_ANY_BIT, _SET_ID, then="refuse")
        program.result("permit", _ALLOW)
    for at in sorted({at for *_, at in _MODES.values()}):
        program.judge(f"mode {at}", at, (_ANY_BIT, _SET_ID))
    program.judge("clone", 0, (_ANY_BIT, _CLONE_NEW))
    program.judge("ioctl", 1, (_EQUAL, _TIOCSTI), (_EQUAL, _TIOCLINUX))
    program.judge("prlimit", 0, (_AT_LEAST, 1))  # a process may look after its own limits, not the runner's
    program.label("socket")
    program.load(_ARGUMENTS[0])
    for family in (_UNIX, _INET, _INET6, _NETLINK):
        program.when(_EQUAL, family, then="permit")
    program.result("refuse", _ERRNO | EPERM)
    program.result("unknown", _ERRNO | ENOSYS)
    program.result("unsupported", _ERRNO | ENOTSUP)
    program.result("kill", _KILL)
    program.result("permit", _ALLOW)
    return program.bytes()


class _Program:
    """Instructions with named forward jumps; a name ends at the first label of that name below the jump."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str, str, int]] = []
        self._labels: list[tuple[str, int]] = []

    def load(self, offset: int) -> None:
        self._lines.append((_LOAD, "", "", offset))

    def when(self, test: int, value: int, *, then: str) -> None:
        self._lines.append((test, then, "", value))

    def unless(self, test: int, value: int, *, then: str) -> None:
        self._lines.append((test, "", then, value))

    def judge(self, name: str, at: int, *refused: tuple[int, int]) -> None:
        """A block that refuses a call whose argument passes one of the tests, and allows every other."""
        self.label(name)
        self.load(_ARGUMENTS[at])
        for test, value in refused:
            self.when(test, value, then="refuse")
        self.result("allow", _ALLOW)

    def label(self, name: str) -> None:
        self._labels.append((name, len(self._lines)))

    def result(self, name: str, action: int) -> None:
        self.label(name)
        self._lines.append((_RETURN, "", "", action))

    def bytes(self) -> bytes:
        return b"".join(
            struct.pack("<HBBI", code, self._distance(line, yes), self._distance(line, no), value)
            for line, (code, yes, no, value) in enumerate(self._lines)
        )

    def _distance(self, line: int, name: str) -> int:
        return next(at for label, at in self._labels if label == name and at > line) - line - 1 if name else 0
