"""A person works in a session from the command line, with the real daemon: words, questions, changes and ways back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import at_terminal
from tests.cli.test_chat import idle
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served

PROMPT = "you> "
NOTES = "one\ntwo\n"
READ = Turn("I look first.", calls=(Call("read", {"path": "notes.txt"}),))
EDIT = Turn("Now the edit.", calls=(Call("edit", {"path": "notes.txt", "old": "two", "new": "2"}),))
BUILD = Turn("", calls=(Call("shell", {"command": "echo built > out.txt"}),))


def _sit_down(house: LivingHome, project: Path, *options: str) -> str:
    (project / "notes.txt").write_text(NOTES, "utf-8")
    opened = house.cli("session", "new", "--json", "--profile", "ask", *options, cwd=project)
    assert opened.returncode == 0, opened.stderr
    return str(json.loads(opened.stdout)["session"])


def _row(house: LivingHome, id: str) -> Json:
    return house.get(f"/sessions/{id}")


def _rest(house: LivingHome, id: str) -> None:
    house.until(lambda: _row(house, id)["status"] == "idle", "the session to rest")


def test_a_turn_is_asked_about_told_undone_and_gone_back_on(house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, EDIT, Turn("notes.txt says 2 now."), BUILD, Turn("Built."))) as model:
        use_model(house, model.openai)
        id = _sit_down(house, project, "--title", "Notes", "--allow", "shell")
        asked = house.cli("session", "send", id[2:9], "make it a number", "--wait")
        assert asked.returncode == 3, asked.stdout + asked.stderr
        assert f"then watch:  stead session attach {id}" in asked.stdout
        assert "call_2_0  edit  asking  notes.txt" in house.cli("session", "calls", id).stdout
        question = house.get("/approvals")["items"][0]["id"]
        assert house.cli("approve", question).returncode == 0
        _rest(house, id)
        told = house.cli("session", "attach", id)
        assert told.returncode == 0, told.stderr
        assert "> edit notes.txt  ok" in told.stdout
        assert "    -two\n    +2\n" in told.stdout
        assert "turn 1 done, 1 path changed\n  ~ notes.txt  +1 -1\n" in told.stdout
        assert "checkpoint k_" in told.stdout
        built = house.cli("session", "send", id, "build it", "--wait")
        assert built.returncode == 0, built.stdout + built.stderr
        assert "turn 2 done, 1 path changed\n  + out.txt  +1 -0\n" in built.stdout
    whole = house.cli("session", "diff", id, "--stat").stdout
    assert whole == "~ notes.txt  +1 -1\n+ out.txt  +1 -0\n2 paths differ: +2 -1 lines\n"
    assert house.cli("session", "undo", id, "2_0").returncode == 0
    assert (project / "notes.txt").read_text("utf-8") == NOTES
    assert house.cli("session", "undo", id, "2_0", "--again").returncode == 0
    assert (project / "notes.txt").read_text("utf-8") == "one\n2\n"


def test_a_turn_that_ends_before_any_model_request_ends_the_wait(house: LivingHome, project: Path) -> None:
    began = house.cli("session", "new", ".", "--budget-tokens", "10", "-m", "hello", cwd=project, timeout_s=20)
    assert began.returncode == 1, began.stderr
    assert "turn 1 ended: budget\n" in began.stdout
    id = house.get("/sessions")["items"][0]["id"]
    again = house.cli("session", "send", id, "hello again", "--wait", timeout_s=20)
    assert again.returncode == 1, again.stderr
    assert "turn 2 ended: budget\n" in again.stdout
    used = house.cli("session", "show", id).stdout
    assert " in all\n" in used, "the time is that from its opening on, pauses included"


@pytest.mark.long
def test_going_back_and_undoing_that_and_a_fork_in_a_folder_of_its_own(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    with served(by_turn(EDIT, Turn("Done."), BUILD, Turn("Built."))) as model:
        use_model(house, model.openai)
        id = _sit_down(house, project, "--allow", "edit,shell")
        for words in ("make it a number", "build it"):
            assert house.cli("session", "send", id, words, "--wait").returncode == 0
        listed = house.cli("session", "checkpoint", id, "--list", "--json").stdout.splitlines()
        first, second = (json.loads(line) for line in listed)
        assert [first["turn"], second["turn"]] == [1, 2]
        back = house.cli("session", "restore", id, first["id"], cwd=project)
        assert back.returncode == 0, back.stderr
        assert "2 paths would be put back" in back.stdout
        assert (project / "notes.txt").read_text("utf-8") == NOTES
        assert not (project / "out.txt").exists()
        undo = back.stdout.split("undo it: stead ")[1].split()
        assert house.cli(*undo).returncode == 0
        assert (project / "out.txt").read_text("utf-8") == "built\n"
        (tmp_path / "elsewhere").mkdir()
        forked = house.cli("session", "fork", id, "--into", str(tmp_path / "elsewhere"))
        assert forked.returncode == 0, forked.stderr
        assert (tmp_path / "elsewhere" / "out.txt").read_text("utf-8") == "built\n"
        fork = forked.stdout.split()[0]
        assert house.cli("session", "send", fork, "and now?", "--wait").returncode == 0
    assert len(house.get("/sessions")["items"]) == 2
    said = model.requests()[-1].body["messages"]
    assert "make it a number" in json.dumps(said), "the fork knows what was said before it"


@pytest.mark.long
def test_a_budget_a_plan_the_context_and_the_story_of_a_session(house: LivingHome, project: Path) -> None:
    with served(by_turn(READ, Turn("It has two lines."))) as model:
        use_model(house, model.openai)
        id = _sit_down(house, project)
        assert house.cli("session", "budget", id, "--tokens", "50000").returncode == 0
        assert "of 50,000 tokens" in house.cli("session", "budget", id).stdout
        assert house.cli("session", "send", id, "look", "--wait").returncode == 0
        assert house.cli("session", "plan", id, "--set", "-", stdin="[x] Look\n[>] Tidy\n").returncode == 0
        assert "  2. doing   Tidy\n" in house.cli("session", "plan", id).stdout
    context = house.cli("session", "context", id).stdout
    assert "results read" in context, context
    assert "of 32,768 tokens" in context
    story = house.cli("session", "export", id).stdout
    assert "> It has two lines." in story
    assert "notes.txt" in story
    assert house.cli("session", "delete", id, "--now", "--yes").returncode == 2
    assert house.cli("session", "close", id).returncode == 0
    assert house.cli("session", "delete", id, "--now", "--yes").returncode == 0
    assert house.cli("session").stdout.startswith("No sessions yet.")


def test_at_a_terminal_a_call_is_edited_before_it_runs_and_a_message_waits_its_turn(
    house: LivingHome, project: Path
) -> None:
    slow = Turn("word " * 400, delay_s=0.02)
    with served(by_turn(BUILD, slow, then=Turn("Heard you."))) as model:
        use_model(house, model.openai)
        id = _sit_down(house, project)
        with at_terminal(Cli(house.home, project), "session", "attach", id, NO_COLOR="1") as terminal:
            idle(terminal)
            terminal.type("build it\r")
            terminal.shows("q leave it pending: ")
            terminal.type("e\n")
            terminal.shows("command [echo built > out.txt]: ")
            terminal.type("echo mine > out.txt\n")
            terminal.shows("hosts [[]]: ")
            terminal.type("\n")
            terminal.shows("timeout_s [120]: ")
            terminal.type("\n")
            terminal.shows("> shell echo mine > out.txt")
            terminal.shows("word word")
            terminal.type("and then rest\r")
            terminal.shows("queued: it is read before the next model request")
            terminal.shows("Heard you.")
            idle(terminal)
            terminal.type("\x04")
            assert terminal.end() == 0
    assert (project / "out.txt").read_text("utf-8") == "mine\n"
    assert [body["text"] for body in house.bodies(id, "message.received")] == ["build it", "and then rest"]


@pytest.mark.long
def test_at_a_terminal_now_cuts_into_a_reply(house: LivingHome, project: Path) -> None:
    slow = Turn("word " * 4000, delay_s=0.05)
    with served(by_turn(slow, then=Turn("Something else, then."))) as model:
        use_model(house, model.openai)
        id = _sit_down(house, project)
        cli = Cli(house.home, project)
        with (
            at_terminal(cli, "session", "attach", id, NO_COLOR="1") as other,
            at_terminal(cli, "session", "attach", id, NO_COLOR="1") as terminal,
        ):
            other.shows("(also here: cli)")
            idle(terminal)
            terminal.type("go on and on\r")
            other.shows("you (from cli): go on and on")
            terminal.shows("word word")
            terminal.type("/now something else\r")
            terminal.shows("Something else, then.")
            other.shows("Something else, then.")
            terminal.type("\x04")
            assert terminal.end() == 0
            other.shows("(nobody else is here any more)")
    assert house.bodies(id, "message.received")[1]["interrupts"] is True
