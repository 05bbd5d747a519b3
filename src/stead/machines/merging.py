"""Moving what one layer of an overlay changed into another.

Layer: machines. See ``layers`` for how hostile ones are walked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from stead.machines.classes import stays
from stead.machines.layers import (
    DEEPEST,
    FOLDER,
    OPAQUE,
    Side,
    below,
    copy_entry,
    entries,
    opened,
    opened_to_empty,
    remove,
    side,
)
from stead.machines.opening import open_own

Stamp = tuple[int, int, int, int]
OWN = "user.stead.own"
"""Marks a folder of the machine layer that is there as a whole."""


@dataclass
class Merge:
    """Moves what a layer changed into the pending layer, and what stays into the machine's.

    Args:
        pending: descriptor of the one.
        kept: of the other.
        folder: of the person's folder.
        copy: leave everything where it is, since a process may still be at work on it; what stays is then left alone.
        taken: by path, what was moved or copied before as it was then. It is passed over while it is as it was.
    """

    pending: int
    kept: int
    folder: int
    copy: bool
    taken: dict[str, Stamp]
    moved: list[str] = field(default_factory=list)
    """Paths of what is pending now."""
    stayed: int = 0

    def run(self, upper: int) -> None:
        """Move all that is in a layer."""
        self._walk(upper, self.pending, self.folder, self.kept, "", 0)

    def _walk(self, src: int, dst: int, lower: int | None, kept: int | None, above: str, depth: int) -> None:
        for entry in entries(src):
            path = above + entry.name
            new = Side(src, entry.name, entry.stat(follow_symlinks=False))
            own = side(kept, entry.name) if kept is not None else None
            if self.copy and depth == DEEPEST:
                continue  # it is refused at the end, as a whole
            if stays(new, side(lower, entry.name) if lower is not None else None) or (own and own.attribute(OWN)):
                if not self.copy:
                    self._stay(new, above)
                continue
            if new.what == "folder" and not new.is_whiteout() and depth < DEEPEST and not new.is_foreign():
                self._folder(new, dst, lower, kept, path, depth)
                continue
            stamp = (new.status.st_ino, new.status.st_ctime_ns, new.status.st_size, new.status.st_mode)
            if self.taken.get(path) == stamp:
                continue
            self.taken[path] = stamp
            if own:  # it takes the place of what the machine alone had
                remove(own.folder, entry.name)
            self.moved.append(path)
            if new.is_whiteout() and (lower is None or side(lower, entry.name) is None):
                remove(dst, entry.name)
                if not self.copy:
                    os.unlink(entry.name, dir_fd=src)
                continue
            self._into(new, dst)

    def _stay(self, new: Side, above: str) -> None:
        self.stayed += 1
        with _way(self.kept, above, new.folder, self.folder) as into:
            self._into(new, into)
            made = side(into, new.name)
            if made is not None and made.what == "folder":
                with opened(new.name, into) as folder:
                    os.setxattr(folder, OWN, b"1")

    def _folder(self, new: Side, dst: int, lower: int | None, kept: int | None, path: str, depth: int) -> None:
        there = side(dst, new.name)
        covers = there is not None and there.is_whiteout()
        if there is not None and (there.what != "folder" or new.is_opaque()):
            remove(dst, new.name)
            there = None
        if new.is_opaque() and kept is not None:
            remove(kept, new.name)
        if there is None:
            os.mkdir(new.name, 0o700, dir_fd=dst)
        with (
            opened(new.name, new.folder) if self.copy else opened_to_empty(new) as source,
            opened(new.name, dst) as target,
        ):
            if there is None and os.geteuid() == 0:
                os.fchown(target, new.status.st_uid, new.status.st_gid)
            os.fchmod(target, new.mode & 0o777 | 0o700)
            if there is None and (covers or new.is_opaque()):
                os.setxattr(target, OPAQUE, b"y")
            if there is None:
                self.moved.append(path)
            with below(lower, new.name) as under, below(kept, new.name) as machine:
                self._walk(source, target, under, machine, path + "/", depth + 1)

    def _into(self, new: Side, dst: int) -> None:
        """Put an entry, with all that is in it, into a folder of another layer."""
        there = side(dst, new.name)
        both = there is not None and there.what == "folder" and new.what == "folder"
        if both and not new.is_opaque() and not new.is_whiteout():
            with opened_to_empty(new) as source, opened(new.name, dst) as target:
                for entry in entries(source):
                    self._into(Side(source, entry.name, entry.stat(follow_symlinks=False)), target)
            return
        if there is not None and "folder" in (there.what, new.what):
            remove(dst, new.name)
        if self.copy:
            remove(dst, new.name)
            copy_entry(new, dst, new.name)
        elif new.what == "folder":
            with opened_to_empty(new) as moved:  # one that may not be written may not be moved elsewhere
                os.rename(new.name, new.name, src_dir_fd=new.folder, dst_dir_fd=dst)
                os.fchmod(moved, new.mode)
        else:
            os.rename(new.name, new.name, src_dir_fd=new.folder, dst_dir_fd=dst)


@contextmanager
def _way(top: int, above: str, like: int, lower: int) -> Iterator[int]:
    """The folder at a path that ends in a slash, made if need be, with its permissions in the person's folder.

    Its owner, and its permissions where the person has none, are those of another one.
    """
    at = os.dup(top)
    try:
        parts = above.split("/")[:-1]
        for number, part in enumerate(parts, 1):
            found = side(at, part)
            if found is not None and found.what != "folder":
                remove(at, part)
                found = None
            if found is None:
                os.mkdir(part, 0o700, dir_fd=at)
                status = os.fstat(like)
                if os.geteuid() == 0:
                    os.chown(part, status.st_uid, status.st_gid, dir_fd=at, follow_symlinks=False)
                with suppress(OSError):
                    status = os.stat("/".join(parts[:number]), dir_fd=lower, follow_symlinks=False)
                os.chmod(part, status.st_mode & 0o777 | 0o700, dir_fd=at)
            below = open_own(part, FOLDER, at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)
