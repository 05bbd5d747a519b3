"""The loop: given what has happened to a session, what to do next. This page is the whole of what an agent does.

Layer: brain. Pure: time, tools and prices come in through ``World``. Running and resuming are the same code, because
the only thing that either looks at is the folded journal.
"""

from __future__ import annotations

from stead.brain import context, limits, objective
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.effects import Effect, Record, RunTool, Wait
from stead.domain.messages import AssistantMessage, UserMessage
from stead.domain.sessions import STEAD, Call, Session


def next_effect(session: Session, world: World) -> Effect | None:
    """What the session needs next.

    Args:
        session: the fold of its journal.
        world: the time, the tools it may be offered and what is known of its models.

    Returns:
        One effect, or nothing while the session is paused, has ended, or something is under way already.
    """
    if session.phase != "active" or session.open_request is not None:
        return None
    if reached := limits.reached(session):
        return reached
    for call in session.calls.values():
        match call.step:
            case "done":
                continue
            case "started":
                return None
            case "asking" if world.now_ms < call.expires_at_ms:
                return Wait(call.expires_at_ms)
            case "asking":
                return Record((ev.ApprovalLapsed(id=call.approval, key=call.key, why="expired"),))
            case "refused" | "lapsed":
                return Record((_not_run(call),))
            case "new" | "approved":
                return RunTool(call.key) if call.runnable else Record((_cut_off(call),))
    if not session.plan and not isinstance(session.messages[-1], UserMessage):
        return Record((ev.PlanMade(steps=(ev.PlanStep(session.spec.title, "doing"),), by="stead"),))
    if isinstance(session.messages[-1], AssistantMessage):
        return objective.judge(session)
    return context.call_model(session, world)


def _not_run(call: Call) -> ev.ToolFinished:
    if call.step == "lapsed":
        why = "Nobody answered in time, so this was not run."
    elif call.said:
        why = f"The person refused this call: {call.said}"
    else:
        why = "The person refused this call."
    return _unrun(call, f"{why} Do not repeat it; go another way, or say what cannot be done.")


def _cut_off(call: Call) -> ev.ToolFinished:
    return _unrun(call, "Your reply was cut off, so none of its calls ran. Send the call again, in smaller pieces.")


def _unrun(call: Call, text: str) -> ev.ToolFinished:
    return ev.ToolFinished(
        key=call.key, tool=call.tool, outcome="denied", text=text, label=STEAD, size_bytes=0, duration_ms=0
    )
