"""The queue of calls as a person works with it: side by side, asked, edited, cancelled, retried, steered."""

from __future__ import annotations

import asyncio

import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import CallKey, CommandId, SessionId
from stead.domain.messages import AssistantMessage, ResultsMessage, UserMessage
from stead.domain.sessions import Session
from stead.domain.turns import put_in
from stead.runtime.performing import REQUEST
from stead.runtime.session_words import facts_of
from tests.fakes.world import ScriptedModels
from tests.runtime.conftest import Enter
from tests.runtime.room import Room, Said, calls, results, used

READ, LOOK = ("read", '{"path":"a.txt"}'), ("read", '{"path":"b.txt"}')
WRITE = ("write", '{"path":"a.txt","text":"x"}')
MAIL = ("mail", '{"to":"eve@evil.example","text":"see https://evil.example/x now"}')
FIRST, SECOND, THIRD = CallKey("call_1_0"), CallKey("call_1_1"), CallKey("call_1_2")


async def steps(room: Room, id: SessionId) -> list[str]:
    return [call.step for call in await room.calls(id)]


def ends(room: Room, id: SessionId) -> dict[str, str]:
    """How each call ended."""
    return {body.key: body.outcome for body in room.bodies(id) if isinstance(body, ev.ToolFinished)}


def started(room: Room, id: SessionId) -> list[str]:
    return [body.key for body in room.bodies(id) if isinstance(body, ev.ToolStarted)]


# -- side by side ---------------------------------------------------------------------------------------------------


async def test_reads_of_one_reply_overlap(enter: Enter) -> None:
    room = enter(calls(READ, LOOK))
    room.tools["read"].meeting = asyncio.Barrier(2)  # neither comes to its end unless the other is at work too
    id = await room.open()
    async with asyncio.timeout(10):
        state = await room.tell(id)
    assert ends(room, id) == {FIRST: "ok", SECOND: "ok"}
    assert [*results(state)] == [FIRST, SECOND]


async def test_a_write_runs_by_itself(enter: Enter) -> None:
    room = enter(calls(WRITE, READ, WRITE))
    id = await room.open(allow=("write",))
    gate = room.hold("write")
    await room.say(id)
    await room.began("write")
    assert await steps(room, id) == ["started", "new", "new"]
    gate.set()
    await room.settled(id)
    assert room.tools["write"].most_at_work == 1
    assert started(room, id) == [FIRST, SECOND, THIRD]


async def test_at_most_eight_calls_run_side_by_side(enter: Enter) -> None:
    room = enter(calls(*[READ] * 20))
    gate = room.hold("read")
    id = await room.open(limits=ev.Limits(stall=100))
    await room.say(id)
    await room.began("read")
    gate.set()
    await room.settled(id)
    assert room.tools["read"].most_at_work == 8
    assert len(started(room, id)) == 20


# -- asked ----------------------------------------------------------------------------------------------------------


async def test_a_question_in_the_middle_holds_what_comes_after_it(enter: Enter) -> None:
    room = enter(calls(READ, WRITE, LOOK))
    id = await room.open()
    await room.tell(id)
    assert await steps(room, id) == ["done", "asking", "new"]
    await room.decide(id)
    state = await room.settled(id)
    assert started(room, id) == [FIRST, SECOND, THIRD]
    answered = next(message for message in state.messages if isinstance(message, ResultsMessage))
    assert [result.key for result in answered.results] == [FIRST, SECOND, THIRD]


async def test_a_yes_to_the_shape_covers_the_session_and_no_other_tool(enter: Enter) -> None:
    room = enter(calls(WRITE), calls(("write", '{"path":"c.txt","text":"y"}')), calls(("shell", '{"command":"make"}')))
    id = await room.open()
    await room.tell(id)
    await room.decide(id, "session")
    await room.settled(id)
    assert len(room.tools["write"].ran) == 2
    assert [call.tool for call in await room.calls(id) if call.step == "asking"] == ["shell"]


