"""What becomes of a change that a machine made: by what it is and where, never by the command that made it.

Layer: machines. ``Classes`` judges the changes of one landing. Four classes: a change *lands*, is *held* for the
person's review, is *refused* for good, or is *dropped*, which is done without a word because nothing is lost by it.
What *stays* in the machine was split off before (``Stays``).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from stead.domain.git import DATA, UNFINISHED
from stead.domain.obeyed import fold, kept
from stead.domain.trials import Barred, unbarred
from stead.machines.git_brings import brings
from stead.machines.git_names import named_by_git
from stead.machines.git_texts import MOST_BYTES, differ_harmlessly
from stead.machines.layers import Delta, Deltas, Side, opened, side
from stead.machines.left_out import is_cache
from stead.machines.links import leads_out, led_to
from stead.machines.runner.ignored import REMADE
from stead.machines.space import Space
from stead.machines.workspace import opened_above, opened_workspace

Class = Literal["lands", "held", "refused", "dropped"]

MOST_DELETED = 100
"""Files of the person's that a landing removes without a question; those that were moved do not count."""
LEADS_OUT = "the link leads out of the folder"
GIT_ACTS = "git would act on it"
_REVIEW = "everything of this session waits for your review"
_OBEYED = "a program of yours would act on it"
_MASS = f"more than {MOST_DELETED} files would be deleted"
_RECORDS = ("index", "packed-refs", "logs/HEAD")


@dataclass
class Pending:
    """What waits in a session's layer: ``folder`` and ``layer`` are descriptors, ``deltas`` says how they differ."""

    space: Space
    folder: int
    layer: int
    deltas: Deltas

    def leads_out(self, path: str) -> bool:
        """Whether a link of the layer may lead out of the folder."""
        with opened_above(self.layer, path) as (above, name):
            return leads_out((self.layer, self.folder), path, os.readlink(name, dir_fd=above))


@contextmanager
def opened_changes(space: Space, layer: Path) -> Iterator[Pending]:
    """How a layer of a session differs from the person's folder.

    Args:
        space: the session's.
        layer: its pending layer, or the machine layer.

    Raises:
        OSError: one of the two cannot be opened.
    """
    with opened_workspace(space.directory) as folder, opened(str(layer)) as top:
        deltas = Deltas()
        deltas.walk(top, folder, "", 0, opaque=False, obeyed=False)
        yield Pending(space, folder, top, deltas)


