"""A row's status and turn are the fold's after every single event, whatever happens in whatever order."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from stead.domain import events as ev
from stead.domain.folding import apply, begin
from stead.domain.ids import CallKey
from stead.domain.sessions import PERSON, status
from stead.storage import projection
from tests.build import Story, desk
from tests.storage.histories import History, histories


def _require_the_same_at_every_event(story: Story) -> None:
    first, *others = story.events
    assert isinstance(first.body, ev.SessionOpened)
    session, objective = begin(first), projection.opened(first, first.body)
    assert objective.row.status == status(session)
    for event in others:
        apply(session, event)
        objective = projection.advanced(objective, event)
        assert (objective.row.status, objective.row.turns) == (status(session), session.turn), event.body
        if session.spec.interactive:
            unread = any(not message.notice for message in session.inbox)
            talk = objective.talk
            assert (talk.resting, bool(talk.calls), bool(talk.unread)) == (session.resting, bool(session.calls), unread)
            assert objective.row.iterations == session.iterations


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(history=histories())
def test_status_and_turns_are_those_of_the_fold_at_every_event(history: History) -> None:
    for story in history.stories.values():
        _require_the_same_at_every_event(story)


def test_words_that_a_turn_did_not_come_to_begin_the_next_one() -> None:
    said = Story(desk()).tell(_words("look around")).turn(("shell", "{}")).tell(_words("and hurry"))
    said.tell(ev.TurnEnded(1, "stall", "It went in circles."))
    assert (status(said.session), said.session.turn) == ("running", 2)
    _require_the_same_at_every_event(said)


def test_a_call_that_is_retried_is_open_again() -> None:
    both = Story(desk()).tell(_words("look around")).turn(("shell", "{}"), ("read", "{}")).run()
    both.tell(ev.CallRetried(CallKey("call_1_0"), "shell", "web")).finish(CallKey("call_1_1"), "read")
    _require_the_same_at_every_event(both)
    assert both.session.calls
    _require_the_same_at_every_event(both.run())
    assert not both.session.calls


def _words(text: str) -> ev.MessageReceived:
    return ev.MessageReceived(text, "cli", PERSON)
