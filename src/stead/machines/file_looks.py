"""Looking at a folder for a watch: which files there are, and what is in them, as short digests.

Layer: machines. Implements ``domain.watches.FileLooks``. Everything in the folder may be hostile: it is walked by
descriptors, no link is followed, nothing but folders and regular files is opened; number, depth and time are bounded.
What is left out of checkpoints is left out here.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Iterator

from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.watches import MOST_ITEMS, Look, Place, digest
from stead.machines import left_out
from stead.machines.layers import opened
from stead.machines.scanning import RACY_NS, look, regular
from stead.machines.workspace import enter

LIMIT_S = 20.0
"""For one look."""
LARGEST_BYTES = 16 << 20
"""A larger file is known by its size and its time of change."""
_BLOCK = 1 << 20
_MOST_KNOWN = 100_000

_Known = dict[tuple[str, str], tuple[tuple[int, int, int, int], str]]


class HostFileLooks:
    """This computer's. What looks from outside as it did is not read again."""

    def __init__(self) -> None:
        self._known: _Known = {}

    async def look(self, place: Place, path: str) -> Look:
        """See ``FileLooks``.

        Raises:
            InvalidRequest: it cannot be read, or is reached through a link.
            ToolFault: it is more than can be looked at.
        """
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        return await asyncio.to_thread(_Walk(place, self._known).run, path)


class _Walk:
    """One look."""

    def __init__(self, place: Place, known: _Known) -> None:
        self._directory = place.directory
        self._rules = left_out.Rules(place.ignore)
        self._known = known
        self._until_s = time.monotonic() + LIMIT_S
        self._items: dict[str, str] = {}

    def run(self, path: str) -> Look:
        try:
            above, _, name = path.rpartition("/")
            folder = enter(f"{self._directory}/{above}")
            try:
                if name:
                    self._entry(folder, f"{above}/" if above else "", name, 0)
                else:
                    self._folder(folder, "", 0)
            finally:
                os.close(folder)
        except FileNotFoundError:
            if not os.path.isdir(self._directory):
                raise InvalidRequest(f"there is no folder {self._directory!r} any more") from None
        except OSError as error:
            raise InvalidRequest(f"{path or self._directory!r} cannot be read: {left_out.why_not(error)}") from error
        return Look(items=self._items)

    def _folder(self, folder: int, above: str, depth: int) -> None:
        with os.scandir(folder) as listing:
            for name in self._names(listing, above):
                self._entry(folder, above, name, depth)

    def _names(self, listing: Iterator[os.DirEntry[str]], above: str) -> Iterator[str]:
        for entry in listing:
            self._check()
            if not self._rules.why(above + entry.name, entry.name, folder=entry.is_dir(follow_symlinks=False)):
                yield entry.name

    def _entry(self, folder: int, above: str, name: str, depth: int) -> None:
        path = above + name
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                if depth < left_out.DEEPEST and status.st_dev == os.fstat(folder).st_dev:
                    with opened(name, folder) as inner:
                        if not left_out.is_cache(inner):
                            self._folder(inner, f"{path}/", depth + 1)
                return
            if stat.S_ISLNK(status.st_mode):
                found = "link " + digest(os.fsencode(os.readlink(name, dir_fd=folder)))
            elif stat.S_ISREG(status.st_mode):
                found = self._file(folder, path, name, status)
            else:
                return
        except FileNotFoundError:
            return  # it went away since it was listed
        except PermissionError:
            found = "unreadable"
        if len(self._items) >= MOST_ITEMS:
            raise ToolFault("{!r} has more than {} files; watch a part of it", self._directory, MOST_ITEMS)
        self._items[left_out.shown(path)] = found

    def _file(self, folder: int, path: str, name: str, status: os.stat_result) -> str:
        key, seen = (self._directory, path), look(status)
        if status.st_size > LARGEST_BYTES:
            return f"large {digest(repr(seen[:2]).encode())}"
        known = self._known.get(key)
        if known and known[0] == seen:
            return known[1]
        hashing, began_ns = hashlib.sha256(), time.time_ns()
        with regular(folder, os.fsencode(name)) as file:
            size = 0
            while size <= LARGEST_BYTES and (block := os.read(file, _BLOCK)):
                self._check()
                hashing.update(block)
                size += len(block)
        found = hashing.hexdigest()[:32]
        if max(status.st_mtime_ns, status.st_ctime_ns) < began_ns - RACY_NS:
            self._known[key] = (seen, found)
        return found

    def _check(self) -> None:
        if time.monotonic() > self._until_s:
            raise ToolFault("{!r} took longer than {:g} s to look at; watch a part of it", self._directory, LIMIT_S)
