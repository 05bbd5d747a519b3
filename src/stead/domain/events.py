"""Every fact that is recorded: the one tagged union.

Layer: domain. An event never changes its meaning: to change one, add ``<tag>`` with the next ``VERSIONS`` number and an
upcast in ``storage/codec.py``; each version keeps its golden file in ``tests/events/`` for ever. Fields get a default
only when they are added later. Times are milliseconds since 1970 (UTC), money is millionths of a US dollar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from stead.domain.agent_events import *
from stead.domain.approval_events import *
from stead.domain.check_events import *
from stead.domain.checks import Check, RunFacts
from stead.domain.directive_events import *
from stead.domain.ends import End
from stead.domain.errors import Code
from stead.domain.home_events import *
from stead.domain.ids import CallDigest, CallKey, CommandId, RequestNo, SessionId
from stead.domain.machine_events import *
from stead.domain.memory_events import *
from stead.domain.messages import Attachment, Repair, ReplyPart, Usage
from stead.domain.objectives import *
from stead.domain.opinions import Opinion
from stead.domain.policies import Entity, Label, Origin, PlannedCall, Reason, Risk
from stead.domain.reading_events import *
from stead.domain.session_events import *

# The events of other files are names of this one too, so that every fact is ``ev.`` and its name.


class MessageReceived(msgspec.Struct, frozen=True, tag="message.received"):
    """Words for the session, durable before they are acknowledged."""

    text: str
    door: str
    label: Label
    interrupts: bool = False
    """What was under way ends at the next safe point, and calls that have not begun do not run."""
    attachments: tuple[Attachment, ...] = ()
    material: str = ""
    """What it is that the person handed over with their words and did not write; "" for words."""


class NoticeGiven(msgspec.Struct, frozen=True, tag="notice.given"):
    """Stead tells the model something: an unmet goal, a planned delegation that was not made, a lost request."""

    text: str
    why: Literal["completion", "checks", "claim", "steer", "recovery", "compact", "files", "review"]


class PlanMade(msgspec.Struct, frozen=True, tag="plan.made"):
    """The whole plan as it now stands: by the model, by the person, or by Stead when the model made none."""

    steps: tuple[PlanStep, ...]
    by: Literal["model", "stead", "person"]
    calls: tuple[PlannedCall, ...] = ()
    """What the steps will do, as far as it is known. Only a plan that is made before anything untrusted was read
    grants these."""
    checks: tuple[Check, ...] = ()
    """How the model would have its work checked; they count in a plan from before its first effect."""


class ModelRequested(msgspec.Struct, frozen=True, tag="model.requested"):
    """Intent: the request was about to be sent. What it says follows from the events before it.

    Args:
        number: from 1; readings (``reading.requested``) in between are numbered along.
        prefix_sha256: of the canonical bytes of the request before this one; "" for the first.
        messages: how many messages it carries in all.
        max_output_tokens: the cap on the reply.
        reserved: taken from every budget before the request; an upper bound.
        trimmed: messages before this one are sent trimmed (``context.trimmed``).
    """

    number: RequestNo
    prefix_sha256: str
    messages: int
    max_output_tokens: int
    reserved: Spend
    trimmed: int = 0


class ModelReplied(msgspec.Struct, frozen=True, tag="model.replied"):
    """One whole reply with a stop reason."""

    number: RequestNo
    parts: tuple[ReplyPart, ...]
    stop: Literal["stop", "length", "tool_call", "content_filter"]
    model: ModelRef
    usage: Usage
    spend: Spend
    attempts: tuple[str, ...]
    """One line per failed try before this reply, oldest first."""
    duration_ms: int
    first_token_ms: int
    repaired: tuple[Repair, ...] = ()
    """Calls of it that were put right before anything looked at them."""


class ModelFailed(msgspec.Struct, frozen=True, tag="model.failed"):
    """The request brought no usable reply: no call of it runs, and no model reads it.

    ``spend`` is what is counted for it: nothing when it surely was not served, else the whole reservation.
    ``partial`` is the text that watchers had been shown by then, screened as replies are; for people alone.
    """

    number: RequestNo
    kind: str
    error: str
    attempts: tuple[str, ...]
    spend: Spend
    retry_after_ms: int
    partial: str = ""


class CallJudged(msgspec.Struct, frozen=True, tag="call.judged"):
    """The guardian's verdict on one call, before anything of it happens."""

    key: CallKey
    tool: str
    verdict: Literal["allow", "ask", "deny"]
    reason: Reason
    risk: Risk
    digest: CallDigest
    """Of what was judged; "" when the arguments did not even parse."""
    sources: tuple[str, ...] = ()
    """The untrusted sources that the session had read and the person does not trust."""
    origins: tuple[Origin, ...] = ()
    planned: int = -1
    """The planned call that this one uses up, by its place; -1 for none."""
    strays: bool = False
    """See ``Allow.strays``."""
    stains: tuple[str, ...] = ()
    """The stores that the call changes in a session that has read something untrusted."""
    home: int = 0
    """The last event (``session_seq``) of the home's stream that the verdict knew, so that it can be given again by the
    rules and hosts of that moment; 0 where that was not recorded."""
    files: Mapping[str, str] = {}
    """Fingerprints of the files that the call names, as they were; empty where the verdict did not depend on them."""