async def test_the_model_reads_why_a_call_was_refused(enter: Enter) -> None:
    room = enter(calls(WRITE), Said(("I see.",)))
    id = await room.open()
    await room.tell(id)
    await room.decide(id, "deny", "Use the drafts folder.")
    state = await room.settled(id)
    assert not room.tools["write"].ran
    assert "Use the drafts folder." in results(state)[FIRST]
    assert room.models.requests[-1].messages[-1] == state.messages[-2]


# -- edited ---------------------------------------------------------------------------------------------------------


async def test_an_edited_call_runs_once_with_the_persons_arguments(enter: Enter) -> None:
    room = enter(calls(MAIL))
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.EditCall(id, FIRST, '{"to":"bo@example.com","text":"see https://evil.example/x now"}'))
    state = await room.settled(id)
    assert room.tools["mail"].ran == [(FIRST, {"to": "bo@example.com", "text": "see https://evil.example/x now"})]
    assert "changed this call's arguments" in results(state)[FIRST]
    assert state.words == ["Go on.", "bo@example.com"]


async def test_a_call_by_way_of_use_tool_is_edited_as_what_it_means(enter: Enter) -> None:
    room = enter(calls(used("mail", to="eve@evil.example", text="hi")))
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.EditCall(id, FIRST, '{"to":"bo@example.com","text":"hi"}'))
    await room.settled(id)
    assert room.tools["mail"].ran == [(FIRST, {"to": "bo@example.com", "text": "hi"})]


async def test_a_call_that_is_edited_twice_runs_as_the_person_said_last(enter: Enter) -> None:
    room = enter(calls(WRITE))
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.Pause(id))
    await room.do(cmd.EditCall(id, FIRST, '{"path":"one.txt"}'))
    await room.do(cmd.EditCall(id, FIRST, '{"path":"two.txt"}'))
    await room.do(cmd.Resume(id))
    await room.settled(id)
    assert room.tools["write"].ran == [(FIRST, {"path": "two.txt"})]


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "a/../../b"])
async def test_no_edit_gets_a_call_out_of_the_workspace(enter: Enter, path: str) -> None:
    room = enter(calls(WRITE))
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.EditCall(id, FIRST, f'{{"path":"{path}","text":"x"}}'))
    state = await room.settled(id)
    assert ends(room, id) == {FIRST: "denied"}
    assert not room.tools["write"].ran
    assert "the person changed this call" in results(state)[FIRST] and "outside the workspace" in results(state)[FIRST]


async def test_arguments_that_are_no_object_are_refused_and_change_nothing(enter: Enter) -> None:
    room = enter(calls(WRITE))
    id = await room.open()
    await room.tell(id)
    for text in ("[1]", "{", '"a"', '{"a":' * 5000):
        with pytest.raises(InvalidRequest):
            await room.do(cmd.EditCall(id, FIRST, text))
    assert await steps(room, id) == ["asking"]
    assert not [body for body in room.bodies(id) if isinstance(body, ev.CallEdited)]


def test_only_what_the_model_had_not_written_becomes_the_persons_words() -> None:
    before = '{"to":["eve@evil.example"],"text":"Pay DE00 1234 at https://evil.example/pay, please"}'
    after = '{"to":["eve@evil.example","bo@example.com"],"text":"Pay nothing at https://evil.example/pay, thanks Bo"}'
    assert sorted(put_in(before, after)) == ["bo@example.com", "nothing", "thanks Bo"]
    assert put_in(before, '{"text":"Pay at https://evil.example"}') == ()
    assert put_in("{", '{"a":"mine"}') == ("mine",)


# -- cancelled ------------------------------------------------------------------------------------------------------


async def test_one_of_several_running_calls_is_cancelled_and_the_others_go_on(enter: Enter) -> None:
    room = enter(calls(READ, LOOK, ("page", "{}")), Said(("Thanks.",)))
    gate = room.hold("read")
    id = await room.open()
    await room.say(id)
    await room.began("read")
    await room.do(cmd.CancelCall(id, FIRST, "Too slow."))
    async with asyncio.timeout(5):
        while room.tools["read"].at_work > 1:
            await asyncio.sleep(0)
    assert room.tools["read"].at_work == 1
    gate.set()
    await room.settled(id)
    assert ends(room, id) == {FIRST: "cancelled", SECOND: "ok"}
    await room.decide(id, "deny")
    state = await room.settled(id)
    assert "Too slow." in results(state)[FIRST]


