"""Tries to leave a program in the folder that runs as its owner, whoever starts it. Runs inside a machine.

In the workspace everything belongs to the person, or to root: a set-user bit makes whoever runs the file on the host
that user. Each way that the kernel has to set such a bit is tried, by the C library and by the bare system call.
"""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import struct
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.attacks.escape_tools import TRIES, X86, libc, program, syscall

HERE = -100
"""AT_FDCWD."""
BITS = {"user": 0o4755, "group": 0o2755, "both": 0o6777}
_EMPTY_PATH, _FOLLOW = 0x1000, 0x400
_HIGH = 1 << 32


def bits(path: str) -> str:
    """The mode, if it has a bit that it must not have."""
    mode = os.lstat(path).st_mode
    return oct(mode) if mode & (stat.S_ISUID | stat.S_ISGID) else ""


def tried(name: str, act: Callable[[str, int], object], *, empty: bool = False) -> None:
    """Register a try for each kind of bit; ``act`` is given a path and the mode that it is to have.

    Args:
        name: of the try.
        act: does it.
        empty: the path is not to be there yet.
    """
    for kind, mode in BITS.items():

        def attempt(path: str = f"set_{name}_{kind}", mode: int = mode) -> str:
            if not empty:
                Path(path).write_text("program")
            os.umask(0)
            try:
                act(path, mode)
            finally:
                got = bits(path) if os.path.lexists(path) else ""
            return got

        TRIES[f"set_the_{kind}_bit_by_{name}"] = attempt


def _open(path: str, mode: int, flags: int = os.O_CREAT | os.O_WRONLY) -> None:
    os.close(os.open(path, flags, mode))


def _by_descriptor(path: str, mode: int) -> None:
    fd = os.open(path, os.O_RDWR)
    try:
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def _by_directory(path: str, mode: int) -> None:
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.chmod(path, mode, dir_fd=fd)
    finally:
        os.close(fd)


def _through_proc(path: str, mode: int) -> None:
    fd = os.open(path, os.O_PATH)
    try:
        os.chmod(f"/proc/self/fd/{fd}", mode)
    finally:
        os.close(fd)


def _unnamed(path: str, mode: int) -> None:
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, mode)
    try:
        libc.linkat(HERE, f"/proc/self/fd/{fd}".encode(), HERE, path.encode(), _FOLLOW)
    finally:
        os.close(fd)


