"""Both wires against another project's server, so that our own idea of them is not the only one."""

from __future__ import annotations

import itertools
import json

import anthropic
import openai
import pytest

from stead.domain.events import ModelRef
from stead.domain.messages import Message, ToolCall
from stead.providers.models import ProviderModels
from tests.fakes.aimock import aimock
from tests.fakes.models import Call, Seen, Turn, scripted_model
from tests.fakes.wire import anthropic_flaws, openai_flaws
from tests.providers.conftest import GOAL, MakeModels, answered, ask, local

WIRES = ["openai", "anthropic"]
HERE = (ModelRef("here", "scripted"),)
TURNS = [
    Turn("Let me look.", (Call("read", {"path": "a.md"}), Call("read", {"path": "b.md"})), usage=(900, 40, 0, 0)),
    Turn(calls=(Call("write", {"path": "c.md", "text": 'quote " and\nline ü'}),), usage=(1000, 30, 0, 0)),
    Turn("All done.", usage=(1100, 9, 0, 0)),
]


async def work(models: ProviderModels) -> tuple[list[object], str]:
    """Run the loop over the turns; gives every part of every reply, and the streamed text."""
    messages: tuple[Message, ...] = (GOAL,)
    parts: list[object] = []
    heard: list[str] = []
    for number in range(1, len(TURNS) + 1):
        reply = await models.reply(ask(HERE, messages, number=number), heard.append)
        messages += answered(reply)
        parts += reply.parts
    return parts, "".join(heard)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_loop_with_tools_runs_against_an_independent_server(wire: str, make_models: MakeModels) -> None:
    async with aimock(TURNS) as server:
        parts, heard = await work(make_models(local("here", getattr(server, wire), wire)))
        requests = await server.requests()
    assert heard == "Let me look.All done."
    assert [(part.key, part.tool) for part in parts if isinstance(part, ToolCall)] == [
        ("call_1_0", "read"),
        ("call_1_1", "read"),
        ("call_2_0", "write"),
    ]
    written = next(part for part in parts if isinstance(part, ToolCall) and part.tool == "write")
    assert json.loads(written.arguments) == {"path": "c.md", "text": 'quote " and\nline ü'}
    bodies = [json.loads(request.body) for request in requests]
    assert [(anthropic_flaws if wire == "anthropic" else openai_flaws)(body) for body in bodies] == [[], [], []]
    seen = [
        Seen("openai" if wire == "openai" else "anthropic", request, body, ())
        for request, body in zip(requests, bodies, strict=True)
    ]
    for earlier, later in itertools.pairwise(seen):
        assert later.prompt.startswith(earlier.prompt)


@pytest.mark.parametrize("wire", WIRES)
async def test_our_own_scripted_server_gives_the_same_replies(wire: str, make_models: MakeModels) -> None:
    async with aimock(TURNS) as theirs, scripted_model(TURNS) as ours:
        first = await work(make_models(local("here", getattr(theirs, wire), wire)))
        second = await work(make_models(local("here", getattr(ours, wire), wire)))
    assert _plain(first) == _plain(second)


def _plain(worked: tuple[list[object], str]) -> list[object]:
    """With arguments as data: one server writes its JSON with spaces, the other without."""
    parts, heard = worked
    calls = [part for part in parts if isinstance(part, ToolCall)]
    others = [part for part in parts if not isinstance(part, ToolCall)]
    return [heard, others, [(call.key, call.tool, json.loads(call.arguments)) for call in calls]]


async def test_the_vendors_own_clients_accept_our_scripted_server() -> None:
    turn = Turn("Hello there.", (Call("read", {"path": "a"}),), usage=(30, 7, 10, 5))
    async with scripted_model([turn, turn], strict=False) as server:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.openai, max_retries=0) as client:
            stream = client.chat.completions.stream(
                model="m", messages=[{"role": "user", "content": "hi"}], stream_options={"include_usage": True}
            )
            async with stream as events:
                completion = await events.get_final_completion()
        async with (
            anthropic.AsyncAnthropic(api_key="k", base_url=server.anthropic, max_retries=0) as other,
            other.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as reply,
        ):
            message = await reply.get_final_message()
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("Hello there.", "tool_calls")
    assert choice.message.tool_calls is not None and choice.message.tool_calls[0].function.arguments == '{"path": "a"}'
    assert completion.usage is not None and completion.usage.total_tokens == 37
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert (message.stop_reason, message.usage.cache_read_input_tokens) == ("tool_use", 10)
