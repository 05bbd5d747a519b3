"""Objectives from goal to end, through the real door, with a scripted model on the real wire and the real sandbox."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

__all__ = ["house"]

PLAN = Turn("I will read, then write.", calls=(Call("plan", {"steps": [{"title": "read"}, {"title": "write"}]}),))
READ = Turn("", calls=(Call("read", {"path": "README.md"}),))
WRITE = Turn("", calls=(Call("write", {"path": "SUMMARY.md", "text": "Quill\n"}),))
DONE = Turn("I wrote SUMMARY.md.")
GOAL = "read README.md and write SUMMARY.md with its headings"


@promise("OBJ-1.fields", "OBJ-1.status", "OBJ-2.plan", "OBJ-2.steps", "SEC-2.levels", "SEC-2.risk", "LLM-1.compatible")
def test_an_objective_runs_from_goal_to_end_and_its_steps_can_be_read(house: LivingHome, project: Path) -> None:
    with served(by_turn(PLAN, READ, WRITE, then=DONE)) as model:
        use_model(house, model.openai)
        id = house.give(
            GOAL,
            project,
            title="Headings",
            constraints=["be brief"],
            budget={"tokens": 200_000, "usd_micros": "unlimited"},
            tools=["plan", "read", "write"],
        )
        waiting = house.wait(id, "waiting")
        assert waiting["pending_approvals"] == 1
        row = house.finish(id)
    assert (row["status"], row["reason"], row["title"]) == ("unverified", "done", "Headings")
    assert row["summary"] == "I wrote SUMMARY.md."
    assert [step["title"] for step in row["plan"]] == ["read", "write"]
    assert row["tokens_used"] > 0
    assert (project / "SUMMARY.md").read_text("utf-8") == "Quill\n"
    steps = house.get(f"/objectives/{id}/steps")["items"]
    assert [step["tool"] for step in steps] == ["plan", "read", "write", ""]
    assert steps[0]["reasoning"] == "I will read, then write."
    assert "## Install" in steps[1]["output"]
    assert [step["risk"] for step in steps[:3]] == ["low", "low", "medium"]
    assert all(step["tokens_in"] for step in steps)
    offered = [tool["function"]["name"] for tool in model.requests()[0].body["tools"]]
    assert offered == ["plan", "read", "write"]
    assert not model.flaws


@promise("OBJ-3.claims", "OBJ-3.evidence", "OBJ-4.summary")
def test_a_claim_that_no_check_bears_out_is_sent_back_and_in_the_end_incomplete(
    house: LivingHome, project: Path
) -> None:
    check = {"kind": "exists", "subject": "SUMMARY.md"}
    with served(by_turn(then=Turn("I wrote SUMMARY.md."))) as model:
        use_model(house, model.openai)
        row = house.finish(house.give(GOAL, project, limits={"repetition": 50}, checks=[check]))
    assert (row["status"], row["reason"]) == ("incomplete", "checks")
    assert "SUMMARY.md" in row["summary"]
    assert len(model.requests()) == 4
    assert not (project / "SUMMARY.md").exists()


@promise("OBJ-3.constraints")
def test_a_constraint_is_kept_before_the_call_whatever_was_granted(house: LivingHome, project: Path) -> None:
    with served(by_turn(WRITE, then=DONE)) as model:
        use_model(house, model.openai)
        id = house.give("summarise", project, constraints=["do not change SUMMARY.md"], allow=["write"])
        row = house.finish(id)
    assert row["status"] == "answered"  # nothing was changed, whatever it says
    assert [body["reason"]["rule"] for body in house.bodies(id, "call.judged")] == ["rule-deny"]
    assert not (project / "SUMMARY.md").exists()


@promise("SEC-2.deny")
def test_a_denied_step_leads_to_a_different_step(house: LivingHome, project: Path) -> None:
    shell = Turn("", calls=(Call("shell", {"command": "rm -f README.md"}),))
    with served(by_turn(shell, READ, then=Turn("I could not remove it; it has two headings."))) as model:
        use_model(house, model.openai)
        id = house.give("tidy up", project)
        house.wait(id, "waiting")
        question = house.get("/approvals")["items"][0]
        done = house.cli("deny", question["id"], "--reason", "keep it")
        assert done.returncode == 0, done.stderr
        row = house.finish(id)
    assert row["status"] in WELL
    assert (project / "README.md").exists()
    assert any("keep it" in str(message) for message in model.requests()[1].body["messages"])


@promise("OBJ-5.tokens")
@pytest.mark.parametrize("tokens", [1, 1000, 5000, 9000])
def test_a_token_budget_is_never_overrun(house: LivingHome, project: Path, tokens: int) -> None:
    greedy = Turn("word " * 50, calls=(Call("read", {"path": "README.md"}),), usage=None)
    with served(by_turn(*(greedy for _ in range(40)))) as model:
        use_model(house, model.openai)
        budget = {"tokens": tokens, "usd_micros": "unlimited"}
        row = house.finish(house.give("read on and on", project, budget=budget, limits={"stall": 90, "repetition": 90}))
    assert (row["status"], row["reason"]) == ("incomplete", "budget")
    assert row["tokens_used"] <= tokens
    assert "budget" in row["summary"]


@promise("OBJ-4.iterations", "OBJ-4.stall", "OBJ-4.repetition")
def test_limits_end_an_objective_that_does_not_end_itself(house: LivingHome, project: Path) -> None:
    def different(n: int) -> Turn:
        return Turn(f"Looking at {n}.", calls=(Call("read", {"path": "README.md", "line": n + 1}),))

    with served(by_turn(*(different(n) for n in range(60)))) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("look", project, limits={"iterations": 5}))
        assert (row["reason"], row["iterations"]) == ("iterations", 5)
    with served(by_turn(READ, READ, READ, READ)) as model:
        house.post(
            "/providers", {"name": "acme", "preset": "compatible", "base_url": model.openai, "model": "scripted"}
        )
        assert house.finish(house.give("look", project))["reason"] == "stall"
    same = [Turn("Looking.", calls=(Call("read", {"path": "README.md", "line": n}),)) for n in range(1, 9)]
    with served(by_turn(*same)) as model:
        house.post(
            "/providers", {"name": "acme", "preset": "compatible", "base_url": model.openai, "model": "scripted"}
        )
        assert house.finish(house.give("look", project))["reason"] == "repetition"


@promise("OBJ-1.pause", "OBJ-1.resume", "SEC-2.restart")
def test_pause_restart_of_the_daemon_resume(house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, WRITE, then=DONE)) as model:
        use_model(house, model.openai)
        id = house.give(GOAL, project)
        question = house.wait(id, "waiting") and house.get("/approvals", session=id)["items"][0]
        assert house.cli("pause", id).returncode == 0
        house.stop()
        house.start()
        assert house.get(f"/objectives/{id}")["status"] == "paused"
        house.post(
            f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"], "whole": True}
        )
        assert house.get(f"/objectives/{id}")["status"] == "paused"
        assert house.cli("resume", id).returncode == 0
        assert house.finish(id)["status"] in WELL
    assert (project / "SUMMARY.md").exists()


@promise("OBJ-1.cancel", "OBJ-1.retry", "OBJ-1.delete")
def test_cancel_retry_and_delete(own_house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, WRITE, WRITE, then=DONE)) as model:
        use_model(own_house, model.openai)
        id = own_house.give(GOAL, project)
        own_house.wait(id, "waiting")
        assert own_house.cli("cancel", id).returncode == 0
        assert own_house.get(f"/objectives/{id}")["status"] == "cancelled"
        assert own_house.get("/approvals")["items"] == []
        assert own_house.cli("retry", id).returncode == 0
        assert own_house.finish(id)["status"] in WELL
        assert own_house.cli("delete", id, "--now", "--yes").returncode == 0
    assert own_house.get("/objectives")["items"] == []
    gone = own_house.cli("pause", id)
    assert (gone.returncode, "no" in gone.stderr) == (2, True)
    left = [event["body"]["type"] for event in own_house.events(id)]
    assert left[-1] == "session.deleted"
    assert set(left[:-1]) == {"erased"}


@promise("SEC-2.digest", "API-1.idempotent", "WS-6.cause")
def test_an_answer_is_for_what_was_shown_and_a_command_happens_once(house: LivingHome, project: Path) -> None:
    from stead.client import ApiError

    with served(by_turn(WRITE, then=DONE)) as model:
        use_model(house, model.openai)
        id = house.give("write it", project)
        house.wait(id, "waiting")
        question = house.get("/approvals")["items"][0]
        where = f"/approvals/{question['id']}/decision"
        with pytest.raises(ApiError) as refused:
            house.post(where, {"answer": "once", "digest": "0" * 64})
        assert refused.value.status == 409
        house.post(where, {"answer": "once", "digest": question["digest"], "whole": True})
        with pytest.raises(ApiError) as late:
            house.post(where, {"answer": "deny", "digest": question["digest"], "whole": True})
        assert late.value.status == 409
        house.finish(id)
    given = [event for event in house.events(id) if event["body"]["type"] == "approval.given"]
    assert len(given) == 1
    assert given[0]["cause"]


@promise("SEC-2.readonly")
def test_the_readonly_profile_changes_nothing(house: LivingHome, project: Path) -> None:
    shell = Turn("", calls=(Call("shell", {"command": "touch x"}),))
    with served(by_turn(WRITE, shell, READ, then=Turn("I can only read here."))) as model:
        use_model(house, model.openai)
        row = house.finish(house.give("change things", project, profile="readonly", allow=["write", "shell"]))
    assert row["status"] in WELL
    assert sorted(path.name for path in project.iterdir()) == ["README.md"]


@promise("SEC-2.allow")
def test_tools_are_granted_ahead_and_grants_are_taken_back(house: LivingHome, project: Path) -> None:
    def append(n: int) -> Turn:
        return Turn("", calls=(Call("shell", {"command": f"sh log.sh {n}"}),))

    (project / "log.sh").write_text('echo "$1" >> log.txt\n', "utf-8")
    with served(by_turn(append(1), append(2), then=Turn("Logged."))) as model:
        use_model(house, model.openai)
        assert house.finish(house.give("log", project, allow=["shell"]))["status"] in WELL
        assert (project / "log.txt").read_text("utf-8") == "1\n2\n"
        id = house.give("log", project)
        house.wait(id, "waiting")
        question = house.get("/approvals")["items"][0]
        house.post(
            f"/approvals/{question['id']}/decision", {"answer": "session", "digest": question["digest"], "whole": True}
        )
        house.wait(id, "waiting")
        assert house.cli("revoke", id, "shell").returncode == 0
        house.cli("cancel", id)
        again = house.give("log", project)
        assert house.wait(again, "waiting")


@promise("SES-6.queued")
def test_words_for_a_working_agent_are_read_before_its_next_request(house: LivingHome, project: Path) -> None:
    with served(by_turn(WRITE, then=DONE)) as model:
        use_model(house, model.openai)
        id = house.give("write it", project)
        house.wait(id, "waiting")
        assert house.cli("message", id, "and hurry").returncode == 0
        house.finish(id)
    assert "and hurry" in str(model.requests()[-1].body["messages"][-1])


@promise("LLM-3.valid", "LLM-3.orphans", "LLM-4.marks", "LLM-1.anthropic")
def test_each_request_repeats_the_one_before_and_adds_at_its_end(house: LivingHome, project: Path) -> None:
    script = by_turn(
        PLAN, READ, Turn("And again.", calls=(Call("read", {"path": "nothing"}), Call("teleport", {}))), WRITE
    )
    for wire in ("openai", "anthropic"):
        with served(script) as model:
            url, preset = (model.openai, "compatible") if wire == "openai" else (model.anthropic, "anthropic")
            house.post("/providers", {"name": wire, "preset": preset, "base_url": url, "model": "scripted"})
            if wire == "anthropic":
                house.post(f"/providers/{wire}/key", {"key": "sk-ant-invented"})
            house.post("/chain", {"chain": [{"provider": wire, "model": "scripted"}]})
            house.finish(house.give("work", project))
            prompts = [seen.prompt for seen in model.requests()]
            assert len(prompts) >= 5
            assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(prompts))
            assert not model.flaws
            if wire == "anthropic":
                assert b"cache_control" in model.requests()[0].request.body
