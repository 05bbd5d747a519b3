"""One request to one model: send it, pass its text on as it comes, and give the whole reply or nothing.

Layer: providers. A reply counts only with a stop reason of the provider's own: a stream that ends early ends cleanly to
every client library, and pydantic-ai then invents a "stop". Cancelling closes the connection at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.tools import ToolDefinition

from stead.domain.messages import Usage
from stead.domain.tools import ToolSpec
from stead.providers.convert import whole
from stead.providers.failures import Broken, Failure
from stead.providers.faults import BROKEN, read
from stead.providers.presets import Kind
from stead.providers.pricing import bounded
from stead.providers.transport import response_limit_bytes

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponsePart
    from pydantic_ai.models.anthropic import AnthropicModelSettings
    from pydantic_ai.models.openai import OpenAIChatModelSettings
    from pydantic_ai.settings import ModelSettings

Stop = Literal["stop", "length", "tool_call", "content_filter"]

_STOPS: dict[str | None, Stop] = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_call",
    "content_filter": "content_filter",
}


_LEAST_BYTES = 1024 * 1024
_TOKEN_BYTES = 1024
"""What a stream may take: a token of its own event is some 300 bytes on the wordiest wire."""


class Ask(msgspec.Struct, frozen=True):
    """What is sent.

    Args:
        messages: tidied and converted.
        instructions: the system text, "" for none.
        tools: what is offered.
        max_output_tokens: the cap on the reply.
        cache_key: keeps a session's requests on the machine that holds its cache, where a vendor can; "" for none.
        total_s: time limit over everything.
    """

    messages: list[ModelMessage]
    instructions: str
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int
    cache_key: str
    total_s: float


class Received(msgspec.Struct, frozen=True):
    """A whole reply. ``written_for_1h``: see ``pricing.spend``."""

    parts: Sequence[ModelResponsePart]
    stop: Stop
    usage: Usage
    written_for_1h: int
    duration_ms: int
    first_token_ms: int


async def receive(model: Model, kind: Kind, ask: Ask, on_text: Callable[[str], None], *, secret: str) -> Received:
    """Send a request and read the reply to its end.

    Args:
        model: where it goes.
        kind: the wire that it speaks.
        ask: what is sent.
        on_text: gets text as it comes.
        secret: the key, to be kept out of error texts.

    Raises:
        Broken: nothing usable came; anything else is a bug, or the cancellation of this task.
    """
    begun = time.monotonic()
    state = _State(secret)
    response_limit_bytes.set(_LEAST_BYTES + _TOKEN_BYTES * ask.max_output_tokens)
    try:
        async with asyncio.timeout(ask.total_s):
            response = await _read(model, kind, ask, on_text, state)
    except TimeoutError:
        raise Broken(Failure("timeout", f"no whole reply within {ask.total_s:g} s", charged=True)) from None
    ended = time.monotonic()
    stop = _STOPS.get(response.finish_reason)
    details = response.provider_details or {}
    if stop is None or not (details.get("finish_reason") or details.get("refusal")):
        raise Broken(Failure("truncated", "the reply ended without a stop reason", charged=True))
    called = any(isinstance(part, ToolCallPart) for part in response.parts)
    if stop in ("stop", "tool_call"):
        stop = "tool_call" if called else "stop"
    usage, written_for_1h = _usage(response)
    first = state.first_s or ended
    return Received(
        response.parts, stop, usage, written_for_1h, round((ended - begun) * 1000), round((first - begun) * 1000)
    )


class _State:
    """What is known about a request while it runs. ``first_s``: when the first part began, 0 before that."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.first_s = 0.0
        self.stream: StreamedResponse | None = None

    @property
    def started(self) -> bool:
        return bool(self.first_s or (self.stream is not None and self.stream.usage.input_tokens))


async def _read(model: Model, kind: Kind, ask: Ask, on_text: Callable[[str], None], state: _State) -> ModelResponse:
    async with contextlib.AsyncExitStack() as stack:
        try:
            stream = state.stream = await stack.enter_async_context(
                model_request_stream(
                    model,
                    ask.messages,
                    model_settings=_settings(kind, ask),
                    model_request_parameters=_parameters(ask),
                    instrument=False,
                )
            )
            events = aiter(stream)
        except BROKEN as error:
            raise Broken(read(error, started=False, secret=state.secret)) from None
        while True:
            try:
                event = await anext(events, None)
                if event is None:
                    return stream.get()
            except BROKEN as error:
                raise Broken(read(error, started=state.started, secret=state.secret)) from None
            if not state.first_s:
                state.first_s = time.monotonic()
            if isinstance(event, PartDeltaEvent):
                if isinstance(event.delta, TextPartDelta):
                    on_text(whole(event.delta.content_delta))
            elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
                on_text(whole(event.part.content))


def _parameters(ask: Ask) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
            for tool in ask.tools
        ],
        instruction_parts=[InstructionPart(content=whole(ask.instructions))] if ask.instructions else [],
    )


def _settings(kind: Kind, ask: Ask) -> ModelSettings:
    if kind == "anthropic":
        # What never changes is kept for an hour, the growing rest for five minutes: waits for approvals are common.
        marks: AnthropicModelSettings = {
            "max_tokens": ask.max_output_tokens,
            "anthropic_cache_tool_definitions": "1h",
            "anthropic_cache_instructions": "1h",
            "anthropic_cache_messages": "5m",
        }
        return marks
    if ask.cache_key:
        keyed: OpenAIChatModelSettings = {
            "max_tokens": ask.max_output_tokens,
            "openai_prompt_cache_key": ask.cache_key,
        }
        return keyed
    return {"max_tokens": ask.max_output_tokens}


def _usage(response: ModelResponse) -> tuple[Usage, int]:
    """What the provider counted, made consistent; zeros where it did not count."""
    counted = response.usage
    taken = bounded(counted.input_tokens)
    cached = min(bounded(counted.cache_read_tokens), taken)
    written = min(bounded(counted.cache_write_tokens), taken - cached)
    usage = Usage(input=taken, output=bounded(counted.output_tokens), cached=cached, cache_written=written)
    return usage, bounded(counted.details.get("ephemeral_1h_input_tokens", 0))
