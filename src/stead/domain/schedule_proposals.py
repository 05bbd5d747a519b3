"""What a model may do with schedules: see those of its folder, and propose one.

Layer: domain.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from stead.domain.bounds import Text
from stead.domain.ids import CommandId, SessionId
from stead.domain.schedule_rows import ScheduleRow
from stead.domain.schedules import Missed, Overlap, RemoveSchedule, SwitchSchedule, When


class Proposal(msgspec.Struct, frozen=True):
    """A schedule as a model proposes it: for its session's folder, with no more than its session has.

    Args:
        name: of the schedule.
        when: when it runs.
        goal: what is to be reached each time.
        tools: names; None for the session's.
        hosts: patterns; None for the session's.
        readonly: its runs change nothing.
        tokens: of each run; 0 for the usual budget.
        missed: as of ``Schedule``; so also below.
        overlap: as above.
    """

    name: str
    when: When
    goal: Text
    tools: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    readonly: bool = False
    tokens: int = 0
    missed: Missed = "once"
    overlap: Overlap = "skip"


class SchedulePort(Protocol):
    """Schedules, as a session's model may see and change them: those of its folder alone.

    Each method that changes something raises ``CallerError`` where it cannot be; the id makes it happen once.
    """

    async def of_folder(self, session: SessionId) -> tuple[ScheduleRow, ...]:
        """Those of the session's folder, by name."""

    async def propose(self, session: SessionId, proposal: Proposal, id: CommandId) -> ScheduleRow:
        """Add or change one, as the person has just confirmed."""

    async def change(self, session: SessionId, command: SwitchSchedule | RemoveSchedule, id: CommandId) -> None:
        """Switch or remove one, as the person has just confirmed."""
