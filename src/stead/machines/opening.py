"""Opening what its owner may not read just now.

Layer: machines. A machine can take away the permissions of what it made, so that the next process of
the same user would see nothing of it. What belongs to the daemon's own user is therefore made readable: a folder for
good, as what is in it is reached through it, a file for the moment. No link is followed on the way.
"""

from __future__ import annotations

import errno
import os
import stat


def open_own(name: str | bytes, flags: int, above: int | None = None) -> int:
    """A descriptor, as of ``os.open``; what is ours is made readable first.

    Args:
        name: of a file or folder.
        flags: to read it, without following a link.
        above: descriptor of the folder that the name is in.

    Raises:
        OSError: it belongs to another user and may not be read, or cannot be opened for another reason.
    """
    try:
        fd = os.open(name, flags, dir_fd=above)
    except PermissionError:
        held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    else:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o100 and status.st_uid == os.geteuid() != 0:
            os.fchmod(fd, stat.S_IMODE(status.st_mode) | 0o500)  # it may be listed, but nothing in it be looked at
        return fd
    try:
        status, path = os.fstat(held), f"/proc/self/fd/{held}"
        mode, folder = stat.S_IMODE(status.st_mode), stat.S_ISDIR(status.st_mode)
        if status.st_uid != os.geteuid() or not (folder or stat.S_ISREG(status.st_mode)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        os.chmod(path, mode | 0o500 if folder else mode | 0o400)
        try:
            return os.open(path, flags & ~os.O_NOFOLLOW)
        finally:
            if not folder:
                os.chmod(path, mode)
    finally:
        os.close(held)
