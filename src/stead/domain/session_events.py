"""Facts of a session: how it was opened, its turns, its files and their checkpoints, its queue of calls, its context.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.agents import Parent
from stead.domain.checkpoints import FileChange, LeftOut, Version
from stead.domain.checks import Check, RunFacts
from stead.domain.ends import End
from stead.domain.ids import CallKey, CheckpointId, SessionId, WorkspaceId
from stead.domain.messages import Attachment, Message, UserMessage
from stead.domain.objectives import Budget, Contract, Limits, ModelRef, PlanStep
from stead.domain.policies import Confidentiality, Label, Profile, Rule
from stead.domain.providers import Effort
from stead.domain.schedules import Scheduled
from stead.domain.secrets import Secret
from stead.domain.trials import WorkMode
from stead.domain.trust import Tier


class SessionOpened(msgspec.Struct, frozen=True, tag="session.opened", omit_defaults=True):
    """A person opened a session in a folder: interactive, or with a contract an objective that runs by itself."""

    workspace: WorkspaceId
    title: str
    directory: str
    """Absolute real path of the folder that the machine shows as the workspace."""
    tools: tuple[str, ...]
    """Names of the tools that may be offered; empty means every tool."""
    chain: tuple[ModelRef, ...]
    """Default model first, then its fallbacks; never empty."""
    budget: Budget
    limits: Limits
    """Of each turn; of the whole run of an objective."""
    profile: Profile
    instructions: str
    """The whole system text, as composed at the opening; kept so that every request repeats it byte for byte."""
    contract: Contract | None = None
    """Of an objective; none in an interactive session, which is idle until the person says something."""
    constraints: tuple[str, ...] = ()
    """What the result must keep, in the person's words; an interactive session has them as the fork of an objective."""
    hosts: tuple[str, ...] = ()
    """Patterns of hosts that every command may reach, in addition to those that are allowed in the folder."""
    secrets: tuple[Secret, ...] = ()
    """Those that the model may use, as they were at the opening; values are in no event."""
    mode: WorkMode = "workspace"
    ignore: tuple[str, ...] = ()
    """Patterns as in .gitignore of what checkpoints leave out, in addition to what they always do."""
    checks: tuple[Check, ...] = ()
    """The person's, of an objective; what becomes of them is in ``checks.set``."""
    second_opinion: bool = False
    """Another look at the record at its end; see ``domain.opinions``."""
    rules: tuple[Rule, ...] | None = None
    """What of the constraints the guardian keeps; none in sessions that were opened before this was recorded."""
    channel: str = ""
    """The channel that it talks in, in which others may read along; "" at the person's own doors."""
    unpriced: tuple[str, ...] = ()
    """Models of the chain, as PROVIDER/MODEL, whose price was not known: no limit in money counts them."""
    effort: Effort = ""
    """How hard its models are to think, in place of what is set for each."""
    attachments: tuple[Attachment, ...] = ()
    """Pictures and documents that go with the goal."""
    parent: Parent | None = None
    """Of a subagent: the session whose model started it, so that its goal is no person's words."""
    scheduled: Scheduled | None = None
    """What opened it, where no person did."""
    door: str = ""
    """That it was opened through, as "cli" or "schedule:NAME"; "" of subagents, and where it was not yet recorded."""

    @property
    def interactive(self) -> bool:
        """Whether a person works in it turn by turn; an objective runs by itself."""
        return self.contract is None


class RulesFile(msgspec.Struct, frozen=True):
    """A file in which a project tells agents about itself.

    Args:
        path: relative to the folder.
        text: its beginning; "" when it is left out.
        sha256: of that text; "" when it is left out.
        cut: it is longer than what is kept of it.
        left_out: why it is not in the prompt; "" when it is.
    """

    path: str
    text: str
    sha256: str
    cut: bool = False
    left_out: str = ""


class ProjectRulesRead(msgspec.Struct, frozen=True, tag="rules.read"):
    """The rules files of a project. They go into the prompt as data, and permit nothing."""

    files: tuple[RulesFile, ...]
    label: Label


class Action(msgspec.Struct, frozen=True):
    """A finished call: what evidence is looked for in."""

    tool: str
    arguments: str
    outcome: Literal["ok", "error", "denied", "unknown", "cancelled"]
    changed: tuple[str, ...] = ()
    """As ``ToolFinished`` has them."""
    removed: tuple[str, ...] = ()
    effect: str = ""
    exit_code: int | None = None
    reached: tuple[str, ...] = ()


