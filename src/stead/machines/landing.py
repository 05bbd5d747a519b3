"""Carrying what a machine changed over into the person's folder. Nothing else of Stead's writes there.

Layer: machines. What a transaction changed goes to the session's pending layer first, then all of that is judged
(``classes``), and what lands is moved into the folder: by descriptors of folders that were opened without following a
link, each file whole by a rename. Content, plain permissions and link targets are carried over, nothing else. Being cut
off at any step loses nothing: what was carried over no longer differs, the rest is still there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from stead.domain.trials import Barred, Held, Hold, Landing, unbarred
from stead.machines.classes import classes_of, stays
from stead.machines.copies import collect, give_back
from stead.machines.layers import (
    Delta,
    Deltas,
    Side,
    below,
    copy_entry,
    entries,
    opened,
    remove,
    side,
)
from stead.machines.left_out import UNFINISHED, shown
from stead.machines.merging import Merge, Stamp
from stead.machines.repositories import repository_parts
from stead.machines.space import Space
from stead.machines.workspace import locked_workspace, opened_above

_MOST_TOLD = 500
_MOST_STAMPS = 100_000


_LIBC = ctypes.CDLL(None, use_errno=True)
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
Jobs = Mapping[str, dict[str, Stamp]]
"""Transactions by name, and what was taken up of each before; see ``Merge.taken``."""


def land(
    space: Space,
    jobs: Jobs,
    hold: Hold,
    *,
    live: Collection[str] = (),
    dropped: Collection[str] = (),
    barred: Barred = unbarred,
    alone: bool = False,
) -> Landing:
    """Take up what transactions changed. Blocks; one landing at a time in each folder.

    Args:
        space: the session's.
        jobs: what is taken up now; one that made no change may be missing.
        hold: what waits for the person.
        live: those of them in which a process may still be at work; they stay as they are and are taken up again.
        dropped: those of them of which nothing counts.
        barred: what waits besides.
        alone: nothing else of Stead's is at work; what a landing left in the folder that was cut off is removed.

    Raises:
        OSError: the person's folder, or a layer, cannot be opened.
        StorageFault: what is written down about the changes cannot be read.
    """
    with (
        locked_workspace(space.directory) as folder,
        opened(str(space.pending)) as pending,
    ):
        first = not os.listdir(pending)
        moved, stayed = _take_up(
            space, {job: taken for job, taken in jobs.items() if job not in dropped}, live, pending, folder
        )
        landing = Landing()
        if moved or os.listdir(pending):
            landing = _Work(space, folder, pending, moved, first).run(hold, barred, alone)
        with opened(str(space.jobs)) as left:
            for job in jobs:
                if job not in live:
                    give_back(space, job)
                    remove(left, job)
    return replace(landing, stayed=stayed, open=bool(live))


def _take_up(space: Space, jobs: Jobs, live: Collection[str], pending: int, folder: int) -> tuple[dict[str, int], int]:
    """Move what changed to the pending layer; gives since when its paths changed, and how much stays in the machine."""
    moved: dict[str, int] = {}
    stayed = 0
    with opened(str(space.kept)) as kept:
        for job, taken in jobs.items():
            upper = space.jobs / job / "upper"
            if not upper.exists():
                continue
            began = os.stat(space.jobs / job).st_mtime_ns
            copied = collect(space, job, live=job in live)
            merge = Merge(pending, kept, folder, stays, job in live and not copied, {} if copied else taken)
            with opened(str(upper)) as source:
                merge.run(source)
                for empty in entries(source) if copied else ():
                    remove(source, empty.name)
            moved.update(dict.fromkeys(merge.moved, began))
            stayed += merge.stayed
    return moved, stayed


def carry_over(space: Space, paths: Collection[str]) -> tuple[tuple[str, ...], tuple[Held, ...]]:
    """Carry over changes that wait, whatever their class; gives the paths that the folder now has, and what failed.

    Args:
        space: the session's; no machine may be at work in it.
        paths: of changes.

    Raises:
        OSError: as ``land``.
    """
    with (
        locked_workspace(space.directory) as folder,
        opened(str(space.pending)) as pending,
    ):
        work = _Work(space, folder, pending, {})
        deltas = Deltas(repository_parts)
        deltas.walk(pending, folder, "", 0, opaque=False, obeyed=False)
        chosen = [
            delta
            for delta in deltas.found
            if not delta.bad
            and (
                delta.path in paths
                or (_is_new_folder(delta) and any(path.startswith(delta.path + "/") for path in paths))
            )
        ]
        failed = []
        for delta in _in_order(chosen):
            work.failed = ""
            work.carry(delta)
            if work.failed:
                failed.append(Held(delta.path, f"{work.failed}; it is as it was"))
        for path in deltas.equal:
            work.forget(path)
        space.note(work.stamps, whole=space.whole, empty=_tidy(pending, folder))
        return tuple(path for path in (one.rstrip("/") for one in work.landed) if path in paths), tuple(failed)


def _in_order(deltas: Sequence[Delta]) -> list[Delta]:
    """What goes first, from the deepest; then what comes."""
    gone = sorted((delta for delta in deltas if delta.kind == "deleted"), key=lambda one: one.path, reverse=True)
    return [*gone, *(delta for delta in deltas if delta.kind != "deleted")]


def _is_new_folder(delta: Delta) -> bool:
    return delta.what == "folder" and delta.kind == "added"


@dataclass
class _Work:
    """One landing. ``folder`` and ``pending`` are descriptors of the person's folder and of the layer.

    ``first``: nothing was pending before it.
    """

    space: Space
    folder: int
    pending: int
    moved: dict[str, int]
    first: bool = False
    landed: list[str] = field(default_factory=list)
    runnable: list[str] = field(default_factory=list)
    stamps: dict[str, int] = field(default_factory=dict)
    failed: str = ""

    def __post_init__(self) -> None:
        owner = os.fstat(self.folder)
        self._owner = (owner.st_uid, owner.st_gid) if os.geteuid() == 0 else None
        self._before_ns, self._applied = self.space.began_ns, self.space.applied
        self.ours = _landed.setdefault(self.space.directory, {})
        if len(self.ours) > _MOST_STAMPS:
            self.ours.clear()

    def run(self, hold: Hold, barred: Barred, alone: bool) -> Landing:
        """Judge all that is pending, and carry over what lands."""
        deltas = Deltas(repository_parts)
        deltas.walk(self.pending, self.folder, "", 0, opaque=False, obeyed=False)
        for path in deltas.cut_off if alone else ():
            with opened_above(self.folder, path) as (above, name):
                os.unlink(name, dir_fd=above)
        whole = hold == "all" or self.space.whole
        classes = classes_of(
            self.space, self.pending, self.folder, deltas, hold=whole, barred=barred, conflicts=self._conflicts
        )
        judged = classes.all(deltas.found)
        gone = {delta.path for delta in deltas.found if delta.kind == "deleted"}
        for delta in _in_order([delta for delta, decided, _ in judged if decided == "lands"]):
            self.carry(delta)
        refused = [(delta, why) for delta, decided, why in judged if decided == "refused"]
        dropped = [delta.path for delta, decided, _ in judged if decided == "dropped"]
        for path in [*(delta.path for delta, _ in refused), *dropped, *deltas.equal]:
            self.forget(path)
        ways = {above for delta in deltas.found for above in _above(delta.path)}
        held = [
            (delta, why)
            for delta, decided, why in judged
            if decided == "held" and not (_is_new_folder(delta) and delta.path in ways)
        ]
        empty = _tidy(self.pending, self.folder)
        began_ns = min(self.moved.values(), default=0) if self.first else 0
        self.space.note(self.stamps, whole=whole, empty=empty, began_ns=began_ns)
        return Landing(
            landed=tuple(self.landed[:_MOST_TOLD]),
            removed=tuple(path for path in self.landed if path.rstrip("/") in gone)[:_MOST_TOLD],
            count=len(self.landed),
            runnable=tuple(self.runnable[:_MOST_TOLD]),
            held=tuple(Held(shown(one.path), why) for one, why in held if self._is_new(one.path))[:_MOST_TOLD],
            holding=len(held),
            refused=tuple(Held(shown(one.path), why) for one, why in refused)[:_MOST_TOLD],
            failed=self.failed,
        )

    def _is_new(self, path: str) -> bool:
        """Whether this landing brought the change."""
        return self._began(path) > 0

    def _began(self, path: str) -> int:
        """When what this landing brought of a path was begun; 0 when it brought nothing."""
        parts = path.split("/")
        return max(self.moved.get("/".join(parts[:at]), 0) for at in range(1, len(parts) + 1))

    def _conflicts(self, delta: Delta) -> bool:
        """Whether the person's own file changed since the change was begun, otherwise than by a landing."""
        old = delta.old
        if old is None or delta.what == "folder":
            return False
        began = self._began(delta.path) or self._before_ns
        ours = self.ours.get(delta.path) or self._applied.get(delta.path)
        return old.st_ctime_ns > began and ours != old.st_ctime_ns

    def carry(self, delta: Delta) -> None:
        """Put one into the folder, or write down why not."""
        try:
            with opened_above(self.folder, delta.path) as (into, name):
                if delta.kind == "deleted":
                    self._delete(delta, into, name)
                else:
                    with opened_above(self.pending, delta.path) as (source, same_name):
                        self._put(delta, into, name, source, same_name)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT) or delta.kind != "deleted":
                self.failed = self.failed or f"{shown(delta.path)!r}: {error.strerror}"
                return
        self.landed.append(delta.path + "/" * (delta.what == "folder"))

    def _delete(self, delta: Delta, into: int, name: str) -> None:
        if delta.what == "folder":
            os.rmdir(name, dir_fd=into)
        else:
            os.unlink(name, dir_fd=into)

    def _put(self, delta: Delta, into: int, name: str, source: int, same_name: str) -> None:
        new = side(source, same_name)
        if new is None or new.what != delta.what:
            raise OSError(errno.ESTALE, "it changed just now")
        if delta.what == "folder":
            self._folder(delta, into, name, new.mode & 0o777)
            return
        self._copy(new, into, name, delta.old)
        status = os.stat(name, dir_fd=into, follow_symlinks=False)
        self.stamps[delta.path] = self.ours[delta.path] = status.st_ctime_ns
        ran = delta.old is not None and delta.old.st_mode & 0o111
        if delta.what == "file" and new.mode & 0o111 and not ran:
            self.runnable.append(delta.path)

    def _copy(self, new: Side, into: int, name: str, old: os.stat_result | None) -> None:
        """Put a copy in. The layer's own file never: a process inside may have it open, and would write the person's.

        A plain rename over a file makes some file systems write the new one's data first, and free the older one's,
        which takes milliseconds; so the two are swapped, and the older one is put away.
        """
        temporary = f".stead-{secrets.token_hex(8)}{UNFINISHED}"
        copy_entry(new, into, temporary)
        try:
            if self._owner:
                os.chown(temporary, *self._owner, dir_fd=into, follow_symlinks=False)
            if old is None or not _moved(into, temporary, name, _RENAME_EXCHANGE):
                if old is not None or not _moved(into, temporary, name, _RENAME_NOREPLACE):
                    os.rename(temporary, name, src_dir_fd=into, dst_dir_fd=into)
            elif _look(os.stat(temporary, dir_fd=into, follow_symlinks=False)) != _look(old):
                _moved(into, temporary, name, _RENAME_EXCHANGE)
                raise OSError(errno.ESTALE, "you changed yours just now")
            else:
                try:
                    os.rename(temporary, self.space.away / secrets.token_hex(8), src_dir_fd=into)
                except OSError:  # another file system
                    os.unlink(temporary, dir_fd=into)
        except OSError:
            remove(into, temporary)
            raise
        os.unlink(new.name, dir_fd=new.folder)

    def _folder(self, delta: Delta, into: int, name: str, mode: int) -> None:
        if delta.kind == "added":
            os.mkdir(name, 0o700, dir_fd=into)
        with opened(name, into) as made:
            if self._owner and delta.kind == "added":
                os.fchown(made, *self._owner)
            os.fchmod(made, mode)

    def forget(self, path: str) -> None:
        """Take a change out of the layer."""
        with suppress(OSError), opened_above(self.pending, path) as (above, name):
            remove(above, name)


