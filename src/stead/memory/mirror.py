"""The folder in which a person reads and edits what is remembered: its files, read and written without losing a word.

Layer: memory. Every path is walked by descriptors and no link is followed, so a folder that somebody swaps for a link
leads nowhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from stead.domain.errors import StorageFault
from stead.domain.forgetting import Touches
from stead.domain.memory import Level
from stead.domain.mirroring import FileRead, Kept, Stamp
from stead.memory.placing import (
    TEMPORARY,
    Rename,
    clear,
    put,
    read_file,
    remove,
    rename_at,
    replace,
    stamp_from,
    temporary_name,
    unlink,
)
from stead.memory.searching import left_in

MOST_FILES = 20_000
LEVELS: tuple[tuple[str, Level], ...] = (("workspaces", "workspace"), ("private", "private"), ("channels", "channel"))
_SUBFOLDERS = ("people", "journal")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_kept = msgspec.json.Decoder(Kept).decode


class Mirror:
    """Implements ``domain.mirroring.MirrorFiles``.

    Args:
        root: the folder; made if its parent is there.
        state: the file in which is kept what was written, outside the folder.
        rename: how files change places.
    """

    def __init__(self, root: Path, state: Path, rename: Rename = rename_at) -> None:
        self._rename = rename
        self.root = root
        self._state = state
        self._swept = set[str]()
        self._odd = dict[str, Stamp]()
        """Files whose names are no text, by what is shown of them."""

    def stamps(self) -> Mapping[str, Stamp]:
        """See ``domain.mirroring.MirrorFiles``."""
        found: dict[str, Stamp] = {}
        odd: dict[str, Stamp] = {}
        with self._opened() as root:
            for folder in self._folders(root):
                if folder not in self._swept:
                    self._sweep(root, folder)
                    self._swept.add(folder)
                for name, seen in _entries(root, folder):
                    if name.endswith(".md") and not name.startswith(".") and not stat.S_ISDIR(seen.st_mode):
                        (found if _is_text(name) else odd)[f"{folder}/{_shown(name)}"] = stamp_from(seen)
                    if len(found) + len(odd) >= MOST_FILES:
                        raise StorageFault(
                            f"{str(self.root)!r} has more than {MOST_FILES} files; move what is not of memory away"
                        )
        self._odd = {path: stamp for path, stamp in odd.items() if path not in found}
        return {**self._odd, **found}

    def read(self, path: str) -> FileRead | None:
        """See ``domain.mirroring.MirrorFiles``."""
        if odd := self._odd.get(path):
            return FileRead(path, odd, why="its name is no UTF-8; rename it")
        with self._opened() as root, self._inside(root, path, make=False) as (folder, name):
            return None if folder < 0 else read_file(folder, name, path)

    def write(self, path: str, text: str | None, seen: Stamp | None) -> Stamp | None:
        """See ``domain.mirroring.MirrorFiles``."""
        with self._opened() as root, self._inside(root, path, make=True) as (folder, name):
            if text is None:
                return seen if remove(folder, name, seen, self._rename) else None
            content = text.encode()
            fresh = temporary_name(name, content, seen)
            try:
                stamp = put(folder, fresh, content)
                done = replace(folder, fresh, name, seen, self._rename)
                os.fsync(folder)
                return stamp if done else None
            finally:
                clear(folder, fresh)

    def kept(self) -> Kept:
        """See ``domain.mirroring.MirrorFiles``."""
        try:
            return _kept(self._state.read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            return Kept()
        except OSError as error:
            raise StorageFault(f"{str(self._state)!r} cannot be read: {error.strerror}") from error

    def keep(self, kept: Kept) -> None:
        """See ``domain.mirroring.MirrorFiles``."""
        with _faults(self._state):
            self._state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._state.parent, _FOLDER)
            try:
                fresh = f".{self._state.name}.new"
                unlink(folder, fresh)
                put(folder, fresh, msgspec.json.encode(kept))
                os.rename(fresh, self._state.name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            finally:
                os.close(folder)

    def left(self, touches: Touches) -> tuple[str, ...]:
        """What below the folder has words that are forgotten, or was not looked into, with what the person can do."""
        with self._opened() as root:
            return left_in(root, touches)

    def _sweep(self, root: int, folder: str) -> None:
        """Clear away what a kill left half done."""
        with _below(root, folder) as at:
            for name in os.listdir(at) if at >= 0 else ():
                if name.startswith(TEMPORARY):
                    clear(at, name)

    # -- inside ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """A descriptor of the folder, which is this user's own and no link."""
        with _faults(self.root):
            if not os.path.lexists(self.root) and self.root.parent.is_dir():
                self.root.mkdir(mode=0o700)
            handle = os.open(self.root, _FOLDER)
            try:
                seen = os.fstat(handle)
                if seen.st_uid != os.geteuid():
                    raise StorageFault(f"{str(self.root)!r} belongs to another user; choose another memory_folder")
                if seen.st_mode & 0o077:
                    os.fchmod(handle, 0o700)
                yield handle
            finally:
                os.close(handle)

    def _folders(self, root: int) -> Iterator[str]:
        """The folders in which files of memory may be."""
        scopes = ["global"]
        for above, _ in LEVELS:
            inside = _entries(root, above)
            scopes += [f"{above}/{name}" for name, seen in inside if stat.S_ISDIR(seen.st_mode) and _is_text(name)]
        for scope in scopes:
            yield scope
            yield from (f"{scope}/{below}" for below in _SUBFOLDERS)

    @contextmanager
    def _inside(self, root: int, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder of a file, and the file's name; -1 when there is no such folder."""
        *above, name = path.split("/")
        if any(part in ("", ".", "..") for part in (*above, name)):
            raise StorageFault(f"{path!r} is no file of memory")
        at = os.dup(root)
        try:
            for part in above:
                if make:
                    _make(at, part)
                try:
                    below = os.open(part, _FOLDER, dir_fd=at)
                except FileNotFoundError:
                    yield -1, name
                    return
                os.close(at)
                at = below
            yield at, name
        finally:
            os.close(at)


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8; what is not cannot be kept or told as it is."""
    return name.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in name)


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _make(folder: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return


def _entries(root: int, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """What is in a folder below the root, by name; nothing when it is none."""
    with _below(root, folder) as at:
        for name in sorted(os.listdir(at)) if at >= 0 else ():
            try:
                yield name, os.stat(name, dir_fd=at, follow_symlinks=False)
            except FileNotFoundError:
                continue


@contextmanager
def _below(root: int, folder: str) -> Iterator[int]:
    """A descriptor of a folder below the root; -1 when there is none, or a link in its place."""
    at = os.dup(root)
    try:
        for part in folder.split("/"):
            try:
                below = os.open(part, _FOLDER, dir_fd=at)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    raise
                yield -1
                return
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    """What a file system refuses, said with the way out."""
    try:
        yield
    except OSError as error:
        ways = {
            errno.ENOSPC: "make room",
            errno.EROFS: "it is read-only; choose another memory_folder",
            errno.EACCES: "Stead may not write there; change its permissions",
            errno.ENOTDIR: "it is no folder, or a link to one; name the folder itself",
            errno.ENOENT: "it is not there; make it, or choose another memory_folder",
        }
        way = ways.get(error.errno or 0, "choose another memory_folder")
        raise StorageFault(f"{str(path)!r} cannot be used: {error.strerror}; {way}") from error
