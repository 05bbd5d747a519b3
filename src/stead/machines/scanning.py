"""Walking a person's folder for a checkpoint.

Layer: machines. Another session's machine may be at work in the folder, and everything in it may be hostile: it is
walked by descriptors, no link is followed, nothing but folders and regular files is opened, and number, depth and sizes
are bounded.

A file that looks from outside as it did when it was last read (size, times, inode) is not read again. One blind spot of
that is known from Git as "racily clean": a file that is written again within one tick of the file system's clock, after
it was read, keeps its times. So what had been changed less than two seconds before it was read is not trusted the next
time; two seconds is the coarsest clock in use.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from stead.domain.checkpoints import LeftOut, Progress
from stead.domain.errors import InvalidRequest, StorageFault
from stead.machines import left_out
from stead.machines.layers import REGULAR, opened
from stead.machines.opening import open_own
from stead.machines.workspace import enter
from stead.storage.contents import Seen, SeenFolder
from stead.storage.intake import Intake
from stead.storage.trees import Entries, Entry

PERMISSIONS = 0o777
"""The bits of a mode that are kept; set-user, set-group and sticky bits are nobody's to bring back."""

RACY_NS = 2_000_000_000
"""Younger changes are not told by their times."""
_SHOWN = 100
_TOLD_EVERY = 200


class _LeftOut(Exception):
    """Something is not kept, and why."""


