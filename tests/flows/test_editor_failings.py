"""What people report of other agents in editors, each as it must not be here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.editor import Editor, editor
from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.counting import PATIENT, UNLIMITED, counting, wants_summary
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.sitting import Sitting
from tests.flows.test_context import SPEECH
from tests.flows.test_editors import EDIT, acp, begun, calls, opening, prompt

BROKEN_OFF = Turn("The north lamp", stop="none")


@contextmanager
def zed(house: LivingHome, project: Path) -> Iterator[Editor]:
    """An editor that has said what it is."""
    with editor(acp(house), house.environment, project) as running:
        running.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        yield running


def _quills(seen: Seen) -> Turn:
    return Turn("SUMMARY: we spoke of quills.") if wants_summary(seen) else Turn("Yes, a quill.")


def _used(running: Editor) -> int:
    return int(running.updates("usage_update")[-1]["used"])


def test_a_shorter_context_is_shorter_for_the_model_and_for_the_counter(house: LivingHome, project: Path) -> None:
    with counting(house, _quills, "compatible") as (model, _), zed(house, project) as running:
        session = begun(running, project)
        for at in range(3):
            running.request("session/prompt", prompt(session, f"talk {at}: {SPEECH * 250}"))
        before, longest = _used(running), len(json.dumps(model.requests()[-1].body["messages"]))
        assert running.request("session/prompt", prompt(session, "/compact")) == {"stopReason": "end_turn"}
        house.until(lambda: bool(house.bodies(session, "context.compacted")), "the summary to stand")
        running.until(
            lambda one: one.get("update", {}).get("update", {}).get("used", before) < before, "the counter to fall"
        )
        running.request("session/prompt", prompt(session, "and now?"))
        sent = json.dumps(model.requests()[-1].body["messages"])
        assert "we spoke of quills" in sent and len(sent) < longest
        assert _used(running) < before


def test_what_was_said_before_and_after_a_summary_is_there_after_a_restart_of_all(
    house: LivingHome, project: Path
) -> None:
    with counting(house, _quills, "compatible"):
        with zed(house, project) as running:
            session = begun(running, project)
            for words in ("part one", "part two"):
                running.request("session/prompt", prompt(session, words))
            running.request("session/prompt", prompt(session, "/compact"))
            house.until(lambda: bool(house.bodies(session, "context.compacted")), "the summary to stand")
            running.request("session/prompt", prompt(session, "part three"))
        house.kill()
        house.start()
        with zed(house, project) as other:
            other.request("session/load", opening(session, project))
            said = [one["content"]["text"] for one in other.updates("user_message_chunk")]
            assert said == ["part one", "part two", "part three"]
            assert other.text().count("Yes, a quill.") == 3
            assert other.request("session/prompt", prompt(session, "part four")) == {"stopReason": "end_turn"}


@pytest.mark.parametrize("way", ["editor", pytest.param("command line", marks=pytest.mark.long)])
def test_a_full_window_makes_a_summary_by_itself_in_every_way_of_working(
    house: LivingHome, project: Path, way: str
) -> None:
    with counting(house, _quills, "compatible") as (_, script):
        words = SPEECH * (script.window // 300)
        body = {"directory": str(project), "budget": UNLIMITED, "limits": PATIENT}
        sitting = Sitting(house, house.post("/sessions", body)["session"])
        with zed(house, project) as running:
            running.request("session/load", opening(sitting.id, project))
            for _ in range(20):
                if way == "editor":
                    ended = running.request("session/prompt", prompt(sitting.id, words))
                    assert ended == {"stopReason": "end_turn"}
                else:
                    assert house.cli("session", "send", sitting.id, words, "--wait").returncode == 0
                if sitting.bodies("context.compacted"):
                    break
        assert sitting.bodies("context.compacted")


@pytest.mark.parametrize("again", [1, pytest.param(20, marks=pytest.mark.long)])  # tried for 16 s
def test_a_stream_that_breaks_off_leaves_nobody_waiting(house: LivingHome, project: Path, again: int) -> None:
    turns = iter([BROKEN_OFF] * again)
    with served(lambda _: next(turns, Turn("It is lit."))) as model, zed(house, project) as running:
        use_model(house, model.openai)
        session = begun(running, project)
        ended = running.request("session/prompt", prompt(session, "is it lit?"))
        if again == 1:
            assert ended == {"stopReason": "end_turn"}
            assert running.text().count("It is lit.") == 1
        else:
            assert ended == {"stopReason": "refusal"} and "Stopped:" in running.text(), "with the reason"
        turns = iter(())
        since = len(running.seen)
        assert running.request("session/prompt", prompt(session, "and now?")) == {"stopReason": "end_turn"}
        assert running.text(since) == "It is lit."
        assert house.get(f"/sessions/{session}")["status"] == "idle"


def test_a_question_stays_as_it_was_put_until_it_is_answered(house: LivingHome, project: Path) -> None:
    """An update of its call, or another question, would take the buttons away in some editors."""
    with served(by_turn(EDIT, then=Turn("Done."))) as model, zed(house, project) as running:
        use_model(house, model.openai)
        session = begun(running, project, "ask")
        going = running.begin("session/prompt", prompt(session, "please edit"))
        question = running.permission()
        since = running.seen.index(question) + 1
        house.client().put(
            f"/sessions/{session}/labels", {"title": "Quill"}
        )  # what else is told meanwhile is not of it
        running.until(lambda one: "Quill" in str(one.get("update", "")), "the title")
        id = question["permission"]["toolCall"]["toolCallId"]
        assert id not in str(running.updates(since=since))
        assert not [one for one in running.seen[since:] if "permission" in one]
        running.permit(question, "once")
        assert running.result(going) == {"stopReason": "end_turn"}
        assert [call["status"] for call in calls(running).values()] == ["completed"]


def test_a_session_that_waits_for_an_answer_is_refreshed_and_asks_once_more(house: LivingHome, project: Path) -> None:
    with served(by_turn(EDIT, then=Turn("Done."))) as model, zed(house, project) as running:
        use_model(house, model.openai)
        session = begun(running, project, "ask")
        running.begin("session/prompt", prompt(session, "please edit"))
        first = running.permission()
        running.request("session/load", opening(session, project))
        running.until(lambda one: one.get("withdrawn") == first["tag"], "the first question to be taken back")
        second = running.permission(running.seen.index(first) + 1)
        running.permit(first, "once")
        assert house.bodies(session, "approval.given") == []
        running.permit(second, "once")
        house.wait(session, "idle")
        assert "Few notes." in (project / "README.md").read_text("utf-8")


def _mentioned(seen: Seen) -> Turn:
    last = seen.body["messages"][-1]
    if last["role"] != "user":
        return Turn(f"It says: {str(last['content'])[:400]}")
    path = str(last["content"]).split("@")[-1].split()[0]
    return Turn("", calls=(Call("read", {"path": path}),))


def test_a_file_that_is_named_after_an_at_sign_reaches_the_model(house: LivingHome, project: Path) -> None:
    (project / "todo.md").write_text("Mend the kiln.\n", "utf-8")
    with served(_mentioned) as model, zed(house, project) as running:
        use_model(house, model.openai)
        session = begun(running, project)
        link = {"type": "resource_link", "uri": f"file://{project}/todo.md", "name": "todo.md"}
        blocks = [{"type": "text", "text": "what is in @"}, link]
        running.request("session/prompt", {"sessionId": session, "prompt": blocks})
        assert "Mend the kiln." in running.text()
        sent = house.cli("session", "send", session, "what is in @todo.md", "--wait")
        assert "Mend the kiln." in sent.stdout
        assert "@todo.md" in json.dumps(_first(model, "@todo.md"))


def _first(model: ServedModel, words: str) -> object:
    return next(seen.body["messages"][-1] for seen in model.requests() if words in str(seen.body["messages"][-1]))
