"""What a trial changed: its upper folder compared with the person's.

Layer: machines. Everything in ``upper`` was made by a hostile machine, and another machine may be at work in the
person's folder. So both are walked by descriptors, no link is followed, nothing but folders and regular files is
opened, and time, depth, number and sizes are bounded. How an overlay marks things (whiteouts, opaque folders) is in the
kernel's Documentation/filesystems/overlayfs.rst.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from stead.domain.errors import Conflict
from stead.domain.shown import hidden
from stead.domain.trials import Change
from stead.machines.opening import open_own
from stead.machines.protected import is_protected, is_released, opened_above, repository_parts
from stead.machines.runner.files import unified
from stead.machines.trial import TrialFolder
from stead.machines.workspace import opened_workspace

MOST_CHANGES = 20_000
_DEEPEST = 64
_COMPARE_S = 20.0
_DIFF_BYTES, _DIFF_CHARACTERS, _DIFF_S = 256 << 10, 1 << 20, 5.0
_WHOLE_BYTES, _WHOLE_CHARACTERS = 8 << 20, 32 << 20
_NO_DIFF = "binary, or too large to be shown"
_BLOCK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
REGULAR = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""How a file is opened that may be something else by now."""
LEADS_OUT = "the link leads out of the folder; look at it, then include it (--include-protected)"
_OPAQUE, _WHITEOUT = "user.overlay.opaque", "user.overlay.whiteout"
_FOREIGN = ("user.overlay.redirect", "user.overlay.metacopy")
_MOST_LINKS = 40
"""Followed one after another; the kernel gives up there too."""


