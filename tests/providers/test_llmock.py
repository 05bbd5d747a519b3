"""R7: a second, independent project breaks the wire in its own ways and judges how we took it.

``llmock`` is a real server with a verdict on its clients. A loop as the runtime's drives it: a fault that another try
may mend is tried again after the wait that was asked for, or after a growing one; calls run only from whole replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from llmock.chaos import StreamChaos
from llmock.scenarios import Behavior, Fail, Reply, SlowFirstToken, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from llmock.verdict import judge

from stead.domain import messages as said
from stead.domain.errors import ModelFault
from stead.domain.events import ModelRef
from stead.domain.ports import Reply as Answer
from stead.providers.models import ProviderModels
from stead.providers.presets import Deadlines
from tests.providers.conftest import GOAL, MakeModels, answered, ask, local

WIRES = ["openai", "anthropic"]
HERE = (ModelRef("here", "mock-model"),)
WORTH_ANOTHER_TRY = ("rate_limit", "overloaded", "server", "timeout", "connection", "truncated", "malformed")


@pytest.fixture(scope="module")
def llmock_server() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        # With a pause between its events it sees that a client has left, and does not take it for one that stayed.
        server.state.stream_chaos = StreamChaos(chunk_delay_ms=20)
        yield server


@pytest.fixture
def server(llmock_server: LLMockServer) -> LLMockServer:
    llmock_server.state.scenarios.clear()
    llmock_server.state.journal.clear()
    return llmock_server


class Loop:
    """The runtime's part: tries again, and runs the calls of whole replies."""

    def __init__(self, models: ProviderModels) -> None:
        self.models = models
        self.ran: list[said.ToolCall] = []
        self.faults: list[ModelFault] = []

    async def run(self, most_requests: int = 8) -> str:
        """Work until the model's last word."""
        messages: tuple[said.Message, ...] = (GOAL,)
        for number in range(1, most_requests + 1):
            reply = await self._reply(messages, number)
            messages += answered(reply)
            if reply.stop != "tool_call":
                return "".join(part.text for part in reply.parts if isinstance(part, said.Text))
            self.ran += [part for part in reply.parts if isinstance(part, said.ToolCall)]
        raise AssertionError("the model never came to an end")

    async def _reply(self, messages: tuple[said.Message, ...], number: int) -> Answer:
        for attempt in range(5):
            try:
                return await self.models.reply(ask(HERE, messages, number=number), lambda _: None)
            except ModelFault as fault:
                self.faults.append(fault)
                if fault.kind not in WORTH_ANOTHER_TRY:
                    raise
                await asyncio.sleep(fault.retry_after_s or 0.1 * 2**attempt)
        raise AssertionError("five tries were not enough")


def start(server: LLMockServer, wire: str, make_models: MakeModels, *broken: Behavior) -> Loop:
    server.state.scenarios.add(*broken)
    deadlines = Deadlines(first_byte_s=5.0, between_s=1.5, total_s=30.0)
    models = make_models(local("here", server.base_url(wire), wire, model="mock-model"), deadlines=deadlines)
    return Loop(models)


FAULTS: list[tuple[Behavior, str]] = [
    (Fail(429, retry_after=0.3, times=2), "rate_limit"),
    (Fail(429, times=1), "rate_limit"),
    (Fail(503, times=1), "overloaded"),
    (Fail(529, times=1), "overloaded"),
    (Fail(500, times=2), "server"),
    (StreamFault("disconnect", after_chunks=1), "connection"),
    (StreamFault("disconnect", after_chunks=3), "connection"),
    (StreamFault("truncate", after_chunks=1), "truncated"),
    (StreamFault("truncate", after_chunks=2), "truncated"),
    (StreamFault("truncate", after_chunks=3), "truncated"),
    (StreamFault("malformed", after_chunks=1), "malformed"),
    (StreamFault("malformed", after_chunks=2), "malformed"),
    (StreamFault("stall", after_chunks=2, stall_seconds=8.0), "timeout"),
    (SlowFirstToken(8.0), "timeout"),
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("broken", "kind"), FAULTS, ids=[f"{index} {kind}" for index, (_, kind) in enumerate(FAULTS)])
async def test_a_loop_comes_through_a_fault_and_the_verdict_is_clean(
    wire: str, broken: Behavior, kind: str, server: LLMockServer, make_models: MakeModels
) -> None:
    loop = start(server, wire, make_models, broken)
    assert await loop.run()
    assert loop.faults and {fault.kind for fault in loop.faults} == {kind}
    assert [call.tool for call in loop.ran] == ["read"]  # once: nothing ran from the broken reply
    judge(server.state.journal.records(wait=10.0)).assert_ok(strict=True)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
@pytest.mark.parametrize("after", range(5))
async def test_no_call_runs_from_a_reply_that_was_cut_while_it_was_calling(
    wire: str, kind: str, after: int, server: LLMockServer, make_models: MakeModels
) -> None:
    calls = (ToolCall("write", {"path": "a.md", "text": "x" * 200}),)
    reply = Reply(text="I write.", tool_calls=calls)
    fault = StreamFault(kind, after_chunks=after)  # type: ignore[arg-type]  # one of its kinds
    server.state.scenarios.add(reply, fault)
    models = make_models(local("here", server.base_url(wire), wire, model="mock-model"))
    with pytest.raises(ModelFault) as caught:
        await models.reply(ask(HERE), lambda _: None)
    assert caught.value.charged


@pytest.mark.parametrize("wire", WIRES)
async def test_what_no_try_can_mend_is_not_tried_again(
    wire: str, server: LLMockServer, make_models: MakeModels
) -> None:
    for status, kind in ((400, "refused"), (401, "auth"), (403, "auth"), (404, "refused")):
        loop = start(server, wire, make_models, Fail(status))
        with pytest.raises(ModelFault) as caught:
            await loop.run()
        assert (caught.value.kind, caught.value.charged) == (kind, False)
        judge(server.state.journal.records(wait=10.0)).assert_ok(strict=True)
        server.state.journal.clear()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_is_handed_on_as_it_is_and_the_conversation_goes_on(
    wire: str, kind: str, server: LLMockServer, make_models: MakeModels
) -> None:
    loop = start(server, wire, make_models, ToolFault(kind))  # type: ignore[arg-type]  # one of its kinds
    assert await loop.run()
    assert len(loop.ran) == 1 and loop.faults == []
    judge(server.state.journal.records(wait=10.0)).assert_ok(strict=True)


async def test_a_prompt_that_is_too_long_is_told_apart(server: LLMockServer, make_models: MakeModels) -> None:
    too_long = "This model's maximum context length is 10 tokens. However, your messages resulted in 99 tokens."
    loop = start(server, "openai", make_models, Fail(400, message=too_long, code="context_length_exceeded"))
    with pytest.raises(ModelFault) as caught:
        await loop.run()
    assert (caught.value.kind, caught.value.charged) == ("context", False)
