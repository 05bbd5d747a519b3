"""The folder in which a person reads and edits what is remembered: its files, read and written without losing a word.

Layer: memory. Every path is walked by descriptors and no link is followed, so a folder that somebody swaps for a link
leads nowhere. A file is written beside its place and then exchanged with what is there (``renameat2``): what was there
is looked at afterwards, and if it is not what had been read, the exchange is undone and the caller reads it. Where a
file system cannot exchange, the file is looked at right before it is replaced.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from stead.domain.errors import StorageFault
from stead.domain.memory import Level
from stead.domain.mirroring import BUSY, FileRead, Kept, Stamp

MOST_BYTES = 1_000_000
"""Of a file; what is longer is no file that a person keeps by hand, and is not read."""
MOST_FILES = 20_000
LEVELS: tuple[tuple[str, Level], ...] = (("workspaces", "workspace"), ("private", "private"), ("channels", "channel"))
_SUBFOLDERS = ("people", "journal")
_TEMPORARY = ".stead-"
_NOT_OVER, _EXCHANGE = 1, 2  # of renameat2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_kept = msgspec.json.Decoder(Kept).decode
_libc = ctypes.CDLL(None, use_errno=True)


class Mirror:
    """Implements ``domain.mirroring.MirrorFiles``.

    Args:
        root: the folder; made if its parent is there.
        state: the file in which is kept what was written, outside the folder.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self._state = state

    def stamps(self) -> Mapping[str, Stamp]:
        """See ``domain.mirroring.MirrorFiles``."""
        found: dict[str, Stamp] = {}
        with self._opened() as root:
            for folder in self._folders(root):
                for name, seen in _entries(root, folder):
                    if name.endswith(".md") and not name.startswith(".") and not stat.S_ISDIR(seen.st_mode):
                        found[f"{folder}/{name}"] = _stamp(seen)
                    if len(found) >= MOST_FILES:
                        raise StorageFault(
                            f"{str(self.root)!r} has more than {MOST_FILES} files; move what is not of memory away"
                        )
        return found

    def read(self, path: str) -> FileRead | None:
        """See ``domain.mirroring.MirrorFiles``."""
        with self._opened() as root, self._inside(root, path, make=False) as (folder, name):
            return None if folder < 0 else _read(folder, name, path)

    def write(self, path: str, text: str, seen: Stamp | None) -> Stamp | None:
        """See ``domain.mirroring.MirrorFiles``."""
        with self._opened() as root, self._inside(root, path, make=True) as (folder, name):
            fresh = f"{_TEMPORARY}{secrets.token_hex(8)}"
            try:
                stamp = _put(folder, fresh, text.encode())
                done = _replace(folder, fresh, name, seen)
                os.fsync(folder)
                return stamp if done else None
            finally:
                _unlink(folder, fresh)

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
                _unlink(folder, fresh)
                _put(folder, fresh, msgspec.json.encode(kept))
                os.rename(fresh, self._state.name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            finally:
                os.close(folder)

    def sweep(self) -> None:
        """Remove what a crash left half written."""
        with self._opened() as root:
            for folder in self._folders(root):
                for name, _ in _entries(root, folder):
                    if name.startswith(_TEMPORARY):
                        with self._inside(root, f"{folder}/{name}", make=False) as (at, last):
                            _unlink(at, last)

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
            scopes += [f"{above}/{name}" for name, seen in _entries(root, above) if stat.S_ISDIR(seen.st_mode)]
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


def _read(folder: int, name: str, path: str) -> FileRead | None:
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if why := _unfit(seen):
        return FileRead(path, _stamp(seen), why=why)
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return FileRead(path, _stamp(seen), why=f"it cannot be opened ({error.strerror})")
    try:
        seen = os.fstat(handle)
        if why := _unfit(seen):
            return FileRead(path, _stamp(seen), why=why)
        content = b""
        while len(content) <= MOST_BYTES and (piece := os.read(handle, MOST_BYTES + 1 - len(content))):
            content += piece
        after = _stamp(os.fstat(handle))
    finally:
        os.close(handle)
    if after != _stamp(seen):
        return FileRead(path, after, why=BUSY)
    try:
        return FileRead(path, after, content.decode())
    except UnicodeDecodeError:
        return FileRead(path, after, why="it is not UTF-8; save it as that")


def _unfit(seen: os.stat_result) -> str:
    if not stat.S_ISREG(seen.st_mode):
        return "it is a link, a pipe or another thing that is no file; put a file in its place"
    if seen.st_uid != os.geteuid():
        return "it belongs to another user"
    if seen.st_size > MOST_BYTES:
        return f"it has more than {MOST_BYTES} bytes; import what is in it with `stead memory import`"
    return ""


def _replace(folder: int, fresh: str, name: str, seen: Stamp | None) -> bool:
    """Put a file in another one's place, which must be as it was seen; ``fresh`` is left to be removed."""
    if seen is None:
        try:
            _rename(folder, fresh, name, _NOT_OVER)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            return _link(folder, fresh, name)
        return True
    if _stamp_of(folder, name) != seen:
        return False
    try:
        _rename(folder, fresh, name, _EXCHANGE)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    if _stamp_of(folder, fresh) == seen:
        return True
    _rename(folder, fresh, name, _EXCHANGE)  # an edit came between: it has its place again, and is read next
    return False


def _link(folder: int, fresh: str, name: str) -> bool:
    try:
        os.link(fresh, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return False
    return True


def _rename(folder: int, one: str, other: str, how: int) -> None:
    if _libc.renameat2(folder, one.encode(), folder, other.encode(), how) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _put(folder: int, name: str, content: bytes) -> Stamp:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
        return _stamp(os.fstat(handle))


def _unlink(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _make(folder: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return


def _entries(root: int, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """What is in a folder below the root, by name; nothing when it is none."""
    at = os.dup(root)
    try:
        for part in folder.split("/"):
            try:
                below = os.open(part, _FOLDER, dir_fd=at)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    return
                raise
            os.close(at)
            at = below
        for name in sorted(os.listdir(at)):
            try:
                yield name, os.stat(name, dir_fd=at, follow_symlinks=False)
            except FileNotFoundError:
                continue
    finally:
        os.close(at)


def _stamp_of(folder: int, name: str) -> Stamp | None:
    try:
        return _stamp(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _stamp(seen: os.stat_result) -> Stamp:
    return Stamp(seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)


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
