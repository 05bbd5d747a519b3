"""A session: what its events add up to.

Layer: domain. ``Session`` is changed by ``domain.folding`` alone. It is not frozen, because a session of 10,000 turns
must cost the same per event as one of ten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from stead.domain import events as ev
from stead.domain.agents import Taint
from stead.domain.checkpoints import FileChange, Version
from stead.domain.checks import CheckItem, CheckResult
from stead.domain.events import Action as Action
from stead.domain.ids import ApprovalId, CallDigest, CallKey, CheckpointId, RequestNo, SessionId
from stead.domain.memory import Viewer, channel_place, workspace_place
from stead.domain.messages import Message, ResultsMessage, ToolResult, UserMessage
from stead.domain.policies import Confidentiality, Integrity, Label, PlannedCall
from stead.domain.rows import ObjectiveStatus
from stead.domain.trials import Review
from stead.domain.trust import Tier

PERSON = Label(integrity=Integrity.PERSON)
STEAD = Label(integrity=Integrity.TRUSTED)

CallStep = Literal["new", "asking", "approved", "refused", "lapsed", "started", "done"]


class Call(msgspec.Struct):
    """One call of the reply that is being worked off."""

    key: CallKey
    tool: str
    arguments: str
    runnable: bool
    """False when the reply was cut off or filtered: then no call of it may run."""
    step: CallStep = "new"
    approval: ApprovalId = ApprovalId("")
    digest: CallDigest = CallDigest("")
    """What was asked about, once it is asked."""
    shape: str = ""
    """Which calls a lasting yes covers; "" for none."""
    sources: tuple[str, ...] = ()
    """The untrusted sources that the question names."""
    bound: str = ""
    """What a lasting yes is bound to; "" for nothing."""
    level: Literal["session", "each", "confirm"] = "confirm"
    asked: str = ""
    """Canonical arguments as they were shown to the person."""
    expires_at_ms: int = 0
    said: str = ""
    """The person's reason for a refusal."""
    idempotent: bool = False
    edited: str = ""
    """The door through which the person put other arguments in; "" when they are the model's."""
    cancelled: bool = False
    """The person wants it stopped."""
    result: ToolResult | None = None
    parent: CallKey = CallKey("")
    """The call whose agent asks leave for this one; Stead runs it not. "" for a model's own call."""


class Grant(msgspec.Struct, frozen=True):
    """A shape of call that the person allowed ahead, in a session that has read only these kinds of sources."""

    tool: str
    shape: str
    expires_at_ms: int
    sources: tuple[str, ...] = ()
    bound: str = ""
    """What it is bound to; see ``GrantMade``."""


class Mark(msgspec.Struct, frozen=True):
    """A checkpoint, as the session knows it; the journal has the rest."""

    id: CheckpointId
    turn: int
    at: int
    root: str
    seq: int
    """``session_seq`` of its event."""
    ts_ms: int
    taken: ev.CheckpointTaken


class Edit(msgspec.Struct, frozen=True):
    """A file that a call changed, and whether the person has undone it."""

    key: CallKey
    turn: int
    before: Version
    after: Version
    change: FileChange
    seq: int
    ts_ms: int
    undone: bool = False


class Agent(msgspec.Struct, frozen=True):
    """A subagent that the session has started, and its end once it has ended.

    ``times``: how many subagents the call has started, as a person may have it run again.
    ``at``: how many actions there were when this one was started.
    """

    spawned: ev.AgentSpawned
    ended: ev.AgentEnded | None = None
    times: int = 1
    at: int = 0


