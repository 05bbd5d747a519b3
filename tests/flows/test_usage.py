"""What was spent, by whom and when, and what a run is likely to cost: from outside, by the command line and the API."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.fakes.models import Seen, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

GOAL = "List the headings of README.md"


def _costs_more(seen: Seen) -> Turn:
    """Each request takes a little more than the one before."""
    return Turn("It has three headings.", usage=(1000 + 10 * len(seen.body["messages"]), 20, 0, 0))


@promise("LLM-5.by-what")
def test_usage_is_said_by_session_objective_schedule_door_and_model_per_hour_day_and_month(
    house: LivingHome, project: Path
) -> None:
    with served(_costs_more) as model:
        use_model(house, model.openai)
        job = {"type": "session.open", "directory": str(project), "goal": GOAL}
        house.post("/schedules", {"name": "night", "when": {"type": "cron", "expression": "0 3 * * *"}, "job": job})
        house.post("/schedules/night/run")
        house.until(lambda: bool(house.get("/schedules/night/runs")["items"][0].get("end")), "the run to end")
        (run,) = house.get("/schedules/night/runs")["items"]
        mine = house.give(GOAL, project)
        house.finish(mine)

    def told(*words: str) -> list[dict[str, object]]:
        shown = house.cli("usage", "--json", *words)
        assert shown.returncode == 0, shown.stderr
        return [json.loads(line) for line in shown.stdout.splitlines()]

    assert {row["key"] for row in told("--by", "session")} == {run["session"], mine}
    assert {row["key"] for row in told("--by", "objective")} == {run["session"], mine}
    assert {row["key"] for row in told("--by", "schedule")} == {"night", ""}
    assert {row["key"] for row in told("--by", "door")} == {"schedule:night", "cli"}
    sums = {
        sum(row["tokens_in"] for row in house.get("/usage", by=by, per=per)["items"])
        for by in ("model", "session", "objective", "schedule", "door")
        for per in ("hour", "month", "all")
    }
    assert len(sums) == 1 and sums != {0}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:00", str(row["day"])) for row in told("--per", "hour"))
    shown = house.cli("usage", "--by", "schedule").stdout
    assert "SCHEDULE" in shown and "night" in shown and "none" in shown
    assert "Nothing was spent" in house.cli("usage", "--until", "2020-01-01", "--since", "2020-01-01").stdout
    assert house.cli("usage", "--since", "yesterday").returncode != 0
    assert house.get(f"/objectives/{run['session']}")["schedule"] == "night"


@promise("LLM-5.forecast")
def test_what_a_run_is_likely_to_cost_is_said_before_it_and_how_often_that_held(
    house: LivingHome, project: Path
) -> None:
    with served(_costs_more) as model:
        use_model(house, model.openai)
        asked = len(model.requests())
        first = house.cli("run", GOAL, "--dir", str(project), "--detach")
        assert first.returncode == 0 and "likely" not in first.stderr
        for _ in range(5):
            house.finish(house.give(GOAL, project))
        told = house.get("/forecast", directory=str(project))
        assert (told["basis"], told["unit"]) == ("folder", "tokens")
        assert told["of"] >= 1 and 0 < told["low"] <= told["high"]
        row = house.get("/objectives")["items"][0]
        assert told["low"] <= row["tokens_used"] <= told["high"]
        later = house.cli("run", GOAL, "--dir", str(project), "--detach")
        assert re.search(
            r"likely [\d,]+ to [\d,]+ tokens, from \d runs in this folder with this model; \d of", later.stderr
        )
        assert house.get("/forecast", directory="/elsewhere")["basis"] == "model"
        assert house.get("/forecast", directory=str(project), model="acme/other")["basis"] == ""
        house.until(lambda: all(row["ended_ms"] for row in house.get("/objectives")["items"]), "all to end")
        assert len(model.requests()) - asked == 7  # those of the runs: a forecast asks no model
    added = house.cli(
        "schedule", "add", "night", GOAL, "--when", "0 3 * * *", "--dir", str(project), "--profile", "ask"
    )
    assert "a run: likely" in added.stdout and "a run: likely" in house.cli("schedule", "show", "night").stdout
