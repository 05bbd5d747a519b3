"""The bytes of attachments, in the store of file contents: each once, sealed, and dropped with what refers to it.

Layer: storage. All work is done in threads.
"""

from __future__ import annotations

import asyncio
from io import BytesIO

from stead.domain.errors import NotFound
from stead.storage.contents import NAME_BYTES, ContentStore
from stead.storage.intake import keeping


class AttachmentStore:
    """Keeps and gives back.

    Args:
        store: of the home.
    """

    def __init__(self, store: ContentStore) -> None:
        self._store = store

    async def keep(self, data: bytes) -> str:
        """Store bytes, if they are not stored yet; gives their name. Durable when this returns.

        Raises:
            StorageFault: the disk is full.
        """
        return await asyncio.to_thread(self._keep, data)

    def load(self, content: str) -> bytes:
        """The bytes of this name. It blocks.

        Raises:
            NotFound: they are not kept any more.
            StorageFault: they are damaged, or the disk refuses.
        """
        try:
            name = bytes.fromhex(content)
        except ValueError:
            name = b""
        if len(name) != NAME_BYTES:
            raise NotFound(f"{content[:80]!r} names nothing that is kept")
        with self._store.lock.shared():
            return b"".join(self._store.read(name))

    def _keep(self, data: bytes) -> str:
        with self._store.lock.shared(), keeping(self._store) as intake:
            return intake.content(BytesIO(data).read).hex()
