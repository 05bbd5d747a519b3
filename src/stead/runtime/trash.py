"""Erases what has been in the trash for 30 days.

Layer: runtime. It looks once at the start and once a day, so that nothing runs while nothing is due; the wait is by the
host's clock, so a daemon that was off erases at its next start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol, get_args

from stead.domain import commands as cmd
from stead.domain.errors import SteadError
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Clock
from stead.domain.rows import Kind, ObjectiveRow, Wanted
from stead.domain.trash import is_due
from stead.runtime.service import Service

LOOK_S = 86_400.0
_ROWS = 100
log = logging.getLogger(__name__)


class Lists(Protocol):
    """The list of sessions; the read models have it."""

    def objectives(self, *, kind: Kind, wanted: Wanted, after: str, limit: int) -> tuple[Sequence[ObjectiveRow], str]:
        """Those of a kind, newest first, and the cursor of the next page, "" when there is none."""


class Trash:
    """Erases sessions that are due; the caller of ``keep`` owns the work.

    Args:
        lists: knows what is in the trash.
        service: carries out the erasure, as if the person had asked for it at once.
        clock: says what time it is.
    """

    def __init__(self, lists: Lists, service: Service, clock: Clock) -> None:
        self._lists = lists
        self._service = service
        self._clock = clock

    async def keep(self) -> None:
        """Erase what is due, now and every day."""
        while True:
            try:
                if erased := await self.empty():
                    log.info("%d sessions had been in the trash for 30 days, and are erased", erased)
            except SteadError as error:
                log.warning("the trash was not emptied, and is looked at again tomorrow: %s", error)
            await asyncio.sleep(LOOK_S)

    async def empty(self) -> int:
        """Erase what is due; gives how many sessions.

        Raises:
            SteadError: one cannot be erased now; those before it are.
        """
        due = await asyncio.to_thread(self._due)
        for id in due:
            await self._service.handle(cmd.Delete(id, now=True), id=CommandId(f"trash-{id}"), door="stead")
        return len(due)

    def _due(self) -> list[SessionId]:
        now_ms, found = self._clock.now_ms(), []
        for kind in get_args(Kind):
            after, more = "", True
            while more:
                wanted = Wanted(archived="trash")
                rows, after = self._lists.objectives(kind=kind, wanted=wanted, after=after, limit=_ROWS)
                found += [row.id for row in rows if is_due(row.trashed_ms, now_ms)]
                more = after != ""
        return found
