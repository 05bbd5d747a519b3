"""Subagents while the power goes out: each ends once, its parent is told once, and the budgets add up."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

from tests.fakes.models import Call, Seen, Turn
from tests.flows.agents import casting, children, spawn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

KILLS = 6


def spent(house: LivingHome, id: str) -> int:
    """The tokens of a session's own requests, lost ones in full."""
    kinds = ("model.replied", "model.failed")
    return sum(body["spend"]["tokens"] for kind in kinds for body in house.bodies(id, kind))


@promise("OBJ-7.spawn")
def test_three_subagents_survive_the_power_going_out_again_and_again(house: LivingHome, project: Path) -> None:
    calls = tuple(spawn(f"P{number}: write") for number in range(3))
    parts: dict[str, tuple[Turn, ...]] = {"ROOT": (Turn("", calls=calls), Turn("All have written.", delay_s=0.02))}
    for n in range(3):
        write = Call("write", {"path": f"{n}.txt", "text": f"{n}\n"})
        parts[f"P{n}"] = (
            Turn("I look first.", calls=(Call("read", {"path": "README.md"}),), delay_s=0.05),
            Turn("Now I write.", calls=(write,), delay_s=0.05),
            Turn(f"I have written {n}.", delay_s=0.05),
        )
    plain, chance = casting(parts), random.Random(7)

    def reply(seen: Seen) -> Turn:
        said = json.dumps(seen.body["messages"])
        mine = re.search(r"P(\d): write", said)
        # The power may have gone out during each of its writes.
        if mine and 0 < said.count('"name": "write"') <= said.count("Outcome unknown"):
            return Turn("", calls=(Call("write", {"path": f"{mine[1]}.txt", "text": f"{mine[1]}\n"}),))
        return plain(seen)

    with served(reply) as model:
        use_model(house, model.openai)
        limits: Json = {"iterations": 200, "stall": 50, "repetition": 50}
        id = house.give("ROOT: have three files written", project, profile="work", limits=limits)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.6))  # the moment is the test's choice; nothing waits for it
            house.kill()
            house.start()
        row = house.finish(id)
    assert row["status"] == "unverified", row
    for n, child in enumerate(children(house, id)):
        # What was cut off may be in the session's copy already; all after it waits for the person then.
        if not house.bodies(child["id"], "review.wanted"):
            assert (project / f"{n}.txt").read_text() == f"{n}\n"
    spawned, ended = house.bodies(id, "agent.spawned"), house.bodies(id, "agent.ended")
    assert len(spawned) == len({body["session"] for body in spawned}) == 3
    assert sorted(body["session"] for body in ended) == sorted(body["session"] for body in spawned)
    reports = [body for body in house.bodies(id, "tool.finished") if body["tool"] == "spawn_agent"]
    assert len(reports) == 3 and {body["outcome"] for body in reports} == {"ok"}
    for child in children(house, id):
        assert len(house.bodies(child["id"], "objective.ended")) == 1
        assert len(house.bodies(child["id"], "session.opened")) == 1
        most = next(body["allotment"] for body in spawned if body["session"] == child["id"])
        assert spent(house, child["id"]) == child["tokens_used"] <= most["tokens"]
    assert row["tokens_used"] == spent(house, id) + sum(body["spend"]["tokens"] for body in ended)
    assert row["tokens_used"] <= row["budget"]["tokens"]
