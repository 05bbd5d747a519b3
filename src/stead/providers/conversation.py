"""A session's messages in a form that every provider accepts, one after the other as they come.

Layer: providers. Knows no vendor's wire. Deterministic, and each message is mapped by itself and what stands before it,
never by what follows: so the bytes of a request are the beginning of the next one's, and a provider's cache holds.

The person and the model take turns, the person first and last; each call has exactly one result right after it; nothing
is empty. Where a turn is missing, a constant filler stands for it. A sequence that comes from a session's fold needs at
most the filler between two of the person's turns.

What others wrote (``foreign``: pages, accounts, their messages) goes between marks that say it is data. That is done
here and not when it is recorded, so that the journal, people and rules have the text itself, and a change of the marks
changes no event. The word that a mark carries is made of the session's id, which is random and shown to no page and no
machine, and the call's key: an author cannot know it, and the same result has the same mark in every request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

import msgspec

from stead.domain.ids import CallKey, SessionId
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
from stead.providers.attachments import Showing
from stead.screen.inbound import mark

NO_REPLY = "(no reply)"
GO_ON = "(go on)"
NO_OUTPUT = "(no output)"
LOST = "No result was recorded for this call."
NOTICE = "stead-notice"
"""The mark around what Stead itself tells the model; no text can carry it, of a person or quoted in a notice."""

MALFORMED_SHOWN = 200
"""Characters of malformed arguments that are sent again: enough to see what went wrong."""
FROM_CONTENT = "content|"
"""The signature of thinking that a server put between tags into its text. It is sent to no provider again."""

_SPOOFED = re.compile(rf"<(?=/?{NOTICE})", re.IGNORECASE)
_BAD_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_OBJECT = msgspec.json.Decoder(dict[str, object])
_FILLER = UserMessage(GO_ON, Label())


class Conversation:
    """What a provider is sent of one session's messages.

    Args:
        provider: whom they go to.
        model: which one of its models; only its own thinking is kept, since no other takes its signature.
        session: whose messages they are.
        showing: what of their attachments the model is shown.
    """

    def __init__(self, provider: str, model: str, session: SessionId, showing: Showing) -> None:
        self.showing = showing
        self._provider = provider
        self._model = model
        self._session = session
        self._seen: set[CallKey] = set()
        self._persons_turn = False

    def extended(self, messages: Sequence[Message]) -> list[Message]:
        """What these messages add; results belong to the reply before them, so both come in the same call."""
        added: list[Message] = []
        at = 0
        while at < len(messages):
            message = messages[at]
            at += 1
            match message:
                case UserMessage():
                    if self._persons_turn:
                        added.append(AssistantMessage((Text(NO_REPLY),)))
                    shown, names = self.showing.split(message.attachments)
                    text = _user_text(message, self._session, names)
                    added.append(msgspec.structs.replace(message, text=text, attachments=shown))
                    self._persons_turn = True
                case AssistantMessage(parts=parts):
                    results: dict[CallKey, ToolResult] = {}
                    while at < len(messages) and isinstance(answer := messages[at], ResultsMessage):
                        at += 1
                        for result in answer.results:
                            results.setdefault(result.key, result)
                    added += self._replied(parts, results)
                case ResultsMessage():
                    continue  # an orphan: what it answers is not there
        return added

    def closing(self) -> list[Message]:
        """What has to stand at the end of a request made now: nothing, or a turn of the person that is not kept."""
        return [] if self._persons_turn else [_FILLER]

    def _replied(self, parts: Iterable[ReplyPart], results: dict[CallKey, ToolResult]) -> list[Message]:
        said = self._said(parts)
        if not any(isinstance(part, Text | ToolCall) for part in said):
            return []
        turn: list[Message] = [] if self._persons_turn else [_FILLER]
        turn.append(AssistantMessage(said))
        calls = [part for part in said if isinstance(part, ToolCall)]
        if calls:
            turn.append(ResultsMessage(tuple(self._answer(call, results) for call in calls)))
        self._persons_turn = bool(calls)
        return turn

    def _made(self, thinking: Thinking) -> bool:
        return thinking.provider == self._provider and thinking.model in ("", self._model)

    def _answer(self, call: ToolCall, results: dict[CallKey, ToolResult]) -> ToolResult:
        result = results.get(call.key)
        if result is None:
            return ToolResult(call.key, call.tool, LOST, Label(), is_error=True)
        shown, names = self.showing.split(result.attachments)
        text = whole("\n".join(filter(None, (result.text, names))))
        text = text if text.strip() else NO_OUTPUT
        if result.foreign:
            text = mark(text, result.source, _boundary(self._session, call.key))
        return ToolResult(call.key, call.tool, text, result.label, result.is_error, attachments=shown)

    def _said(self, parts: Iterable[ReplyPart]) -> tuple[ReplyPart, ...]:
        """What of a reply is sent again, in its own order; a call whose key was used before is left out."""
        said: list[ReplyPart] = []
        for part in parts:
            match part:
                case Text(text=text):
                    if text.strip():
                        said.append(Text(whole(text)))
                case Thinking():
                    if self._made(part) and not part.signature.startswith(FROM_CONTENT):
                        said.append(msgspec.structs.replace(part, text=whole(part.text)))
                case ToolCall(key=key):
                    if key not in self._seen:
                        self._seen.add(key)
                        name = _BAD_NAME.sub("_", part.tool)[:64] or "unknown"
                        said.append(ToolCall(key, name, _sendable(part.arguments)))
        return tuple(said)


def _user_text(message: UserMessage, session: SessionId, names: str) -> str:
    text = _SPOOFED.sub("&lt;", whole("\n\n".join(filter(None, (message.text.strip() and message.text, names)))))
    before = f"{_notice(_SPOOFED.sub('&lt;', whole(message.told)))}\n\n" if message.told else ""
    if message.notice:
        return before + _notice(text)
    text = text if text.strip() else GO_ON
    if message.foreign:
        text = mark(text, message.source, _boundary(session, f"{message.source} {text}"))
    return before + text


def _notice(text: str) -> str:
    return f"<{NOTICE}>\n{text}\n</{NOTICE}>"


def _boundary(session: SessionId, what: str) -> str:
    return hashlib.sha256(f"{session} {what}".encode()).hexdigest()[:8]


def _sendable(arguments: str) -> str:
    """Arguments that every provider accepts again: a JSON object, malformed ones quoted inside one."""
    try:
        _OBJECT.decode(arguments)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return msgspec.json.encode({"malformed": whole(arguments)[:MALFORMED_SHOWN]}).decode()
    return arguments


def whole(text: str) -> str:
    """Text without lone surrogates, which no wire and no journal can carry: pairs are joined, the rest replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
