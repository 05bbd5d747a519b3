"""Asking a model for the summary that is to stand for the older messages, and taking its answer.

Layer: brain. The question repeats everything sent so far, so most of it is paid for at the price of what is cached.
What the answer becomes is ``brain.compaction``'s matter.
"""

from __future__ import annotations

from stead.brain import compaction, trimming
from stead.brain.world import World
from stead.domain.effects import Compact, Effect
from stead.domain.events import NoticeGiven
from stead.domain.messages import AssistantMessage, Text
from stead.domain.sessions import Session

TRIES = 3
"""Replies to the question; a model that gives no summary by then gets none."""
NO_CALLS = "Not run: first write the summary that you were asked for, without calls; then go on."


def ask() -> NoticeGiven:
    """The question."""
    return NoticeGiven(compaction.request_text(), "compact")


def answered(session: Session) -> bool:
    """Whether the model has had its say: it gave a summary, or called tools again and again instead."""
    replies = _replies(session)
    return any(map(_text, replies)) or len(replies) >= TRIES


def take_up(session: Session, world: World) -> Effect:
    """What follows from the answer: its words stand for what was before, be they few or none."""
    window = min(model.window_tokens for model in world.models)
    told = session.messages[: session.compacting]  # neither the question nor its answer is a part of the conversation
    upto = trimming.cut(told, window, trimming.weigh(session, world.tools).ratio)
    summary = next(filter(None, map(_text, reversed(_replies(session)))), "")
    return Compact(upto, compaction.compacted(session, upto, summary, compaction.room_chars(window)))


def _replies(session: Session) -> list[AssistantMessage]:
    return [message for message in session.messages[session.compacting :] if isinstance(message, AssistantMessage)]


def _text(reply: AssistantMessage) -> str:
    return "".join(part.text for part in reply.parts if isinstance(part, Text)).strip()
