"""The vendors' own clients and types judge our wires: each body is one that they would send, each stream is read alike.

Nothing of the product imports them; here they are the second opinion.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from stead.domain.events import ModelRef
from stead.domain.messages import Message, Text, Thinking, ToolCall
from stead.domain.ports import Reply
from stead.providers import prefix
from stead.providers.presets import Kind
from tests.brain.conversations import conversation
from tests.fakes.google import google_flaws
from tests.fakes.models import Call, ServedModel, Turn, scripted_model
from tests.promises import promise
from tests.providers.bodies import Bodies, prefixes, written
from tests.providers.conftest import READ, WRITE, MakeModels, ask, local

with warnings.catch_warnings(action="ignore"):  # of its own docstrings, when it is compiled
    from google import genai
    from google.genai import types as google

OPENAI: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)
ANTHROPIC: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
KINDS: list[Kind] = ["openai", "anthropic", "google"]
TOOLS = (READ, WRITE)
REASONING = {"reasoning", "reasoning_content"}
"""What OpenAI's own types do not know, because it is from servers that copied its wire."""
TURNS = [
    Turn("Plain words, and more of them."),
    Turn(
        'ü😀 and\n"quotes"', (Call("read", {"path": "a.md"}), Call("write", {"path": "ü.md"})), usage=(900, 40, 300, 0)
    ),
    Turn(calls=(Call("read", {"deep": {"list": [1, 2.5, None, True]}}),), thinking="I think so. " * 3),
    Turn("Cut off", usage=(7, 3, 0, 0), stop="length"),
]
STOPS = {"openai": "length", "anthropic": "max_tokens", "google": "MAX_TOKENS"}


def seen(value: Any) -> Any:
    """A validated value as plain data; what is validated when it is read is read."""
    if isinstance(value, dict):
        return {name: seen(inner) for name, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [seen(inner) for inner in value]
    return value


@settings(max_examples=60, deadline=None)
@given(messages=conversation())
def test_openais_types_know_every_field_of_a_body(messages: list[Message]) -> None:
    body = Bodies().of("openai", messages, TOOLS)
    for message in body["messages"]:
        for name in REASONING & message.keys():
            del message[name]
    assert seen(OPENAI.validate_python(body)) == body


@settings(max_examples=60, deadline=None)
@given(messages=conversation())
def test_anthropics_types_know_every_field_of_a_body(messages: list[Message]) -> None:
    body = Bodies().of("anthropic", messages, TOOLS)
    assert seen(ANTHROPIC.validate_python(body)) == body


@promise("LLM-1.google-native")
@settings(max_examples=60, deadline=None)
@given(messages=conversation())
def test_googles_types_know_every_field_of_a_body(messages: list[Message]) -> None:
    body = Bodies().of("google", messages, TOOLS)
    assert google_flaws(body) == []
    google.GenerationConfig.model_validate(body.pop("generationConfig"))
    google.Content.model_validate(body.pop("systemInstruction"))
    for tool in body.pop("tools"):
        google.Tool.model_validate(tool)
    for content in body.pop("contents"):
        google.Content.model_validate(content)
    assert body == {}


@settings(max_examples=40, deadline=None)
@given(
    messages=conversation(),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    kind=st.sampled_from(["openai", "anthropic", "google"]),
)
def test_a_body_that_grew_from_kept_bytes_is_the_one_that_is_written_at_once(
    messages: list[Message], cuts: list[int], kind: Any
) -> None:
    """Whatever was asked before: less of the same, or something else that shares its beginning."""
    grown = prefixes(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix, "BLOCK_BYTES", 100)  # so that short conversations fill several
        for cut in cuts:
            written(grown, messages[:cut], TOOLS)
        assert written(grown, messages, TOOLS) == Bodies().of(kind, messages, TOOLS)


@pytest.mark.parametrize("wire", KINDS)
@pytest.mark.parametrize("turn", TURNS, ids=["text", "calls", "thinking", "length"])
async def test_the_vendors_client_reads_the_same_reply_as_we_do(turn: Turn, wire: str, make_models: MakeModels) -> None:
    turn = Turn(turn.text, turn.calls, turn.thinking, turn.stop and STOPS[wire], turn.usage)
    async with scripted_model([turn, turn], strict=False) as server:
        models = make_models(local("here", getattr(server, wire), wire))
        reply = await models.reply(ask((ModelRef("here", "scripted"),)), lambda _: None)
        theirs = await {"openai": by_openai, "anthropic": by_anthropic, "google": by_google}[wire](server)
    assert ours(reply) == theirs
    assert reply.stop == ("length" if turn.stop else "tool_call" if turn.calls else "stop")


Read = tuple[str, str, list[tuple[str, Any]], tuple[int, int, int]]
"""Text, thinking, calls as names with data, tokens in, out and cached."""


def ours(reply: Reply) -> Read:
    text = "".join(part.text for part in reply.parts if isinstance(part, Text))
    thought = "".join(part.text for part in reply.parts if isinstance(part, Thinking))
    calls = [(part.tool, json.loads(part.arguments)) for part in reply.parts if isinstance(part, ToolCall)]
    return text, thought, calls, (reply.usage.input, reply.usage.output, reply.usage.cached)


async def by_openai(server: ServedModel) -> Read:
    async with openai.AsyncOpenAI(api_key="k", base_url=server.openai, max_retries=0) as client:
        text, thought, calls, used = "", "", dict[int, list[str]](), (0, 0, 0)
        async for chunk in await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "hi"}],
            stream=True,
            stream_options={"include_usage": True},
        ):
            if chunk.usage is not None:
                details = chunk.usage.prompt_tokens_details
                cached = (details.cached_tokens if details else 0) or 0
                used = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached)
            for choice in chunk.choices:
                text += choice.delta.content or ""
                thought += getattr(choice.delta, "reasoning_content", None) or ""
                for piece in choice.delta.tool_calls or ():
                    assert piece.function is not None
                    call = calls.setdefault(piece.index, ["", ""])
                    call[0] += piece.function.name or ""
                    call[1] += piece.function.arguments or ""
    return text, thought, [(name, json.loads(arguments)) for name, arguments in calls.values()], used


async def by_anthropic(server: ServedModel) -> Read:
    async with (
        anthropic.AsyncAnthropic(api_key="k", base_url=server.anthropic, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as stream,
    ):
        message = await stream.get_final_message()
    used = message.usage
    cached = used.cache_read_input_tokens or 0
    taken = used.input_tokens + cached + (used.cache_creation_input_tokens or 0)
    return (
        "".join(block.text for block in message.content if block.type == "text"),
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        [(block.name, block.input) for block in message.content if block.type == "tool_use"],
        (taken, used.output_tokens, cached),
    )


async def by_google(server: ServedModel) -> Read:
    options = google.HttpOptions(base_url=server.url, api_version="v1beta")
    text, thought, calls, used = "", "", list[tuple[str, Any]](), (0, 0, 0)
    async with genai.Client(api_key="k", http_options=options).aio as client:
        async for chunk in await client.models.generate_content_stream(model="scripted", contents="hi"):
            if (counts := chunk.usage_metadata) is not None:
                given = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
                used = (counts.prompt_token_count or 0, given, counts.cached_content_token_count or 0)
            for candidate in chunk.candidates or ():
                for part in (candidate.content and candidate.content.parts) or ():
                    text += "" if part.thought else part.text or ""
                    thought += part.text or "" if part.thought else ""
                    if part.function_call is not None:
                        calls.append((part.function_call.name or "", part.function_call.args))
    return text, thought, calls, used
