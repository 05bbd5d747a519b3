"""What a person's word about a schedule makes of it, and how one is shown.

Layer: runtime. Pure but for the zone database and the name of the host's own zone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import groupby
from typing import assert_never

from msgspec.structs import replace

from stead.config import zone_name
from stead.domain import due_times, watches
from stead.domain.calendars import Calendar
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import SessionId
from stead.domain.opening import OpenSession
from stead.domain.schedule_rows import AgendaRow, ScheduleRow
from stead.domain.schedules import (
    MOST_SCHEDULES,
    OVER,
    GoalReview,
    RemoveSchedule,
    RunSchedule,
    Schedule,
    ScheduleCommand,
    ScheduleDue,
    ScheduleFact,
    ScheduleRemoved,
    ScheduleSet,
    ScheduleSnoozed,
    ScheduleSwitched,
    SetSchedule,
    Skip,
    SnoozeSchedule,
    Standing,
    SwitchSchedule,
    watched,
)
from stead.domain.triggers import Arrival, Drop, Mailbox, Webhook
from stead.runtime.folder import folder

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_MOST_MADE_UP = 100
_HOUR_MS = 3_600_000
_LONGEST_SNOOZE_MS = 366 * 86_400_000
_MOST_OF_AGENDA = 300
"""Times of one schedule that are counted for the agenda."""
_DOMAIN = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,8}")


def schedule_change(
    command: ScheduleCommand, known: Mapping[str, Standing], now_ms: int, door: str
) -> tuple[ScheduleFact, ...]:
    """The facts that a command makes. What a job may use is looked at elsewhere.

    Raises:
        InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
    """
    match command:
        case SetSchedule(schedule=schedule):
            return (ScheduleSet(whole(schedule, known, now_ms), door),)
        case SwitchSchedule(name=name, on=on):
            one = known_of(known, name)
            if on == one.on:
                raise Conflict(f"{name} is {'on' if on else 'off'} already")
            waits = isinstance(one.schedule.when, Calendar | Arrival)
            if on and not waits and due_times.next_due(replace(one, on=True, since_ms=now_ms)) is None:
                raise Conflict(f"{OVER} for {name}; change when it runs: stead schedule change {name}")
            return (ScheduleSwitched(name, on, door),)
        case RemoveSchedule(name=name):
            known_of(known, name)
            return (ScheduleRemoved(name, door),)
        case RunSchedule(name=name, again_ms=again_ms):
            one = known_of(known, name)
            again = next((run for run in one.runs if run.due_ms == again_ms), None)
            if again_ms and again is None:
                raise NotFound(f"{name} has no run of that time; see: stead schedule history {name}")
            due = ScheduleDue(name, unused_ms(one, now_ms), "person")
            return (replace(due, given=again.given, arrived=again.arrived) if again else due,)
        case SnoozeSchedule(name=name, until_ms=until_ms):
            one = known_of(known, name)
            if until_ms and not now_ms < until_ms <= now_ms + _LONGEST_SNOOZE_MS:
                raise InvalidRequest("a snooze ends in the future, a year from now at most")
            if not until_ms and one.snoozed_ms <= now_ms:
                raise Conflict(f"{name} is not snoozed")
            return (ScheduleSnoozed(name, until_ms, door),)
        case _:
            assert_never(command)


def whole(schedule: Schedule, known: Mapping[str, Standing], now_ms: int) -> Schedule:
    """The schedule with nothing left open, as it is kept.

    Raises:
        InvalidRequest: it cannot be; the text says why.
    """
    name, job = schedule.name, schedule.job
    if not _NAME.fullmatch(name):
        raise InvalidRequest(f"the name {name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if name not in known and len(known) >= MOST_SCHEDULES:
        raise InvalidRequest(f"{MOST_SCHEDULES} schedules are the most; remove one first: stead schedule remove NAME")
    if not 1 <= schedule.most <= _MOST_MADE_UP:
        raise InvalidRequest(f"most is 1 to {_MOST_MADE_UP}")
    if schedule.until_ms and not now_ms < schedule.until_ms < 2**53:
        raise InvalidRequest("its end is past")
    if isinstance(job, OpenSession) and job.goal is None:
        raise InvalidRequest("a schedule needs a goal: what is to be reached each time")
    if isinstance(job, OpenSession) and job.attachments:
        raise InvalidRequest("a schedule takes no attachments; put them into its folder")
    if isinstance(job, OpenSession) and job.context:
        raise InvalidRequest("a schedule hands nothing over; put it into its goal")
    if isinstance(schedule.when, Arrival):  # what came in waits for its turn, and is not dropped
        schedule = replace(schedule, missed="all", overlap="queue")
    return replace(_watching(schedule), when=due_times.settled(schedule.when, zone_name(), now_ms))


def _watching(schedule: Schedule) -> Schedule:
    """The schedule with what it watches as that is kept."""
    watches_any = schedule.watches or schedule.checklist
    if watches_any and isinstance(schedule.job, GoalReview):
        raise InvalidRequest("reviews come by their times; watch something with a goal of its own")
    if watches_any and isinstance(schedule.when, Arrival):
        raise InvalidRequest("what comes in has no times to compare at; watch something with a schedule of its own")
    if len(schedule.watches) > watches.MOST_WATCHES:
        raise InvalidRequest(f"a schedule watches {watches.MOST_WATCHES} things at most")
    kept = dict.fromkeys(map(watches.settled, schedule.watches))
    return replace(schedule, watches=tuple(kept), checklist=watches.settled_path(schedule.checklist))


def known_of(known: Mapping[str, Standing], name: str) -> Standing:
    """The schedule of a name; raises ``NotFound`` where there is none."""
    if name not in known:
        raise NotFound(f"there is no schedule {name[:80]!r}; see: stead schedule list")
    return known[name]


def no_room(one: Standing, now_ms: int) -> Skip | None:
    """Why nothing more that comes in can be taken now; None while it can."""
    when = one.schedule.when
    if not isinstance(when, Arrival):
        return "paused"
    lately = [run for run in one.runs if run.by == "arrival" and run.recorded_ms > now_ms - _HOUR_MS]
    if len(lately) >= when.hourly:
        return "rate"
    return "queue" if sum(not run.session for run in one.open_runs) >= when.waiting else None


def unused_ms(one: Standing, now_ms: int) -> int:
    """The first moment from now on at which no run of it is due."""
    taken = {run.due_ms for run in one.runs}
    return next(at for at in range(now_ms, now_ms + len(taken) + 1) if at not in taken)


def schedule_row(one: Standing, now_ms: int, checked_ms: int = 0, quiet: int = 0) -> ScheduleRow:
    """A schedule for people; the last two as of ``ScheduleRow``."""
    over = [run for run in one.runs if run.end]
    return ScheduleRow(
        schedule=one.schedule,
        on=one.on,
        why=one.why or one.trouble,
        proposed=one.proposed is not None,
        words=due_times.words(one.schedule.when),
        next_ms=due_times.upcoming(one, now_ms),
        running=next((run.session for run in one.open_runs if run.session), SessionId("")),
        waiting=sum(not run.session for run in one.open_runs),
        last=over[-1] if over else None,
        snoozed_ms=one.snoozed_ms if one.snoozed_ms > now_ms else 0,
        problem=one.calendar.problem,
        watched=tuple(map(watches.words, watched(one.schedule))),
        checked_ms=checked_ms,
        quiet=quiet,
    )


def agenda(known: Iterable[Standing], now_ms: int, days: int) -> tuple[AgendaRow, ...]:
    """What will run on the next days by the person's clocks, today included, in the order of the first times."""
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(zone_name())
    today = datetime.fromtimestamp(now_ms / 1000, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    end_ms = int((today + timedelta(days=days)).timestamp()) * 1000 - 1
    rows: list[AgendaRow] = []
    for one in known:
        job = one.schedule.job
        goal = (job.goal or "") if isinstance(job, OpenSession) else ""
        times = due_times.upcoming(one, now_ms, _MOST_OF_AGENDA, end_ms)
        for day, group in groupby(times, lambda ms: datetime.fromtimestamp(ms / 1000, zone).date().isoformat()):
            of_day = [*group]
            more = len(times) == _MOST_OF_AGENDA and of_day[-1] == times[-1]
            rows.append(AgendaRow(day, one.schedule.name, of_day[0], of_day[-1], len(of_day), goal, more))
    return tuple(sorted(rows, key=lambda row: (row.first_ms, row.name)))


def checked_arrival(
    when: Arrival, schedule: Schedule, known: Mapping[str, Standing], secrets: Collection[str]
) -> Arrival:
    """The same with nothing left open, as it is kept. It reads the folder.

    Raises:
        InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
    """
    if not (1 <= when.waiting <= 50 and 1 <= when.hourly <= 100):
        raise InvalidRequest("1 to 50 may wait, and 1 to 100 come within an hour")
    source = when.source
    if isinstance(source, Mailbox):
        return replace(when, source=checked_mailbox(source, secrets))
    if isinstance(source, Webhook):
        _require_secret(source.secret, secrets)
    if isinstance(source, Drop):
        real = folder(source.path)
        for at, one in known.items():
            if (
                at != schedule.name
                and isinstance(one.schedule.when, Arrival)
                and one.schedule.when.source == Drop(real)
            ):
                raise Conflict(f"the trigger {at!r} takes the files of {real!r} already")
        if schedule.directory and _overlap(real, os.path.realpath(schedule.directory)):
            raise InvalidRequest(
                "its runs could put files there and trigger themselves; name a folder outside of theirs"
            )
        if not os.access(real, os.W_OK):
            raise InvalidRequest(f"{real!r} may not be written, and what is taken in is moved to {real}/done")
        return replace(when, source=Drop(real))
    return when


def checked_mailbox(mailbox: Mailbox, secrets: Collection[str]) -> Mailbox:
    """The same as it is kept.

    Raises:
        InvalidRequest, NotFound: it cannot be; the text says why.
    """
    _require_secret(mailbox.secret, secrets)
    senders = tuple(one.lower().rstrip(".") for one in mailbox.senders)
    if senders and not mailbox.proof:
        raise InvalidRequest(
            "a sender's name proves nothing: say by which server's word (Authentication-Results) it counts"
        )
    if odd := next((one for one in (mailbox.host, *senders) if not _is_host(one)), None):
        raise InvalidRequest(f"{odd[:80]!r} is no domain, such as example.com")
    if any(not text.isprintable() for text in (mailbox.user, mailbox.folder, mailbox.proof)):
        raise InvalidRequest("a mailbox's names have letters alone, and no line breaks")
    return replace(mailbox, senders=senders)


def _require_secret(name: str, secrets: Collection[str]) -> None:
    if name not in secrets:
        raise NotFound(f"there is no secret {name[:80]!r}; add it first: stead secret add {name}")


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath((one, other)) in (one, other)


def _is_host(text: str) -> bool:
    return bool(_DOMAIN.fullmatch(text.lower())) or text == "localhost"
