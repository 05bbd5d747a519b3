"""The loop: given what has happened to a session, what to do next. This page is the whole of what an agent does.

Layer: brain. Pure: time, tools and prices come in through ``World``. Running and resuming are the same code, because
the only thing that either looks at is the folded journal.
"""

from __future__ import annotations

from itertools import islice, takewhile

from stead.brain import context, ends, limits, summarising
from stead.brain.supervision import held_back
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.agents import AT_ONCE, SPAWN
from stead.domain.effects import Effect, Record, RunTools, Wait
from stead.domain.messages import AssistantMessage, UserMessage
from stead.domain.sessions import STEAD, Call, Session, calls_left, open_agents
from stead.domain.tools import side_by_side

SIDE_BY_SIDE = 8
"""Calls of one reply that run at the same time, at most."""
CUT_OFF = "Your reply was cut off, so none of its calls ran. Send the call again, in smaller pieces."
INTERRUPTED = "Not run: the person has something to say first."


def next_effect(session: Session, world: World) -> Effect | None:
    """What the session needs next.

    Args:
        session: the fold of its journal.
        world: the time, the tools it may be offered and what is known of its models.

    Returns:
        One effect, or nothing while the session rests, is paused, has ended, or something is under way already.
    """
    if session.phase != "active" or session.resting or session.open_request is not None:
        return None
    if reached := limits.reached(session):
        return reached
    if owed := ends.owed(session):
        return owed
    agents = len(open_agents(session))
    for call in session.calls.values():
        match call.step:
            case "done":
                continue
            case "started" if call.key in session.agents:
                continue  # its subagent works; others may be started meanwhile
            case "started":
                return None
            case _ if agents and (call.tool != SPAWN or agents >= AT_ONCE):
                return None
            case "asking" if session.interrupted:
                return Record((ev.ApprovalLapsed(id=call.approval, key=call.key, why="interrupted"),))
            case "asking" if world.now_ms < call.expires_at_ms:
                return Wait(call.expires_at_ms)
            case "asking":
                return Record((ev.ApprovalLapsed(id=call.approval, key=call.key, why="expired"),))
            case "refused" | "lapsed":
                return Record((_not_run(session, call),))
            case "new" | "approved":
                return _next_calls(session, call, world)
    if session.calls:
        return None  # subagents are under way
    if session.compacting and summarising.answered(session):
        return summarising.take_up(session, world)
    if session.compacting:
        return context.call_model(session, world)
    last = session.messages[-1]
    if not session.plan and not isinstance(last, UserMessage) and not session.spec.interactive:
        return Record((ev.PlanMade(steps=(ev.PlanStep(session.spec.title, "doing"),), by="stead"),))
    if isinstance(last, AssistantMessage):
        return ends.conclude(session)
    return context.call_model(session, world)


def _next_calls(session: Session, first: Call, world: World) -> Effect:
    """The next call, together with those right after it that may run at the same time."""
    if not first.runnable:
        return Record((_unrun(first, CUT_OFF),))
    if session.interrupted:
        return Record((_unrun(first, INTERRUPTED),))
    if session.compacting:
        return Record((_unrun(first, summarising.NO_CALLS),))
    if why := held_back(session, first, world):
        return Record((_unrun(first, why),))
    parallel = {spec.name for spec in world.tools if side_by_side(spec.declaration)}
    if first.step != "new" or first.tool not in parallel:
        return RunTools((first.key,))
    calls = list(session.calls.values())
    following = takewhile(
        lambda call: call.step == "new" and call.tool in parallel and not held_back(session, call, world),
        calls[calls.index(first) :],
    )
    return RunTools(tuple(call.key for call in islice(following, min(SIDE_BY_SIDE, calls_left(session)))))


def _not_run(session: Session, call: Call) -> ev.ToolFinished:
    if session.interrupted:
        return _unrun(call, INTERRUPTED)
    if call.cancelled:
        why = f"The person took this call out of the queue: {call.said or 'no reason given'}."
    elif call.step == "lapsed":
        why = "Nobody answered in time, so this was not run."
    elif call.said:
        why = f"The person refused this call: {call.said}"
    else:
        why = "The person refused this call."
    return _unrun(call, f"{why} Do not repeat it; go another way, or say what cannot be done.")


def _unrun(call: Call, text: str) -> ev.ToolFinished:
    return ev.ToolFinished(
        key=call.key, tool=call.tool, outcome="denied", text=text, label=STEAD, size_bytes=0, duration_ms=0
    )
