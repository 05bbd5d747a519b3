"""The judges of conversations find what is wrong, and nothing in what is sent, be it trimmed or compacted."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.brain.compaction import compacted
from stead.brain.trimming import cut
from stead.domain.messages import AssistantMessage, Message, UserMessage
from stead.domain.sessions import PERSON
from stead.providers.presets import Kind
from tests.brain.conversations import conversation, session_of, shown, texts, work
from tests.providers.bodies import KINDS, Bodies, prompt
from tests.providers.chains import Json, anthropic_problems, openai_problems

MARK = {"type": "ephemeral", "ttl": "5m"}
ANTHROPIC: Json = {
    "system": [{"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "B"},
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "A"}]},
                {"type": "text", "text": "and?", "cache_control": MARK},
            ],
        },
    ],
}
OPENAI: Json = {
    "messages": [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]
}
Break = Callable[[list[Any]], object]

ANTHROPIC_BREAKS: dict[str, Break] = {
    "has results for": lambda m: m[2]["content"].pop(0),
    "the message before calls": lambda m: m[2]["content"].insert(0, deepcopy(m[2]["content"][0])),
    "results must come first": lambda m: m[2]["content"].reverse(),
    "used twice": lambda m: m[1]["content"][2].update(id="a"),
    "malformed": lambda m: m[1]["content"][2].update(name="no such tool!"),
    "is no object": lambda m: m[1]["content"][2].update(input="{}"),
    "is empty": lambda m: m[2]["content"][0].update(content=" "),
    "text must not be empty": lambda m: m[2]["content"][2].update(text="\n"),
    "signature": lambda m: m[1]["content"][0].update(signature=""),
    "does not belong": lambda m: m[0].update(content=[{"type": "tool_use", "id": "c", "name": "x", "input": {}}]),
    "roles must alternate": lambda m: m.insert(0, {"role": "user", "content": "before"}),
    "the user's comes first": lambda m: m.pop(0),
    "no such role": lambda m: m.insert(0, {"role": "system", "content": "before"}),
    "content must not be empty": lambda m: m[0].update(content=[]),
    "the last message is the assistant's": lambda m: m.pop(),
    "at most 4": lambda m: [block.update(cache_control=MARK) for block in m[2]["content"] + m[1]["content"]],
    "thinking cannot have": lambda m: m[1]["content"][0].update(cache_control=MARK),
    "after one for five": lambda m: m.append(
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {**MARK, "ttl": "1h"}}]}
    ),
    "of a kind": lambda m: m[2]["content"][2].update(cache_control={"type": "lasting"}),
}
OPENAI_BREAKS: dict[str, Break] = {
    "must be followed by their results": lambda m: m.pop(4),
    "or has its result": lambda m: m.insert(4, deepcopy(m[3])),
    "calls without a result": lambda m: m.__delitem__(slice(4, None)),
    "used twice": lambda m: m[2]["tool_calls"][1].update(id="a"),
    "malformed": lambda m: m[2]["tool_calls"][0].update(id="a" * 41),
    "name 'functions.read' is malformed": lambda m: m[2]["tool_calls"][0]["function"].update(name="functions.read"),
    "no JSON object": lambda m: m[2]["tool_calls"][0]["function"].update(arguments="[]"),
    "must be the first": lambda m: m.insert(1, {"role": "system", "content": "again"}),
    "roles must alternate": lambda m: m.append({"role": "user", "content": "again"}),
    "must follow the user's": lambda m: m.insert(6, {"role": "assistant", "content": "again"}),
    "content must not be empty": lambda m: m[4].update(content=""),
    "a list of calls must not be empty": lambda m: m[5].update(tool_calls=[]),
    "no such role": lambda m: m.insert(0, {"role": "function", "content": "x"}),
    "the last message is not": lambda m: m.pop(),
}


def test_what_a_vendor_takes_has_no_problems() -> None:
    assert anthropic_problems(ANTHROPIC) == []
    assert openai_problems(OPENAI) == []


@pytest.mark.parametrize("problem", ANTHROPIC_BREAKS)
def test_what_anthropic_refuses_is_found(problem: str) -> None:
    body = deepcopy(ANTHROPIC)
    ANTHROPIC_BREAKS[problem](body["messages"])
    assert problem in "\n".join(anthropic_problems(body))


@pytest.mark.parametrize("problem", OPENAI_BREAKS)
def test_what_openai_refuses_is_found(problem: str) -> None:
    body = deepcopy(OPENAI)
    OPENAI_BREAKS[problem](body["messages"])
    assert problem in "\n".join(openai_problems(body))


@pytest.fixture(scope="module")
def bodies() -> Bodies:
    return Bodies()


def problems(kind: Kind, body: Json) -> list[str]:
    return (anthropic_problems if kind == "anthropic" else openai_problems)(body)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(messages=conversation(), data=st.data())
def test_a_trimmed_conversation_is_valid_and_grows_at_its_end_while_the_mark_stays(
    kind: Kind, bodies: Bodies, messages: list[Message], data: st.DataObject
) -> None:
    upto = data.draw(st.integers(0, len(messages)))
    ends = [at for at in range(1, len(messages) + 1) if at > upto or at == len(messages)]
    sent = [
        bodies.of(kind, shown(messages[:at], upto)) for at in ends if not isinstance(messages[at - 1], AssistantMessage)
    ]
    assert [problems(kind, body) for body in sent] == [[]] * len(sent)
    for earlier, later in itertools.pairwise(map(prompt, sent)):
        assert later.startswith(earlier)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(messages=conversation(), summary=texts, data=st.data())
def test_a_compacted_conversation_is_valid_wherever_it_is_cut(
    kind: Kind, bodies: Bodies, messages: list[Message], summary: str, data: st.DataObject
) -> None:
    upto = data.draw(st.sampled_from([cut(messages, 500), cut(messages, 5000), 0]))
    head = compacted(session_of(messages), upto, summary, 4000)
    body = bodies.of(kind, [*head, *messages[upto:]])
    assert problems(kind, body) == []
    for message in messages[upto:]:
        if isinstance(message, UserMessage) and message.label == PERSON and message.text.isalnum():
            assert message.text in json.dumps(body, ensure_ascii=False)


def test_anthropics_marks_bridge_a_reply_with_more_blocks_than_it_looks_back(bodies: Bodies) -> None:
    messages = work(3, size=100)
    marks = [len(_marked(bodies.of("anthropic", messages[:at]))) for at in (1, 3, 5, 7)]
    assert marks == [1, 2, 2, 2]
    earlier, later = (_marked(bodies.of("anthropic", messages[:at])) for at in (5, 7))
    assert earlier[-1] == later[0]


def _marked(body: Json) -> list[tuple[int, int]]:
    """Where marks stand in the messages: message and block."""
    return [
        (at, place)
        for at, message in enumerate(body["messages"])
        for place, block in enumerate(message["content"])
        if "cache_control" in block
    ]
