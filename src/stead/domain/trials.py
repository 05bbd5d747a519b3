"""What becomes of the changes that a session makes: they land in the person's folder, or wait for the person's review.

Layer: domain. The ports at the end are implemented by the machines. Times are milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from stead.domain.ids import SessionId

WorkMode = Literal["workspace", "trial"]
"""Whether what a session writes reaches the folder at once, or when the person has looked at it."""


class Change(msgspec.Struct, frozen=True):
    """One change that waits: a difference between what the session sees and the folder.

    Args:
        path: relative to the folder; bytes that are no text are shown escaped, and such a path cannot be applied.
        kind: ``mode`` is a change of permissions alone.
        what: of the newer side; of the older one when it is deleted. ``special`` is a device, pipe or socket.
        size_bytes: of a file; 0 else.
        note: in words what a diff cannot show: "binary", where a link leads, "0644 → 0755"; "" for nothing.
        diff: unified, without file names; "" where there is none. Cut unless the whole was asked for.
        cut: how many lines of the diff are left out; -1 when nothing of a changed content is shown.
        held: why it is not applied as things stand. ``protected``: a program of the person's would act on it, so it
            must be included by name; ``conflict``: the folder's own file changed since it was made; ``impossible``:
            it is never applied. "" is free to go.
        why: the same in words.
        unseen: what of it this does not show as it is, in words: it was cut, it is no text, it has hidden characters.
            Such a change is applied only with its ``digest`` among those that the person has seen. "" is shown whole.
        digest: names exactly this change where it was shown in full and needs that, or was asked for by path; "" else.
    """

    path: str
    kind: Literal["added", "changed", "deleted", "mode"]
    what: Literal["file", "folder", "link", "special"]
    size_bytes: int = 0
    note: str = ""
    diff: str = ""
    held: Literal["", "protected", "conflict", "impossible"] = ""
    why: str = ""
    cut: int = -1
    unseen: str = "it was not looked at"
    digest: str = ""


class Trial(msgspec.Struct, frozen=True):
    """A session's changes that wait for the person, in order of path. On trial all that it makes do."""

    session: SessionId
    directory: str
    began_ms: int
    changes: tuple[Change, ...]


class Stay(msgspec.Struct, frozen=True):
    """A path of what tools make again (packages, caches), which the machines of a folder keep between its sessions."""

    path: str
    files: int
    size_bytes: int


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the changes that wait the person lets into the folder.

    Args:
        paths: changes, or folders of them; empty means all.
        force: also where the folder's own file changed since.
        include_protected: also files that programs of the person's act on.
        bring: paths of what stays in the machine that are brought over with all that is in them; then nothing else is.
        seen: digests of changes that are not shown as they are, and that the person has seen in full.
    """

    paths: tuple[str, ...] = ()
    force: bool = False
    include_protected: bool = False
    seen: tuple[str, ...] = ()
    bring: tuple[str, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """A change that was not applied, and why."""

    path: str
    why: str


Hold = Literal["obeyed", "all"]
"""What of a session's changes waits for the person: what programs of theirs would obey untold, or everything."""

Barred = Callable[[str], str]
"""Tells of a changed path, relative, which sentence of the person's speaks against that; "" for none."""


def unbarred(_path: str) -> str:
    """Nothing speaks against anything."""
    return ""


class Landing(msgspec.Struct, frozen=True):
    """What became of the changes that one call made. Lists have at most 500 paths; the counts are of all.

    Args:
        landed: paths that the person's folder now has, or has no longer; those of folders end in a slash.
        removed: those of them that it has no longer.
        count: how many landed.
        runnable: those among them that are new and can be run.
        merged: those among them that the person had changed meanwhile; they hold what both changed.
        stayed: how many changes stay in the machine, in what tools make again (packages, caches).
        held: what waits for the person's review, and why.
        holding: how many wait, those of earlier calls among them.
        refused: what is never carried over, and why.
        failed: why the rest could not land now, such as a full disk; it waits and is tried again. "" for nothing.
        open: a process of the call is still at work; what it changes lands later.
    """

    landed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    count: int = 0
    runnable: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    stayed: int = 0
    held: tuple[Held, ...] = ()
    holding: int = 0
    refused: tuple[Held, ...] = ()
    failed: str = ""
    open: bool = False


class Review(msgspec.Struct, frozen=True):
    """What of a session's changes waits for the person.

    Args:
        waiting: how many; -1 when there are too many to be counted.
        held: the first ten, and why each waits; "" for what simply is on trial.
    """

    waiting: int = 0
    held: tuple[Held, ...] = ()


class Applied(msgspec.Struct, frozen=True):
    """What became of an application: the paths that the folder now has, and those that were held back."""

    done: tuple[str, ...]
    held: tuple[Held, ...]
    left: bool
    """Whether more changes wait."""


class Trials(Protocol):
    """Changes of sessions that wait for the person. All methods work on disk and may take seconds."""

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """What the session changed, with diffs as far as there is room; of a path and what is below it in full.

        Raises:
            NotFound: nothing waits, or the path is not among the changes.
            Conflict: there is too much to be shown.
        """

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        """What stays in the machines of the session's folder.

        Raises:
            NotFound: the session has had no machine.
        """

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        """Put changes into the folder, each file at once.

        Raises:
            NotFound: nothing waits, or a path is not among the changes.
            Conflict: a machine is at work on it.
        """

    async def discard_trial(self, session: SessionId) -> int:
        """Throw all of it away, for good; gives how many changes that were, 0 when they cannot be counted.

        Raises:
            NotFound: nothing waits.
        """
