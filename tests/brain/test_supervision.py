"""What a tier asks of a model: plan first, send-backs, tools that it is not offered, an end with something shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stead.brain.supervision import PLAN_FIRST, TABLE, UNPROVEN, WITHHELD, offered, send_backs_left
from stead.brain.turn import next_effect
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.agents import SPAWN
from stead.domain.effects import Effect, Finish, Record, RunTools
from stead.domain.policies import Label
from stead.domain.tools import Declaration, ToolEffect, ToolSpec
from stead.domain.trust import Tier
from tests.build import MODEL, TOOLS, Story, created, desk, info

READ = ("read", '{"path":"a.md"}')
WRITE = ("write", '{"path":"a.md","text":"x"}')
SHELL = ("shell", '{"command":"make"}')
SPAWNING = ToolSpec(SPAWN, "start.", {"type": "object"}, Declaration(ToolEffect.THINK), deferred=True)
PLANNED = ev.PlanMade((ev.PlanStep("write it", "doing"),), by="model")
tiers = st.sampled_from(sorted(TABLE))


def led(tier: Tier, opening: ev.SessionOpened | None = None) -> Story:
    """A session whose model is led by this tier."""
    return Story(opening).tell(ev.TierSet(MODEL, tier, "measured"))


def step(story: Story, tools: tuple[ToolSpec, ...] = TOOLS) -> Effect | None:
    return next_effect(story.session, World(story.now_ms, tools, (info(),)))


def told(effect: Effect | None) -> str:
    """What Stead says in place of letting a call run, or of an end."""
    assert isinstance(effect, Record)
    (body,) = effect.bodies
    assert isinstance(body, ev.ToolFinished | ev.NoticeGiven)
    return body.text


def ran(story: Story, call: tuple[str, str], **fields: object) -> Story:
    """The model makes a call, which goes well."""
    story.turn(call)
    end = ev.ToolFinished(story.open_call(), call[0], "ok", "done", Label(), 4, 5)
    return story.tell(replace(end, **fields))


def changed(story: Story) -> Story:
    return ran(story.tell(PLANNED), WRITE, effect="write", changed=("a.md",))


@pytest.mark.parametrize("opening", [created(), desk()], ids=["objective", "session"])
def test_a_strict_model_runs_nothing_with_an_effect_before_a_plan_and_may_read(opening: ev.SessionOpened) -> None:
    story = led("strict", opening)
    if opening.interactive:
        story.tell(ev.MessageReceived("write it", "cli", Label()))
    assert told(step(story.turn(WRITE))) == PLAN_FIRST
    story.finish(story.open_call(), "write", "denied")
    assert isinstance(step(story.turn(READ)), RunTools)
    story.finish(story.open_call(), "read")
    story.tell(replace(PLANNED, by="stead"))
    assert told(step(story.turn(WRITE))) == PLAN_FIRST, "Stead's own plan is none of the model's"
    story.finish(story.open_call(), "write", "denied").tell(PLANNED)
    assert isinstance(step(story.turn(WRITE)), RunTools)


def test_calls_that_run_side_by_side_do_not_take_one_along_that_wants_a_plan() -> None:
    tools = tuple(replace(spec, declaration=replace(spec.declaration, idempotent=True)) for spec in TOOLS)
    story = led("strict").turn(READ, ("fetch", '{"url":"https://example.com"}'))
    assert step(story, tools) == RunTools((story.open_call(),))


def test_a_plan_is_not_asked_for_where_the_session_has_no_tool_for_it() -> None:
    story = led("strict").turn(WRITE)
    assert isinstance(step(story, tuple(spec for spec in TOOLS if spec.name != "plan")), RunTools)


def test_a_call_that_the_person_said_yes_to_runs_without_a_plan() -> None:
    story = Story().turn(SHELL).question()
    story.tell(ev.TierSet(MODEL, "strict", "person"))
    call = story.session.calls[story.open_call()]
    story.tell(ev.ApprovalGiven(id=call.approval, key=call.key, digest=call.digest, door="cli"))
    assert isinstance(step(story), RunTools)


def test_a_strict_model_starts_no_agents_by_whatever_way_it_calls_the_tool() -> None:
    story = led("strict").tell(PLANNED)
    assert told(step(story.turn(("use_tool", f'{{"name":"{SPAWN}","arguments":{{"task":"x"}}}}')))) == WITHHELD
    assert offered(story.session, (*TOOLS, SPAWNING)) == TOOLS
    assert offered(led("normal").session, (*TOOLS, SPAWNING)) == (*TOOLS, SPAWNING)


@pytest.mark.parametrize("shown", [(READ, {"effect": "read"}), (SHELL, {"effect": "execute", "exit_code": 0})])
def test_a_strict_model_ends_after_a_change_only_with_something_shown(
    shown: tuple[tuple[str, str], dict[str, object]],
) -> None:
    story = changed(led("strict"))
    assert told(step(story.turn("Done."))) == UNPROVEN
    story.tell(ev.NoticeGiven(UNPROVEN, "claim"))
    ran(story, SHELL, effect="execute", exit_code=1)
    assert told(step(story.turn("Done now."))) == UNPROVEN
    story.tell(ev.NoticeGiven(UNPROVEN, "claim"))
    ran(story, shown[0], **shown[1])
    end = step(story.turn("Really."))
    assert isinstance(end, Finish) and end.status == "unverified"


def test_an_end_is_not_held_back_for_ever_and_other_tiers_ask_for_nothing() -> None:
    assert isinstance(step(changed(led("normal")).turn("Done.")), Finish)
    assert isinstance(step(changed(led("trusted")).turn("Done.")), Finish)
    story, times = changed(led("strict")), 0
    while isinstance(effect := step(story.turn(f"Done {times}.")), Record):
        story.tell(*effect.bodies)
        times += 1
    assert isinstance(effect, Finish) and times == 2 * ev.Limits().send_backs


@given(st.integers(0, 100), tiers)
def test_a_limit_of_the_persons_of_none_stays_none_and_no_tier_but_strict_goes_past_it(limit: int, tier: Tier) -> None:
    left = send_backs_left(led(tier, created(limits=ev.Limits(send_backs=limit))).session)
    assert left <= (2 * limit if tier == "strict" else limit)
    assert (left > 0) == (limit > 0)


def test_the_tools_that_are_offered_change_only_where_the_prompt_has_a_new_prefix() -> None:
    story = led("normal").turn("Hello.")
    story.tell(ev.TierSet(MODEL, "strict", "person"))
    assert (story.session.tier, story.session.offered_by) == ("strict", "normal")
    story.tell(ev.InstructionsSet("Be brief.")).tell(ev.TierSet(MODEL, "strict", "person"))
    assert story.session.offered_by == "strict"
