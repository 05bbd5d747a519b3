"""Schedules as people see them: what is known of one, and what will run on the days to come.

Layer: domain.
"""

from __future__ import annotations

import msgspec

from stead.domain.ids import SessionId
from stead.domain.schedules import Schedule, ScheduleRun


class ScheduleRow(msgspec.Struct, frozen=True):
    """A schedule for people.

    Args:
        words: when it runs.
        next_ms: the next five times; fewer where there are no more.
        running: the session of the run that goes on; "" for none.
        waiting: how many runs wait for it.
        last: the newest run that is over.
        snoozed_ms: until when it is snoozed; 0 where it is not.
        problem: what is wrong with its calendar; "" for nothing.
        watched: what it watches, one by one.
        checked_ms: when that was last compared, since Stead was started; 0 for not yet.
        quiet: how often since then nothing had changed.
    """

    schedule: Schedule
    on: bool
    why: str
    proposed: bool
    words: str
    next_ms: tuple[int, ...]
    running: SessionId
    waiting: int
    last: ScheduleRun | None
    snoozed_ms: int = 0
    problem: str = ""
    watched: tuple[str, ...] = ()
    checked_ms: int = 0
    quiet: int = 0


class AgendaRow(msgspec.Struct, frozen=True):
    """What a schedule will do on a day.

    Args:
        day: as 2026-12-01, by the person's clocks.
        name: of the schedule.
        first_ms, last_ms: the first and the last time on that day.
        times: how many there are.
        goal: what is to be reached; "" where it takes up another objective.
        more: there are more than were counted, on this day and maybe after it.
    """

    day: str
    name: str
    first_ms: int
    last_ms: int
    times: int
    goal: str
    more: bool
