"""Looking at folders and files for a person, without opening anything that could hang or lead elsewhere.

Layer: machines. Implements ``domain.folders.Folders``. What is in a workspace may be hostile, so it is walked by
descriptors: no link is followed, and nothing is opened but folders and regular files. Everything is bounded.
"""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Literal

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.folders import FileContent, FileListing, FileRow, FolderListing, FolderRow
from stead.machines.layers import FOLDER, Side, side
from stead.machines.left_out import DEEPEST, shown, why_not
from stead.machines.scanning import regular
from stead.machines.workspace import check_directory, closed, opened_workspace

MOST_FOLDERS = 1_000
MOST_FILES = 2_000
MOST_BYTES = 2_000_000
"""Of a file's text."""
MOST_WHOLE_BYTES = 64_000_000
"""Of a file that is downloaded."""
_MOST_ENTRIES = 20_000
"""Of a folder, of whatever kind; what comes after is not looked at."""
_LONGEST_PATH = 4_096

_Encoding = Literal["utf-8", "utf-8-sig", "utf-16", ""]


class HostFolders:
    """This computer's.

    Args:
        stead_home: Stead's own, which is never shown.
        memory: the files of memory, where those are elsewhere.
    """

    def __init__(self, stead_home: Path, memory: Path | None = None) -> None:
        self._stead_home = stead_home
        self._memory = memory

    async def folders(self, path: str) -> FolderListing:
        """As ``Folders.folders``."""
        return await asyncio.to_thread(self._folders, path)

    async def files(self, directory: str, path: str) -> FileListing:
        """As ``Folders.files``."""
        return await asyncio.to_thread(_files, directory, path)

    async def content(self, directory: str, path: str) -> FileContent:
        """As ``Folders.content``."""
        return await asyncio.to_thread(_content, directory, path)

    async def whole(self, directory: str, path: str) -> bytes:
        """As ``Folders.whole``."""
        return await asyncio.to_thread(_whole, directory, path)

    def _folders(self, path: str) -> FolderListing:
        real = _real(path or str(Path.home()))
        if why := closed(Path(real), self._stead_home):
            raise InvalidRequest(f"{shown(real)!r} is not shown: {why}; choose a project folder")
        try:
            with os.scandir(real) as listing:
                entries = [entry for entry in islice(listing, _MOST_ENTRIES + 1) if _is_folder(entry)]
                truncated = next(listing, None) is not None
        except OSError as error:
            raise InvalidRequest(f"{shown(real)!r} cannot be read: {why_not(error)}; choose another folder") from error
        entries.sort(key=lambda entry: (entry.name.startswith("."), entry.name.casefold(), entry.name))
        why = self._why_not(real)
        return FolderListing(
            path=shown(real),
            parent="" if real == "/" else shown(os.path.dirname(real)),
            allowed=not why,
            why=why,
            folders=tuple(self._row(entry) for entry in entries[:MOST_FOLDERS]),
            truncated=truncated or len(entries) > MOST_FOLDERS,
        )

    def _row(self, entry: os.DirEntry[str]) -> FolderRow:
        link = shown(os.readlink(entry.path)) if entry.is_symlink() else ""
        why = self._why_not(entry.path)
        return FolderRow(shown(entry.name), shown(entry.path), not why, why, entry.name.startswith("."), link)

    def _why_not(self, path: str) -> str:
        """Why a folder may not be a workspace, by the rule that an objective's folder is held to; "" when it may."""
        if shown(path) != path:
            return "its name cannot be printed; rename it"
        try:
            check_directory(path, self._stead_home, writable=True, memory=self._memory)
        except InvalidRequest as refused:
            return str(refused)
        return ""


def _real(path: str) -> str:
    if not os.path.isabs(path) or "\0" in path or len(path) > _LONGEST_PATH:
        raise InvalidRequest(f"{shown(path[:100])!r} is no absolute path; give the whole path of a folder")
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise NotFound(f"there is no folder {shown(path)!r}, or you may not enter the one above; choose another")
    return real


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads in a circle, or nowhere that may be looked at


def _files(directory: str, path: str) -> FileListing:
    with _opened(directory, path) as (folder, here), os.scandir(folder) as listing:
        rows = [_row(folder, here, entry) for entry in islice(listing, MOST_FILES)]
        truncated = next(listing, None) is not None
    found = [row for row in rows if row is not None]
    found.sort(key=lambda row: (row.name == ".git", row.kind != "folder", row.name.casefold(), row.name))
    return FileListing(here, tuple(found), truncated)


