"""Every request that a door may make. A door parses its wire into one of these; ``runtime`` carries it out.

Layer: domain. Each comes with a ``CommandId`` (the ``Idempotency-Key``): the same id and the same command again gives
the first answer and changes nothing; the same id with another command is a ``Conflict``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.bounds import AnyFolder, Share, Text, bounds
from stead.domain.channels import ChannelCommand
from stead.domain.checks import Check
from stead.domain.devices import DeviceCommand
from stead.domain.directive_commands import DirectiveCommand
from stead.domain.events import Budget, Limits, PlanStep
from stead.domain.external_agents import AgentCommand
from stead.domain.forget_commands import Forget
from stead.domain.ids import ApprovalId, CallDigest, CallKey, CheckpointId, CommandId, SessionId
from stead.domain.label_commands import *
from stead.domain.mcp_commands import McpCommand
from stead.domain.memory_commands import MemoryCommand
from stead.domain.messages import Material
from stead.domain.notifications import TargetCommand
from stead.domain.opening import *
from stead.domain.policies import Rule
from stead.domain.profiles import ProfileCommand
from stead.domain.provider_commands import *
from stead.domain.schedules import ScheduleCommand
from stead.domain.search import Engine
from stead.domain.secrets import Binding
from stead.domain.settings_file import ApplySettings
from stead.domain.terminal_commands import *
from stead.domain.trials import Choice

GOAL_LIMIT_BYTES = 1_000_000
"""A goal of this size in UTF-8 or more is refused; put long material into a file of the workspace."""

DEFAULT_BUDGET = Budget(tokens=400_000, usd_micros=5_000_000)
"""Of an objective."""
SESSION_BUDGET = Budget(tokens=20_000_000, usd_micros=5_000_000)
"""Of an interactive session: each request of a long conversation counts whole, although most is cached."""


class SendMessage(msgspec.Struct, frozen=True, tag="session.message", forbid_unknown_fields=True):
    """Say something. It begins a turn, or is read before the next request of the one under way.

    An interactive session starts a turn, resumes if it was paused, and opens again if it was closed.
    ``interrupt``: a request under way is cut off, and calls that have not begun do not run. ``attachments``: what the
    model is shown with it, by the names (``content``) under which it was uploaded within a day. ``context``: texts that
    the model reads after these words. ``to_model``: what needs no model, such as "status" (``brain.intents``), is sent
    to it all the same. ``foreign``: the words are those of someone who has no say, such as a guest of a chat, or a
    forwarded message: the model reads them as anything that others wrote, and they grant nothing.
    """

    session: SessionId
    text: Text
    interrupt: bool = False
    attachments: Given = ()
    context: Annotated[tuple[Material, ...], bounds(maxItems=20)] = ()
    to_model: bool = False
    foreign: bool = False


class Pause(msgspec.Struct, frozen=True, tag="session.pause", forbid_unknown_fields=True):
    """Let the current step finish, then start nothing more until it is resumed."""

    session: SessionId


class Resume(msgspec.Struct, frozen=True, tag="session.resume", forbid_unknown_fields=True):
    """Continue from its last recorded step. In an idle session, take up again a turn that ended without an answer."""

    session: SessionId


class Cancel(msgspec.Struct, frozen=True, tag="session.cancel", forbid_unknown_fields=True):
    """End an objective as cancelled; what is running is killed."""

    session: SessionId


class Stop(msgspec.Struct, frozen=True, tag="session.stop", forbid_unknown_fields=True):
    """Kill what is running at once, and pause.

    ``session`` "*" stops every session.
    """

    session: SessionId
    why: str = ""


class Retry(msgspec.Struct, frozen=True, tag="objective.retry", forbid_unknown_fields=True):
    """Run a failed or cancelled objective again with what it knows; without ``limits``, under those that it had."""

    session: SessionId
    budget: Budget = DEFAULT_BUDGET
    limits: Limits | None = None


class Delete(msgspec.Struct, frozen=True, tag="session.delete", forbid_unknown_fields=True):
    """Put an ended session into the trash for 30 days (``domain.trash``).

    With ``now``, erase its conversation and the file contents that only this session had kept, whether it is in the
    trash or not; nothing brings them back.
    """

    session: SessionId
    now: bool = False


class Decide(msgspec.Struct, frozen=True, tag="approval.decide", forbid_unknown_fields=True):
    """Answer a question. The first answer wins; a conflict when it is settled, or the digest is not the one shown.

    ``once`` allows this call, ``trust`` also lets the sources that the question names say whom or what calls of this
    tool act on until the objective ends, ``session`` also allows calls of its shape in this session, ``project`` also
    in later ones of the same folder;
    ``deny`` refuses, with a reason that the model reads.
    """

    approval: ApprovalId
    digest: CallDigest
    answer: Literal["once", "trust", "session", "project", "deny"]
    reason: str = ""
    whole: bool = False
    """The client displayed the arguments from end to end, with what hides in them spelled out."""


class ApplyTrial(msgspec.Struct, frozen=True, tag="trial.apply", forbid_unknown_fields=True):
    """Let changes that wait into the folder; for a session or objective that is not at work."""

    session: SessionId
    choice: Choice = Choice()


class DiscardTrial(msgspec.Struct, frozen=True, tag="trial.discard", forbid_unknown_fields=True):
    """Throw the changes that wait away, of a session or objective that is not at work. Cannot be undone."""

    session: SessionId


class Revoke(msgspec.Struct, frozen=True, tag="grant.revoke", forbid_unknown_fields=True):
    """Take back what was granted to a tool in a session (and, for project grants, in its folder)."""

    session: SessionId
    tool: str


class SetSearch(msgspec.Struct, frozen=True, tag="search.set", forbid_unknown_fields=True):
    """Choose the engine that searches the web, in place of an earlier one. Its key is shown nowhere again.

    Args:
        engine: "searxng", "brave" or "tavily".
        url: "" uses the engine's own; SearXNG has none.
        key: goes into the vault and nowhere else; "" keeps the one that this engine has already.
    """

    engine: Engine
    url: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"SetSearch({self.engine!r}, {self.url!r})"  # the key stays out of every trace


class RemoveSearch(msgspec.Struct, frozen=True, tag="search.remove", forbid_unknown_fields=True):
    """Search the web no more, and forget the engine's key; not found when no engine is set up."""


