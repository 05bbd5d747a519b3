"""The loop, one step at a time."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from stead.brain.ends import end, facts
from stead.brain.estimate import estimate_request
from stead.brain.turn import next_effect
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.agents import AT_ONCE, SPAWN, Allotment, Taint
from stead.domain.checks import AgentRan, RunFacts
from stead.domain.effects import CallModel, Effect, Finish, Record, RunTools, Wait
from stead.domain.ids import ApprovalId, CallDigest, CallKey, RequestNo, SessionId
from stead.domain.messages import ResultsMessage, UserMessage
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.ports import ModelInfo
from stead.domain.sessions import PERSON, STEAD, status
from tests.build import MODEL, OTHER_MODEL, TOOLS, Story, created, info

SHELL = ("shell", '{"command":"make"}')


def step(story: Story, *models: ModelInfo) -> Effect | None:
    return next_effect(story.session, World(story.now_ms, TOOLS, models or (info(),)))


def test_a_new_objective_asks_the_model_with_an_upper_bound_reserved() -> None:
    story = Story()
    effect = step(story)
    assert isinstance(effect, CallModel)
    assert effect.number == 1
    assert effect.reserve.tokens == effect.max_output_tokens + estimate_request(
        story.session.spec.instructions, TOOLS, story.session.messages
    )


def test_nothing_is_done_while_a_request_is_under_way() -> None:
    assert step(Story().ask()) is None


def test_calls_that_only_read_are_taken_to_the_gate_together_and_others_one_after_the_other() -> None:
    read, write = ("read", '{"path":"a"}'), ("write", '{"path":"b","text":"c"}')
    story = Story().turn(read, read, write, read)
    for keys in (("call_1_0", "call_1_1"), ("call_1_2",), ("call_1_3",)):
        assert step(story) == RunTools(tuple(map(CallKey, keys)))
        for _ in keys:
            story.run()
    assert isinstance(story.session.messages[-1], ResultsMessage)


def test_no_more_calls_are_taken_to_the_gate_together_than_the_limit_leaves() -> None:
    looks = [("read", f'{{"path":"{name}"}}') for name in "abc"]
    story = Story(created(limits=ev.Limits(calls=2))).turn(*looks)
    assert step(story) == RunTools((CallKey("call_1_0"), CallKey("call_1_1")))


def test_calls_that_start_subagents_go_on_while_others_wait_for_the_reports() -> None:
    spawn, read = (SPAWN, '{"task":"x"}'), ("read", '{"path":"a"}')
    story = Story().turn(*[spawn] * (AT_ONCE + 1), read)
    for number in range(AT_ONCE):
        key = CallKey(f"call_1_{number}")
        assert step(story) == RunTools((key,))
        story.tell(ev.ToolStarted(key, SPAWN, '{"task":"x"}', CallDigest("d"), idempotent=True))
        most = Allotment(10, 10, 10, 1)
        story.tell(ev.AgentSpawned(key, SessionId(f"s_{number}"), "x", "", "", 1, most, ()))
    assert step(story) is None, "so many at once"
    ended(story, 0)
    assert step(story) == RunTools((CallKey(f"call_1_{AT_ONCE}"),))
    story.tell(ev.ToolFinished(CallKey(f"call_1_{AT_ONCE}"), SPAWN, "error", "no", STEAD, 0, 0))
    assert step(story) is None, "what may depend on the reports waits for them"
    for number in range(1, AT_ONCE):
        ended(story, number)
    assert step(story) == RunTools((CallKey(f"call_1_{AT_ONCE + 1}"),))


def ended(story: Story, number: int) -> None:
    """Let a subagent have ended, and its call with it."""
    key = CallKey(f"call_1_{number}")
    report = ev.AgentEnded(key, SessionId(f"s_{number}"), "answered", "done", ev.Spend(1), 1, 5, RunFacts(), Taint())
    story.tell(report, ev.ToolFinished(key, SPAWN, "ok", "done", STEAD, 4, 5))


def test_a_planned_delegation_that_was_not_made_sends_the_report_back_once() -> None:
    call = {"tool": SPAWN, "arguments": {"task": "x"}}
    plan = ("plan", json.dumps({"steps": [{"title": "have it done", "status": "done"}], "calls": [call]}))
    story = Story().tell(ev.PlanMade((ev.PlanStep("have it done", "done"),), "model")).turn(plan).run()
    story.turn("The coder works on it and will report.")
    effect = step(story)
    assert isinstance(effect, Record) and isinstance(effect.bodies[0], ev.NoticeGiven), effect
    assert SPAWN in effect.bodies[0].text and effect.bodies[0].why == "claim"
    story.tell(*effect.bodies)
    again, given_up = copy.deepcopy(story).turn((SPAWN, '{"task":"x"}')).run(), story
    assert isinstance(step(again.turn("It was done.")), Finish), "the call is on record"
    assert isinstance(step(given_up.turn("It still works.")), Finish), "it is said once, and decides no end"


def test_the_record_of_a_run_has_the_subagents_that_it_started_and_how_they_ended() -> None:
    story = Story().turn((SPAWN, '{"task":"x"}'), (SPAWN, '{"task":"x"}'))
    for number, kind in enumerate(("coder", "")):
        key = CallKey(f"call_1_{number}")
        story.tell(ev.ToolStarted(key, SPAWN, '{"task":"x"}', CallDigest("d"), idempotent=True))
        story.tell(ev.AgentSpawned(key, SessionId(f"s_{number}"), "x", kind, "", 1, Allotment(10, 10, 10, 1), ()))
    ended(story, 0)
    assert facts(story.session).agents == (AgentRan("coder", "answered"), AgentRan("", "running"))


@pytest.mark.parametrize(("acted", "counts_as"), [(False, "answered"), (True, "unverified")])
def test_a_run_whose_subagent_acted_or_may_have_is_no_plain_answer(acted: bool, counts_as: str) -> None:
    story = Story().turn((SPAWN, '{"task":"x"}'))
    key, child = CallKey("call_1_0"), SessionId("s_0")
    story.tell(ev.ToolStarted(key, SPAWN, '{"task":"x"}', CallDigest("d"), idempotent=True))
    story.tell(ev.AgentSpawned(key, child, "x", "", "", 1, Allotment(10, 10, 10, 1), ()))
    story.tell(ev.AgentEnded(key, child, "failed", "model", ev.Spend(1), 1, 5, RunFacts(), Taint(), acted=acted))
    story.tell(ev.ToolFinished(key, SPAWN, "ok", "it failed", STEAD, 4, 5))
    assert end(story.session) == counts_as


def test_an_objective_without_a_plan_gets_one() -> None:
    story = Story().turn(("read", '{"path":"a"}')).run()
    effect = step(story)
    assert isinstance(effect, Record)
    assert isinstance(effect.bodies[0], ev.PlanMade)
    assert isinstance(step(story.tell(*effect.bodies)), CallModel)


def test_an_open_question_waits_until_it_expires_and_then_counts_as_refused() -> None:
    story = Story().turn(SHELL).question(ttl_ms=10_000)
    call = story.session.calls[story.open_call()]
    assert step(story) == Wait(call.expires_at_ms)
    assert status(story.session) == "waiting"
    late = next_effect(story.session, World(call.expires_at_ms, TOOLS, (info(),)))
    assert isinstance(late, Record)
    refused = step(story.tell(*late.bodies))
    assert isinstance(refused, Record)
    assert isinstance(end := refused.bodies[0], ev.ToolFinished)
    assert end.outcome == "denied"


def test_a_yes_takes_the_call_to_the_gate_again() -> None:
    story = Story().turn(SHELL).question()
    key = story.open_call()
    story.tell(ev.ApprovalGiven(ApprovalId("a_1"), key, CallDigest("d"), "cli"))
    assert step(story) == RunTools((key,))


def test_a_no_is_told_to_the_model_with_its_reason() -> None:
    story = Story().turn(SHELL).question()
    story.tell(ev.ApprovalDenied(ApprovalId("a_1"), story.open_call(), "cli", "not on a Friday"))
    effect = step(story)
    assert isinstance(effect, Record)
    assert isinstance(end := effect.bodies[0], ev.ToolFinished)
    assert "not on a Friday" in end.text


def test_the_calls_of_a_reply_that_was_cut_off_do_not_run() -> None:
    story = Story().ask().reply(("write", '{"path":"a","te'), stop="length")
    effect = step(story)
    assert isinstance(effect, Record)
    assert isinstance(end := effect.bodies[0], ev.ToolFinished)
    assert end.outcome == "denied"


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (Story(created(limits=ev.Limits(iterations=1))).turn(SHELL).run().tell(ev.PlanMade((), "model")), "iterations"),
        (Story().turn(SHELL).run().turn(SHELL).run().turn(SHELL), "stall"),
        (Story(created(limits=ev.Limits(wall_s=1))).turn(SHELL).run(), "wall_time"),
        (Story(created(limits=ev.Limits(calls=1))).turn(SHELL).run().turn(("read", '{"path":"a"}')), "calls"),
        (Story(created(budget=ev.Budget(tokens=200, usd_micros="unlimited"))), "budget"),
    ],
)
def test_a_limit_ends_the_objective_with_its_name(story: Story, reason: str) -> None:
    story.tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))
    effect = step(story)
    assert isinstance(effect, Finish)
    assert (effect.status, effect.reason) == ("failed" if reason == "stall" else "incomplete", reason)


def test_a_call_that_waits_is_polling_and_no_stall_however_often_it_is_made() -> None:
    story = Story().tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))
    for _ in range(6):
        story.turn(SHELL)
        call = story.session.calls[story.open_call()]
        story.tell(ev.ToolStarted(call.key, call.tool, call.arguments, CallDigest("d"), idempotent=False))
        story.tell(ev.ToolFinished(call.key, call.tool, "ok", "pending", Label(), 7, 1_000))
    assert not isinstance(step(story), Finish)


def test_an_objective_is_tried_again_under_other_limits_where_they_are_given() -> None:
    story = Story(created(limits=ev.Limits(iterations=1, wall_s=7))).turn(SHELL)
    again = ev.ObjectiveRetried(ev.Budget(3000, "unlimited"))
    story.tell(ev.ObjectiveEnded("failed", "iterations", ""), again)
    assert story.session.spec.limits == ev.Limits(iterations=1, wall_s=7)
    story.tell(ev.ObjectiveEnded("failed", "iterations", ""), replace(again, limits=ev.Limits(iterations=200)))
    assert story.session.spec.limits == ev.Limits(iterations=200)


def test_the_same_words_three_times_in_a_row_end_it() -> None:
    story = Story().tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))
    for number in range(3):
        story.turn("Looking.", ("read", f'{{"path":"{number}"}}'))
        if number < 2:
            story.run()
    effect = step(story)
    assert isinstance(effect, Finish)
    assert effect.reason == "repetition"


def test_a_budget_in_money_caps_the_reply_by_the_dearest_model() -> None:
    budget = ev.Budget(tokens="unlimited", usd_micros=10_000)
    story = Story(created(budget=budget, chain=(MODEL, OTHER_MODEL)))
    effect = step(story, info(price=1_000_000), info(OTHER_MODEL, price=5_000_000))
    assert isinstance(effect, CallModel)
    assert effect.reserve.usd_micros <= 10_000
    assert effect.reserve.usd_micros == effect.reserve.tokens * 5


def test_a_model_without_a_price_is_refused_only_where_no_limit_in_tokens_holds_it() -> None:
    story = Story(created(budget=ev.Budget(tokens="unlimited", usd_micros=10_000)))
    effect = step(story, info(known=False))
    assert isinstance(effect, Finish)
    assert "no price is known" in effect.summary
    assert f"stead retry {story.session.id} --budget-tokens N" in effect.summary
    bound = step(Story(created(budget=ev.Budget(tokens=10_000, usd_micros=10_000))), info(known=False))
    assert isinstance(bound, CallModel)
    assert bound.reserve.tokens <= 10_000 and not bound.reserve.price_known


def test_a_budget_that_is_too_small_is_named_with_the_option_that_raises_it() -> None:
    tokens = step(Story(created(budget=ev.Budget(tokens=10, usd_micros=10**9))), info(price=1_000_000))
    money = step(Story(created(budget=ev.Budget(tokens=10**9, usd_micros=10))), info(price=1_000_000))
    assert isinstance(tokens, Finish) and "--budget-tokens" in tokens.summary
    assert isinstance(money, Finish) and "--budget-usd" in money.summary


def failed(kind: str, tokens: int = 0, retry_after_ms: int = 0) -> Callable[[RequestNo], ev.ModelFailed]:
    return lambda number: ev.ModelFailed(number, kind, "no", (), ev.Spend(tokens=tokens), retry_after_ms)


def test_after_a_failure_it_waits_as_told_and_after_five_it_ends() -> None:
    story = Story()
    effect = step(story)
    for number in range(1, 6):
        story.ask().tell(failed("server", retry_after_ms=5000)(RequestNo(number)))
        effect = step(story)
        if number == 1:
            assert effect == Wait(story.now_ms + 5000)
    assert isinstance(effect, Finish)
    assert effect.reason == "model"


def test_a_request_that_a_crash_lost_is_counted_in_full_and_asked_again() -> None:
    story = Story()
    for number in range(1, 8):
        story.ask(tokens=700).tell(failed("lost", tokens=700)(RequestNo(number)))
    assert story.session.spent.tokens == 4900
    story.tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))
    assert isinstance(step(story), CallModel)


def test_after_a_bad_and_charged_reply_the_next_model_is_tried_first() -> None:
    story = Story(created(chain=(MODEL, OTHER_MODEL))).tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))
    story.ask().tell(failed("truncated", tokens=1000)(RequestNo(1)))
    effect = step(story, info(), info(OTHER_MODEL))
    assert isinstance(effect, CallModel)
    assert effect.chain == (OTHER_MODEL, MODEL)


def test_words_that_come_during_a_turn_follow_its_results() -> None:
    story = Story().turn(SHELL)
    story.tell(ev.MessageReceived("hurry", "cli", PERSON))
    story.run()
    assert isinstance(story.session.messages[-2], ResultsMessage)
    assert isinstance(last := story.session.messages[-1], UserMessage)
    assert last.text == "hurry"


def test_what_is_paused_or_ended_does_nothing() -> None:
    assert step(Story().tell(ev.SessionPaused("lunch"))) is None
    assert step(Story().tell(ev.ObjectiveEnded("cancelled", "cancelled", ""))) is None


def test_an_objective_that_is_tried_again_has_valid_messages_and_a_fresh_budget() -> None:
    story = Story(created(budget=ev.Budget(tokens=5000, usd_micros="unlimited"))).turn(SHELL)
    story.tell(ev.ObjectiveEnded("failed", "stall", ""), ev.ObjectiveRetried(ev.Budget(3000, "unlimited")))
    assert isinstance(results := story.session.messages[-1], ResultsMessage)
    assert results.results[0].is_error
    assert story.session.budget.tokens == story.session.spent.tokens + 3000


def test_a_snapshot_holds_the_whole_state() -> None:
    story = Story().turn("Thinking.", SHELL).question()
    again = msgspec.json.decode(msgspec.json.encode(story.session), type=type(story.session))
    assert again == story.session


PUBLIC, PRIVATE, SECRET = Confidentiality
OPEN, KEPT = info(clearance=PUBLIC), info(OTHER_MODEL)


def reading(
    confidentiality: Confidentiality, *, integrity: Integrity = Integrity.UNTRUSTED, source: str = "x"
) -> Story:
    """Two models, of which the first is cleared for public data alone, have been told something like this."""
    story = Story(created(chain=(MODEL, OTHER_MODEL))).turn(("read", "{}"))
    label = Label(integrity, confidentiality)
    story.tell(ev.ToolFinished(story.open_call(), "read", "ok", "text", label, 4, 5, source=source))
    return story.tell(ev.PlanMade((ev.PlanStep("go"),), "stead"))


@pytest.mark.parametrize(
    ("story", "chain"),
    [
        (Story(created(chain=(MODEL, OTHER_MODEL))), (MODEL, OTHER_MODEL)),
        (Story(created(chain=(MODEL, OTHER_MODEL))).tell(ev.MessageReceived("go on", "cli", PERSON)), None),
        (reading(PUBLIC), (MODEL, OTHER_MODEL)),
        (reading(PRIVATE), (OTHER_MODEL,)),
        (reading(PRIVATE, integrity=Integrity.TRUSTED), (OTHER_MODEL,)),
        (reading(PRIVATE, source=""), (OTHER_MODEL,)),
        (reading(PRIVATE, integrity=Integrity.TRUSTED, source=""), (MODEL, OTHER_MODEL)),
        (reading(PUBLIC).tell(ev.MessageReceived("hello", "mail", Label())), (OTHER_MODEL,)),
        (reading(PRIVATE).turn(("fetch", "{}")).run(), (OTHER_MODEL,)),
    ],
    ids=[
        "the goal alone",
        "more of the person's words",
        "a public page",
        "a private file",
        "a trusted tool's private data",
        "a result from before sources were recorded",
        "words of Stead itself",
        "a message of somebody else",
        "what was read before",
    ],
)
def test_a_request_goes_to_those_models_alone_that_may_have_what_it_holds(
    story: Story, chain: tuple[ev.ModelRef, ...] | None
) -> None:
    effect = step(story, OPEN, KEPT)
    assert isinstance(effect, CallModel)
    assert effect.chain == (chain or (MODEL, OTHER_MODEL))


def test_a_request_is_measured_by_the_models_that_get_it() -> None:
    small, dear = info(clearance=PUBLIC, window=100), info(OTHER_MODEL, price=1_000_000)
    effect = step(reading(PRIVATE), small, dear)
    assert isinstance(effect, CallModel)
    assert effect.reserve.usd_micros == effect.reserve.tokens


@pytest.mark.parametrize(
    ("confidentiality", "models"), [(PRIVATE, (OPEN, info(OTHER_MODEL, clearance=PUBLIC))), (SECRET, (OPEN, KEPT))]
)
def test_a_session_pauses_when_no_model_may_have_what_it_holds(
    confidentiality: Confidentiality, models: tuple[ModelInfo, ...]
) -> None:
    effect = step(reading(confidentiality), *models)
    assert isinstance(effect, Record)
    assert isinstance(paused := effect.bodies[0], ev.SessionPaused)
    assert f"{confidentiality.value} data" in paused.why
    assert "'acme', 'umbra'" in paused.why
    assert "--clearance private" in paused.why
