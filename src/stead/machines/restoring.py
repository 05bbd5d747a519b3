"""Making a person's folder what it was.

Layer: machines. Another session's machine may be at work in the folder and swap what it can, at any moment: every step
goes through descriptors of folders that were opened without following a link, so whatever it does, nothing outside of
the folder is read or written. A file is written whole under another name and then renamed. What is left out of
checkpoints was never kept, so it is not removed; where the tree has something else at its place, it is moved aside.

Nothing waits for the disk here: what is restored is kept in the store and can be restored again.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace

from stead.domain.checkpoints import LeftOut, Restored
from stead.domain.errors import NotFound, StorageFault
from stead.machines import left_out
from stead.machines.layers import opened
from stead.machines.left_out import shown
from stead.machines.scanning import PERMISSIONS, look, opened_top, why_not
from stead.machines.writing import content_of, link, make_folder, regular, replacing, status_of, write
from stead.storage.contents import ContentStore, Seen, SeenFolder
from stead.storage.database import Damaged
from stead.storage.trees import Entry

_SHOWN = 100
_FULL = (errno.ENOSPC, errno.EDQUOT)


class _Stays(Exception):
    """An entry stays as it is, and why."""


class _NeverKept(_Stays):
    """Because no checkpoint holds what is there; no fault where nothing else was to be there."""


class _InTheWay(_NeverKept):
    """Likewise; but it is moved aside where something else was."""


@dataclass
class _Here:
    """An open folder that is being worked on.

    Args:
        fd: its descriptor.
        above: its path, with a slash at the end; "" is the top.
        depth: folders above it.
        files: what is known of its files.
        mode: that it had when it was opened.
    """

    fd: int
    above: str
    depth: int
    files: Seen
    mode: int = 0


@dataclass
class _Item:
    """A name in it: what is there now, and what is to be."""

    here: _Here
    name: bytes
    path: str
    now: os.stat_result | None
    target: Entry | None


class Restoring:
    """One restore.

    Args:
        store: what the trees are in.
        seen: what is known of the folder's files, so that they need not be read to be compared.
        rules: what is left out.
        paths: what is to be restored, with what is below; none for everything.
    """

    def __init__(
        self, store: ContentStore, seen: Mapping[bytes, SeenFolder], rules: left_out.Rules, paths: Sequence[str] = ()
    ) -> None:
        self._store = store
        self._seen = seen
        self._rules = rules
        self._wanted = [shown(path) for path in paths]
        self._device = 0
        self._changed = 0
        self._paths: list[str] = []
        self._failed: list[LeftOut] = []

    def run(self, directory: str, root: bytes) -> Restored:
        """Do it.

        Raises:
            NotFound: there is no such tree, or no such path on either side.
            InvalidRequest: the folder is not there.
            StorageFault: the disk is full, or the tree is damaged.
        """
        entries = self._below(root)
        with opened_top(directory) as top:
            self._device = os.fstat(top).st_dev
            for path in self._wanted:
                if not self._exists(entries, top, path.split("/")):
                    raise NotFound(f"there is no {path!r}, neither in the checkpoint nor in the folder")
            self._fill(self._here(top, "", 0), entries)
        return Restored(self._changed, tuple(self._paths), tuple(self._failed))

    def _exists(self, entries: Mapping[bytes, Entry], folder: int | None, parts: list[str]) -> bool:
        """Whether a path, given as it is shown, is in the tree or in the folder."""
        ours = next((entry for name, entry in entries.items() if shown(os.fsdecode(name)) == parts[0]), None)
        name = None if folder is None else next((name for name in os.listdir(folder) if shown(name) == parts[0]), None)
        if len(parts) == 1:
            return ours is not None or name is not None
        below = self._below(ours.ref) if ours and ours.kind == "folder" else {}
        try:
            if name is not None:
                with opened(name, folder) as inner:
                    return self._exists(below, inner, parts[1:])
        except OSError:
            pass  # no folder: then the tree alone can have it
        return bool(below) and self._exists(below, None, parts[1:])

    def _reach(self, path: str) -> str:
        """Whether a path is to be restored ("whole"), only leads to one that is ("way"), or neither ("")."""
        if not self._wanted:
            return "whole"
        path = shown(path)
        if any(path == wanted or path.startswith(wanted + "/") for wanted in self._wanted):
            return "whole"
        return "way" if any(wanted.startswith(path + "/") for wanted in self._wanted) else ""

    def _here(self, fd: int, above: str, depth: int) -> _Here:
        known = self._seen.get(os.fsencode(above))
        return _Here(fd, above, depth, known.files if known else {}, stat.S_IMODE(os.fstat(fd).st_mode))

    def _below(self, tree: bytes) -> dict[bytes, Entry]:
        return {entry.name: entry for entry in self._store.tree(tree)} if tree else {}

    def _fill(self, here: _Here, target: Mapping[bytes, Entry]) -> None:
        """Make an open folder what it was."""
        for name in sorted({*map(os.fsencode, os.listdir(here.fd)), *target}):
            path = here.above + os.fsdecode(name)
            if not (reach := self._reach(path)):
                continue
            try:
                item = _Item(here, name, path, status_of(here.fd, name), target.get(name))
                if reach == "whole":
                    self._item_or_aside(item)
                else:
                    self._way(item)
            except _NeverKept as stays:
                if name in target:
                    self._fail(path, f"it is left out: {stays}")
            except _Stays as stays:
                self._fail(path, str(stays))
            except Damaged as damage:
                self._fail(path, str(damage))
            except OSError as error:
                if error.errno in _FULL:
                    raise StorageFault(
                        f"the disk is full: {self._changed} of what differed is restored, {shown(path)!r} and what "
                        "comes after it is as it was; free some space and restore again"
                    ) from error
                self._fail(path, why_not(error))

    def _way(self, item: _Item) -> None:
        """A folder that holds what is to be restored, and is itself not to be."""
        was_folder = item.target is not None and item.target.kind == "folder"
        below = self._below(item.target.ref) if item.target and was_folder else {}
        if why := self._rules.why(item.path, os.fsdecode(item.name), folder=True):
            raise _NeverKept(why)
        if item.now is None and item.target and was_folder:
            make_folder(item.here.fd, item.name, item.target.mode)
            self._note(item)
        elif item.now is None or not stat.S_ISDIR(item.now.st_mode):
            raise _Stays("there is no folder here now; restore this path itself")
        with self._entered(item) as inner:
            self._fill(inner, below)

    def _item_or_aside(self, item: _Item) -> None:
        try:
            self._item(item)
        except _InTheWay as way:
            if item.target is None or item.now is None:
                raise
            aside = f"stead-aside-{secrets.token_hex(8)}"
            os.rename(item.name, aside, src_dir_fd=item.here.fd, dst_dir_fd=item.here.fd)
            self._item(replace(item, now=None))
            self._fail(item.path, f"it is put back; what stood there is now {aside!r}, as it is not kept: {way}")

    def _item(self, item: _Item) -> None:
        name, now, target = os.fsdecode(item.name), item.now, item.target
        if left_out.is_unfinished(name) and now is not None:
            os.unlink(item.name, dir_fd=item.here.fd)
            return
        folder = stat.S_ISDIR(now.st_mode) if now else target is not None and target.kind == "folder"
        if why := self._rules.why(item.path, name, folder=folder):
            raise _NeverKept(why)
        if target is None and folder:
            with opened(name, item.here.fd) as here:
                if left_out.is_cache(here):
                    raise _NeverKept(left_out.ANEW)
        if now and (why := _never_kept(now)):
            raise _InTheWay(why)
        if now is None and target is None:
            return
        if target is None:
            self._remove(item)
        elif target.kind == "folder":
            self._as_folder(item, target)
        elif target.kind == "link":
            self._as_link(item, target)
        else:
            self._as_file(item, target)

    def _as_folder(self, item: _Item, target: Entry) -> None:
        below = self._below(target.ref)  # before anything is removed: it may be damaged
        fd, now = item.here.fd, item.now
        if now is not None and not stat.S_ISDIR(now.st_mode):
            _unlink(item, now)
            now = None
        if now is None:
            make_folder(fd, item.name, target.mode)
            self._note(item)
        with self._entered(item, target.mode) as inner:
            self._fill(inner, below)
            if inner.mode & PERMISSIONS != target.mode:
                self._note(item)

    def _as_link(self, item: _Item, target: Entry) -> None:
        fd, now = item.here.fd, item.now
        if now is not None and stat.S_ISLNK(now.st_mode) and os.readlink(item.name, dir_fd=fd) == target.ref:
            return
        with replacing(fd, item.name) as fresh:
            link(target.ref, fd, fresh)
            self._clear(item)
        self._note(item)

    def _as_file(self, item: _Item, target: Entry) -> None:
        fd, now = item.here.fd, item.now
        if now is not None and stat.S_ISREG(now.st_mode) and self._same(item, target, now):
            if now.st_mode & PERMISSIONS != target.mode:
                with _may_be_read(regular(fd, item.name)) as file:
                    os.fchmod(file, target.mode)
                self._note(item)
            return
        with replacing(fd, item.name) as fresh:
            write(self._store, target.ref, target.mode, fd, fresh, now)
            self._clear(item)
        self._note(item)

    def _same(self, item: _Item, target: Entry, now: os.stat_result) -> bool:
        """Whether a file holds what it is to hold."""
        known = item.here.files.get(item.name)
        if known is not None and known[:4] == look(now):
            return known[4] == target.ref
        if now.st_size != target.size:
            return False
        with _may_be_read(regular(item.here.fd, item.name)) as file:
            return content_of(self._store, file) == target.ref

    def _clear(self, item: _Item) -> None:
        """Make room for what is no folder; what was never kept stays in the way."""
        if item.now is not None and stat.S_ISDIR(item.now.st_mode):
            self._remove(item)
        elif item.now is not None and stat.S_ISREG(item.now.st_mode):
            _require_readable(item)

    def _remove(self, item: _Item) -> None:
        """Delete what was not there, but for what is left out and the folders above that."""
        if item.now is not None and not stat.S_ISDIR(item.now.st_mode):
            _unlink(item, item.now)
        else:
            with self._entered(item) as inner:
                self._fill(inner, {})
            try:
                os.rmdir(item.name, dir_fd=item.here.fd)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                raise (_InTheWay if item.target else _Stays)(
                    "it still holds what is left out of checkpoints"
                ) from error
        self._note(item)

    @contextmanager
    def _entered(self, item: _Item, mode: int | None = None) -> Iterator[_Here]:
        """A folder in this one, writable for now; it has this mode at the end, or the one that it had."""
        depth = item.here.depth + 1
        if depth > left_out.DEEPEST:
            raise _InTheWay(left_out.TOO_DEEP)
        with _may_be_read(opened(os.fsdecode(item.name), item.here.fd)) as fd:
            if os.fstat(fd).st_dev != self._device:
                raise _InTheWay(left_out.MOUNTED)
            inner = self._here(fd, item.path + "/", depth)
            if inner.mode & 0o700 != 0o700 and os.geteuid() != 0:
                os.fchmod(fd, inner.mode | 0o700)
            try:
                yield inner
            finally:
                final = inner.mode if mode is None else (inner.mode & 0o7000) | mode
                if stat.S_IMODE(os.fstat(fd).st_mode) != final:
                    os.fchmod(fd, final)

    def _note(self, item: _Item) -> None:
        self._changed += 1
        if len(self._paths) < _SHOWN:
            self._paths.append(shown(item.path))

    def _fail(self, path: str, why: str) -> None:
        if len(self._failed) < _SHOWN:
            self._failed.append(LeftOut(shown(path), why))


def _never_kept(now: os.stat_result) -> str:
    if stat.S_ISREG(now.st_mode):
        return left_out.TOO_LARGE if now.st_size > left_out.LARGEST_BYTES else ""
    return "" if stat.S_ISDIR(now.st_mode) or stat.S_ISLNK(now.st_mode) else left_out.SPECIAL


def _unlink(item: _Item, now: os.stat_result) -> None:
    if stat.S_ISREG(now.st_mode):
        _require_readable(item)
    os.unlink(item.name, dir_fd=item.here.fd)


def _require_readable(item: _Item) -> None:
    with _may_be_read(regular(item.here.fd, item.name)):
        pass


@contextmanager
def _may_be_read(opening: AbstractContextManager[int]) -> Iterator[int]:
    """What may not be read was never kept, so it is not lost either."""
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(opening)
        except PermissionError as error:
            raise _InTheWay(why_not(error)) from error
        yield descriptor
