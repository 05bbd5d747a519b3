"""A copy of the folder for each transaction, where the kernel or a file system lets no overlay be laid over it.

Layer: machines. A machine sees the copy at ``/work`` and changes it as it likes. A manifest, out of every machine's
reach, says of each entry how its source looked when it was copied, and how the copy looked then. What differs from that
when the transaction is taken up goes to its ``upper``, in the form that an overlay leaves, and lands like any other.

Copies are made here and not by the privileged process inside: so the manifest never lies where a machine could write
it, and what walks a machine's work is the code that landings are made of already. When its transaction is over, a copy
becomes the session's view, which serves whatever only reads, until the next transaction takes it over: so only what
changed is copied again. A process at work sees nothing of what changes in the folder meanwhile.

Copies have no extended attributes, and each name is a file of its own. Not shown are devices, pipes and sockets, files
that the daemon may not read, other file systems mounted in the folder, and what is nested deeper than ``DEEPEST``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stead.domain.errors import ToolFault
from stead.machines.layers import DEEPEST, Side, copy_entry, entries, opened, opened_to_empty, remove, side, whiteout
from stead.machines.sandbox import OUTSIDE_USER
from stead.machines.space import Space, remove_tree
from stead.machines.workspace import lock_of, locked_workspace

MOST_ENTRIES, MOST_BYTES = 50_000, 500 << 20
"""Of one copy; a larger folder is refused."""
_TOO_LARGE = (
    "the folder has to be copied for each call, as no overlay can be laid over it, and has more than {} MB or {:,} "
    "entries; choose a smaller one, or put it and Stead's home (STEAD_HOME) on ext4, xfs or btrfs"
)

_Look = list[int]
"""How an entry looks: inode, change time, modification time, size, mode; of a folder the mode alone; [] for none.

A program inside can set each of them but the change time, which is the kernel's.
"""
_Manifest = dict[str, dict[str, list[_Look]]]
"""By folder (relative, with a slash at its end; "" for the top) and name: how the source looked, and the copy."""


def lay(space: Space, job: str) -> None:
    """Give a transaction a copy of the folder as it is now, with what tools made and what is pending. Blocks.

    Args:
        space: the session's.
        job: the transaction; "" brings the view up to date.

    Raises:
        ToolFault: the folder is too large to be copied, or cannot be.
    """
    tree, manifest = _places(space, job)
    try:
        with (
            locked_workspace(space.directory) as folder,
            opened(str(space.pending)) as pending,
            opened(str(space.kept)) as kept,
        ):
            if job:
                for made in (space.jobs / job, space.jobs / job / "upper"):
                    made.mkdir(mode=0o700)
                    if os.geteuid() == 0:
                        os.chown(made, OUTSIDE_USER, OUTSIDE_USER)
                _hand_over(space, "", job)
            tree.mkdir(mode=0o700, exist_ok=True)
            update = _Update(json.loads(manifest.read_bytes()) if manifest.exists() else {}, os.fstat(folder))
            manifest.unlink(missing_ok=True)  # a copy that is half up to date must not count as changed
            with opened(str(tree)) as copy:
                update.folder([pending, kept, folder], copy, "", 0, update.top)
            _save(manifest, update.made)
    except OSError as error:
        raise ToolFault("the folder could not be copied for this call ({}); try again", error) from error


def collect(space: Space, job: str, *, live: bool) -> bool:
    """Put what a transaction changed in its copy since the last time into its ``upper``; false when it has no copy.

    Args:
        space: the session's.
        job: the transaction.
        live: a process may still be at work in the copy, so what changed is copied out of it, and moved else.
    """
    tree, manifest = _places(space, job)
    if not manifest.exists():
        return False
    differences = _Differences(json.loads(manifest.read_bytes()), live)
    with opened(str(tree)) as copy, opened(str(tree.with_name("upper"))) as upper:
        differences.folder(copy, upper, "", 0)
    _save(manifest, differences.left)  # now it is collected; before, a new try does it again
    return True


def give_back(space: Space, job: str) -> None:
    """Make the copy of a transaction that is over the session's view, if it has none."""
    _hand_over(space, job, "")
    _places(space, job)[1].unlink(missing_ok=True)


def forget_view(space: Space) -> None:
    """Remove the session's view. None of its machines may be at work."""
    with lock_of(space.directory):
        tree, manifest = _places(space, "")
        manifest.unlink(missing_ok=True)
        remove_tree(str(tree))


def _places(space: Space, job: str) -> tuple[Path, Path]:
    """Of a copy, and of its manifest."""
    copies = space.root / "copies"
    return (space.jobs / job / "tree", copies / job) if job else (space.layers / "view", copies / "view")


def _hand_over(space: Space, giver: str, taker: str) -> None:
    given, taken = _places(space, giver), _places(space, taker)
    if given[1].exists() and not taken[0].exists():
        given[1].rename(taken[1])
        given[0].rename(taken[0])


def _save(file: Path, manifest: _Manifest) -> None:
    file.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(manifest))  # names that are no UTF-8 too, as ASCII
    fresh.replace(file)


@contextmanager
def _made(name: str, above: int) -> Iterator[int]:
    """A descriptor of a folder, which is made if something else is there, or nothing."""
    there = side(above, name)
    if there is None or there.what != "folder":
        remove(above, name)
        os.mkdir(name, 0o700, dir_fd=above)
    with opened(name, above) as fd:
        yield fd


def _sides(folder: int) -> list[Side]:
    return [one for entry in entries(folder) if (one := side(folder, entry.name))]  # or it went away just now


