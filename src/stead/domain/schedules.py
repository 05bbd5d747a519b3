"""Schedules: when a job runs by itself, what it may use, and what became of each time that it was due.

Layer: domain. Times are milliseconds since 1970 (UTC). What is due is recorded before anything runs; a run is known by
its schedule's name and its due time, so that none is missed and none happens twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, assert_never

import msgspec
from msgspec.structs import replace

from stead.domain.agents import Taint
from stead.domain.bounds import Name, bounds
from stead.domain.calendars import Calendar, CalendarTimes
from stead.domain.ends import End
from stead.domain.ids import SessionId
from stead.domain.objectives import Budget
from stead.domain.opening import OpenSession
from stead.domain.triggers import Arrival, Arrived, MailboxRead
from stead.domain.watches import MOST_WATCHES, Mark, PathWatch, Watch, changed

MOST_SCHEDULES, MOST_RUNS, MOST_QUEUED = 100, 100, 10
"""Of a home; that are kept for the history of one; that wait for one that still runs."""
NOTIFY = "notify"
"""The tool by which a heartbeat's run says something."""
ON_TIME_MS = 60_000
"""What is so late at most was not missed."""


class Cron(msgspec.Struct, frozen=True, tag="cron", forbid_unknown_fields=True):
    """By a cron expression in a zone.

    Around a change of the clock it is as in Debian's cron: what falls into an hour that is skipped runs right after it,
    what falls into one that comes twice runs once, and what is due every hour or every few minutes runs through both.

    Args:
        expression: minute, hour, day of month, month, day of week.
        zone: IANA name; "" is the person's own when it is set.
    """

    expression: Annotated[str, bounds(minLength=1, maxLength=200)]
    zone: Annotated[str, bounds(maxLength=60)] = ""


class Every(msgspec.Struct, frozen=True, tag="every", forbid_unknown_fields=True):
    """After so much time, counted from a moment.

    Args:
        seconds: 60 up to a year of them.
        from_ms: the moment; 0 is when it is set.
    """

    seconds: Annotated[int, bounds(minimum=60, maximum=366 * 86_400)]
    from_ms: Annotated[int, bounds(minimum=0, maximum=2**53)] = 0


