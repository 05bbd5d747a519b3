"""Layers of an overlay on disk: walking one, moving what one changed into another, telling how one differs.

Layer: machines. Everything in a layer was made by a hostile machine, and others may be at work in the person's folder.
So both are walked by descriptors, no link is followed, and nothing but folders and regular files is opened. How an
overlay marks things (whiteouts, opaque folders) is in the kernel's Documentation/filesystems/overlayfs.rst.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

from stead.machines.left_out import is_unfinished
from stead.machines.opening import open_own
from stead.machines.repositories import repository_parts

DEEPEST = 100
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
REGULAR = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""How a file is opened that may be something else by now."""
OPAQUE, _WHITEOUT = "user.overlay.opaque", "user.overlay.whiteout"
_FOREIGN = ("user.overlay.redirect", "user.overlay.metacopy")
_BLOCK = 1 << 20
_FICLONE = 0x4004_9409

Kind = Literal["added", "changed", "deleted", "mode"]
What = Literal["file", "folder", "link", "special"]


@dataclass(slots=True)
class Side:
    """An entry: the folder that holds it, its name, its status."""

    folder: int
    name: str
    status: os.stat_result

    @property
    def what(self) -> What:
        """Its kind."""
        mode = self.status.st_mode
        if stat.S_ISREG(mode):
            return "file"
        return "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "special"

    @property
    def mode(self) -> int:
        """Its permission bits, with those for set-user, set-group and sticky."""
        return stat.S_IMODE(self.status.st_mode)

    def attribute(self, name: str) -> bytes:
        """An extended attribute; empty for none, and of what has gone meanwhile."""
        try:
            fd = os.open(self.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
        except FileNotFoundError:
            return b""
        try:
            return os.getxattr(f"/proc/self/fd/{fd}", name)
        except OSError:
            return b""
        finally:
            os.close(fd)

    def target(self) -> str:
        """Where a link leads."""
        return os.readlink(self.name, dir_fd=self.folder)

    def content(self, most: int) -> bytes:
        """Up to so many bytes of a regular file."""
        fd = open_own(self.name, REGULAR, self.folder)
        with open(fd, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(fd).st_mode) else b""

    def hashed(self) -> bytes:
        """The SHA-256 of a regular file's content."""
        with open(open_own(self.name, REGULAR, self.folder), "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    def is_whiteout(self) -> bool:
        """Whether it is the mark of what was deleted."""
        if stat.S_ISCHR(self.status.st_mode):
            return self.status.st_rdev == 0
        return stat.S_ISREG(self.status.st_mode) and self.status.st_size == 0 and self.attribute(_WHITEOUT) != b""

    def is_opaque(self) -> bool:
        """Whether nothing of a folder below shows through it."""
        return self.attribute(OPAQUE) == b"y"

    def is_foreign(self) -> bool:
        """Whether it has a mark that none of our overlays makes."""
        return any(self.attribute(name) for name in _FOREIGN)


@contextmanager
def opened(path: str, above: int | None = None) -> Iterator[int]:
    """A descriptor of a folder that is no link; see ``open_own``."""
    fd = open_own(path, FOLDER, above)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def opened_to_empty(entry: Side) -> Iterator[int]:
    """A descriptor of a layer's folder, out of which its owner may take things from now on."""
    with opened(entry.name, entry.folder) as fd:
        if entry.mode & 0o700 != 0o700:
            os.fchmod(fd, entry.mode | 0o700)
        yield fd


def side(folder: int, name: str) -> Side | None:
    """What is there, if anything is."""
    try:
        return Side(folder, name, os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def entries(folder: int) -> list[os.DirEntry[str]]:
    """Of an open folder, in order of name."""
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: entry.name)


def same(old: Side, new: Side) -> bool:
    """Whether two regular files hold the same; false where they may not be read."""
    if old.status.st_size != new.status.st_size:
        return False
    with (
        suppress(PermissionError),
        open(open_own(old.name, REGULAR, old.folder), "rb", buffering=0) as left,
        open(open_own(new.name, REGULAR, new.folder), "rb", buffering=0) as right,
    ):
        while (block := left.read(_BLOCK)) == right.read(_BLOCK):
            if not block:
                return True
    return False


# -- telling how a layer differs --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Delta:
    """One difference between a layer and what it covers.

    Args:
        path: relative.
        kind: ``mode`` is a change of permissions alone.
        what: of the newer side; of the older one when it is deleted.
        new, old: their status; None where there is none.
        obeyed: it is a part of a repository that git obeys there.
        bad: why it can never be carried over; "" when it can.
    """

    path: str
    kind: Kind
    what: What
    new: os.stat_result | None
    old: os.stat_result | None
    obeyed: bool = False
    bad: str = ""


@dataclass
class Deltas:
    """Collects how a layer differs from a folder."""

    found: list[Delta] = field(default_factory=list)
    equal: list[str] = field(default_factory=list)
    """Paths of files and links that do not differ."""
    links: list[str] = field(default_factory=list)
    """Of the lower side, in every folder that was looked at; and what a landing has left there that was cut off."""
    cut_off: list[str] = field(default_factory=list)

    def walk(self, upper: int, lower: int | None, above: str, depth: int, *, opaque: bool, obeyed: bool) -> None:
        """One folder of the layer with the one that it covers, if there is one."""
        ours, theirs = entries(upper), entries(lower) if lower is not None else []
        parts = repository_parts(ours, theirs)
        self.links += [above + entry.name for entry in theirs if entry.is_symlink()]
        cut_off = (entry for entry in theirs if is_unfinished(entry.name) and not entry.is_dir(follow_symlinks=False))
        self.cut_off += [above + entry.name for entry in cut_off]
        names = set()
        for entry in ours:
            names.add(entry.name)
            new = Side(upper, entry.name, entry.stat(follow_symlinks=False))
            old = None if lower is None else side(lower, entry.name)
            self._judge(above + entry.name, new, old, depth, obeyed or entry.name in parts)
        for entry in theirs if opaque else ():
            if entry.name not in names and lower is not None:
                gone = Side(lower, entry.name, entry.stat(follow_symlinks=False))
                self._delete(above + entry.name, gone, depth, obeyed or entry.name in parts)

    def _judge(self, path: str, new: Side, old: Side | None, depth: int, obeyed: bool) -> None:
        if new.is_whiteout():
            if old is not None:
                self._delete(path, old, depth, obeyed)
            return
        if old is not None and "folder" in (old.what, new.what) and old.what != new.what:
            self._delete(path, old, depth, obeyed)
            old = None
        if new.what == "folder":
            self._folder(path, new, old, depth, obeyed)
        elif new.what == "special":
            self._add(path, "added", new, old, obeyed, "devices, pipes and sockets are not carried over")
        elif old is None:
            self._add(path, "added", new, None, obeyed)
        elif new.what != old.what or (new.target() != old.target() if new.what == "link" else not same(old, new)):
            self._add(path, "changed", new, old, obeyed)
        elif new.what == "file" and new.mode != old.mode:
            self._add(path, "mode", new, old, obeyed)
        else:
            self.equal.append(path)

    def _folder(self, path: str, new: Side, old: Side | None, depth: int, obeyed: bool) -> None:
        if depth == DEEPEST or new.is_foreign():
            return self._add(path, "added", new, old, obeyed, "it is nested too deep, or not of this machine's making")
        if old is None:
            self._add(path, "added", new, None, obeyed)
        elif old.mode != new.mode:
            self._add(path, "mode", new, old, obeyed)
        try:
            with opened(new.name, new.folder) as upper:
                if old is None:
                    self.walk(upper, None, path + "/", depth + 1, opaque=False, obeyed=obeyed)
                else:
                    with opened(old.name, old.folder) as lower:
                        self.walk(upper, lower, path + "/", depth + 1, opaque=new.is_opaque(), obeyed=obeyed)
        except PermissionError:
            return self._add(path, "added", new, old, obeyed, "its permissions keep everybody out")
        return None

    def _delete(self, path: str, old: Side, depth: int, obeyed: bool) -> None:
        """The person's file is to go, or the whole folder with all that is in it."""
        if old.what == "folder":
            if depth >= DEEPEST:
                return self._add(path, "deleted", old, old, obeyed, "it is nested too deep")
            try:
                with opened(old.name, old.folder) as lower:
                    theirs = entries(lower)
                    parts = repository_parts([], theirs)
                    for entry in theirs:
                        inner = Side(lower, entry.name, entry.stat(follow_symlinks=False))
                        self._delete(f"{path}/{entry.name}", inner, depth + 1, obeyed or entry.name in parts)
            except PermissionError:
                return self._add(path, "deleted", old, old, obeyed, "you may not read it")
        return self._add(path, "deleted", old, old, obeyed)

    def _add(self, path: str, kind: Kind, at: Side, old: Side | None, obeyed: bool, bad: str = "") -> None:
        if not bad and kind != "deleted" and at.what == "file":
            if at.mode & 0o7000:
                bad = "set-user, set-group and sticky bits are not carried over"
            elif at.is_foreign():
                bad = "it is not of this machine's making"
        if not bad and not path.isprintable():
            bad = "its name holds what is no readable text"
        new = None if kind == "deleted" else at.status
        self.found.append(Delta(path, kind, at.what, new, old.status if old else None, obeyed, bad))


# -- changing one ----------------------------------------------------------------------------------------------------


@contextmanager
def below(folder: int | None, name: str) -> Iterator[int | None]:
    """A folder in another, if there is one."""
    found = side(folder, name) if folder is not None else None
    if found is None or found.what != "folder":
        yield None
        return
    with opened(name, folder) as fd:
        yield fd


def remove(folder: int, name: str, depth: int = 0) -> None:
    """Whatever is there, with all that is in it."""
    found = side(folder, name)
    if found is None:
        return
    if depth > DEEPEST:  # deeper than this can follow; coreutils walk by descriptors of their own
        for words in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run([*words, "--", f"/proc/self/fd/{folder}/{name}"], pass_fds=[folder], capture_output=True)
        return
    if found.what != "folder":
        os.unlink(name, dir_fd=folder)
        return
    with opened_to_empty(found) as inner:
        for entry in entries(inner):
            remove(inner, entry.name, depth + 1)
    os.rmdir(name, dir_fd=folder)


def copy_entry(new: Side, folder: int, name: str) -> None:
    """A copy of an entry, with all that is in it, under a name that is free. Holes stay holes.

    Raises:
        OSError: it cannot be read or written; what was made is removed again.
    """
    try:
        if new.what == "link":
            os.symlink(new.target(), name, dir_fd=folder)
        elif new.is_whiteout():
            whiteout(folder, name)
        elif new.what == "folder":
            os.mkdir(name, 0o700, dir_fd=folder)
            with opened(new.name, new.folder) as source, opened(name, folder) as target:
                for entry in entries(source):
                    copy_entry(Side(source, entry.name, entry.stat(follow_symlinks=False)), target, entry.name)
                os.fchmod(target, new.mode & 0o777)
                if new.is_opaque():
                    os.setxattr(target, OPAQUE, b"y")
        elif new.what == "file":
            copy_file(new, folder, name)
        if os.geteuid() == 0:
            with suppress(FileNotFoundError):  # a device, which is not copied
                os.chown(name, new.status.st_uid, new.status.st_gid, dir_fd=folder, follow_symlinks=False)
    except FileExistsError:  # it was not made here
        raise
    except OSError:
        remove(folder, name)
        raise


def whiteout(folder: int, name: str) -> None:
    """The mark of a deletion, under a name that is free; in its other form where the disk is an overlay itself."""
    try:
        os.mknod(name, stat.S_IFCHR, dir_fd=folder)
    except PermissionError:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder))
        os.setxattr(f"/proc/self/fd/{folder}/{name}", _WHITEOUT, b"y")


def copy_file(new: Side, folder: int, name: str) -> None:
    """A copy of a regular file's content and plain permissions, under a name that is free; shared, where disks can."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        open(open_own(new.name, REGULAR, new.folder), "rb", buffering=0) as old,
        open(os.open(name, flags, 0o600, dir_fd=folder), "wb", buffering=0) as fresh,
    ):
        source, at = old.fileno(), 0
        size = os.fstat(source).st_size
        with suppress(OSError):  # most file systems cannot
            at = fcntl.ioctl(fresh, _FICLONE, source) or size
        while at < size:
            try:
                start = os.lseek(source, at, os.SEEK_DATA)
            except OSError:  # nothing but a hole is left
                break
            at = os.lseek(source, start, os.SEEK_HOLE)
            os.lseek(source, start, os.SEEK_SET)
            fresh.seek(start)
            while start < at and (done := os.sendfile(fresh.fileno(), source, None, min(at - start, _BLOCK << 6))):
                start += done
        os.ftruncate(fresh.fileno(), size)
        os.fchmod(fresh.fileno(), new.mode & 0o777)
