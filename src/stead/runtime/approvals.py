"""What a person's answer makes of a question.

Layer: runtime; part of the trusted base. The answer counts only for the digest that was shown, only once, only in time,
and only if nobody answered before. What it makes is recorded; the call is judged again before it runs.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from stead.domain import events as ev
from stead.domain.commands import Decide
from stead.domain.errors import Conflict
from stead.domain.policies import GrantScope
from stead.domain.registries import REGISTRY
from stead.domain.sessions import Call, Session
from stead.domain.shown import must_be_opened
from stead.guardian.flow import kinds

GRANT_MS = 30 * 24 * 3600 * 1000
"""How long a grant lives at most; a session's grants end with it anyway."""

ANY = "any"


def answer(session: Session, command: Decide, *, door: str, now_ms: int) -> tuple[ev.Body, ...]:
    """The facts that an answer makes in the session.

    Raises:
        Conflict: it is not open, it was answered, it lapsed, it was about something else, or a grant cannot cover it.
    """
    call = next((call for call in session.calls.values() if call.approval == command.approval), None)
    if call is None:
        raise Conflict(f"the question {command.approval!r} is not open any more; see `stead approvals`")
    _require_open(session, call, command, now_ms)
    if command.answer == "deny":
        return (ev.ApprovalDenied(id=call.approval, key=call.key, door=door, reason=command.reason.strip()),)
    if f"message:{door}" in session.sources:
        raise Conflict("what others wrote came through this chat, so a yes does not count here; answer it elsewhere")
    given = ev.ApprovalGiven(id=call.approval, key=call.key, digest=command.digest, door=door)
    if command.answer == "once":
        return (given,)
    if command.answer == "trust":
        return (given, ev.SourcesTrusted(sources=call.sources, tool=call.tool, door=door))
    grant = ev.GrantMade(
        tool=call.tool,
        shape=call.shape,
        scope=GrantScope.SESSION,
        directory="",
        expires_at_ms=now_ms + GRANT_MS,
        door=door,
        sources=kinds((*session.sources, *_own_source(call))),
        bound=call.bound,
    )
    return (given, grant)


def by_editing(call: Call, question: ev.ApprovalRequested) -> tuple[ev.ApprovalGiven, ...]:
    """The yes that lies in having put these very arguments in; none for a call that is the model's.

    Given once: when what the call is about has changed by the time it runs, the person is asked as for any other.
    """
    if not call.edited or call.step == "approved" or question.key != call.key:
        return ()
    return (ev.ApprovalGiven(id=question.id, key=call.key, digest=question.digest, door=call.edited),)


def for_project(events: Iterable[ev.Event], directory: str) -> tuple[ev.GrantMade, ...]:
    """The grants just made in a session, as they stand for its whole folder."""
    return tuple(
        msgspec.structs.replace(event.body, scope=GrantScope.PROJECT, directory=directory)
        for event in events
        if isinstance(event.body, ev.GrantMade)
    )


def _own_source(call: Call) -> tuple[str, ...]:
    """What the granted calls themselves will read: a grant for a host covers the host's own pages being read."""
    return ("web:", f"{REGISTRY}:") if call.shape.startswith(("host:", "net:")) else ()


def _require_open(session: Session, call: Call, command: Decide, now_ms: int) -> None:
    if call.step != "asking" or session.end is not None:
        raise Conflict(f"the question {command.approval!r} was answered already")
    if now_ms >= call.expires_at_ms:
        raise Conflict(f"the question {command.approval!r} has expired; the session will go on without it")
    if command.digest != call.digest:
        raise Conflict("the answer is for another call than the one that is open; look at it again and answer anew")
    if command.answer != "deny" and not command.whole and must_be_opened(call.asked):
        raise Conflict("the arguments are long or hide characters; show all of them first, and say so (`whole`)")
    if command.answer in ("session", "project") and not call.shape:
        raise Conflict(f"this call of {call.tool!r} is confirmed by itself; answer with once or deny")
    if command.answer == "project" and call.bound:
        raise Conflict("it runs code from files, which may change; a lasting yes to it is for this session alone")
    if command.answer == "trust" and not call.sources:
        raise Conflict("the question names no source that could be trusted; answer with once or deny")