class Carried(msgspec.Struct, frozen=True, omit_defaults=True):
    """A conversation at a moment, as another place of the record goes on from it. Permissions are not carried."""

    messages: tuple[Message, ...]
    trimmed: int = 0
    words: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    held: Confidentiality = Confidentiality.PUBLIC
    entities: dict[str, dict[str, str]] = {}
    actions: tuple[Action, ...] = ()
    plan: tuple[PlanStep, ...] = ()
    rules: dict[str, str] = {}
    requests: int = 0
    """How many there were; calls are keyed by them, and no later one may have the key of one in ``messages``."""
    strayed: bool = False
    """It had read something private that no plan named, after something untrusted."""
    stained: tuple[str, ...] = ()
    """Stores that it had changed after something untrusted."""


class ConversationSet(msgspec.Struct, frozen=True, tag="conversation.set"):
    """The conversation goes on from an earlier moment: of this session (a restore) or of another one (a fork).

    Args:
        source: whose conversation it was.
        at: after which event (``session_seq``) of it.
        carried: what it was.
    """

    source: SessionId
    at: int
    carried: Carried


class CheckpointTaken(msgspec.Struct, frozen=True, tag="checkpoint.taken"):
    """The folder was kept as it was, and the place in the conversation that goes with it.

    Args:
        id: as ``CheckpointId``.
        turn: before whose changes.
        at: the last event (``session_seq``) of the conversation that belongs to it.
        why: before a turn's first change, at the person's word, or before a restore.
        root: names the tree; see ``domain.checkpoints``.
        files: how many it has.
        size_bytes: of them all.
        changed: entries that differ from the tree before.
        stored_bytes: that the store grew by.
        left_out: the first of what is not kept.
        left_out_count: of them all.
        duration_ms: that it took.
        note: the person's, or "".
    """

    id: CheckpointId
    turn: int
    at: int
    why: Literal["turn", "person", "restore", "fork"]
    root: str
    files: int
    size_bytes: int
    changed: int
    stored_bytes: int
    left_out: tuple[LeftOut, ...]
    left_out_count: int
    duration_ms: int
    note: str = ""


class CheckpointFailed(msgspec.Struct, frozen=True, tag="checkpoint.failed"):
    """The folder could not be kept; what the turn edits by file is kept one by one all the same."""

    turn: int
    why: str


class CheckpointRestored(msgspec.Struct, frozen=True, tag="checkpoint.restored"):
    """The person went back to a checkpoint, in whole or in part.

    Args:
        id: which.
        before: the checkpoint of how things were, which undoes this.
        files: whether files were put back; ``changed``, ``paths`` and ``failed`` say which.
        conversation: whether the conversation was.
        door: where it was said.
    """

    id: CheckpointId
    before: CheckpointId
    files: bool
    conversation: bool
    changed: int
    paths: tuple[str, ...]
    failed: tuple[LeftOut, ...]
    door: str


class FileChanged(msgspec.Struct, frozen=True, tag="file.changed"):
    """A call changed a file that its arguments name. Both versions are kept, so that it can be undone."""

    key: CallKey
    before: Version
    after: Version
    change: FileChange


class EditUndone(msgspec.Struct, frozen=True, tag="edit.undone"):
    """The person put a file back to what it was before a call changed it, or (``again``) had the change back."""

    key: CallKey
    path: str
    again: bool
    door: str


class CallEdited(msgspec.Struct, frozen=True, tag="call.edited"):
    """The person put other arguments into a call that had not run; they are the person's, and so is the call."""

    key: CallKey
    tool: str
    arguments: str
    door: str


class CallCancelled(msgspec.Struct, frozen=True, tag="call.cancelled"):
    """The person took one call out of the queue, or had it stopped while it ran."""

    key: CallKey
    tool: str
    reason: str
    door: str


class CallRetried(msgspec.Struct, frozen=True, tag="call.retried"):
    """The person has a finished call run again, before the model gets its result."""

    key: CallKey
    tool: str
    door: str


class TurnEnded(msgspec.Struct, frozen=True, tag="turn.ended"):
    """A turn ended; the session is idle until the person says something.

    Args:
        turn: from 1.
        reason: "done", or the limit or fault that ended it, as of ``ObjectiveEnded``.
        summary: the model's last words or why it ended, cleaned for people.
        changes: the first hundred paths that differ from before the turn, by any hand; without diffs.
        changed: how many there are; -1 when the folder could not be compared.
    """

    turn: int
    reason: str
    summary: str
    changes: tuple[FileChange, ...] = ()
    changed: int = 0
    status: End | Literal[""] = ""
    """As of ``ObjectiveEnded``; a turn has no checks. "" before there was one."""
    facts: RunFacts = RunFacts()


class SessionClosed(msgspec.Struct, frozen=True, tag="session.closed"):
    """The person is done with it for now; the next message opens it again."""

    door: str


class ModelSwitched(msgspec.Struct, frozen=True, tag="model.switched"):
    """The person chose other models, or another effort, for the requests from here on."""

    chain: tuple[ModelRef, ...]
    effort: Effort
    unpriced: tuple[str, ...]
    """As ``SessionOpened`` has it."""
    door: str


