"""What may be spent, by one objective and by the whole home."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.r3_budget import USED, race, race_below, set_ahead
from bench.rig import plans, rig
from stead.client import ApiError
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

PRICED = "gpt-4o-mini"


@pytest.mark.parametrize(
    "scheduled",
    [pytest.param(False, marks=promise("OBJ-5.shared")), pytest.param(True, marks=promise("LLM-5.schedules"))],
    ids=["given", "due"],
)
def test_objectives_that_start_at_once_never_pass_the_daily_cap_and_each_says_why_it_waits(
    tmp_path: Path, scheduled: bool
) -> None:
    cap_tokens = 30_000
    turns = [Turn(turn.text, turn.calls, usage=USED, delay_s=0.02) for turn in plans(2)]
    with rig(turns, forked=True, **set_ahead(tmp_path)) as r:
        found = race(r, 8, cap_tokens, scheduled=scheduled)
    assert found.otherwise == ()
    assert cap_tokens / 2 < found.peak <= cap_tokens
    assert 0 < found.spent <= cap_tokens
    assert found.completed and found.paused


@promise("LLM-5.warnings")
def test_each_share_of_a_cap_is_told_once_a_period_and_a_cap_of_0_lets_nothing_run(
    house: LivingHome, project: Path
) -> None:
    with served(lambda _: Turn("It has three headings.", usage=(900, 100, 0, 0))) as model:
        use_model(house, model.openai)
        assert house.cli("cap", "--tokens", "40000", "--warn", "2,5,90").returncode == 0
        for _ in range(3):
            house.finish(house.give("List the headings of README.md", project))
        house.until(lambda: len(_warned(house)) >= 2, "the notices")
        told = _warned(house)
        assert [one["share"] for one in told if one["unit"] == "tokens"] == sorted({one["share"] for one in told})
        assert all(one["spent"] * 100 >= one["share"] * one["most"] == one["share"] * 40_000 for one in told)
        for shown in (house.cli("cap"), house.cli("status"), house.cli("doctor")):
            assert "5 % of the cap of" in shown.stdout, shown
        house.stop()
        house.start()
        house.finish(house.give("List the headings of README.md", project))
        assert _warned(house) == told, "a start, and another request, tell nothing twice"
        house.post("/cap", {"daily": {"tokens": 1_000_000, "usd_micros": "unlimited"}})
        assert house.get("/cap")["warned"] == [], "a notice about another cap stands no longer"
        asked = len(model.requests())
        zero = house.cli("cap", "--tokens", "0")
        assert zero.returncode == 0 and "nothing may run" in zero.stdout + house.cli("status").stdout
        row = house.wait(house.give("List the headings of README.md", project), "paused")
        assert "nothing may run" in row["reason"] and len(model.requests()) == asked
    for wrong in ([0], [100], [1, 2, 3, 4, 5, 6]):
        with pytest.raises(ApiError, match="from 1 to 99"):
            house.post("/cap", {"warn_at": wrong})
    assert house.cli("cap", "--warn", "half").returncode == 2


def _warned(house: LivingHome) -> list[Json]:
    return [event["body"] for event in house.events() if event["body"]["type"] == "cap.warned"]


@promise("OBJ-5.shared", "OBJ-7.narrow")
def test_subagents_that_race_on_one_budget_never_pass_it_and_what_they_spend_adds_up() -> None:
    tokens = 100_000
    with rig([], forked=True) as r:
        found = race_below(r, tokens)
    assert found.subagents >= 8, found
    assert tokens / 4 < found.peak <= tokens, found
    assert 0 < found.spent == found.counted <= tokens, found


def _greedy(seen: Seen) -> Turn:
    """Asks for more as long as it may, and writes as much as it may: the cap of a request is kept, as vendors do."""
    most = min(2000, seen.body["max_completion_tokens"])
    at = len(seen.body["messages"])
    call = Call("read", {"path": "README.md", "line": at})
    return Turn(f"Reading on: {at}.", (call,), stop="" if most == 2000 else "length", usage=(500, most, 0, 0))


@promise("OBJ-5.money")
def test_a_money_budget_is_never_overrun_and_is_shown_beside_the_tokens(house: LivingHome, project: Path) -> None:
    usd_micros = 10_000
    with served(_greedy) as model:
        house.post("/providers", {"name": "acme", "preset": "openai", "base_url": model.openai, "model": PRICED})
        house.post("/providers/acme/key", {"key": "sk-invented"})
        house.post("/chain", {"chain": [{"provider": "acme", "model": PRICED}]})
        budget = {"tokens": "unlimited", "usd_micros": usd_micros}
        id = house.give("read on and on", project, budget=budget, limits={"iterations": 100})
        row = house.finish(id)
        shown = house.cli("objectives")
    assert (row["status"], row["reason"]) == ("incomplete", "budget")
    assert 0 < row["usd_micros_used"] <= usd_micros
    assert row["price_known"]
    assert "budget" in row["summary"]
    assert f"{row['tokens_used']:,}" in shown.stdout and "$" in shown.stdout
    # A spend is reserved before its request, so at no event had more than the budget been given away.
    spends = [event["body"] for event in house.events(id) if event["body"]["type"] == "model.requested"]
    assert len(spends) > 1 and all(0 < spend["reserved"]["usd_micros"] <= usd_micros for spend in spends)
