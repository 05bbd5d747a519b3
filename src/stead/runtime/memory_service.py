"""Memory as doors ask it and as the runtime works with it.

Layer: runtime. Decides nothing: it puts what the adapters know into the form that doors ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

import msgspec

from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import LegState, Query, Recalled, Viewer, workspace_place
from stead.domain.memory_events import LoadedFile
from stead.domain.memory_ports import MemoryInsights, MemoryReports, Place, Recalls, Remembered
from stead.domain.mirroring import MirrorState
from stead.domain.policies import Confidentiality
from stead.memory.files.export import MemoryExport
from stead.runtime.forgetting import Forgetting
from stead.runtime.loading import Loading
from stead.runtime.memories import Memories
from stead.runtime.memory_import import MemoryImport
from stead.runtime.recalling import Recollection
from stead.runtime.reverting import Runs
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


@dataclass(frozen=True)
class MemoryQueries:
    """What doors ask of memory; it changes nothing.

    Args:
        remembered: the memories.
        reports: proposals, runs, days, places.
        insights: what is known about memories.
        recalls: finds what is remembered.
        files: what sessions begin with.
        runs: what consolidations did.
        forgetting: what would be forgotten.
        export: hands everything out.
        mirror: how the files of memory are.
        progress: of an import, as of ``MemoryState``.
        now_ms: milliseconds since 1970.
    """

    remembered: Remembered
    reports: MemoryReports
    insights: MemoryInsights
    recalls: Recalls
    files: Loading
    runs: Runs
    forgetting: Forgetting
    export: MemoryExport
    mirror: Callable[[], MirrorState]
    progress: Callable[[], tuple[int, int]]
    now_ms: Callable[[], int]

    async def preview(self, query: Query, directory: str, *, attended: bool) -> Recalled:
        """What a session in this folder ("" for one in none) would be told for these words; no session is told."""
        return await self.recalls.recall(query, _looking(directory, attended))

    async def loaded(self, directory: str, *, attended: bool) -> tuple[LoadedFile, ...]:
        """The files of memory with which a session in a folder would begin now, in the order in which it reads them."""
        look, private = _looking(directory, attended), Confidentiality.PRIVATE
        return await asyncio.to_thread(self.files.loaded, look, self.now_ms(), private)

    async def state(self) -> MemoryState:
        """Whether memory works: its legs, its places, what waits."""
        recalled = await self.recalls.recall(Query("", limit=1), _looking("", False))
        places = await asyncio.to_thread(self.reports.places)
        waiting = await asyncio.to_thread(lambda: self.reports.proposals(waiting=True))
        runs = await asyncio.to_thread(self.reports.runs, 1)
        last_ms = runs[0][0] if runs else 0
        return MemoryState(recalled.legs, places, len(waiting), last_ms, self.mirror(), self.progress())


def _looking(directory: str, attended: bool) -> Viewer:
    """As a session of this folder looks, however its path was written; of no folder for ""."""
    folder = str(PurePosixPath(directory)) if directory else ""
    return Viewer(workspace_place(DEFAULT_WORKSPACE, folder), interactive=attended)


@dataclass(frozen=True)
class MemoryService:
    """Memory as the runtime works with it.

    Args:
        memories: takes statements in.
        recollection: tells sessions.
        queries: what doors ask.
        upkeep: consolidates.
        importing: takes files in.
        export: hands everything out.
        forgetting: forgets for good.
    """

    memories: Memories
    recollection: Recollection
    queries: MemoryQueries
    upkeep: Upkeep
    importing: MemoryImport
    export: MemoryExport
    forgetting: Forgetting
