"""Schedules at work: records what is due, starts it by the way that every door uses, and hears how it ended.

Layer: runtime. One alarm is set for the earliest time; between two of them nothing runs and no model is asked. What is
due is durable before anything starts, and a run's command has the due time in its id: after a crash the same command
is sent again, and the journal gives the first answer to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from stead.domain import commands as cmd
from stead.domain import due_times
from stead.domain import events as ev
from stead.domain.agents import Taint
from stead.domain.calendars import Calendar
from stead.domain.errors import Conflict, InvalidRequest, NotFound, SteadError, StorageFault
from stead.domain.ids import HOME, NO_COMMAND, CommandId, SessionId
from stead.domain.messages import Material
from stead.domain.objectives import require_budget
from stead.domain.ports import Claimed, Clock, Journal
from stead.domain.schedule_rows import AgendaRow, ScheduleRow
from stead.domain.schedules import (
    GoalReview,
    Schedule,
    ScheduleCalendarRead,
    ScheduleCommand,
    ScheduleDue,
    ScheduleFact,
    ScheduleRun,
    ScheduleRunEnded,
    ScheduleRunStarted,
    ScheduleSet,
    ScheduleSkipped,
    ScheduleSwitched,
    SetSchedule,
    Skip,
    Standing,
    watched,
)
from stead.domain.sessions import Session
from stead.domain.triggers import Arrival, Arrived, Mailbox, MailboxRead, handed_text
from stead.domain.watches import CalendarWatch
from stead.runtime.alarms import WallAlarm
from stead.runtime.answers import answer, claim_of, of
from stead.runtime.bus import Bus, Subscription
from stead.runtime.calendars import LOOK_MS, CalendarReader, lacking
from stead.runtime.goal_reviews import digest_of, found_of
from stead.runtime.heartbeats import QUIET, archive, heartbeat_job, said_by
from stead.runtime.home import HomeStream
from stead.runtime.opening import Opener
from stead.runtime.registry import Sessions
from stead.runtime.schedule_changes import (
    agenda,
    checked_arrival,
    checked_mailbox,
    known_of,
    no_room,
    schedule_change,
    schedule_row,
    unused_ms,
)
from stead.runtime.session_words import handed_over
from stead.runtime.watching import Watching, changed_by

log = logging.getLogger(__name__)
DOOR = "schedule:"
"""What the door of a run is called before its schedule's name; no door of a person's has a colon in its name."""
RETRY_S = 30.0
REACHED = "its goal is reached"
CHANGED, EVENT = "what has changed", "event"
"""What the texts are called that tell a run what started it."""
_TEXT_CHARS = 500
Handle = Callable[[cmd.Command, CommandId, str], Awaitable[cmd.Answer]]


@dataclass(eq=False, repr=False)
class Schedules:
    """Keeps schedules; the caller of ``keep`` owns the work.

    Args:
        home: has them, and records what becomes of them.
        sessions: all there are.
        opener: says whether a job can be.
        handle: carries out a command, once for its id.
        clock: says what time it is.
        journal: knows what was carried out.
        bus: tells of sessions that end.
    """

    _home: HomeStream
    _sessions: Sessions
    _opener: Opener
    _handle: Handle
    _clock: Clock
    _journal: Journal
    _bus: Bus

    def __post_init__(self) -> None:
        self._calendars = CalendarReader()
        self._lock = asyncio.Lock()
        self._ended: set[SessionId] | None = None
        """Sessions that have ended since the runs were looked at; None where it is not known which."""
        self.turn = asyncio.Event()
        """Set where something may have come that no alarm rang for."""
        self.watching = Watching(self._home, self._clock, self._lock, self._start)
        self._calendars.clean = lambda text: self.watching.clean(text)
        self.check = self.watching.check
        self.load: Callable[[str], str] = _nothing
        """Gives the text of what came in, as it may be recorded. It blocks."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called whenever a schedule may have changed."""

    # -- what people ask and say -----------------------------------------------------------------------------------

    async def rows(self, directory: str = "") -> tuple[ScheduleRow, ...]:
        """See ``service.ScheduleQueries``."""
        known = sorted(self._home.state.schedules.items())
        now_ms = self._clock.now_ms()
        return tuple(
            schedule_row(one, now_ms, *self.watching.counts(name))
            for name, one in known
            if directory in ("", one.schedule.directory)
        )

    async def agenda(self, days: int) -> tuple[AgendaRow, ...]:
        """See ``service.ScheduleQueries``."""
        known, now_ms = tuple(self._home.state.schedules.values()), self._clock.now_ms()
        return await asyncio.to_thread(agenda, known, now_ms, days)

    async def runs(self, name: str) -> tuple[ScheduleRun, ...]:
        """See ``service.ScheduleQueries``."""
        runs = known_of(self._home.state.schedules, name).runs
        return (*self.watching.quiet_run(name), *reversed(runs))

    async def carry_out(self, command: ScheduleCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out; its first run may begin before this returns.

        Raises:
            InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
            StorageFault: nothing was written.
        """
        async with self._lock:
            facts = await self._facts(command, door)
            events = await self._home.record(*facts, cause=claim.id, claim=of(claim, HOME))
        self.turn.set()
        return answer(of(claim, HOME), events)

    async def set(self, schedule: Schedule, *facts: ScheduleFact, proposed: Taint | None, id: CommandId) -> None:
        """Add or change one for a session, with what follows from it, once for the id.

        Raises:
            InvalidRequest, NotFound, StorageFault: as ``carry_out``.
        """
        if self._journal.claimed(id):
            return
        async with self._lock:
            fact, *more = await self._facts(SetSchedule(schedule), "tool" if proposed else "intent")
            fact = replace(fact, proposed=proposed)
            await self._home.record(fact, *more, *facts, cause=id, claim=claim_of(id, "", HOME, ""))
        self.turn.set()

    async def tried(self, command: ScheduleCommand, known: Mapping[str, Standing]) -> tuple[ScheduleFact, ...]:
        """The facts that a command would make of these schedules; nothing happens. Raises as ``carry_out``."""
        if isinstance(command, SetSchedule):
            command = SetSchedule(await self._allowed(command.schedule))
        return await asyncio.to_thread(schedule_change, command, known, self._clock.now_ms(), "settings")

    async def arrive(self, name: str, arrived: Arrived, id: CommandId) -> Skip | Literal["taken", "off"]:
        """Record that something came in, once for the id; its run begins when those before it are over.

        Gives "taken" once it is durable, else why nothing was recorded.

        Raises:
            StorageFault: it was not recorded.
        """
        async with self._lock:
            one, now_ms = self._home.state.schedules.get(name), self._clock.now_ms()
            if self._journal.claimed(id):
                return "taken"
            if one is None or not one.on or 0 < one.schedule.until_ms < now_ms:
                return "off"
            if why := no_room(one, now_ms):
                return why
            due_ms = unused_ms(one, max(now_ms, one.since_ms + 1))  # never one that an older run had
            claim = claim_of(id, "", HOME, "")
            await self._home.record(
                ScheduleDue(name, due_ms, "arrival", arrived=arrived), cause=NO_COMMAND, claim=claim
            )
        self.turn.set()
        return "taken"

    async def note(self, fact: ScheduleSkipped | MailboxRead) -> None:
        """Record what became of what came in and was not taken, if the schedule is there; raises ``StorageFault``."""
        if fact.name in self._home.state.schedules:
            await self._record(fact)

    async def _facts(self, command: ScheduleCommand, door: str) -> tuple[ScheduleFact, ...]:
        """The facts that a command makes, after all that can be refused was."""
        if isinstance(command, SetSchedule):
            command = SetSchedule(await self._allowed(command.schedule))
        known, now_ms = self._home.state.schedules, self._clock.now_ms()
        facts = await asyncio.to_thread(schedule_change, command, known, now_ms, door)
        if isinstance(facts[0], ScheduleSet) and isinstance(when := facts[0].schedule.when, Calendar):
            schedule = facts[0].schedule
            found = await self._calendars.read(when, await _folder(self._sessions, schedule), now_ms, now_ms)
            if found is None or not found.sha256:
                raise InvalidRequest(found.problem if found else f"{when.file} can't be read")
            facts = (*facts, ScheduleCalendarRead(schedule.name, 0, found))
        return facts

    async def _allowed(self, schedule: Schedule) -> Schedule:
        """The schedule, if its job can be, with the real path of its folder."""
        job, when = schedule.job, schedule.when
        known, secrets = self._home.state.schedules, self._home.state.secrets
        watches = (checked_mailbox(one, secrets) if isinstance(one, Mailbox) else one for one in schedule.watches)
        schedule = replace(schedule, watches=tuple(watches))
        if any(isinstance(one, CalendarWatch) for one in schedule.watches) and (missing := lacking()):
            raise InvalidRequest(missing)
        if isinstance(when, Arrival):
            when = await asyncio.to_thread(checked_arrival, when, schedule, known, secrets)
            schedule = replace(schedule, when=when)
        if isinstance(job, GoalReview):
            if (await self._sessions.actor(job.session).state()).spec.interactive:
                raise InvalidRequest(f"{job.session} has no goal to be reviewed; name an objective")
            require_budget(job.budget or cmd.DEFAULT_BUDGET)
            return schedule
        return replace(schedule, job=replace(job, directory=(await self._opener.fact(job)).directory))

    # -- what happens by itself ------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Record what is due, and start it, now and whenever a time comes or a run ends."""
        alarm = WallAlarm(self.turn.set)
        listening = asyncio.create_task(self._listen(), name="ends of scheduled runs")
        try:
            while True:
                self.turn.clear()
                now_ms = self._clock.now_ms()
                try:
                    await self.settle()
                    self.watching.begin(self.turn.set)
                    self.on_turn()
                    alarm.set(_next_ms(self._home.state.schedules.values(), self.watching.next_ms, now_ms), now_ms)
                except SteadError as fault:
                    log.warning("schedules: %s; tried again in %d s", fault, RETRY_S)
                    alarm.set(now_ms + int(RETRY_S * 1000), now_ms)
                await self.turn.wait()
        finally:
            listening.cancel()
            self.watching.close()
            alarm.close()

    async def _listen(self) -> None:
        """Hear which sessions end; a run of a schedule may be among them."""
        watching: Subscription = self._bus.subscribe()
        try:
            while True:
                items = await watching.next()
                if watching.overrun:
                    watching.close()
                    watching, self._ended = self._bus.subscribe(), None
                    self.turn.set()
                for item in items:
                    if isinstance(item, ev.Event) and isinstance(item.body, ev.ObjectiveEnded | ev.SessionDeleted):
                        if self._ended is not None:
                            self._ended.add(item.session)
                        self.turn.set()
        finally:
            watching.close()

    async def settle(self) -> None:
        """Close the runs that have ended, record what has come due, and start what can begin.

        Raises:
            StorageFault: something could not be recorded; call it again.
        """
        async with self._lock:
            ended, self._ended = self._ended, set()
            for name in tuple(self._home.state.schedules):
                try:
                    await self._settle(name, ended)
                except StorageFault:
                    self._ended = None
                    raise
                except SteadError as fault:  # such as a zone that the host has no more; the others go on
                    log.error("schedule %s: %s", name, fault)

    async def _settle(self, name: str, ended: Collection[SessionId] | None) -> None:
        for run in self._home.state.schedules[name].open_runs:
            if run.session and (ended is None or run.session in ended):
                await self._hear(name, run)
        one, now_ms = self._home.state.schedules[name], self._clock.now_ms()
        if isinstance(one.schedule.when, Calendar) and one.on:
            folder = await _folder(self._sessions, one.schedule)
            if folder and (news := await self._calendars.news(one, folder, now_ms)):
                await self._record(news)
        one = self._home.state.schedules[name]
        if not watched(one.schedule):
            await self._record(*await asyncio.to_thread(due_times.settle, one, now_ms))
        self._calendars.settled(name, now_ms)
        await self._start(name)

    async def _record(self, *facts: ScheduleFact) -> None:
        if facts:
            await self._home.record(*facts, cause=NO_COMMAND)

    async def _hear(self, name: str, run: ScheduleRun) -> None:
        """Record how a run ended, if its session has ended."""
        session = await _session(self._sessions, run.session)
        if session is None:
            await self._record(ScheduleRunEnded(name, run.due_ms, "lost", "its session is gone"))
        elif session.end is not None:
            one = self._home.state.schedules[name]
            text = (said_by if one.schedule.checklist else found_of)(session)[:_TEXT_CHARS]
            facts: list[ScheduleFact] = [ScheduleRunEnded(name, run.due_ms, session.end.status, text)]
            if text == QUIET:
                await archive(self._handle, run, f"{DOOR}{name}")
            facts += await self.watching.own(one, changed_by(session))
            if one.on and isinstance(one.schedule.job, GoalReview) and (why := _over(session)):
                facts.append(ScheduleSwitched(name, on=False, door="stead", why=why))
            await self._record(*facts)

    async def _start(self, name: str) -> None:
        """Start the run that has waited longest, unless one goes on."""
        while (open_ := self._home.state.schedules[name].open_runs) and not open_[0].session:
            if any(run.session for run in open_):
                return
            await self._record(*await self._begun(self._home.state.schedules[name], open_[0]))

    async def _begun(self, one: Standing, run: ScheduleRun) -> tuple[ScheduleFact, ...]:
        """Begin a run; gives the facts of what came of it."""
        name, job = one.schedule.name, one.schedule.job
        id = CommandId(f"{DOOR}{name}:{run.due_ms}")
        if earlier := self._journal.claimed(id):  # a crash came between its beginning and the record of it
            if self._ended is not None:  # taken up again at the start, it may have ended before anything listened
                self._ended.add(earlier.answer.session)
                self.turn.set()
            return (ScheduleRunStarted(name, run.due_ms, earlier.answer.session),)
        try:
            if isinstance(job, GoalReview):
                return await self._reviewed(one, run, job, id)
            handed = await _handed(self.load, self.watching.clean, one, run)
            job = heartbeat_job(one.schedule, replace(job, context=handed))
            session = (await self._handle(job, id, f"{DOOR}{name}")).session
        except StorageFault:
            raise
        except SteadError as refused:
            return (ScheduleRunEnded(name, run.due_ms, "refused", str(refused)[:_TEXT_CHARS]),)
        return (ScheduleRunStarted(name, run.due_ms, session),)

    async def _reviewed(
        self, one: Standing, run: ScheduleRun, job: GoalReview, id: CommandId
    ) -> tuple[ScheduleFact, ...]:
        """Take an objective up again that rests, with word of where it stands."""
        name = one.schedule.name
        session = await _session(self._sessions, job.session)
        if session is None:
            ended = ScheduleRunEnded(name, run.due_ms, "lost", "its objective is gone")
            return (ended, ScheduleSwitched(name, on=False, door="stead", why="its objective is gone"))
        if why := _over(session):
            ended = ScheduleRunEnded(name, run.due_ms, "skipped", why)
            return (ended, ScheduleSwitched(name, on=False, door="stead", why=why))
        if session.end is None:
            return (ScheduleRunEnded(name, run.due_ms, "skipped", "it was at work, paused, or waited for you"),)
        said = digest_of(session, one, self._clock.now_ms())
        budget = job.budget or cmd.DEFAULT_BUDGET
        texts = await _handed(self.load, self.watching.clean, one, run)
        handed = handed_over(texts, f"{DOOR}{name}")

        def facts(now: Session) -> tuple[ev.Body, ...]:
            if now.end is None:
                raise Conflict("it was taken up again meanwhile")
            return (ev.ObjectiveRetried(budget), ev.NoticeGiven(said, "review"), *handed)

        await self._sessions.actor(session.id).tell(facts, claim_of(id, "", session.id, ""), cause=id)
        return (ScheduleRunStarted(name, run.due_ms, session.id),)


async def _session(sessions: Sessions, id: SessionId) -> Session | None:
    try:
        return await sessions.actor(id).state()
    except NotFound:
        return None


async def _folder(sessions: Sessions, schedule: Schedule) -> str:
    """Where its job works; "" where that is an objective that is gone."""
    job = schedule.job
    if not isinstance(job, GoalReview):
        return job.directory
    session = await _session(sessions, job.session)
    return session.spec.directory if session else ""


async def _handed(
    load: Callable[[str], str], clean: Callable[[str], str], one: Standing, run: ScheduleRun
) -> tuple[Material, ...]:
    """What came with a due time, as its run is handed it."""
    texts = {CHANGED if watched(one.schedule) else EVENT: clean(run.given)}
    if run.arrived:
        text = await asyncio.to_thread(load, run.arrived.content)
        texts[due_times.words(one.schedule.when)] = handed_text(run.arrived, text)
    return tuple(Material(name, text) for name, text in texts.items() if text)


def _nothing(content: str) -> str:
    raise NotFound(f"what came in is not kept any more ({content[:12]!r})")


def _next_ms(known: Iterable[Standing], next_due: Callable[[Standing], int | None], now_ms: int) -> int | None:
    """When something is due, or a calendar is to be looked at; None for never."""
    times: list[int] = []
    for one in known:
        if one.on and isinstance(one.schedule.when, Calendar):
            times.append(now_ms + LOOK_MS)
        with contextlib.suppress(InvalidRequest):  # ``settle`` has said so
            times.extend(filter(None, (next_due(one),)))
    return min(times, default=None)


def _over(session: Session) -> str:
    """Why an objective is not reviewed any more; "" while it is."""
    status = session.end.status if session.end else ""
    if status == "verified":
        return REACHED
    return "its objective was cancelled" if status == "cancelled" or session.trashed else ""