class Session(msgspec.Struct):
    """Everything that is true of a session after its last event. Read it freely; only ``domain.folding`` changes it."""

    id: SessionId
    spec: ev.SessionOpened
    seq: int
    """``session_seq`` of the last event."""
    created_ms: int
    phase: Literal["active", "paused", "ended"] = "active"
    end: ev.ObjectiveEnded | None = None
    deleted: bool = False
    trashed: bool = False

    turn: int = 0
    """How many there were, the current one included; always 0 for an objective."""
    turn_began: int = 0
    """``session_seq`` of the words that began it."""
    resting: bool = False
    """Nothing happens until the person says something."""
    ran: bool = False
    """Something has run in this turn that may have changed files that no call names."""
    interrupted: bool = False
    """The person wants to be heard before calls run that have not begun."""
    marks: list[Mark] = []
    edits: list[Edit] = []
    terminals: list[str] = []
    """The person's that are open."""
    runnable: list[str] = []
    """Paths of what can be run and is new in the folder since the session rested last."""
    review: Review = Review()
    """Its changes that wait for the person, as last recorded."""
    rules: dict[str, str] = {}
    """Path and SHA-256 of the project's rules files, as last put into the prompt."""

    instructions: str = ""
    """What every request begins with: as composed at the opening, until ``instructions.set`` says otherwise."""
    messages: list[Message] = []
    """Appended to, or another list; one in it is replaced only while it is alone. ``Prompt`` relies on that."""
    trimmed: int = 0
    """Messages before this one are sent trimmed."""
    compacting: int = 0
    """How many messages there were when the model was asked for a summary that is to stand for the older ones."""
    shortening: bool = False
    """That was the person's wish between two turns: it rests again as soon as the summary stands."""
    inbox: list[UserMessage] = []
    """Words that came while calls were open; they follow the results."""
    waiting: dict[int, UserMessage] = {}
    """The person's messages that no request has carried yet, by the ``session_seq`` of their events."""
    sent: int = 0
    """How many messages the last request carried."""
    sent_sha256: str = ""
    """Chained digest of those messages, on top of the instructions'."""
    calls: dict[CallKey, Call] = {}
    """The calls of the last reply, in the model's order; empty when all are answered."""
    plan: tuple[ev.PlanStep, ...] = ()
    plan_by: str = ""
    """Who made the plan as it is: "model", "stead" or "person"."""
    checks: tuple[CheckItem, ...] = ()
    """Its acceptance checks, proposals that nobody has accepted included."""
    before: dict[str, CheckResult] = {}
    """By check, what it came to before the work."""
    results: dict[str, CheckResult] = {}
    """By check, what it came to since the model's last reply, or by the person's answer."""
    effects: int = 0
    """What changed, was sent, or may have been: landings, calls that left, unknown outcomes; in this turn or run."""
    acted_from: int = 0
    """The first of ``actions`` that belongs to this turn or run."""
    calls_below: int = 0
    """Calls of tools that subagents made for it, or that are set aside for them."""
    paused: ev.SessionPaused | None = None
    """How Stead itself paused it last; None where a person did."""
    telling: str = ""
    """What goes into the prompt before the next words: memory, secrets."""
    files: str = ""
    """The files of memory of its first prompt; they are put in again when the context is compacted."""
    recalled: list[str] = []
    """References of the memories and turns recalled since the context was last compacted."""
    planned: list[PlannedCall] = []
    """What the plan grants: the calls that it named before anything untrusted was read."""
    used: list[PlannedCall] = []
    """Those of them that were used up; a plan that is made again does not bring them back."""
    approved: list[tuple[str, str]] = []
    """Tool and arguments of every call that the person was shown and said yes to."""
    strayed: bool = False
    """It has read something private that no plan named, after something untrusted; no plan and no grant lets anything
    leave unasked from then on."""
    stained: list[str] = []
    """Stores that it changed after something untrusted: what is read from them is trusted no more."""
    words: list[str] = []
    """What the person said, in full, whatever the context still holds of it."""
    sources: list[str] = []
    """Where everything untrusted came from that a model has read here, in the order of first reading."""
    held: Confidentiality = Confidentiality.PUBLIC
    """The most confidential level that a model has read here from tools and others. The person's words do not count:
    they are for the model that the person chose."""
    entities: dict[str, dict[str, str]] = {}
    """Kind, then id, then the name of everything that tools have named by an id."""
    given: dict[str, list[tuple[str, str]]] = {}
    """By address or account, the kinds and ids of the things that it belongs to, see ``Entity.gives``."""
    trusted: dict[str, list[str]] = {}
    """By tool, those of them that the person trusts to say whom or what its calls act on."""
    grants: list[Grant] = []
    actions: list[Action] = []
    agents: dict[CallKey, Agent] = {}
    """The subagents that its calls have started; what is set aside for open ones counts as used."""
    revision: int = 0
    """Counts the calls that may have changed the workspace."""

    asked_by_agents: int = 0
    """How often external agents have asked leave for something."""
    requests: int = 0
    """Model requests in all, readings included."""
    open_request: ev.ModelRequested | None = None
    open_reading: ev.ReadingRequested | None = None
    budget: ev.Budget = ev.Budget(tokens=0, usd_micros=0)
    spent: ev.Spend = ev.Spend()
    measured_tokens: int = 0
    """What the provider counted for the first ``measured`` messages, tools and instructions included; 0 for never."""
    measured: int = 0
    measured_by: ev.ModelRef | None = None
    counted_percent: int = 0
    """What Stead's upper bounds came to as the provider counted, when the context was last made smaller; 0 for never.
    It is the measure of the request after that, of which nothing has been counted yet."""

    tier: Tier = "normal"
    """How its model is led."""
    offered_by: Tier = "normal"
    """The tier whose tools the requests have; it changes only where the prefix is a new one."""
    switched: bool = False
    """The person chose another model, which was sent no request yet."""

    cut_off: bool = False
    """The last reply ended at its cap or in a filter, so it is not the model's last word."""
    iterations: int = 0
    failures: int = 0
    """Model requests in a row that brought nothing."""
    not_before_ms: int = 0
    first_model: int = 0
    """Where in the chain to start; moves on after a reply that was bad and charged."""
    send_backs: int = 0
    worked_ms: int = 0
    last_call: str = ""
    same_calls: int = 0
    last_text: str = ""
    same_texts: int = 0


