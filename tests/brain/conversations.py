"""Conversations of any shape for Hypothesis: whole exchanges as a session's fold makes them, of all sizes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
from hypothesis import strategies as st

from stead.brain.trimming import Prompt, Weights
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
from stead.domain.sessions import PERSON, STEAD, Session
from stead.domain.tools import ToolSpec
from tests.build import Story

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.integers(0, 3000).map(lambda size: ("x = compute(value)\n" * (1 + size // 19))[:size]),
    st.sampled_from(["", "é" * 250, '"' * 250, "[trimmed", "\n" * 300]),
)
values = st.recursive(
    st.one_of(texts, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
arguments = st.one_of(
    st.dictionaries(st.sampled_from(["path", "text", "edits", "ü", 'a"b', ""]), values, max_size=4).map(
        lambda fields: json.dumps(fields, ensure_ascii=len(fields) % 2 == 0)
    ),
    texts,
    st.sampled_from(["{}", "[]", '{"a": 1e999}', '{ "n" : 1e5, "t": "' + "y" * 300 + '" }', '{"a":' * 400]),
)
sources = st.sampled_from(["", "workspace", "web:example.com"])


@st.composite
def exchange(draw: st.DrawFn) -> list[Message]:
    """A reply with its results, or words of somebody; keys are given out by ``conversation``."""
    if draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(["person", "stead", "other"]))
        label = {"person": PERSON, "stead": STEAD, "other": Label()}[kind]
        source = "message:mail" if kind == "other" else ""
        return [UserMessage(draw(texts), label, notice=kind == "stead", source=source)]
    calls = tuple(
        ToolCall(CallKey(""), draw(st.sampled_from(["read", "write", "shell"])), given)
        for given in draw(st.lists(arguments, max_size=3))
    )
    thoughts = (Thinking(draw(texts), "|c2lnbmVk", "here"),) if draw(st.booleans()) else ()
    reply = AssistantMessage((*thoughts, Text(draw(texts)), *calls))
    if not calls:
        return [reply, UserMessage(draw(texts), PERSON)]
    answers = tuple(ToolResult(CallKey(""), call.tool, draw(texts), Label(), source=draw(sources)) for call in calls)
    return [reply, ResultsMessage(answers)]


@st.composite
def conversation(draw: st.DrawFn, *, most: int = 12) -> list[Message]:
    """A goal and what followed, every call answered, keys as the product gives them."""
    messages: list[Message] = [UserMessage(draw(texts), PERSON)]
    for number, exchanged in enumerate(draw(st.lists(exchange(), max_size=most)), 1):
        messages += [_keyed(message, number) for message in exchanged]
    return messages


def _keyed(message: Message, number: int) -> Message:
    if isinstance(message, AssistantMessage):
        said = [part for part in message.parts if not isinstance(part, ToolCall)]
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        keyed = [msgspec.structs.replace(call, key=CallKey(f"call_{number}_{at}")) for at, call in enumerate(calls)]
        return AssistantMessage((*said, *keyed))
    if isinstance(message, ResultsMessage):
        return ResultsMessage(
            tuple(
                msgspec.structs.replace(result, key=CallKey(f"call_{number}_{at}"))
                for at, result in enumerate(message.results)
            )
        )
    return message


def session_of(messages: list[Message], *, trimmed: int = 0, measured: int = 0, measured_tokens: int = 0) -> Session:
    """A session that holds this conversation, with the person's words as its fold keeps them."""
    words = [
        message.text
        for message in messages
        if isinstance(message, UserMessage) and not message.notice and not message.source
    ]
    return msgspec.structs.replace(
        Story().session,
        messages=messages,
        words=words,
        trimmed=trimmed,
        measured=measured,
        measured_tokens=measured_tokens,
    )


def work(exchanges: int, *, size: int = 2000) -> list[Message]:
    """A goal, then so many reads of ``size`` characters each."""
    messages: list[Message] = [UserMessage("tidy the notes", PERSON)]
    for number in range(1, exchanges + 1):
        key = CallKey(f"call_{number}_0")
        messages.append(AssistantMessage((Text(f"I read {number}."), ToolCall(key, "read", '{"path":"a.md"}'))))
        text = (f"line of file {number}, as it stands there\n" * (1 + size // 30))[:size]
        messages.append(ResultsMessage((ToolResult(key, "read", text, Label(), source="workspace"),)))
    return messages


def shown(messages: Sequence[Message], upto: int) -> tuple[Message, ...]:
    """The messages as a model gets them when those before ``upto`` are trimmed."""
    return Prompt().messages(session_of([*messages], trimmed=upto))


def weigh(session: Session, tools: Sequence[ToolSpec]) -> Weights:
    """What the parts of a session's next request weigh."""
    return Prompt().weigh(session, tools)