class Scan:
    """One walk.

    Args:
        intake: is given what is found.
        seen: what is known of each folder, by path.
        rules: what is left out.
        most_files: files, links and folders.
        progress: told now and then.
        stopped: once true, the walk ends with a ``StorageFault``.
    """

    def __init__(
        self,
        intake: Intake,
        seen: Mapping[bytes, SeenFolder],
        rules: left_out.Rules,
        *,
        most_files: int,
        progress: Progress = lambda done, known: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.files = self.size_bytes = self.left_out_count = 0
        self.left_out: list[LeftOut] = []
        self._intake = intake
        self._seen = seen
        self._rules = rules
        self._most_files = most_files
        self._progress = progress
        self._stopped = stopped
        self._listed = 0
        self._device = 0

    def run(self, directory: str, expected_files: int = 0) -> bytes:
        """The name of the folder's tree.

        Args:
            directory: absolute real path.
            expected_files: how many it had the last time, for ``progress``.

        Raises:
            InvalidRequest: it is no readable folder, or has more files than are kept.
            StorageFault: the intake's, or the walk was stopped.
        """
        self._directory, self._expected = directory, expected_files
        with opened_top(directory) as top:
            self._device = os.fstat(top).st_dev
            try:
                root = self._folder(top, "", 0)
            except OSError as error:
                raise unreadable(directory, error) from error
        self._progress(self.files, self.files)
        return root

    def _folder(self, folder: int, above: str, depth: int) -> bytes:
        known = self._seen.get(os.fsencode(above))
        before = known.files if known else {}
        now: Seen = {}
        entries: Entries = []
        for entry in self._entries(folder, above):
            if found := self._entry(folder, above, entry, depth, before, now):
                entries.append(found)
        tree = self._intake.tree(entries, known.tree if known else b"")
        if known is None or known.tree != tree or before != now:
            self._intake.see(os.fsencode(above), tree, now)
        return tree

    def _entries(self, folder: int, above: str) -> list[os.DirEntry[str]]:
        """What is not left out by name, in order."""
        found = []
        with os.scandir(folder) as listing:
            for entry in listing:
                is_folder = entry.is_dir(follow_symlinks=False)
                if why := self._rules.why(above + entry.name, entry.name, folder=is_folder):
                    self._leave(above + entry.name, why)
                    continue
                self._listed += 1
                if self._listed > self._most_files:
                    raise InvalidRequest(
                        f"{self._directory!r} has more than {self._most_files:,} files that are not left out; name "
                        "what need not be kept in ignore patterns ('build/', '*.log'), or work on a part of it"
                    )
                found.append(entry)
        return sorted(found, key=lambda entry: os.fsencode(entry.name))

    def _entry(
        self, folder: int, above: str, entry: os.DirEntry[str], depth: int, before: Seen, now: Seen
    ) -> Entry | None:
        """What it is kept as; None when it is left out or gone."""
        name, path = os.fsencode(entry.name), above + entry.name
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                return self._file(folder, path, name, status, before, now)
            if stat.S_ISDIR(status.st_mode):
                return self._inner(folder, path, name, depth)
            if stat.S_ISLNK(status.st_mode):
                self._count(0)
                return Entry(name, "link", 0, 0, os.fsencode(os.readlink(entry.name, dir_fd=folder)))
            self._leave(path, left_out.SPECIAL)
        except _LeftOut as left:
            self._leave(path, str(left))
        except FileNotFoundError:
            return None  # it went away since it was listed
        except OSError as error:
            self._leave(path, why_not(error))
        return None

    def _inner(self, folder: int, path: str, name: bytes, depth: int) -> Entry:
        if depth == left_out.DEEPEST:
            raise _LeftOut(left_out.TOO_DEEP)
        with opened(os.fsdecode(name), folder) as inner:
            status = os.fstat(inner)
            if status.st_dev != self._device:
                raise _LeftOut(left_out.MOUNTED)
            if left_out.is_cache(inner):
                raise _LeftOut(left_out.ANEW)
            tree = self._folder(inner, path + "/", depth + 1)
        return Entry(name, "folder", status.st_mode & PERMISSIONS, 0, tree)

    def _file(self, folder: int, path: str, name: bytes, status: os.stat_result, before: Seen, now: Seen) -> Entry:
        if status.st_size > left_out.LARGEST_BYTES:
            raise _LeftOut(left_out.TOO_LARGE)
        known = before.get(name)
        if known is None or known[:4] != look(status):
            return self._read(folder, path, name, now)
        now[name] = known
        self._count(status.st_size)
        return Entry(name, "file", status.st_mode & PERMISSIONS, status.st_size, known[4])

    def _read(self, folder: int, path: str, name: bytes, now: Seen) -> Entry:
        descriptor = open_own(name, REGULAR, folder)
        try:
            began_ns = time.time_ns()
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _LeftOut(left_out.SPECIAL)
            reading = Reading(descriptor, self._check)
            content = self._intake.content(reading.read)
        finally:
            os.close(descriptor)
        if reading.too_large:
            raise _LeftOut(left_out.TOO_LARGE)
        if max(status.st_mtime_ns, status.st_ctime_ns) < began_ns - RACY_NS:
            now[name] = (*look(status), content)
        self._count(reading.size_bytes)
        return Entry(name, "file", status.st_mode & PERMISSIONS, reading.size_bytes, content)

    def _leave(self, path: str, why: str) -> None:
        self.left_out_count += 1
        if self.left_out_count <= _SHOWN:
            self.left_out.append(LeftOut(left_out.shown(path), why))

    def _count(self, size_bytes: int) -> None:
        self._check()
        self.files += 1
        self.size_bytes += size_bytes
        if self.files % _TOLD_EVERY == 0:
            self._progress(self.files, max(self._expected, self._listed, self.files))

    def _check(self) -> None:
        if self._stopped():
            raise StorageFault("the checkpoint was given up before it was whole; take another one")


class Reading:
    """A regular file that is being read, at most as much of it as is kept.

    Args:
        descriptor: of the file.
        check: called before each read.
    """

    def __init__(self, descriptor: int, check: Callable[[], None] = lambda: None) -> None:
        self.size_bytes = 0
        self.too_large = os.fstat(descriptor).st_size > left_out.LARGEST_BYTES
        self._descriptor = descriptor
        self._check = check

    def read(self, most: int) -> bytes:
        """Up to so many bytes; none at the end, or when it is larger than what is kept, or grows beyond it.

        Raises:
            OSError: the disk refuses.
        """
        self._check()
        block = b"" if self.too_large else os.read(self._descriptor, most)
        self.size_bytes += len(block)
        self.too_large |= self.size_bytes > left_out.LARGEST_BYTES
        return b"" if self.too_large else block


def look(status: os.stat_result) -> tuple[int, int, int, int]:
    """What a file looks like from outside, as ``Seen`` has it."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


@contextmanager
def opened_top(directory: str) -> Iterator[int]:
    """A descriptor of the folder itself.

    Raises:
        InvalidRequest: it is not there, or may not be read.
    """
    try:
        top = enter(directory)
    except OSError as error:
        raise unreadable(directory, error) from error
    try:
        yield top
    finally:
        os.close(top)


def unreadable(directory: str, error: OSError) -> InvalidRequest:
    """That a folder cannot be worked on."""
    return InvalidRequest(f"{directory!r} is no folder that can be read ({error.strerror}); put it back or mend it")


def why_not(error: OSError) -> str:
    """Why something in the folder cannot be read or written."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return "you may not read or write it"
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
        return "it became something else just now"
    return str(error.strerror)
