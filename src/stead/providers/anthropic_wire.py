"""Anthropic's messages.

Layer: providers. Sources: Anthropic, API reference, "Create a message", "Streaming messages", "Prompt caching",
"Extended thinking".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

import msgspec

from stead.domain.messages import (
    PDF,
    AssistantMessage,
    Message,
    ReplyPart,
    ResultsMessage,
    Text,
    Thinking,
    UserMessage,
)
from stead.domain.tools import ToolSpec
from stead.providers.attachments import Loaded, loaded
from stead.providers.conversation import whole
from stead.providers.faults import Reported
from stead.providers.sse import EventDecoder
from stead.providers.wire import Opening, Piece, Reader, Stop

_STOPS: dict[str, Stop] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_call",
    "refusal": "content_filter",
}
_REDACTED = "redacted_thinking"
# What never changes is kept for an hour, the growing rest for five minutes: waits for approvals are common.
_HOUR = {"type": "ephemeral", "ttl": "1h"}
_MINUTES = {"type": "ephemeral", "ttl": "5m"}


class AnthropicWire:
    """Implements ``Wire``."""

    plain_end = b"}]}"
    marked_end = b',"cache_control":' + msgspec.json.encode(_MINUTES) + b"}]}"
    reply_target = "/v1/messages"
    list_target = "/v1/models?limit=1000"
    embeddings_target = ""
    key_headers: Mapping[bytes, bytes] = {b"authorization": b"Bearer %b"}
    own_headers: Mapping[bytes, bytes] = {b"anthropic-version": b"2026-10-21"}

    def opening(self, ask: Opening) -> bytes:
        """See ``Wire``."""
        effort = {"output_config": {"effort": ask.effort}} if ask.effort else {}
        return ask.body({"model": ask.model, "max_tokens": ask.max_output_tokens, "stream": True, **effort})

    def fixed(self, instructions: str, tools: Sequence[ToolSpec]) -> bytes:
        """See ``Wire``."""
        fixed = b""
        if tools:
            listed: list[dict[str, object]] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
            ]
            listed[-1]["cache_control"] = _HOUR
            fixed += b',"tool_choice":{"type":"auto"},"tools":' + msgspec.json.encode(listed)
        if instructions:
            system = [{"type": "text", "text": whole(instructions), "cache_control": _HOUR}]
            fixed += b',"system":' + msgspec.json.encode(system)
        return fixed + b',"messages":['

    def writer(self) -> Callable[[Message], Piece]:
        """See ``Wire``."""
        return _written

    def reader(self, on_text: Callable[[str], None]) -> _Reader:
        """See ``Wire``."""
        return _Reader(on_text)


def _written(message: Message) -> Piece:
    match message:
        case UserMessage(text=text, attachments=attachments):
            blocks = [*map(_source, loaded(attachments)), _text(text)]
        case ResultsMessage(results=results):
            blocks = [
                {
                    "type": "tool_result",
                    "tool_use_id": result.key,
                    "content": [_text(result.text), *map(_source, loaded(result.attachments))],
                    "is_error": result.is_error,
                }
                for result in results
            ]
        case AssistantMessage(parts=parts):
            said = [block for part in parts if (block := _block(part))]
            return Piece(msgspec.json.encode({"role": "assistant", "content": said}), open=False)
        case _:
            assert_never(message)
    said_by = msgspec.json.encode({"role": "user", "content": blocks})
    return Piece(said_by.removesuffix(AnthropicWire.plain_end), open=True)


def _source(shown: Loaded) -> dict[str, object]:
    source = {"type": "base64", "media_type": shown.media_type, "data": shown.data}
    if shown.media_type == PDF:
        return {"type": "document", "title": shown.name, "source": source}
    return {"type": "image", "source": source}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _block(part: ReplyPart) -> dict[str, object]:
    """A part of a reply; nothing for thinking that Anthropic would not believe to be its model's own."""
    match part:
        case Text(text=text):
            return _text(text)
        case Thinking(text=text, signature=signature):
            made_by, _, signed = signature.partition("|")
            if not signed:
                return {}
            if made_by == _REDACTED:
                return {"type": _REDACTED, "data": signed}
            return {"type": "thinking", "thinking": text, "signature": signed}
        case _:
            raw = msgspec.Raw(part.arguments.encode())
            return {"type": "tool_use", "id": part.key, "name": part.tool, "input": raw}


class _Created(msgspec.Struct):
    ephemeral_1h_input_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: _Created | None = None


class _Message(msgspec.Struct):
    usage: _Usage | None = None


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    data: str = ""
    name: str = ""
    input: dict[str, object] | None = None


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(msgspec.Struct):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: object = None


class _Reader(Reader):
    """Blocks of kinds that were not asked for are passed over, with what is added to them."""

    _decode = EventDecoder(_Event).decode

    def __init__(self, on_text: Callable[[str], None]) -> None:
        super().__init__(on_text)
        self._usage = _Usage()

    def take(self, data: bytes) -> None:
        """See ``Reader``."""
        event = self._decode(data)
        match event.type:
            case "message_start" if event.message is not None:
                self._count(event.message.usage)
            case "content_block_start" if event.content_block is not None:
                self._begin(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None and self.reply.knows(event.index):
                self._add(event.index, event.delta)
            case "message_delta":
                self._count(event.usage)
                if event.delta is not None and event.delta.stop_reason:
                    self.stop = _STOPS.get(event.delta.stop_reason)
            case "message_stop":
                self.done = True
            case "error":
                raise Reported(event.error)
            case _:
                return  # pings, ends of blocks, and what the API may add

    def _begin(self, index: int, block: _Block) -> None:
        match block.type:
            case "text":
                self.reply.text(index, block.text)
            case "thinking":
                self.reply.thinking(index, block.thinking, signature=block.signature or "")
            case "redacted_thinking":
                self.reply.thinking(index, made_by=_REDACTED, signature=block.data)
            case "tool_use":
                given = msgspec.json.encode(block.input).decode() if block.input else ""
                self.reply.call(index, block.name, given)
            case _:
                return

    def _add(self, index: int, delta: _Delta) -> None:
        match delta.type:
            case "text_delta":
                self.reply.text(index, delta.text)
            case "thinking_delta":
                self.reply.thinking(index, delta.thinking)
            case "signature_delta":
                self.reply.thinking(index, signature=delta.signature)
            case "input_json_delta":
                self.reply.call(index, arguments=delta.partial_json)
            case _:
                return  # citations

    def _count(self, usage: _Usage | None) -> None:
        """Take over what is reported now; each figure stands for the whole reply so far."""
        for name in _Usage.__struct_fields__ if usage is not None else ():
            if (reported := getattr(usage, name)) is not None:
                setattr(self._usage, name, reported)
        now, counted = self._usage, self.reply.counted
        counted.cached = now.cache_read_input_tokens or 0
        counted.written = now.cache_creation_input_tokens or 0
        counted.input = (now.input_tokens or 0) + counted.cached + counted.written
        counted.output = now.output_tokens or 0
        created = now.cache_creation or _Created()
        counted.written_for_1h = min(created.ephemeral_1h_input_tokens or 0, counted.written)