def _row(folder: int, here: str, entry: os.DirEntry[str]) -> FileRow | None:
    """None for what has gone since it was listed."""
    try:
        found = Side(folder, entry.name, entry.stat(follow_symlinks=False))
        link = shown(found.target()) if found.what == "link" else ""
    except OSError:
        return None
    name, kind = shown(entry.name), found.what
    size = found.status.st_size if kind == "file" else 0
    changed_ms = found.status.st_mtime_ns // 1_000_000
    path = f"{here}/{name}" if here else name
    return FileRow(name, path, "other" if kind == "special" else kind, size, changed_ms, link)


def _whole(directory: str, path: str) -> bytes:
    path, _, content = _found(directory, path, MOST_WHOLE_BYTES)
    if len(content) > MOST_WHOLE_BYTES:
        raise InvalidRequest(f"{path!r} has more than {MOST_WHOLE_BYTES // 1_000_000} MB; copy it from the folder")
    return content


def _found(directory: str, path: str, most_bytes: int) -> tuple[str, os.stat_result, bytes]:
    """Path as it is shown, status and beginning of a file."""
    *above, name = _parts(path) or [""]
    if not name:
        raise InvalidRequest("a folder has no content of its own; name a file in it")
    with _opened(directory, "/".join(above)) as (folder, here):
        real = _named(folder, name)
        path = f"{here}/{shown(real)}" if here else shown(real)
        return path, *_read(folder, real, path, most_bytes)


def _content(directory: str, path: str) -> FileContent:
    path, status, content = _found(directory, path, MOST_BYTES)
    truncated = len(content) > MOST_BYTES or status.st_size > len(content)
    encoding, text = _decoded(content[:MOST_BYTES], whole=not truncated)
    changed_ms = status.st_mtime_ns // 1_000_000
    return FileContent(path, text, status.st_size, changed_ms, encoding, not encoding, truncated)


def _read(folder: int, name: str, path: str, most_bytes: int) -> tuple[os.stat_result, bytes]:
    """Status and beginning of a regular file, which is up to one byte more than is shown.

    Nothing else is opened, as a device may do something when it is.
    """
    try:
        found = side(folder, name)
        if found is not None and found.what != "file":
            known = {"link": "a link, which is not followed", "folder": "a folder"}
            raise InvalidRequest(f"{path!r} is {known.get(found.what, 'a device, pipe or socket')}; it has no text")
        with regular(folder, os.fsencode(name)) as fd, open(fd, "rb", closefd=False) as file:
            return os.fstat(fd), file.read(most_bytes + 1)
    except OSError as error:
        raise InvalidRequest(f"{path!r} cannot be read: {why_not(error)}") from error


def _decoded(content: bytes, *, whole: bool) -> tuple[_Encoding, str]:
    """Encoding and text, ("", "") for no text. What was cut in the midst of a character loses that character."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding: _Encoding = "utf-16"
    elif b"\0" in content:
        return "", ""
    else:
        encoding = "utf-8-sig" if content.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, final=whole)
    except UnicodeDecodeError:
        return "", ""
    return ("", "") if "\0" in text else (encoding, text)


@contextmanager
def _opened(directory: str, path: str) -> Iterator[tuple[int, str]]:
    """A descriptor of a folder of the workspace, and its path as it is shown.

    Raises:
        InvalidRequest, NotFound: as ``Folders.files``.
    """
    shown_path, walked = directory, list[str]()
    with ExitStack() as stack:
        try:
            at = stack.enter_context(opened_workspace(directory))
            for part in _parts(path):
                name = _named(at, part)
                walked.append(shown(name))
                shown_path = "/".join(walked)
                at = os.open(name, FOLDER, dir_fd=at)
                stack.callback(os.close, at)
        except FileNotFoundError as error:
            raise NotFound(f"there is no folder {shown_path!r}; it may have gone a moment ago") from error
        except NotADirectoryError as error:
            raise InvalidRequest(f"{shown_path!r} is no folder; links are not followed") from error
        except OSError as error:
            raise InvalidRequest(f"{shown_path!r} cannot be read: {why_not(error)}") from error
        yield at, "/".join(walked)


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part]
    climbs = path.startswith("/") or "\0" in path or {".", ".."} & set(parts)
    if climbs or len(path) > _LONGEST_PATH or len(parts) > DEEPEST:
        raise NotFound(f"{shown(path[:100])!r} is no path within the folder; give one like src/main.py")
    return parts


def _named(folder: int, name: str) -> str:
    """The name of an entry that is called, or shown as, ``name``.

    Raises:
        NotFound: there is none.
    """
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        with os.scandir(folder) as listing:
            for entry in islice(listing, _MOST_ENTRIES):
                if shown(entry.name) == name:
                    return entry.name
        raise NotFound(f"there is no {shown(name)[:200]!r}; it may have gone a moment ago") from None
    return name
