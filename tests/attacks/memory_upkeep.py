"""What works on all places at once, and must keep them apart: consolidation, the files of memory, exports of a place.

Each thing that it makes is looked at as the narrowest viewer would who may see it there.
"""

from __future__ import annotations

import asyncio
from datetime import UTC
from pathlib import Path
from typing import Literal, get_args

import msgspec

from stead.domain.directive_commands import SetDirective
from stead.domain.directives import Directives
from stead.domain.forget_commands import Forget
from stead.domain.memory import GLOBAL, MemoryRow, PlaceId, Scope, Standing, Viewer
from stead.domain.memory_ports import RowsWanted
from stead.memory.files.export import MemoryExport
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.souls import DirectiveSouls
from stead.memory.files.sync import FileSync
from stead.memory.material import BooksMaterial
from stead.runtime.consolidation import Consolidation
from tests.attacks.memory_grounds import Grounds

_NOWHERE = PlaceId("w_ffffffffffffffff")


class Upkeep:
    """Of grounds.

    Args:
        grounds: see there.
        folder: for the files of memory, outside of the grounds' own.
    """

    def __init__(self, grounds: Grounds, folder: Path) -> None:
        self._grounds = grounds
        self._root = folder / "files"
        self._files = MemoryFolder(self._root, folder / "mirror.json", grounds.clock.now_ms)
        souls = DirectiveSouls(Directives, _no_change)
        self._mirroring = FileSync(grounds.memories, grounds.books, grounds.journal, self._files, souls, zone=UTC)
        self._consolidation = Consolidation(grounds.memories, BooksMaterial(grounds.books, grounds.journal))
        self._export = MemoryExport(grounds.books, grounds.books, bytes(32))
        self.looked = 0

    async def round(self) -> list[str]:
        """All of it once; gives what stands where it must not. ``looked`` counts the things that were looked at."""
        before = {row.memory.id for row in self._rows()}
        await self._consolidation.run()
        made = [row for row in self._rows() if row.memory.id not in before]
        for row in made:
            self._grounds.know(row.memory.id, row.memory.scope)
        leaked = [word for row in made for word in self._looked_at("consolidation", row, row.memory.scope)]
        leaked += await self._in_receipt()
        await self._mirroring.sync(whole=True)
        return [*leaked, *await asyncio.to_thread(self._in_files), *await asyncio.to_thread(self._in_exports)]

    async def _in_receipt(self) -> list[str]:
        """What is forgotten stands in nobody's answer any more, and no word of it in the receipt."""
        live = [row.memory for row in self._rows() if row.status == "live"]
        gone = self._grounds.random.choice(live)
        receipt = await self._grounds.forgetting.forget(Forget((gone.id,)), "cli")
        self.looked += 1
        left = self._grounds.shown(receipt) - {gone.id}
        return [f"receipt: {word}" for word in left if not word.startswith(("m_", "e_"))]

    def _in_files(self) -> list[str]:
        leaked: list[str] = []
        for name, folder in self._files.load().folders.items():
            level, _, place = name.partition(":")
            scope = msgspec.convert({"level": level, "place": place}, Scope)
            for file in sorted((self._root / folder).rglob("*.md")):
                leaked += self._looked_at("mirror", f"{file.name}\n{file.read_text('utf-8')}", scope)
        notices = " ".join(self._mirroring.state.notices)
        return [*leaked, *self._looked_at("notices", notices, Scope("global", GLOBAL))]

    def _in_exports(self) -> list[str]:
        """An export is of a place, with all levels: as the person sees it who works there."""
        leaked: list[str] = []
        for place in self._grounds.books.places():
            channel = place.id if place.id.startswith("c_") else PlaceId("")
            look = Viewer(_NOWHERE if place.id == GLOBAL else place.id, channel, interactive=True)
            forms: tuple[Literal["jsonl", "markdown"], ...] = ("jsonl", "markdown")
            pieces = (piece for form in forms for piece in self._export.lines(form, place.id, 0))
            for line in b"".join(pieces).split(b"\n"):
                self.looked += 1
                leaked += [f"export: {word}" for word in self._grounds.leaks(line.decode(), look)]
        return leaked

    def _looked_at(self, kind: str, said: object, scope: Scope) -> list[str]:
        self.looked += 1
        return [f"{kind}: {word}" for word in self._grounds.leaks(said, narrowest(scope))]

    def _rows(self) -> list[MemoryRow]:
        wanted = RowsWanted(status=get_args(Standing), limit=1_000_000)
        indexes = [self._grounds.books.index(place.id) for place in self._grounds.books.places()]
        return [row for index in indexes if index is not None for row in index.rows(wanted)[0]]


async def _no_change(command: SetDirective) -> object:
    raise AssertionError(f"there is no soul to be changed: {command!r}")


def narrowest(scope: Scope) -> Viewer:
    """Who sees a scope, and of all others as little as one can who does."""
    match scope.level:
        case "global":
            return Viewer(_NOWHERE)
        case "workspace":
            return Viewer(scope.place)
        case "private":
            return Viewer(scope.place, interactive=True)
        case "channel":
            return Viewer(_NOWHERE, scope.place)