class SetCap(msgspec.Struct, frozen=True, tag="cap.set", forbid_unknown_fields=True):
    """Cap what may be spent in a day, a month, or both, of the person's; what is not given stays.

    With a cap of 0 no request starts.

    Args:
        daily, monthly: the caps.
        warn_at: shares of the home's, in percent, at which it is said how much is spent.
        channel: whose sessions; "" for all of the home, else a channel's name, or ``CHANNEL/CHAT`` of one chat, by the
            platform's id.
    """

    daily: Budget | None = None
    monthly: Budget | None = None
    warn_at: Annotated[tuple[Share, ...], bounds(maxLength=5)] | None = None
    channel: Annotated[str, bounds(maxLength=600)] = ""


class AddSecret(msgspec.Struct, frozen=True, tag="secret.add", forbid_unknown_fields=True):
    """Put a value into the vault. It is shown nowhere again; a conflict when there is one and ``replace`` is false.

    Args:
        name: ``[a-z][a-z0-9_-]{0,63}``; not beginning with "provider-" or "env-".
        value: 1 byte to 64 KB of UTF-8 text.
        replace: take the place of an older value; the bindings stay, the placeholder becomes another.
    """

    name: Annotated[str, bounds(pattern="^(?!provider-|env-)[a-z][a-z0-9_-]{0,63}$")]
    value: Annotated[str, bounds(minLength=4, maxLength=8000, pattern=r"\S{4}")]
    replace: bool = False

    def __repr__(self) -> str:
        return f"AddSecret({self.name!r})"  # the value stays out of every trace


class BindSecret(msgspec.Struct, frozen=True, tag="secret.bind", forbid_unknown_fields=True):
    """Let a secret's value go to a destination. Without any, it goes nowhere."""

    name: str
    binding: Binding