async def test_a_call_that_waits_in_the_queue_is_taken_out_of_it(enter: Enter) -> None:
    room = enter(calls(WRITE, ("shell", '{"command":"make"}')))
    id = await room.open(allow=("write", "shell"))
    gate = room.hold("write")
    await room.say(id)
    await room.began("write")
    await room.do(cmd.CancelCall(id, SECOND, "Not now."))
    gate.set()
    state = await room.settled(id)
    assert ends(room, id) == {FIRST: "ok", SECOND: "denied"}
    assert not room.tools["shell"].ran
    assert "Not now." in results(state)[SECOND]


async def test_a_cancelled_read_does_not_run_again_after_a_crash(enter: Enter) -> None:
    room = enter(calls(READ, LOOK))
    room.hold("read")
    id = await room.open()
    await room.say(id)
    await room.began("read")
    await room.do(cmd.CancelCall(id, FIRST, "No."))
    room = await room.crash()
    await room.settled(id)
    assert started(room, id) == [FIRST, SECOND, SECOND]
    assert ends(room, id)[SECOND] == "ok"
    await room.leave()


async def test_a_finished_call_is_not_cancelled(enter: Enter) -> None:
    room = enter(calls(READ, WRITE))
    id = await room.open()
    await room.tell(id)
    with pytest.raises(Conflict):
        await room.do(cmd.CancelCall(id, FIRST))
    with pytest.raises(NotFound):
        await room.do(cmd.CancelCall(id, CallKey("call_9_9")))


# -- retried --------------------------------------------------------------------------------------------------------


async def test_a_retry_before_the_model_has_read_the_result_gives_it_the_new_one_alone(enter: Enter) -> None:
    room = enter(calls(READ, WRITE))
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.RetryCall(id, FIRST))
    await room.settled(id)
    await room.decide(id, "deny")
    state = await room.settled(id)
    assert [key for key, _ in room.tools["read"].ran] == [FIRST, FIRST]
    told = next(message for message in state.messages if isinstance(message, ResultsMessage))
    assert [result.key for result in told.results] == [FIRST, SECOND]


async def test_a_retry_after_that_asks_the_model_and_runs_nothing_by_itself(enter: Enter) -> None:
    room = enter(calls(READ), Said(("Read.",)), calls(READ))
    id = await room.open()
    await room.tell(id)
    assert len(room.tools["read"].ran) == 1
    await room.do(cmd.RetryCall(id, FIRST))
    state = await room.settled(id)
    assert [key for key, _ in room.tools["read"].ran] == [FIRST, CallKey("call_3_0")]
    assert state.words[-1] == "Make the call call_1_0 again."


async def test_a_retried_write_is_asked_about_again(enter: Enter) -> None:
    room = enter(calls(WRITE, ("shell", '{"command":"make"}')))
    id = await room.open()
    await room.tell(id)
    await room.decide(id)
    await room.settled(id)
    await room.do(cmd.RetryCall(id, FIRST))
    await room.settled(id)
    assert len(room.tools["write"].ran) == 1
    assert [call.key for call in await room.calls(id) if call.step == "asking"] == [FIRST, SECOND]


# -- steered --------------------------------------------------------------------------------------------------------


async def test_a_message_queues_behind_the_calls_that_are_open(enter: Enter) -> None:
    room = enter(calls(READ, WRITE))
    id = await room.open(allow=("write",))
    gate = room.hold("read")
    await room.say(id)
    await room.began("read")
    await room.say(id, "Use tabs.")
    gate.set()
    await room.settled(id)
    assert ends(room, id) == {FIRST: "ok", SECOND: "ok"}
    answered, told = room.models.requests[1].messages[-2:]
    assert isinstance(answered, ResultsMessage)
    assert isinstance(told, UserMessage) and told.text == "Use tabs."


