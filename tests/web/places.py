"""Folders and files of the simulated home: the real ones of this computer, by the product's own adapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stead.domain.folders import FileContent, FileListing, FolderListing
from stead.domain.ids import SessionId
from stead.domain.sessions import Session
from stead.machines.looking import HostFolders


class Looks:
    """Implements ``service.Looks``.

    Args:
        state: the fold of a session; raises ``NotFound``.
    """

    def __init__(self, state: Callable[[SessionId], Session]) -> None:
        self._state = state
        self._host = HostFolders(Path("/nowhere/stead"))

    async def folders(self, path: str) -> FolderListing:
        return await self._host.folders(path)

    async def files(self, session: SessionId, path: str) -> FileListing:
        return await self._host.files(self._state(session).spec.directory, path)

    async def content(self, session: SessionId, path: str) -> FileContent:
        return await self._host.content(self._state(session).spec.directory, path)