class Once(msgspec.Struct, frozen=True, tag="once", forbid_unknown_fields=True):
    """At one moment of a zone's clocks. ``at`` is as 2026-12-01T07:00; ``zone`` as of ``Cron``."""

    at: Annotated[str, bounds(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d$")]
    zone: Annotated[str, bounds(maxLength=60)] = ""


class GoalReview(msgspec.Struct, frozen=True, tag="review", forbid_unknown_fields=True):
    """Go on with an objective that has not reached its goal, knowing what happened since.

    ``budget``: what each review may spend on top; None for the usual one.
    """

    session: SessionId
    budget: Budget | None = None


When = Cron | Every | Once | Calendar | Arrival
Job = OpenSession | GoalReview
Missed = Literal["skip", "once", "all"]
Overlap = Literal["skip", "queue"]


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When something runs, and what.

    Args:
        name: the person's own choice.
        when: a cron expression, an interval, one moment, or the events of a calendar.
        job: an objective to be opened each time, with all that it may use; or one to be taken up again.
        missed: what becomes of due times in which Stead did not run: "skip" them, run "once" for all of them, or "all",
            one after the other.
        most: how many of "all" run at most, the latest ones.
        overlap: what becomes of a due time while the run before it goes on: "skip" it, or have it wait ("queue").
        until_ms: nothing is due after that; 0 for no end.
        watches: at its times these are compared first, without a model; it runs only if one has changed.
        checklist: a file of its folder that the person edits. Then it is a heartbeat: it watches that file too, and its
            runs say something only by the tool ``notify``. "" for none.
    """

    name: Name
    when: When
    job: Job
    missed: Missed = "once"
    most: Annotated[int, bounds(minimum=1, maximum=100)] = 10
    overlap: Overlap = "skip"
    until_ms: Annotated[int, bounds(minimum=0, maximum=2**53)] = 0
    watches: Annotated[tuple[Watch, ...], bounds(maxItems=MOST_WATCHES)] = ()
    checklist: Annotated[str, bounds(maxLength=1000)] = ""

    @property
    def directory(self) -> str:
        """The folder of its runs; "" where that is another objective's matter."""
        return self.job.directory if isinstance(self.job, OpenSession) else ""


RunEnd = End | Literal["", "skipped", "refused", "lost"]
"""How a run's objective ended; "" while it waits or goes on. It was skipped, was refused before it began, or what it
ran in is gone."""
By = Literal["clock", "missed", "person", "arrival"]
"""Why it runs: it was time, it had been time, the person said so, or something came in."""
Skip = Literal["missed", "overlap", "queue", "paused", "snoozed", "unchanged", "rate"]


class ScheduleRun(msgspec.Struct, frozen=True):
    """One due time, or several in a row that were skipped for one reason.

    Args:
        due_ms: when it was due; of several, the first.
        by: why it runs.
        recorded_ms: when that was recorded.
        session: that it runs in; "" while it waits.
        started_ms, ended_ms: 0 for not yet.
        end: how it ended.
        text: why it was skipped or refused, or what a review found.
        times: how many due times it stands for.
        last_ms: the last of them.
        given: what came with the due time and is read by its run: others' words.
        arrived: what came in; None where nothing did.
    """

    due_ms: int
    by: By
    recorded_ms: int
    session: SessionId = SessionId("")
    started_ms: int = 0
    ended_ms: int = 0
    end: RunEnd = ""
    text: str = ""
    times: int = 1
    last_ms: int = 0
    given: str = ""
    arrived: Arrived | None = None


class Standing(msgspec.Struct, frozen=True):
    """What is known of a schedule.

    Args:
        schedule: as it was set last.
        on: whether it runs by itself; ``why`` says why not.
        since_ms: every due time up to here is settled: it ran, runs, waits or was skipped.
        proposed: a model proposed it: what that had read.
        runs: the last ones, oldest first.
        calendar: what was found in the file of its calendar, if it has one.
        snoozed_ms: what is due up to here is skipped; 0 for nothing.
        mark: what it watches, as it was when that was last compared.
        trouble: why something that it watches cannot be looked at, where that has lasted.
        read: how far its mailbox was read, where it waits for mail.
    """

    schedule: Schedule
    on: bool = True
    why: str = ""
    since_ms: int = 0
    proposed: Taint | None = None
    runs: tuple[ScheduleRun, ...] = ()
    calendar: CalendarTimes = CalendarTimes()
    snoozed_ms: int = 0
    mark: Mark = {}
    trouble: str = ""
    read: MailboxRead | None = None

    @property
    def open_runs(self) -> tuple[ScheduleRun, ...]:
        """Those that wait or go on, oldest first."""
        return tuple(run for run in self.runs if not run.end)


class Scheduled(msgspec.Struct, frozen=True, omit_defaults=True):
    """What opened a session, where that was a schedule and no person.

    ``proposed``: as of ``Standing``. ``quiet``: it is a heartbeat's, whose end is no news by itself.
    """

    schedule: str
    proposed: Taint | None = None
    quiet: bool = False


# -- events of the home ------------------------------------------------------------------------------------------------


class ScheduleSet(msgspec.Struct, frozen=True, tag="schedule.set"):
    """A schedule was added or changed. ``proposed``: see ``Standing``."""

    schedule: Schedule
    door: str
    proposed: Taint | None = None


class ScheduleSwitched(msgspec.Struct, frozen=True, tag="schedule.switched"):
    """It runs by itself from now on, or no more. ``why`` is "" where the person said so."""

    name: str
    on: bool
    door: str
    why: str = ""


class ScheduleRemoved(msgspec.Struct, frozen=True, tag="schedule.removed"):
    """It is no more. What it started goes on."""

    name: str
    door: str


class ScheduleDue(msgspec.Struct, frozen=True, tag="schedule.due", omit_defaults=True):
    """Intent: a time had come, and a run is about to be started for it, or waits for the one before.

    ``given``, ``arrived``: what came with it, see ``ScheduleRun``; the sender of what came in is answered after this is
    recorded.
    """

    name: str
    due_ms: int
    by: By
    given: str = ""
    arrived: Arrived | None = None


class ScheduleCompared(msgspec.Struct, frozen=True, tag="schedule.compared"):
    """What a schedule watches is not as it was. What starts a run stands right before its ``schedule.due``.

    Args:
        before: what of the mark is another or gone, as it was.
        after: what is another or new, as it is.
        trouble: why something cannot be looked at, once that has lasted; "" while everything can.
    """

    name: str
    before: Mark
    after: Mark
    trouble: str = ""


class ScheduleSkipped(msgspec.Struct, frozen=True, tag="schedule.skipped"):
    """Due times in a row, for which nothing ran.

    ``missed``: Stead did not run then. ``overlap``: the run before went on. ``queue``: too many waited for that.
    ``paused``: the objective to be reviewed was at work, or paused. ``snoozed``: the person had it so. ``unchanged``:
    what it watches was as before; such times are counted in memory alone. ``rate``: too many came in within an hour.
    """

    name: str
    first_ms: int
    last_ms: int
    times: int
    why: Skip


class ScheduleRunStarted(msgspec.Struct, frozen=True, tag="schedule.run_started"):
    """The run of a due time began in a session."""

    name: str
    due_ms: int
    session: SessionId


class ScheduleRunEnded(msgspec.Struct, frozen=True, tag="schedule.run_ended"):
    """What came of it."""

    name: str
    due_ms: int
    end: RunEnd
    text: str = ""


class ScheduleSnoozed(msgspec.Struct, frozen=True, tag="schedule.snoozed"):
    """What is due until then is skipped; 0 ends that."""

    name: str
    until_ms: int
    door: str


class ScheduleCalendarRead(msgspec.Struct, frozen=True, tag="schedule.calendar_read"):
    """The file of a schedule's calendar was read, and has something new.

    ``since_ms``: what starts before that was not there when its time came, and is not due any more.
    """

    name: str
    since_ms: int
    calendar: CalendarTimes


ScheduleFact = (
    ScheduleSet
    | ScheduleSnoozed
    | ScheduleCalendarRead
    | ScheduleSwitched
    | ScheduleRemoved
    | ScheduleDue
    | ScheduleCompared
    | ScheduleSkipped
    | ScheduleRunStarted
    | ScheduleRunEnded
    | MailboxRead
)


def fold_schedules(known: Mapping[str, Standing], fact: ScheduleFact, ts_ms: int) -> Mapping[str, Standing]:
    """The schedules by name after one more fact about them; ``ts_ms`` is when it was recorded."""
    if isinstance(fact, ScheduleSet):
        return {**known, fact.schedule.name: _set(known.get(fact.schedule.name), fact, ts_ms)}
    if isinstance(fact, ScheduleRemoved) or fact.name not in known:
        return {name: one for name, one in known.items() if name != fact.name}
    return {**known, fact.name: _after(known[fact.name], fact, ts_ms)}


def _set(old: Standing | None, fact: ScheduleSet, ts_ms: int) -> Standing:
    if old is None:
        return Standing(fact.schedule, since_ms=ts_ms, proposed=fact.proposed)
    # An edit moves no due time, unless it is the times that are edited.
    since_ms = old.since_ms if old.schedule.when == fact.schedule.when else ts_ms
    on = old.on or old.why == OVER
    kept = {} if old.schedule.when == fact.schedule.when else {"calendar": CalendarTimes()}
    same = watched(old.schedule) == watched(fact.schedule) and old.schedule.directory == fact.schedule.directory
    return replace(
        old,
        **kept,
        schedule=fact.schedule,
        on=on,
        why="" if on else old.why,
        since_ms=since_ms,
        proposed=fact.proposed,
        mark=old.mark if same else {},
        trouble=old.trouble if same else "",
        read=old.read if old.schedule.when == fact.schedule.when else None,
    )


OVER = "no further time comes"
"""Why a schedule is off that has come to its end."""
REACHED_AGAIN = "what it watches can be looked at again"


def _after(
    old: Standing,
    fact: ScheduleSwitched
    | ScheduleDue
    | ScheduleCompared
    | ScheduleSkipped
    | ScheduleRunStarted
    | ScheduleRunEnded
    | ScheduleSnoozed
    | ScheduleCalendarRead
    | MailboxRead,
    ts_ms: int,
) -> Standing:
    match fact:
        case ScheduleSwitched(on=True):
            # What came while it was off was not missed, and what changed then is not made up for.
            return replace(old, on=True, why="", since_ms=ts_ms, mark={}, trouble="")
        case ScheduleSwitched(why=why):
            dropped = tuple(
                replace(run, end="skipped", ended_ms=ts_ms, text="it was switched off")
                if not (run.end or run.session or why)
                else run
                for run in old.runs
            )
            return replace(old, on=False, why=why or "switched off", runs=dropped)
        case ScheduleDue(due_ms=due_ms, by=by, given=given):
            since_ms = old.since_ms if by == "person" else max(old.since_ms, due_ms)
            run = ScheduleRun(due_ms, by, ts_ms, given=given, arrived=fact.arrived)
            return replace(old, since_ms=since_ms, runs=_kept((*old.runs, run)))
        case ScheduleCompared():
            return _compared(old, fact, ts_ms)
        case MailboxRead():
            return replace(old, read=replace(fact, read_ms=ts_ms))
        case ScheduleSkipped():
            return replace(old, since_ms=max(old.since_ms, fact.last_ms), runs=_kept(_skipped(old.runs, fact, ts_ms)))
        case ScheduleRunStarted(due_ms=due_ms, session=session):
            return replace(old, runs=_changed(old.runs, due_ms, session=session, started_ms=ts_ms))
        case ScheduleRunEnded(due_ms=due_ms, end=end, text=text):
            return replace(old, runs=_changed(old.runs, due_ms, end=end, text=text, ended_ms=ts_ms))
        case ScheduleSnoozed(until_ms=until_ms):
            return replace(old, snoozed_ms=until_ms)
        case ScheduleCalendarRead(since_ms=since_ms, calendar=calendar):
            return replace(old, since_ms=max(old.since_ms, since_ms), calendar=calendar)
        case _:
            assert_never(fact)


def _compared(old: Standing, fact: ScheduleCompared, ts_ms: int) -> Standing:
    runs = old.runs
    if fact.trouble != old.trouble:  # said once in the history, and once when it is over
        said = fact.trouble or REACHED_AGAIN
        runs = _kept((*runs, ScheduleRun(ts_ms, "clock", ts_ms, ended_ms=ts_ms, end="skipped", text=said)))
    return replace(old, mark=changed(old.mark, fact.before, fact.after), trouble=fact.trouble, runs=runs)


def watched(schedule: Schedule) -> tuple[Watch, ...]:
    """All that it watches, the checklist last."""
    return (*schedule.watches, *((PathWatch(schedule.checklist),) if schedule.checklist else ()))


def _changed(runs: tuple[ScheduleRun, ...], due_ms: int, **changes: object) -> tuple[ScheduleRun, ...]:
    return tuple(replace(run, **changes) if run.due_ms == due_ms and not run.end else run for run in runs)


def _skipped(runs: tuple[ScheduleRun, ...], fact: ScheduleSkipped, ts_ms: int) -> tuple[ScheduleRun, ...]:
    """With the skipped times, counted together with those before them where the reason is the same."""
    last = runs[-1] if runs else None
    if last and last.end == "skipped" and last.text == fact.why:
        more = replace(last, times=last.times + fact.times, last_ms=fact.last_ms, ended_ms=ts_ms)
        return (*runs[:-1], more)
    return (
        *runs,
        ScheduleRun(
            fact.first_ms,
            "clock",
            ts_ms,
            ended_ms=ts_ms,
            end="skipped",
            text=fact.why,
            times=fact.times,
            last_ms=fact.last_ms,
        ),
    )


def _kept(runs: tuple[ScheduleRun, ...]) -> tuple[ScheduleRun, ...]:
    """Without the oldest of those that are over."""
    spare = len(runs) - MOST_RUNS
    if spare <= 0:
        return runs
    over = {run.due_ms for run in [run for run in runs if run.end][:spare]}
    return tuple(run for run in runs if run.due_ms not in over or not run.end)


# -- commands ----------------------------------------------------------------------------------------------------------


class SetSchedule(msgspec.Struct, frozen=True, tag="schedule.set", forbid_unknown_fields=True):
    """Add or change a schedule. A change moves no due time, unless it is of ``when``."""

    schedule: Schedule


class SwitchSchedule(msgspec.Struct, frozen=True, tag="schedule.switch", forbid_unknown_fields=True):
    """Have a schedule run by itself, or no more. What came while it was off is not made up for."""

    name: Name
    on: bool


class RemoveSchedule(msgspec.Struct, frozen=True, tag="schedule.remove", forbid_unknown_fields=True):
    """Forget a schedule. What it started goes on."""

    name: Name


class RunSchedule(msgspec.Struct, frozen=True, tag="schedule.run", forbid_unknown_fields=True):
    """Run it once, now, or as soon as the run under way is over; a schedule that is off too.

    ``again_ms``: as it ran for this due time of its history, with what came with that; 0 for none.
    """

    name: Name
    again_ms: Annotated[int, bounds(minimum=0, maximum=2**53)] = 0


class SnoozeSchedule(msgspec.Struct, frozen=True, tag="schedule.snooze", forbid_unknown_fields=True):
    """Skip what is due until a moment, in milliseconds since 1970, a year from now at most; 0 ends a snooze."""

    name: Name
    until_ms: Annotated[int, bounds(minimum=0, maximum=2**53)]


ScheduleCommand = SetSchedule | SwitchSchedule | RemoveSchedule | RunSchedule | SnoozeSchedule
