"""Atomic replacement of a file that loses nothing of what a person writes there at the same moment.

Layer: memory. The new text is written under a temporary name in the same folder and exchanged with the file
(``renameat2``). What was there is looked at afterwards: if it is not what had been read, the exchange is undone. Where
a file system cannot exchange, the file is looked at right before it is replaced. What a kill leaves has a name that
says what may be done with it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
from collections.abc import Callable

import msgspec

from stead.memory.files.codec import MOST_BYTES

BUSY = "it is being written"
"""Why a file is not read that is whole in a moment."""
TEMPORARY = ".stead-"
_NOT_OVER, _EXCHANGE = 1, 2  # of renameat2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PARTS = 5

Rename = Callable[[int, str, str, int], None]
"""Arguments as of ``rename_at``."""

_libc = ctypes.CDLL(None, use_errno=True)


class Stamp(msgspec.Struct, frozen=True):
    """Which state of a file was seen: another one has another stamp."""

    device: int
    inode: int
    size: int
    changed_ns: int


class FileRead(msgspec.Struct, frozen=True):
    """A file as it was read.

    Args:
        path: below the folder.
        stamp: of what was read.
        text: of it; "" where ``why`` says why it was not read.
        why: for a person; "" when it was read.
    """

    path: str
    stamp: Stamp
    text: str = ""
    why: str = ""

    @property
    def notice(self) -> str:
        """What a person should know; "" when it was read, or is whole in a moment."""
        return f"{self.path} is not read: {self.why}" if self.why and self.why != BUSY else ""


def read_file(folder: int, name: str, path: str) -> FileRead | None:
    """A file of a folder, without following or waiting for anything; nothing when there is none."""
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if why := _unfit(seen):
        return FileRead(path, stamp_from(seen), why=why)
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return FileRead(path, stamp_from(seen), why=f"it cannot be opened ({error.strerror})")
    try:
        seen = os.fstat(handle)
        if why := _unfit(seen):
            return FileRead(path, stamp_from(seen), why=why)
        content = b""
        while len(content) <= MOST_BYTES and (piece := os.read(handle, MOST_BYTES + 1 - len(content))):
            content += piece
        after = stamp_from(os.fstat(handle))
    finally:
        os.close(handle)
    if after != stamp_from(seen):
        return FileRead(path, after, why=BUSY)
    try:
        return FileRead(path, after, content.decode())
    except UnicodeDecodeError:
        return FileRead(path, after, why="it is not UTF-8; save it as that")


def _unfit(seen: os.stat_result) -> str:
    if not stat.S_ISREG(seen.st_mode):
        return "it is a link, a pipe or another thing that is no file; put a file in its place"
    if seen.st_uid != os.geteuid():
        return "it belongs to another user"
    if seen.st_size > MOST_BYTES:
        return f"it has more than {MOST_BYTES} bytes; import what is in it with `stead memory import`"
    return ""


def replace(folder: int, fresh: str, name: str, seen: Stamp | None, rename: Rename) -> bool:
    """Put a file in another one's place, which must be as it was seen; ``fresh`` is left to be removed."""
    if seen is None:
        try:
            rename(folder, fresh, name, _NOT_OVER)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            return _link(folder, fresh, name)
        return True
    if stamp_at(folder, name) != seen:
        return False
    try:
        rename(folder, fresh, name, _EXCHANGE)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    if stamp_at(folder, fresh) == seen:
        return True
    rename(folder, fresh, name, _EXCHANGE)  # an edit came between: it has its place again, and is read next
    return False


def remove(folder: int, name: str, seen: Stamp | None, rename: Rename) -> bool:
    """Take a file away, which must be as it was seen; one that was edited meanwhile has its place again."""
    if seen is None or stamp_at(folder, name) != seen:
        return False
    moved = temporary_name(name, b"", seen)
    try:
        os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return False
    done = stamp_at(folder, moved) == seen
    if not done:
        replace(folder, moved, name, None, rename)
    clear(folder, moved)
    os.fsync(folder)
    return done


def temporary_name(name: str, content: bytes, seen: Stamp | None) -> str:
    """A name that says, after a kill, what may be done with the file: what it is for, has, and was exchanged for."""
    was = seen or Stamp(0, 0, 0, 0)
    parts = (_digest(os.fsencode(name)), _digest(content), f"{was.inode:x}", f"{was.size:x}", f"{was.changed_ns:x}")
    return f"{TEMPORARY}{'-'.join(parts)}"


def clear(folder: int, fresh: str) -> None:
    """Remove what is left of a write: the new text, or the old one. Another text is an edit that came between.

    That one has its place again; where a person has edited since, it is left in the folder as a file that people see.
    """
    stamp = stamp_at(folder, fresh)
    parts = fresh.removeprefix(TEMPORARY).split("-")
    if stamp is None or len(parts) != _PARTS:
        return
    was = [f"{stamp.inode:x}", f"{stamp.size:x}", f"{stamp.changed_ns:x}"]
    if was == parts[2:] or _digest(_content(folder, fresh)) == parts[1]:
        unlink(folder, fresh)
    else:
        name = next((name for name in os.listdir(folder) if _digest(os.fsencode(name)) == parts[0]), "")
        written = bool(name) and _digest(_content(folder, name)) == parts[1]
        os.rename(fresh, name if written else f"edit-{parts[1]}.txt", src_dir_fd=folder, dst_dir_fd=folder)


def _content(folder: int, name: str) -> bytes:
    """Of a plain file, b"" for anything else."""
    read = read_file(folder, name, name)
    return read.text.encode() if read is not None else b""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _link(folder: int, fresh: str, name: str) -> bool:
    try:
        os.link(fresh, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return False
    return True


def rename_at(folder: int, one: str, other: str, how: int) -> None:
    """Rename within a folder as ``renameat2`` does: not over another one, or exchanging the two."""
    if _libc.renameat2(folder, os.fsencode(one), folder, os.fsencode(other), how) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def put(folder: int, name: str, content: bytes) -> Stamp:
    """Write a new file, durably, for its owner alone."""
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
        return stamp_from(os.fstat(handle))


def unlink(folder: int, name: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def stamp_at(folder: int, name: str) -> Stamp | None:
    """Which state a file of a folder is in; None when there is none."""
    try:
        return stamp_from(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def stamp_from(seen: os.stat_result) -> Stamp:
    """Which state of a file that was."""
    return Stamp(seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)