class ProfileSet(msgspec.Struct, frozen=True, tag="profile.set"):
    """The person chose another strictness for the calls that are judged from here on."""

    profile: Profile
    door: str


class TierSet(msgspec.Struct, frozen=True, tag="tier.set"):
    """From the next request on the model is led by this tier. A session begins with "normal".

    Recorded before a request that begins otherwise than the one before it anyway (the first, one after a compaction),
    or that goes to a model that the person has just chosen. The tools that are offered change only with the former.
    """

    model: ModelRef
    tier: Tier
    by: Literal["person", "measured", "default"]


class SessionLabelled(msgspec.Struct, frozen=True, tag="session.labelled", omit_defaults=True):
    """The person named or tagged it, put it into the archive or the trash or took it out; None stays as it is."""

    door: str
    title: str | None = None
    tags: tuple[str, ...] | None = None
    archived: bool | None = None
    trashed: bool | None = None


IntentKind = Literal[
    "status",
    "stop",
    "stop_all",
    "pause",
    "resume",
    "approve",
    "deny",
    "sessions",
    "objectives",
    "remember",
    "schedules",
    "schedule",
    "schedule_on",
    "schedule_off",
]


class IntentAnswered(msgspec.Struct, frozen=True, tag="intent.answered"):
    """The person typed something that needs no model (``brain.intents``); Stead did it and answered. No model reads it.

    ``words``: as typed; ``answer``: Stead's own, plain text.
    """

    door: str
    intent: IntentKind
    words: str
    answer: str


class MessageChanged(msgspec.Struct, frozen=True, tag="message.changed"):
    """The person put other words in place of a message that no model had read, or with "" withdrew it.

    ``message`` is the ``session_seq`` of its event, which keeps the old words.
    """

    message: int
    text: str
    door: str


class GoalChanged(msgspec.Struct, frozen=True, tag="goal.changed"):
    """The person changed an objective's goal; the event of before keeps the old one."""

    goal: str
    door: str


class BudgetRaised(msgspec.Struct, frozen=True, tag="budget.raised"):
    """The session may spend this much in all from now on."""

    budget: Budget
    door: str


class ContextTrimmed(msgspec.Struct, frozen=True, tag="context.trimmed"):
    """Older results and long arguments are replaced by a constant in requests; the record keeps them.

    Args:
        upto: the first message that is sent whole.
        tokens_before: estimate of the next request without it.
        window_tokens: of the model.
        counted_percent: what Stead's upper bound of a request comes to as the provider counts; 0 when nobody knew.
    """

    upto: int
    tokens_before: int
    window_tokens: int
    counted_percent: int = 0


class ContextCompacted(msgspec.Struct, frozen=True, tag="context.compacted"):
    """A summary replaces older messages in requests; the record keeps them.

    Args:
        upto: the first message that is still sent.
        head: what takes their place.
        ingested: the last event of the session that the history can be searched for; nothing before the cut is past it.
        counted_percent: see ``ContextTrimmed``.
    """

    upto: int
    head: tuple[UserMessage, ...]
    ingested: int
    counted_percent: int = 0


class InstructionsSet(msgspec.Struct, frozen=True, tag="instructions.set"):
    """The person's directives had changed: every request from the next one on begins with these instructions.

    ``text`` is the whole of them, as of ``SessionOpened``. Recorded only when it differs from what there was.
    """

    text: str


WorkBody = (
    ProjectRulesRead
    | ConversationSet
    | CheckpointTaken
    | CheckpointFailed
    | CheckpointRestored
    | FileChanged
    | EditUndone
    | TurnEnded
    | SessionClosed
    | SessionLabelled
    | IntentAnswered
    | MessageChanged
    | BudgetRaised
    | ModelSwitched
    | ProfileSet
    | TierSet
    | ContextTrimmed
    | ContextCompacted
    | InstructionsSet
)
"""What changes a session's files, turns or context."""


class CallDelegated(msgspec.Struct, frozen=True, tag="call.delegated"):
    """An external agent asks leave for something, which is judged as a call of Stead's own would be.

    Args:
        key: of this request, as if it were a call.
        parent: the call that handed the agent its task.
        agent: who asks.
        tool: of Stead's, that would do the same.
        arguments: of such a call.
        title: the agent's own words for it.
    """

    key: CallKey
    parent: CallKey
    agent: str
    tool: str
    arguments: str
    title: str


class CallAnswered(msgspec.Struct, frozen=True, tag="call.answered"):
    """The agent's answer. ``given``: it may do it itself, in its machine, this once; ``why`` is for people."""

    key: CallKey
    given: bool
    why: str


QueueBody = CallDelegated | CallAnswered | CallEdited | CallCancelled | CallRetried
SessionBody = SessionOpened | WorkBody | QueueBody | GoalChanged
"""In the order in which docs/generated lists them."""
