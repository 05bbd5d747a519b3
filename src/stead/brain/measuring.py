"""What is in a model's context, part by part, and what the next request costs.

Layer: brain. For people to look at; ``brain.trimming`` decides, by the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from stead.brain import trimming
from stead.brain.compaction import SUMMARY
from stead.brain.estimate import estimate_message, estimate_request
from stead.domain.context_rows import ContextKind, ContextPart, ContextRow
from stead.domain.messages import (
    WORKSPACE,
    AssistantMessage,
    Message,
    ReplyPart,
    ResultsMessage,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
)
from stead.domain.ports import ModelInfo
from stead.domain.sessions import Session
from stead.domain.tools import ToolSpec

_Group = tuple[ContextKind, str, bool, bool]
"""Kind, name, trimmed, cached: what parts are put together by."""


def context(session: Session, tools: Sequence[ToolSpec], models: Sequence[ModelInfo]) -> ContextRow:
    """The next request of a session, by its parts.

    Args:
        session: whose.
        tools: what requests offer; without those that are found by search.
        models: what is known of the session's chain; empty when all of its providers were removed.
    """
    prompt = trimming.Prompt()
    weights = prompt.weigh(session, tools)
    window = min((model.window_tokens for model in models), default=0)
    groups: dict[_Group, tuple[int, int]] = {}
    for group, bound in _pieces(session, prompt, weights):
        count, sum_so_far = groups.get(group, (0, 0))
        groups[group] = (count + 1, sum_so_far + bound)
    parts = tuple(
        ContextPart(kind, name, count, weights.tokens(bound), _percent(weights.tokens(bound), window), trimmed, cached)
        for (kind, name, trimmed, cached), (count, bound) in groups.items()
    )
    tokens = sum(part.tokens for part in parts)
    cached = sum(part.tokens for part in parts if part.cached)
    usd_micros, cached_usd_micros = _costs(models[0], tokens, cached) if models else (0, 0)
    return ContextRow(
        parts=tuple(sorted(parts, key=lambda part: -part.tokens)),
        tokens=tokens,
        window_tokens=window,
        used_percent=_percent(tokens, window),
        trims_at_tokens=window * trimming.FULL_PERCENT // 100,
        trimmed_messages=session.trimmed,
        messages=len(session.messages),
        counted=bool(session.measured_tokens),
        model=models[0].ref if models else session.spec.chain[0],
        usd_micros=usd_micros,
        cached_usd_micros=cached_usd_micros,
        price_known=bool(models) and models[0].price_known,
    )


def _pieces(session: Session, prompt: trimming.Prompt, weights: trimming.Weights) -> Iterator[tuple[_Group, int]]:
    """Every part with its weight; together they weigh what the request does."""
    asked = session.requests > 0
    instructions = estimate_request(session.instructions, (), ())
    yield ("instructions", "", False, asked), instructions
    if weights.fixed > instructions:
        yield ("tools", "", False, asked), weights.fixed - instructions
    for at, (message, weight) in enumerate(zip(prompt.messages(session), weights.messages, strict=True)):
        where = at < session.trimmed, at < session.sent
        found = list(_kinds(message))
        bounds = [estimate_message(piece) for _, _, piece in found]
        for (kind, name, _), bound in zip(found, bounds, strict=True):
            yield (kind, name, *where), weight * bound // sum(bounds)


def _kinds(message: Message) -> Iterator[tuple[ContextKind, str, Message]]:
    """What a message is made of, each part as a message of its own."""
    match message:
        case UserMessage():
            kind, name = _heard(message)
            if message.told:
                yield "memory", "", replace(message, text=message.told, told="")
            yield kind, name, replace(message, told="")
        case AssistantMessage(parts=parts):
            for part in parts:
                yield (*_said(part), AssistantMessage((part,)))
        case ResultsMessage(results=results):
            for result in results:
                yield "results", result.tool, ResultsMessage((result,))


def _heard(message: UserMessage) -> tuple[ContextKind, str]:
    if message.notice:
        return "notices", ""
    match message.source:
        case "":
            return "words", ""
        case _ if message.source == WORKSPACE:
            return "rules", ""
        case _ if message.source == SUMMARY:
            return "summary", ""
        case source:
            return "others", source


def _said(part: ReplyPart) -> tuple[ContextKind, str]:
    match part:
        case Text():
            return "replies", ""
        case Thinking():
            return "thinking", ""
        case ToolCall(tool=tool):
            return "calls", tool


def _percent(tokens: int, window: int) -> float:
    return round(100 * tokens / window, 1) if window else 0.0


def _costs(model: ModelInfo, tokens: int, cached: int) -> tuple[int, int]:
    """Of the input at most, and with what its cache has."""
    fresh = _cost(tokens - cached, model.input_usd_micros_per_mtok)
    return _cost(tokens, model.input_usd_micros_per_mtok), fresh + _cost(cached, model.cached_usd_micros_per_mtok)


def _cost(tokens: int, usd_micros_per_mtok: int) -> int:
    return -(-tokens * usd_micros_per_mtok // 1_000_000)
