"""The question for a summary, step by step: what its replies may have, and what becomes of replies that are none."""

from __future__ import annotations

import pytest

from stead.brain import compaction
from stead.brain.summarising import NO_CALLS, ask
from stead.brain.turn import next_effect
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.effects import CallModel, Compact, Effect, Finish, Record
from stead.domain.messages import Message, UserMessage
from stead.domain.sessions import PERSON
from tests.build import TOOLS, Story, created, desk, info

WINDOW = 20_000
READ = ("read", '{"path":"a.md"}')
LONG = "and so it went on with the ledger of the harbour " * 200


def step(story: Story) -> Effect | None:
    return next_effect(story.session, World(story.now_ms, TOOLS, (info(window=WINDOW),)))


def asked(opening: ev.SessionOpened | None = None) -> Story:
    """A session of many words whose next request is for the summary."""
    story = Story(opening or created(budget=ev.Budget("unlimited", "unlimited")))
    story.tell(ev.MessageReceived("look at the ledger", "cli", PERSON))
    for number in range(1, 9):
        story.ask().reply(f"{number}. {LONG}", ("read", f'{{"path":"{number}.md"}}'), tokens=2_000 * number).run()
    effect = step(story)
    while isinstance(effect, Record) and not any(isinstance(body, ev.NoticeGiven) for body in effect.bodies):
        story.tell(*effect.bodies)
        effect = step(story)
    assert effect == Record((ask(),))
    return story.tell(ask())


def compact(story: Story) -> list[Message]:
    """Let the summary take its place; gives the conversation after it."""
    effect = step(story)
    assert isinstance(effect, Compact)
    story.tell(ev.ContextCompacted(effect.upto, effect.head, story.session.seq, effect.counted_percent))
    return story.session.messages


def told(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


def test_a_summary_has_a_cap_of_its_own_that_doubles_after_a_reply_without_one() -> None:
    story = asked()
    for cap in (1, 2, 4):
        effect = step(story)
        assert isinstance(effect, CallModel)
        assert effect.max_output_tokens == min(compaction.SUMMARY_TOKENS * cap, info().max_output_tokens)
        story.ask().reply("", stop="length")
    assert isinstance(step(story), Compact)


@pytest.mark.parametrize("opening", [created(budget=ev.Budget("unlimited", "unlimited")), desk()])
def test_an_empty_reply_to_the_question_ends_nothing_and_is_not_sent_back(opening: ev.SessionOpened) -> None:
    story = asked(opening)
    for _ in range(2):
        story.ask().reply("")
        assert isinstance(step(story), CallModel)
    assert story.session.send_backs == 0
    story.ask().reply("All is in the ledger.")
    assert "All is in the ledger." in told(compact(story))


def test_calls_in_the_reply_do_not_run_and_three_such_replies_leave_no_summary() -> None:
    story = asked()
    for _ in range(3):
        story.ask().reply(READ)
        effect = step(story)
        assert isinstance(effect, Record)
        assert isinstance(refused := effect.bodies[0], ev.ToolFinished)
        assert (refused.outcome, refused.text) == ("denied", NO_CALLS)
        story.tell(*effect.bodies)
    messages = compact(story)
    assert not any("A summary by the model" in text for text in told(messages))
    assert any("look at the ledger" in text for text in told(messages))


def test_what_the_person_says_and_does_meanwhile_stays_once_and_the_question_goes() -> None:
    story = asked(desk())
    story.ask().tell(
        ev.MessageReceived("mind the pears", "cli", PERSON),
        ev.PlanMade((ev.PlanStep("weigh the pears", "doing"),), by="person"),
    )
    story.reply("Summary.")
    texts = told(compact(story))
    assert sum("mind the pears" in text for text in texts) == 1
    assert sum(text.startswith("The person changed the plan") for text in texts) == 1
    assert compaction.REQUEST not in texts


def test_words_that_no_window_holds_are_cut_instead_of_ending_the_session() -> None:
    story = Story(desk(budget=ev.Budget("unlimited", "unlimited")))
    story.tell(ev.MessageReceived("first: " + LONG * 12, "cli", PERSON))
    messages = compact(story)
    assert len(messages) == 1
    assert "first: and so it went on" in told(messages)[0]
    assert "more characters]" in told(messages)[0]
    assert isinstance(step(story), CallModel)


def test_a_window_without_room_for_the_instructions_is_said_to_be_too_small() -> None:
    story = Story(desk()).tell(ev.MessageReceived("hello", "cli", PERSON))
    effect = next_effect(story.session, World(story.now_ms, TOOLS, (info(window=300),)))
    assert isinstance(effect, Finish)
    assert effect.reason == "context"


def test_a_word_too_long_for_the_window_ends_the_question_without_a_summary() -> None:
    story = asked(desk())
    story.ask().tell(ev.MessageReceived(LONG * 12, "cli", PERSON)).reply(READ, tokens=15_000)
    for _ in range(10):
        effect = step(story)
        if isinstance(effect, Record):
            story.tell(*effect.bodies)
        elif isinstance(effect, Compact):
            compact(story)
    assert isinstance(step(story), CallModel)
    assert sum(LONG[:1000] in text for text in told(story.session.messages)) == 1
