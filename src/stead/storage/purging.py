"""What forgetting does to the read models.

Layer: storage. A session whose words were forgotten says so in its stream, and has its rows made anew by whoever reads
that; so there is nothing to remember here, and nothing that a crash could lose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from stead.domain.forgetting import Touches
from stead.domain.memory import MemoryId
from stead.storage.views import Views


class ReadModels:
    """Implements ``domain.forgetting.Purges``.

    Args:
        views: see there.
    """

    def __init__(self, views: Views) -> None:
        self._views = views

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """Make rows anew where words were forgotten."""
        await asyncio.to_thread(self._views.purge)

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """Nothing beyond the files of the home, which are searched by themselves."""
        return ()