@dataclass
class Side:
    """An entry on one side: the folder that holds it, its name, its status."""

    folder: int
    name: str
    status: os.stat_result

    @property
    def what(self) -> Literal["file", "folder", "link", "special"]:
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
        """An extended attribute; empty for none."""
        fd = os.open(self.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
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
        with open(os.open(self.name, REGULAR, dir_fd=self.folder), "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()


@dataclass
class _Comparison:
    sides: tuple[int, int]
    began_ns: int
    applied: dict[str, int]
    had: frozenset[bytes]
    diffs: bool
    whole: str = ""
    seen: Collection[str] = ()
    found: list[Change] = field(default_factory=list)
    repositories: set[str] = field(default_factory=set)
    """Paths that git obeys in what the folder's repositories are, or would become, or that their settings name."""
    room: int = field(init=False)
    deadline: float = field(default_factory=lambda: time.monotonic() + _COMPARE_S)
    diff_deadline: float = field(default_factory=lambda: time.monotonic() + _DIFF_S)

    def __post_init__(self) -> None:
        self.room = _WHOLE_CHARACTERS if self.whole else _DIFF_CHARACTERS

    def wants_whole(self, path: str) -> bool:
        """Whether the diff of a path was asked for in full."""
        return self.whole != "" and f"{path}/".startswith(f"{self.whole}/")


def changes(trial: TrialFolder, *, diffs: bool = True, whole: str = "", seen: Collection[str] = ()) -> list[Change]:
    """Every change, in order of path; with unified diffs as far as time and size allow.

    Args:
        trial: no machine may be at work on it.
        diffs: without them, no change counts as shown.
        whole: a path; the diffs there and below it are given in full.
        seen: digests of changes that the person has seen in full; these are not ``unseen``.

    Raises:
        Conflict: there are too many to be shown, or they take too long to compare.
        OSError: the person's folder cannot be opened.
    """
    with opened_workspace(trial.directory) as lower, opened(str(trial.upper)) as upper:
        named = set(trial.named)
        sides = upper, lower
        comparison = _Comparison(
            sides, trial.began_ns, trial.applied, trial.had(), diffs, whole.strip("/"), seen, repositories=named
        )
        _compare(comparison, upper, lower, "", 0)
    return sorted(comparison.found, key=lambda change: change.path)


@contextmanager
def opened(path: str, above: int | None = None) -> Iterator[int]:
    """A descriptor of a folder that is no link; see ``open_own``."""
    fd = open_own(path, _FOLDER, above)
    try:
        yield fd
    finally:
        os.close(fd)


def _compare(c: _Comparison, upper: int, lower: int | None, above: str, depth: int, *, opaque: bool = False) -> None:
    """One folder of the trial with the one that it covers, if there is one."""
    names = set()
    entries = [*_entries(upper), *(_entries(lower) if lower is not None else ())]
    c.repositories.update(above + name for name in repository_parts(entries))
    for entry in _entries(upper):
        names.add(entry.name)
        new = Side(upper, entry.name, entry.stat(follow_symlinks=False))
        _judge(c, above + entry.name, new, None if lower is None else side(lower, entry.name), depth)
    if opaque and lower is not None:
        for entry in _entries(lower):
            if entry.name not in names:
                _delete(c, above + entry.name, Side(lower, entry.name, entry.stat(follow_symlinks=False)), depth)


def side(folder: int, name: str) -> Side | None:
    """What is there, if anything is."""
    try:
        return Side(folder, name, os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _entries(folder: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: entry.name)


def _judge(c: _Comparison, path: str, new: Side, old: Side | None, depth: int) -> None:
    if is_whiteout(new):
        if old is not None:
            _delete(c, path, old, depth)
    elif new.what == "folder":
        _judge_folder(c, path, new, old, depth)
    else:
        if old is not None and old.what == "folder":
            _delete(c, path, old, depth)
            old = None
        _judge_leaf(c, path, new, old)


def is_whiteout(entry: Side) -> bool:
    """The mark of what was deleted."""
    status = entry.status
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    return stat.S_ISREG(status.st_mode) and status.st_size == 0 and entry.attribute(_WHITEOUT) != b""


def _judge_folder(c: _Comparison, path: str, new: Side, old: Side | None, depth: int) -> None:
    if old is not None and old.what != "folder":
        _delete(c, path, old, depth)
        old = None
    if depth == _DEEPEST or any(new.attribute(name) for name in _FOREIGN):
        return _add(c, _impossible(path, "added", new, "it is nested too deep, or not of this trial's making"))
    before = len(c.found)
    try:
        with opened(new.name, new.folder) as upper:
            if old is None:
                _compare(c, upper, None, path + "/", depth + 1)
            else:
                with opened(old.name, old.folder) as lower:
                    marked = new.attribute(_OPAQUE) == b"y"
                    _compare(c, upper, lower, path + "/", depth + 1, opaque=marked)
    except PermissionError:
        return _add(c, _impossible(path, "added", new, "its permissions keep everybody out"))
    if old is None and len(c.found) == before:
        _add(c, _checked(c, Change(path, "added", "folder", cut=0, unseen=""), new, None))
    elif old is not None and old.mode != new.mode:
        note = f"{old.mode:04o} → {new.mode:04o}"
        _add(c, _checked(c, Change(path, "mode", "folder", note=note, cut=0, unseen=""), new, None))
    return None


def _judge_leaf(c: _Comparison, path: str, new: Side, old: Side | None) -> None:
    kind: Literal["added", "changed"] = "added" if old is None else "changed"
    if new.what == "special":
        return _add(c, _impossible(path, kind, new, "devices, pipes and sockets are not carried over"))
    if old is not None and old.what == new.what:
        try:
            same = old.target() == new.target() if new.what == "link" else _same(c, old, new)
        except PermissionError:
            same = False
        if same and (new.what == "link" or old.mode == new.mode):
            return None
        if same:
            note = f"{old.mode:04o} → {new.mode:04o}"
            return _add(
                c, _checked(c, Change(path, "mode", "file", new.status.st_size, note, cut=0, unseen=""), new, old)
            )
    size_bytes = new.status.st_size if new.what == "file" else 0
    note, diff, cut = _shown(c, path, new, old)
    change = Change(path, kind, new.what, size_bytes, note, diff, cut=cut)
    return _add(c, _checked(c, _looked_at(c, change, new), new, old))


def _delete(c: _Comparison, path: str, old: Side, depth: int) -> None:
    """The person's file is to go, or the whole folder with all that is in it."""
    if old.what == "folder":
        if depth >= _DEEPEST:
            return _add(c, _impossible(path, "deleted", old, "it is nested too deep"))
        try:
            with opened(old.name, old.folder) as lower:
                for entry in _entries(lower):
                    inner = Side(lower, entry.name, entry.stat(follow_symlinks=False))
                    _delete(c, f"{path}/{entry.name}", inner, depth + 1)
        except PermissionError:
            return _add(c, _impossible(path, "deleted", old, "you may not read it"))
    size_bytes = old.status.st_size if old.what == "file" else 0
    return _add(c, _checked(c, Change(path, "deleted", old.what, size_bytes, cut=0, unseen=""), None, old))


def _checked(c: _Comparison, change: Change, new: Side | None, old: Side | None) -> Change:
    """The change, held back if it may not simply be applied."""
    if new is not None and new.what == "file" and new.mode & 0o7000:
        return _impossible(change.path, change.kind, new, "set-user, set-group and sticky bits are not carried over")
    if new is not None and new.what == "file" and any(new.attribute(name) for name in _FOREIGN):
        return _impossible(change.path, change.kind, new, "it is not of this trial's making")
    if is_protected(change.path) or is_released(change.path, c.repositories):
        why = "a program of yours would act on it; look at it, then include it (--include-protected)"
        return replace(change, held="protected", why=why)
    if new is not None and new.what == "link" and leads_out(c.sides, change.path, new.target()):
        return replace(change, held="protected", why=LEADS_OUT)
    if conflicts(change.path, old, c.began_ns, c.applied):
        return replace(change, held="conflict", why="you changed yours since the trial began; --force replaces it")
    if old is None and change.kind == "added" and os.fsencode(change.path) in c.had:
        return replace(change, held="conflict", why="you deleted yours since the trial began; --force brings it back")
    return change


def conflicts(path: str, old: Side | None, began_ns: int, applied: dict[str, int]) -> bool:
    """Whether the person's own file has changed since the trial began, otherwise than by applying it."""
    if old is None or old.what == "folder":
        return False
    return old.status.st_ctime_ns > began_ns and applied.get(path) != old.status.st_ctime_ns


def leads_out(sides: tuple[int, int], path: str, target: str) -> bool:
    """Whether a link may lead out of the folder, by itself or through others; one that nobody can follow may.

    A target that goes up after a name (``d/..``) counts, wherever it ends: ``d`` may become another link. Names are
    looked up on both sides, as a part of the changes may be applied without the rest.

    Args:
        sides: descriptors of the trial's folder and of the person's.
        path: of the link.
        target: what it holds.
    """
    left = [(path, target)]
    for _ in range(_MOST_LINKS):
        path, target = left.pop()
        at, parts = path.split("/")[:-1], [part for part in target.split("/") if part not in ("", ".")]
        up = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
        if target.startswith("/") or up > len(at) or ".." in parts[up:]:
            return True
        at = at[: len(at) - up]
        for number, part in enumerate(parts[up:], up + 1):
            at.append(part)
            links = {_target(side, at) for side in sides} - {""}
            left += [("/".join(at), "/".join((link, *parts[number:]))) for link in links]
        if not left:
            return False
    return True


def _target(top: int, parts: list[str]) -> str:
    """Where a link leads; "" for what is none, or is reached through another."""
    try:
        with opened_above(top, "/".join(parts)) as (folder, name):
            return os.readlink(name, dir_fd=folder)
    except OSError:
        return ""


def _impossible(path: str, kind: Literal["added", "changed", "deleted", "mode"], at: Side, why: str) -> Change:
    return Change(path, kind, at.what, held="impossible", why=why)


def _add(c: _Comparison, change: Change) -> None:
    if len(c.found) >= MOST_CHANGES or time.monotonic() > c.deadline:
        raise Conflict(
            f"the trial holds more than {MOST_CHANGES} changes, or more than can be compared in {_COMPARE_S:.0f} s; "
            "discard it, or fetch what you need from the trial's folder by hand"
        )
    if not change.path.isprintable() or hidden(change.path):
        shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in change.path)
        change = replace(change, path=shown, held="impossible", why="its name holds what is no readable text")
    c.found.append(change)


def _same(c: _Comparison, old: Side, new: Side) -> bool:
    """Whether two regular files hold the same; past the deadline everything differs."""
    if old.status.st_size != new.status.st_size:
        return False
    with (
        open(open_own(old.name, REGULAR, old.folder), "rb", buffering=0) as left,
        open(open_own(new.name, REGULAR, new.folder), "rb", buffering=0) as right,
    ):
        while time.monotonic() < c.deadline:
            block = left.read(_BLOCK)
            if block != right.read(_BLOCK):
                return False
            if not block:
                return True
    return False


def _looked_at(c: _Comparison, change: Change, new: Side) -> Change:
    """The change of a file or link, with what a person cannot see of it here, and its digest if that is all of it."""
    unseen = _NO_DIFF
    if change.cut >= 0:
        count = hidden(change.diff)
        unseen = f"{change.cut} lines of its diff are left out" if change.cut else ""
        unseen = unseen or (f"it has {count} hidden characters" if count else "")
    if not (c.wants_whole(change.path) or (unseen and (change.cut == 0 or c.seen))):
        return replace(change, unseen=unseen)
    digest = hashlib.sha256(repr((change.path, change.kind, change.what, new.mode)).encode())
    digest.update(new.hashed() if new.what == "file" else new.target().encode("utf-8", "surrogateescape"))
    named = digest.hexdigest()
    return replace(change, unseen="" if named in c.seen else unseen, digest=named)


def _shown(c: _Comparison, path: str, new: Side, old: Side | None) -> tuple[str, str, int]:
    """Note and diff of a change, and how many lines of that are left out."""
    if new.what == "link":
        return f"leads to {ascii(new.target())[1:-1]}", "", 0
    whole = c.wants_whole(path)
    note = "" if old is None or old.what == "file" else f"was a {old.what}"
    if old is not None and old.what == "file" and old.mode != new.mode:
        note = f"{old.mode:04o} → {new.mode:04o}"
    if old is None and new.mode & 0o111:
        note = "can be run"
    most = _WHOLE_BYTES if whole else _DIFF_BYTES
    texts = [_text(entry, most) for entry in (old, new) if entry is not None and entry.what == "file"]
    if None in texts:
        return "; ".join(filter(None, (note, _NO_DIFF))), "", -1
    if not c.diffs or c.room <= 0 or time.monotonic() > c.diff_deadline:
        return note, "", -1
    before, after = ("", texts[0]) if len(texts) == 1 else texts
    diff, cut = unified(before, after or "", whole=whole)
    c.room -= len(diff)
    return note, diff, cut


def _text(entry: Side, most: int) -> str | None:
    if entry.status.st_size > most:
        return None
    try:
        text = entry.content(most).decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text
