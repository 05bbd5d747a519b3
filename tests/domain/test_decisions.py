"""What an auditor is told of a call that the person changed: two decisions, each with what was judged."""

from __future__ import annotations

from stead.domain import events as ev
from stead.domain.audit import decisions
from stead.domain.ids import ApprovalId, CallDigest, CallKey
from stead.domain.policies import Reason, Risk
from tests.build import Story, desk

KEY = CallKey("call_1_0")
REASON = Reason("level-each", "It runs a program.")
MODELS, PERSONS = '{"command":"make"}', '{"command":"make test"}'


def _judged(verdict: str, digest: str) -> ev.CallJudged:
    return ev.CallJudged(KEY, "shell", "ask" if verdict == "ask" else "allow", REASON, Risk.HIGH, CallDigest(digest))


def _asked(id: str, arguments: str, digest: str) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        ApprovalId(id), KEY, "shell", arguments, CallDigest(digest), "each", REASON, Risk.HIGH, 0
    )


def test_an_edited_call_is_another_decision_with_its_own_arguments_and_answer() -> None:
    story = Story(desk()).turn(("shell", MODELS)).tell(_judged("ask", "d1"), _asked("a_1", MODELS, "d1"))
    story.tell(
        ev.ApprovalLapsed(ApprovalId("a_1"), KEY, "changed"),
        ev.CallEdited(KEY, "shell", PERSONS, "web"),
        _judged("ask", "d2"),
        _asked("a_2", PERSONS, "d2"),
        ev.ApprovalGiven(ApprovalId("a_2"), KEY, CallDigest("d2"), "web"),
        _judged("allow", "d2"),
        ev.ToolStarted(KEY, "shell", PERSONS, CallDigest("d2"), idempotent=False),
    ).finish(KEY, "shell")

    told = [(each.arguments, each.verdict, each.answer, each.outcome) for each in decisions(story.events)]

    assert told == [
        (MODELS, "ask", "lapsed", ""),
        (PERSONS, "ask", "given", "ok"),
        (PERSONS, "allow", "given", "ok"),
    ]
