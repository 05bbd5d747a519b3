"""Rows of the read models, as doors show them.

Layer: domain. They are rebuilt from the journal at any time; nothing decides by them. Times are milliseconds since 1970
(0 for not yet), money is millionths of a dollar.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.checks import CheckItem, RunFacts
from stead.domain.ends import End
from stead.domain.errors import Code
from stead.domain.events import Budget, ModelRef, PlanStep, Spend
from stead.domain.ids import ApprovalId, CallDigest, CallKey, SessionId
from stead.domain.opinions import Opinion
from stead.domain.policies import Origin, Reason
from stead.domain.secrets import Binding
from stead.domain.trials import Review

ObjectiveStatus = Literal["pending", "running", "waiting", "paused", End, "idle", "closed"]
"""The last two are of interactive sessions: between turns, and closed."""
Kind = Literal["objective", "session"]
"""The mode of a session: an objective, or interactive (``session``, the word of the API)."""


class CheckRow(msgspec.Struct, frozen=True):
    """An acceptance check of an objective, and what it came to.

    Args:
        item: the check.
        words: the same in a sentence.
        before: whether it held before the work, so that it proves nothing; None where nobody could tell.
        holds: whether it holds, as last judged; None where it was not, or could not be.
        detail: why not.
        touched: what it runs and the work changed; see ``checks.touched_by``.
    """

    item: CheckItem
    words: str
    before: bool | None = None
    holds: bool | None = None
    detail: str = ""
    touched: tuple[str, ...] = ()


class ObjectiveRow(msgspec.Struct, frozen=True):
    """One session: an objective, or an interactive one. ``waiting`` means for an answer.

    ``pending_approvals`` are its own questions and those of all subagents below it; while there is one, it is waiting.

    ``reason`` and ``summary`` are "" until it ends or pauses; of an idle session they are its last turn's.
    ``iterations`` are those of the turn under way. An interactive session has no goal, and never ends.
    """

    id: SessionId
    title: str
    goal: str
    constraints: tuple[str, ...]
    status: ObjectiveStatus
    reason: str
    summary: str
    directory: str
    chain: tuple[ModelRef, ...]
    budget: Budget
    tokens_used: int
    tokens_reserved: int
    usd_micros_used: int
    price_known: bool
    iterations: int
    plan: tuple[PlanStep, ...]
    pending_approvals: int
    created_ms: int
    updated_ms: int
    ended_ms: int
    kind: Kind = "objective"
    turns: int = 0
    """Of a session, the one under way included."""
    review: Review = Review()
    """What of its changes waits for the person."""
    checks: tuple[CheckRow, ...] = ()
    facts: RunFacts = RunFacts()
    """What the record holds of the run that ended, or of the last turn."""
    opinion: Opinion | None = None
    """A second model's, of the run that ended."""
    tags: tuple[str, ...] = ()
    archived: bool = False
    """Lists leave it out unless they are asked for it."""
    trashed_ms: int = 0
    """When it was put into the trash, out of which it can be taken for 30 days; 0 where it is not there."""
    guarded: tuple[str, ...] = ()
    """Of the constraints, those that the guardian keeps; the others are only asked of the model."""
    fault: Code | Literal[""] = ""
    """What kind of fault paused it last; "" for a person."""
    parent: SessionId = SessionId("")
    """Of a subagent: the session that started it, whose figures include its own once it has ended."""
    specialist: str = ""
    """The kind of a subagent."""
    schedule: str = ""
    """The one that opened it."""
    agents: int = 0
    """Its own subagents that are under way."""


class Wanted(msgspec.Struct, frozen=True):
    """Which sessions of a list are wanted; what is "" or 0 does not count.

    Args:
        status: one of them.
        directory: this folder.
        tag: those that have it.
        since_ms: opened then or later.
        until_ms: opened before or then.
        archived: "no" leaves out those in the archive, "yes" the others, both those in the trash; "trash" has those
            alone, "any" all.
        below: the subagents below this session, in place of all that are none.
    """

    status: ObjectiveStatus | Literal[""] = ""
    directory: str = ""
    tag: str = ""
    since_ms: int = 0
    until_ms: int = 0
    archived: Literal["no", "yes", "trash", "any"] = "no"
    below: SessionId = SessionId("")