class ToolStarted(msgspec.Struct, frozen=True, tag="tool.started"):
    """Intent: the call was about to run. Without a ``ToolFinished`` after it, the outcome is unknown."""

    key: CallKey
    tool: str
    arguments: str
    """Canonical JSON of what ran."""
    digest: CallDigest
    idempotent: bool


class ToolReopened(msgspec.Struct, frozen=True, tag="tool.reopened"):
    """A call was cut off by a crash, and running it twice is the same as once: it will be judged and run again."""

    key: CallKey
    tool: str


class ToolFinished(msgspec.Struct, frozen=True, tag="tool.finished"):
    """The one outcome of a call; ``text`` is what the model reads.

    ``denied``: never ran. ``unknown``: it started, and a crash hid what became of it. ``cancelled``: stopped half-way.
    """

    key: CallKey
    tool: str
    outcome: Literal["ok", "error", "denied", "unknown", "cancelled"]
    text: str
    label: Label
    size_bytes: int
    duration_ms: int
    source: str = ""
    """What the text came from, as ``workspace`` or ``web:example.com``; "" for Stead itself."""
    entities: tuple[Entity, ...] = ()
    """What the ids in the text are called."""
    warnings: tuple[Reason, ...] = ()
    """What was hidden or odd in the text, for the person; no rule decides by it."""
    changed: tuple[str, ...] = ()
    """Of the files that a command or the goal names, those that the command was seen to write."""
    removed: tuple[str, ...] = ()
    """Those that were gone after it."""
    effect: str = ""
    """Which ``ToolEffect`` the call had; "" for one that never ran."""
    exit_code: int | None = None
    """Of a command that ended."""
    reached: tuple[str, ...] = ()
    """The hosts that the call's own requests reached."""
    attachments: tuple[Attachment, ...] = ()
    """What the model is shown with the text, under the same label."""


class SessionPaused(msgspec.Struct, frozen=True, tag="session.paused"):
    """Nothing further starts until it is resumed. What was under way is finished and recorded.

    Args:
        why: cause and next step, for the terminal.
        fault: what kind of fault paused it, so that a page can offer what helps; "" for a person.
    """

    why: str
    fault: Code | Literal[""] = ""


class SessionResumed(msgspec.Struct, frozen=True, tag="session.resumed"):
    """It goes on from its last recorded step.

    Args:
        again: a turn that ended before the model had answered is taken up again, as the next one.
    """

    again: bool = False


class SessionStopped(msgspec.Struct, frozen=True, tag="session.stopped"):
    """STOP: out of band, its processes were killed and its requests cut off. It stays paused."""

    surface: str
    why: str


class ObjectiveEnded(msgspec.Struct, frozen=True, tag="objective.ended"):
    """The end state; the person's answer to a check can bring another one after it.

    ``reason`` is one of done, confirm (a check waits for the person), checks, plan, budget, context, iterations, stall,
    repetition, wall_time, model, cancelled; before version 2 also evidence, unmet, denied. ``summary`` is what the
    model says, or Stead where it was stopped; ``facts`` are what the record holds; ``opinion`` is a second model's.
    """

    status: End
    reason: str
    summary: str
    facts: RunFacts = RunFacts()
    opinion: Opinion | None = None


class ObjectiveRetried(msgspec.Struct, frozen=True, tag="objective.retried"):
    """It runs again, with what it knows, under fresh counters and this budget on top of what is spent.

    ``limits``: others than it had before; None leaves them.
    """

    budget: Budget
    limits: Limits | None = None


class SessionDeleted(msgspec.Struct, frozen=True, tag="session.deleted"):
    """The person deleted it: the payloads of its earlier events are erased, their commitments stay in the chain."""


Body = (
    MessageReceived
    | NoticeGiven
    | PlanMade
    | ModelRequested
    | ModelReplied
    | ModelFailed
    | CallJudged
    | ApprovalBody
    | CheckBody
    | ToolStarted
    | ToolReopened
    | ToolFinished
    | SessionPaused
    | SessionResumed
    | SessionStopped
    | ObjectiveEnded
    | ObjectiveRetried
    | SessionDeleted
    | SessionBody
    | ReadingBody
    | AgentBody
    | MachineBody
    | MemoryBody
    | HomeBody
)

VERSIONS: dict[str, int] = {"session.opened": 3, "objective.ended": 2, "rule.made": 2}
"""Tags whose current version is past 1."""
RETIRED: dict[str, str] = {"objective.created": "session.opened"}
"""Tags that are written no more, each with the one that its versions go on in."""


class Draft(msgspec.Struct, frozen=True):
    """An event on its way into the journal, which gives it its place.

    Args:
        session: the stream.
        session_seq: its place in the stream, from 1 without gaps; a taken place means another runner (``Fenced``).
        ts_ms: when, by the clock of the process that records it.
        actor: ``person``, ``model``, ``stead``.
        cause: the command that led to it, or "" for none.
    """

    session: SessionId
    session_seq: int
    ts_ms: int
    actor: Literal["person", "model", "stead"]
    cause: CommandId
    body: Body


class Event(msgspec.Struct, frozen=True):
    """An event in the journal. ``seq`` is global, rising, and may have gaps to a reader of one stream."""

    seq: int
    session: SessionId
    session_seq: int
    ts_ms: int
    actor: Literal["person", "model", "stead"]
    cause: CommandId
    body: Body


class Erased(msgspec.Struct, frozen=True):
    """An event whose payload was erased on purpose. Folds skip it; the hash chain still covers it."""

    seq: int
    session: SessionId
    session_seq: int
    ts_ms: int
    tag: str
