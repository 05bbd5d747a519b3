"""Carrying changes on trial over into the person's folder.

Layer: machines. The trial is hostile, and another session's machine may be at work in the folder: every step goes
through descriptors of folders that were opened without following a link, each file is written whole under another name
and then renamed, and the look for conflicts is repeated right before that. Content, permissions and link targets are
carried over, nothing else. The trial itself is not touched, so being cut off in the middle loses nothing: what was
applied no longer differs.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

from stead.domain.errors import NotFound
from stead.domain.git import COMMITS
from stead.domain.trials import Applied, Change, Choice, Held
from stead.machines.changes import LEADS_OUT, REGULAR, changes, conflicts, is_whiteout, leads_out, opened, side
from stead.machines.opening import open_own
from stead.machines.protected import opened_above
from stead.machines.trial import TrialFolder
from stead.machines.workspace import opened_workspace

_BLOCK = 1 << 20
_LOOK = "look at the whole of it first (`stead trial diff ID --path PATH`)"
_CHANGED = "you changed yours since the trial began; --force replaces it"


def apply(trial: TrialFolder, choice: Choice) -> Applied:
    """Apply what is chosen and not held back. No machine may be at work on the trial.

    Who names ``.git`` takes over commits: git's objects, refs and index, and nothing there that it obeys.

    Raises:
        NotFound: a path is not among the changes.
        Conflict, OSError: as ``changes``.
    """
    found = changes(trial, seen=choice.seen)
    chosen = chosen_of(found, choice.paths)
    over = {"protected": choice.include_protected, "conflict": choice.force, "": True, "impossible": False}
    commits = any(path.strip("/").split("/")[0] == ".git" for path in choice.paths)
    let = [over[change.held] or (commits and _is_of_a_commit(change)) for change in chosen]
    held = [Held(change.path, change.why) for change, goes in zip(chosen, let, strict=True) if not goes]
    free = [change for change, goes in zip(chosen, let, strict=True) if goes]
    # What git keeps as data has no text that a person could look at.
    unseen = [change for change in free if change.unseen and not (commits and _is_of_a_commit(change))]
    held += [Held(change.path, f"{change.unseen}; {_LOOK}") for change in unseen]
    free = [change for change in free if change not in unseen]
    gone = sorted((change for change in free if change.kind == "deleted"), key=lambda change: change.path, reverse=True)
    work = _Work(trial, force=choice.force, links_out=choice.include_protected)
    done: list[str] = []
    with opened_workspace(trial.directory) as work.lower, opened(str(trial.upper)) as work.upper:
        for change in [*gone, *(change for change in free if change.kind != "deleted")]:
            try:
                if why := work.carry(change):
                    held.append(Held(change.path, why))
                else:
                    done.append(change.path)
            except OSError as error:
                held.append(Held(change.path, f"{error.strerror}; it is as it was"))
    trial.note_applied(work.stamps)
    left = len(done) < len(found)
    if not left:
        trial.discard()
    return Applied(tuple(dict.fromkeys(done)), tuple(held), left)


def _is_of_a_commit(change: Change) -> bool:
    """Objects are only ever added: what a trial removes or replaces there would be lost to other commits."""
    if change.held != "protected" or change.what == "link" or not COMMITS.fullmatch(change.path):
        return False
    if change.path.startswith(".git/objects/"):
        return change.kind == "added"
    return change.kind != "deleted" or change.path.startswith((".git/refs/", ".git/logs/"))


def chosen_of(found: list[Change], paths: Sequence[str]) -> list[Change]:
    """The changes at these paths and below them; no path means all.

    Raises:
        NotFound: a path is not among the changes.
    """
    wanted = [path.strip("/") for path in paths]
    for path in wanted:
        if not any(change.path == path or change.path.startswith(path + "/") for change in found):
            raise NotFound(f"{path!r} is not among the changes; see `stead trial diff`")
    if not wanted:
        return found
    return [c for c in found if any(c.path == path or c.path.startswith(path + "/") for path in wanted)]


class _Work:
    """One application. ``lower`` and ``upper`` are descriptors of the person's folder and of the trial's."""

    def __init__(self, trial: TrialFolder, *, force: bool, links_out: bool) -> None:
        self.lower = self.upper = -1
        self.stamps: dict[str, int] = {}
        self._began_ns = trial.began_ns
        self._applied = trial.applied
        self._force = force
        self._links_out = links_out
        owner = os.stat(trial.directory)
        self._owner = (owner.st_uid, owner.st_gid) if os.geteuid() == 0 else None

    def carry(self, change: Change) -> str:
        """Do it; gives why not.

        Raises:
            OSError: likewise.
        """
        make = None if change.kind == "deleted" else self._make_folder
        with opened_above(self.lower, change.path, make=make) as (folder, name):
            if change.kind == "deleted":
                return self._delete(change, folder, name)
            with opened_above(self.upper, change.path) as (source, same_name):
                if change.what == "folder":
                    return self._folder(change, folder, name, source)
                return self._replace(change, folder, name, source, same_name)

    def _delete(self, change: Change, folder: int, name: str) -> str:
        if self._in_conflict(change.path, folder, name):
            return _CHANGED
        if change.what == "folder":
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
        return ""

    def _folder(self, change: Change, folder: int, name: str, source: int) -> str:
        if change.kind == "added":
            self._make_folder(folder, name)
        with opened(name, folder) as made:
            os.fchmod(made, os.stat(name, dir_fd=source, follow_symlinks=False).st_mode & 0o777)
        return ""

    def _replace(self, change: Change, folder: int, name: str, source: int, same_name: str) -> str:
        new = side(source, same_name)
        if new is None or new.what != change.what or is_whiteout(new):
            return "the trial changed just now; look at it again"
        fresh = f".stead-{secrets.token_hex(8)}.tmp"
        try:
            if new.what == "link":
                target = new.target()
                if not self._links_out and leads_out((self.upper, self.lower), change.path, target):
                    return LEADS_OUT  # a folder on the way was swapped since the look
                os.symlink(target, fresh, dir_fd=folder)
                if self._owner:
                    os.chown(fresh, *self._owner, dir_fd=folder, follow_symlinks=False)
            else:
                self._copy(source, same_name, folder, fresh, new.mode & 0o777)
            if self._in_conflict(change.path, folder, name):
                os.unlink(fresh, dir_fd=folder)
                return _CHANGED
            os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            _remove(fresh, folder)
            raise
        self.stamps[change.path] = os.stat(name, dir_fd=folder, follow_symlinks=False).st_ctime_ns
        return ""

    def _copy(self, source: int, name: str, folder: int, fresh: str, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with (
            open(open_own(name, REGULAR, source), "rb", buffering=0) as old,
            open(os.open(fresh, flags, 0o600, dir_fd=folder), "wb", buffering=0) as new,
        ):
            while block := old.read(_BLOCK):
                view = memoryview(block)
                while view:
                    view = view[new.write(view) :]
            if self._owner:
                os.fchown(new.fileno(), *self._owner)
            os.fchmod(new.fileno(), mode)
            os.fsync(new.fileno())

    def _make_folder(self, above: int, name: str) -> None:
        os.mkdir(name, 0o700, dir_fd=above)
        with opened(name, above) as made:
            os.fchmod(made, 0o755)
            if self._owner:
                os.fchown(made, *self._owner)

    def _in_conflict(self, path: str, folder: int, name: str) -> bool:
        return not self._force and conflicts(path, side(folder, name), self._began_ns, self._applied)


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
