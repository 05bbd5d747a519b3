"""Subagents, through the doors that people use: their work, their bounds and their end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, children, descendants, report, spawn
from tests.flows.conftest import shared_house as house
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.machines.bench import require_sandbox
from tests.promises import promise

__all__ = ["house"]

WRITE = Turn("", calls=(Call("write", {"path": "out.txt", "text": "hello\n"}),))
SLEEP = Turn("", calls=(Call("shell", {"command": "sleep 60"}),))
READ = Turn("", calls=(Call("read", {"path": "README.md"}),))


@promise("OBJ-7.spawn", "TOOL-1.spawn")
def test_a_subagent_does_a_task_and_its_report_returns_to_the_session_that_started_it(
    house: LivingHome, project: Path
) -> None:
    checks = [{"kind": "contains", "subject": "out.txt", "text": "hello"}]
    parts = {
        "ROOT": (Turn("", calls=(spawn("AA: write out.txt", specialist="coder", checks=checks),)), Turn("Written.")),
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
    assert "Check holds: 'out.txt' contains 'hello'" in told["text"], told["text"]
    assert row["tokens_used"] > child["tokens_used"] > 0
    assert row["id"] in str(house.get("/objectives")) and child["id"] not in str(house.get("/objectives"))
    shown = house.cli("show", row["id"]).stdout
    assert "subagents" in shown and child["id"] in shown and "started subagent" in house.cli("watch", row["id"]).stdout


@promise("OBJ-7.spawn")
def test_subagents_of_one_reply_work_side_by_side_and_each_gets_a_share_of_what_is_left(
    house: LivingHome, project: Path
) -> None:
    calls = tuple(spawn(f"P{number}: look") for number in range(3))
    parts = {"ROOT": (Turn("", calls=calls), Turn("All looked.")), **{f"P{n}": (READ, Turn("Seen.")) for n in range(3)}}
    budget = {"tokens": 200_000, "usd_micros": 1_000_000}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: have them look", project, budget=budget))
    seen = [event["body"]["type"] for event in house.events(row["id"])]
    kinds = [kind for kind in seen if kind.startswith("agent.")]
    assert kinds == ["agent.spawned"] * 3 + ["agent.ended"] * 3
    spawned = house.bodies(row["id"], "agent.spawned")
    assert sum(body["allotment"]["tokens"] for body in spawned) < 200_000
    assert min(body["allotment"]["tokens"] for body in spawned) > 40_000
    ended = house.bodies(row["id"], "agent.ended")
    own = sum(body["spend"]["tokens"] for body in house.bodies(row["id"], "model.replied"))
    assert row["tokens_used"] == own + sum(body["spend"]["tokens"] for body in ended), "what they did not use is back"


@promise("OBJ-7.narrow")
def test_a_subagent_gets_no_tool_and_no_host_that_its_parent_has_not_got(house: LivingHome, project: Path) -> None:
    wish = {"tools": ["read", "write", "fetch"], "hosts": ["files.example.com", "evil.example.org"]}
    order = Call("spawn_agent", {"task": "NN: write out.txt", **wish})
    parts = {"ROOT": (Turn("", calls=(order,)), Turn("Done.")), "NN": (WRITE, Turn("I could not."))}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        id = house.give(
            "ROOT: go", project, profile="work", tools=["read", "grep", "spawn_agent"], hosts=["*.example.com"]
        )
        row = house.finish(id)
    (child,) = children(house, row["id"])
    opened = house.bodies(child["id"], "session.opened")[0]
    assert (opened["tools"], opened["hosts"]) == (["read"], ["files.example.com"])
    judged = house.bodies(child["id"], "call.judged")[0]
    assert (judged["verdict"], judged["reason"]["rule"]) == ("deny", "not-offered")
    assert not (project / "out.txt").exists()
    told = report(house, row["id"])["text"]
    assert "Not given to it, as this session has not got them: write, fetch, evil.example.org" in told


@promise("OBJ-7.depth")
def test_subagents_of_subagents_end_at_a_depth(house: LivingHome, project: Path) -> None:
    deeper = {f"D{n}": (Turn("", calls=(spawn(f"D{n + 1}: deeper"),)), Turn(f"I was {n}.")) for n in range(1, 6)}
    parts = {"ROOT": (Turn("", calls=(spawn("D1: deeper"),)), Turn("Done.")), **deeper}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: go down", project))
    rows = descendants(house, row["id"])
    assert [one["title"] for one in rows] == [f"executor: D{n}: deeper" for n in (1, 2, 3)]
    last = report(house, rows[-1]["id"])
    assert last["outcome"] == "error" and "3 deep" in last["text"]


@promise("OBJ-7.spawn")
def test_a_subagent_that_reaches_a_limit_reports_incomplete_and_never_success(house: LivingHome, project: Path) -> None:
    looks = tuple(Turn("", calls=(Call("read", {"path": f"{n}.md"}),)) for n in range(9))
    parts = {"ROOT": (Turn("", calls=(spawn("LL: look on", iterations=2),)), Turn("Done.")), "LL": looks}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: have it looked at", project))
    (child,) = children(house, row["id"])
    assert (child["status"], child["reason"], child["iterations"]) == ("incomplete", "iterations", 2)
    told = report(house, row["id"])
    assert told["outcome"] == "error" and "incomplete (iterations). The task is NOT done." in told["text"]
    with pytest.raises(ApiError) as refused:
        house.post(f"/objectives/{child['id']}/retry")
    assert refused.value.status == 409 and row["id"] in refused.value.message


@promise("OBJ-7.spawn")
def test_a_question_of_a_subagent_is_put_where_its_root_is_watched(house: LivingHome, project: Path) -> None:
    parts = {
        "ROOT": (Turn("", calls=(spawn("PP: have it written"),)), Turn("Done.")),
        "PP": (Turn("", calls=(spawn("QQ: write it"),)), Turn("Done.")),
        "QQ": (WRITE, Turn("Written.")),
    }
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        ran = house.cli("run", "ROOT: have it written", "--dir", str(project), "--profile", "ask")
        assert ran.returncode == 3, ran.stdout + ran.stderr
        id = house.get("/objectives")["items"][0]["id"]
        (question,) = house.get("/approvals", session=id)["items"]
        assert question["title"] == "executor: QQ: write it" and question["id"] in ran.stdout
        waiting = [house.get(f"/objectives/{id}"), *descendants(house, id)]
        assert [(row["status"], row["pending_approvals"]) for row in waiting] == [("waiting", 1)] * 3
        assert [row["id"] for row in house.get("/objectives", status="waiting")["items"]] == [id]
        assert "waiting" in house.cli("objectives").stdout and "1 question for you" in house.cli("show", id).stdout
        assert "1 question for you" in house.cli("status").stdout
        house.post(f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"]})
        row = house.wait(id, "unverified", "answered")
    assert (project / "out.txt").exists() and row["pending_approvals"] == 0
    assert row["facts"]["agents"] == [{"specialist": "executor", "status": "unverified"}]
    assert "subagent executor: unverified" in house.cli("show", id).stdout


@promise("OBJ-3.claims", "OBJ-7.spawn")
def test_a_report_of_a_planned_delegation_without_its_call_is_sent_back(house: LivingHome, project: Path) -> None:
    call = {"tool": "spawn_agent", "arguments": {"task": "AA: write out.txt"}}
    plan = Call("plan", {"steps": [{"title": "have it written", "status": "done"}], "calls": [call]})
    claims = Turn("", calls=(plan,)), Turn("The coder is working on it.")
    spawns = Turn("", calls=(spawn("AA: write out.txt"),))
    parts = {"ROOT": (*claims, spawns, Turn("Written.")), "AA": (WRITE, Turn("Done."))}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("ROOT: have it written", project, profile="work"))
    (notice,) = house.bodies(row["id"], "notice.given")
    assert notice["why"] == "claim" and "nothing was handed on" in notice["text"]
    assert (row["status"], row["summary"], len(row["facts"]["agents"])) == ("unverified", "Written.", 1)
    with served(casting({"ROOT": (*claims, Turn("It is still at it."))})) as model:
        use_model(house, model.openai, name="other")
        row = house.finish(house.give("ROOT: have it written", project, profile="work"))
    assert (row["status"], row["facts"]["agents"]) == ("answered", []), "it is sent back once, and no words decide"
    assert "nothing was changed, run, sent or delegated" in house.cli("show", row["id"]).stdout


@pytest.fixture
def deep(house: LivingHome, project: Path) -> Iterator[Json]:
    """A session with two subagents, of which one has one of its own, and all of them at work."""
    require_sandbox()
    both = Turn("", calls=(spawn("AA: sleep"), spawn("BB: have it done")))
    parts = {"ROOT": (both,), "AA": (SLEEP,), "BB": (Turn("", calls=(spawn("CC: sleep"),)),), "CC": (SLEEP,)}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        id = house.give("ROOT: have it done", project, profile="work")

        def asleep() -> bool:
            rows = descendants(house, id)
            started = [len(house.bodies(row["id"], "tool.started")) for row in rows]
            return len(rows) == 3 and all(started)

        house.until(asleep, "all of them to sleep")
        yield {"id": id, "below": [row["id"] for row in descendants(house, id)]}


@promise("OBJ-7.cancel")
def test_the_end_of_a_session_ends_every_subagent_below_it_at_once(house: LivingHome, deep: Json) -> None:
    began = time.monotonic()
    house.post(f"/objectives/{deep['id']}/cancel")
    took_s = time.monotonic() - began
    print(f"cancel took {took_s:.3f} s")
    assert [house.get(f"/objectives/{id}")["status"] for id in (deep["id"], *deep["below"])] == ["cancelled"] * 4
    assert took_s < 10, f"it took {took_s:.3f} s"
    house.until(lambda: len(house.bodies(deep["id"], "agent.ended")) == 2, "what is left of their budgets to come back")
    assert house.get(f"/objectives/{deep['id']}")["agents"] == 0


@promise("OBJ-7.cancel")
def test_a_stop_reaches_every_leaf_and_a_resume_goes_on_with_all(house: LivingHome, deep: Json) -> None:
    house.post(f"/objectives/{deep['id']}/stop", {"why": "too loud"})
    everyone = (deep["id"], *deep["below"])
    assert [house.get(f"/objectives/{id}")["status"] for id in everyone] == ["paused"] * 4
    house.post(f"/objectives/{deep['id']}/resume")
    row = house.wait(deep["id"], "answered", "unverified", "incomplete")
    assert row["agents"] == 0
    assert {house.get(f"/objectives/{id}")["status"] for id in deep["below"]} <= {"unverified", "answered"}


@promise("OBJ-7.cancel")
def test_one_branch_can_be_stopped_while_the_others_go_on(house: LivingHome, deep: Json) -> None:
    branch = next(id for id in deep["below"] if house.get(f"/objectives/{id}")["title"] == "executor: BB: have it done")
    key = next(body["key"] for body in house.bodies(deep["id"], "agent.spawned") if body["session"] == branch)
    house.post(f"/sessions/{deep['id']}/calls/{key}/cancel", {"reason": "not this one"})
    house.until(lambda: len(house.bodies(deep["id"], "agent.ended")) == 1, "the branch's end")
    statuses = {id: house.get(f"/objectives/{id}")["status"] for id in deep["below"]}
    assert sorted(statuses.values()) == ["cancelled", "cancelled", "running"] and statuses[branch] == "cancelled"
    assert house.get(f"/objectives/{deep['id']}")["status"] == "running"
    house.post(f"/objectives/{deep['id']}/cancel")


@promise("OBJ-7.cancel")
def test_a_deleted_session_takes_its_subagents_words_with_it(house: LivingHome, deep: Json) -> None:
    house.post(f"/objectives/{deep['id']}/cancel")
    house.until(lambda: house.get(f"/objectives/{deep['id']}")["agents"] == 0, "all to have ended")
    assert house.cli("delete", deep["id"], "--now", "--yes").returncode == 0
    for id in (deep["id"], *deep["below"]):
        with pytest.raises(ApiError):
            house.get(f"/objectives/{id}")