def _look(entry: Side | None) -> _Look:
    if entry is None:
        return []
    status = entry.status
    if entry.what == "folder":
        return [status.st_mode]
    return [status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_mode]


@dataclass
class _Update:
    """Makes a copy show what its sources show.

    Args:
        old: its manifest.
        top: status of the person's folder.
    """

    old: _Manifest
    top: os.stat_result
    made: _Manifest = field(default_factory=dict)
    count: int = 0
    size: int = 0

    def folder(self, sources: list[int], tree: int, path: str, depth: int, status: os.stat_result) -> None:
        """One folder, given descriptors of its sources, the uppermost first, and of the copy, and that one's status."""
        known, rows = self.old.get(path, {}), self.made.setdefault(path, {})
        os.fchmod(tree, 0o700)
        copies = {one.name: one for one in _sides(tree)}
        found: dict[str, list[Side]] = {}
        for one in (one for source in sources for one in _sides(source)):
            found.setdefault(one.name, []).append(one)
        for name, sides in found.items():
            shown = _uncovered(sides)
            if not shown:
                continue
            self._count(shown[0])
            if shown[0].what == "folder":
                self._folder(shown, tree, path + name, depth)
            elif [_look(shown[0]), _look(copies.get(name))] != known.get(name):
                self._copy(shown[0], tree)
            if (made := side(tree, name)) is not None:
                rows[name] = [_look(shown[0]), _look(made)]
        for name in copies.keys() - rows.keys():
            remove(tree, name)
        if os.geteuid() == 0:
            os.fchown(tree, *self._owner(status))
        os.fchmod(tree, status.st_mode & 0o777)

    def _count(self, source: Side) -> None:
        self.count += 1
        self.size += source.status.st_blocks * 512
        if self.count > MOST_ENTRIES or self.size > MOST_BYTES:
            raise ToolFault(_TOO_LARGE, MOST_BYTES >> 20, MOST_ENTRIES)

    def _folder(self, shown: list[Side], tree: int, path: str, depth: int) -> None:
        name = shown[0].name
        entered = [one for one in shown if depth < DEEPEST and _may_enter(one)]
        with ExitStack() as closing, _made(name, tree) as below:
            sources = [closing.enter_context(opened(name, one.folder)) for one in entered]
            self.folder(sources, below, path + "/", depth + 1, shown[0].status)

    def _copy(self, source: Side, tree: int) -> None:
        remove(tree, source.name)
        with suppress(FileNotFoundError, PermissionError):  # it went away just now, or only another user may read it
            copy_entry(source, tree, source.name)
            times = source.status.st_atime_ns, source.status.st_mtime_ns
            os.utime(source.name, ns=times, dir_fd=tree, follow_symlinks=False)
            if os.geteuid() == 0:
                os.chown(source.name, *self._owner(source.status), dir_fd=tree, follow_symlinks=False)

    def _owner(self, source: os.stat_result) -> tuple[int, int]:
        """As ``idmap`` shows the folder: what is its owner's belongs to the machine's user."""
        uid, gid = source.st_uid, source.st_gid
        return OUTSIDE_USER if uid == self.top.st_uid else uid, OUTSIDE_USER if gid == self.top.st_gid else gid


def _uncovered(sides: list[Side]) -> list[Side]:
    """What shows of entries of one name, the uppermost first: one, or the folders that are merged; none if deleted."""
    if sides[0].is_whiteout() or sides[0].what == "special":
        return []
    shown = sides[:1]
    for one in sides[1:]:
        if shown[-1].what != "folder" or one.what != "folder" or shown[-1].is_opaque():
            break
        shown.append(one)
    return shown


def _may_enter(one: Side) -> bool:
    mounted = one.status.st_dev != os.fstat(one.folder).st_dev
    return not mounted and os.access(one.name, os.R_OK | os.X_OK, dir_fd=one.folder)


@dataclass
class _Differences:
    """Puts what differs from a copy's manifest into a layer.

    Args:
        old: the manifest.
        live: see ``collect``.
    """

    old: _Manifest
    live: bool
    left: _Manifest = field(default_factory=dict)
    """What the copy still holds: as it was, or collected."""

    def folder(self, tree: int, upper: int, path: str, depth: int) -> None:
        """One folder, given descriptors of the copy and of the layer."""
        known, rows = self.old.get(path, {}), self.left.setdefault(path, {})
        found = _sides(tree)
        for new in found:
            (source, before), look = known.get(new.name, ([], [])), _look(new)
            if new.what == "folder":
                self._folder(new, upper, path + new.name, depth, is_same=look == before)
            elif look != before:
                remove(upper, new.name)
                if not self.live:
                    os.rename(new.name, new.name, src_dir_fd=tree, dst_dir_fd=upper)
                    continue
                copy_entry(new, upper, new.name)
            rows[new.name] = [source, look]
        for name in known.keys() - {new.name for new in found}:
            if side(upper, name) is None:  # else it was moved there by a try that was cut off
                whiteout(upper, name)

    def _folder(self, new: Side, upper: int, path: str, depth: int, *, is_same: bool) -> None:
        opening = opened(new.name, new.folder) if self.live else opened_to_empty(new)
        with opening as tree, _made(new.name, upper) as layer:
            if depth < DEEPEST:  # else the landing refuses it, as a whole
                self.folder(tree, layer, path + "/", depth + 1)
            if os.geteuid() == 0:
                os.fchown(layer, new.status.st_uid, new.status.st_gid)
            os.fchmod(layer, new.mode & 0o777)
            is_needed = not is_same or os.listdir(layer)
        if not is_needed:
            os.rmdir(new.name, dir_fd=upper)
