"""What a subagent asks, in the editor of the session that it works for: the protocol's own client drives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.editor import Editor, Json, editor
from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, children, descendants, spawn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.test_editors import acp, begun, calls, opening, prompt
from tests.promises import promise

__all__ = ["house"]

WRITE = Turn("", calls=(Call("write", {"path": "out.txt", "text": "line\n"}),))
DEEP = {
    "ROOT": (Turn("", calls=(spawn("MM: have it written"),)), Turn("Done.")),
    "MM": (Turn("", calls=(spawn("QQ: write it"),)), Turn("It is.")),
    "QQ": (WRITE, Turn("Written.")),
}


@pytest.fixture
def zed(house: LivingHome, project: Path) -> Iterator[Editor]:
    """An editor; in the sessions that it opens, a subagent of a subagent asks."""
    with served(casting(DEEP)) as model, editor(acp(house), house.environment, project) as running:
        use_model(house, model.openai)
        running.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        yield running


def asked(zed: Editor, project: Path) -> tuple[str, int, Json]:
    """A session with a prompt under way, and the question that came."""
    session = begun(zed, project, "ask")
    going = zed.begin("session/prompt", prompt(session, "ROOT: have it written"))
    return session, going, zed.permission()


@promise("ACP-1.agent")
def test_what_a_subagent_asks_is_asked_in_the_editors_session_about_a_call_that_was_told(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    session, going, question = asked(zed, project)
    told = [one["update"] for one in zed.seen[: zed.seen.index(question)] if "update" in one]
    id = question["permission"]["toolCall"]["toolCallId"]
    assert question["permission"]["sessionId"] == session, "the editor knows no other session"
    (call,) = [one for one in told if one["update"].get("toolCallId") == id]
    assert (call["sessionId"], call["update"]["sessionUpdate"]) == (session, "tool_call")
    assert call["update"]["title"] == "executor: QQ: write it: write out.txt"
    (row,) = house.get("/approvals", session=session)["items"]
    assert row["session"] == descendants(house, session)[-1]["id"] != session, "it is open in the page too"
    assert not (project / "out.txt").exists()

    zed.permit(question, "once")
    assert zed.result(going) == {"stopReason": "end_turn"}
    assert (project / "out.txt").read_text("utf-8") == "line\n"
    assert [body["door"] for body in house.bodies(row["session"], "approval.given")] == ["acp"]
    zed.until(lambda one: _status(one, id) == "completed", "the question to be settled")
    assert {one["status"] for one in calls(zed).values()} == {"completed"}
    assert {one["update"]["sessionId"] for one in zed.seen if "update" in one} == {session}


@pytest.mark.parametrize("answer", ["once", pytest.param("deny", marks=pytest.mark.long)])
def test_what_a_subagent_asks_is_settled_where_it_is_answered_first(
    house: LivingHome, zed: Editor, project: Path, answer: str
) -> None:
    session, going, question = asked(zed, project)
    (row,) = house.get("/approvals", session=session)["items"]
    house.post(f"/approvals/{row['id']}/decision", {"answer": answer, "digest": row["digest"], "whole": True})
    assert zed.result(going) == {"stopReason": "end_turn"}
    zed.until(lambda one: one.get("withdrawn") == question["tag"], "the question to be taken back")
    id = question["permission"]["toolCall"]["toolCallId"]
    settled = zed.until(lambda one: _status(one, id) in ("completed", "failed"), "the question to be settled")
    assert _status(settled, id) == ("completed" if answer == "once" else "failed")
    zed.permit(question, "deny" if answer == "once" else "once")
    assert zed.request("session/prompt", prompt(session, "hello")) == {"stopReason": "end_turn"}
    kinds = [len(house.bodies(row["session"], kind)) for kind in ("approval.given", "approval.denied")]
    assert kinds == ([1, 0] if answer == "once" else [0, 1]), "the first answer won"
    assert (project / "out.txt").exists() == (answer == "once")


def test_a_cancel_takes_back_what_a_subagent_asks_and_the_session_goes_on(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    session, going, question = asked(zed, project)
    zed.notify("session/cancel", {"sessionId": session})
    assert zed.result(going) == {"stopReason": "cancelled"}
    zed.until(lambda one: one.get("withdrawn") == question["tag"], "the question to be taken back")
    zed.permit(question, "once")
    assert zed.request("session/prompt", prompt(session, "hello")) == {"stopReason": "end_turn"}
    assert children(house, session)[0]["status"] == "cancelled"
    assert not (project / "out.txt").exists()


def test_a_question_of_a_subagent_is_told_and_asked_again_in_the_next_editor(
    house: LivingHome, zed: Editor, project: Path
) -> None:
    session, _, question = asked(zed, project)
    with editor(acp(house), house.environment, project) as other:
        other.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        other.request("session/load", opening(session, project))
        again = other.permission()
        assert again["permission"]["toolCall"]["toolCallId"] in calls(other)
        other.permit(again, "once")
        other.until(lambda one: "Done." in str(one.get("update", "")), "the end of the turn")
    zed.until(lambda one: one.get("withdrawn") == question["tag"], "the question to be taken back")
    assert (project / "out.txt").exists()


def _status(one: Json, id: str) -> str:
    update = one.get("update", {}).get("update", {})
    return str(update.get("status")) if update.get("toolCallId") == id else ""
