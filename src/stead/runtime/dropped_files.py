"""Files that are put into a folder, taken in once each.

Layer: runtime. The folder is looked at every few seconds, which costs less than a thousandth of a core. A file is whole
once two looks find it the same and it has not been written for a while; who writes slowly gives it a name that begins
with a dot, and renames it. What is no regular file of one name is left alone: a link could name any file of the
person's. After it is recorded a file goes to the folder ``done``; a crash between the two finds it recorded.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from stead.domain.errors import StorageFault
from stead.domain.triggers import MOST_BYTES, Drop
from stead.runtime.arrivals import Arrivals

log = logging.getLogger(__name__)
LOOK_S = 3.0
STILL_S = 2.0
DONE = "done"
_MOST_ENTRIES = 10_000
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Seen = tuple[int, int, int]
"""Of a file: inode, time of change in nanoseconds, size in bytes."""


class DroppedFiles:
    """Watches one folder.

    Args:
        arrivals: takes them in.
        name: of the trigger.
        drop: the folder.
        own: Stead's own folder, in which nothing is looked for.
    """

    def __init__(self, arrivals: Arrivals, name: str, drop: Drop, own: Path) -> None:
        self._arrivals = arrivals
        self._name = name
        self._path = drop.path
        self._own = own
        self._before: dict[str, Seen] = {}
        self._said: dict[str, Seen] = {}

    async def keep(self) -> None:
        """Take in what is there, and whatever comes, until cancelled."""
        while True:
            try:
                await self.look()
                self._arrivals.faults.pop(self._name, None)
            except (OSError, StorageFault) as fault:
                self._arrivals.faults[self._name] = str(fault)
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Look once; what was there at the look before and is whole is taken in.

        Raises:
            OSError: the folder cannot be read, or nothing be moved in it.
            StorageFault: something could not be recorded.
        """
        if os.path.commonpath((self._path, self._own)) == str(self._own):
            raise OSError("that is Stead's own folder; name another")
        now, refused = await asyncio.to_thread(self._scan)
        for name, why in refused.items():
            await self._refuse(name, now[name], why)
        ready = [name for name, seen in now.items() if self._before.get(name) == seen and name not in refused]
        self._before = now
        for name in sorted(ready, key=lambda name: now[name][1]):
            if not await self._take(name, now[name]):
                return

    async def _take(self, name: str, seen: Seen) -> bool:
        """Take one in; whether there is room for the next."""
        data = await asyncio.to_thread(self._read, name, seen)
        if data is None:
            return True  # it changed meanwhile; the next look sees it
        outcome = await self._arrivals.take(self._name, f"{name} ({seen[0]:x}-{seen[1]:x})", data)
        if outcome != "taken":
            if outcome != "off":
                await self._refuse(name, seen, "waits: there is no room yet")
            return False
        await asyncio.to_thread(self._move, name, seen)
        return True

    async def _refuse(self, name: str, seen: Seen, why: str) -> None:
        if self._said.get(name) != seen:
            self._said[name] = seen
            await self._arrivals.refused(self._name, f"{name[:80]!r} {why}")

    def _scan(self) -> tuple[dict[str, Seen], dict[str, str]]:
        """What is there, by name, and what of it is not taken, with why."""
        now: dict[str, Seen] = {}
        refused: dict[str, str] = {}
        folder = os.open(self._path, _FOLDER)
        try:
            newest_ns = time.time_ns() - int(STILL_S * 1e9)
            with os.scandir(folder) as entries:
                for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                    found = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
                    if entry.name.startswith(".") or stat.S_ISDIR(found.st_mode):
                        continue
                    now[entry.name] = (found.st_ino, found.st_mtime_ns, found.st_size)
                    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                        refused[entry.name] = "is a link or no regular file"
                    elif found.st_size > MOST_BYTES:
                        refused[entry.name] = f"has more than {MOST_BYTES // 1_000_000} MB"
                    elif found.st_ctime_ns > newest_ns:
                        now[entry.name] = (found.st_ino, 0, -1)  # it may still be written
        finally:
            os.close(folder)
        return now, refused

    def _read(self, name: str, seen: Seen) -> bytes | None:
        """The bytes of a file that is still the one that was seen."""
        folder = os.open(self._path, _FOLDER)
        try:
            file = os.open(name, _READ, dir_fd=folder)
        except OSError:
            return None
        finally:
            os.close(folder)
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if (found.st_ino, found.st_mtime_ns, found.st_size) != seen or not stat.S_ISREG(found.st_mode):
                return None
            data = opened.read(MOST_BYTES + 1)
            return data if len(data) == seen[2] else None

    def _move(self, name: str, seen: Seen) -> None:
        """Put it to what is done, if it is still the one that was taken in; where its name is used, under another."""
        folder = os.open(self._path, _FOLDER)
        try:
            if not os.path.lexists(f"{self._path}/{DONE}"):
                os.mkdir(DONE, 0o700, dir_fd=folder)
            done = os.open(DONE, _FOLDER, dir_fd=folder)
            try:
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if (found.st_ino, found.st_mtime_ns, found.st_size) == seen:
                    there = set(os.listdir(done))
                    free = next(one for one in _names(name) if one not in there)
                    os.rename(name, free, src_dir_fd=folder, dst_dir_fd=done)
            finally:
                os.close(done)
        except FileNotFoundError:
            return  # it was taken away
        finally:
            os.close(folder)


def _names(name: str) -> Iterator[str]:
    """The name, then others like it."""
    yield name
    for number in count(1):
        yield f"{name}.{number}"
