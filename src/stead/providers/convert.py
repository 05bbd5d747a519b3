"""Our messages on a provider's wire, and a provider's reply as our parts.

Layer: providers. Knows pydantic-ai's message types and no vendor's client. Deterministic, and each message is mapped by
itself and what stands before it, never by what follows: so the bytes of a request are the beginning of the next one's,
and a provider's cache holds.

``tidy`` makes a sequence that every provider accepts out of any: the person and the model take turns, the person first
and last; each call has exactly one result right after it; nothing is empty. Where a turn is missing, a constant filler
stands for it. A sequence that comes from a session's fold needs at most the filler between two of the person's turns.

What others wrote (``foreign``: pages, accounts, their messages) goes between marks that say it is data. That is done
here and not when it is recorded, so that the journal, people and rules have the text itself, and a change of the marks
changes no event. The word that a mark carries is made of the session's id, which is random and told to no page and no
machine, and the call's key: an author cannot know it, and the same result has the same mark in every request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ReplyPart,
    ResultsMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.policies import Label
from stead.providers.presets import Kind
from stead.screen.inbound import mark

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart

NO_REPLY = "(no reply)"
GO_ON = "(go on)"
NO_OUTPUT = "(no output)"
LOST = "No result was recorded for this call."
NOTICE = "stead-notice"
"""The mark around what Stead itself tells the model; no text can carry it, of a person or quoted in a notice."""

MALFORMED_SHOWN = 200
"""Characters of malformed arguments that are sent again: enough to see what went wrong."""

_SPOOFED = re.compile(rf"<(?=/?{NOTICE})", re.IGNORECASE)
_BAD_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_OBJECT = msgspec.json.Decoder(dict[str, object])


def tidy(messages: Iterable[Message], provider: str, session: SessionId) -> list[Message]:
    """The same conversation in a form that every provider accepts, with what others wrote between marks.

    Args:
        messages: any messages in any order.
        provider: whom they go to; only its own thinking is kept.
        session: whose messages they are.
    """
    tidied: list[Message] = []
    seen: set[CallKey] = set()
    queue = list(messages)
    at = 0
    while at < len(queue):
        message = queue[at]
        at += 1
        match message:
            case UserMessage():
                if tidied and not isinstance(tidied[-1], AssistantMessage):
                    tidied.append(AssistantMessage((Text(NO_REPLY),)))
                tidied.append(msgspec.structs.replace(message, text=_user_text(message, session)))
            case AssistantMessage(parts=parts):
                said = _said(parts, provider, seen)
                if not any(isinstance(part, Text | ToolCall) for part in said):
                    continue
                if not tidied or isinstance(tidied[-1], AssistantMessage):
                    tidied.append(_filler())
                tidied.append(AssistantMessage(said))
                results: dict[CallKey, ToolResult] = {}
                while at < len(queue) and isinstance(answer := queue[at], ResultsMessage):
                    at += 1
                    for result in answer.results:
                        results.setdefault(result.key, result)
                if calls := [part for part in said if isinstance(part, ToolCall)]:
                    tidied.append(ResultsMessage(tuple(_answer(call, results, session) for call in calls)))
            case ResultsMessage():
                continue  # an orphan: what it answers is not there
    if not tidied or isinstance(tidied[-1], AssistantMessage):
        tidied.append(_filler())
    return tidied


def _filler() -> UserMessage:
    return UserMessage(GO_ON, Label())


def _user_text(message: UserMessage, session: SessionId) -> str:
    text = _SPOOFED.sub("&lt;", whole(message.text))
    told = f"{_notice(_SPOOFED.sub('&lt;', whole(message.told)))}\n\n" if message.told else ""
    if message.notice:
        return told + _notice(text)
    text = text if text.strip() else GO_ON
    if message.foreign:
        text = mark(text, message.source, _boundary(session, f"{message.source} {text}"))
    return told + text


def _notice(text: str) -> str:
    return f"<{NOTICE}>\n{text}\n</{NOTICE}>"


def _said(parts: Iterable[ReplyPart], provider: str, seen: set[CallKey]) -> tuple[ReplyPart, ...]:
    """What of a reply is sent again, in its own order; a call whose key was used before is left out."""
    said: list[ReplyPart] = []
    for part in parts:
        match part:
            case Text(text=text):
                if text.strip():
                    said.append(Text(whole(text)))
            case Thinking():
                if part.provider == provider and _thinking_id(part) != "content":
                    said.append(msgspec.structs.replace(part, text=whole(part.text)))
            case ToolCall(key=key):
                if key not in seen:
                    seen.add(key)
                    said.append(ToolCall(key, _BAD_NAME.sub("_", part.tool)[:64] or "unknown", part.arguments))
    return tuple(said)


def _boundary(session: SessionId, what: str) -> str:
    return hashlib.sha256(f"{session} {what}".encode()).hexdigest()[:8]


def _answer(call: ToolCall, results: dict[CallKey, ToolResult], session: SessionId) -> ToolResult:
    result = results.get(call.key)
    if result is None:
        return ToolResult(call.key, call.tool, LOST, Label(), is_error=True)
    text = whole(result.text) if result.text.strip() else NO_OUTPUT
    if result.foreign:
        text = mark(text, result.source, _boundary(session, call.key))
    return ToolResult(call.key, call.tool, text, result.label, result.is_error)


def thinking_field(messages: Iterable[Message]) -> str | None:
    """The field in which an OpenAI-compatible model got its first thinking; it is sent back in the same one."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            for part in message.parts:
                if isinstance(part, Thinking):
                    return _thinking_id(part) or None
    return None


