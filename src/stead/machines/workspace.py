"""Which folders may be shown to a machine.

Layer: machines. Looks at names and kinds only, and never into a folder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stead.domain.errors import InvalidRequest
from stead.machines.opening import open_own

_PASSED = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is passed through, which may be one that nobody may list."""
_SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys"}
_locks: dict[str, threading.Lock] = {}
_SHARED = {"home", "media", "mnt", "opt", "root", "run", "srv", "tmp", "usr", "var"}


def check_directory(path: str, stead_home: Path, *, writable: bool, memory: Path | None = None) -> str:
    """The real path of a folder that may become a workspace.

    Args:
        path: absolute; links in it are followed once, now.
        stead_home: Stead's own home; neither it nor anything above or below it is ever shown.
        writable: whether the machine is to write there.
        memory: the files of memory, where those are elsewhere; never shown either.

    Raises:
        InvalidRequest: it is no folder, may not be entered, or shows too much: the whole disk, a system folder, the
            home folder, one of its hidden folders (keys and settings live there), Stead's home, the files of memory.
    """
    if not os.path.isabs(path):
        raise InvalidRequest(f"{path!r} is not an absolute path; give the whole path of a folder")
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise InvalidRequest(f"there is no folder {path!r}; make it first, or choose another")
    if reason := _forbidden(real, os.path.realpath(Path.home()), os.path.realpath(stead_home)):
        raise InvalidRequest(f"{real!r} cannot be a workspace: {reason}; choose a project folder")
    if memory is not None and (_holds(real, kept := os.path.realpath(memory)) or _holds(kept, real)):
        raise InvalidRequest(
            f"{real!r} cannot be a workspace: it holds the files of memory, or lies among them; "
            "choose a project folder, or another memory_folder"
        )
    if not os.access(real, os.R_OK | os.X_OK | (os.W_OK if writable else 0)):
        wanted = "read and write" if writable else "read"
        raise InvalidRequest(f"Stead may not {wanted} {real!r}; change its permissions or choose another folder")
    return real


def enter(directory: str) -> int:
    """A descriptor of a workspace, by its absolute real path, which the caller closes.

    No folder on the way may be a link by now: a session that works in one further up may have put it there.

    Raises:
        OSError: one is, or the folder may not be opened.
    """
    *above, name = [part for part in directory.split("/") if part] or ["."]
    at = os.open("/", _PASSED)
    try:
        for part in above:
            below = os.open(part, _PASSED, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)


@contextmanager
def opened_workspace(directory: str) -> Iterator[int]:
    """A descriptor of a session's folder; see ``enter``."""
    fd = enter(directory)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def locked_workspace(directory: str) -> Iterator[int]:
    """A descriptor of a folder, and its lock.

    Raises:
        OSError: as ``enter``.
    """
    with lock_of(directory), opened_workspace(directory) as fd:
        yield fd


def lock_of(directory: str) -> threading.Lock:
    """What landings, restores, undos and copies of one folder take, of any session, so that they come one by one."""
    return _locks.setdefault(directory, threading.Lock())


def closed(real: Path, stead_home: Path) -> str:
    """Why nothing in a folder, however deep, may be a workspace either; "" when something may.

    Args:
        real: absolute, without links.
        stead_home: Stead's own home.
    """
    return _forbidden(f"{real}/*", os.path.realpath(Path.home()), os.path.realpath(stead_home))


def _forbidden(real: str, user_home: str, stead_home: str) -> str:
    """Why a folder shows too much; "" when it does not. Paths are real ones, as text: this is done for every turn."""
    top, below, _ = real.lstrip("/").partition("/")
    if not top or top in _SYSTEM or (top in _SHARED and not below):
        return "it belongs to the system"
    if _holds(real, user_home):
        return "it holds your home folder, with your keys and settings"
    if _holds(user_home, real) and real.removeprefix(user_home).lstrip("/").startswith("."):
        return "keys and settings live in the hidden folders of your home"
    if _holds(real, stead_home) or _holds(stead_home, real):
        return "it holds Stead's own home, or lies in it"
    return ""


def _holds(folder: str, path: str) -> bool:
    """Whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def identity(status: os.stat_result) -> str:
    """Which file or folder it is, on this host."""
    return f"{status.st_dev}:{status.st_ino}"


@contextmanager
def opened_above(top: int, path: str, *, make: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds a path, and the path's last name; no link is followed on the way.

    Args:
        top: descriptor of the folder that the path starts from.
        path: relative, plain.
        make: makes a missing folder, given the one above and its name.

    Raises:
        OSError: a part is missing, a link, or no folder.
    """
    *folders, name = path.split("/")
    at = os.dup(top)
    try:
        for part in folders:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                below = open_own(part, flags, at)
            except FileNotFoundError:
                if make is None:
                    raise
                make(at, part)
                below = os.open(part, flags, dir_fd=at)
            os.close(at)
            at = below
        yield at, name
    finally:
        os.close(at)
