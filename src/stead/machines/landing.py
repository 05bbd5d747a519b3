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
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from stead.domain.trials import Barred, Held, Hold, Landing, Stay, unbarred
from stead.machines.classes import GIT_ACTS, LEADS_OUT, Classes, Pending, content, folders_above, in_git, opened_changes
from stead.machines.copies import collect, give_back
from stead.machines.git_texts import merged
from stead.machines.layers import (
    DEEPEST,
    Delta,
    Side,
    below,
    copy_entry,
    entries,
    opened,
    opened_to_empty,
    remove,
    side,
)
from stead.machines.left_out import UNFINISHED, shown
from stead.machines.merging import OWN, Merge, Stamp
from stead.machines.space import Noted, Space
from stead.machines.workspace import lock_of, opened_above, opened_workspace

_MOST_LISTED = 500
_MOST_STAMPS = 100_000
_CONFLICT = (
    "you changed it meanwhile, and the two cannot be merged; both are kept, and the review shows how they differ"
)
_JUST_NOW = "you changed yours just now"
_LIBC = ctypes.CDLL(None, use_errno=True)
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
Jobs = Mapping[str, dict[str, Stamp] | None]
"""Transactions by name, and what was taken up of each before (see ``Merge.taken``); None where nothing of it counts."""
Before = Callable[[str, str, int, int], bytes | None]
"""What a file held, given its folder, its path in there, and from when to when that may have been, in nanoseconds since
1970; None where it is not known."""


def unknown(_folder: str, _path: str, _since_ns: int, _until_ns: int) -> bytes | None:
    """Nothing is known of what files held."""
    return None


def land(
    space: Space,
    jobs: Jobs,
    hold: Hold,
    *,
    live: Collection[str] = (),
    barred: Barred = unbarred,
    before: Before = unknown,
    busy: bool = False,
    alone: bool = False,
) -> Landing:
    """Take up what transactions changed. Blocks; one landing at a time in each folder.

    Args:
        space: the session's.
        jobs: what is taken up now; one that made no change may be missing.
        hold: what waits for the person.
        live: those of them in which a process may still be at work; they stay as they are and are taken up again.
        barred: what waits as well.
        before: the version that two changes of one file are merged on.
        busy: another process of the session may be at work.
        alone: nothing else of Stead's is at work; what a landing left in the folder that was cut off is removed.

    Raises:
        OSError: the person's folder, or a layer, cannot be opened.
        StorageFault: what is written down about the changes cannot be read.
    """
    with lock_of(space.directory):
        if not (waited := bool(os.listdir(space.pending))):
            space.note(
                Noted(space.directory)
            )  # should the landing be cut off, what it took up is not taken for older than it is
        moved, stayed = _take_up(space, jobs, live)
        landing = Landing()
        if moved or waited:
            ended = [space.jobs / job for job in jobs if job not in live and (space.jobs / job).exists()]
            begins = (*moved.values(), *(job.stat().st_mtime_ns for job in ended))
            noted = space.noted()
            noted = replace(noted, began_ns=noted.began_ns or min(begins, default=0))
            with opened_changes(space, space.pending) as at:
                landing = _Work(at, noted, moved, before).run(hold, barred, busy=busy, alone=alone)
        with opened(str(space.jobs)) as left:
            for job in jobs:
                if job not in live:
                    give_back(space, job)
                    remove(left, job)
    return replace(landing, stayed=stayed, open=bool(live))


def _take_up(space: Space, jobs: Jobs, live: Collection[str]) -> tuple[dict[str, int], int]:
    """Move what changed to the pending layer; gives since when its paths changed, and how much stays in the machine."""
    moved: dict[str, int] = {}
    stayed = 0
    with (
        opened_workspace(space.directory) as folder,
        opened(str(space.pending)) as pending,
        opened(str(space.kept)) as kept,
    ):
        for job, taken in jobs.items():
            upper = space.jobs / job / "upper"
            if taken is None or not upper.exists():
                continue
            began = os.stat(space.jobs / job).st_mtime_ns
            copied = collect(space, job, live=job in live)
            merge = Merge(pending, kept, folder, job in live and not copied, {} if copied else taken)
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
    with lock_of(space.directory), opened_changes(space, space.pending) as at:
        work, chosen = _Work(at, space.noted()), set(paths)
        ways = {above for path in chosen for above in folders_above(path)}
        failed = work.carry_all(
            [one for one in at.deltas.found if not one.bad and (one.path in chosen or _is_way(one, ways))]
        )
        for path in at.deltas.equal:
            work.forget(path)
        work.note()
        return tuple(path for path in (one.rstrip("/") for one in work.landed) if path in chosen), failed


