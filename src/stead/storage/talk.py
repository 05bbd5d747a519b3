"""Whether a session's turn is on: as much of the fold as a row's status needs.

Layer: storage. Knows no SQL and no rows. The rules are those of ``domain.turns`` and ``domain.conversation``; a
property test holds the two against each other.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import CallKey
from stead.domain.messages import ToolCall


class Talk(msgspec.Struct, frozen=True):
    """Where the conversation of a session stands.

    Args:
        interactive: a person works in it, turn by turn.
        resting: nothing happens until a message comes.
        closed: put away.
        turn: how many there were, the one under way included.
        asked: a model request waits for its reply.
        calls: of the last reply, until all are answered.
        unanswered: those of them without a result.
        unread: how many words came while a request or calls were open; a turn that ends before it comes to them
            begins the next.
    """

    interactive: bool = False
    resting: bool = False
    closed: bool = False
    turn: int = 0
    asked: bool = False
    calls: tuple[CallKey, ...] = ()
    unanswered: tuple[CallKey, ...] = ()
    unread: int = 0


def followed(talk: Talk, body: ev.Body) -> Talk:
    """Where it stands after one more event of the session."""
    match body:
        case ev.MessageReceived():
            return _heard(_spoken_to(talk) if talk.interactive else talk)
        case ev.MessageChanged(text=""):
            return replace(talk, unread=max(0, talk.unread - 1))
        case ev.GoalChanged():
            return _heard(talk)
        case ev.ProjectRulesRead(files=files):
            return _heard(talk) if any(not file.left_out for file in files) else talk
        case ev.MemoryLoaded(label=label) | ev.MemoryRecalled(label=label) if label.taints:
            return _heard(talk)  # what strangers' words made is heard as theirs
        case ev.ModelRequested():
            return replace(talk, asked=True)
        case ev.ModelReplied(parts=parts):
            keys = tuple(part.key for part in parts if isinstance(part, ToolCall))
            return replace(talk, asked=False, calls=keys, unanswered=keys, unread=talk.unread if keys else 0)
        case ev.ModelFailed():
            return replace(_answered(talk), asked=False)
        case ev.ToolFinished(key=key) if key in talk.calls:
            left = tuple(other for other in talk.unanswered if other != key)
            return replace(talk, unanswered=left) if left else _answered(talk)
        case ev.CallRetried(key=key) if key in talk.calls:
            return replace(talk, unanswered=(*talk.unanswered, key))
        case ev.TurnEnded():
            return replace(_answered(talk), resting=not talk.unread, turn=talk.turn + bool(talk.unread))
        case ev.ConversationSet():
            return replace(_answered(talk), resting=True)
        case ev.ObjectiveEnded():
            return _answered(talk)
        case ev.SessionClosed():
            return replace(_answered(talk), closed=True, resting=True)
        case ev.SessionResumed(again=True):
            return _spoken_to(talk)
        case ev.SessionPaused() | ev.SessionStopped() | ev.SessionResumed():
            return replace(talk, closed=False)
        case _:
            return talk


def _spoken_to(talk: Talk) -> Talk:
    return replace(talk, closed=False, resting=False, turn=talk.turn + talk.resting)


def _heard(talk: Talk) -> Talk:
    return replace(talk, unread=talk.unread + (talk.asked or bool(talk.calls)))


def _answered(talk: Talk) -> Talk:
    return replace(talk, calls=(), unanswered=(), unread=0)
