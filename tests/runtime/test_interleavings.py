"""The queue of calls under every order of a bad model, a person at the desk and a power cut.

After every story: each request is one that both vendors take at their strictest, and goes on from the one before it;
each call has one result; nothing ran unallowed, twice, held, or against the person's last word on it; and the journal
folds to the live state.
"""

from __future__ import annotations

import itertools
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings

from stead.domain import events as ev
from stead.domain.folding import apply, begin
from stead.domain.ids import CallKey
from stead.domain.messages import AssistantMessage, ResultsMessage, ToolCall
from stead.domain.sessions import Session
from tests.providers.bodies import KINDS, Bodies, prompt
from tests.providers.chains import anthropic_problems, openai_problems
from tests.runtime.stories import Lived, Story, live, stories

REWRITES = (ev.ContextTrimmed, ev.ContextCompacted, ev.ConversationSet)
"""What may make a request begin otherwise than the one before it."""


@pytest.fixture(scope="module")
def bodies() -> Bodies:
    return Bodies()


@pytest.mark.timeout(600)  # an example that fails is shortened first
@settings(max_examples=20)
@given(story=stories)
def test_no_order_of_model_person_and_crash_breaks_the_queue_of_calls(bodies: Bodies, story: Story) -> None:
    _check(live(story), bodies)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=800)
@given(story=stories)
def test_none_of_hundreds_of_orders_breaks_it(bodies: Bodies, story: Story) -> None:
    _check(live(story), bodies)


def _check(lived: Lived, bodies: Bodies) -> None:
    assert lived.faults == []
    for id, events in lived.events.items():
        state = _replayed(events)
        assert state == lived.states[id]
        _waits_for_nobody_but_the_person(state)
        _effects_are_their_intents(events, lived.effects)
        _each_call_has_one_result(state)
        assert {text for text in state.words if text not in lived.said} == set()
        _requests_hold(lived, events, bodies)


def _waits_for_nobody_but_the_person(state: Session) -> None:
    """When all is quiet, whatever is not over waits for a word."""
    assert state.open_request is None
    steps = [call.step for call in state.calls.values()]
    assert "started" not in steps
    assert state.phase != "active" or state.resting or "asking" in steps, steps


def _replayed(events: list[ev.Event]) -> Session:
    """The fold of a journal, looked at before each of its events."""
    session = begin(events[0])
    judge = _Judge()
    for event in events[1:]:
        judge.look(session, event.body)
        apply(session, event)
    return session


class _Judge:
    """Holds every event against what the journal said before it."""

    def __init__(self) -> None:
        self.allowed: dict[CallKey, str] = {}
        self.asked: dict[CallKey, str] = {}
        self.yes: set[tuple[CallKey, str]] = set()
        self.edited: dict[CallKey, str] = {}
        self.cancelled: set[CallKey] = set()
        self.interrupted = False

    def look(self, session: Session, body: ev.Body) -> None:
        """Judge one event that is about to happen."""
        match body:
            case ev.CallJudged(key=key, verdict=verdict, digest=digest, reason=reason):
                self.allowed.pop(key, "")
                if verdict == "allow":
                    self.allowed[key] = digest
                if reason.rule == "approved":
                    assert (key, digest) in self.yes
            case ev.ApprovalRequested(key=key, digest=digest):
                self.asked[key] = digest
            case ev.ApprovalGiven(key=key, digest=digest):
                assert self.asked[key] == digest
                self.yes.add((key, digest))
            case ev.CallEdited(key=key, arguments=arguments):
                self.edited[key] = arguments
                self.cancelled.discard(key)
            case ev.CallCancelled(key=key):
                self.cancelled.add(key)
            case ev.CallRetried(key=key):
                self.cancelled.discard(key)
            case ev.ToolStarted():
                self._may_start(session, body)
            case ev.ModelRequested():
                assert session.phase == "active" and not session.resting
                assert not session.calls and session.open_request is None
                self.interrupted = False
            case ev.MessageReceived(interrupts=True):
                self.interrupted = bool(session.calls) or session.open_request is not None
            case ev.TurnEnded() | ev.ConversationSet():
                self.interrupted = False
            case _:
                pass

    def _may_start(self, session: Session, started: ev.ToolStarted) -> None:
        call = session.calls[started.key]
        assert self.allowed.pop(call.key) == started.digest
        assert session.phase == "active" and not session.resting, "it was held"
        assert not self.interrupted, "the person wanted to be heard first"
        assert call.runnable, "the reply was cut off"
        assert call.step in ("new", "approved")
        assert call.key not in self.cancelled and not call.cancelled, "it was cancelled"
        if (edited := self.edited.get(call.key)) is not None:
            assert msgspec.json.decode(started.arguments) == msgspec.json.decode(edited)


def _effects_are_their_intents(events: list[ev.Event], effects: Counter[str]) -> None:
    """What ran was meant to, and not again unless the person said so or twice is the same as once."""
    session = events[0].session
    started = Counter[str]()
    again = Counter[CallKey]()
    for event in events:
        match event.body:
            case ev.ToolStarted(key=key, tool=tool):
                started[f"{session} {key} {tool}"] += 1
            case ev.CallRetried(key=key) | ev.ToolReopened(key=key):
                again[key] += 1
            case _:
                continue
    for name, count in effects.items():
        if name.startswith(session):
            assert count <= started[name], name
    for name, count in started.items():
        assert count <= 1 + again[CallKey(name.split()[1])], name


def _each_call_has_one_result(session: Session) -> None:
    keys = [
        part.key
        for message in session.messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    assert len(keys) == len(set(keys)), "a key was used twice"
    for one, other in itertools.zip_longest(session.messages, session.messages[1:]):
        if isinstance(one, AssistantMessage):
            wanted = [part.key for part in one.parts if isinstance(part, ToolCall)]
            if wanted and not (other is None and session.calls):
                assert isinstance(other, ResultsMessage)
                assert [result.key for result in other.results] == wanted


def _requests_hold(lived: Lived, events: list[ev.Event], bodies: Bodies) -> None:
    rewritten, rewrites = 0, dict[int, int]()
    for event in events:
        rewritten += isinstance(event.body, REWRITES)
        if isinstance(event.body, ev.ModelRequested):
            rewrites[event.body.number] = rewritten
    known = 0
    before = dict.fromkeys(KINDS, "")
    for request in lived.requests:
        if request.session != events[0].session:
            continue
        for kind in KINDS:
            body = bodies.of(kind, request.messages)
            problems = anthropic_problems(body) if kind == "anthropic" else openai_problems(body)
            assert problems == [], (request.number, problems)
            said = prompt(body)
            assert rewrites[request.number] > known or said.startswith(before[kind]), request.number
            before[kind] = said
        known = rewrites[request.number]  # a request that a crash kept from being sent is in the journal alone
