"""What becomes of a change that a machine made: by what it is and where, never by the command that made it.

Layer: machines. ``Classes`` judges the changes of one landing. Four classes: a change *lands*, is *held* for the
person's review, is *refused* for good, or is *dropped*, which is done without a word because nothing is lost by it.
What *stays* in the machine was split off before (``Stays``).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

from stead.domain.git import DATA, UNFINISHED
from stead.domain.obeyed import fold, kept
from stead.domain.trials import Barred
from stead.machines.git_brings import brings
from stead.machines.git_names import named_by_git
from stead.machines.layers import Delta, Deltas, Side, opened, side
from stead.machines.left_out import REMADE, is_cache
from stead.machines.links import leads_out, led_to
from stead.machines.space import Space
from stead.machines.workspace import opened_above

Class = Literal["lands", "held", "refused", "dropped"]

MOST_DELETED = 100
"""Files of the person's that a landing removes without a question; those that were moved do not count."""
_REVIEW = "everything of this session waits for your review"
_OBEYED = "a program of yours would act on it"
_MASS = f"more than {MOST_DELETED} files would be deleted"
_RECORDS = ("index", "packed-refs", "logs/HEAD")
_CONFLICT = "you changed yours meanwhile"


def classes_of(
    space: Space,
    pending: int,
    folder: int,
    deltas: Deltas,
    *,
    hold: bool,
    barred: Barred,
    conflicts: Callable[[Delta], bool],
) -> Classes:
    """Judges the changes of a session's layer.

    Args:
        space: the session's.
        pending: descriptor of the layer.
        folder: of the person's folder.
        deltas: how they differ.
        hold: everything waits for the person.
        barred: what waits besides.
        conflicts: whether the person's own file changed since the change was begun.
    """
    named, led = named_by_git(space.directory), led_to(space.directory, deltas.links)

    def obeyed(path: str) -> bool:
        return bool(in_git(path)[1] or kept(path) or named(path) or led(path))

    def brought(above: str) -> str:
        below = [in_git(delta.path) for delta in deltas.found]
        changed = [within for top, within in below if within and top == above]
        return brings(Path(space.directory), space.pending, above, changed, obeyed)

    return Classes(pending, folder, hold=hold, barred=barred, obeyed=obeyed, conflicts=conflicts, brings=brought)


