"""Changes that wait for the person: on trial all of them, else what programs would obey. Real daemon, real machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox
from tests.promises import promise

__all__ = ["house"]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def work(house: LivingHome, project: Path, *commands: str, **fields: object) -> str:
    """An objective whose model runs these commands and is done; gives its id."""
    turn = Turn("At work.", calls=tuple(Call("shell", {"command": command}) for command in commands))
    with served(by_turn(turn, then=Turn("All of it is done."))) as model:
        use_model(house, model.openai)
        id = house.give("Tidy the notes", project, allow=["shell"], **fields)
        assert house.finish(id, answer="once")["status"] in (*WELL, "incomplete", "failed")
    return id


@promise("SEC-5.trial")
def test_changes_on_trial_are_looked_at_applied_and_outlive_a_crash(house: LivingHome, project: Path) -> None:
    (project / "notes.md").write_text("one\ntwo\n")
    id = work(house, project, "sed -i s/two/2/ notes.md; echo new > fresh.md; echo evil > .envrc", mode="trial")
    assert (project / "notes.md").read_text() == "one\ntwo\n" and not (project / "fresh.md").exists()
    house.kill()
    house.start()
    shown = house.cli("held", "diff", id)
    assert shown.returncode == 0, shown.stderr
    assert "~ notes.md" in shown.stdout and "-two" in shown.stdout and "+2" in shown.stdout
    assert "held back" in shown.stdout and f"stead held apply {id}" in shown.stdout
    one = house.cli("held", "apply", id, "--path", "fresh.md")
    assert one.returncode == 0 and (project / "fresh.md").read_text() == "new\n"
    assert (project / "notes.md").read_text() == "one\ntwo\n"
    rest = house.cli("held", "apply", id)
    assert rest.returncode == 3 and ".envrc" in rest.stdout and "--include-protected" in rest.stdout
    assert (project / "notes.md").read_text() == "one\n2\n" and not (project / ".envrc").exists()
    assert house.cli("held", "apply", id, "--include-protected").returncode == 0
    assert (project / ".envrc").read_text() == "evil\n"
    assert [body["applied"] for body in house.bodies(id, "trial.applied")] == [1, 1, 1]
    gone = house.cli("held", "diff", id)
    assert gone.returncode == 2 and "no changes" in gone.stderr


@promise("SEC-5.trial")
def test_a_trial_is_discarded_only_on_purpose_and_the_end_says_what_to_do(house: LivingHome, project: Path) -> None:
    other = house.cli("trial", "discard")
    assert other.returncode == 2 and "stead trial discard --help" in other.stderr, "the older name does the same"
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    id = work(house, project, "rm -f *; echo new > fresh.md", mode="trial")
    watched = house.cli("watch", id)
    assert f"stead held diff {id}" in watched.stdout and f"stead held discard {id}" in watched.stdout
    refused = house.cli("held", "discard", id)
    assert refused.returncode == 3 and "for good, and there is no terminal to ask at" in refused.stderr
    assert house.cli("held", "discard", id, "--yes").returncode == 0
    assert {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()} == before
    assert len(house.bodies(id, "trial.discarded")) == 1
    with pytest.raises(ApiError) as twice:
        house.post(f"/objectives/{id}/trial/discard")
    assert twice.value.status == 404


@promise("SEC-5.trial")
def test_the_persons_own_changes_win_until_they_say_otherwise(house: LivingHome, project: Path) -> None:
    (project / "notes.md").write_text("one\n")
    id = work(house, project, "echo theirs > notes.md", mode="trial")
    (project / "notes.md").write_text("mine\n")
    applied = house.cli("--json", "held", "apply", id)
    assert applied.returncode == 3 and json.loads(applied.stdout)["held"][0]["path"] == "notes.md"
    assert (project / "notes.md").read_text() == "mine\n"
    assert house.cli("held", "apply", id, "--force").returncode == 0
    assert (project / "notes.md").read_text() == "theirs\n"


@promise("SEC-5.trial")
def test_a_trial_makes_no_sense_for_who_may_change_nothing(house: LivingHome, project: Path) -> None:
    with pytest.raises(ApiError, match="nothing to try"):
        house.give("Look", project, mode="trial", profile="readonly")
    with pytest.raises(ApiError) as unknown:
        house.give("Look", project, mode="yolo")
    assert unknown.value.status == 422 or unknown.value.status == 400


@promise("SEC-5.trial")
def test_whoever_looks_anywhere_is_told_once_of_what_waits_till_it_is_settled(house: LivingHome, project: Path) -> None:
    assert "No changes wait" in house.cli("held").stdout
    id = work(house, project, "echo new > fresh.md; echo evil > .envrc", mode="trial")
    kinds = [event["body"]["type"] for event in house.events(id)]
    assert kinds.count("review.wanted") == 1
    assert kinds.index("review.wanted") < kinds.index("objective.ended"), "whoever waits for the end has heard of it"
    (fact,) = house.bodies(id, "review.wanted")
    assert fact["review"]["waiting"] == 2 and [held["path"] for held in fact["review"]["held"]] == [
        ".envrc",
        "fresh.md",
    ]
    for shown in (house.cli("held"), house.cli("approvals")):
        assert "2 changes wait for your review" in shown.stdout and f"stead held apply {id}" in shown.stdout
        assert ".envrc" in shown.stdout and "program" in shown.stdout
    assert "1 review of changes" in house.cli("status").stdout
    assert json.loads(house.cli("--json", "status").stdout)["reviews_wanted"] == 1
    house.kill()
    house.start()
    assert house.cli("held", "apply", id, "--path", "fresh.md").returncode == 0
    house.until(lambda: house.get(f"/objectives/{id}")["review"]["waiting"] == 1, "the rest to be counted")
    assert house.cli("held", "discard", id, "--yes").returncode == 0
    assert "No changes wait" in house.cli("held").stdout and house.get("/reviews")["items"] == []
    assert "review" not in house.cli("status").stdout


@promise("SEC-5.protected")
def test_what_programs_obey_waits_for_the_person_while_the_rest_lands(house: LivingHome, project: Path) -> None:
    id = work(house, project, "echo new > fresh.md; printf '#!/bin/sh\n' > run.sh; chmod +x run.sh; echo evil > .envrc")
    assert (project / "fresh.md").read_text() == "new\n" and not (project / ".envrc").exists()
    (landed,) = house.bodies(id, "changes.landed")
    assert sorted(landed["landing"]["landed"]) == ["fresh.md", "run.sh"]
    assert [held["path"] for held in landed["landing"]["held"]] == [".envrc"]
    (call,) = house.bodies(id, "tool.finished")
    assert "held for the person's review: '.envrc'" in call["text"]
    (told,) = house.bodies(id, "review.wanted")
    assert (told["review"]["waiting"], told["runnable"]) == (1, ["run.sh"])
    assert "+evil" in house.cli("held", "diff", id).stdout
    assert house.cli("held", "apply", id, "--include-protected").returncode == 0
    assert (project / ".envrc").read_text() == "evil\n"
    assert house.get("/reviews")["items"] == []


@promise("SEC-5.protected")
def test_an_agents_rules_reach_no_other_session_until_the_person_lets_them_in(house: LivingHome, project: Path) -> None:
    id = work(house, project, "echo 'Sing of the whale.' > AGENTS.md; echo 'Sing of the gull.' > CLAUDE.md")

    def told() -> str:
        """What a model is told in a session that begins now."""
        with served(by_turn(then=Turn("Well."))) as model:
            use_model(house, model.openai)
            session = str(house.post("/sessions", {"directory": str(project)})["session"])
            house.post(f"/sessions/{session}/messages", {"text": "hello"})
            house.until(lambda: bool(house.bodies(session, "turn.ended")), "the turn to end")
            return json.dumps([seen.body for seen in model.requests()])

    assert not (project / "AGENTS.md").exists() and "Sing" not in told()
    assert house.cli("held", "apply", id, "--path", "CLAUDE.md", "--include-protected").returncode == 0
    said = told()
    assert "Sing of the gull." in said and "whale" not in said


def test_what_stays_in_the_sandbox_is_listed_and_brought_over_only_on_purpose(house: LivingHome, project: Path) -> None:
    id = work(house, project, "mkdir node_modules; echo 1 > node_modules/i.js")
    listed = house.cli("held", "bring", id)
    assert listed.returncode == 0 and "node_modules  (1 file, 0.0 MB)" in listed.stdout, listed.stderr
    refused = house.cli("held", "bring", id, "--path", "node_modules")
    assert refused.returncode == 3 and "node_modules  (1 file" in refused.stderr
    absent = house.cli("held", "bring", id, "--path", "app", "--yes")
    assert absent.returncode == 2 and not (project / "node_modules").exists()
    assert house.cli("held", "bring", id, "--path", "node_modules", "--yes").returncode == 0
    assert (project / "node_modules/i.js").read_text() == "1\n"
    assert house.bodies(id, "trial.applied")[-1]["paths"] == ["node_modules"]
