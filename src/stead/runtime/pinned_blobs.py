"""Stored file contents that no recorded event names yet, pinned so that garbage collection keeps them.

Layer: runtime. Names are pinned from any thread; a set takes them one by one.
"""

from __future__ import annotations

from stead.domain.checkpoints import InUse


class PinnedBlobs:
    """Names of trees and contents, from when they are stored until the record is known to have them."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def pin(self, name: str) -> None:
        """Keep a tree or a content that was just stored."""
        self._names.add(name)

    def release(self, name: str) -> None:
        """Keep it no longer, unless the record names it."""
        self._names.discard(name)

    def with_recorded(self, recorded: InUse) -> InUse:
        """What garbage collection keeps: recorded names and pinned ones. Nothing may be pinned while this runs."""
        self._names -= recorded.roots | recorded.contents
        return InUse(recorded.roots | self._names, recorded.contents | self._names)
