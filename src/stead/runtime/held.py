"""What is kept of files and not on record yet, so that nothing of it is dropped meanwhile.

Layer: runtime. Names come from any thread; a set takes them one by one.
"""

from __future__ import annotations

from stead.domain.checkpoints import InUse


class Held:
    """Names of trees and contents, from when they are kept until the record is known to have them."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, name: str) -> None:
        """Somebody had this kept."""
        self._names.add(name)

    def with_recorded(self, recorded: InUse) -> InUse:
        """What is on record, and what is not yet. Nobody can have anything kept while this runs."""
        self._names -= recorded.roots | recorded.contents
        return InUse(recorded.roots | self._names, recorded.contents | self._names)
