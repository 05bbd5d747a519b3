"""Memory as people look at it through doors.

Layer: runtime. Decides nothing: it puts what the adapters know into the form that doors ask for.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

import msgspec

from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import GLOBAL, LegState, Query, Recalled, Viewer, workspace_place
from stead.domain.memory_ports import MemoryInsights, MemoryReports, Place, Recalls, Remembered
from stead.runtime.memories import Memories
from stead.runtime.recalling import Recollection


class MemoryState(msgspec.Struct, frozen=True):
    """Whether memory works, and how far it has come.

    Args:
        legs: of every way of finding, whether it is alive.
        places: see there.
        waiting: proposals that wait for an answer.
        last_run_ms: when the last consolidation ended; 0 for never.
    """

    legs: tuple[LegState, ...]
    places: tuple[Place, ...]
    waiting: int
    last_run_ms: int


class MemoryDesk(Protocol):
    """What doors look at."""

    @property
    def remembered(self) -> Remembered:
        """The memories."""
        ...

    @property
    def reports(self) -> MemoryReports:
        """Proposals, runs, days, places."""
        ...

    @property
    def insights(self) -> MemoryInsights:
        """What is known about memories."""
        ...

    async def preview(self, query: Query, directory: str, *, attended: bool) -> Recalled:
        """What a session in this folder ("" for one in none) would be told for these words; nobody is told."""
        ...

    async def state(self) -> MemoryState:
        """How things stand."""
        ...


class MemoryRoom:
    """Implements ``MemoryDesk``.

    Args:
        remembered: see there.
        reports: see there.
        insights: see there.
        recalls: finds what is remembered.
    """

    def __init__(
        self,
        remembered: Remembered,
        reports: MemoryReports,
        insights: MemoryInsights,
        recalls: Recalls,
    ) -> None:
        self.remembered = remembered
        self.reports = reports
        self.insights = insights
        self._recalls = recalls

    async def preview(self, query: Query, directory: str, *, attended: bool) -> Recalled:
        """See ``MemoryDesk``."""
        place = workspace_place(DEFAULT_WORKSPACE, directory) if directory else GLOBAL
        return await self._recalls.recall(query, Viewer(place, attended=attended))

    async def state(self) -> MemoryState:
        """See ``MemoryDesk``."""
        recalled = await self._recalls.recall(Query("", limit=1), Viewer(GLOBAL))
        places = await asyncio.to_thread(self.reports.places)
        waiting = await asyncio.to_thread(lambda: self.reports.proposals(waiting=True))
        runs = await asyncio.to_thread(self.reports.runs, 1)
        return MemoryState(recalled.legs, places, len(waiting), runs[0][0] if runs else 0)


@dataclass(frozen=True)
class MemoryParts:
    """Memory as the runtime works with it.

    Args:
        memories: takes statements in.
        recollection: tells sessions.
        room: shows people.
    """

    memories: Memories
    recollection: Recollection
    room: MemoryRoom
