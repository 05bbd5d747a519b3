"""What gives way when a context nears the window: how it is sent, and where the mark goes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.brain.estimate import estimate_message
from stead.brain.trimming import (
    LIKELY_PERCENT,
    LONG_ARGUMENT,
    PLACEHOLDER,
    Compact,
    Prompt,
    Trim,
    cut,
    fits,
    reduce,
    trimmed,
)
from stead.domain.ids import CallKey
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ResultsMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.policies import Label
from stead.domain.sessions import PERSON, Session
from tests.brain.conversations import arguments, conversation, session_of, shown, weigh, work
from tests.build import TOOLS

WINDOW = 20_000


def trimmed_arguments(text: str) -> str:
    message = trimmed(AssistantMessage((ToolCall(CallKey("call_1_0"), "write", text),)))
    assert isinstance(message, AssistantMessage)
    call = message.parts[0]
    assert isinstance(call, ToolCall)
    return call.arguments


def step(session: Session, *, bound: int = 10**9, reply: int = 1000, window: int = WINDOW) -> Trim | Compact | None:
    return reduce(session, weigh(session, TOOLS), bound=bound, reply=reply, window=window)


def test_an_old_result_becomes_the_placeholder_and_words_stay() -> None:
    messages = [*work(2), UserMessage("words " * 100, PERSON)]
    sent = shown(messages, len(messages))
    assert isinstance(sent[2], ResultsMessage) and isinstance(was := messages[2], ResultsMessage)
    assert sent[2].results[0] == ToolResult(was.results[0].key, "read", PLACEHOLDER, Label())
    assert (sent[0], sent[1], sent[5]) == (messages[0], messages[1], messages[5])


def test_a_short_result_stays_as_it_is() -> None:
    message = ResultsMessage((ToolResult(CallKey("call_1_0"), "shell", "exit code 0", Label(), source="web:a"),))
    assert trimmed(message) == message


def test_long_arguments_are_replaced_one_by_one_and_short_ones_stay_to_the_byte() -> None:
    long, big = "y" * 300, "1" * 300
    deep = f'{{"a":"{long}"}}'
    given = f'{{ "path":"a.py", "n" : 1e5,"text": "{long}","edits":["{long}"], "deep":{deep}, "no":{big} }}'
    got = trimmed_arguments(given)
    assert json.loads(got) == {
        "path": "a.py",
        "n": 1e5,
        "text": PLACEHOLDER,
        "edits": [PLACEHOLDER],
        "deep": {"trimmed": PLACEHOLDER},
        "no": PLACEHOLDER,
    }
    assert got.startswith('{"path":"a.py","n":1e5,"text":')


def test_long_arguments_that_are_no_object_become_one() -> None:
    assert json.loads(trimmed_arguments('{"path": "a' + "y" * 300)) == {"malformed": PLACEHOLDER}


def test_thinking_stays_since_a_provider_may_want_it_back() -> None:
    message = AssistantMessage((Thinking("hm " * 500, "|c2lnbmVk", "here"), Text("I look. " * 100)))
    assert trimmed(message) == message


@given(arguments)
def test_any_arguments_keep_their_keys_and_never_grow(text: str) -> None:
    got = trimmed_arguments(text)
    assert len(got) <= len(text)
    assert trimmed_arguments(got) == got
    if len(text) > LONG_ARGUMENT:
        fields = json.loads(got)
        try:
            was = json.loads(text)
        except (ValueError, RecursionError):
            was = None
        assert list(fields) == (list(was) if isinstance(was, dict) else ["malformed"])


@given(conversation(), st.data())
def test_what_is_shown_has_the_same_shape_is_no_longer_and_stays_when_shown_again(
    messages: list[Message], data: st.DataObject
) -> None:
    upto = data.draw(st.integers(0, len(messages)))
    sent = shown(messages, upto)
    assert [shape(message) for message in sent] == [shape(message) for message in messages]
    assert sum(map(estimate_message, sent)) <= sum(map(estimate_message, messages)) + 20 * len(messages)
    assert sum(map(size, sent)) <= sum(map(size, messages))
    assert shown(sent, upto) == sent
    assert sent[upto:] == tuple(messages[upto:])


@given(conversation(), conversation(), st.data())
def test_while_the_mark_stays_more_messages_only_add_at_the_end(
    messages: list[Message], more: list[Message], data: st.DataObject
) -> None:
    upto = data.draw(st.integers(0, len(messages)))
    assert shown([*messages, *more], upto)[: len(messages)] == shown(messages, upto)


def shape(message: Message) -> object:
    match message:
        case UserMessage():
            return message
        case AssistantMessage(parts=parts):
            return [(part.key, part.tool) if isinstance(part, ToolCall) else part for part in parts]
        case ResultsMessage(results=results):
            return [(result.key, result.tool, result.is_error, result.label) for result in results]


def size(message: Message) -> int:
    match message:
        case UserMessage(text=text):
            return len(text)
        case AssistantMessage(parts=parts):
            return sum(len(part.arguments) if isinstance(part, ToolCall) else len(part.text) for part in parts)
        case ResultsMessage(results=results):
            return sum(len(result.text) for result in results)


def test_below_the_limit_nothing_gives_way() -> None:
    assert step(session_of(work(30)), bound=14_000) is None


def test_an_estimate_that_a_count_has_shown_to_be_too_high_moves_nothing() -> None:
    messages = work(30)
    assert step(session_of(messages)) is not None
    assert step(session_of(messages, measured=len(messages), measured_tokens=9_000)) is None


def test_the_mark_moves_to_half_of_the_window_and_then_stays_for_long() -> None:
    upto, moves = 0, []
    for exchanges in range(10, 70):
        done = step(session_of(work(exchanges), trimmed=upto))
        if done is not None:
            assert isinstance(done, Trim)
            assert done.upto > upto
            upto = done.upto
            assert weigh(session_of(work(exchanges), trimmed=upto), TOOLS).likely + 1000 <= WINDOW // 2
            moves.append(exchanges)
    assert 2 <= len(moves) <= 60 // 8


def test_the_last_four_exchanges_are_not_trimmed_while_others_are_enough() -> None:
    messages = work(30)
    done = step(session_of(messages))
    assert isinstance(done, Trim)
    assert done.upto <= len(messages) - 8


def test_in_a_small_window_all_but_the_last_exchange_may_be_trimmed() -> None:
    messages = work(5, size=4000)
    done = step(session_of(messages), window=8_000)
    assert isinstance(done, Trim)
    assert len(messages) - 8 < done.upto <= len(messages) - 2


def test_results_that_pass_the_window_at_once_give_way_though_they_are_the_last() -> None:
    messages = work(1, size=100_000)
    done = step(session_of(messages))
    assert done == Trim(len(messages), weigh(session_of(messages), TOOLS).likely, LIKELY_PERCENT)
    assert step(session_of(messages, trimmed=len(messages))) is None


def test_what_a_provider_counted_is_the_measure_after_a_move_too() -> None:
    messages = work(12, size=7000)
    counted = weigh(session_of(messages), TOOLS).likely // 3
    before = session_of(messages, measured=len(messages), measured_tokens=counted)
    done = step(before, window=counted)
    assert isinstance(done, Trim)
    after = session_of(messages, trimmed=done.upto)
    assert step(after, window=counted) is not None, "at the usual measure it would be moved again at once"
    after.counted_percent = done.percent
    assert weigh(after, TOOLS).percent == done.percent == weigh(before, TOOLS).percent
    assert step(after, window=counted) is None


def talk(turns: int, *, chars: int = 2000) -> list[Message]:
    said: list[Message] = []
    more = "please look at it again " * (chars // 24)
    for number in range(turns):
        said.append(UserMessage(f"question {number}, in many words: {more}", PERSON))
        said.append(AssistantMessage((Text(f"answer {number}. "),)))
    return [*said, UserMessage("and now?", PERSON)]


def test_words_that_trimming_cannot_shorten_are_compacted() -> None:
    messages = talk(60)
    done = step(session_of(messages))
    assert isinstance(done, Compact)
    assert isinstance(messages[done.upto], UserMessage)
    tail = sum(map(estimate_message, messages[done.upto :])) * 0.6
    assert WINDOW * 0.2 < tail <= WINDOW * 0.3


def test_a_single_exchange_that_fills_the_window_is_not_compacted_for_ever() -> None:
    head: list[Message] = [UserMessage("what was said " * 900, PERSON, notice=True), *talk(1, chars=60_000)]
    assert step(session_of(head)) is None


@settings(deadline=None)
@given(conversation(most=20), st.integers(200, 6000), st.data())
def test_whatever_is_done_leaves_the_end_alone_and_makes_the_request_smaller(
    messages: list[Message], window: int, data: st.DataObject
) -> None:
    before = data.draw(st.integers(0, len(messages)))
    session = session_of(messages, trimmed=before)
    done = step(session, window=window, reply=window // 10)
    last = max((at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)), default=0)
    if isinstance(done, Trim):
        assert before < done.upto <= (last if fits(done.tokens, window) else len(messages))
        freed = weigh(session, TOOLS).likely - weigh(session_of(messages, trimmed=done.upto), TOOLS).likely
        assert freed >= window * 0.14
        assert step(session_of(messages, trimmed=done.upto), window=window, reply=window // 10) != done
    elif isinstance(done, Compact):
        assert 0 < done.upto <= last


@given(conversation(most=20), st.integers(200, 6000))
def test_a_cut_never_parts_a_call_from_its_result(messages: list[Message], window: int) -> None:
    at = cut(messages, window)
    assert not isinstance(messages[at], ResultsMessage)
    assert at == 0 or isinstance(messages[at], UserMessage) or isinstance(messages[at - 1], ResultsMessage)


@pytest.mark.parametrize("messages", [[], [UserMessage("only words", PERSON)]])
def test_there_is_nothing_to_cut_before_the_first_reply(messages: list[Message]) -> None:
    assert cut(messages, WINDOW) == 0


def test_large_results_in_a_small_window_do_not_move_the_mark_at_every_request() -> None:
    upto, moves = 0, 0
    for exchanges in range(1, 40):
        done = step(session_of(work(exchanges, size=7000), trimmed=upto), window=14_000)
        if isinstance(done, Trim):
            upto, moves = done.upto, moves + 1
    assert 5 <= moves <= 20


def test_a_move_that_does_not_last_is_made_when_a_summary_would_free_no_more() -> None:
    messages = work(3, size=400)
    session = session_of(messages)
    likely = weigh(session, TOOLS).likely
    done = step(session, window=round(likely * 1.24), reply=0)
    assert done == Trim(len(messages) - 2, likely, LIKELY_PERCENT)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_prompt_that_has_followed_a_session_says_what_a_fresh_one_says(data: st.DataObject) -> None:
    kept, session = Prompt(), session_of(data.draw(conversation()))
    for _ in range(data.draw(st.integers(1, 5))):
        match data.draw(st.integers(0, 5)):
            case 0:
                session.messages.extend(data.draw(conversation()))
            case 1:
                session.trimmed = data.draw(st.integers(0, len(session.messages)))
            case 2:
                session.messages, session.trimmed = data.draw(conversation()), 0
            case 3:
                session.messages[0] = UserMessage("Something else.", PERSON)
            case 4:
                session.measured = data.draw(st.integers(0, len(session.messages)))
                session.measured_tokens = data.draw(st.integers(0, 1000))
            case _:
                session.instructions += "More."
        fresh = Prompt()
        assert kept.messages(session) == fresh.messages(session)
        assert kept.weigh(session, TOOLS) == fresh.weigh(session, TOOLS)


def test_what_was_sent_before_is_the_same_object_while_it_is_sent_so() -> None:
    session, prompt = session_of(work(6)), Prompt()
    session.trimmed = 4
    before = prompt.messages(session)
    session.messages.extend(work(2)[1:])
    session.trimmed = 8
    after = prompt.messages(session)
    assert [one is other for one, other in zip(before, after, strict=False)][:4] == [True] * 4
    assert all(one is other for one, other in zip(prompt.messages(session), after, strict=True))
