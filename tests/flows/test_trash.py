"""A deleted session comes back with its words, its checkpoints and the ways back of its files, by command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served

EDIT = Turn("Now the edit.", calls=(Call("edit", {"path": "notes.txt", "old": "two", "new": "2"}),))


def test_a_deleted_session_is_restored_and_its_edit_can_still_be_undone(house: LivingHome, project: Path) -> None:
    (project / "notes.txt").write_text("one\ntwo\n", "utf-8")
    with served(by_turn(EDIT, Turn("It says 2."))) as model:
        use_model(house, model.openai)
        opened = house.cli("session", "new", "--json", cwd=project)
        id = str(json.loads(opened.stdout)["session"])
        assert house.cli("session", "send", id, "make it a number", "--wait").returncode == 0
    assert house.cli("session", "delete", id).returncode == 2, "it is open"
    assert house.cli("session", "close", id).returncode == 0
    deleted = house.cli("session", "delete", id)
    assert deleted.returncode == 0 and "kept for 30 days" in deleted.stdout
    assert house.cli("session").stdout.startswith("No sessions yet.")
    assert id in house.cli("session", "list", "--archived", "trash").stdout
    assert "in the trash" in house.cli("session", "show", id).stdout
    refused = house.cli("session", "send", id, "are you there?")
    assert refused.returncode == 2 and f"stead session restore {id}" in refused.stderr
    house.stop()
    house.start()
    back = house.cli("session", "restore", id)
    assert back.returncode == 0, back.stderr
    assert id in house.cli("session").stdout and "It says 2." in house.cli("session", "export", id).stdout
    assert house.cli("session", "undo", id, "1_0").returncode == 0
    assert (project / "notes.txt").read_text("utf-8") == "one\ntwo\n"


def test_an_objective_is_deleted_taken_back_and_erased(house: LivingHome, project: Path) -> None:
    id = house.give("list the files", project, profile="work")
    house.finish(id)
    assert house.cli("delete", id).returncode == 0
    assert house.get("/objectives")["items"] == []
    assert house.cli("undelete", id).returncode == 0
    assert [row["id"] for row in house.get("/objectives")["items"]] == [id]
    assert house.cli("delete", id, "--now").returncode == 3, "what cannot be undone is asked about"
    assert house.cli("delete", id, "--now", "--yes").returncode == 0
    assert house.cli("undelete", id).returncode == 2
