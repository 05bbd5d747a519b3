"""Files that sealed chunks are appended to, many in each.

Layer: storage. A pack has no form of its own: where a chunk begins and ends, only the index knows, so a pack tells
nobody how large anything in it is. What lies behind the last byte that the index knows of was never acknowledged; it is
cut off when the folder is opened.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from stead.domain.errors import StorageFault
from stead.storage.database import Damaged, sync

PACK_BYTES = 32 << 20
"""A pack that has reached this takes no more: small enough to be rewritten when part of it is forgotten."""


class Packs:
    """The folder of them. Safe to use from many threads.

    Args:
        folder: created for the owner only when it is absent.
        ends: number of each pack that the index knows, and where its last chunk ends.

    Raises:
        StorageFault: the folder cannot be used.
    """

    def __init__(self, folder: Path, ends: Mapping[int, int]) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._free: dict[int, int] = {}
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            for number in self.numbers():
                end = ends.get(number, 0)
                size = self.path(number).stat().st_size
                if end == 0:
                    self.path(number).unlink()
                elif size >= end:  # a shorter one has lost something: its chunks will say so when they are read
                    if size > end:
                        os.truncate(self.path(number), end)
                    self._free[number] = end
        except OSError as error:
            raise refusal(folder, error) from error
        self._next = max([*ends, 0]) + 1

    def path(self, number: int) -> Path:
        """Where a pack is."""
        return self._folder / f"{number:08d}.pack"

    def numbers(self) -> list[int]:
        """Of every pack that is there."""
        return sorted(int(path.stem) for path in self._folder.glob("*.pack") if path.stem.isdecimal())

    def borrow(self) -> Pack:
        """One with room that nobody else appends to; its borrower gives it back or retires it.

        Raises:
            StorageFault: it cannot be opened or made.
        """
        with self._lock:
            number = next((number for number, end in self._free.items() if end < PACK_BYTES), 0)
            end = self._free.pop(number, 0)
            if not number:
                number, self._next = self._next, self._next + 1
        try:
            return Pack(self.path(number), number, end)
        except OSError as error:
            raise refusal(self.path(number), error) from error

    def give_back(self, pack: Pack) -> None:
        """Every byte of it is known to the index, or was taken back."""
        pack.close()
        with self._lock:
            self._free[pack.number] = pack.end

    def read(self, number: int, at: int, size: int) -> bytes:
        """Bytes of a pack.

        Raises:
            Damaged: the pack is gone, or shorter than it was.
            StorageFault: the disk refuses.
        """
        try:
            descriptor = os.open(self.path(number), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise Damaged(f"the pack {str(self.path(number))!r} is gone; put it back, or restore a backup") from error
        except OSError as error:
            raise refusal(self.path(number), error) from error
        try:
            found = os.pread(descriptor, size, at)
        except OSError as error:
            raise refusal(self.path(number), error) from error
        finally:
            os.close(descriptor)
        if len(found) < size:
            raise Damaged(f"the pack {str(self.path(number))!r} was cut short; put it back, or restore a backup")
        return found

    def size(self, number: int) -> int:
        """Bytes on the disk."""
        return self.path(number).stat().st_size

    def withdraw(self, number: int) -> None:
        """Lend it to nobody any more."""
        with self._lock:
            self._free.pop(number, None)

    def remove(self, number: int) -> None:
        """Nothing in it is needed any more.

        Raises:
            StorageFault: the disk refuses.
        """
        self.withdraw(number)
        try:
            self.path(number).unlink(missing_ok=True)
        except OSError as error:
            raise refusal(self.path(number), error) from error


class Pack:
    """One that is being appended to, by one thread."""

    def __init__(self, path: Path, number: int, end: int) -> None:
        self.number = number
        self.end = self._known = end
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if end == 0:
            sync(path.parent)

    def append(self, sealed: bytes) -> int:
        """Where it lies now; not yet on the disk.

        Raises:
            StorageFault: the disk is full.
        """
        at, rest = self.end, memoryview(sealed)
        try:
            while rest:
                rest = rest[os.pwrite(self._descriptor, rest, self.end + len(sealed) - len(rest)) :]
        except OSError as error:
            raise refusal(self._path, error) from error
        self.end += len(sealed)
        return at

    def sync(self) -> None:
        """Wait until it is on the disk.

        Raises:
            StorageFault: the disk refuses.
        """
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            raise refusal(self._path, error) from error

    def acknowledge(self) -> None:
        """The index knows of all that was appended."""
        self._known = self.end

    def undo(self) -> None:
        """Take back what was never acknowledged, which also makes room on a full disk."""
        self.end = self._known
        os.ftruncate(self._descriptor, self._known)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def refusal(path: Path, error: OSError) -> StorageFault:
    """What an error of the disk means for a person."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageFault(f"{str(path)!r}: the disk is full, nothing was written; free some space and try again")
    return StorageFault(f"{str(path)!r}: {error.strerror}; check the disk, and the owner and mode of that folder")