class StepRow(msgspec.Struct, frozen=True):
    """One step: a tool call, or a reply without one (``tool`` is ""). Tokens are its request's, on the first step."""

    session: SessionId
    index: int
    ts_ms: int
    reasoning: str
    key: CallKey
    tool: str
    input: str
    output: str
    verdict: str
    rule: str
    risk: str
    outcome: str
    tokens_in: int
    tokens_out: int
    usd_micros: int
    duration_ms: int
    error: str
    warnings: tuple[Reason, ...] = ()
    """What was hidden or odd in the output."""
    turn: int = 0
    """Of an interactive session."""
    edited: bool = False
    """The person put other arguments in; ``input`` shows theirs."""
    cancelled: bool = False
    """The person wanted it stopped."""


class ApprovalRow(msgspec.Struct, frozen=True):
    """One question to the person, with everything needed to answer it."""

    id: ApprovalId
    session: SessionId
    title: str
    directory: str
    key: CallKey
    tool: str
    arguments: str
    digest: CallDigest
    level: str
    rule: str
    reason: str
    risk: str
    status: Literal["pending", "given", "denied", "lapsed"]
    door: str
    requested_ms: int
    expires_at_ms: int
    shape: str = ""
    """Which calls a lasting yes would cover; "" when it can only be allowed once."""
    sources: tuple[str, ...] = ()
    """The untrusted sources behind it, which the answer "trust" would trust for the rest of the objective."""
    origins: tuple[Origin, ...] = ()
    """Where the arguments that say what is acted on came from."""
    bound: str = ""
    """What a lasting yes is bound to, and then it is for this session alone; "" for nothing."""
    answered_ms: int = 0
    """When it was answered or lapsed; 0 while it waits."""


UsageBy = Literal["model", "session", "objective", "schedule", "channel", "door"]
"""What usage is added up by, besides models. An objective (or session) counts with all subagents below it."""
UsagePer = Literal["hour", "day", "month", "all"]


class ChannelCaps(msgspec.Struct, frozen=True):
    """What the sessions of a channel's chats, or of one chat, together may spend, and what they have spent.

    Args:
        channel: as of ``SetCap``.
        name: the channel's, or the chat's; "" where it is gone.
    """

    channel: str
    name: str
    daily: Budget
    monthly: Budget
    spent_today: Spend
    spent_month: Spend


class UsageRow(msgspec.Struct, frozen=True):
    """What one model used in a while, of one session, schedule or door where it was asked for by these.

    Args:
        day: of the person's (``YYYY-MM-DD``), or its hour (``YYYY-MM-DD HH:00``; the day alone where no hour is known),
            or the month (``YYYY-MM``); per "all" the last day.
        key: the session, the name of the schedule, the channel or the door; "" for what has none.
        timed: how many replies ``duration_ms`` is of; of older ones none is known.
        title: what people call the chat that a door is; "" for any other.
    """

    day: str
    provider: str
    model: str
    requests: int
    failed: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    usd_micros: int
    price_known: bool
    key: str = ""
    timed: int = 0
    duration_ms: int = 0
    title: str = ""


class SearchRow(msgspec.Struct, frozen=True):
    """One hit in the history: where it is, and the text around it with the match between « and ».

    ``excerpt`` has whole lines where they were asked for, each cut to 300 characters.
    """

    seq: int
    session: SessionId
    ts_ms: int
    type: str
    excerpt: str


class HistoryRow(msgspec.Struct, frozen=True):
    """Something that was said or done, as a model reads it.

    Args:
        seq: of its event.
        session: whose.
        ts_ms: when.
        by: "goal", "person", "model", or a tool's name with its outcome, like "read: ok".
        text: around the words that were looked for, these between « and »; or the whole of it.
    """

    seq: int
    session: SessionId
    ts_ms: int
    by: str
    text: str


class OpenRunRow(msgspec.Struct, frozen=True):
    """An objective that has not ended, or a session at work: what it is at, since when, and what it has cost."""

    session: SessionId
    since_ms: int
    what: str
    title: str
    kind: Kind
    usd_micros: int
    price_known: bool


class SecretRow(msgspec.Struct, frozen=True):
    """One secret without its value. ``used_ms`` is 0 and ``used_at`` "" until the value was let out."""

    name: str
    version: int
    placeholder: str
    bindings: tuple[Binding, ...]
    added_ms: int
    used_ms: int
    used_at: str