class UnbindSecret(msgspec.Struct, frozen=True, tag="secret.unbind", forbid_unknown_fields=True):
    """End every binding of a secret to a host (as it was bound, wildcard and all) or to a tool; give one of them."""

    name: str
    host: str = ""
    tool: str = ""


class RemoveSecret(msgspec.Struct, frozen=True, tag="secret.remove", forbid_unknown_fields=True):
    """Erase a value and end its bindings."""

    name: str


class AllowHost(msgspec.Struct, frozen=True, tag="host.allow", forbid_unknown_fields=True):
    """Let machines that show a folder reach a host, those at work included.

    Args:
        host: ``name`` or ``*.name``, perhaps with ``:port``; ``localhost:5432`` and the like; or ``registries``.
        directory: the folder, absolute.
        grants_last: for ``registries``: what was granted ahead also covers sessions that have read from them.
    """

    host: str
    directory: str
    grants_last: bool = False


class AddRule(msgspec.Struct, frozen=True, tag="rule.add", forbid_unknown_fields=True):
    """Make a standing rule, of the form or of a sentence. It holds at once, for running sessions too.

    Args:
        text: a sentence of up to 500 characters, see ``brain.rule_sentences``; counts where there is no form.
        directory: the folder that it holds for, absolute; "" for every one.
        rule: the form; its id is given by Stead.
        confirmed: the person has seen how the sentence is read; without it a sentence is refused.
        replaces: id of a rule that it takes the place of; "" for a new one.
    """

    text: str = ""
    directory: str = ""
    rule: Rule | None = None
    confirmed: bool = False
    replaces: str = ""


class ConfirmRule(msgspec.Struct, frozen=True, tag="rule.confirm", forbid_unknown_fields=True):
    """Say that a rule of an older home means what its form says. It holds before and after."""

    id: str


class RemoveRule(msgspec.Struct, frozen=True, tag="rule.remove", forbid_unknown_fields=True):
    """Take a standing rule back."""

    id: str


class DisallowHost(msgspec.Struct, frozen=True, tag="host.disallow", forbid_unknown_fields=True):
    """No longer let machines reach a host, and cut what is open. ``host`` as it was allowed."""

    host: str
    directory: str


class CloseSession(msgspec.Struct, frozen=True, tag="session.close", forbid_unknown_fields=True):
    """Close an interactive session; what is running is killed. All of it stays, and the next message reopens it."""

    session: SessionId


class ForkSession(msgspec.Struct, frozen=True, tag="session.fork", forbid_unknown_fields=True):
    """Open another session that goes on from a moment of this one; the answer's ``session`` is the new one.

    Args:
        session: whose conversation.
        at: the last event (``session_seq``) that the fork knows; 0 for the newest.
        directory: "" for the same folder, else an empty one, absolute, which gets the files as they were kept last
            before that moment.
        title: "" derives it.
    """

    session: SessionId
    at: Annotated[int, msgspec.Meta(ge=0)] = 0
    directory: AnyFolder = ""
    title: str = ""


class TakeCheckpoint(msgspec.Struct, frozen=True, tag="checkpoint.take", forbid_unknown_fields=True):
    """Keep files and conversation as they are now."""

    session: SessionId
    note: str = ""


class RestoreCheckpoint(msgspec.Struct, frozen=True, tag="checkpoint.restore", forbid_unknown_fields=True):
    """Go back. How things are now is kept first, so that this can be undone by restoring that.

    Args:
        session: whose.
        checkpoint: its id.
        files: put the files back.
        conversation: put the conversation back.
        paths: only these files, and what is below them; then the conversation stays.
        part: of the one path, only this part of how it differs now, as a diff shows it: one hunk, or all of it.
            Refused if the file does not differ so any more. Terminals and services go on.
    """

    session: SessionId
    checkpoint: CheckpointId
    files: bool = True
    conversation: bool = True
    paths: tuple[str, ...] = ()
    part: str = ""


class UndoEdit(msgspec.Struct, frozen=True, tag="edit.undo", forbid_unknown_fields=True):
    """Put a file back to what it was before a call changed it; ``again`` has the change back."""

    session: SessionId
    key: CallKey
    path: str = ""
    """Which, if the call changed several."""
    again: bool = False


