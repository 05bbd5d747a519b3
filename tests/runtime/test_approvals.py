"""What a person's answer makes of a question: each answer, and each reason why it does not count."""

from __future__ import annotations

import pytest

from stead.domain import events as ev
from stead.domain.commands import Decide
from stead.domain.errors import Conflict
from stead.domain.ids import ApprovalId, CallDigest, CallKey, CommandId, SessionId, WorkspaceId
from stead.domain.policies import GrantScope, Profile
from stead.domain.sessions import Call, Session
from stead.runtime.approvals import GRANT_MS, answer, for_project

NOW_MS = 1_000
QUESTION = ApprovalId("a_0123456789abcdef")


def session(**changed: object) -> Session:
    """A session that has asked one question."""
    spec = ev.SessionOpened(
        workspace=WorkspaceId("default"),
        title="t",
        contract=ev.Contract("g"),
        directory="/folder",
        tools=(),
        chain=(ev.ModelRef("acme", "scripted"),),
        budget=ev.Budget(1, 1),
        limits=ev.Limits(),
        profile=Profile.ASK,
        instructions="",
    )
    call = Call(
        CallKey("r1c0"),
        "shell",
        '{"command":"true"}',
        runnable=True,
        step="asking",
        approval=QUESTION,
        digest=CallDigest("d" * 64),
        shape="run true",
        level="each",
        expires_at_ms=NOW_MS + 1,
    )
    for name, value in changed.items():
        setattr(call, name, value)
    return Session(SessionId("s_0123456789abcdef"), spec, 1, 0, calls={call.key: call})


def say(words: str, **changed: object) -> Decide:
    """The person's answer to it."""
    told = {"approval": QUESTION, "digest": CallDigest("d" * 64), "answer": words, "reason": " no thanks "} | changed
    return Decide(**told)  # type: ignore[arg-type]  # a table of words


def test_a_yes_is_for_the_call_that_was_shown_and_makes_nothing_else() -> None:
    (given,) = answer(session(), say("once"), door="cli", now_ms=NOW_MS)

    assert given == ev.ApprovalGiven(QUESTION, CallKey("r1c0"), CallDigest("d" * 64), "cli")


def test_a_no_keeps_its_reason() -> None:
    (denied,) = answer(session(), say("deny"), door="web", now_ms=NOW_MS)

    assert denied == ev.ApprovalDenied(QUESTION, CallKey("r1c0"), "web", "no thanks")


def test_a_lasting_yes_covers_the_shape_that_was_asked_about_and_ends() -> None:
    _, grant = answer(session(), say("session"), door="cli", now_ms=NOW_MS)

    assert isinstance(grant, ev.GrantMade)
    assert (grant.tool, grant.shape, grant.scope) == ("shell", "run true", GrantScope.SESSION)
    assert grant.expires_at_ms == NOW_MS + GRANT_MS


def test_a_yes_for_the_folder_is_the_sessions_grant_with_its_folder() -> None:
    made = answer(session(), say("project"), door="cli", now_ms=NOW_MS)
    recorded = [ev.Event(1, SessionId("s"), 1, NOW_MS, "person", CommandId("c"), body) for body in made]

    (grant,) = for_project(recorded, "/folder")

    assert (grant.scope, grant.directory) == (GrantScope.PROJECT, "/folder")


def test_trust_goes_to_the_sources_that_the_question_names() -> None:
    _, trusted = answer(session(sources=("web:example.com",)), say("trust"), door="cli", now_ms=NOW_MS)

    assert isinstance(trusted, ev.SourcesTrusted)
    assert trusted.sources == ("web:example.com",)


@pytest.mark.parametrize(
    ("changed", "said", "why"),
    [
        ({"approval": ApprovalId("a_ffffffffffffffff")}, say("once"), "not open"),
        ({"step": "approved"}, say("once"), "answered already"),
        ({"expires_at_ms": NOW_MS}, say("once"), "expired"),
        ({}, say("once", digest=CallDigest("e" * 64)), "another call"),
        ({}, say("deny", digest=CallDigest("e" * 64)), "another call"),
        ({}, say("trust"), "no source"),
        ({"shape": ""}, say("session"), "by itself"),
        ({"shape": ""}, say("project"), "by itself"),
    ],
)
def test_an_answer_that_does_not_fit_the_question_makes_nothing(
    changed: dict[str, object], said: Decide, why: str
) -> None:
    with pytest.raises(Conflict, match=why):
        answer(session(**changed), said, door="cli", now_ms=NOW_MS)


def test_an_objective_that_has_ended_takes_no_answer() -> None:
    ended = session()
    ended.end = ev.ObjectiveEnded("cancelled", "cancelled", "")

    with pytest.raises(Conflict, match="answered already"):
        answer(ended, say("once"), door="cli", now_ms=NOW_MS)