def bring_over(space: Space, path: str) -> tuple[Held, ...]:
    """Carry over what stays in the machine at a path, with all that is in it; gives what was not, and why.

    Args:
        space: the session's; no machine may be at work in it.
        path: of what ``machine_layer`` lists.

    Raises:
        OSError: as ``land``.
    """
    with lock_of(space.directory), opened_changes(space, space.kept) as at:
        inside = [one for one in at.deltas.found if f"{one.path}/".startswith(f"{path}/")]
        whys = {one.path: _why_not(at, one) for one in inside}
        ways = [one for one in at.deltas.found if _is_way(one, folders_above(path))]
        failed = _Work(at, Noted(space.directory)).carry_all([*ways, *(one for one in inside if not whys[one.path])])
        _tidy(at.layer, at.folder)
        return (*(Held(shown(one), why) for one, why in whys.items() if why), *failed)


def _why_not(at: Pending, delta: Delta) -> str:
    """Why a change is not carried over even when the person names it; "" when it is."""
    if delta.kind != "deleted" and delta.what == "link" and at.leads_out(delta.path):
        return LEADS_OUT
    return delta.bad or (GIT_ACTS if delta.obeyed or in_git(delta.path)[1] else "")


def machine_layer(space: Space) -> tuple[Stay, ...]:
    """What stays in the machine for a session's folder, in order of path.

    Raises:
        OSError: it cannot be read.
    """
    sizes: dict[str, list[int]] = {}

    def walk(folder: int, above: str, top: str, depth: int) -> None:
        for entry in entries(folder):
            found, path = Side(folder, entry.name, entry.stat(follow_symlinks=False)), above + entry.name
            if found.what == "folder" and depth < DEEPEST:
                with opened_to_empty(found) as inner:
                    walk(inner, path + "/", top or (path if found.attribute(OWN) else ""), depth + 1)
            elif not found.is_whiteout():
                sizes.setdefault(top or path, []).append(found.status.st_size)

    with opened(str(space.kept)) as kept:
        walk(kept, "", "", 0)
    return tuple(Stay(shown(path), len(each), sum(each)) for path, each in sizes.items())


def _is_way(delta: Delta, ways: Collection[str]) -> bool:
    """Whether it is a new folder that others lie in."""
    return delta.what == "folder" and delta.kind == "added" and delta.path in ways