def to_wire(messages: Sequence[Message], kind: Kind) -> list[ModelMessage]:
    """Tidied messages as pydantic-ai's. Call ids are our own keys, which are unique in a session; a model's are not."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart

    wire: list[ModelMessage] = []
    for message in messages:
        match message:
            case UserMessage(text=text):
                wire.append(ModelRequest(parts=[UserPromptPart(text)]))
            case AssistantMessage(parts=parts):
                sent = [_part_to_wire(part, kind) for part in parts if not _unsigned(part, kind)]
                wire.append(ModelResponse(parts=sent, provider_name=kind))
            case ResultsMessage(results=results):
                wire.append(ModelRequest(parts=[_result_to_wire(result, kind) for result in results]))
    return _marked(wire) if kind == "anthropic" else wire


def _marked(wire: list[ModelMessage]) -> list[ModelMessage]:
    """The same with a cache mark where the request before this one ended.

    Anthropic looks for what it has cached in the twenty blocks before a mark. A reply with ten calls and their results
    has more than that, so the mark at the end alone would find nothing of a long conversation.
    """
    from pydantic_ai.messages import CachePoint, ModelRequest, UserPromptPart

    told = [at for at, message in enumerate(wire) if isinstance(message, ModelRequest)]
    if len(told) > 1:
        before = wire[told[-2]]
        wire[told[-2]] = ModelRequest(parts=[*before.parts, UserPromptPart([CachePoint()])])
    return wire


def _unsigned(part: ReplyPart, kind: Kind) -> bool:
    """Thinking that Anthropic would not believe to be its model's own."""
    return kind == "anthropic" and isinstance(part, Thinking) and not part.signature.partition("|")[2]


def _part_to_wire(part: ReplyPart, kind: Kind) -> ModelResponsePart:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    match part:
        case Text(text=text):
            return TextPart(text)
        case Thinking(text=text, signature=signature):
            made_by, _, signed = signature.partition("|")
            return ThinkingPart(text, id=made_by or None, signature=signed or None, provider_name=kind)
        case ToolCall(key=key, tool=tool, arguments=arguments):
            return ToolCallPart(tool, _sendable(arguments), tool_call_id=key)


def _sendable(arguments: str) -> str | dict[str, object]:
    """Arguments that every provider accepts again: a JSON object, malformed ones quoted inside one."""
    try:
        _OBJECT.decode(arguments)
    except (msgspec.MsgspecError, RecursionError):
        return {"malformed": whole(arguments)[:MALFORMED_SHOWN]}
    return arguments


def _result_to_wire(result: ToolResult, kind: Kind) -> ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart

    if result.is_error and kind == "anthropic":
        return ToolReturnPart(result.tool, result.text, tool_call_id=result.key, outcome="failed")
    # Elsewhere the wire has no mark for errors, and wrapping the text in JSON would only escape it.
    text = f"error: {result.text}" if result.is_error else result.text
    return ToolReturnPart(result.tool, text, tool_call_id=result.key)


def from_wire(parts: Iterable[ModelResponsePart], number: RequestNo, provider: str) -> tuple[ReplyPart, ...]:
    """A reply's parts as ours; calls are keyed ``call_<number>_<index>``."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    ours: list[ReplyPart] = []
    calls = 0
    for part in parts:
        if isinstance(part, TextPart) and part.content:
            ours.append(Text(whole(part.content)))
        elif isinstance(part, ThinkingPart) and (part.content or part.signature):
            ours.append(Thinking(whole(part.content), f"{part.id or ''}|{part.signature or ''}", provider))
        elif isinstance(part, ToolCallPart):
            arguments = part.args if isinstance(part.args, str) else msgspec.json.encode(part.args or {}).decode()
            ours.append(ToolCall(CallKey(f"call_{number}_{calls}"), whole(part.tool_name), whole(arguments) or "{}"))
            calls += 1
    return tuple(ours)


def whole(text: str) -> str:
    """Text without lone surrogates, which no wire and no journal can carry: pairs are joined, the rest replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _thinking_id(part: Thinking) -> str:
    """How the provider's wire named it: what stands before the bar; behind it is the provider's own signature."""
    return part.signature.partition("|")[0]
