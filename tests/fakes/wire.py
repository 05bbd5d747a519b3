"""The two wires that model servers speak, as strict as the vendors: a request's form, and a reply's events.

``openai_flaws`` and ``anthropic_flaws`` say in words what a vendor would refuse; a scripted server answers 400 with
them, so that a test whose client sends nonsense fails as it would in the world.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.providers.chains import NAME, anthropic_problems, openai_problems

Wire = Literal["openai", "anthropic", "google"]
Json = dict[str, Any]

PIECE = 16
"""Characters of text in one event."""


@dataclass(frozen=True)
class Call:
    """A tool call of a scripted reply. Arguments that are a string go out as they are, JSON or not."""

    tool: str
    arguments: str | Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The arguments as the model writes them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Turn:
    """One scripted reply.

    Args:
        text: what the model says, streamed in small pieces.
        calls: what it asks for.
        thinking: its reasoning before that.
        stop: the vendor's stop word, "" for the fitting one, "none" to leave it out.
        usage: (input, output, of the input cached, written to the cache); nothing leaves usage out altogether.
        status: another one than 200 answers with an error instead.
        error: its message.
        headers: of an error.
        delay_s: pause between the events, after the second; the first only opens the reply.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    stop: str = ""
    usage: tuple[int, int, int, int] | None = (100, 20, 0, 0)
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


def openai_events(turn: Turn, model: str, at: int = 0) -> Iterator[bytes]:
    """The reply as events of the chat completions API. ``at`` keeps the ids of its calls apart from other replies'."""

    def chunk(delta: Json, stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        return _data({**base, "choices": [choice]})

    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(turn.text):
        yield chunk({"content": piece})
    for index, call in enumerate(turn.calls):
        function = {"name": call.tool, "arguments": ""}
        id = f"call_x{at}_{index}"
        yield chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
        for piece in _pieces(call.text):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if turn.stop != "none":
        yield chunk({}, turn.stop or ("tool_calls" if turn.calls else "stop"))
    if turn.usage is not None:
        taken, given, cached, _written = turn.usage
        usage = {
            "prompt_tokens": taken,
            "completion_tokens": given,
            "total_tokens": taken + given,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        yield _data({**base, "choices": [], "usage": usage})
    if turn.stop != "none":
        yield b"data: [DONE]\n\n"


def anthropic_events(turn: Turn, model: str, at: int = 0) -> Iterator[bytes]:
    """The reply as events of the messages API. ``at``: see ``openai_events``."""

    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\n".encode() + _data({"type": kind, **fields})

    def block(index: int, start: Json, deltas: Iterator[Json]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    taken, given, cached, written = turn.usage or (0, 0, 0, 0)
    counts = {
        "input_tokens": taken - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    yield event("message_start", message={**message, "stop_reason": None, "usage": {**counts, "output_tokens": 1}})
    yield event("ping")
    index = 0
    if turn.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(turn.thinking)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmVk"})
        yield from block(index, {"type": "thinking", "thinking": "", "signature": ""}, iter(deltas))
        index += 1
    if turn.text:
        texts = ({"type": "text_delta", "text": piece} for piece in _pieces(turn.text))
        yield from block(index, {"type": "text", "text": ""}, texts)
        index += 1
    for call in turn.calls:
        start = {"type": "tool_use", "id": f"toolu_x{at}_{index}", "name": call.tool, "input": {}}
        inputs = ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(call.text))
        yield from block(index, start, inputs)
        index += 1
    if turn.stop != "none":
        stop = turn.stop or ("tool_use" if turn.calls else "end_turn")
        yield event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": given})
        yield event("message_stop")


def openai_error(turn: Turn) -> bytes:
    """An error's body."""
    kinds = {429: "rate_limit_error", 401: "authentication_error"}
    return _json({"error": {"message": turn.error, "type": kinds.get(turn.status, "invalid_request_error")}})


def anthropic_error(turn: Turn) -> bytes:
    """An error's body."""
    kinds = {429: "rate_limit_error", 401: "authentication_error", 529: "overloaded_error", 500: "api_error"}
    kind = kinds.get(turn.status, "invalid_request_error")
    return _json({"type": "error", "error": {"type": kind, "message": turn.error}})


def openai_flaws(body: Json) -> list[str]:
    """What the chat completions API, at its strictest, would refuse in a request."""
    flaws = [f"{name} is missing" for name in ("model", "messages") if not body.get(name)]
    if body.get("stream") is not True or not body.get("stream_options", {}).get("include_usage"):
        flaws.append("the request does not stream, or leaves usage out")
    if not isinstance(body.get("max_completion_tokens", body.get("max_tokens")), int):
        flaws.append("no cap on the output")
    for tool in body.get("tools", []):
        function = tool.get("function", {})
        if not NAME.fullmatch(function.get("name", "")) or function.get("parameters", {}).get("type") != "object":
            flaws.append(f"tool {function.get('name')!r} is not well formed")
    return flaws + openai_problems(body)


def anthropic_flaws(body: Json) -> list[str]:
    """What the messages API, at its strictest, would refuse in a request."""
    flaws = [f"{name} is missing" for name in ("model", "messages", "max_tokens") if not body.get(name)]
    if body.get("stream") is not True:
        flaws.append("the request does not stream")
    for tool in body.get("tools", []):
        if not NAME.fullmatch(tool.get("name", "")) or tool.get("input_schema", {}).get("type") != "object":
            flaws.append(f"tool {tool.get('name')!r} is not well formed")
    return flaws + anthropic_problems(body)


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _data(value: object) -> bytes:
    return b"data: " + _json(value) + b"\n\n"
