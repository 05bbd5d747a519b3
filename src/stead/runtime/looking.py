"""Looking at folders and files, as the page does.

Layer: runtime. What a file says may hold a secret, and a door shows it: known values and what looks like one are taken
out, as of everything else that is shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain.folders import FileContent, FileListing, FolderListing, Folders
from stead.domain.ids import SessionId
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook


@dataclass(frozen=True)
class Looking:
    """Implements ``service.Looks``."""

    host: Folders
    sessions: Sessions
    book: SecretBook

    async def folders(self, path: str) -> FolderListing:
        """See ``service.Looks``."""
        return await self.host.folders(path)

    async def files(self, session: SessionId, path: str) -> FileListing:
        """See ``service.Looks``."""
        state = await self.sessions.actor(session).state()
        return await self.host.files(state.spec.directory, path)

    async def content(self, session: SessionId, path: str) -> FileContent:
        """See ``service.Looks``."""
        state = await self.sessions.actor(session).state()
        found = await self.host.content(state.spec.directory, path)
        text = await asyncio.to_thread(self.book.redactor().clean, found.text)
        return found if text == found.text else replace(found, text=text, redacted=True)

    async def whole(self, session: SessionId, path: str) -> bytes:
        """See ``service.Looks``."""
        state = await self.sessions.actor(session).state()
        return await self.host.whole(state.spec.directory, path)
