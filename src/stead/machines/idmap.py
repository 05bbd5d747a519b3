"""A private view of a few folders for a daemon that is root: reachable, and owned by the machine's user.

Layer: machines. Knows nothing of sessions or bubblewrap.

A root daemon runs its machines as an ordinary user, who may neither pass through root's folders nor write root's
files, and changing the owner of a person's files is not ours to do. So the folder is mounted once more, in a mount
namespace that nobody else is in, at a path that the user can reach, and with an id map: what belongs to the folder's
owner on disk belongs to the machine's user there, and the other way round for what it writes.

The namespace lives as long as a descriptor or a process holds it. So there is nothing to clean up, not even after a
crash. It is made by a thread of its own, which takes the thread alone out of the daemon's namespace and then ends.
Sources: mount_setattr(2), open_tree(2), user_namespaces(7).
"""

from __future__ import annotations

import ctypes
import os
import select
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

STAGE = "/tmp"  # noqa: S108 - covered by a mount of its own, in a namespace of its own
"""Where the folders appear, each under its name."""

_LIMIT_S = 10.0
_CLONE_NEWNS = 0x0002_0000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 0x4000, 0x4_0000
_AT_FDCWD, _AT_EMPTY_PATH = -100, 0x1000
_OPEN_TREE, _OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 428, 1, 0o2000000
_MOVE_MOUNT, _MOVE_MOUNT_F_EMPTY_PATH = 429, 4
_MOUNT_SETATTR, _MOUNT_ATTR_RDONLY, _MOUNT_ATTR_IDMAP = 442, 0x01, 0x0010_0000


@dataclass(frozen=True)
class Show:
    """One folder to show.

    Args:
        source: absolute real path on the host.
        name: under ``STAGE``.
        owner: user and group id on disk that become the machine's; None shows ids as they are.
        read_only: nothing can be written through this mount, and where the file system has no id maps, ids are shown
            as they are.
    """

    source: str
    name: str
    owner: tuple[int, int] | None
    read_only: bool


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def private_namespace(shows: Sequence[Show], user: int) -> int:
    """Make the namespace; gives a descriptor of it, the caller's to close.

    Args:
        shows: the folders.
        user: user and group id that owners are mapped to.

    Raises:
        OSError: the kernel or a file system refuses, or it takes longer than ten seconds. ``filename`` is the folder.
    """
    made: list[int | OSError] = []

    def work() -> None:
        try:
            made.append(_stage(shows, user))
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=work, name="stead-mounts", daemon=True)
    thread.start()
    thread.join(_LIMIT_S)
    result = made[0] if made else TimeoutError(f"mounting took more than {_LIMIT_S:.0f} s")
    if isinstance(result, OSError):
        raise result
    return result


def _stage(shows: Sequence[Show], user: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_CLONE_NEWNS), "unshare")
    _check(libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "/")
    trees = [_tree(libc, show, user) for show in shows]
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
    _check(libc.mount(b"stead", STAGE.encode(), b"tmpfs", flags, b"size=64k,mode=0755"), STAGE)
    for show, tree in zip(shows, trees, strict=True):
        target = f"{STAGE}/{show.name}"
        os.mkdir(target)
        _syscall(libc, show.source, _MOVE_MOUNT, tree, b"", _AT_FDCWD, target.encode(), _MOVE_MOUNT_F_EMPTY_PATH)
        os.close(tree)
    return os.open("/proc/thread-self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)


def _tree(libc: ctypes.CDLL, show: Show, user: int) -> int:
    path = show.source.encode()
    tree = _syscall(libc, show.source, _OPEN_TREE, _AT_FDCWD, path, _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC)
    attributes = _MountAttributes(set=_MOUNT_ATTR_RDONLY if show.read_only else 0)
    if show.owner is not None and show.owner != (user, user):
        attributes.set |= _MOUNT_ATTR_IDMAP
        attributes.userns_fd = _user_namespace(show.owner, user)
    size = ctypes.sizeof(attributes)
    try:
        _syscall(libc, show.source, _MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, ctypes.byref(attributes), size)
    except OSError:
        os.close(tree)
        if show.read_only and show.owner:
            return _tree(libc, replace(show, owner=None), user)
        raise
    return tree


@cache
def _user_namespace(owner: tuple[int, int], user: int) -> int:
    """A descriptor of a user namespace that maps one owner to the machine's user.

    Its only process is ended again. The descriptor is kept: owners are few, and each costs some milliseconds.
    """
    with subprocess.Popen(
        ["unshare", "--user", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        assert child.stdin and child.stdout
        try:
            child.stdin.write(b"?")
            ready, _, _ = select.select([child.stdout], [], [], _LIMIT_S / 2)
            if not ready or child.stdout.read(1) != b"?":
                raise OSError("no user namespace could be made for the id map")
            for kind, inside in zip(("uid", "gid"), owner, strict=True):
                with open(f"/proc/{child.pid}/{kind}_map", "w") as map_file:
                    map_file.write(f"{inside} {user} 1")
            return os.open(f"/proc/{child.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            child.kill()


def _syscall(libc: ctypes.CDLL, path: str, number: int, *arguments: object) -> int:
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    _check(result, path)
    return result


def _check(result: int, path: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), path)
