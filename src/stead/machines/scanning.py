"""Walking a person's folder for a checkpoint, or to compare it with one.

Layer: machines. Everything in the folder may be hostile, and the person's programs are at work in it: it is walked by
descriptors, no link is followed, nothing but folders and regular files is opened, and number, depth and sizes are
bounded.

A file that looks from outside as it did when it was last read (size, times, inode) is not read again. One blind spot of
that is known from Git as "racily clean": a file that is written again within one tick of the file system's clock, after
it was read, keeps its times. So what had been changed less than two seconds before it was read is not trusted the next
time; two seconds is the coarsest clock in use.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from stead.domain.checkpoints import LeftOut, Progress
from stead.domain.errors import InvalidRequest, StorageFault
from stead.machines import left_out
from stead.machines.layers import REGULAR, opened
from stead.machines.opening import open_own
from stead.storage.contents import Seen, SeenFolder
from stead.storage.intake import Intake
from stead.storage.trees import Entries, Entry

PERMISSIONS = 0o777
"""The bits of a mode that are kept; set-user, set-group and sticky bits are nobody's to bring back."""

RACY_NS = 2_000_000_000
"""Younger changes are not recognised by their times."""
_BLOCK = 64 << 10
_SHOWN = 100
_PROGRESS_EVERY = 200


class NotKept(Exception):
    """Something is left out, and why."""


def _unstopped() -> None:
    """Nobody gives it up."""


@dataclass
class Scan:
    """One walk; ``files``, ``size_bytes`` and what is ``left_out`` are known when it has ended.

    Args:
        directory: as it is named in errors.
        intake: is given what is found.
        seen: what is known of each folder, by path.
        rules: what is left out.
        most_files: files, links and folders.
        stopped: once true, the walk ends with a ``StorageFault``.
        progress: called now and then.
    """

    directory: str
    intake: Intake
    seen: Mapping[bytes, SeenFolder]
    rules: left_out.Rules
    most_files: int
    stopped: Callable[[], bool]
    progress: Progress = lambda done, known: None
    files: int = field(default=0, init=False)
    size_bytes: int = field(default=0, init=False)
    left_out: list[LeftOut] = field(default_factory=list, init=False)
    left_out_count: int = field(default=0, init=False)

    def run(self, top: int, expected_files: int = 0) -> bytes:
        """The name of the folder's tree.

        Args:
            top: descriptor of the folder.
            expected_files: how many it had the last time, for ``progress``.

        Raises:
            InvalidRequest: it has more files than are kept.
            OSError: it cannot be read.
            StorageFault: the intake's, or the walk was stopped.
        """
        self._expected, self._listed, self._device = expected_files, 0, os.fstat(top).st_dev
        root = self._folder(top, "", 0)
        self.progress(self.files, self.files)
        return root

    def _folder(self, folder: int, above: str, depth: int) -> bytes:
        known = self.seen.get(os.fsencode(above))
        before = known.files if known else {}
        now: Seen = {}
        entries: Entries = []
        for found in self._entries(folder, above):
            path = above + found.name
            try:
                entries.append(self._entry(folder, path, found, depth, before, now))
            except NotKept as left:
                self._leave(path, str(left))
            except FileNotFoundError:
                continue  # it went away since it was listed
            except OSError as error:
                self._leave(path, left_out.why_not(error))
        tree = self.intake.tree(entries, known.tree if known else b"")
        if known is None or known.tree != tree or before != now:
            self.intake.see(os.fsencode(above), tree, now)
        return tree

    def _entries(self, folder: int, above: str) -> list[os.DirEntry[str]]:
        """What is not left out by name, in order."""
        found = []
        with os.scandir(folder) as listing:
            for entry in listing:
                is_folder = entry.is_dir(follow_symlinks=False)
                if why := self.rules.why(above + entry.name, entry.name, folder=is_folder):
                    self._leave(above + entry.name, why)
                    continue
                self._listed += 1
                if self._listed > self.most_files:
                    raise InvalidRequest(
                        f"{self.directory!r} has more than {self.most_files:,} files that are not left out; name "
                        "what need not be kept in ignore patterns ('build/', '*.log'), or work on a part of it"
                    )
                found.append(entry)
        return sorted(found, key=lambda entry: os.fsencode(entry.name))

    def _entry(self, folder: int, path: str, found: os.DirEntry[str], depth: int, before: Seen, now: Seen) -> Entry:
        name, status = os.fsencode(found.name), found.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            return self._inner(folder, path, name, depth)
        if stat.S_ISLNK(status.st_mode):
            entry = Entry(name, "link", 0, 0, os.fsencode(os.readlink(found.name, dir_fd=folder)))
        elif not stat.S_ISREG(status.st_mode):
            raise NotKept(left_out.SPECIAL)
        elif (known := before.get(name)) is not None and known[:4] == look(status):
            now[name] = known
            entry = Entry(name, "file", status.st_mode & PERMISSIONS, status.st_size, known[4])
        else:
            began_ns = time.time_ns()
            entry, status = read_file(self.intake, folder, name, self._check)
            if max(status.st_mtime_ns, status.st_ctime_ns) < began_ns - RACY_NS:
                now[name] = (*look(status), entry.ref)
        self._count(entry.size)
        return entry

    def _inner(self, folder: int, path: str, name: bytes, depth: int) -> Entry:
        if depth == left_out.DEEPEST:
            raise NotKept(left_out.TOO_DEEP)
        with opened(os.fsdecode(name), folder) as inner:
            status = os.fstat(inner)
            if status.st_dev != self._device:
                raise NotKept(left_out.MOUNTED)
            if left_out.is_cache(inner):
                raise NotKept(left_out.REBUILT)
            tree = self._folder(inner, path + "/", depth + 1)
        return Entry(name, "folder", status.st_mode & PERMISSIONS, 0, tree)

    def _leave(self, path: str, why: str) -> None:
        self.left_out_count += 1
        if self.left_out_count <= _SHOWN:
            self.left_out.append(LeftOut(left_out.shown(path), why))

    def _count(self, size_bytes: int) -> None:
        self._check()
        self.files += 1
        self.size_bytes += size_bytes
        if self.files % _PROGRESS_EVERY == 0:
            self.progress(self.files, max(self._expected, self._listed, self.files))

    def _check(self) -> None:
        if self.stopped():
            raise StorageFault("the checkpoint was given up before it was whole; take another one")


