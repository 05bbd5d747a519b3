"""Going into a transaction: a view of the workspace of its own, and then no more rights than any program in here.

Layer: machines, runner. Standard library only. The runner may mount, in the machine's own user namespace; nothing that
it starts may. Every command and every piece of file work goes through ``enter`` in a fork first: it gets a mount
namespace, in it an overlay at ``/work`` (the person's folder below, which is mounted read-only, then the machine layer,
then what the session has pending; on top a fresh folder that takes the changes) or the copy that the daemon made where
no overlay can be laid, a cover over what those are made of, and then it loses its capabilities and gets the system-call
filter. Sources: capabilities(7), overlayfs.rst of the kernel's documentation, seccomp(2).
"""

from __future__ import annotations

import _ctypes  # ctypes itself would cost a third of the start time
import os
import sys

from .frames import Fault

WORK = "/work"
SPACE = "/space"
LAYERS = f"{SPACE}/layers"
"""Of the session: ``pending``, and in ``jobs`` a folder for each transaction."""
FILTER = "/stead/filter"
PROOF = "proof-"
"""Begins the name of a transaction of which nothing is kept, not even next to the workspace."""
_LOWER = f"{LAYERS}/pending:{SPACE}/kept:{SPACE}/folder"
_OPTIONS = f"lowerdir={_LOWER},userxattr,redirect_dir=nofollow,metacopy=off,index=off,xino=off"
"""Of an overlay. The marks that it makes in the upper folder have names that the kernel lets no program in here use."""
_VOLATILE = "volatile"
"""Nothing waits for the disk: what counts is what landed. Else the end of each command would sync a whole disk."""
_CLONE_NEWNS = 0x0002_0000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 0x1000, 0x4000, 0x4_0000
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _CLEAR_ALL = 22, 24, 47, 4
_CAPABILITIES = 64
_VERSION_3 = 0x2008_0522


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]  # it takes none when it runs
    _type_ = "i"


class _Function(_ctypes.CFuncPtr):
    """A C function that takes integers, bytes and addresses, gives an integer, and leaves its error number."""

    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


def function(name: str) -> _Function:
    """One of the C library's."""
    return _Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), name))  # type: ignore[arg-type]  # None is this process


prctl, _mount, _umount, _unshare, _setns, _capset = map(
    function, ("prctl", "mount", "umount", "unshare", "setns", "capset")
)


def apart() -> None:
    """Take this process's mounts out of the sandbox's, so that what is mounted from now on is its own.

    Raises:
        OSError: the kernel refuses.
    """
    _check(_unshare(_CLONE_NEWNS), "unshare")
    _check(_mount(None, b"/", None, _REC | _PRIVATE, None), "/")


_filter: list[tuple[bytes, _ctypes.Array]] = []  # type: ignore[type-arg]  # it takes none when it runs
"""What sets the system-call filter, and the program that this points to; once the runner is ``ready``."""


def ready() -> None:
    """Do once, in the runner, what each fork takes over from it: mounts of its own, no capability to gain, the filter.

    Raises:
        OSError: the kernel refuses.
    """
    apart()
    for capability in range(_CAPABILITIES):
        prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    with open(FILTER, "rb") as file:
        program = _buffer(file.read())
    size, pointer = len(program) // 8, _ctypes.addressof(program)
    _filter[:] = [(size.to_bytes(2, sys.byteorder) + bytes(6) + pointer.to_bytes(8, sys.byteorder), program)]


def enter(job: str) -> None:
    """Go in, for good. In a fork of the runner that is ``ready``.

    Args:
        job: the folder in ``jobs`` that takes the changes; it is made, unless a copy is in it already. "" for one that
            can change nothing; where it has neither overlay nor copy, it sees the person's folder alone.

    Raises:
        Fault: this file system or kernel lets no overlay be laid over the folder, and there is no copy.
        OSError: something else failed; the process must end.
    """
    apart()
    own = f"{LAYERS}/jobs/{job}"
    copy = f"{own}/tree" if job else f"{LAYERS}/view"
    if os.path.isdir(copy):
        _show(copy, 0 if job else _RDONLY)
    elif job:
        mode = os.stat(f"{SPACE}/folder").st_mode & 0o777
        for folder in (own, f"{own}/upper", f"{own}/work"):
            os.mkdir(folder)
        os.chmod(f"{own}/upper", mode | 0o700)
        if not _lay(f",upperdir={own}/upper,workdir={own}/work,{_VOLATILE}"):
            reason = os.strerror(_ctypes.get_errno())
            raise Fault(f"the folder cannot be shown with changes kept apart ({reason}); see `stead doctor`")
    elif not _lay():
        _show(f"{SPACE}/folder", _RDONLY)
    if job.startswith(PROOF):
        _keep_nothing()
    _check(_mount(b"stead", SPACE.encode(), b"tmpfs", _NOSUID | _NODEV | _RDONLY, b"size=4k"), SPACE)
    os.chdir(WORK)
    _drop()


