"""What forgetting does to the read models, and to the files that checkpoints keep.

Layer: storage. A session whose words were forgotten says so in its stream, and has its rows made anew by whoever reads
that; so there is nothing to remember here, and nothing that a crash could lose. Kept files are the person's own: nobody
takes words out of them, but they are looked into, so that the receipt tells.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from stead.domain.errors import NotFound
from stead.domain.forgetting import Touches
from stead.domain.memory import MemoryId
from stead.storage.contents import ContentStore
from stead.storage.database import Damaged
from stead.storage.residue import DROPPED
from stead.storage.views import Views

SEARCH_S = 5.0
"""How long kept files are searched."""


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


class KeptFiles:
    """Implements ``domain.forgetting.Purges``.

    Args:
        store: of the files.
        seconds: how long they are searched at most.
    """

    def __init__(self, store: ContentStore, seconds: float = SEARCH_S) -> None:
        self._store = store
        self._seconds = seconds

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """Touch nothing."""

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """Whether kept files have the words, or nobody could look into them all in time."""
        return await asyncio.to_thread(self._scan, touches)

    def _scan(self, touches: Touches) -> tuple[str, ...]:
        deadline = time.monotonic() + self._seconds
        found = skipped = 0
        with self._store.database.reading() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM chunks WHERE bad = 0")]
        for at, name in enumerate(names):
            if time.monotonic() > deadline:
                skipped = len(names) - at
                break
            try:
                found += touches(b"".join(self._store.read(name)))
            except (NotFound, Damaged):
                skipped += 1  # dropped meanwhile, or of no use to anybody
        left = (
            [f"data/contents: {found} pieces of your own files, as checkpoints keep them; {DROPPED}"] if found else []
        )
        left += [f"not searched: {skipped} of {len(names)} pieces of files that checkpoints keep"] if skipped else []
        return tuple(left)