async def test_an_interruption_lets_what_runs_finish_and_nothing_begin(enter: Enter) -> None:
    room = enter(calls(WRITE, READ, ("shell", '{"command":"make"}')))
    id = await room.open(allow=("write", "shell"))
    gate = room.hold("write")
    await room.say(id)
    await room.began("write")
    await room.say(id, "Wait, use tabs.", interrupt=True)
    gate.set()
    await room.settled(id)
    assert ends(room, id) == {FIRST: "ok", SECOND: "denied", THIRD: "denied"}
    last = room.models.requests[1].messages[-1]
    assert isinstance(last, UserMessage) and last.text == "Wait, use tabs."


async def test_an_interruption_withdraws_an_open_question(enter: Enter) -> None:
    room = enter(calls(WRITE))
    id = await room.open()
    await room.tell(id)
    await room.say(id, "Not that.", interrupt=True)
    await room.settled(id)
    assert [body.why for body in room.bodies(id) if isinstance(body, ev.ApprovalLapsed)] == ["interrupted"]
    assert not room.tools["write"].ran


@pytest.mark.parametrize("alone", [False, True], ids=["session", "objective"])
async def test_an_interruption_cuts_the_request_off_and_nothing_of_it_runs(enter: Enter, alone: bool) -> None:
    room = enter(Said(("Instead.",)))
    room.models.hold = asyncio.Event()
    if alone:
        id = (await room.do(cmd.OpenSession(str(room.project), goal="tidy"))).session
    else:
        id = await room.open()
        await room.say(id)
    async with asyncio.timeout(5):
        await room.models.asked.wait()
    hold, room.models.hold = room.models.hold, None
    await room.say(id, "Rather this.", interrupt=True)
    await room.settled(id)
    hold.set()
    assert [body.kind for body in room.bodies(id) if isinstance(body, ev.ModelFailed)] == ["stopped"]
    last = room.models.requests[1].messages[-1]
    assert isinstance(last, UserMessage) and last.text == "Rather this."


async def test_an_interruption_that_meets_the_reply_lets_none_of_its_calls_run(enter: Enter) -> None:
    room = enter(calls(WRITE))
    id = await room.open(allow=("write",))
    room.models.hold = asyncio.Event()
    await room.say(id)
    async with asyncio.timeout(5):
        await room.models.asked.wait()
    hold, room.models.hold = room.models.hold, None

    async def word(session: Session) -> tuple[ev.Body, ...]:
        hold.set()  # the reply comes while the person's word is on its way into the journal
        for _ in range(20):
            await asyncio.sleep(0)
        return facts_of(cmd.SendMessage(id, "Rather not.", interrupt=True), session, "cli", ScriptedModels(()))

    await room.actor(id).carry_out(word, None, cause=CommandId(""), cut=REQUEST)
    state = await room.settled(id)
    assert not [body for body in room.bodies(id) if isinstance(body, ev.ModelFailed)]
    assert not room.tools["write"].ran
    assert state.resting and isinstance(state.messages[-1], AssistantMessage)


async def test_words_that_a_limit_left_unheard_begin_the_next_turn(enter: Enter) -> None:
    room = enter(calls(READ, READ, READ), Said(("Tabs it is.",)))
    id = await room.open(limits=ev.Limits(stall=3))
    room.models.hold = asyncio.Event()
    await room.say(id)
    async with asyncio.timeout(5):
        await room.models.asked.wait()
    await room.say(id, "Use tabs.")
    room.models.hold.set()
    state = await room.settled(id)
    assert [(body.turn, body.reason) for body in room.bodies(id) if isinstance(body, ev.TurnEnded)] == [
        (1, "stall"),
        (2, "done"),
    ]
    assert state.resting and not room.tools["read"].ran