def _keep_nothing() -> None:
    """Take what is written next to the workspace into memory that goes with its last process.

    Else the run of a check could leave something there by which the next run of it passes.
    """
    _check(_mount(b"stead", SPACE.encode(), b"tmpfs", _NOSUID | _NODEV, b"size=512m"), SPACE)
    shared = f"{SPACE}/dev/shm"  # noqa: S108
    os.makedirs(shared)
    _check(_mount(b"stead", shared.encode(), b"tmpfs", _NOSUID | _NODEV, b"size=64m"), SPACE)
    for place in ("/home", "/tmp", "/dev/shm"):  # noqa: S108 - the machine's own
        for folder in ("upper", "work"):
            os.makedirs(f"{SPACE}{place}/{folder}")
        layers = f"lowerdir={place},upperdir={SPACE}{place}/upper,workdir={SPACE}{place}/work,userxattr"
        if _mount(b"stead", place.encode(), b"overlay", _NOSUID | _NODEV, layers.encode()):  # then they are empty
            _check(_mount(b"stead", place.encode(), b"tmpfs", _NOSUID | _NODEV, b"size=512m"), place)


def can_lay() -> bool:
    """Whether this kernel and the file system of the folder let an overlay be laid over it. For the runner."""
    laid = _lay()
    if laid:
        _check(_umount(WORK.encode()), WORK)
    return laid


def _lay(upper: str = "") -> bool:
    failed = _mount(b"stead", WORK.encode(), b"overlay", _NOSUID | _NODEV, f"{_OPTIONS}{upper}".encode())
    return not failed


def _show(folder: str, flags: int) -> None:
    _check(_mount(folder.encode(), WORK.encode(), None, _BIND | _REC, None), folder)
    _check(_mount(None, WORK.encode(), None, _REMOUNT | _BIND | _NOSUID | _NODEV | flags, None), folder)


def _drop() -> None:
    """Lose every capability, and get the filter."""
    prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = _VERSION_3.to_bytes(4, sys.byteorder) + bytes(4)
    _check(_capset(header, bytes(24)), "capset")
    _check(prctl(_PR_SET_SECCOMP, 2, _filter[0][0], 0, 0), "seccomp")


class _Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]  # as above
    _type_ = "c"


def _buffer(data: bytes) -> _ctypes.Array:  # type: ignore[type-arg]  # as above
    return (_Byte * len(data)).from_buffer_copy(data)


def _check(result: object, what: str) -> None:
    if result != 0:
        error = _ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def refresh(pids: list[int]) -> None:
    """Have the views of others forget which files there are below, since files have landed there. For the runner.

    An overlay remembers that a name was not there, or what it was; mounted again as it is, it looks again. A copy shows
    nothing new.

    Args:
        pids: a process of each view.
    """
    for pid in pids:
        try:
            child = os.fork()
        except OSError:  # no process is left; the next time will do
            return
        if child == 0:
            try:
                _check(_setns(os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY), _CLONE_NEWNS), "setns")
                _check(_mount(None, WORK.encode(), None, _REMOUNT | _NOSUID | _NODEV, None), WORK)
            finally:
                os._exit(0)
        os.waitpid(child, 0)


def namespace(pid: int | str) -> str:
    """Which mounts a process sees, as a name.

    Raises:
        OSError: it has ended, or does not let itself be looked at.
    """
    return os.readlink(f"/proc/{pid}/ns/mnt")


def lingering(mounts: str, own: set[int]) -> int:
    """A process that sees these mounts, 0 for none. One that does not let itself be looked at counts.

    Args:
        mounts: see ``namespace``.
        own: processes of the runner's, which wait for themselves.
    """
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            try:
                if namespace(name) == mounts:
                    return int(name)
            except PermissionError:
                return int(name)
            except OSError:
                continue
    return 0