def status(session: Session) -> ObjectiveStatus:
    """The one word that people see; a row also waits for what subagents ask, of which a session knows nothing."""
    if session.end is not None:
        return session.end.status
    if session.phase != "active":
        return "paused" if session.phase == "paused" else "closed"
    if session.resting:
        return "idle"
    if any(call.step == "asking" for call in session.calls.values()):
        return "waiting"
    return "running" if session.requests else "pending"


def viewer(spec: ev.SessionOpened) -> Viewer:
    """As which viewer a session reads memory: from the event that opened it, never from a model's words."""
    return Viewer(
        workspace=workspace_place(spec.workspace, spec.directory),
        channel=channel_place(spec.workspace, spec.channel) if spec.channel else "",
        interactive=spec.interactive,
    )


def calls_left(session: Session) -> int:
    """How many calls of tools the turn, or the run, may still make."""
    return session.spec.limits.calls - calls_made(session)


def calls_made(session: Session) -> int:
    """How many it has made, its subagents' included, and what is set aside for those."""
    return len(session.actions) - session.acted_from + session.calls_below


def open_agents(session: Session) -> tuple[Agent, ...]:
    """The subagents that have not ended, as far as the session knows."""
    return tuple(agent for agent in session.agents.values() if agent.ended is None)


def child_id(parent: SessionId, key: CallKey, number: int) -> SessionId:
    """The id of the subagent that a call starts for the ``number``-th time: it follows from the call alone."""
    return SessionId(f"s_{hashlib.sha256(f'{parent}/{key}/{number}'.encode()).hexdigest()[:16]}")


def children(session: Session) -> tuple[SessionId, ...]:
    """Every subagent that a session itself has ever started."""
    return tuple(
        child_id(session.id, key, number)
        for key, agent in session.agents.items()
        for number in range(1, agent.times + 1)
    )


def taint_of(session: Session) -> Taint:
    """What the session's model has been given, by whose word."""
    return Taint(tuple(session.sources), session.held, session.strayed, tuple(session.stained))


def kept(session: Session, id: CheckpointId) -> Mark | None:
    """The checkpoint of this id, if the session has it."""
    return next((mark for mark in session.marks if mark.id == id), None)


def results(session: Session) -> Iterator[ToolResult]:
    """Every result that the context holds, oldest first, those of the open reply included."""
    for message in session.messages:
        if isinstance(message, ResultsMessage):
            yield from message.results
    for call in session.calls.values():
        if call.result is not None:
            yield call.result


def next_request(session: Session) -> RequestNo:
    """The number of the request that would come next."""
    return RequestNo(session.requests + 1)