@pytest.mark.parametrize("word", ["pause", "stop", "interrupt", "cancel", "close"])
async def test_a_call_that_waits_for_its_checkpoint_does_not_begin_after_the_persons_word(
    enter: Enter, word: str
) -> None:
    room = enter(calls(("shell", '{"command":"make"}')))
    id = await room.open(allow=("shell",))
    gate = room.kept.hold = asyncio.Event()
    await room.say(id)
    async with asyncio.timeout(5):
        while not room.kept.waiting:
            await asyncio.sleep(0)
    commands: dict[str, cmd.Command] = {
        "pause": cmd.Pause(id),
        "stop": cmd.Stop(id),
        "interrupt": cmd.SendMessage(id, "Wait.", interrupt=True),
        "cancel": cmd.CancelCall(id, FIRST),
        "close": cmd.CloseSession(id),
    }
    await room.do(commands[word])
    gate.set()
    await room.settled(id)
    assert not room.tools["shell"].ran and not started(room, id)


# -- held, closed ---------------------------------------------------------------------------------------------------


async def test_what_is_refused_stops_nothing(enter: Enter) -> None:
    room = enter(calls(READ))
    gate = room.hold("read")
    id = (await room.do(cmd.OpenSession(str(room.project), goal="tidy"))).session
    await room.began("read")
    with pytest.raises(Conflict):
        await room.do(cmd.CloseSession(id))
    desk = await room.open()
    with pytest.raises(Conflict):
        await room.do(cmd.Cancel(desk))
    assert room.tools["read"].at_work == 1
    gate.set()
    await room.settled(id)
    assert ends(room, id) == {FIRST: "ok"}


async def test_calls_of_a_closed_session_do_not_run_when_it_is_opened_again(enter: Enter) -> None:
    room = enter(calls(READ, WRITE))
    gate = room.hold("read")
    id = await room.open(allow=("write",))
    await room.say(id)
    await room.began("read")
    answer = await room.do(cmd.CloseSession(id))
    assert answer.session == id
    gate.set()
    await room.settled(id)
    state = await room.tell(id, "Something else.")
    assert not room.tools["write"].ran
    assert ends(room, id) == {FIRST: "cancelled"}
    assert results(state)[SECOND] == "Not run: the session was closed."
    assert results(state)[FIRST].startswith("Stopped while it ran")


async def test_cancelling_an_objective_in_the_middle_of_a_call_records_that_it_was_cut_off(enter: Enter) -> None:
    room = enter(calls(READ))
    room.hold("read")
    id = (await room.do(cmd.OpenSession(str(room.project), goal="tidy"))).session
    await room.began("read")
    await room.do(cmd.Cancel(id))
    await room.settled(id)
    assert ends(room, id) == {FIRST: "cancelled"}


async def test_an_objective_that_has_ended_has_no_queue_to_change(enter: Enter) -> None:
    room = enter(calls(READ), Said(("I looked.",)))
    id = (await room.do(cmd.OpenSession(str(room.project), goal="look at it"))).session
    await room.settled(id)
    before = room.bodies(id)
    for command in (cmd.RetryCall(id, FIRST), cmd.SetPlan(id, ()), cmd.CancelCall(id, FIRST)):
        with pytest.raises(Conflict, match="ended"):
            await room.do(command)
    assert room.bodies(id) == before


# -- a turn that ended without an answer ------------------------------------------------------------------------------


async def test_a_turn_that_a_limit_ended_is_taken_up_again_without_a_word(enter: Enter) -> None:
    room = enter(calls(READ), Said(("Read.",)))
    id = await room.open(limits=ev.Limits(iterations=1))
    assert (await room.tell(id)).resting, "its one request was used up"
    asked = len(room.models.requests)
    await room.do(cmd.Resume(id))
    state = await room.settled(id)
    assert (state.resting, state.turn, len(room.models.requests)) == (True, 2, asked + 1)
    assert isinstance(state.messages[-1], AssistantMessage)
    assert [body.again for body in room.bodies(id) if isinstance(body, ev.SessionResumed)] == [True]
    assert sum(isinstance(body, ev.MessageReceived) for body in room.bodies(id)) == 1


async def test_a_turn_that_was_answered_is_not_taken_up_again(enter: Enter) -> None:
    room = enter(Said(("Done.",)))
    id = await room.open()
    with pytest.raises(Conflict, match="not paused"):
        await room.do(cmd.Resume(id))
    await room.tell(id)
    with pytest.raises(Conflict, match="ended with an answer"):
        await room.do(cmd.Resume(id))
