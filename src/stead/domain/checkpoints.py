"""What a folder was like at a moment, kept so that it can be so again.

Layer: domain. A tree is named by its root, a digest of names, kinds, modes, link targets and contents: equal trees have
equal roots, at any time and by anybody. Times and owners are not part of it. What is left out of a tree (see
``LeftOut``) is neither kept nor touched when it is restored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

ABSENT = ""
"""The name of no content: the file is not there."""


class LeftOut(msgspec.Struct, frozen=True):
    """What is not kept, and the rule that says so."""

    path: str
    why: str


class Tree(msgspec.Struct, frozen=True):
    """A folder as it was kept.

    Args:
        root: names it, 64 hex digits.
        files: how many files and links it has.
        size_bytes: of all its files.
        changed: entries that differ from the folder's last tree; every one when there was none.
        stored_bytes: that the store grew by.
        left_out: the first hundred of what is not kept.
        left_out_count: of them all.
        duration_ms: that it took.
    """

    root: str
    files: int
    size_bytes: int
    changed: int
    stored_bytes: int
    left_out: tuple[LeftOut, ...]
    left_out_count: int
    duration_ms: int


class FileChange(msgspec.Struct, frozen=True):
    """How one path differs between two moments. ``diff`` is unified and capped; "" for what is no text."""

    path: str
    kind: Literal["added", "changed", "deleted", "mode"]
    what: Literal["file", "folder", "link"]
    size_bytes: int = 0
    added: int = 0
    """Lines."""
    removed: int = 0
    note: str = ""
    diff: str = ""
    cut: int = -1
    """How many lines of the diff are not shown; -1 when nothing of a change of content is, or it is not known."""


class Restored(msgspec.Struct, frozen=True):
    """What a restore did. ``paths`` and ``failed`` (with why) name the first hundred each."""

    changed: int
    paths: tuple[str, ...]
    failed: tuple[LeftOut, ...] = ()


class Version(msgspec.Struct, frozen=True):
    """One file at a moment. ``content`` names what it held, ``ABSENT`` when there was no such file."""

    path: str
    content: str
    mode: int = 0
    size_bytes: int = 0


class InUse(msgspec.Struct, frozen=True):
    """What must stay: trees by their roots, and single contents."""

    roots: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()


Progress = Callable[[int, int], None]
"""Called with how many files are done, and how many there are as far as is known; from any thread. Never blocks."""


class Checkpoints(Protocol):
    """Trees of folders. Each method raises ``StorageFault`` for a full disk or a damaged store, saying what is lost."""

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        """Keep the folder as it is now. Not atomic: what changes meanwhile is kept as it was when it was read.

        Args:
            directory: absolute real path.
            ignore: patterns as in .gitignore, besides those that always hold.
            progress: see ``Progress``.

        Raises:
            InvalidRequest: it is no readable folder any more, or has more files than are kept.
        """

    async def differences(
        self, directory: str, ignore: Sequence[str], old: str, new: str = ""
    ) -> tuple[FileChange, ...]:
        """The differences between two trees, or between a tree and the folder as it is now (``new`` empty), by path.

        Raises:
            NotFound: there is no such tree.
            Conflict: more differs than can be shown.
        """

    async def restore(
        self, directory: str, ignore: Sequence[str], root: str, paths: Sequence[str] = (), part: str = ""
    ) -> Restored:
        """Make the folder, or these paths and what is below them, as the tree has it. Does not keep what it replaces.

        Every path of the tree is put back. What stands there and is not kept, or was changed while the restore was at
        work, is moved aside in the same folder. That, and what cannot be put back because it is damaged in the store or
        a file system is mounted there, is among ``failed``; the rest is restored. ``paths`` may be given as they are
        shown; what is on the way to them is put back too. With a ``part`` only that hunk of how the one path differs
        now, or all of the diff, is put back: in one step, and only while it still differs so.

        Raises:
            NotFound: there is no such tree, or no such path in it nor in the folder.
            Conflict: the path does not differ by ``part`` any more.
            InvalidRequest: the folder is not there, or cannot be written.
        """

    async def amend(self, root: str, versions: Sequence[Version]) -> str:
        """The root of the same tree with these files as they are given; for those that changed while it was taken.

        Raises:
            NotFound: there is no such tree, or a content is not kept any more.
        """

    async def forget(self, in_use: Callable[[], InUse]) -> int:
        """Drop every tree and content that is neither in use nor part of what is; gives how many bytes that frees.

        Args:
            in_use: called in a thread while nothing can be kept, so that it misses nothing that was.
        """


class Versions(Protocol):
    """Single files, kept before and after an edit. Faults as ``Checkpoints``."""

    async def keep(self, directory: str, paths: Sequence[str]) -> tuple[Version, ...]:
        """Keep each file as it is now; a path that is no regular file (or leads through a link) counts as absent."""

    async def change(self, old: Version, new: Version) -> FileChange:
        """How two versions of a file differ.

        Raises:
            NotFound: a content is not kept any more.
        """

    async def put_back(self, directory: str, old: Version, expected: Version) -> None:
        """Make a file what it was; if it was absent, remove it.

        Raises:
            Conflict: the file is not as ``expected`` any more; nothing was done.
            NotFound: its content is not kept any more.
            InvalidRequest: the folder is gone, or cannot be written.
        """
