"""The place of the checkpoint store until it is built in: every request is refused, so sessions go on without.

Layer: machines.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.checkpoints import FileChange, Progress, Restored, Tree, Version
from stead.domain.errors import InvalidRequest


class Unkept:
    """Implements ``Checkpoints`` and ``Versions`` by refusing."""

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        """Refuse."""
        raise InvalidRequest("no store")

    async def differences(
        self, directory: str, ignore: Sequence[str], old: str, new: str = ""
    ) -> tuple[FileChange, ...]:
        """Refuse."""
        raise InvalidRequest("no store")

    async def restore(self, directory: str, ignore: Sequence[str], root: str, paths: Sequence[str] = ()) -> Restored:
        """Refuse."""
        raise InvalidRequest("no store")

    async def amend(self, root: str, versions: Sequence[Version]) -> str:
        """Refuse."""
        raise InvalidRequest("no store")

    async def forget(self, keep: Sequence[str], contents: Sequence[str]) -> int:
        """Refuse."""
        raise InvalidRequest("no store")

    async def keep(self, directory: str, paths: Sequence[str]) -> tuple[Version, ...]:
        """Refuse."""
        return ()

    async def change(self, old: Version, new: Version) -> FileChange:
        """Refuse."""
        raise InvalidRequest("no store")

    async def put_back(self, directory: str, old: Version, expected: Version) -> None:
        """Refuse."""
        raise InvalidRequest("no store")
