"""Schedules at work, over a real journal and a simulated clock: what is due runs once, whatever happens around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from bench.r4_schedules import Found, life
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import HOME, NO_COMMAND, CommandId, SessionId
from stead.domain.policies import Profile
from stead.domain.schedules import (
    Every,
    GoalReview,
    RemoveSchedule,
    RunSchedule,
    Schedule,
    ScheduleDue,
    ScheduleRun,
    SetSchedule,
    SwitchSchedule,
)
from stead.runtime.schedules import DOOR
from tests.runtime.room import Room, Said, WireModels

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    room = Room(tmp_path, WireModels(()))
    yield room
    await room.leave()


def hourly(room: Room, name: str = "inbox", **given: object) -> Schedule:
    job = cmd.OpenSession(str(room.project), goal="Read the inbox")
    return Schedule(**{"name": name, "when": Every(3600), "job": job, **given})  # type: ignore[arg-type]


async def later(room: Room, ms: int) -> None:
    """Let time pass, and what is due be done."""
    room.world.clock.ms += ms
    await quiet(room)


async def quiet(room: Room) -> None:
    """Let schedules and sessions do all that they would do by themselves now."""
    room.runtime.schedules._ended = None
    for _ in range(20):
        await room.runtime.schedules.settle()
        before = room.world.journal.head()
        for run in open_runs(room):
            await room.settled(run.session)
        room.runtime.schedules._ended = None  # as after a restart: it asks each session
        await room.runtime.schedules.settle()
        if room.world.journal.head() == before:
            return


def runs(room: Room, name: str = "inbox") -> tuple[ScheduleRun, ...]:
    return room.home.state.schedules[name].runs


def open_runs(room: Room) -> list[ScheduleRun]:
    return [run for one in room.home.state.schedules.values() for run in one.open_runs if run.session]


async def test_a_schedule_opens_its_objective_when_it_is_time_and_says_how_it_ended(room: Room) -> None:
    await room.do(SetSchedule(hourly(room, missed="all")))
    await later(room, HOUR_MS - 10_000)
    assert runs(room) == () and not room.models.requests, "nothing runs between two times, and no model is asked"
    await later(room, 10_000)
    (run,) = runs(room)
    assert (run.end, run.by, run.times) == ("answered", "clock", 1)
    spec = (await room.state(run.session)).spec
    assert spec.contract and spec.contract.goal == "Read the inbox"
    assert spec.scheduled and spec.scheduled.schedule == "inbox" and spec.scheduled.proposed is None
    facts = [type(body).__name__ for body in room.bodies(HOME)]
    assert facts == ["ScheduleSet", "ScheduleDue", "ScheduleRunStarted", "ScheduleRunEnded"]
    await later(room, 3 * HOUR_MS)
    assert [run.by for run in runs(room)] == ["clock", "missed", "missed", "clock"]


async def test_what_cannot_run_is_refused_when_it_is_set_and_said_when_it_is_due(room: Room) -> None:
    job = hourly(room).job
    assert isinstance(job, cmd.OpenSession)
    wrong = {
        "is no folder": msgspec.structs.replace(job, directory="/nowhere/at/all"),
        "needs a goal": msgspec.structs.replace(job, goal=None),
        "no secret": msgspec.structs.replace(job, secrets=("nothing",)),
        "budget of 0": msgspec.structs.replace(job, budget=ev.Budget(0, "unlimited")),
        "tool": msgspec.structs.replace(job, tools=("teleport",)),
    }
    for said, odd in wrong.items():
        with pytest.raises((InvalidRequest, NotFound), match=said):
            await room.do(SetSchedule(hourly(room, job=odd)))
    with pytest.raises(InvalidRequest, match="the name"):
        await room.do(SetSchedule(hourly(room, name="No Name")))
    with pytest.raises(InvalidRequest, match="is past"):
        await room.do(SetSchedule(hourly(room, until_ms=5)))
    await room.do(SetSchedule(hourly(room)))
    room.project.rename(room.folder / "moved")
    await later(room, HOUR_MS)
    (run,) = runs(room)
    assert run.end == "refused" and str(room.project) in run.text
    (room.folder / "moved").rename(room.project)
    await later(room, HOUR_MS)
    assert runs(room)[-1].end == "answered", "the next time is as good as any"


async def test_it_is_switched_run_by_hand_and_removed(room: Room) -> None:
    await room.do(SetSchedule(hourly(room)))
    with pytest.raises(Conflict):
        await room.do(SwitchSchedule("inbox", on=True))
    await room.do(SwitchSchedule("inbox", on=False))
    await later(room, 5 * HOUR_MS)
    assert runs(room) == ()
    await room.do(RunSchedule("inbox"))
    await quiet(room)
    assert [(run.by, run.end) for run in runs(room)] == [("person", "answered")]
    await room.do(SwitchSchedule("inbox", on=True))
    await quiet(room)
    assert len(runs(room)) == 1, "what came while it was off is not made up for"
    await room.do(RemoveSchedule("inbox"))
    await later(room, 5 * HOUR_MS)
    assert room.home.state.schedules == {}
    with pytest.raises(NotFound):
        await room.do(RunSchedule("inbox"))


async def test_a_job_that_never_ends_is_not_started_beside_itself(room: Room) -> None:
    room.models.left = iter([Said((("shell", '{"command":"make"}'),))])
    await room.do(SetSchedule(hourly(room, job=cmd.OpenSession(str(room.project), goal="Build", profile=Profile.ASK))))
    await later(room, HOUR_MS)
    for _ in range(5):
        await later(room, HOUR_MS)
    waits, skipped = runs(room)
    assert (waits.end, skipped.end, skipped.text, skipped.times) == ("", "skipped", "overlap", 5)
    await room.do(cmd.Cancel(waits.session))
    await later(room, HOUR_MS)
    assert [run.end for run in runs(room)] == ["cancelled", "skipped", "answered"]


async def test_an_objective_that_was_cancelled_or_is_gone_is_not_taken_up_again(room: Room) -> None:
    id = (await room.do(cmd.OpenSession(str(room.project), goal="Get the shop online"))).session
    await room.settled(id)
    await room.do(SetSchedule(hourly(room, job=GoalReview(id))))
    await later(room, HOUR_MS)
    assert [run.end for run in runs(room)] == ["answered"], "a text alone reaches no goal"
    asked = len(room.models.requests)
    room.models.hold = asyncio.Event()
    await room.do(RunSchedule("inbox"))
    await room.runtime.schedules.settle()
    await room.do(cmd.Cancel(id))
    await later(room, HOUR_MS)
    standing = room.home.state.schedules["inbox"]
    assert (standing.on, standing.why) == (False, "its objective was cancelled") and len(
        room.models.requests
    ) <= asked + 1
    with pytest.raises(InvalidRequest, match="has no goal"):
        await room.do(SetSchedule(hourly(room, "talk", job=GoalReview(await room.open()))))
    with pytest.raises(NotFound):
        await room.do(SetSchedule(hourly(room, "none", job=GoalReview(SessionId("s_00000000000000ff")))))


async def test_a_run_that_a_crash_left_unrecorded_and_that_ended_before_anything_listened_is_over(room: Room) -> None:
    schedule = hourly(room)
    await room.do(SetSchedule(schedule))
    due_ms = room.world.clock.ms + 1
    await room.home.record(ScheduleDue("inbox", due_ms, "clock"), cause=NO_COMMAND)
    id, door = CommandId(f"{DOOR}inbox:{due_ms}"), f"{DOOR}inbox"
    assert isinstance(schedule.job, cmd.OpenSession)
    session = (await room.runtime.handle(schedule.job, id=id, door=door)).session
    await room.settled(session)
    schedules = room.runtime.schedules
    schedules.turn.clear()
    await schedules.settle()  # the first after a start, which asks each session that it knows of
    assert runs(room)[0].session == session and schedules.turn.is_set()
    await schedules.settle()
    assert runs(room)[0].end == "answered", "nothing else would start while it seems to go on"


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_restarts_and_clocks_do_each_due_time_is_recorded_once_and_opens_one_session(
    tmp_path: Path, seed: int
) -> None:
    """The short form of the bench R4; ``python -m bench R4`` is the long one."""
    found = await life(tmp_path, seed)
    assert found.due and found == Found(found.due, lost=0, doubled=0, strays=0)