def read_file(
    intake: Intake, folder: int, name: bytes, check: Callable[[], None] = _unstopped
) -> tuple[Entry, os.stat_result]:
    """A regular file as it is kept, and its status from before it was read.

    Args:
        intake: is given the content.
        folder: descriptor of the folder that it is in.
        name: of the file.
        check: called before each read.

    Raises:
        NotKept: it is too large, or has become so while it was read.
        OSError: it is no regular file (any more), or cannot be read.
    """
    size = 0
    with regular(folder, name) as file:
        status = os.fstat(file)

        def read(most: int) -> bytes:
            nonlocal size
            check()
            if max(size, status.st_size) > left_out.LARGEST_BYTES:
                raise NotKept(left_out.TOO_LARGE)
            block = os.read(file, min(most, max(status.st_size - size, _BLOCK) + 1))
            size += len(block)
            return block

        content = intake.content(read)
    return Entry(name, "file", status.st_mode & PERMISSIONS, size, content), status


@contextmanager
def regular(folder: int, name: bytes) -> Iterator[int]:
    """A descriptor of a regular file, to read it.

    Raises:
        OSError: it is none (any more), or may not be read.
    """
    file = open_own(name, REGULAR, folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise NotADirectoryError(20, "it became something else just now")
        yield file
    finally:
        os.close(file)


def look(status: os.stat_result) -> tuple[int, int, int, int]:
    """What a file looks like from outside, as ``Seen`` has it."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
