"""The folder in which a person reads and edits what is remembered: its files, read and written without losing a word.

Layer: memory. Every path is walked by descriptors and no link is followed, so a folder that was swapped for a link
leads nowhere. A file that an editor is writing at this moment is left alone: editors that write in place do it in
pieces, and half of a file would read as if the rest were deleted.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from stead.domain.errors import StorageFault
from stead.domain.forgetting import Touches
from stead.memory.files import exchange
from stead.memory.files.exchange import BUSY, TEMPORARY, FileRead, Rename, Stamp, rename_at, stamp_at, stamp_from
from stead.memory.files.search import left_in

MOST_FILES = 20_000
SETTLED_MS = 500
"""A file that another program changed this shortly ago may be half written."""
_HOLDS_NS = 30 * 10**9
_TICK_NS = 10**9
_NEWEST = 2
_ABOVE = ("workspaces", "private", "channels")
_SUBFOLDERS = ("people", "journal")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAYS = {
    errno.ENOSPC: "make room",
    errno.EROFS: "it is read-only; choose another memory_folder",
    errno.EACCES: "Stead may not write there; change its permissions",
    errno.ENOTDIR: "it is no folder, or a link to one; name the folder itself",
    errno.ENOENT: "it is not there; make it, or choose another memory_folder",
}


class Written(msgspec.Struct):
    """What was last written into one file: ids and the generation in which each was first, and no words."""

    generation: int = 0
    ids: dict[str, int] = {}
    digest: str = ""


class Kept(msgspec.Struct):
    """What is known of the files between two starts.

    Args:
        folders: by ``level:place``, the folder of a scope, which keeps its name whatever its title becomes.
        files: by path.
        days_until_ms: up to when the days' files have their lines: a line from before that is missing was deleted.
        seen_seq: the event up to which what was deleted and forgotten is out of every file; 0 for not known.
    """

    folders: dict[str, str] = {}
    files: dict[str, Written] = {}
    days_until_ms: int = 0
    seen_seq: int = 0


_kept = msgspec.json.Decoder(Kept).decode


class MemoryFolder:
    """The file system side of the files. Every method blocks, and raises ``StorageFault`` for an unusable folder.

    Args:
        root: the folder; made if its parent is there.
        state: the file in which ``Kept`` is kept, outside the folder.
        now_ms: by the clock that dates files.
        rename: how files change places.
    """

    def __init__(self, root: Path, state: Path, now_ms: Callable[[], int], rename: Rename = rename_at) -> None:
        self.root = root
        self.busy = False
        """A file was left alone since ``begin``, so it is to be looked at again."""
        self._state = state
        self._now_ms = now_ms
        self._rename = rename
        self._swept = set[str]()
        self._odd = dict[str, Stamp]()
        """Files whose names are no text, by what is shown of them."""
        self._known = dict[str, _Look]()
        self._before: Mapping[str, Stamp] = {}
        self._own: dict[str, Stamp] = {}

    def begin(self) -> Mapping[str, Stamp]:
        """The files as they are before a sync."""
        self.busy = False
        self._before = self.stamps()
        self._own = {path: stamp for path, stamp in self._own.items() if path in self._before}
        return self._before

    @property
    def seen(self) -> Mapping[str, Stamp]:
        """The states of the files that were worked with since ``begin``; an edit that came after makes another one."""
        return {**self._before, **self._own}

    def stamps(self) -> Mapping[str, Stamp]:
        """Every file that could be one of memory, by its path; nothing is opened."""
        found: dict[str, Stamp] = {}
        odd: dict[str, Stamp] = {}
        with self._opened() as root:
            for folder in self._folders(root):
                if folder not in self._swept:
                    self._sweep(root, folder)
                    self._swept.add(folder)
                look = self._look_at_days(root, folder) if folder.endswith("/journal") else _look(root, folder)
                found |= look.files
                odd |= look.odd
                if len(found) + len(odd) >= MOST_FILES:
                    raise StorageFault(
                        f"{str(self.root)!r} has more than {MOST_FILES} files; move what is not of memory away"
                    )
        self._odd = {path: stamp for path, stamp in odd.items() if path not in found}
        return {**self._odd, **found}

    def _look_at_days(self, root: int, folder: str) -> _Look:
        """The files of days, of which there are more every day: what was seen holds until the folder changes.

        An editor that writes in place does not change the folder: the newest files are looked at each time, the others
        twice a minute.
        """
        with _below(root, folder) as at:
            changed_ns = os.fstat(at).st_mtime_ns if at >= 0 else 0
            known, now_ns = self._known.get(folder), time.time_ns()
            if known is None or known.changed_ns != changed_ns or now_ns - known.at_ns > _HOLDS_NS:
                known = _look(root, folder, changed_ns, now_ns)
                if (
                    now_ns - changed_ns > _TICK_NS
                ):  # within a tick of the clock, a second change would look like this one
                    self._known[folder] = known
                return known
            newest = {path: stamp_at(at, path.rpartition("/")[2]) for path in list(known.files)[-_NEWEST:]}
            return _Look({**known.files, **{path: stamp for path, stamp in newest.items() if stamp}}, known.odd)

    def read(self, path: str) -> FileRead | None:
        """A file; None when there is none. One that is no plain text of the person's says why it is not read."""
        if odd := self._odd.get(path):
            return FileRead(path, odd, why="its name is no UTF-8; rename it")
        above, name = _split(path)
        with self._opened() as root, _below(root, above, strict=True) as folder:
            read = None if folder < 0 else exchange.read_file(folder, name, path)
        if read is None or (read.why and read.why != BUSY):
            self._own.pop(path, None)
            return read
        fresh = abs(self._now_ms() - read.stamp.changed_ns // 1_000_000) < SETTLED_MS
        if read.why == BUSY or (fresh and self._own.get(path) != read.stamp):
            self.busy = True
            return replace(read, text="", why=BUSY)
        self._own[path] = read.stamp
        return read

    def write(self, path: str, text: str | None, seen: Stamp | None) -> bool:
        """Put a text in a file's place if the file is still as it was seen (None: not there); False if it is not.

        Without a text the file is removed.
        """
        above, name = _split(path)
        with self._opened() as root, _below(root, above, strict=True, make=True) as folder:
            if text is None:
                if not exchange.remove(folder, name, seen, self._rename):
                    return False
                self._own.pop(path, None)
                self._before = {other: was for other, was in self._before.items() if other != path}
                return True
            content = text.encode()
            fresh = exchange.temporary_name(name, content, seen)
            try:
                stamp = exchange.put(folder, fresh, content)
                done = exchange.replace(folder, fresh, name, seen, self._rename)
                os.fsync(folder)
            finally:
                exchange.clear(folder, fresh)
            if done:
                self._own[path] = stamp
            return done

    def load(self) -> Kept:
        """What was kept; a fresh one when there is nothing that can be read."""
        try:
            return _kept(self._state.read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            return Kept()
        except OSError as error:
            raise StorageFault(f"{str(self._state)!r} cannot be read: {error.strerror}") from error

    def keep(self, content: bytes) -> None:
        """Keep a ``Kept``, as JSON, durably."""
        with _faults(self._state):
            self._state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._state.parent, _FOLDER)
            try:
                fresh = f".{self._state.name}.new"
                exchange.unlink(folder, fresh)
                exchange.put(folder, fresh, content)
                os.rename(fresh, self._state.name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            finally:
                os.close(folder)

    def left(self, touches: Touches) -> tuple[str, ...]:
        """What below the folder has words that are forgotten, or was not looked into, with what the person can do."""
        with self._opened() as root:
            return left_in(root, touches)

    def _sweep(self, root: int, folder: str) -> None:
        """Remove what a kill left half done."""
        with _below(root, folder) as at:
            for name in os.listdir(at) if at >= 0 else ():
                if name.startswith(TEMPORARY):
                    exchange.clear(at, name)

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
        for above in _ABOVE:
            inside = _entries(root, above)
            scopes += [f"{above}/{name}" for name, seen in inside if stat.S_ISDIR(seen.st_mode) and _is_text(name)]
        for scope in scopes:
            yield scope
            yield from (f"{scope}/{below}" for below in _SUBFOLDERS)


def _split(path: str) -> tuple[str, str]:
    """A file's folder and its name."""
    above, _, name = path.rpartition("/")
    if any(part in ("", ".", "..") for part in path.split("/")) or not above:
        raise StorageFault(f"{path!r} is no file of memory")
    return above, name


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8; what is not cannot be kept or shown as it is."""
    return name.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in name)


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class _Look:
    """What was seen in a folder: files by path, those whose names are no text, and when."""

    files: Mapping[str, Stamp]
    odd: Mapping[str, Stamp]
    changed_ns: int = 0
    at_ns: int = 0


def _look(root: int, folder: str, changed_ns: int = 0, at_ns: int = 0) -> _Look:
    found: dict[str, Stamp] = {}
    odd: dict[str, Stamp] = {}
    for name, seen in _entries(root, folder):
        if name.endswith(".md") and not name.startswith(".") and not stat.S_ISDIR(seen.st_mode):
            (found if _is_text(name) else odd)[f"{folder}/{_shown(name)}"] = stamp_from(seen)
    return _Look(found, odd, changed_ns, at_ns)


def _entries(root: int, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """What is in a folder below the root, by name; nothing when there is no such folder."""
    with _below(root, folder) as at:
        for name in sorted(os.listdir(at)) if at >= 0 else ():
            try:
                yield name, os.stat(name, dir_fd=at, follow_symlinks=False)
            except FileNotFoundError:
                continue


@contextmanager
def _below(root: int, folder: str, *, make: bool = False, strict: bool = False) -> Iterator[int]:
    """A descriptor of a folder below the root; -1 when there is none.

    Args:
        root: a descriptor.
        folder: its path.
        make: make what is missing.
        strict: raise ``OSError`` for a link in a folder's place, which counts as no folder otherwise.
    """
    at = os.dup(root)
    try:
        for part in folder.split("/"):
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=at)
                below = os.open(part, _FOLDER, dir_fd=at)
            except OSError as error:
                if error.errno != errno.ENOENT and (strict or error.errno not in (errno.ENOTDIR, errno.ELOOP)):
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
        way = _WAYS.get(error.errno or 0, "choose another memory_folder")
        raise StorageFault(f"{str(path)!r} cannot be used: {error.strerror}; {way}") from error
