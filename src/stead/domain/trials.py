"""What a session did that has not reached the person's folder: changes on trial, and files put under quarantine.

Layer: domain. The ports at the end are implemented by the machines. Times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from stead.domain.ids import SessionId

WorkMode = Literal["workspace", "trial"]
"""Whether what a session writes reaches the folder at once, or when the person has looked at it."""


class Change(msgspec.Struct, frozen=True):
    """One difference between the trial and the folder.

    Args:
        path: relative to the folder; bytes that are no text are shown escaped, and such a path cannot be applied.
        kind: ``mode`` is a change of permissions alone.
        what: of the newer side; of the older one when it is deleted. ``special`` is a device, pipe or socket.
        size_bytes: of a file; 0 else.
        note: in words what a diff cannot show: "binary", where a link leads, "0644 → 0755"; "" for nothing.
        diff: unified, without file names; "" where there is none. Cut unless the whole was asked for.
        cut: how many lines of the diff are left out; -1 when nothing of a changed content is shown.
        held: why it is not applied as things stand. ``protected``: a program of the person's would act on it, so it
            must be included by name; ``conflict``: the folder's own file changed since the trial began; ``impossible``:
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
    """A session's changes on trial, in order of path."""

    session: SessionId
    directory: str
    began_ms: int
    changes: tuple[Change, ...]


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes on trial the person lets into the folder.

    Args:
        paths: changes, or folders of them; empty means all.
        force: also where the folder's own file changed since the trial began.
        include_protected: also files that programs of the person's act on.
        seen: digests of changes that are not shown as they are, and that the person has seen in full.
    """

    paths: tuple[str, ...] = ()
    force: bool = False
    include_protected: bool = False
    seen: tuple[str, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """A change that was not applied, and why."""

    path: str
    why: str


class Applied(msgspec.Struct, frozen=True):
    """What became of an application: the paths that the folder now has, and those that were held back."""

    done: tuple[str, ...]
    held: tuple[Held, ...]
    left: bool
    """Whether the trial still holds changes."""


class Quarantined(msgspec.Struct, frozen=True):
    """Something that a session planted where a program of the person's would act on it, moved out of the folder.

    Args:
        id: ``q_`` and 16 hex digits.
        session: whose machine it was.
        directory: the folder.
        path: where it was, relative to the folder.
        kept: where it is now.
        at_ms: when it was moved.
        rules: SHA-256 of a file of rules for agents that a machine wrote where it was let. It is still at its path,
            and no session is told this content, in whatever folder, until it is put back, which leaves it where it is.
    """

    id: str
    session: SessionId
    directory: str
    path: str
    kept: str
    at_ms: int
    rules: str = ""


class Swept(msgspec.Struct, frozen=True):
    """What was found at a machine's end.

    Args:
        moved: planted or changed, and now under quarantine.
        changed: protected from the start, and yet another file now: the person, or something else outside, replaced it
            while the machine lived. It is left where it is.
        unseen: the folder could not be looked through whole; until it can, no machine that writes starts in it.
        where: the first part of it that could not be looked at; "." for itself, "" for none.
        stripped: files that a machine made or changed and that had a set-user or set-group bit, which was taken away.
        rules: files of rules for agents that the machine wrote; see ``Quarantined``.
    """

    moved: tuple[Quarantined, ...] = ()
    changed: tuple[str, ...] = ()
    unseen: bool = False
    where: str = ""
    stripped: tuple[str, ...] = ()
    rules: tuple[Quarantined, ...] = ()


class Trials(Protocol):
    """Changes on trial. All methods work on disk and may take seconds."""

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """What the session changed, with diffs as far as there is room; of a path and what is below it in full.

        Raises:
            NotFound: it has nothing on trial, or the path is not among the changes.
            Conflict: there is too much to be shown.
        """
        ...

    async def apply_trial(self, session: SessionId, choice: Choice) -> Applied:
        """Put changes into the folder, each file at once.

        Raises:
            NotFound: nothing is on trial, or a path is not among the changes.
            Conflict: a machine is at work on it.
        """
        ...

    async def discard_trial(self, session: SessionId) -> int:
        """Throw all of it away, for good; gives how many changes that were, 0 when they cannot be counted.

        Raises:
            NotFound: nothing is on trial.
        """
        ...


class Quarantine(Protocol):
    """What was moved out of folders."""

    async def quarantined(self) -> tuple[Quarantined, ...]:
        """Everything there is, oldest first."""
        ...

    async def settle_quarantined(self, id: str, *, restore: bool) -> Quarantined:
        """Put it back where it was, or remove it for good.

        Raises:
            NotFound: there is none of this id.
            Conflict: something else is at its place, or its folder is gone.
        """
        ...
