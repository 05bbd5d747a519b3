"""Schedules at work: records what is due, starts it by the way that every door uses, and hears how it ended.

Layer: runtime. One alarm is set for the earliest time; between two of them nothing runs and no model is asked. What is
due is durable before anything starts, and a run's command has the due time in its id: after a crash the same command
is sent again, and the journal gives the first answer to it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import assert_never

from msgspec.structs import replace

from stead.config import zone_name
from stead.domain import commands as cmd
from stead.domain import due_times
from stead.domain import events as ev
from stead.domain.ends import WELL
from stead.domain.errors import CallerError, Conflict, InvalidRequest, MachineError, NotFound, SteadError
from stead.domain.ids import HOME, NO_COMMAND, CommandId, SessionId
from stead.domain.opening import OpenSession
from stead.domain.ports import Claimed, Clock, Journal
from stead.domain.schedules import (
    MOST_SCHEDULES,
    OVER,
    RemoveSchedule,
    Review,
    Run,
    RunEnd,
    RunSchedule,
    Schedule,
    ScheduleCommand,
    Scheduled,
    ScheduleDue,
    ScheduleFact,
    ScheduleRemoved,
    ScheduleRow,
    ScheduleRunEnded,
    ScheduleRunStarted,
    ScheduleSet,
    ScheduleSkipped,
    ScheduleSwitched,
    SetSchedule,
    Skip,
    Standing,
    SwitchSchedule,
)
from stead.domain.sessions import Session
from stead.runtime.alarms import WallAlarm
from stead.runtime.answers import answer, claim_of, of
from stead.runtime.bus import Bus
from stead.runtime.home import HomeStream, check_budget
from stead.runtime.opening import Opener
from stead.runtime.registry import Sessions
from stead.runtime.reviews import digest_of

log = logging.getLogger(__name__)
DOOR = "schedule:"
"""What the door of a run is called before its schedule's name; no door of a person's has a colon in its name."""
RETRY_S = 30.0
Handle = Callable[[cmd.Command, CommandId, str], Awaitable[cmd.Answer]]


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

    def __init__(
        self,
        home: HomeStream,
        sessions: Sessions,
        opener: Callable[[], Opener],
        handle: Handle,
        clock: Clock,
        journal: Journal,
        bus: Bus,
    ) -> None:
        self._home = home
        self._sessions = sessions
        self._opener = opener
        self._handle = handle
        self._clock = clock
        self._journal = journal
        self._bus = bus
        self._lock = asyncio.Lock()
        self._turn = asyncio.Event()

    # -- what people ask and say -----------------------------------------------------------------------------------

    async def rows(self, directory: str = "") -> tuple[ScheduleRow, ...]:
        """The schedules by name: all, or those of a folder."""
        known = sorted(self._home.state.schedules.items())
        return tuple(self.row(one) for _, one in known if directory in ("", one.schedule.directory))

    async def runs(self, name: str) -> tuple[Run, ...]:
        """What became of a schedule's due times, the newest first.

        Raises:
            NotFound: there is no such schedule.
        """
        return tuple(reversed(self._known(name).runs))

    def row(self, one: Standing) -> ScheduleRow:
        """A schedule for people."""
        open_ = one.open_runs
        over = [run for run in one.runs if run.end]
        return ScheduleRow(
            schedule=one.schedule,
            on=one.on,
            why=one.why,
            proposed=one.proposed is not None,
            words=due_times.words(one.schedule.when),
            next_ms=due_times.upcoming(one, self._clock.now_ms()),
            running=next((run.session for run in open_ if run.session), SessionId("")),
            waiting=sum(not run.session for run in open_),
            last=over[-1] if over else None,
        )

    async def carry_out(self, command: ScheduleCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out; its first run may begin before this returns.

        Raises:
            InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
            StorageFault: nothing was written.
        """
        async with self._lock:
            match command:
                case SetSchedule(schedule=schedule):
                    facts: tuple[ScheduleFact, ...] = (ScheduleSet(await self._settled(schedule), door),)
                case SwitchSchedule(name=name, on=on):
                    known = self._known(name)
                    if on == known.on:
                        raise Conflict(f"{name} is {'on' if on else 'off'} already")
                    if on and due_times.next_due(replace(known, on=True, since_ms=self._clock.now_ms())) is None:
                        raise Conflict(f"{OVER} for {name}; change when it runs: stead schedule change {name}")
                    facts = (ScheduleSwitched(name, on, door),)
                case RemoveSchedule(name=name):
                    self._known(name)
                    facts = (ScheduleRemoved(name, door),)
                case RunSchedule(name=name):
                    runs = {run.due_ms for run in self._known(name).runs}
                    now_ms = self._clock.now_ms()
                    facts = (ScheduleDue(name, next(at for at in range(now_ms, now_ms + 999) if at not in runs), "person"),)
                case _:
                    assert_never(command)
            events = await self._home.record(*facts, cause=claim.id, claim=of(claim, HOME))
        self._turn.set()
        return answer(of(claim, HOME), events)

    async def set(self, schedule: Schedule, *facts: ScheduleFact, proposed: ev.Taint | None, id: CommandId) -> None:
        """Add or change one for a session, with what follows from it, once for the id.

        Raises:
            InvalidRequest, NotFound, StorageFault: as ``carry_out``.
        """
        if self._journal.claimed(id):
            return
        async with self._lock:
            fact = ScheduleSet(await self._settled(schedule), "tool" if proposed else "intent", proposed)
            await self._home.record(fact, *facts, cause=id, claim=claim_of(id, "", HOME, ""))
        self._turn.set()

    def _known(self, name: str) -> Standing:
        known = self._home.state.schedules.get(name)
        if known is None:
            raise NotFound(f"there is no schedule {name[:80]!r}; see: stead schedule list")
        return known

    async def _settled(self, schedule: Schedule) -> Schedule:
        """The schedule as it is kept, after all that can be refused was."""
        known, now_ms = self._home.state.schedules, self._clock.now_ms()
        if not _NAME.fullmatch(schedule.name):
            raise InvalidRequest(f"the name {schedule.name[:80]!r} cannot be: a small letter, then up to 30 of a-z, 0-9, -")
        if schedule.name not in known and len(known) >= MOST_SCHEDULES:
            raise InvalidRequest(f"{MOST_SCHEDULES} schedules are the most; remove one first: stead schedule remove NAME")
        if not 1 <= schedule.most <= 100:
            raise InvalidRequest("most is 1 to 100")
        if schedule.until_ms and schedule.until_ms <= now_ms:
            raise InvalidRequest("its end is past")
        when = await asyncio.to_thread(due_times.settled, schedule.when, zone_name(), now_ms)
        job = schedule.job
        if isinstance(job, Review):
            if (await self._sessions.actor(job.session).state()).spec.interactive:
                raise InvalidRequest(f"{job.session} has no goal to be reviewed; name an objective")
            check_budget(job.budget or cmd.DEFAULT_BUDGET)
        else:
            if job.goal is None:
                raise InvalidRequest("a schedule needs a goal: what is to be reached each time")
            if job.attachments:
                raise InvalidRequest("a schedule takes no attachments; put them into its folder")
            job = replace(job, directory=(await self._opener().fact(job)).directory)
        return replace(schedule, when=when, job=job)

    # -- what happens by itself ------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Record what is due, and start it, now and whenever a time comes or a run ends."""
        watching = self._bus.subscribe()
        alarm = WallAlarm(self._turn.set)
        listening = asyncio.create_task(self._listen(watching), name="ends of scheduled runs")
        try:
            while True:
                self._turn.clear()
                try:
                    await self.settle()
                    alarm.set(self._next_ms(), self._clock.now_ms())
                except SteadError as fault:
                    log.warning("schedules: %s; tried again in %d s", fault, RETRY_S)
                    alarm.set(self._clock.now_ms() + int(RETRY_S * 1000), self._clock.now_ms())
                await self._turn.wait()
        finally:
            listening.cancel()
            alarm.close()
            watching.close()

    async def _listen(self, watching: "ev.Any") -> None:
        while True:
            items = await watching.next()
            if any(isinstance(item, ev.Event) and isinstance(item.body, ev.ObjectiveEnded | ev.SessionDeleted) for item in items):
                self._turn.set()
            elif not items:
                watching.close()
                return

    def _next_ms(self) -> int | None:
        times = (due_times.next_due(one) for one in self._home.state.schedules.values())
        return min((due_ms for due_ms in times if due_ms is not None), default=None)

    async def settle(self) -> None:
        """Close the runs that have ended, record what has come due, and start what can begin.

        Raises:
            StorageFault: something could not be recorded; call it again.
        """
        async with self._lock:
            for name in tuple(self._home.state.schedules):
                for run in self._home.state.schedules[name].open_runs:
                    await self._heard(name, run)
                now_ms = self._clock.now_ms()
                one = self._home.state.schedules[name]
                facts = await asyncio.to_thread(due_times.settle, one, now_ms)
                await self._record(*facts)
                await self._start(name)