class Classes:
    """Judges changes.

    Args:
        pending: descriptor of the layer.
        folder: of the person's folder.
        hold: everything waits for the person.
        barred: what waits besides; see ``domain.trials``.
        obeyed: whether programs of the person's act on a path, by its name or because git or a link names it.
        conflicts: whether the person's own file changed since the change was begun.
        brings: why git's new data in the repository in a folder may not land; see ``git_brings``.
    """

    def __init__(
        self,
        pending: int,
        folder: int,
        *,
        hold: bool,
        barred: Barred,
        obeyed: Callable[[str], bool],
        conflicts: Callable[[Delta], bool],
        brings: Callable[[str], str],
    ) -> None:
        self._pending = pending
        self._folder = folder
        self._hold = hold
        self._barred = barred
        self._obeyed = obeyed
        self._conflicts = conflicts
        self._brings = cache(brings)
        self._repositories: dict[str, str] = {}

    def all(self, deltas: Iterable[Delta]) -> list[tuple[Delta, Class, str]]:
        """Each with its class, and why it does not land."""
        judged = [(delta, *self._one(delta)) for delta in deltas]
        gone = _gone([delta for delta, decided, _ in judged if decided == "lands"])
        if len(gone) <= MOST_DELETED:
            return judged
        return [
            (delta, "held", _MASS) if decided == "lands" and delta.kind == "deleted" else (delta, decided, why)
            for delta, decided, why in judged
        ]

    def _one(self, delta: Delta) -> tuple[Class, str]:
        if delta.bad:
            return ("dropped" if delta.kind == "deleted" else "refused"), delta.bad
        decided, why = self.by_structure(delta)
        if decided == "lands" and self._hold:
            return "held", _REVIEW
        if decided == "lands" and (rule := self._barred(delta.path)):
            return "held", f"your rule: {rule}"
        if decided == "lands" and self._conflicts(delta):
            return "held", _CONFLICT
        return decided, why

    def by_structure(self, delta: Delta) -> tuple[Class, str]:
        """The class of a change by what it is and where alone, and why it does not land."""
        if delta.kind != "deleted" and delta.what == "link":
            with opened_above(self._pending, delta.path) as (above, name):
                target = os.readlink(name, dir_fd=above)
            if leads_out((self._pending, self._folder), delta.path, target):
                return "refused", "the link leads out of the folder"
        top, within = in_git(delta.path)
        if within:
            return self._git(top, within, delta)
        if delta.obeyed or self._obeyed(delta.path):
            return "held", _OBEYED
        return "lands", ""

    def _git(self, above: str, within: str, delta: Delta) -> tuple[Class, str]:
        """A change below a ``.git``."""
        if delta.kind == "deleted" and within.partition("/")[0] in UNFINISHED:
            return "lands", ""  # steps that are gone run nothing, and without them git takes a rebase for done
        state = self._repository(above)
        if state == "whole" and not within.startswith(("objects/", "logs/")) and delta.kind != "deleted":
            state = self._brings(above) or state
        data = DATA.fullmatch(within) and delta.what != "link" and (delta.old is None or delta.kind != "mode")
        if not data or not state:
            return "held", "git would act on it"
        if within.startswith("objects/") and delta.kind != "added":
            return "dropped", ""  # the person's objects stay; what git packs anew comes beside them
        if delta.kind == "deleted" and within in (*_RECORDS, self._branch(above)):
            return "held", "git's record of your branch would go"
        return ("lands", "") if state == "whole" else ("held", state)

    def _branch(self, above: str) -> str:
        """What HEAD names, as it would be."""
        for top in (self._pending, self._folder):
            with suppress(OSError), opened_above(top, f"{above}.git/HEAD") as (folder, name):
                if (head := side(folder, name)) and head.what == "file":
                    return head.content(4096).decode("utf-8", "replace").removeprefix("ref: ").strip()
        return ""

    def _repository(self, above: str) -> str:
        """Of the person's repository in a folder: "whole", what is unfinished in it, or "" when there is none."""
        if above not in self._repositories:
            self._repositories[above] = self._look(above)
        return self._repositories[above]

    def _look(self, above: str) -> str:
        head = _there(self._folder, f"{above}.git/HEAD")
        if head is None or head.what != "file":
            return ""
        if self._goes(f"{above}.git/HEAD"):
            return "its HEAD goes"
        left = [name for name in UNFINISHED if self._is_there(f"{above}.git/{name}")]
        return f"git is in the middle of something ({left[0]})" if left else "whole"

    def _goes(self, path: str) -> bool:
        """Whether the layer takes a path away, itself or with a folder above it."""
        parts, bare = path.split("/"), False
        for at in range(1, len(parts) + 1):
            new = _there(self._pending, "/".join(parts[:at]))
            if new is None:
                return bare
            if new.whiteout or (at < len(parts) and new.what != "folder"):
                return True
            bare = bare or new.bare
        return False

    def _is_there(self, path: str) -> bool:
        new = _there(self._pending, path)
        if new is not None:
            return not new.whiteout
        return _there(self._folder, path) is not None


class _Seen:
    def __init__(self, found: Side) -> None:
        self.what = found.what
        self.whiteout = found.is_whiteout()
        self.bare = found.what == "folder" and found.is_opaque()


def _there(top: int, path: str) -> _Seen | None:
    try:
        with opened_above(top, path) as (above, name):
            found = side(above, name)
            return None if found is None else _Seen(found)
    except OSError:
        return None


def in_git(path: str) -> tuple[str, str]:
    """What is above the last ``.git`` of a path, with a slash at its end, and what is below it; "" twice for none."""
    parts = path.split("/")
    at = max((number for number, part in enumerate(parts) if fold(part) == ".git"), default=-1)
    if at < 0:
        return "", ""
    within = "/".join(parts[at + 1 :]) or "."
    return "".join(part + "/" for part in parts[:at]), within if parts[at] == ".git" else "."


def _gone(deltas: list[Delta]) -> list[Delta]:
    """Files that are deleted, but for those that a new one of the same name and size stands for."""
    came = Counter((os.path.basename(delta.path), delta.new.st_size) for delta in deltas if delta.new is not None)
    left = []
    for delta in deltas:
        if delta.kind == "deleted" and delta.what == "file" and delta.old is not None and not in_git(delta.path)[1]:
            moved = os.path.basename(delta.path), delta.old.st_size
            if came[moved] > 0:
                came[moved] -= 1
            else:
                left.append(delta)
    return left


def stays(new: Side, old: Side | None) -> bool:
    """Whether tools make it anew, so that it stays in the machine: by its name, or by a mark in a folder that is new.

    Args:
        new: in the layer.
        old: what it covers in the person's folder.
    """
    if new.name in REMADE or new.name == "CACHEDIR.TAG":
        return True
    return _tagged(new if old is None else old)


def _tagged(entry: Side) -> bool:
    if entry.what != "folder":
        return False
    try:
        with opened(entry.name, entry.folder) as folder:
            return is_cache(folder) or side(folder, "pyvenv.cfg") is not None
    except OSError:
        return False
