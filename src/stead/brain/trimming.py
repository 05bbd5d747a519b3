"""A context that nears the model's window: older results give way to a placeholder, then all that is old to a summary.

Layer: brain. The record keeps everything; this is about what is sent. A provider's cache holds as far as a request
repeats the one before it, so the mark up to which messages are sent trimmed moves rarely, and then far: from a request
that passes four fifths of the window to one of half of it. Between two moves requests grow at their end alone, and what
was trimmed before stays as it is, byte for byte.

What people and the model said stays whole. Trimmed are the texts of results and the long arguments of calls: files that
were read or written, output, diffs. A model that needs one again reads the file, or looks it up in the history.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stead.brain.estimate import estimate_message, estimate_request
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ReplyPart,
    ResultsMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.sessions import Session
from stead.domain.tools import ToolSpec

PLACEHOLDER = "[trimmed; `history` has it]"
"""What stands for a trimmed text, the same for all."""
LONG_ARGUMENT = 200
"""Bytes of JSON; an argument that is longer is trimmed."""
SHORT_RESULT = 80
"""Characters; a result that is not longer stays, since trimming it would save nothing."""

FULL_PERCENT = 80
"""Of the window: past this, input and room for a reply taken together, something has to give way."""
AIM_PERCENT = 50
"""Where a move of the mark goes."""
WORTH_PERCENT = 15
"""A move that leaves less of the window to grow in comes again too soon; so does a summary of less."""
TAIL_PERCENT = 30
"""What a compaction leaves as it is."""
REPLY_PERCENT = 20
"""The most that the room for a reply counts for, so that small windows are not all reserve."""
KEPT_EXCHANGES = (4, 1)
"""How many of the last replies with their results are never trimmed; the second figure when the first is too many. Only
when the request would not fit the window at all, none is kept."""

LEAST_REPLY_TOKENS = 64
"""Below this a reply is not worth asking for."""
LIKELY_PERCENT = 60
"""What an estimate, which is an upper bound, comes to by most tokenizers; used until a provider has counted."""


class Trim(msgspec.Struct, frozen=True):
    """Send the messages before ``upto`` trimmed from now on.

    Args:
        upto: the first message that is sent whole.
        tokens: likely, of the request without it.
        percent: see ``Weights``.
    """

    upto: int
    tokens: int
    percent: int


class Compact(msgspec.Struct, frozen=True):
    """Have a summary stand for the messages before ``upto``: trimming frees too little. ``tokens``: see ``Trim``."""

    upto: int
    tokens: int


class Weights(msgspec.Struct, frozen=True):
    """How much each part of the next request takes.

    Args:
        fixed: instructions and tools, an upper bound in tokens.
        messages: likewise of each message, as it is sent.
        bound: of the whole request.
        ratio: what a token of these bounds is likely to come to, over 0 and at most 1.
    """

    fixed: int
    messages: Sequence[int]
    bound: int
    ratio: float

    @property
    def likely(self) -> int:
        """The likely size of the whole request, in tokens."""
        return self.tokens(self.bound)

    @property
    def percent(self) -> int:
        """The ratio as it is recorded when the context is made smaller, since then the count of before is gone."""
        return max(1, round(self.ratio * 100))

    def tokens(self, bound: int) -> int:
        """What a part whose upper bound this is likely comes to."""
        return round(bound * self.ratio)


class Prompt:
    """One session's messages as a model gets them, and their weights, kept from step to step.

    A step costs by what is new in the session. It is a cache: a fresh one says the same, and a session whose messages
    were made again is looked at again. What was sent before stays the same object as long as it is sent so.

    In messages before the session's mark the texts that the history has are trimmed. Roles, order, keys and the model's
    thinking stay, so that every call has its result and signatures hold. Each message is mapped by itself: while the
    mark stays, more messages only add at the end.
    """

    def __init__(self) -> None:
        self._list: list[Message] = []
        self._heard: list[Message] = []
        self._sent: list[Message] = []
        self._weights: list[int] = []
        self._bound = 0
        self._mark = 0
        self._fixed: tuple[str, Sequence[ToolSpec], int] = ("", (), estimate_request("", (), ()))

    def messages(self, session: Session) -> tuple[Message, ...]:
        """The messages of the next request."""
        self._follow(session)
        return tuple(self._sent)

    def weigh(self, session: Session, tools: Sequence[ToolSpec]) -> Weights:
        """How much of the next request each part takes; it holds until the session goes on.

        What the provider counted for the part that it has seen says how far the bounds are off.

        Args:
            session: whose request.
            tools: what is offered.
        """
        self._follow(session)
        instructions, offered, fixed = self._fixed
        if instructions != session.instructions or offered != tools:
            fixed = estimate_request(session.instructions, tools, ())
            self._fixed = (session.instructions, tools, fixed)
        bound = fixed + self._bound
        if session.measured_tokens:
            seen = bound - sum(self._weights[session.measured :])
            return Weights(fixed, self._weights, bound, min(1.0, session.measured_tokens / seen))
        return Weights(fixed, self._weights, bound, (session.counted_percent or LIKELY_PERCENT) / 100)

    def _follow(self, session: Session) -> None:
        heard = len(self._heard)
        begun = self._has_grown(session.messages) or session.messages[:heard] == self._heard
        if session.trimmed < self._mark or not begun:
            self._heard, self._sent, self._weights, self._bound, self._mark, heard = [], [], [], 0, 0, 0
        for at in range(self._mark, min(session.trimmed, heard)):
            self._sent[at] = trimmed(self._heard[at])
            self._bound -= self._weights[at]
            self._weights[at] = estimate_message(self._sent[at])
            self._bound += self._weights[at]
        for at, message in enumerate(session.messages[heard:], heard):
            self._heard.append(message)
            self._sent.append(trimmed(message) if at < session.trimmed else message)
            self._weights.append(estimate_message(self._sent[at]))
            self._bound += self._weights[at]
        self._mark, self._list = session.trimmed, session.messages

    def _has_grown(self, messages: list[Message]) -> bool:
        """Whether it is the list of before with more at its end, seen without a look at each.

        A session's list is appended to, but for its first message, which is replaced while it is alone. Compaction,
        forgetting and going back put another list in its place.
        """
        heard = self._heard
        if messages is not self._list or not 0 < len(heard) <= len(messages):
            return False
        return messages[0] is heard[0] and messages[len(heard) - 1] is heard[-1]


def trimmed(message: Message) -> Message:
    """A message without the texts that can be had again; trimming it twice changes nothing more."""
    match message:
        case UserMessage():
            return message
        case AssistantMessage(parts=parts):
            return AssistantMessage(tuple(map(_trimmed_part, parts)))
        case ResultsMessage(results=results):
            return ResultsMessage(tuple(map(_trimmed_result, results)))


def _trimmed_result(result: ToolResult) -> ToolResult:
    if len(result.text) <= SHORT_RESULT and not result.attachments:
        return result
    # The placeholder is Stead's own, so it stands between no marks; the label stays with what the session has read.
    return msgspec.structs.replace(result, text=PLACEHOLDER, source="", attachments=())


def _trimmed_part(part: ReplyPart) -> ReplyPart:
    if not isinstance(part, ToolCall) or len(part.arguments) <= LONG_ARGUMENT:
        return part
    return msgspec.structs.replace(part, arguments=_trimmed_arguments(part.arguments))


_STAND_IN = msgspec.json.encode(PLACEHOLDER).decode()
_STAND_INS = {"[": f"[{_STAND_IN}]", "{": f'{{"trimmed":{_STAND_IN}}}'}
"""By how a long value begins, so that a list stays one."""
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _trimmed_arguments(arguments: str) -> str:
    """A JSON object with the same keys, in their order; short values stay to the byte."""
    try:
        fields = _FIELDS.decode(arguments)
    except (msgspec.MsgspecError, RecursionError):
        return f'{{"malformed":{_STAND_IN}}}'
    kept = (f"{msgspec.json.encode(name).decode()}:{_trimmed_value(bytes(raw))}" for name, raw in fields.items())
    shorter = f"{{{','.join(kept)}}}"
    return shorter if len(shorter) < len(arguments) else arguments


def _trimmed_value(raw: bytes) -> str:
    text = raw.decode()
    return text if len(raw) <= LONG_ARGUMENT else _STAND_INS.get(text[0], _STAND_IN)


def reduce(session: Session, weights: Weights, *, bound: int, reply: int, window: int) -> Trim | Compact | None:
    """What has to give way before the next request, if anything.

    None is also the answer when nothing can: then the request goes out as it is, if it fits.

    Args:
        session: whose request.
        weights: of its parts.
        bound: an upper bound of the request's input, in tokens; below the limit nothing else is looked at.
        reply: output tokens that the request would reserve.
        window: of the model, in tokens.
    """
    reply = min(reply, window * REPLY_PERCENT // 100)
    full = window * FULL_PERCENT // 100 - reply
    if bound <= full or weights.likely <= full:
        return None
    upto, left = session.trimmed, weights.likely
    kept = KEPT_EXCHANGES if fits(weights.likely, window) else (*KEPT_EXCHANGES, 0)
    for exchanges in kept:
        upto = _mark(session, weights, window * AIM_PERCENT // 100 - reply, exchanges)
        left = weights.likely - _freed(session, weights, upto)
        if left <= full - window * WORTH_PERCENT // 100:
            return Trim(upto, weights.likely, weights.percent)
    before = cut(session.messages, window, weights.ratio)
    heard = any(isinstance(message, AssistantMessage) for message in session.messages[:before])
    if heard and weights.tokens(sum(weights.messages[:before])) >= window * WORTH_PERCENT // 100:
        return Compact(before, weights.likely)
    return Trim(upto, weights.likely, weights.percent) if left <= full else None


def fits(tokens: int, window: int) -> bool:
    """Whether a request of so many tokens leaves room in the window for a reply."""
    return tokens + LEAST_REPLY_TOKENS <= window


def _mark(session: Session, weights: Weights, aim: int, exchanges: int) -> int:
    """The nearest place for the mark with which the request is likely to be within the aim; else the furthest."""
    furthest = _untouched(session.messages, exchanges)
    left = weights.likely
    for at in range(session.trimmed, furthest):
        if left <= aim:
            return at
        left -= _saved(session, weights, at)
    return max(furthest, session.trimmed)


def _freed(session: Session, weights: Weights, upto: int) -> int:
    return sum(_saved(session, weights, at) for at in range(session.trimmed, upto))


def _saved(session: Session, weights: Weights, at: int) -> int:
    return weights.tokens(weights.messages[at] - estimate_message(trimmed(session.messages[at])))


def _untouched(messages: Sequence[Message], exchanges: int) -> int:
    """Where the last so many replies with results begin; 0 when there are no more than that."""
    if not exchanges:
        return len(messages)
    answered = [at for at, message in enumerate(messages) if isinstance(message, ResultsMessage)]
    return answered[-exchanges] - 1 if len(answered) > exchanges else 0


def cut(messages: Sequence[Message], window: int, ratio: float = LIKELY_PERCENT / 100) -> int:
    """The first message that a compaction leaves as it is: as early as the tail's share of the window allows.

    It is the person's or Stead's, or a reply that follows results, and never one after the last reply. 0 when there is
    no such place, so nothing to compact.

    Args:
        messages: the whole conversation, every call of it answered.
        window: of the model, in tokens.
        ratio: see ``Weights``.
    """
    replies = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    found, tail = 0, 0
    last = replies[-1] if replies else 0
    for at in range(len(messages) - 1, 0, -1):
        tail += estimate_message(messages[at])
        begins = isinstance(messages[at], UserMessage) or isinstance(messages[at - 1], ResultsMessage)
        if at > last or not begins:
            continue
        if found and tail * ratio > window * TAIL_PERCENT / 100:
            break
        found = at
    return found
