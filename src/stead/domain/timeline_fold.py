"""Events become items of the timeline: the one place where that is decided.

Layer: domain. Pure. ``follow`` gives what one event adds or changes, at a cost that the events before do not raise. An
event that is not named here is a line of its own, so a new one needs nothing here unless it changes an item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import CallKey
from stead.domain.messages import Text, Thinking, ToolCall, meant
from stead.domain.objectives import PlanStep
from stead.domain.sessions import STEAD
from stead.domain.timeline import (
    CarriedItem,
    Edit,
    FailedItem,
    Item,
    LineItem,
    MessageItem,
    OpenedItem,
    PlanItem,
    Question,
    ReadingCost,
    ReplyItem,
    StepItem,
)

ENDINGS = ev.TurnEnded | ev.SessionClosed | ev.ConversationSet | ev.ObjectiveEnded
"""What leaves calls behind that are not carried out any more."""
_SILENT = ev.ModelRequested | ev.ReadingRequested | ev.MachineStarted | ev.MachineEnded


class Standing(NamedTuple):
    """What the items of an event depend on besides the items before.

    Args:
        items: how many there were before the event.
        steps: how many of them were steps.
        turn: after the event.
        plan: before the event.
        unanswered: calls of the last reply without a result, before the event.
    """

    items: int = 0
    steps: int = 0
    turn: int = 0
    plan: tuple[PlanStep, ...] = ()
    unanswered: tuple[CallKey, ...] = ()


Find = Callable[[str], Item | None]
"""Gives an item of the session by its id; nothing if there is none."""


def follow(event: ev.Event, standing: Standing, find: Find) -> list[Item]:
    """The items that an event adds or changes; new ones have places from ``standing.items`` on."""
    body = event.body
    place = (f"e{event.seq}", standing.items, event.seq, event.ts_ms, standing.turn)
    match body:
        case ev.SessionOpened():
            return [OpenedItem(*place, replace(body, instructions=""))]
        case ev.MessageReceived():
            return [MessageItem(*place, body)]
        case ev.ModelReplied():
            return _replied(event, body, standing, find)
        case ev.CallDelegated(key=key, agent=agent, title=title):
            asks = f"{agent} asks leave: {title}" if title else f"{agent} asks leave"
            step = StepItem(
                *place, index=standing.steps + 1, key=key, tool=body.tool, arguments=body.arguments, reasoning=asks
            )
            return [replace(step, id=key)]
        case ev.ModelFailed():
            return [FailedItem(*place, body)]
        case ev.PlanMade():
            return [PlanItem(*place, body, standing.plan)]
        case _ if isinstance(body, _SILENT):
            return []
        case _:
            changed = _called(event, body, find)
            if changed is not None:
                return changed
            dropped = _dropped(standing.unanswered, find) if isinstance(body, ENDINGS) else []
            return [*dropped, *_also_undone(body, find), _line(place, body)]


def _line(place: tuple[str, int, int, int, int], body: ev.Body) -> Item:
    match body:
        case ev.ConversationSet(source=source, at=at, carried=carried):
            return CarriedItem(*place, source, at, len(carried.messages))
        case ev.InstructionsSet():
            return LineItem(*place, replace(body, text=""))
        case ev.ContextCompacted():
            return LineItem(*place, replace(body, head=()))
        case _:
            return LineItem(*place, body)


def _replied(event: ev.Event, body: ev.ModelReplied, standing: Standing, find: Find) -> list[Item]:
    calls = [part for part in body.parts if isinstance(part, ToolCall)]
    text = "\n".join(part.text for part in body.parts if isinstance(part, Text))
    reply = ReplyItem(
        id=f"r{body.number}.{event.seq}",
        place=standing.items,
        seq=event.seq,
        ts_ms=event.ts_ms,
        turn=standing.turn,
        number=body.number,
        text=text,
        thinking="\n\n".join(part.text for part in body.parts if isinstance(part, Thinking)),
        calls=len(calls),
        step=0 if calls else standing.steps + 1,
        stop=body.stop,
        model=body.model,
        usage=body.usage,
        spend=body.spend,
        attempts=body.attempts,
        duration_ms=body.duration_ms,
        repaired=body.repaired,
    )
    steps: list[StepItem] = []
    for offset, call in enumerate(calls, 1):
        index = standing.steps + offset
        taken = find(call.key) is not None or any(step.id == call.key for step in steps)
        tool, arguments = meant(call)
        step = StepItem(
            id=f"{call.key}.{event.seq}.{index}" if taken else call.key,
            place=standing.items + offset,
            seq=event.seq,
            ts_ms=event.ts_ms,
            turn=standing.turn,
            index=index,
            key=call.key,
            tool=tool,
            arguments=arguments,
            reasoning=text.strip(),
        )
        steps.append(step)
    if steps:  # what the request cost stands on the first
        cost = {"tokens_in": body.usage.input, "tokens_out": body.usage.output, "usd_micros": body.spend.usd_micros}
        steps[0] = replace(steps[0], **cost)
    return [reply, *steps]


def _called(event: ev.Event, body: ev.Body, find: Find) -> list[Item] | None:
    """The step that an event of a call changes.

    None when the event stands in a line of its own: it is about no call, or about one that is not in the timeline, and
    says something without it.
    """
    match body:
        case (
            ev.CallJudged(key=key)
            | ev.ToolStarted(key=key)
            | ev.ToolReopened(key=key)
            | ev.ToolFinished(key=key)
            | ev.CallAnswered(key=key)
            | ev.CallEdited(key=key)
            | ev.CallCancelled(key=key)
            | ev.CallRetried(key=key)
            | ev.ApprovalGiven(key=key)
            | ev.ApprovalDenied(key=key)
            | ev.ApprovalLapsed(key=key)
            | ev.ReadingReplied(key=key)
        ):
            step = find(key)
            return [_changed(step, event, body)] if isinstance(step, StepItem) else []
        case (
            ev.ApprovalRequested(key=key) | ev.FileChanged(key=key) | ev.ChangesLanded(key=key) | ev.EgressUsed(key=key)
        ):
            step = find(key)
            return [_changed(step, event, body)] if isinstance(step, StepItem) else None
        case _:
            return None


def _changed(step: StepItem, event: ev.Event, body: ev.Body) -> StepItem:
    match body:
        case ev.CallJudged(tool=tool, verdict=verdict):
            state = {"ask": "asking", "deny": "refused", "allow": "approved"}[verdict]
            return replace(step, tool=tool, judged=body, state=step.state if step.finished else state)
        case ev.ToolStarted(tool=tool, arguments=arguments):
            return replace(step, tool=tool, arguments=arguments, state="running", started_ms=event.ts_ms)
        case ev.ToolReopened():
            return replace(step, state="new")
        case ev.ToolFinished():
            return replace(step, finished=body, state="done")
        case ev.CallAnswered(given=given, why=why):
            end = ev.ToolFinished(step.key, step.tool, "ok" if given else "denied", why, STEAD, 0, 0)
            return replace(step, finished=end, state="done" if given else "refused")
        case ev.CallEdited(arguments=arguments, door=door):
            return replace(_undone(step), arguments=arguments, edited=door)
        case ev.CallCancelled(reason=reason):
            state = step.state if step.state in ("running", "done") else "refused"
            return replace(step, cancelled=True, cancel_reason=reason, state=state)
        case ev.CallRetried():
            return replace(_undone(step), cancelled=False, retries=step.retries + 1)
        case ev.FileChanged(change=change):
            return replace(step, edits=(*step.edits, Edit(change, event.seq)))
        case ev.ChangesLanded(landing=landing):
            return replace(step, landing=landing)
        case ev.EgressUsed():
            return replace(step, egress=(*step.egress, body))
        case ev.ReadingReplied(spend=spend):
            return _counted(step, spend)
        case _:
            return _asked(step, event, body)


def _asked(step: StepItem, event: ev.Event, body: ev.Body) -> StepItem:
    """The step after a question about it, or an answer."""
    match body:
        case ev.ApprovalRequested():
            return replace(step, question=Question(body, event.ts_ms), state="asking")
        case ev.ApprovalGiven(door=door):
            answer, state = {"status": "given", "door": door}, "approved"
        case ev.ApprovalDenied(door=door, reason=reason):
            answer, state = {"status": "denied", "door": door, "why": reason}, "refused"
        case ev.ApprovalLapsed(why=why):
            answer, state = {"status": "lapsed", "why": why}, "new" if why == "changed" else "lapsed"
        case _:
            raise AssertionError(f"{type(body).__name__} is about no call")
    question = step.question and replace(step.question, **answer)
    return replace(step, question=question, state=state if step.state == "asking" else step.state)


def _also_undone(body: ev.Body, find: Find) -> list[Item]:
    """Steps that change with an event that also has a line of its own."""
    match body:
        case ev.EditUndone(key=key, path=path, again=again) if isinstance(step := find(key), StepItem):
            edits = tuple(replace(edit, undone=not again) if edit.change.path == path else edit for edit in step.edits)
            return [replace(step, edits=edits)]
        case ev.ReadingFailed(key=key, spend=spend) if isinstance(step := find(key), StepItem):
            return [_counted(step, spend)]
        case _:
            return []


def _counted(step: StepItem, spend: ev.Spend) -> StepItem:
    read = step.read
    cost = ReadingCost(read.requests + 1, read.tokens + spend.tokens, read.usd_micros + spend.usd_micros)
    return replace(step, read=cost)


def _dropped(keys: tuple[CallKey, ...], find: Find) -> list[Item]:
    steps = [find(key) for key in keys]
    return [replace(step, state="dropped") for step in steps if isinstance(step, StepItem) and step.state != "done"]


def _undone(step: StepItem) -> StepItem:
    """A step whose call is to be judged, and run, again."""
    return replace(step, state="new", finished=None, landing=None)