@dataclass
class Classes:
    """Judges changes.

    Args:
        at: what they are of.
        conflict: why a change does not go with what the person's own file has become meanwhile; "" when it does.
        hold: everything waits for the person.
        barred: what waits as well; see ``domain.trials``.
    """

    at: Pending
    conflict: Callable[[Delta], str]
    hold: bool = False
    barred: Barred = unbarred

    def __post_init__(self) -> None:
        directory = self.at.space.directory
        self._named, self._led = named_by_git(directory), led_to(directory, self.at.deltas.links)
        self._repository, self._brings = cache(self._look), cache(self._brought)

    def all(self) -> list[tuple[Delta, Class, str]]:
        """Each change with its class, and why it does not land."""
        judged = [(delta, *self._one(delta)) for delta in self.at.deltas.found]
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
        if decided != "lands":
            return decided, why
        if self.hold:
            return "held", _REVIEW
        if rule := self.barred(delta.path):
            return "held", f"your rule: {rule}"
        conflict = self.conflict(delta)
        return ("held", conflict) if conflict else ("lands", "")

    def by_structure(self, delta: Delta) -> tuple[Class, str]:
        """The class of a change by what it is and where alone, and why it does not land."""
        if delta.kind != "deleted" and delta.what == "link" and self.at.leads_out(delta.path):
            return "refused", LEADS_OUT
        top, within = in_git(delta.path)
        if within:
            return self._git(top, within, delta)
        if delta.obeyed or self._is_obeyed(delta.path):
            return "held", _OBEYED
        return "lands", ""

    def _git(self, above: str, within: str, delta: Delta) -> tuple[Class, str]:
        """A change below a ``.git``."""
        if delta.kind == "deleted" and within.partition("/")[0] in UNFINISHED:
            return "lands", ""  # steps that are gone run nothing, and without them git takes a rebase for done
        state = self._repository(above)
        if within == "config" and state and self._is_harmless(delta):
            return "lands", ""
        if state == "whole" and not within.startswith(("objects/", "logs/")) and delta.kind != "deleted":
            state = self._brings(above) or state
        data = DATA.fullmatch(within) and delta.what != "link" and (delta.old is None or delta.kind != "mode")
        if not data or not state:
            return "held", GIT_ACTS
        if within.startswith("objects/") and delta.kind != "added":
            return "dropped", ""  # the person's objects stay; the packs that git makes of them are new files
        if delta.kind == "deleted" and within in (*_RECORDS, self._branch(above)):
            return "held", "git's record of your branch would go"
        return ("lands", "") if state == "whole" else ("held", state)

    def _is_harmless(self, delta: Delta) -> bool:
        """Whether a change of a repository's settings, in a file that is one before and after, lands unasked."""
        if delta.new is None or delta.old is None or delta.new.st_mode != delta.old.st_mode:
            return False
        old, new = (content(top, delta.path) for top in (self.at.folder, self.at.layer))
        return differ_harmlessly(old, new)

    def _branch(self, above: str) -> str:
        """What HEAD names, as it would be."""
        heads = (content(top, f"{above}.git/HEAD") for top in (self.at.layer, self.at.folder))
        return next(filter(None, heads), b"").decode("utf-8", "replace").removeprefix("ref: ").strip()

    def _brought(self, above: str) -> str:
        """Why git's new data in the repository in a folder may not land; "" when it may."""
        below = [in_git(delta.path) for delta in self.at.deltas.found]
        changed = [within for top, within in below if within and top == above]
        return brings(Path(self.at.space.directory), self.at.space.pending, above, changed, self._is_obeyed)

    def _is_obeyed(self, path: str) -> bool:
        """Whether programs of the person's act on a path, by its name or because git or a link names it."""
        return bool(in_git(path)[1] or kept(path) or self._named(path) or self._led(path))

    def _look(self, above: str) -> str:
        """Of the person's repository in a folder: "whole", what is unfinished in it, or "" when there is none."""
        head = _there(self.at.folder, f"{above}.git/HEAD")
        if head != "file":
            return ""
        if not self._is_there(f"{above}.git/HEAD"):
            return "its HEAD goes"
        left = [name for name in UNFINISHED if self._is_there(f"{above}.git/{name}")]
        return f"git is in the middle of something ({left[0]})" if left else "whole"

    def _is_there(self, path: str) -> bool:
        """Whether something is at a path once everything is carried over."""
        bare = False
        for at in (*folders_above(path), path):
            new = _there(self.at.layer, at)
            if not new:
                return not bare and _there(self.at.folder, path) != ""
            if new == "gone" or (at != path and new not in ("folder", "bare")):
                return False
            bare = bare or new == "bare"
        return True


def _there(top: int, path: str) -> str:
    """What kind is at a path: "gone" for a deletion, "bare" for a folder that hides the one below, "" for nothing."""
    with suppress(OSError), opened_above(top, path) as (above, name):
        if found := side(above, name):
            if found.is_whiteout():
                return "gone"
            return "bare" if found.what == "folder" and found.is_opaque() else found.what
    return ""


def content(top: int, path: str) -> bytes:
    """Of a regular file of bounded size; empty for anything else."""
    with suppress(OSError), opened_above(top, path) as (above, name):
        return Side(above, name, os.stat(name, dir_fd=above, follow_symlinks=False)).content(MOST_BYTES + 1)
    return b""


def folders_above(path: str) -> list[str]:
    """The folders that a path lies in, from the top."""
    return [path[:at] for at, letter in enumerate(path) if letter == "/"]


def in_git(path: str) -> tuple[str, str]:
    """What is above the last ``.git`` of a path, with a slash at its end, and what is below it; "" twice for none."""
    parts = path.split("/")
    at = max((number for number, part in enumerate(parts) if fold(part) == ".git"), default=-1)
    if at < 0:
        return "", ""
    within = "/".join(parts[at + 1 :]) or "."
    return "".join(part + "/" for part in parts[:at]), within if parts[at] == ".git" else "."


def _gone(deltas: list[Delta]) -> list[Delta]:
    """Deleted files, without those that a new one of the same name and size replaces."""
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
    """Whether tools make it again, so that it stays in the machine: by its name, or by a mark in a folder that is new.

    Args:
        new: in the layer.
        old: what it covers in the person's folder.
    """
    if new.name in REMADE or new.name == "CACHEDIR.TAG":
        return True
    entry = old or new
    if entry.what == "folder":
        with suppress(OSError), opened(entry.name, entry.folder) as folder:
            return is_cache(folder) or side(folder, "pyvenv.cfg") is not None
    return False
