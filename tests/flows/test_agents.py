"""Subagents, through the doors that people use: their work, their bounds and their end."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, children, report, spawn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served

__all__ = ["house"]

WRITE = Turn("", calls=(Call("write", {"path": "out.txt", "text": "hello\n"}),))


def test_a_subagent_does_a_task_and_its_report_returns_to_the_session_that_started_it(
    house: LivingHome, project: Path
) -> None:
    parts = {
        "ROOT": (Turn("", calls=(spawn("AA: write out.txt", specialist="coder"),)), Turn("It is written.")),
        "AA": (WRITE, Turn("I wrote out.txt.")),
    }
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: have out.txt written", project, profile="work"))
    assert row["status"] == "unverified", row
    assert (project / "out.txt").read_text() == "hello\n"
    (child,) = children(house, row["id"])
    assert (child["parent"], child["specialist"], child["status"]) == (row["id"], "coder", "unverified")
    told = report(house, row["id"])
    assert told["outcome"] == "ok" and "I wrote out.txt." in told["text"] and "Changed: out.txt" in told["text"]
    assert row["tokens_used"] > child["tokens_used"] > 0
