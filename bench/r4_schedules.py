"""R4: every due time of a schedule has one record, whatever clocks and restarts do; cron against brute force.

Two halves. 40 cron expressions in 12 zones over 400 days, each minute tried by an oracle that shares no line with what
is measured. Then schedules by cron and by a calendar's events over a real journal, with restarts, torn writes, sleeps,
snoozes and a clock that jumps both ways around their due times: no time is missing, none is recorded twice, and no
session is opened twice.

``python -m bench.r4_schedules [DAYS [STEPS]]`` runs it by itself, shorter if so asked.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from bench.bar import Bar
from bench.long_runs import Progress, memory_folder
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.calendars import Calendar
from stead.domain.due_times import due_times
from stead.domain.ids import HOME
from stead.domain.schedules import (
    Cron,
    Schedule,
    ScheduleDue,
    ScheduleRunStarted,
    ScheduleSkipped,
    SetSchedule,
    SnoozeSchedule,
)
from tests.domain.cron_oracle import EXPRESSIONS, ZONES, Oracle
from tests.domain.test_due_times import YEARS
from tests.ics import calendar, event
from tests.runtime.room import Room, WireModels

DAYS, STEPS = 400, 10_000
MINUTE_MS, DAY_MS = 60_000, 86_400_000
SHIFTS, SHIFT_MS = "FREQ=HOURLY;INTERVAL=6", 6 * 60 * MINUTE_MS
EACH_LIFE = 50
"""Steps over one journal; then a new one begins, in another zone."""


def measure(days: int = DAYS, steps: int = STEPS) -> list[Bar]:
    """Both halves as one bar, over the host's cores."""
    lives = -(-steps // EACH_LIFE)
    parts: list[Callable[[], tuple[int, int] | Found]] = [partial(_lived, seed) for seed in range(lives)]
    for place, zone in enumerate(ZONES):  # spread out, so that what is left takes as long as what is done
        parts.insert(place * (lives // len(ZONES) + 1), partial(_zone, zone, days))
    progress = Progress("R4", len(parts), f"zones and lives of {EACH_LIFE} steps")
    times = wrong = 0
    total = Found(0, 0, 0, 0)
    with ProcessPoolExecutor() as pool:
        for number, future in enumerate(as_completed([pool.submit(part) for part in parts])):
            progress.done(number + 1)
            found = future.result()
            if isinstance(found, Found):
                total = Found(*map(sum, zip(total, found, strict=True)))
            else:
                times, wrong = times + found[0], wrong + found[1]
    said = (
        f"{times} due times of {len(EXPRESSIONS)} expressions in {len(ZONES)} zones over {days} days, {wrong} of the "
        f"expressions unlike the oracle; {steps} restarts, torn writes, sleeps, snoozes and jumps around {total.due} "
        f"due times: {total.lost} without a record, {total.doubled} with two, {total.strays} records of other times"
    )
    figure = wrong + total.lost + total.doubled + total.strays
    return [Bar("R4", figure, "wrong, missing or double due times", "0", figure == 0 < total.due, {}, said)]


def _zone(zone: str, days: int) -> tuple[int, int]:
    """How many due times there were, and for how many expressions they were others than the oracle's."""
    start = datetime(YEARS.get(zone, 2026), 1, 1, tzinfo=UTC)
    oracle = Oracle(zone, start.replace(tzinfo=None), days)
    first_ms = int(start.timestamp()) * 1000
    end_ms = first_ms + days * DAY_MS
    times = wrong = 0
    for expression in EXPRESSIONS:
        wanted = [at for at in oracle.times(expression) if at > first_ms]
        found = [*takewhile(lambda at: at < end_ms, due_times(Cron(expression, zone), first_ms))]
        times, wrong = times + len(wanted), wrong + (found != wanted)
    return times, wrong


def _lived(seed: int) -> Found:
    with memory_folder() as folder:
        return asyncio.run(life(Path(folder), seed))


class Found(NamedTuple):
    """Due times, those without a record, those with two or two sessions, and records of times that were not due."""

    due: int
    lost: int
    doubled: int
    strays: int


class Torn(BaseException):
    """The power goes out between a run's beginning and the record of it."""


async def life(folder: Path, seed: int) -> Found:
    """What ``EACH_LIFE`` steps over one journal come to; what they are follows from the seed."""
    chance, zone = random.Random(seed), ZONES[seed % len(ZONES)]
    room = Room(folder, WireModels(()))
    room.world.clock.ms = int(datetime(2026, chance.choice((3, 10)), 24, 12, tzinfo=UTC).timestamp()) * 1000
    expression = chance.choice(("*/30 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 */6 * * *", ""))
    when = Cron(expression, zone) if expression else Calendar("shifts.ics", zone=zone)
    (room.project / "shifts.ics").write_text(calendar(event("1", "20260101T000000Z", f"RRULE:{SHIFTS}")), newline="")
    job = cmd.OpenSession(str(room.project), goal="Read the inbox")
    missed, overlap = chance.choice(("skip", "once", "all")), chance.choice(("skip", "queue"))
    await room.do(SetSchedule(Schedule("inbox", when, job, missed, overlap=overlap)))  # type: ignore[arg-type]
    since_ms = furthest_ms = room.home.state.schedules["inbox"].since_ms
    for _ in range(EACH_LIFE):
        room = await _step(room, chance)
        furthest_ms = max(furthest_ms, room.world.clock.ms)
    wanted = _wanted(when, since_ms, furthest_ms)
    covered: list[int] = []
    uncounted = 0
    for body in room.bodies(HOME):
        if isinstance(body, ScheduleDue):
            covered.append(body.due_ms)
        elif isinstance(body, ScheduleSkipped):
            skipped = [at for at in wanted if body.first_ms <= at <= body.last_ms]
            covered += skipped
            uncounted += abs(body.times - len(skipped))
    started = [body.session for body in room.bodies(HOME) if isinstance(body, ScheduleRunStarted)]
    events = [event for event in room.world.journal.events() if isinstance(event, ev.Event)]
    opened = [event.session for event in events if isinstance(event.body, ev.SessionOpened)]
    await room.leave()
    doubled = len(covered) - len(set(covered)) + len(set(opened) ^ set(started)) + len(started) - len(set(started))
    strays = len(set(covered) - set(wanted)) + uncounted
    return Found(len(wanted), len(set(wanted) - set(covered)), doubled, strays)


def _wanted(when: Cron | Calendar, since_ms: int, furthest_ms: int) -> list[int]:
    """What was due in between, by the oracle; the calendar's file has its events at fixed hours of UTC."""
    first = since_ms // DAY_MS - 1
    every: Iterable[int] = range(0, furthest_ms + 1, SHIFT_MS)
    if isinstance(when, Cron):
        start = datetime.fromtimestamp(first * 86_400, UTC).replace(tzinfo=None)
        every = Oracle(when.zone, start, furthest_ms // DAY_MS - first + 1).times(when.expression)
    return [at for at in every if since_ms < at <= furthest_ms]


async def _step(room: Room, chance: random.Random) -> Room:
    """Something happens to the host; then what is due is done. Gives the life that goes on."""
    what = chance.choice(("wait", "sleep", "restart", "torn", "back", "ahead", "snooze"))
    minutes = {"wait": chance.randrange(40), "sleep": chance.randrange(60 * 72), "back": -chance.randrange(1, 120)}
    room.world.clock.ms += minutes.get(what, chance.randrange(10, 90)) * MINUTE_MS
    if what == "snooze":
        await room.do(SnoozeSchedule("inbox", room.world.clock.ms + chance.randrange(1, 600) * MINUTE_MS))
    if what == "restart":
        room = await room.crash()
    if what == "torn":
        record = room.home.record

        async def dies(*bodies: ev.Body, **more: object) -> object:
            if isinstance(bodies[0], ScheduleRunStarted):
                raise Torn
            return await record(*bodies, **more)  # type: ignore[arg-type]

        room.home.record = dies  # type: ignore[method-assign, assignment]
        try:
            await room.runtime.schedules.settle()
        except Torn:
            room = await room.crash()
        else:
            room.home.record = record  # type: ignore[method-assign]
    for _ in range(2):
        room.runtime.schedules._ended = None  # nobody listens here: each open run is asked
        await room.runtime.schedules.settle()
        for run in room.home.state.schedules["inbox"].open_runs:
            if run.session:
                await room.settled(run.session)
    return room


if __name__ == "__main__":
    for bar in measure(*map(int, sys.argv[1:])):
        print(bar.line(), bar.conditions)
