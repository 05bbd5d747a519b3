"""The files of memory, of which one that somebody is writing at this moment is left alone.

Layer: runtime. Editors that write a file in place do it in pieces; half of one would read as if the rest were deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from stead.domain.mirroring import BUSY, FileRead, Kept, MirrorFiles, Stamp

SETTLED_MS = 500
"""A file that was changed by somebody else this shortly ago may be half written."""


class Settled:
    """Implements ``domain.mirroring.MirrorFiles`` over another one.

    Args:
        files: the folder.
        now_ms: by the clock that dates files.
    """

    def __init__(self, files: MirrorFiles, now_ms: Callable[[], int]) -> None:
        self._files = files
        self._now_ms = now_ms
        self._own: dict[str, Stamp] = {}
        self._before: Mapping[str, Stamp] = {}
        self.busy = False
        """A file was left alone, so it is to be looked at again."""

    def stamps(self) -> Mapping[str, Stamp]:
        """See ``domain.mirroring.MirrorFiles``."""
        return self._files.stamps()

    def begin(self) -> Mapping[str, Stamp]:
        """The files as they are before a sync."""
        self.busy = False
        self._before = self._files.stamps()
        self._own = {path: stamp for path, stamp in self._own.items() if path in self._before}
        return self._before

    @property
    def seen(self) -> Mapping[str, Stamp]:
        """The states of the files that were worked with since ``begin``; an edit that came after makes another one."""
        return {**self._before, **self._own}

    def read(self, path: str) -> FileRead | None:
        """See ``domain.mirroring.MirrorFiles``."""
        read = self._files.read(path)
        if read is None or (read.why and read.why != BUSY):
            return read
        fresh = abs(self._now_ms() - read.stamp.changed_ns // 1_000_000) < SETTLED_MS
        if read.why == BUSY or (fresh and self._own.get(path) != read.stamp):
            self.busy = True
            return replace(read, text="", why=BUSY)
        self._own[path] = read.stamp
        return read

    def write(self, path: str, text: str | None, seen: Stamp | None) -> Stamp | None:
        """See ``domain.mirroring.MirrorFiles``."""
        stamp = self._files.write(path, text, seen)
        if stamp is not None and text is None:
            self._own.pop(path, None)
            self._before = {other: was for other, was in self._before.items() if other != path}
        elif stamp is not None:
            self._own[path] = stamp
        return stamp

    def kept(self) -> Kept:
        """See ``domain.mirroring.MirrorFiles``."""
        return self._files.kept()

    def keep(self, kept: Kept) -> None:
        """See ``domain.mirroring.MirrorFiles``."""
        self._files.keep(kept)
