"""Folders and files of this computer as people look at them: to choose a workspace, and to see what is in one.

Layer: domain. Nothing here is a model's: only doors ask. Names and texts may still be hostile, since a model or a
program may have written them; doors treat them as data. A name that cannot be printed comes escaped, and
is taken back as it is shown.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec


class FolderRow(msgspec.Struct, frozen=True):
    """A folder within another.

    Args:
        name: its last name, escaped where it cannot be printed.
        path: absolute, of the folder itself; a link's is the link's own.
        allowed: whether it may be a workspace.
        why: why not; "" when it may.
        hidden: its name begins with a dot.
        link: where it leads when it is a symbolic link, as the link has it; "" when it is none.
    """

    name: str
    path: str
    allowed: bool
    why: str
    hidden: bool
    link: str


class FolderListing(msgspec.Struct, frozen=True):
    """The folders in a folder of this computer.

    Args:
        path: absolute and real: links in what was asked for have been followed.
        parent: of the folder above; "" at the top.
        allowed: whether the folder itself may be a workspace.
        why: why not; "" when it may.
        folders: by name, hidden ones last.
        truncated: it has more entries than are looked at.
    """

    path: str
    parent: str
    allowed: bool
    why: str
    folders: tuple[FolderRow, ...]
    truncated: bool


EntryKind = Literal["folder", "file", "link", "other"]


class FileRow(msgspec.Struct, frozen=True):
    """Something in a workspace.

    Args:
        name: its last name, escaped where it cannot be printed.
        path: from the workspace on, as it is taken back.
        kind: "other" for devices, pipes and sockets.
        size_bytes: of a file; 0 for anything else.
        modified_ms: since 1970.
        link: where a link leads, as the link has it; "" for anything else. Nothing follows it.
    """

    name: str
    path: str
    kind: EntryKind
    size_bytes: int
    modified_ms: int
    link: str = ""


class FileListing(msgspec.Struct, frozen=True):
    """One level of a workspace.

    Args:
        path: from the workspace on; "" for the workspace itself.
        files: folders first, then by name.
        truncated: it has more entries than are looked at.
    """

    path: str
    files: tuple[FileRow, ...]
    truncated: bool


class FileContent(msgspec.Struct, frozen=True):
    """The text of a file.

    Args:
        path: from the workspace on.
        text: its beginning; "" for what is no text.
        size_bytes: of the whole file.
        modified_ms: since 1970.
        encoding: "" for what is no text.
        binary: it is no text: it has a zero byte, or is in no known encoding.
        truncated: it is longer than ``text``.
        redacted: known secrets and what looks like one were taken out of the text.
    """

    path: str
    text: str
    size_bytes: int
    modified_ms: int
    encoding: Literal["utf-8", "utf-8-sig", "utf-16", ""]
    binary: bool
    truncated: bool
    redacted: bool = False


class Folders(Protocol):
    """Looking at this computer. ``content`` and ``whole`` alone open a file, ``folders`` alone follows a link, once."""

    async def folders(self, path: str) -> FolderListing:
        """The folders in one; "" for the person's home.

        Raises:
            InvalidRequest: the path is not absolute, may not be read, or nothing in it could be a workspace.
            NotFound: there is no such folder.
        """

    async def files(self, directory: str, path: str) -> FileListing:
        """One level of a workspace.

        Args:
            directory: the workspace, absolute and real.
            path: from there; "" for the workspace itself.

        Raises:
            InvalidRequest: the path leads out or through a link, or may not be read.
            NotFound: there is no such folder.
        """

    async def content(self, directory: str, path: str) -> FileContent:
        """The text of one file, at most two megabytes of it.

        Raises:
            As ``files``; and InvalidRequest for anything but a regular file.
        """

    async def whole(self, directory: str, path: str) -> bytes:
        """One file byte for byte; otherwise as ``content``, and InvalidRequest for one of more than 64 MB."""
