"""Google's Gemini: ``generateContent``, streamed.

Layer: providers. Sources: Google, Gemini API reference, "Generating content", "Function calling", "Thought signatures".
A signature belongs to the part that comes with it, and must go back there. Of our parts only thinking can carry one, so
it is kept as thinking without words in front of that part.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

import msgspec

from stead.domain.messages import AssistantMessage, Message, ReplyPart, ResultsMessage, Text, Thinking, UserMessage
from stead.domain.tools import ToolSpec
from stead.providers.attachments import Loaded, loaded
from stead.providers.conversation import whole
from stead.providers.faults import Reported
from stead.providers.replies import Counted
from stead.providers.sse import EventDecoder
from stead.providers.wire import Opening, Piece, Reader, Stop

_STOPS: dict[str, Stop] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
        "content_filter",
    ),
}
_UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What Google documents for a reply's first call when another model made it: without a signature it is refused."""


class GoogleWire:
    """Implements ``Wire``."""

    plain_end = marked_end = b""
    reply_target = "/models/{model}:streamGenerateContent?alt=sse"
    list_target = "/models?pageSize=1000"
    embeddings_target = "/openai/embeddings"  # takes the key as OpenAI does
    key_headers: Mapping[bytes, bytes] = {b"x-goog-api-key": b"%b", b"authorization": b"Bearer %b"}
    own_headers: Mapping[bytes, bytes] = {}

    def opening(self, ask: Opening) -> bytes:
        """See ``Wire``."""
        effort = {"thinkingConfig": {"thinkingLevel": ask.effort}} if ask.effort else {}
        return ask.body({"generationConfig": {"maxOutputTokens": ask.max_output_tokens, **effort}})

    def fixed(self, instructions: str, tools: Sequence[ToolSpec]) -> bytes:
        """See ``Wire``."""
        fixed = b""
        if tools:
            declared = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in tools
            ]
            fixed += b',"tools":' + msgspec.json.encode([{"functionDeclarations": declared}])
        if instructions:
            fixed += b',"systemInstruction":' + msgspec.json.encode({"parts": [{"text": whole(instructions)}]})
        return fixed + b',"contents":['

    def writer(self) -> Callable[[Message], Piece]:
        """See ``Wire``."""
        return _written

    def reader(self, on_text: Callable[[str], None]) -> _Reader:
        """See ``Wire``."""
        return _Reader(on_text)


def _written(message: Message) -> Piece:
    match message:
        case UserMessage(text=text, attachments=attachments):
            parts: list[dict[str, object]] = [*map(_inline, loaded(attachments)), {"text": text}]
        case ResultsMessage(results=results):
            parts = [
                {
                    "functionResponse": {
                        "id": result.key,
                        "name": result.tool,
                        "response": {"error" if result.is_error else "output": result.text},
                    }
                }
                for result in results
            ]
            # What a function answers is data of its own; models of all ages take files next to it, in the same turn.
            parts += [_inline(shown) for result in results for shown in loaded(result.attachments)]
        case AssistantMessage():
            return Piece(msgspec.json.encode({"role": "model", "parts": _said(message.parts)}), open=False)
        case _:
            assert_never(message)
    return Piece(msgspec.json.encode({"role": "user", "parts": parts}), open=True)


def _inline(shown: Loaded) -> dict[str, object]:
    return {"inlineData": {"mimeType": shown.media_type, "data": shown.data}}


def _said(parts: Sequence[ReplyPart]) -> list[dict[str, object]]:
    said: list[dict[str, object]] = []
    signature, called = "", False
    for part in parts:
        match part:
            case Thinking(text=text):
                signature = part.signature.partition("|")[2]
                if text.strip():
                    said.append({"text": text, "thought": True})
                continue
            case Text(text=text):
                made: dict[str, object] = {"text": text}
            case _:
                raw = msgspec.Raw(part.arguments.encode())
                made = {"functionCall": {"id": part.key, "name": part.tool, "args": raw}}
                signature = signature or ("" if called else _UNSIGNED)
                called = True
        if signature:
            made["thoughtSignature"] = signature
        said.append(made)
        signature = ""
    return said


class _Call(msgspec.Struct):
    name: str
    args: dict[str, object] | None = None


class _Part(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0
    cached_content_token_count: int = 0
    tool_use_prompt_token_count: int = 0


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Chunk(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: _Usage | None = None
    prompt_feedback: _Feedback | None = None
    error: object = None


class _Reader(Reader):
    """Calls come whole; text and thoughts in pieces, distinguished by a flag on each."""

    _decode = EventDecoder(_Chunk).decode

    def __init__(self, on_text: Callable[[str], None]) -> None:
        super().__init__(on_text)
        self._kind = ""
        self._slot = 0

    def take(self, data: bytes) -> None:
        """See ``Reader``."""
        chunk = self._decode(data)
        if chunk.error:
            raise Reported(chunk.error)
        if (used := chunk.usage_metadata) is not None:
            self.reply.counted = Counted(
                used.prompt_token_count + used.tool_use_prompt_token_count,
                used.candidates_token_count + used.thoughts_token_count,
                used.cached_content_token_count,
            )
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self.stop = "content_filter"
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content and candidate.content.parts) or ():
                self._take_part(part)
            if candidate.finish_reason:
                self.stop = _STOPS.get(candidate.finish_reason)

    def _take_part(self, part: _Part) -> None:
        kind = "call" if part.function_call else "thought" if part.thought else "text"
        if kind != self._kind or kind == "call" or part.thought_signature:
            self._kind = kind
            self._slot += 1
        if part.thought_signature:
            self.reply.thinking(("signature", self._slot), signature=part.thought_signature)
        if part.function_call:
            arguments = msgspec.json.encode(part.function_call.args or {}).decode()
            self.reply.call(self._slot, part.function_call.name, arguments)
        elif part.thought:
            self.reply.thinking(self._slot, part.text or "")
        elif part.text:
            self.reply.text(self._slot, part.text)
