"""The files of memory, when words are forgotten for good.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from stead.domain.errors import StorageFault
from stead.domain.forgetting import Touches
from stead.domain.memory import MemoryId
from stead.domain.mirroring import MirrorFiles
from stead.runtime.mirroring import Mirroring


class MirrorPurges:
    """Implements ``domain.forgetting.Purges``.

    Args:
        mirroring: writes the files anew.
        files: the folder.
        inside: it lies in the home, whose files are looked into with all others.
    """

    def __init__(self, mirroring: Mirroring, files: MirrorFiles, *, inside: bool) -> None:
        self._mirroring = mirroring
        self._files = files
        self._inside = inside

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """See ``Purges``. A folder that is not usable now is told by ``scan``, and caught up with when it is again."""
        await self._mirroring.sync(whole=True)

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """See ``Purges``: a person's own lines may have the words too."""
        state = self._mirroring.state
        if not state.alive:
            return (f"{state.folder!r} could not be looked into: {state.reason}",)
        return () if self._inside else await asyncio.to_thread(self._left, touches)

    def _left(self, touches: Touches) -> tuple[str, ...]:
        found = []
        try:
            for path in self._files.stamps():
                read = self._files.read(path)
                if read is not None and read.why:
                    found.append(f"{path} was not looked into: {read.why}")
                elif read is not None and touches(read.text.encode()):
                    found.append(f"{path} of the files of memory has the words; delete the lines there")
        except StorageFault as fault:
            found.append(str(fault))
        return tuple(found)
