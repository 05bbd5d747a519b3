"""The conversation of a session: adding messages, closing a turn, and carrying it over to another session.

Layer: domain. Used by the folds alone; see ``domain.folding``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from stead.domain.events import Carried
from stead.domain.messages import Message, ResultsMessage, ToolResult, UserMessage
from stead.domain.policies import Label
from stead.domain.secret_words import secrets_text
from stead.domain.sessions import STEAD, Call, Session


def record_source(session: Session, label: Label, source: str) -> None:
    """Record the source of a value that the model reads, if its label taints, and how confidential the value is."""
    if label.taints and source not in session.sources:
        session.sources.append(source)
    if label.confidentiality.exceeds(session.held):
        session.held = label.confidentiality


def append_message(session: Session, message: UserMessage) -> None:
    """Append a message, after the results of open calls: nothing may stand between a call and its result."""
    if session.calls or session.open_request is not None:
        session.inbox.append(message)
    else:
        session.messages.append(message)


def close_turn(session: Session, fallback: str) -> None:
    """Answer the reply's calls all at once; one that never began gets ``fallback``."""
    if session.calls:
        session.messages.append(
            ResultsMessage(
                results=tuple(
                    call.result or ToolResult(call.key, call.tool, _unanswered(call, fallback), STEAD, is_error=True)
                    for call in session.calls.values()
                    if not call.parent
                )
            )
        )
        session.calls = {}
    session.interrupted = False
    session.messages.extend(session.inbox)
    session.inbox = []


def _unanswered(call: Call, fallback: str) -> str:
    return "Stopped while it ran; what it had done by then stays done." if call.step == "started" else fallback


def carry(session: Session) -> Carried:
    """A copy of the conversation for another session to continue; open calls count as not run."""
    apart = msgspec.structs.replace(session, messages=[*session.messages])
    close_turn(apart, "Not run: the conversation went on from before it.")
    return Carried(
        messages=tuple(apart.messages),
        trimmed=session.trimmed,
        words=tuple(session.words),
        sources=tuple(session.sources),
        held=session.held,
        entities={kind: {**named} for kind, named in session.entities.items()},
        actions=tuple(session.actions),
        plan=session.plan,
        rules={**session.rules},
        requests=session.requests,
        strayed=session.strayed,
        stained=tuple(session.stained),
    )


def carry_over(session: Session, carried: Carried) -> None:
    """Continue another conversation in this session. Grants, spending and checkpoints stay the session's own."""
    session.messages = [*carried.messages]
    session.trimmed = carried.trimmed
    session.words = [*carried.words]
    session.sources = [*carried.sources]
    session.held = carried.held
    session.entities = {kind: {**named} for kind, named in carried.entities.items()}
    session.actions = [*carried.actions]
    session.plan = carried.plan
    session.rules = {**carried.rules}
    session.requests = max(session.requests, carried.requests)
    session.calls, session.inbox, session.waiting = {}, [], {}
    session.strayed, session.stained = carried.strayed, [*carried.stained]
    session.planned, session.used, session.trusted, session.approved = [], [], {}, []
    session.interrupted = session.ran = False
    session.compacting, session.shortening = 0, False
    session.recalled = []
    session.telling = "\n\n".join(filter(None, (secrets_text(session.spec.secrets), session.files)))
    session.resting = True
    session.last_call = session.last_text = ""
    session.same_calls = session.same_texts = session.send_backs = 0
    rewritten(session)


def rewritten(session: Session) -> None:
    """Reset the recorded length and digest of the prefix: the next request no longer begins as the last one did."""
    session.sent = session.measured = session.measured_tokens = 0
    session.sent_sha256 = hashlib.sha256(session.instructions.encode()).hexdigest()


def digest_messages(before: str, messages: Iterable[Message]) -> str:
    """Chain messages onto a digest (hex SHA-256), so that a request's prefix is named by one value."""
    for message in messages:
        before = hashlib.sha256(before.encode() + msgspec.json.encode(message)).hexdigest()
    return before