class Compact(msgspec.Struct, frozen=True, tag="context.compact", forbid_unknown_fields=True):
    """Have the model sum up the older messages between two turns; from then on the summary is sent in their place."""

    session: SessionId


class EditCall(msgspec.Struct, frozen=True, tag="call.edit", forbid_unknown_fields=True):
    """Put other arguments into a call that has not run, and have it run so: the person's own yes to exactly these."""

    session: SessionId
    key: CallKey
    arguments: str
    """A JSON object."""


class CancelCall(msgspec.Struct, frozen=True, tag="call.cancel", forbid_unknown_fields=True):
    """Take one call out of the queue, or stop it; the others go on, and the model reads the reason."""

    session: SessionId
    key: CallKey
    reason: str = ""


class RetryCall(msgspec.Struct, frozen=True, tag="call.retry", forbid_unknown_fields=True):
    """Have a finished call run again. If the model has its result already, it is asked to call once more."""

    session: SessionId
    key: CallKey


class SetPlan(msgspec.Struct, frozen=True, tag="plan.set", forbid_unknown_fields=True):
    """Replace the plan; the model's next request carries the new one."""

    session: SessionId
    steps: Annotated[tuple[PlanStep, ...], bounds(maxItems=30)]


class SetChecks(msgspec.Struct, frozen=True, tag="session.checks", forbid_unknown_fields=True):
    """Put these checks in place of the person's; proposals among them are accepted, and those of the ids dropped go."""

    session: SessionId
    checks: Annotated[tuple[Check, ...], bounds(maxItems=50)]
    dropped: Annotated[tuple[str, ...], bounds(maxItems=50)] = ()


class AnswerCheck(msgspec.Struct, frozen=True, tag="session.check.answer", forbid_unknown_fields=True):
    """Say whether a check of kind ``person`` holds; at an ended objective that can change how it ended."""

    session: SessionId
    id: str
    holds: bool


class RaiseBudget(msgspec.Struct, frozen=True, tag="budget.raise", forbid_unknown_fields=True):
    """Let a session spend this much in all; both figures positive or "unlimited"."""

    session: SessionId
    budget: Budget


SessionWord = (
    SendMessage
    | Pause
    | Resume
    | Stop
    | Cancel
    | Retry
    | CloseSession
    | Delete
    | Revoke
    | Compact
    | EditCall
    | CancelCall
    | RetryCall
    | SetPlan
    | SetChecks
    | AnswerCheck
    | RaiseBudget
    | SwitchModel
    | LabelCommand
)
"""What a person can tell one session, in addition to answering its questions."""
FileCommand = TakeCheckpoint | RestoreCheckpoint | UndoEdit
"""What a person does with the files of an interactive session."""
HomeCommand = (
    ConfigureProvider
    | SetProviderKey
    | ConfigureModel
    | SetRole
    | RemoveProvider
    | SetSearch
    | RemoveSearch
    | McpCommand
    | AgentCommand
    | SetChain
    | SetCap
    | AllowHost
    | AddRule
    | ConfirmRule
    | RemoveRule
    | DisallowHost
    | ProfileCommand
    | DeviceCommand
)
"""What becomes a fact about the home, secrets and directives apart."""
SecretCommand = AddSecret | BindSecret | UnbindSecret | RemoveSecret
Command = (
    OpenSession
    | ForkSession
    | SessionWord
    | FileCommand
    | Decide
    | ApplyTrial
    | DiscardTrial
    | TerminalCommand
    | HomeCommand
    | SecretCommand
    | MemoryCommand
    | DirectiveCommand
    | ScheduleCommand
    | TargetCommand
    | ChannelCommand
    | Forget
    | ApplySettings
)


class Answer(msgspec.Struct, frozen=True):
    """What a command gives back, kept for repeats of its id.

    ``session`` is "home" for commands about the home; ``seq`` is the head of the journal when it had been carried out.
    """

    command: CommandId
    session: SessionId
    seq: int
    text: str = ""
    intent: str = ""
    """What a message meant that no model reads (``brain.intents``); ``text`` is Stead's answer to it then."""
