"""Putting kept files into a person's folder, one at a time, through descriptors.

Layer: machines. Another session's machine may be at work in the folder; no link is followed, and nothing is opened but
what is a regular file once it is open.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from stead.machines.layers import REGULAR
from stead.machines.left_out import UNFINISHED
from stead.machines.opening import open_own
from stead.machines.scanning import PERMISSIONS, Reading
from stead.storage.contents import ContentStore
from stead.storage.intake import Naming

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def status_of(folder: int, name: bytes) -> os.stat_result | None:
    """What is there, if anything is."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def regular(folder: int, name: bytes) -> Iterator[int]:
    """A descriptor of a regular file, to read it.

    Raises:
        OSError: it is none (any more), or may not be read.
    """
    file = open_own(name, REGULAR, folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise NotADirectoryError(20, "it became something else just now")
        yield file
    finally:
        os.close(file)


def content_of(store: ContentStore, file: int) -> bytes:
    """The name of what an open file holds."""
    return Naming(store).content(Reading(file).read)


@contextmanager
def replacing(folder: int, name: bytes) -> Iterator[bytes]:
    """A fresh name, for what takes the place of another at the end; gone when it comes to nothing."""
    fresh = f".stead-{secrets.token_hex(8)}{UNFINISHED}".encode()
    try:
        yield fresh
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise


def write(
    store: ContentStore, content: bytes, mode: int, folder: int, fresh: bytes, old: os.stat_result | None
) -> None:
    """Write a kept content whole under a fresh name.

    Args:
        store: has it.
        content: its name.
        mode: permission bits.
        folder: descriptor of the folder.
        fresh: the name.
        old: what it takes the place of; a daemon that is root leaves the owner of a file as it is.

    Raises:
        NotFound, StorageFault: the store's.
        OSError: the folder's.
    """
    with open(os.open(fresh, _CREATE, 0o600, dir_fd=folder), "wb", buffering=0) as file:
        for chunk in store.read(content):
            rest = memoryview(chunk)
            while rest:
                rest = rest[file.write(rest) :]
        if os.geteuid() == 0:
            owner = old if old is not None and stat.S_ISREG(old.st_mode) else os.fstat(folder)
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
        os.fchmod(file.fileno(), mode & PERMISSIONS)


def link(target: bytes, folder: int, fresh: bytes) -> None:
    """Make a link that belongs to whom its folder belongs to.

    Raises:
        OSError: it cannot be made.
    """
    os.symlink(target, fresh, dir_fd=folder)
    if os.geteuid() == 0:
        owner = os.fstat(folder)
        os.chown(fresh, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)


def make_folder(folder: int, name: bytes, mode: int) -> None:
    """Make a folder that belongs to whom the one above belongs to.

    Raises:
        OSError: it cannot be made.
    """
    os.mkdir(name, 0o700, dir_fd=folder)
    made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.geteuid() == 0:
            owner = os.fstat(folder)
            os.fchown(made, owner.st_uid, owner.st_gid)
        os.fchmod(made, (os.fstat(made).st_mode & 0o7000) | mode)
    finally:
        os.close(made)