@dataclass
class _Work:
    """One landing.

    Args:
        at: what waits.
        noted: of it.
        moved: since when what this landing brought changed, by path; see ``Merge.moved``.
        before: see ``land``.
    """

    at: Pending
    noted: Noted
    moved: dict[str, int] = field(default_factory=dict)
    before: Before = unknown
    landed: list[str] = field(default_factory=list)
    runnable: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    stamps: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        owner, space = os.fstat(self.at.folder), self.at.space
        self._owner = (owner.st_uid, owner.st_gid) if os.geteuid() == 0 else None
        self.ours = _landed.setdefault(space.directory, {})
        if len(self.ours) > _MOST_STAMPS:
            self.ours.clear()

    def run(self, hold: Hold, barred: Barred, *, busy: bool, alone: bool) -> Landing:
        """Judge all that is pending, and carry over what lands."""
        deltas = self.at.deltas
        for path in deltas.cut_off if alone else ():
            with opened_above(self.at.folder, path) as (above, name):
                os.unlink(name, dir_fd=above)
        for delta in deltas.found if busy else ():
            if delta.what == "file" and delta.new and in_git(delta.path)[1] and self._began(delta.path):
                self._replace(delta.path)
        whole = hold == "all" or self.noted.whole
        judged = Classes(self.at, self._conflict, whole, barred).all()
        gone = {delta.path for delta in deltas.found if delta.kind == "deleted"}
        failed = self.carry_all([delta for delta, decided, _ in judged if decided == "lands"])
        for path in [*(delta.path for delta, decided, _ in judged if decided in ("refused", "dropped")), *deltas.equal]:
            self.forget(path)
        ways = {above for delta in deltas.found for above in folders_above(delta.path)}
        held = [(delta, why) for delta, decided, why in judged if decided == "held" and not _is_way(delta, ways)]
        refused = [Held(shown(one.path), why) for one, decided, why in judged if decided == "refused"]
        self.note(whole=whole)
        return Landing(
            landed=tuple(self.landed[:_MOST_LISTED]),
            removed=tuple(path for path in self.landed if path.rstrip("/") in gone)[:_MOST_LISTED],
            count=len(self.landed),
            runnable=tuple(self.runnable[:_MOST_LISTED]),
            merged=tuple(path for path in self.merged if path in self.landed)[:_MOST_LISTED],
            held=tuple(Held(shown(one.path), why) for one, why in held if self._began(one.path))[:_MOST_LISTED],
            holding=len(held),
            refused=tuple(refused[:_MOST_LISTED]),
            failed=failed[0].why if failed else "",
        )

    def note(self, *, whole: bool = False) -> None:
        """Record the changes that still wait, and whether every change waits from now on."""
        space, old = self.at.space, self.noted
        left = Noted(space.directory, old.began_ns, old.applied | self.stamps, old.whole or whole)
        space.note(Noted(space.directory) if _tidy(self.at.layer, self.at.folder) else left)

    def _began(self, path: str) -> int:
        """When what this landing brought of a path was begun; 0 when it brought nothing."""
        return max(self.moved.get(one, 0) for one in (*folders_above(path), path))

    def _conflict(self, delta: Delta) -> str:
        """Why a change waits that the person's own file has become another since, otherwise than by a landing."""
        old = delta.old
        if old is None or delta.what == "folder":
            return ""
        began = self._began(delta.path) or self.noted.began_ns
        ours = self.ours.get(delta.path) or self.noted.applied.get(delta.path) or 0
        if old.st_ctime_ns <= began or ours == old.st_ctime_ns:
            return ""
        plain = delta.kind == "changed" and delta.what == "file" and not in_git(delta.path)[1]
        if not plain or delta.new is None or delta.new.st_mode != old.st_mode:
            return _CONFLICT
        base = self.before(self.at.space.directory, delta.path, ours, began)
        theirs = content(self.at.folder, delta.path)
        if base is None or len(theirs) != old.st_size:  # it is not known, or not to be read
            return _CONFLICT
        text = merged(content(self.at.layer, delta.path), base, theirs)
        if text is None:
            return _CONFLICT
        self._replace(delta.path, text)
        self.merged.append(delta.path)
        return ""

    def _replace(self, path: str, text: bytes | None = None) -> None:
        """Have a file of the layer be another one, with this text, or with the same content.

        A process of another call may have been passed a descriptor of the file that it was.
        """
        fresh = secrets.token_hex(8)
        with opened_above(self.at.layer, path) as (above, name), opened(str(self.at.space.jobs)) as folder:
            new = Side(above, name, os.stat(name, dir_fd=above, follow_symlinks=False))
            copy_entry(new, folder, fresh)
            if text is not None:
                os.chmod(fresh, 0o600, dir_fd=folder)
                with open(os.open(fresh, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW, dir_fd=folder), "wb") as file:
                    file.write(text)
                    os.fchmod(file.fileno(), new.mode & 0o777)
            os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=above)

    def carry_all(self, deltas: Sequence[Delta]) -> tuple[Held, ...]:
        """Put changes into the folder; gives what could not be, and why."""
        gone = sorted((one for one in deltas if one.kind == "deleted"), key=lambda one: one.path, reverse=True)
        coming = (one for one in deltas if one.kind != "deleted")
        return tuple(Held(one.path, why) for one in (*gone, *coming) if (why := self._carry(one)))

    def _carry(self, delta: Delta) -> str:
        """Put one into the folder; gives why not."""
        try:
            with opened_above(self.at.folder, delta.path) as (into, name):
                if delta.kind == "deleted":
                    self._delete(delta, into, name)
                else:
                    with opened_above(self.at.layer, delta.path) as (source, same_name):
                        self._put(delta, into, name, source, same_name)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT) or delta.kind != "deleted":
                return f"{shown(delta.path)!r}: {error.strerror}"
        self.landed.append(delta.path + "/" * (delta.what == "folder"))
        return ""

    def _delete(self, delta: Delta, into: int, name: str) -> None:
        if delta.what == "folder":
            os.rmdir(name, dir_fd=into)
        elif delta.old is not None and _look(os.stat(name, dir_fd=into, follow_symlinks=False)) != _look(delta.old):
            raise OSError(errno.ESTALE, _JUST_NOW)
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
        if delta.path not in self.merged:  # what still works on its own version has not seen the person's
            status = os.stat(name, dir_fd=into, follow_symlinks=False)
            self.stamps[delta.path] = self.ours[delta.path] = status.st_ctime_ns
        ran = delta.old is not None and delta.old.st_mode & 0o111
        if delta.what == "file" and new.mode & 0o111 and not ran:
            self.runnable.append(delta.path)

    def _copy(self, new: Side, into: int, name: str, old: os.stat_result | None) -> None:
        """Put a copy in. The layer's own file never: a process inside may have it open, and would write the person's.

        A plain rename over a file makes some file systems write the new one's data first, and free the older one's,
        which takes milliseconds; so the two are swapped, and the older one is deleted.
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
                raise OSError(errno.ESTALE, _JUST_NOW)
            else:
                try:
                    os.rename(temporary, self.at.space.away / secrets.token_hex(8), src_dir_fd=into)
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
        with suppress(OSError), opened_above(self.at.layer, path) as (above, name):
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


def _tidy(layer: int, folder: int | None) -> bool:
    """Remove from a layer what makes no difference any more; true when the layer is empty then."""
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
