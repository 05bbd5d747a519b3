"""Making a person's folder what it was: what differs is put right, path by path.

Layer: machines. No landing writes meanwhile, as the folder is locked; the person's own programs may, and what is in the
folder is hostile. So every step goes through descriptors of folders that were opened without following a link.

Nothing is lost that is not kept: an entry is replaced or deleted only if it is what the comparison saw. Whatever else
stands where the tree has something is renamed in the same folder, as ``stead-aside-...``, and said. A file is
written whole under another name and then renamed.

Nothing waits for the disk here: what is restored is kept in the store and can be restored again.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from stead.domain.checkpoints import LeftOut, Restored
from stead.domain.errors import NotFound, StorageFault
from stead.machines.layers import Side, opened, side
from stead.machines.left_out import MOUNTED, UNFINISHED, shown, why_not
from stead.machines.scanning import PERMISSIONS, regular
from stead.machines.workspace import opened_above
from stead.storage.contents import ContentStore
from stead.storage.database import Damaged
from stead.storage.trees import Difference, Entry

_SHOWN = 100
_FULL = (errno.ENOSPC, errno.EDQUOT)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Restoring:
    """One restore. It is made before the folder is compared: what changes after that is not what was seen.

    Args:
        store: what the tree is in.
        top: descriptor of the folder, which is locked.
        wanted: what is to be restored, with what is below; none for everything. Paths as they are shown.
    """

    def __init__(self, store: ContentStore, top: int, wanted: Sequence[str] = ()) -> None:
        self._store = store
        self._top = top
        self._wanted = wanted
        self._device = os.fstat(top).st_dev
        self._began_ns = time.time_ns()
        self._paths: list[str] = []
        self._failed: list[LeftOut] = []
        self._closed = b""
        """The path of a folder that could not be made, with a slash at the end: nothing in it can be."""
        self._modes: dict[bytes, int] = {}
        """Of folders that are writable for now: the permissions that they get at the end."""

    def run(self, found: Iterable[Difference]) -> Restored:
        """Do it.

        Args:
            found: how the folder (``new``) differs from the tree (``old``).

        Raises:
            StorageFault: the disk is full.
        """
        differing = [each for each in found if self._is_wanted(each)]
        coming = {each.path for each in differing if each.old}
        try:
            for each in reversed(differing):
                if each.old is None and each.path in coming:
                    with suppress(OSError):  # what stays here is renamed by what comes
                        self._remove(each)
                elif each.old is None:
                    self._attempt(each, self._remove)
            for each in differing:
                if each.old is not None and not (self._closed and each.path.startswith(self._closed)):
                    self._attempt(each, partial(self._put, target=each.old))
        finally:
            self._set_modes()
        return Restored(len(self._paths), tuple(self._paths[:_SHOWN]), tuple(self._failed[:_SHOWN]))

    def fail(self, path: bytes, why: Exception | str) -> None:
        """Note what is not as it was, or is so at a price."""
        self._failed.append(LeftOut(shown(os.fsdecode(path)), str(why)))

    def _is_wanted(self, each: Difference) -> bool:
        """Whether a path is to be restored, or is a missing folder on the way to one that is."""
        missing = each.new is None and each.old is not None and each.old.kind == "folder"
        path = shown(os.fsdecode(each.path)) + "/"
        return self._covers(each) or (missing and any(wanted.startswith(path) for wanted in self._wanted))

    def _covers(self, each: Difference) -> bool:
        path = shown(os.fsdecode(each.path)) + "/"
        return not self._wanted or any(path.startswith(f"{wanted}/") for wanted in self._wanted)

    def _attempt(self, each: Difference, work: Callable[[Difference], bool]) -> None:
        path = shown(os.fsdecode(each.path))
        try:
            if work(each):
                self._paths.append(path)
        except (OSError, Damaged, NotFound) as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                raise StorageFault(
                    f"the disk is full: {len(self._paths)} of what differed is restored, {path!r} and what comes after "
                    "it is not; free some space and restore again"
                ) from error
            self.fail(each.path, why_not(error) if isinstance(error, OSError) else error)
            if each.old and each.old.kind == "folder":
                self._closed = each.path + b"/"

    def _remove(self, each: Difference) -> bool:
        with suppress(FileNotFoundError), self._above(each.path) as (folder, name):
            there = side(folder, name)
            if there is not None and not self._was_seen(there, each.new):
                raise OSError(errno.ESTALE, "it was changed just now")
            if there is not None and there.what == "folder":
                os.rmdir(name, dir_fd=folder)
                self._modes.pop(each.path, None)
            else:
                os.unlink(name, dir_fd=folder)
        return True

    def _put(self, each: Difference, target: Entry) -> bool:
        with self._above(each.path) as (folder, name):
            there, aside = side(folder, name), ""
            if there is not None and there.what == "folder" and not self._covers(each):
                return False  # it leads to what is wanted, and is not to be restored itself
            if there is not None and not self._was_seen(there, each.new):
                there, aside = None, f"stead-aside-{secrets.token_hex(8)}"
                os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            try:
                self._put_into(folder, name, there, each, target)
            except BaseException:
                if aside:
                    os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
                raise
            if aside:
                self.fail(each.path, f"it is put back; what stood there is now {aside!r}")
        return True

    def _put_into(self, folder: int, name: str, there: Side | None, each: Difference, target: Entry) -> None:
        if target.kind == "folder":
            if there is None:
                make_folder(folder, name, 0o700)
            self._modes[each.path] = target.mode
        elif there is not None and each.new is not None and (each.new.kind, each.new.ref) == (target.kind, target.ref):
            with regular(folder, os.fsencode(name)) as file:
                os.fchmod(file, target.mode)
        else:
            place(self._store, target, folder, name, there)

    def _was_seen(self, there: Side, seen: Entry | None) -> bool:
        """Whether an entry is what the comparison saw. The times of a folder say nothing: they are those of names."""
        touched_ns = min(there.status.st_ctime_ns, there.status.st_mtime_ns)
        return seen is not None and there.what == seen.kind and (seen.kind == "folder" or touched_ns < self._began_ns)

    @contextmanager
    def _above(self, path: bytes) -> Iterator[tuple[int, str]]:
        """The folder that a path is in, writable for now, and the path's last name."""
        with opened_above(self._top, os.fsdecode(path)) as (folder, name):
            status = os.fstat(folder)
            if status.st_dev != self._device:
                raise OSError(errno.EBUSY, MOUNTED)
            mode = stat.S_IMODE(status.st_mode)
            if mode & 0o700 != 0o700 and os.geteuid() != 0:
                os.fchmod(folder, mode | 0o700)
                self._modes.setdefault(path.rpartition(b"/")[0], mode & PERMISSIONS)
            yield folder, name

    def _set_modes(self) -> None:
        for path, mode in sorted(self._modes.items(), reverse=True):
            try:
                with opened_above(self._top, os.fsdecode(path) or ".") as (above, name), opened(name, above) as folder:
                    os.fchmod(folder, (os.fstat(folder).st_mode & 0o7000) | mode)
            except OSError as error:
                self.fail(path, why_not(error))


