"""Moves the record of sessions that have rested for long into archives, where the person's settings say so.

Layer: runtime. It looks once at the start and once a day. Nothing is lost: what is archived is listed, read and
exported as before, and goes on when it is written to; it is out of the journal's file and of the search.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol, get_args

from stead.domain import commands as cmd
from stead.domain.errors import SteadError
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Clock
from stead.domain.rows import Kind, Wanted
from stead.runtime.service import Service
from stead.runtime.trash import LOOK_S, Lists

_ROWS, _AGENTS = 100, 1000
_DAY_MS = 86_400_000
_RESTS = ("verified", "unverified", "answered", "incomplete", "failed", "cancelled", "idle", "closed")
log = logging.getLogger(__name__)


class Archiving(Protocol):
    """The journal, as far as it moves payloads."""

    async def archive(self, session: SessionId) -> int:
        """Move the payloads of a session; gives how many there were."""


class Retention:
    """Archives sessions that are due; the caller of ``keep`` owns the work.

    Args:
        lists: the list of sessions.
        service: puts them into the archive of the lists.
        journal: moves what they hold.
        clock: says what time it is.
        after_days: of rest; 0 archives nothing.
    """

    def __init__(self, lists: Lists, service: Service, journal: Archiving, clock: Clock, after_days: int) -> None:
        self._lists = lists
        self._service = service
        self._journal = journal
        self._clock = clock
        self._after_days = after_days

    async def keep(self) -> None:
        """Archive what is due, now and every day."""
        while self._after_days:
            try:
                if moved := await self.archive():
                    log.info("%d sessions had rested for %d days, and are in archives", moved, self._after_days)
            except SteadError as error:
                log.warning("not everything could be archived, and it is tried again tomorrow: %s", error)
            await asyncio.sleep(LOOK_S)

    async def archive(self) -> int:
        """Archive what is due; gives how many sessions.

        Raises:
            SteadError: one cannot be archived now; those before it are.
        """
        moved = 0
        for id, labelled in await asyncio.to_thread(self._due):
            moved += await self._journal.archive(id) > 0
            if not labelled:
                command = cmd.LabelSession(id, archived=True)
                await self._service.handle(command, id=CommandId(f"archive-{id}"), door="stead")
        return moved

    def _due(self) -> list[tuple[SessionId, bool]]:
        before_ms, found = self._clock.now_ms() - self._after_days * _DAY_MS, []
        for kind in get_args(Kind):
            after, more = "", True
            while more:
                rows, after = self._lists.objectives(kind=kind, wanted=Wanted(archived="any"), after=after, limit=_ROWS)
                for row in rows:
                    if row.status in _RESTS and row.updated_ms < before_ms and not row.trashed_ms:
                        found += [(id, True) for id in self._below(row.id)]
                        found.append((row.id, row.archived))
                more = after != ""
        return found

    def _below(self, id: SessionId) -> list[SessionId]:
        """Its subagents, all of which have ended."""
        rows, _ = self._lists.objectives(
            kind="objective", wanted=Wanted(below=id, archived="any"), after="", limit=_AGENTS
        )
        return [row.id for row in rows]