def _how(mode: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(struct.pack("<QQQ", os.O_CREAT | os.O_WRONLY, mode, 0))


def _moved_in(path: str, mode: int) -> None:
    """Made where it harms nobody, then moved into the folder, or copied there with its mode."""
    aside = f"/tmp/{path}"
    try:
        Path(aside).write_text("program")
        os.chmod(aside, mode)
        subprocess.run(["cp", "-p", aside, path], check=False, capture_output=True)
    finally:
        os.unlink(aside)


def _unpacked(path: str, mode: int) -> None:
    """By a program that takes the mode from an archive."""
    import io
    import tarfile

    with tarfile.open(f"{path}.tar", "w") as archive:
        entry = tarfile.TarInfo(path)
        entry.mode = mode
        archive.addfile(entry, io.BytesIO())
    os.unlink(path)
    subprocess.run(["tar", "-xpf", f"{path}.tar"], check=False, capture_output=True)


def _socket(path: str, mode: int) -> None:
    """A named socket takes the mode of its descriptor."""
    with socket.socket(socket.AF_UNIX) as bound:
        os.fchmod(bound.fileno(), mode)
        bound.bind(path)


def _in_a_thread(path: str, mode: int) -> None:
    import threading

    thread = threading.Thread(target=lambda: libc.chmod(path.encode(), mode))
    thread.start()
    thread.join()


def _by_another_process(path: str, mode: int) -> None:
    program("python3", "-c", f"import os; os.chmod({path!r}, {mode})")


tried("chmod", os.chmod)
tried("the_chmod_program", lambda path, mode: program("chmod", f"{mode:o}", path))
tried("a_letter", lambda path, _mode: program("chmod", "u+s,g+s", path))
tried("install", lambda path, mode: program("install", "-m", f"{mode:o}", "/usr/bin/id", path))
tried("fchmod", _by_descriptor)
tried("fchmodat", _by_directory)
tried("a_descriptor_in_proc", _through_proc)
tried("another_process", _by_another_process)
tried("a_thread", _in_a_thread)
tried("copying", _moved_in)
tried("unpacking", _unpacked)
tried("open", _open, empty=True)
tried("exclusive_open", lambda path, mode: _open(path, mode, os.O_CREAT | os.O_EXCL | os.O_RDWR), empty=True)
tried("an_unnamed_file", _unnamed, empty=True)
tried("mknod", lambda path, mode: os.mknod(path, stat.S_IFREG | mode), empty=True)
tried("a_pipe", lambda path, mode: os.mkfifo(path, mode), empty=True)
tried("a_socket", _socket, empty=True)
# bare system calls, which no library stands before
tried("bare_fchmodat", lambda path, mode: syscall(268, 53, HERE, path.encode(), mode))
tried("bare_fchmodat2", lambda path, mode: syscall(452, 452, HERE, path.encode(), mode, 0))
tried("bare_fchmod", lambda path, mode: syscall(91, 52, os.open(path, os.O_RDWR), mode))
tried("high_bits", lambda path, mode: syscall(268, 53, HERE, path.encode(), ctypes.c_long(_HIGH | mode)))
tried("kind_bits", lambda path, mode: syscall(268, 53, HERE, path.encode(), stat.S_IFREG | mode))
tried("an_empty_path", lambda path, mode: syscall(452, 452, os.open(path, os.O_PATH), b"", mode, _EMPTY_PATH))
tried("bare_openat", lambda path, mode: syscall(257, 56, HERE, path.encode(), os.O_CREAT, mode), empty=True)
tried("openat2", lambda path, mode: syscall(437, 437, HERE, path.encode(), _how(mode), 24), empty=True)
tried("bare_mknodat", lambda path, mode: syscall(259, 33, HERE, path.encode(), 0o100000 | mode, 0), empty=True)
if X86:
    tried("bare_chmod", lambda path, mode: syscall(90, 0, path.encode(), mode))
    tried("bare_open", lambda path, mode: syscall(2, 0, path.encode(), os.O_CREAT, mode), empty=True)
    tried("creat", lambda path, mode: syscall(85, 0, path.encode(), mode), empty=True)
    tried("bare_mknod", lambda path, mode: syscall(133, 0, path.encode(), 0o100000 | mode, 0), empty=True)


_CAPABLE = struct.pack("<IIIII", 0x02000001, 0x80, 0, 0, 0)
"""CAP_SETUID, permitted and effective, as ``security.capability`` has it."""


def _attribute(name: bytes, value: bytes, call: str) -> object:
    """Mark a new file; what got through if it could be done."""
    path = f"attribute_{call}_{len(name)}"
    Path(path).write_text("program")
    kept = ctypes.create_string_buffer(value, len(value))
    if call == "setxattrat":
        arguments = ctypes.create_string_buffer(struct.pack("<QII", ctypes.addressof(kept), len(value), 0))
        return 1 + syscall(463, 463, HERE, path.encode(), 0, name, arguments, 16)
    file = os.open(path, os.O_RDWR) if call == "fsetxattr" else path.encode()
    return 1 + syscall(*_ATTRIBUTES[call], file, name, kept, len(value), 0)


_ATTRIBUTES = {"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7)}
for _call in (*_ATTRIBUTES, "setxattrat"):
    for _name, _value in ((b"security.capability", _CAPABLE), (b"user.note", b"x")):
        TRIES[f"mark_by_{_call}_{_name.decode()}"] = partial(_attribute, _name, _value, _call)