def _look(status: os.stat_result) -> tuple[int, int, int]:
    """What tells that a file is the one that was judged."""
    return status.st_ino, status.st_mtime_ns, status.st_size


def _moved(folder: int, one: str, other: str, how: int) -> bool:
    """Swap two entries at once, or move one to where nothing is; false where the file system cannot."""
    if _LIBC.renameat2(folder, os.fsencode(one), folder, os.fsencode(other), how) == 0:
        return True
    error = ctypes.get_errno()
    if error in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(error, os.strerror(error))


_landed: dict[str, dict[str, int]] = {}
"""By folder, paths that were carried over since the daemon started, and the stamp that each got."""


def _above(path: str) -> list[str]:
    """The folders that a path lies in."""
    return [path[:at] for at, letter in enumerate(path) if letter == "/"]


def _tidy(layer: int, folder: int | None) -> bool:
    """Take out of a layer what says nothing any more; true when nothing is left of it."""
    left = 0
    for entry in entries(layer):
        new = Side(layer, entry.name, entry.stat(follow_symlinks=False))
        old = side(folder, entry.name) if folder is not None else None
        if new.is_whiteout():
            if old is None:
                os.unlink(entry.name, dir_fd=layer)
                continue
        elif new.what == "folder" and not new.is_foreign():
            with opened(entry.name, layer) as inner, below(folder, entry.name) as under:
                empty = _tidy(inner, under)
                same = under is not None and os.fstat(under).st_mode & 0o777 == new.mode & 0o777
                bare = under is not None and (not new.is_opaque() or not os.listdir(under))
            if empty and same and bare:
                os.rmdir(entry.name, dir_fd=layer)
                continue
        left += 1
    return left == 0