def place(store: ContentStore, target: Entry, folder: int, name: str, old: Side | None) -> None:
    """Put a kept file or link in the place of another, or where nothing is: whole, or not at all.

    Args:
        store: has its content.
        target: what it is.
        folder: descriptor of the folder that it comes into.
        name: that it gets.
        old: what it takes the place of; under a daemon that is root it gets that one's owner, else the folder's.

    Raises:
        NotFound, StorageFault: the store's.
        OSError: the folder's.
    """
    fresh = f".stead-{secrets.token_hex(8)}{UNFINISHED}"
    try:
        if target.kind == "link":
            os.symlink(target.ref, fresh, dir_fd=folder)
        else:
            with open(os.open(fresh, _CREATE, 0o600, dir_fd=folder), "wb") as file:
                file.writelines(store.read(target.ref))
                os.fchmod(file.fileno(), target.mode)
        _give(folder, fresh, old.status if old else None)
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise


def make_folder(folder: int, name: str, mode: int = 0o755) -> None:
    """Make a folder that belongs to whom the one above belongs to.

    Raises:
        OSError: it cannot be made.
    """
    os.mkdir(name, mode, dir_fd=folder)
    _give(folder, name)


def _give(folder: int, name: str, like: os.stat_result | None = None) -> None:
    """Have something belong to the owner of what it takes the place of, or of the folder that it is in."""
    if os.geteuid() == 0:
        owner = like or os.fstat(folder)
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)
