"""What an objective does aside: changes on trial, and planted files that are moved out. Real daemon, real machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox
from tests.promises import promise


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def work(house: LivingHome, project: Path, *commands: str, **fields: object) -> str:
    """An objective whose model runs these commands and is done; gives its id."""
    turn = Turn("At work.", calls=tuple(Call("shell", {"command": command}) for command in commands))
    with served(by_turn(turn, then=Turn("All of it is done."))) as model:
        use_model(house, model.openai)
        id = house.give("Tidy the notes", project, allow=["shell"], **fields)
        assert house.finish(id, answer="once")["status"] in ("completed", "failed")
    return id


@promise("SEC-5.trial")
def test_changes_on_trial_are_looked_at_applied_and_outlive_a_crash(house: LivingHome, project: Path) -> None:
    (project / "notes.md").write_text("one\ntwo\n")
    id = work(house, project, "sed -i s/two/2/ notes.md; echo new > fresh.md; echo evil > .envrc", mode="trial")
    assert (project / "notes.md").read_text() == "one\ntwo\n" and not (project / "fresh.md").exists()
    house.kill()
    house.start()
    shown = house.cli("trial", "diff", id)
    assert shown.returncode == 0, shown.stderr
    assert "~ notes.md" in shown.stdout and "-two" in shown.stdout and "+2" in shown.stdout
    assert "held back" in shown.stdout and f"stead trial apply {id}" in shown.stdout
    one = house.cli("trial", "apply", id, "--path", "fresh.md")
    assert one.returncode == 0 and (project / "fresh.md").read_text() == "new\n"
    assert (project / "notes.md").read_text() == "one\ntwo\n"
    rest = house.cli("trial", "apply", id)
    assert rest.returncode == 3 and ".envrc" in rest.stdout and "--include-protected" in rest.stdout
    assert (project / "notes.md").read_text() == "one\n2\n" and not (project / ".envrc").exists()
    assert house.cli("trial", "apply", id, "--include-protected").returncode == 0
    assert (project / ".envrc").read_text() == "evil\n"
    assert [body["applied"] for body in house.bodies(id, "trial.applied")] == [1, 1, 1]
    gone = house.cli("trial", "diff", id)
    assert gone.returncode == 2 and "nothing on trial" in gone.stderr


@promise("SEC-5.trial")
def test_a_trial_is_discarded_only_on_purpose_and_the_end_says_what_to_do(house: LivingHome, project: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    id = work(house, project, "rm -f *; echo new > fresh.md", mode="trial")
    watched = house.cli("watch", id)
    assert f"stead trial diff {id}" in watched.stdout and f"stead trial discard {id}" in watched.stdout
    refused = house.cli("trial", "discard", id)
    assert refused.returncode == 3 and "for good, and there is no terminal to ask at" in refused.stderr
    assert house.cli("trial", "discard", id, "--yes").returncode == 0
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
    applied = house.cli("--json", "trial", "apply", id)
    assert applied.returncode == 3 and json.loads(applied.stdout)["held"][0]["path"] == "notes.md"
    assert (project / "notes.md").read_text() == "mine\n"
    assert house.cli("trial", "apply", id, "--force").returncode == 0
    assert (project / "notes.md").read_text() == "theirs\n"


@promise("SEC-5.trial")
def test_a_trial_makes_no_sense_for_who_may_change_nothing(house: LivingHome, project: Path) -> None:
    with pytest.raises(ApiError, match="nothing to try"):
        house.give("Look", project, mode="trial", profile="readonly")
    with pytest.raises(ApiError) as unknown:
        house.give("Look", project, mode="yolo")
    assert unknown.value.status == 422 or unknown.value.status == 400


@promise("SEC-5.protected")
def test_planted_files_are_moved_out_before_the_end_is_told_and_can_be_put_back(
    house: LivingHome, project: Path
) -> None:
    (project / "AGENTS.md").write_text("mine\n")
    id = work(
        house,
        project,
        "echo evil > AGENTS.md",
        "mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json; echo e > .envrc",
    )
    assert (project / "AGENTS.md").read_text() == "mine\n"
    assert not (project / ".envrc").exists() and not (project / "sub/.vscode").exists()
    kinds = [event["body"]["type"] for event in house.events(id)]
    assert kinds.index("protected.quarantined") < kinds.index("objective.ended")
    (fact,) = house.bodies(id, "protected.quarantined")
    assert sorted(path for _, path in fact["moved"]) == [".envrc", "sub/.vscode"]
    assert "moved out of your folder" in house.cli("watch", id).stdout
    items = {row["path"]: row["id"] for row in json.loads(house.cli("--json", "quarantine").stdout)["items"]}
    assert house.cli("quarantine", "restore", items[".envrc"]).returncode == 0
    assert (project / ".envrc").read_text() == "e\n"
    assert house.cli("quarantine", "remove", items["sub/.vscode"], "--yes").returncode == 0
    assert "Nothing is under quarantine" in house.cli("quarantine", "list").stdout
    missing = house.cli("quarantine", "restore", items[".envrc"])
    assert missing.returncode == 2 and "quarantine list" in missing.stderr
    settled = [event["body"] for event in house.events("home") if event["body"]["type"] == "quarantine.settled"]
    assert [body["restored"] for body in settled] == [True, False]


@promise("SEC-5.protected")
def test_planted_files_are_moved_out_even_when_the_daemon_was_killed(house: LivingHome, project: Path) -> None:
    turn = Turn("At work.", calls=(Call("shell", {"command": "echo evil > .envrc; echo ready > ready; sleep 60"}),))
    with served(by_turn(turn, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("Tidy", project)
        house.wait(id, "waiting")
        for question in house.get("/approvals", session=id)["items"]:
            house.post(
                f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"], "whole": True}
            )
        house.until(lambda: (project / "ready").exists(), "the file to be planted")
        house.kill()
        assert (project / ".envrc").exists()
        house.start()
        assert not (project / ".envrc").exists()
        house.until(lambda: bool(house.bodies(id, "protected.quarantined")), "the finding to be on record")


@promise("SEC-5.protected")
def test_a_protected_file_can_be_released_for_one_objective(house: LivingHome, project: Path) -> None:
    (project / "AGENTS.md").write_text("mine\n")
    id = work(house, project, "echo ours >> AGENTS.md; echo evil > CLAUDE.md", unprotected=["AGENTS.md"])
    assert (project / "AGENTS.md").read_text() == "mine\nours\n" and not (project / "CLAUDE.md").exists()
    assert house.bodies(id, "objective.created")[0]["unprotected"] == ["AGENTS.md"]
    with pytest.raises(ApiError, match="no path within the folder"):
        house.give("Look", project, unprotected=["../elsewhere"])
