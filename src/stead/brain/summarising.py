"""Asking a model for the summary of older messages, and taking its answer.

Layer: brain. The question repeats everything sent so far, so most of it is paid for at the price of what is cached.
What the answer becomes is ``brain.compaction``'s matter.
"""

from __future__ import annotations

from stead.brain import compaction, trimming
from stead.brain.estimate import estimate_message
from stead.brain.world import World
from stead.domain.effects import Compact
from stead.domain.events import NoticeGiven
from stead.domain.messages import AssistantMessage, Text
from stead.domain.sessions import Session

TRIES = 3
"""Replies to the question; a model that gives no summary by then gets none."""
NO_CALLS = "Not run: first write the summary that you were asked for, without calls; then go on."


def ask() -> NoticeGiven:
    """The question."""
    return NoticeGiven(compaction.REQUEST, "compact")


def answered(session: Session) -> bool:
    """Whether the model has had its say: it gave a summary, or called tools again and again instead."""
    replies = _replies(session)
    return any(map(_text, replies)) or len(replies) >= TRIES


def room_tokens(session: Session) -> int:
    """What the reply to the question may have.

    Twice as much after each that brought nothing: a model that thinks may have used all of it for that.
    """
    return int(compaction.SUMMARY_TOKENS * 2 ** len(_replies(session)))


def take_up(session: Session, world: World) -> Compact:
    """The compaction that follows from the answer, even from an empty one."""
    window = min(model.window_tokens for model in world.models)
    conversation = session.messages[: session.compacting]  # without the question and its answer
    weights = world.prompt.weigh(session, world.tools)
    upto = trimming.cut(conversation, window, weights.ratio)
    summary = next(filter(None, map(_text, reversed(_replies(session)))), "")
    head = compaction.compacted(session, upto, summary, compaction.room_chars(window))
    return Compact(upto, head, weights.percent)


def without(session: Session, world: World) -> Compact | None:
    """No summary, and only as much of the person's words as there is room for: when there is none for the question.

    Nothing, if even that is likely to be too much.
    """
    window = min(model.window_tokens for model in world.models)
    weights = world.prompt.weigh(session, world.tools)
    upto = len(session.messages)
    head = compaction.compacted(session, upto, "", compaction.room_chars(window))
    likely = weights.tokens(weights.fixed + sum(map(estimate_message, head)))
    return Compact(upto, head, weights.percent) if trimming.fits(likely, window) and likely < weights.likely else None


def _replies(session: Session) -> list[AssistantMessage]:
    return [message for message in session.messages[session.compacting :] if isinstance(message, AssistantMessage)]


def _text(reply: AssistantMessage) -> str:
    return "".join(part.text for part in reply.parts if isinstance(part, Text)).strip()
