"""The files of memory, when words are forgotten for good.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from stead.domain.errors import StorageFault
from stead.domain.forgetting import Touches
from stead.domain.memory import MemoryId
from stead.runtime.mirroring import Mirroring


class Searched(Protocol):
    """The folder, looked through for words."""

    def left(self, touches: Touches) -> tuple[str, ...]:
        """What below it has the words, or was not looked into, with what the person can do. Blocks.

        Raises:
            StorageFault: the folder is not usable.
        """


class MirrorPurges:
    """Implements ``domain.forgetting.Purges``.

    Args:
        mirroring: writes the files anew.
        files: the folder.
        inside: it lies in the home, whose files are looked into with all others.
    """

    def __init__(self, mirroring: Mirroring, files: Searched, *, inside: bool) -> None:
        self._mirroring = mirroring
        self._files = files
        self._inside = inside

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """See ``Purges``. A folder that is not usable now is told by ``scan``, and caught up with when it is again."""
        await self._mirroring.sync(whole=True)

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """See ``Purges``: a person's own lines may have the words too, and what an editor left beside them."""
        state = self._mirroring.state
        if not state.alive:
            return (f"{state.folder!r} could not be looked into: {state.reason}",)
        if self._inside:
            return ()
        try:
            return await asyncio.to_thread(self._files.left, touches)
        except StorageFault as fault:
            return (str(fault),)
