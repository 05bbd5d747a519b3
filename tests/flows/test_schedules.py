"""What runs by itself, from outside: by the command line, around a power cut, and over weeks of a simulated clock."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.fakes.models import Seen, Turn
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

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
    assert (
        "every weekday at 07:00 (Europe/Berlin), on" in added.stdout
        and len(re.findall(r"\d\d:00:00", added.stdout)) == 5
    )
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
@pytest.mark.parametrize(
    "moment_s", [0.0, 0.1, *(pytest.param(other_s, marks=pytest.mark.long) for other_s in (-0.3, 0.02, 0.3))]
)
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


@pytest.mark.long
def test_background_work_that_a_fault_broke_off_is_logged_and_goes_on(tmp_path: Path, project: Path) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, 0)
    house = LivingHome(tmp_path / "home", {"CLOCK": str(clock)}, "tests.flows.clocked_daemon", forked=True)
    try:
        house.start()
        in_a_moment(house, project, "night")
        clock.write_text("no number")
        house.until(lambda: "it begins again" in house.log_tail(), "the fault", last=house.log_tail)
        set_clock(clock, 0)
        house.until(lambda: [run for run in runs(house, "night") if run.get("end")] != [], "the run to end")
    finally:
        house.stop()


class Weeks:
    """A home whose clock the test sets, with a goal in it that is reviewed every three days for three weeks."""

    def __init__(self, tmp_path: Path, project: Path, *done_when: str) -> None:
        self._clock = tmp_path / "clock"
        set_clock(self._clock, 0)
        module = "tests.flows.clocked_daemon"
        self.house = LivingHome(tmp_path / "weeks", env={"CLOCK": str(self._clock)}, module=module, forked=True)
        self.house.start()
        self._model = served(lambda seen: self._reply(seen))
        self.asked: list[str] = []
        use_model(self.house, self._model.__enter__().openai)
        until = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 21 * 86_400 + 3600))
        words = [word for check in done_when for word in ("--done-when", check)]
        review = ("--review-every", "3d", "--until", until)
        run = self.house.cli("run", "Get the shop online", *words, *review, "--detach", "--json", cwd=project)
        assert run.returncode == 0, run.stderr
        self.id = str(json.loads(run.stdout.splitlines()[0])["id"])
        self.name = f"review-{self.id.removeprefix('s_')}"
        self.house.wait(self.id, "incomplete")

    def _reply(self, seen: Seen) -> Turn:
        self.asked.append(json.dumps(seen.body["messages"]))
        return Turn("Nothing more can be done now.")

    def on_day(self, day: int, *, restarts: bool = False) -> None:
        """It is that day, a minute later than the goal was given; what is due then has come to its end."""
        due = self.row()["on"] and day % 3 == 0
        if restarts:
            self.house.kill()
        set_clock(self._clock, day * DAY_MS + 60_000)
        if restarts:
            self.house.start()
        elif self.row()["on"]:  # the clock was set behind the host's back, so no alarm rings: any change has it look
            self.house.post("/schedules", self.row()["schedule"])
        if due:
            self.house.until(lambda: len(self.reviews()) == day // 3, f"the review of day {day}", last=self.row)

    def row(self) -> Json:
        """The schedule."""
        (row,) = [row for row in self.house.get("/schedules")["items"] if row["schedule"]["name"] == self.name]
        return dict(row)

    def reviews(self) -> list[Json]:
        """The reviews that have ended, oldest first."""
        return [run for run in reversed(runs(self.house, self.name)) if run.get("end")]

    def close(self) -> None:
        """Let it all go."""
        self.house.stop()
        self._model.__exit__(None, None, None)


@pytest.fixture
def weeks(tmp_path: Path, project: Path) -> Iterator[Weeks]:
    opened = Weeks(tmp_path, project, "exists:shop.html", "exists:live.txt")
    yield opened
    opened.close()


@promise("OBJ-8.weeks")
def test_a_goal_of_21_days_with_five_restarts_rests_between_its_reviews_and_ends_right(
    weeks: Weeks, project: Path
) -> None:
    for day in range(1, 22):
        if day == 5:
            (project / "shop.html").write_text("<h1>Pears</h1>")
        if day == 17:
            (project / "live.txt").write_text("yes")
        weeks.on_day(day, restarts=day in (2, 3, 9, 14, 20))
    assert weeks.house.wait(weeks.id, "verified")["iterations"] == 1
    reviews = weeks.reviews()
    assert [run["end"] for run in reviews] == ["incomplete"] * 5 + ["verified"]
    assert [run["text"] for run in reviews] == ["0 of 2 checks hold", *["1 of 2 checks hold"] * 4, "2 of 2 checks hold"]
    assert len(weeks.asked) == 7, "between two reviews no model is asked"
    told = [f"Review {number} of this goal" in asked for number, asked in enumerate(weeks.asked)]
    assert told == [False, *[True] * 6]
    assert weeks.asked[2].count("does not hold: ") == 4 and "- holds: 'shop.html' exists" in weeks.asked[3]
    assert (weeks.row()["on"], weeks.row()["why"]) == (False, "its goal is reached")


@pytest.mark.long
def test_a_goal_that_is_never_reached_is_reviewed_until_its_day_and_no_longer(weeks: Weeks) -> None:
    for day in (*range(3, 22, 3), 24, 60):
        weeks.on_day(day)
    assert [run["end"] for run in weeks.reviews()] == ["incomplete"] * 7 and len(weeks.asked) == 8
    assert weeks.house.get(f"/objectives/{weeks.id}")["status"] == "incomplete"
    assert (weeks.row()["on"], weeks.row()["next_ms"]) == (False, [])
