"""The timeline of a session: what people read of it, as typed items. Every door renders these and folds no events.

Layer: domain. ``domain.timeline_fold`` makes items of events. An item keeps its ``id`` and its ``place`` for ever; what
happens later may change the rest of it, so a reader replaces an item that it has by one of the same ``place``.
Times are milliseconds since 1970 (0 for not yet), money is millionths of a dollar.
"""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec

from stead.domain import events as ev
from stead.domain.approval_events import ApprovalRequested
from stead.domain.checkpoints import FileChange
from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.machine_events import EgressUsed
from stead.domain.messages import Repair, Usage
from stead.domain.objectives import ModelRef, PlanStep, Spend
from stead.domain.rows import ObjectiveRow, StepRow
from stead.domain.trials import Landing

ERROR_CHARS = 300
"""Of an outcome that a step shows as its error; the whole text is its output."""
SHAPE = "4"
"""Raised when the stored form of an item or a row changes: read models are made again from the journal."""

StepState = Literal["new", "asking", "approved", "refused", "lapsed", "running", "done", "dropped"]
"""``dropped``: the turn was over, or the conversation went on from elsewhere, before it came to this call."""


class Placed(msgspec.Struct, frozen=True, tag_field="kind"):
    """What every item has.

    Args:
        id: its own for ever; a step's is the key of its call.
        place: among the session's items, from 0 without gaps.
        seq: of the event that brought it.
        ts_ms: of that event.
        turn: 0 in an objective.
    """

    id: str
    place: int
    seq: int
    ts_ms: int
    turn: int


class OpenedItem(Placed, frozen=True, tag="opened"):
    """The first fact: who asked for what, in which folder and under which limits; without the instructions."""

    body: ev.SessionOpened


class MessageItem(Placed, frozen=True, tag="message"):
    """Words for the session."""

    body: ev.MessageReceived


class ReplyItem(Placed, frozen=True, tag="reply"):
    """What a model said and thought in one reply; its calls follow as steps.

    Args:
        number: of the request.
        step: its own place among the steps, 0 if it has calls.
    """

    number: RequestNo
    text: str
    thinking: str
    calls: int
    step: int
    stop: Literal["stop", "length", "tool_call", "content_filter"]
    model: ModelRef
    usage: Usage
    spend: Spend
    attempts: tuple[str, ...]
    duration_ms: int
    repaired: tuple[Repair, ...] = ()


class Question(msgspec.Struct, frozen=True):
    """The question about a call, and what became of it. ``why``: the reason for a no, or why the question is void."""

    asked: ApprovalRequested
    ts_ms: int
    status: Literal["pending", "given", "denied", "lapsed"] = "pending"
    door: str = ""
    why: str = ""


class Edit(msgspec.Struct, frozen=True):
    """A file that the call changed, and whether the person undid it. ``seq``: of the event."""

    change: FileChange
    seq: int
    undone: bool = False


class ReadingCost(msgspec.Struct, frozen=True):
    """What readings for a call cost."""

    requests: int = 0
    tokens: int = 0
    usd_micros: int = 0


class StepItem(Placed, frozen=True, tag="step"):
    """One call, from the model's wish to its outcome.

    Args:
        index: its place among the steps, from 1.
        arguments: the text of a JSON object, unless the model got that wrong.
        reasoning: what the model said with it.
        edited: the door through which the person put in other arguments; "" for the model's own.
        retries: how often the person had it run again.
        landing: what became of the changes that it made; nothing where it made none.
    """

    index: int
    key: CallKey
    tool: str
    arguments: str
    reasoning: str
    tokens_in: int = 0
    tokens_out: int = 0
    usd_micros: int = 0
    state: StepState = "new"
    judged: ev.CallJudged | None = None
    question: Question | None = None
    started_ms: int = 0
    finished: ev.ToolFinished | None = None
    edited: str = ""
    cancelled: bool = False
    cancel_reason: str = ""
    retries: int = 0
    edits: tuple[Edit, ...] = ()
    egress: tuple[EgressUsed, ...] = ()
    landing: Landing | None = None
    read: ReadingCost = ReadingCost()


class FailedItem(Placed, frozen=True, tag="failed"):
    """A request that brought nothing usable."""

    body: ev.ModelFailed


class PlanItem(Placed, frozen=True, tag="plan"):
    """The plan as it stands from here on. ``before``: the one that it replaces."""

    body: ev.PlanMade
    before: tuple[PlanStep, ...]


class CarriedItem(Placed, frozen=True, tag="carried"):
    """The conversation goes on from event ``at`` of ``source``, with so many messages."""

    source: SessionId
    at: int
    messages: int


class LineItem(Placed, frozen=True, tag="line"):
    """Anything else that happened: one event, shown in a line or two; long texts that are not shown are left out."""

    body: ev.Body


Item = OpenedItem | MessageItem | ReplyItem | StepItem | FailedItem | PlanItem | CarriedItem | LineItem


class OpenRequest(msgspec.Struct, frozen=True):
    """The request that waits for its reply. ``reading``: on behalf of a call, and its words are not shown."""

    number: RequestNo
    since_ms: int
    reading: bool


_Items = TypeVar("_Items")


class Timeline(msgspec.Struct, Generic[_Items], frozen=True):
    """Items that are new or changed since a place in the journal, and how the session stands.

    Args:
        items: ``Item``s, maybe encoded, in the order of their last change; each replaces one of the same ``place``.
        seq: everything up to this event of the journal is in it; ask for what comes after.
        more: there are further changes up to now.
        row: as the list has it, without the goal.
        request: what waits for a reply.
        replied: the last request whose reply is in it; pieces of the text of this and earlier ones are late.
    """

    items: tuple[_Items, ...]
    seq: int
    more: bool
    row: ObjectiveRow
    request: OpenRequest | None
    replied: int


class TimelinePage(Timeline[Item], frozen=True):
    """As a door gives it."""


def step_row(session: SessionId, item: ReplyItem | StepItem) -> StepRow:
    """The row of a step, as lists have it: of a call, or of a reply without calls."""
    if isinstance(item, ReplyItem):
        return StepRow(
            session=session,
            index=item.step,
            ts_ms=item.ts_ms,
            reasoning=item.text.strip(),
            key=CallKey(""),
            tool="",
            input="",
            output="",
            verdict="",
            rule="",
            risk="",
            outcome="",
            tokens_in=item.usage.input,
            tokens_out=item.usage.output,
            usd_micros=item.spend.usd_micros,
            duration_ms=item.duration_ms,
            error="",
            turn=item.turn,
        )
    judged, finished = item.judged, item.finished
    return StepRow(
        session=session,
        index=item.index,
        ts_ms=item.ts_ms,
        reasoning=item.reasoning,
        key=item.key,
        tool=item.tool,
        input=item.arguments,
        output=finished.text if finished else "",
        verdict=judged.verdict if judged else "",
        rule=judged.reason.rule if judged else "",
        risk=judged.risk if judged else "",
        outcome=finished.outcome if finished else "",
        tokens_in=item.tokens_in,
        tokens_out=item.tokens_out,
        usd_micros=item.usd_micros,
        duration_ms=finished.duration_ms if finished else 0,
        error=error_of(item),
        warnings=finished.warnings if finished else (),
        turn=item.turn,
        edited=item.edited != "",
        cancelled=item.cancelled,
    )


def error_of(step: StepItem) -> str:
    """Why a step did not do what it should, on one line; "" when it did, or has not ended."""
    finished = step.finished
    if finished is None or finished.outcome == "ok":
        return ""
    return finished.text.strip().partition("\n")[0][:ERROR_CHARS] or finished.outcome
