"""Memory as people look at it through doors.

Layer: runtime. Decides nothing: it puts what the adapters know into the form that doors ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, Protocol

import msgspec

from stead.domain.consolidating import RunDiff
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import Preview
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import LegState, PlaceId, Query, Recalled, RunId, Viewer, workspace_place
from stead.domain.memory_events import LoadedFile
from stead.domain.memory_ports import MemoryInsights, MemoryReports, Place, Recalls, Remembered
from stead.domain.mirroring import MirrorState
from stead.domain.policies import Confidentiality
from stead.memory.files.export import MemoryExport
from stead.runtime.forgetting import Forgetting
from stead.runtime.memories import Memories
from stead.runtime.memory_import import MemoryImport
from stead.runtime.recalling import Files, Recollection
from stead.runtime.upkeep import Upkeep


class MemoryState(msgspec.Struct, frozen=True):
    """Whether memory works, and how far it has come.

    Args:
        legs: of every way of finding, whether it is alive.
        places: see there.
        waiting: proposals that wait for an answer.
        last_run_ms: when the last consolidation ended; 0 for never.
        files: how the files of memory are.
        importing: of an import that runs, how many statements are worked off, and how many there are; 0 and 0 for none.
    """

    legs: tuple[LegState, ...]
    places: tuple[Place, ...]
    waiting: int
    last_run_ms: int
    files: MirrorState
    importing: tuple[int, int] = (0, 0)


class MemoryLooks(Protocol):
    """What sessions would be told, and how things stand."""

    async def preview(self, query: Query, directory: str, *, attended: bool) -> Recalled:
        """What a session in this folder ("" for one in none) would be told for these words; nobody is told."""

    async def loaded(self, directory: str, *, attended: bool) -> tuple[LoadedFile, ...]:
        """The files of memory with which a session in a folder would begin now, in the order in which it reads them."""

    async def state(self) -> MemoryState:
        """Whether memory works: its legs, its places, what waits."""


class Forgets(Protocol):
    """Forgetting, as it is looked at before and after."""

    async def preview(self, wanted: Forget) -> Preview:
        """What would be forgotten; nothing is done.

        Raises:
            NotFound, InvalidRequest: there is no such thing, or it cannot be.
        """

    async def near(self, words: str) -> Preview:
        """The same for what says nearly these words.

        Raises:
            NotFound, InvalidRequest: nothing does, or they are too few.
        """

    def public_key(self) -> str:
        """By which receipts are verified: Ed25519, hex."""


class Exports(Protocol):
    """Hands out what is remembered."""

    def lines(self, form: Literal["jsonl", "markdown"], place: PlaceId | Literal[""], now_ms: int) -> Iterator[bytes]:
        """An export of one place, or of all for "", piece by piece. It blocks.

        Raises:
            NotFound: there is no such place; raised before the first piece.
        """


class LooksAtRuns(Protocol):
    """What runs of consolidation did."""

    async def diff(self, run: RunId) -> RunDiff:
        """What one run changed: each memory before and after it, and what it proposed.

        Raises:
            NotFound: there was no such run.
        """


class MemoryDesk(MemoryLooks, Protocol):
    """What doors look at."""

    @property
    def remembered(self) -> Remembered:
        """The memories."""

    @property
    def reports(self) -> MemoryReports:
        """Proposals, runs, days, places."""

    @property
    def insights(self) -> MemoryInsights:
        """What is known about memories."""

    @property
    def whole(self) -> MemoryWhole:
        """What is done with all of it."""


@dataclass(frozen=True)
class MemoryWhole:
    """What is done with the whole of memory.

    Args:
        forgetting: what would be forgotten.
        export: hands it out.
        mirror: says how the files of it are.
        runs: of consolidation.
        progress: of an import, as of ``MemoryState``.
    """

    forgetting: Forgets
    export: Exports
    mirror: Callable[[], MirrorState]
    runs: LooksAtRuns
    progress: Callable[[], tuple[int, int]] = lambda: (0, 0)


class MemoryRoom:
    """Implements ``MemoryDesk``.

    Args:
        remembered: see there.
        reports: see there.
        insights: see there.
        recalls: finds what is remembered.
        files: what sessions begin with.
        whole: what is done with all of it.
        now_ms: milliseconds since 1970.
    """

    def __init__(
        self,
        remembered: Remembered,
        reports: MemoryReports,
        insights: MemoryInsights,
        recalls: Recalls,
        files: Files,
        whole: MemoryWhole,
        now_ms: Callable[[], int],
    ) -> None:
        self.remembered = remembered
        self.reports = reports
        self.insights = insights
        self._recalls = recalls
        self._files = files
        self.whole = whole
        self._now_ms = now_ms

    async def preview(self, query: Query, directory: str, *, attended: bool) -> Recalled:
        """See ``MemoryLooks``."""
        return await self._recalls.recall(query, _looking(directory, attended))

    async def loaded(self, directory: str, *, attended: bool) -> tuple[LoadedFile, ...]:
        """See ``MemoryLooks``."""
        look, private = _looking(directory, attended), Confidentiality.PRIVATE
        return await asyncio.to_thread(self._files.loaded, look, self._now_ms(), private)

    async def state(self) -> MemoryState:
        """See ``MemoryLooks``."""
        recalled = await self._recalls.recall(Query("", limit=1), _looking("", False))
        places = await asyncio.to_thread(self.reports.places)
        waiting = await asyncio.to_thread(lambda: self.reports.proposals(waiting=True))
        runs = await asyncio.to_thread(self.reports.runs, 1)
        files = self.whole.mirror()
        last_ms = runs[0][0] if runs else 0
        return MemoryState(recalled.legs, places, len(waiting), last_ms, files, self.whole.progress())


def _looking(directory: str, attended: bool) -> Viewer:
    """As a session of this folder looks, however its path was written; of no folder for ""."""
    folder = str(PurePosixPath(directory)) if directory else ""
    return Viewer(workspace_place(DEFAULT_WORKSPACE, folder), attended=attended)


@dataclass(frozen=True)
class MemoryParts:
    """Memory as the runtime works with it.

    Args:
        memories: takes statements in.
        recollection: tells sessions.
        room: shows people.
        upkeep: consolidates.
        importing: takes files in.
        export: hands everything out.
        forgetting: forgets for good.
    """

    memories: Memories
    recollection: Recollection
    room: MemoryRoom
    upkeep: Upkeep
    importing: MemoryImport
    export: MemoryExport
    forgetting: Forgetting
