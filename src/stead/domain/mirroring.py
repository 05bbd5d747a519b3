"""The folder in which memory can be read and edited: what is asked of it, and how it is.

Layer: domain. The folder implements ``MirrorFiles``; ``daemon.py`` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from stead.domain.directives import Directive

BUSY = "it is being written"
"""Why a file is not read that is whole in a moment."""
MOST_BYTES = 1_000_000
"""Of a file; what is longer is no file that a person keeps by hand, and is not read."""


class Stamp(msgspec.Struct, frozen=True):
    """Which state of a file was seen: another one has another stamp."""

    device: int
    inode: int
    size: int
    changed_ns: int


class FileRead(msgspec.Struct, frozen=True):
    """A file as it was read.

    Args:
        path: below the folder.
        stamp: of what was read.
        text: of it; "" where ``why`` says why it was not read.
        why: for a person; "" when it was read.
    """

    path: str
    stamp: Stamp
    text: str = ""
    why: str = ""


class MirrorState(msgspec.Struct, frozen=True):
    """How the files of memory are.

    Args:
        alive: they are kept up.
        reason: why not, and what to do; "" when they are.
        folder: where they are.
        last_sync_ms: when they last were as memory is; 0 for never.
        notices: what a person should know, newest first: files that were not read, lines that were not taken in,
            changes on both sides. None has a word of a memory.
    """

    alive: bool
    reason: str
    folder: str
    last_sync_ms: int
    notices: tuple[str, ...] = ()


class Written(msgspec.Struct):
    """What was last written into one file: ids and the generation in which each was first, and no words."""

    generation: int = 0
    ids: dict[str, int] = {}
    digest: str = ""


class Kept(msgspec.Struct):
    """What is known of the files between two looks.

    Args:
        folders: by ``level:place``, the folder of a scope, which keeps its name whatever its title becomes.
        files: by path.
        days_until_ms: up to when journals are written.
        seen_seq: the event up to which what was deleted and forgotten is out of every file; 0 for not known.
    """

    folders: dict[str, str] = {}
    files: dict[str, Written] = {}
    days_until_ms: int = 0
    seen_seq: int = 0


class MirrorFiles(Protocol):
    """The folder's file system side. Every method blocks, and raises ``StorageFault`` when the folder is not usable."""

    def stamps(self) -> Mapping[str, Stamp]:
        """Every file below it that could be one of memory, by its path; nothing is opened."""

    def read(self, path: str) -> FileRead | None:
        """A file; nothing when there is none. One that is no plain text of the person's says why it is not read."""

    def write(self, path: str, text: str | None, seen: Stamp | None) -> Stamp | None:
        """Put a text in a file's place if the file is still as it was seen (none: not there); nothing if it is not.

        Without a text the file is taken away.
        """

    def kept(self) -> Kept:
        """What was kept; anew when there is nothing that can be read."""

    def keep(self, kept: Kept) -> None:
        """Keep it, durably."""


class Souls(Protocol):
    """The person's soul directives."""

    def soul(self, directory: str) -> Directive | None:
        """Of a folder, "" for everywhere; nothing when there is none."""

    async def write(self, directory: str, text: str, before: Directive | None) -> None:
        """Have the person's text in its place, or as a new one.

        Raises:
            CallerError: it cannot be; says why.
            StorageFault: it was not recorded.
        """
