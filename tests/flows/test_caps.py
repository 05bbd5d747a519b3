"""What may be spent, by one objective and by the whole home."""

from __future__ import annotations

from pathlib import Path

from bench.r3_budget import USED, race, race_below
from bench.rig import plans, rig
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import LivingHome
from tests.flows.served import served
from tests.promises import promise

PRICED = "gpt-4o-mini"


@promise("OBJ-5.shared")
def test_objectives_that_race_on_one_daily_cap_never_pass_it() -> None:
    cap_tokens = 60_000
    with rig([Turn(turn.text, turn.calls, usage=USED, delay_s=0.02) for turn in plans(2)]) as r:
        found = race(r, 16, cap_tokens)
    assert found.otherwise == ()
    assert cap_tokens / 2 < found.peak <= cap_tokens
    assert 0 < found.spent <= cap_tokens
    assert found.completed and found.paused


@promise("OBJ-5.shared", "OBJ-7.narrow")
def test_subagents_that_race_on_one_budget_never_pass_it_and_what_they_spend_adds_up() -> None:
    tokens = 200_000
    with rig([]) as r:
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
