"""What runs by itself, from outside: by the command line, around a power cut, and over weeks of a simulated clock."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checks import Check
from stead.domain.ids import HOME
from stead.domain.messages import UserMessage
from stead.domain.schedules import Every, Review, Schedule, ScheduleRunEnded, ScheduleSwitched, SetSchedule
from tests.flows.house import Json, LivingHome
from tests.promises import promise
from tests.runtime.room import Room, WireModels

DAY_MS = 86_400_000


def in_a_moment(house: LivingHome, project: Path, name: str, delay_s: float = 1.5, **given: object) -> int:
    """Have a goal run each minute, the first time in so long; gives when that is."""
    due_ms = int((time.time() + delay_s) * 1000)
    job = {"type": "session.open", "directory": str(project), "goal": "List the headings of README.md"}
    when = {"type": "every", "seconds": 60, "from_ms": due_ms - 60_000}
    house.post("/schedules", {"name": name, "when": when, "job": job, **given})
    return due_ms


def runs(house: LivingHome, name: str) -> list[Json]:
    found: list[Json] = house.get(f"/schedules/{name}/runs")["items"]
    return found


@promise("SCH-1.manage")
def test_schedules_are_added_listed_changed_run_and_removed_by_the_command_line(
    house: LivingHome, project: Path
) -> None:
    goal = ("--dir", str(project), "List the headings of README.md")
    added = house.cli("schedule", "add", "headings", *goal, "--when", "0 7 * * 1-5", "--zone", "Europe/Berlin")
    assert added.returncode == 0, added.stderr
    assert "0 7 * * 1-5 (Europe/Berlin), on" in added.stdout and len(re.findall(r"\d\d:00:00", added.stdout)) == 5
    again = house.cli("schedule", "add", "headings", *goal, "--when", "every 3h")
    assert again.returncode == 2 and "stead schedule change headings" in again.stderr
    for when, said in (
        ("0 0 30 2 *", "none that ever comes"),
        ("61 * * * *", "bad minute"),
        ("at dawn", "says no time"),
    ):
        refused = house.cli("schedule", "add", "odd", *goal, "--when", when)
        assert refused.returncode == 2 and said in refused.stderr, refused.stderr
    changed = house.cli("schedule", "change", "headings", "--when", "every 3h", "--missed", "skip", "--json")
    row = json.loads(changed.stdout)
    assert (row["words"], row["schedule"]["missed"], row["schedule"]["overlap"]) == (
        "every 3h",
        "skip",
        "skip",
    )
    assert house.cli("schedule", "disable", "headings").returncode == 0
    assert " off " in house.cli("schedule").stdout
    assert "runs" in house.cli("schedule", "run", "headings").stdout
    house.until(lambda: bool(runs(house, "headings")[0].get("end")), "the run to end")
    (run,) = runs(house, "headings")
    assert run["by"] == "person" and run["session"] in house.cli("schedule", "history", "headings").stdout
    assert house.get(f"/objectives/{run['session']}")["goal"] == "List the headings of README.md"
    assert "is on" in house.cli("schedule", "enable", "headings").stdout
    assert house.cli("schedule", "remove", "headings", "--yes").returncode == 0
    assert "Nothing is scheduled" in house.cli("schedule", "list").stdout


@promise("SCH-1.kinds", "SCH-1.zones")
def test_cron_an_interval_and_a_moment_come_by_the_clocks_of_their_zone(house: LivingHome, project: Path) -> None:
    year = time.gmtime().tm_year + 1
    for zone in ("Europe/Berlin", "Australia/Lord_Howe", "America/Havana"):
        name = zone.rpartition("/")[2].lower().replace("_", "-")
        job = {"type": "session.open", "directory": str(project), "goal": "List the headings of README.md"}
        kinds = {
            "cron": {"type": "cron", "expression": "30 2 * * *", "zone": zone},
            "once": {"type": "once", "at": f"{year}-07-01T07:00", "zone": zone},
            "every": {"type": "every", "seconds": 5400},
        }
        rows: dict[str, Json] = {}
        for kind, when in kinds.items():
            house.post("/schedules", {"name": f"{name}-{kind}", "when": when, "job": job})
            (rows[kind],) = [
                row for row in house.get("/schedules")["items"] if row["schedule"]["name"] == f"{name}-{kind}"
            ]
        there = [datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)) for ms in rows["cron"]["next_ms"]]
        assert [(at.hour, at.minute) for at in there] == [(2, 30)] * 5
        assert len({at.date() for at in there}) == 5
        (once_ms,) = rows["once"]["next_ms"]
        assert datetime.fromtimestamp(once_ms / 1000, ZoneInfo(zone)).isoformat()[:16] == f"{year}-07-01T07:00"
        every = rows["every"]["next_ms"]
        assert [b - a for a, b in pairwise(every)] == [5_400_000] * 4


@promise("SCH-1.missed")
@pytest.mark.parametrize("moment_s", [-0.3, 0.0, 0.02, 0.1, 0.3])
def test_a_power_cut_around_a_due_time_neither_loses_nor_doubles_its_run(
    house: LivingHome, project: Path, moment_s: float
) -> None:
    due_ms = in_a_moment(house, project, "night")
    time.sleep(max(0.0, due_ms / 1000 + moment_s - time.time()))  # the moment itself is what is tried
    house.kill()
    house.start()
    house.until(lambda: [run for run in runs(house, "night") if run.get("end")] != [], "the run to end")
    at_due = [run for run in runs(house, "night") if run["due_ms"] == due_ms]
    assert len(at_due) == 1 and at_due[0]["end"] in ("answered", "verified", "unverified")
    opened = [event for event in house.events() if event["body"]["type"] == "session.opened"]
    assert [event["stream"] for event in opened] == [at_due[0]["session"]]
    assert opened[0]["body"]["scheduled"] == {"schedule": "night"}


async def review_room(tmp_path: Path, checks: tuple[Check, ...]) -> tuple[Room, ev.SessionId, int]:
    """A goal that is reviewed every three days for three weeks; its first run could not reach it."""
    room = Room(tmp_path, WireModels(()))
    await room.home.begin(ev.DaemonStarted("1", ()))
    limits = ev.Limits(send_backs=0)
    opening = cmd.OpenSession(str(room.project), goal="Get the shop online", checks=checks, limits=limits)
    id = (await room.do(opening)).session
    await room.settled(id)
    start_ms = room.world.clock.ms
    schedule = Schedule("shop", Every(3 * 86_400), Review(id), until_ms=start_ms + 21 * DAY_MS + 60_000)
    await room.do(SetSchedule(schedule))
    return room, id, start_ms


async def at(room: Room, ms: int) -> None:
    """It is that time; whatever runs by itself has run."""
    room.world.clock.ms = ms
    for _ in range(3):
        room.runtime.schedules._ended = None
        await room.runtime.schedules.settle()
        for run in room.home.state.schedules["shop"].open_runs:
            await room.settled(run.session)


@promise("OBJ-8.weeks")
async def test_a_goal_of_21_days_with_five_restarts_rests_between_its_reviews_and_ends_right(tmp_path: Path) -> None:
    checks = (Check("exists", "shop.html"), Check("exists", "live.txt"))
    room, id, start_ms = await review_room(tmp_path, checks)
    assert (await room.state(id)).end.status == "incomplete"  # type: ignore[union-attr]
    asked: list[int] = []
    for day in range(1, 22):
        before = len(room.models.requests)
        if day == 6:
            (room.project / "shop.html").write_text("<h1>Pears</h1>")
        if day == 17:
            (room.project / "live.txt").write_text("yes")
        if day in (2, 3, 9, 14, 20):  # once on the day of a review
            room.world.clock.ms = start_ms + day * DAY_MS - 3_600_000
            room = await room.crash()
        await at(room, start_ms + day * DAY_MS + 60_000)
        asked.append(len(room.models.requests) - before)
    assert [day for day, requests in enumerate(asked, 1) if requests] == [3, 6, 9, 12, 15, 18], "it rests in between"
    said = [
        message.text
        for message in (await room.state(id)).messages
        if isinstance(message, UserMessage) and message.notice and message.text.startswith("Review")
    ]
    assert [text.split(" of this")[0] for text in said] == [f"Review {number}" for number in range(1, 7)]
    assert "does not hold: " in said[1] and said[2].count("- holds: ") == 1
    ended = [body for body in room.bodies(HOME) if isinstance(body, ScheduleRunEnded)]
    assert [body.end for body in ended] == ["incomplete"] * 5 + ["verified"]
    assert ended[0].text == "0 of 2 checks hold" and ended[-1].text == "2 of 2 checks hold"
    (off,) = [body for body in room.bodies(HOME) if isinstance(body, ScheduleSwitched)]
    assert off.why == "its goal is reached"
    await room.leave()


async def test_a_goal_that_is_never_reached_is_reviewed_until_its_day_and_no_longer(tmp_path: Path) -> None:
    room, id, start_ms = await review_room(tmp_path, (Check("exists", "never.txt"),))
    for day in range(3, 60, 3):
        await at(room, start_ms + day * DAY_MS + 60_000)
    standing = room.home.state.schedules["shop"]
    assert len([run for run in standing.runs if run.end == "incomplete"]) == 7 and not standing.on
    assert (await room.state(id)).end.status == "incomplete"  # type: ignore[union-attr]
    requests = len(room.models.requests)
    await at(room, start_ms + 90 * DAY_MS)
    assert len(room.models.requests) == requests
    await room.leave()


async def test_an_objective_that_was_cancelled_is_not_taken_up_again(tmp_path: Path) -> None:
    room, id, start_ms = await review_room(tmp_path, (Check("exists", "never.txt"),))
    await room.do(cmd.Retry(id))
    await room.do(cmd.Cancel(id))
    await room.settled(id)
    requests = len(room.models.requests)
    await at(room, start_ms + 4 * DAY_MS)
    assert len(room.models.requests) == requests
    assert room.home.state.schedules["shop"].why == "its objective was cancelled"
    await room.leave()
