"""How each event changes a session.

Layer: domain. ``fold(events)`` is a function of the events and nothing else. Whether an event may happen is decided
before it is recorded; here it simply has happened.

A call lives through these states, and every call of a reply ends ``done`` with exactly one result::

    new ──judged ask──> asking ──given──> approved ──┐
     │                    ├──denied───> refused ─────┤
     │                    ├──expired──> lapsed ──────┤
     │                    └──changed──> new          │
     └────────allowed────────> started ──────────> done
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.agents import Allotment, Taint
from stead.domain.checking import acted, append_findings, apply_checks, checks_text, owned, undone
from stead.domain.conversation import append_message, close_turn, digest_messages, record_source
from stead.domain.home_events import HomeBody
from stead.domain.memory_events import MemoryFact
from stead.domain.messages import AssistantMessage, Text, ToolCall, ToolResult, UserMessage, meant
from stead.domain.policies import Integrity, Label, PlannedCall
from stead.domain.secret_words import secrets_text
from stead.domain.sessions import PERSON, STEAD, Action, Agent, Call, Grant, Session
from stead.domain.trials import Review
from stead.domain.turns import (
    Worked,
    apply_queue,
    apply_terminal,
    apply_work,
    begin_turn,
    plan_text,
    receive,
    shorten,
)

MOST_RUNNABLE = 100
POLL_MS = 1_000
"""A call that takes this long waits for something outside: made again, it polls, and is no sign of a stall."""
Strange = HomeBody | MemoryFact | ev.SessionOpened | ev.QuarantineSettled
"""What stands in no session's stream, or only at its beginning."""


def begin(event: ev.Event) -> Session:
    """The session that its first event opens.

    Raises:
        ValueError: the event does not open a session; a stream that starts with anything else is damaged.
    """
    body = event.body
    if not isinstance(body, ev.SessionOpened):
        raise ValueError(f"stream {event.session!r} starts with {type(body).__name__}, which opens no session")
    goal = [] if body.contract is None else [_goal_text(body.contract, body)]
    secrets = secrets_text(body.secrets)
    label, taint = _label_of(body), _taint_of(body) or Taint()
    return Session(
        id=event.session,
        spec=body,
        seq=event.session_seq,
        created_ms=event.ts_ms,
        budget=body.budget,
        instructions=body.instructions,
        resting=not goal,
        messages=[
            UserMessage("\n\n".join(filter(None, (text, secrets))), label, attachments=body.attachments)
            for text in goal
        ],
        telling="" if goal else secrets,
        words=[] if _taint_of(body) else goal,
        sources=[*taint.sources],
        held=taint.held,
        strayed=taint.strayed,
        stained=[*taint.stained],
        checks=owned(body.checks),
        sent_sha256=hashlib.sha256(body.instructions.encode()).hexdigest(),
    )


def fold(events: Iterable[ev.Event], session: Session | None = None) -> Session | None:
    """Apply events in order, to a new session or to the one given; nothing in gives nothing out."""
    for event in events:
        if session is None:
            session = begin(event)
        else:
            apply(session, event)
    return session


def apply(session: Session, event: ev.Event) -> None:
    """Let one more event have happened."""
    session.seq = event.session_seq
    body = event.body
    match body:
        case ev.ModelRequested() | ev.ModelReplied() | ev.ModelFailed():
            _apply_model(session, body, event.ts_ms)
        case ev.ReadingRequested() | ev.ReadingReplied() | ev.ReadingFailed():
            _apply_reading(session, body)
        case ev.CallJudged() | ev.ToolStarted() | ev.ToolReopened() | ev.ToolFinished():
            _apply_call(session, body)
        case ev.ApprovalRequested() | ev.ApprovalGiven() | ev.ApprovalDenied() | ev.ApprovalLapsed():
            _apply_approval(session, body)
        case ev.MessageReceived():
            receive(session, body, event.session_seq)
        case ev.NoticeGiven(text=text, why=why):
            session.send_backs += why in ("completion", "checks", "claim")
            if why == "compact":
                shorten(session)
            append_message(session, UserMessage(text=text, label=STEAD, notice=True))
            if why == "checks":
                append_findings(session)
        case ev.PlanMade(steps=steps, by="person"):
            session.plan, session.plan_by = steps, "person"
            session.planned = []  # it was the other plan that granted
            append_message(session, UserMessage(text=plan_text(steps), label=STEAD, notice=True))
        case ev.PlanMade(steps=steps, by=by, calls=calls):
            session.plan, session.plan_by = steps, by
            if not session.sources:
                session.planned = _unused(calls, session.used, session.planned)
        case ev.GoalChanged(goal=goal):
            _change_goal(session, goal)
        case ev.GrantMade() as made:
            session.grants.append(Grant(made.tool, made.shape, made.expires_at_ms, made.sources, made.bound))
        case ev.SourcesTrusted(sources=sources, tool=tool):
            session.trusted.setdefault(tool, []).extend(sources)
        case ev.GrantRevoked(tool=tool):
            session.grants = [grant for grant in session.grants if grant.tool != tool]
        case ev.SessionPaused() | ev.SessionStopped():
            session.phase = "paused"
            session.paused = body if isinstance(body, ev.SessionPaused) and event.actor != "person" else None
        case ev.SessionResumed():
            _resume(session, body, event.session_seq)
        case ev.ChecksSet() | ev.ChecksRun() | ev.CheckAnswered():
            apply_checks(session, body)
        case ev.ObjectiveEnded():
            _end(session, body)
        case ev.ObjectiveRetried():
            _retry(session, body)
        case ev.SessionDeleted():
            session.deleted = True
        case ev.EgressUsed(verdict=verdict):
            session.effects += verdict == "allow"
        case ev.MachineStarted() | ev.MachineEnded():
            return
        case ev.TerminalOpened() | ev.LineRan() | ev.TerminalClosed():
            apply_terminal(session, body)
        case ev.ChangesLanded(landing=landing):
            session.effects += bool(landing.count or landing.held)
            session.runnable = [*dict.fromkeys((*session.runnable, *landing.runnable))][:MOST_RUNNABLE]
        case ev.ReviewWanted(review=review):
            session.review, session.runnable = review, []
        case ev.TrialDiscarded() | ev.TrialApplied(left=False):
            session.review = Review()
        case ev.ProtectedQuarantined() | ev.TrialApplied():
            return
        case _:
            _apply_rest(session, body, event)


def _apply_rest(session: Session, body: Worked | ev.QueueBody | ev.AgentBody | Strange, event: ev.Event) -> None:
    if isinstance(body, ev.AgentBody):
        _apply_agent(session, body)
    elif isinstance(body, Worked):
        apply_work(session, body, event.session_seq, event.ts_ms)
    elif isinstance(body, ev.QueueBody):
        apply_queue(session, body)
    else:
        raise ValueError(f"{type(body).__name__} does not belong inside the stream {event.session!r}")


def _apply_model(session: Session, body: ev.ModelRequested | ev.ModelReplied | ev.ModelFailed, ts_ms: int) -> None:
    match body:
        case ev.ModelRequested(number=number, reserved=reserved):
            session.open_request, session.switched = body, False
            session.requests = number
            session.iterations += 1
            session.sent_sha256 = digest_messages(session.sent_sha256, session.messages[session.sent :])
            session.sent, session.waiting = len(session.messages), {}
            session.spent = _plus(session.spent, reserved)
        case ev.ModelReplied():
            _settle(session, body.spend)
            session.failures = session.first_model = session.not_before_ms = 0
            session.worked_ms += body.duration_ms
            _take_reply(session, body)
        case ev.ModelFailed(kind="lost" | "stopped", spend=spend):
            # Cut off from our side: it says nothing about the model.
            _settle(session, spend)
            close_turn(session, "")
        case ev.ModelFailed(spend=spend, retry_after_ms=retry_after_ms):
            _settle(session, spend)
            session.failures += 1
            session.not_before_ms = ts_ms + retry_after_ms if retry_after_ms else 0
            close_turn(session, "")
            if spend.tokens:
                session.first_model = (session.first_model + 1) % len(session.spec.chain)


def _apply_reading(session: Session, body: ev.ReadingRequested | ev.ReadingReplied | ev.ReadingFailed) -> None:
    """Readings count as requests do; their words are in no message. Their time is a part of the call's."""
    match body:
        case ev.ReadingRequested(number=number, reserved=reserved):
            session.open_reading = body
            session.requests = number
            session.iterations += 1
            session.spent = _plus(session.spent, reserved)
        case ev.ReadingReplied(spend=spend) | ev.ReadingFailed(spend=spend):
            _settle(session, spend)


def _take_reply(session: Session, reply: ev.ModelReplied) -> None:
    session.messages.append(AssistantMessage(parts=reply.parts))
    undone(session)
    if reply.usage.total:
        session.measured_tokens = reply.usage.total
        session.measured = len(session.messages)
        session.measured_by = reply.model
    runnable = reply.stop in ("stop", "tool_call")
    session.cut_off = not runnable
    for part in reply.parts:
        if isinstance(part, ToolCall):
            tool, arguments = meant(part)
            session.calls[part.key] = Call(part.key, tool, arguments, runnable)
            if session.compacting:  # it was asked for words, so this call does not run and says nothing of the work
                continue
            signature = f"{part.tool} {part.arguments}"
            session.same_calls = session.same_calls + 1 if signature == session.last_call else 1
            session.last_call = signature
    said = "".join(part.text for part in reply.parts if isinstance(part, Text)).strip()
    if said:
        session.same_texts = session.same_texts + 1 if said == session.last_text else 1
        session.last_text = said
    if not session.calls:
        close_turn(session, "")


def _apply_call(session: Session, body: ev.CallJudged | ev.ToolStarted | ev.ToolReopened | ev.ToolFinished) -> None:
    call = session.calls.get(body.key)
    if call is None:
        return
    match body:
        case ev.CallJudged(planned=planned, strays=strays, stains=stains):
            # What else follows from a verdict is recorded as its own event.
            if planned >= 0:
                session.used.append(session.planned.pop(planned))
            session.strayed |= strays
            session.stained.extend(store for store in stains if store not in session.stained)
        case ev.ToolStarted(arguments=arguments, idempotent=idempotent):
            call.step = "started"
            call.arguments = arguments
            call.idempotent = idempotent
        case ev.ToolReopened():
            call.step = "new"
        case ev.ToolFinished(text=text, label=label, outcome=outcome, source=source):
            if source or label != STEAD:  # Stead's own words tell a model nothing that it has not got
                record_source(session, label, source or call.tool)
            for entity in body.entities:
                session.entities.setdefault(entity.kind, {})[entity.id] = entity.name
                for value in entity.gives:
                    session.given.setdefault(value, []).append((entity.kind, entity.id))
            files = (body.changed, body.removed)
            acted(
                session,
                Action(call.tool, call.arguments, outcome, *files, body.effect, body.exit_code, body.reached),
            )
            session.revision += call.step == "started" and not call.idempotent
            session.ran = session.ran or (call.step == "started" and not call.idempotent)
            if call.key not in session.agents:  # what a subagent worked is counted by its end
                session.worked_ms += body.duration_ms
            if body.duration_ms >= POLL_MS:
                session.same_calls = 0
            call.step = "done"
            failed = outcome != "ok"
            call.result = ToolResult(call.key, call.tool, text, label, failed, source, body.attachments)
            if all(other.step == "done" for other in session.calls.values()):
                close_turn(session, "")


def _apply_agent(session: Session, body: ev.AgentBody) -> None:
    """Set aside what a subagent may use, and put what it used in place of that once it has ended."""
    known = session.agents.get(body.key)
    match body:
        case ev.AgentSpawned(key=key, allotment=most):
            session.agents[key] = Agent(body, times=known.times + 1 if known else 1, at=len(session.actions))
            session.spent = _plus(session.spent, _set_aside(most))
            session.iterations += most.iterations
            session.calls_below += most.calls
            session.worked_ms += most.seconds * 1000
        case ev.AgentEnded(key=key, spend=spend, taint=taint):
            if known is None or known.ended is not None:
                return
            session.agents[key] = replace(known, ended=body)
            most, reserved = known.spawned.allotment, _set_aside(known.spawned.allotment)
            session.spent = ev.Spend(
                tokens=session.spent.tokens - reserved.tokens + spend.tokens,
                usd_micros=session.spent.usd_micros - reserved.usd_micros + spend.usd_micros,
                price_known=session.spent.price_known and spend.price_known,
            )
            # A new turn may have begun since it was started, with counters of its own.
            session.iterations = max(0, session.iterations - most.iterations + body.iterations)
            session.worked_ms = max(0, session.worked_ms - most.seconds * 1000 + body.worked_ms)
            session.calls_below = max(0, session.calls_below - most.calls + body.calls)
            session.sources.extend(source for source in taint.sources if source not in session.sources)
            session.held = taint.held if taint.held.exceeds(session.held) else session.held
            session.strayed |= taint.strayed
            session.stained.extend(store for store in taint.stained if store not in session.stained)
            session.effects += bool(body.acted or body.facts.changed or body.facts.sent)


def _set_aside(most: Allotment) -> ev.Spend:
    return ev.Spend(tokens=most.tokens, usd_micros=0 if most.usd_micros == "unlimited" else most.usd_micros)


def _label_of(opened: ev.SessionOpened) -> Label:
    """Whose words the goal is: the person's, or those of a model that may be doing a stranger's will."""
    taint = _taint_of(opened)
    if taint is None:
        return PERSON
    return Label(Integrity.UNTRUSTED if taint.sources else Integrity.TRUSTED, taint.held)


def _taint_of(opened: ev.SessionOpened) -> Taint | None:
    """What the model had read whose words the goal is; None where they are the person's."""
    if opened.parent:
        return opened.parent.taint
    return opened.scheduled.proposed if opened.scheduled else None


def _apply_approval(
    session: Session,
    body: ev.ApprovalRequested | ev.ApprovalGiven | ev.ApprovalDenied | ev.ApprovalLapsed,
) -> None:
    call = session.calls.get(body.key)
    if call is None:
        return
    match body:
        case ev.ApprovalRequested():
            call.step, call.approval, call.digest = "asking", body.id, body.digest
            call.level, call.asked, call.expires_at_ms = body.level, body.arguments, body.expires_at_ms
            call.shape, call.sources, call.bound = body.shape, body.sources, body.bound
        case ev.ApprovalGiven():
            call.step = "approved"
            session.approved.append((call.tool, call.asked))
        case ev.ApprovalDenied(reason=reason):
            call.step, call.said = "refused", reason
        case ev.ApprovalLapsed(why=why):
            call.step = "new" if why == "changed" else "lapsed"


def _unused(
    calls: Iterable[PlannedCall], used: Iterable[PlannedCall], before: Iterable[PlannedCall]
) -> list[PlannedCall]:
    """The calls of a plan without those that an earlier form of it has already spent; what was confirmed stays so."""
    left = list(calls)
    for call in used:
        plain = replace(call, confirmed=False)
        if same := [one for one in left if replace(one, confirmed=False) == plain]:
            left.remove(same[0])
    confirmed = [replace(call, confirmed=False) for call in before if call.confirmed]
    for place, call in enumerate(left):
        if call in confirmed:
            confirmed.remove(call)
            left[place] = replace(call, confirmed=True)
    return left


def _settle(session: Session, spend: ev.Spend) -> None:
    request = session.open_request or session.open_reading
    reserved = request.reserved if request else ev.Spend()
    session.open_request = session.open_reading = None
    session.spent = ev.Spend(
        tokens=session.spent.tokens - reserved.tokens + spend.tokens,
        usd_micros=session.spent.usd_micros - reserved.usd_micros + spend.usd_micros,
        price_known=session.spent.price_known and spend.price_known,
    )


def _resume(session: Session, body: ev.SessionResumed, seq: int) -> None:
    session.phase = "active"
    if body.again:
        begin_turn(session, seq)
    session.failures = session.not_before_ms = 0


def _end(session: Session, body: ev.ObjectiveEnded) -> None:
    session.phase, session.end = "ended", body
    close_turn(session, "Not run: the objective had ended.")


def _retry(session: Session, body: ev.ObjectiveRetried) -> None:
    session.phase, session.end = "active", None
    session.budget = ev.Budget(
        tokens=_raised(session.spent.tokens, body.budget.tokens),
        usd_micros=_raised(session.spent.usd_micros, body.budget.usd_micros),
    )
    if body.limits is not None:
        session.spec = replace(session.spec, limits=body.limits)
    session.iterations = session.failures = session.send_backs = session.worked_ms = 0
    session.same_calls = session.same_texts = session.not_before_ms = session.first_model = 0
    session.last_call = session.last_text = ""
    if isinstance(session.messages[-1], AssistantMessage):
        session.messages.append(UserMessage("Try again; the objective is still open.", STEAD, notice=True))


def _raised(spent: int, more: int | ev.Unlimited) -> int | ev.Unlimited:
    return more if more == "unlimited" else spent + more


def _plus(one: ev.Spend, other: ev.Spend) -> ev.Spend:
    return ev.Spend(
        tokens=one.tokens + other.tokens,
        usd_micros=one.usd_micros + other.usd_micros,
        price_known=one.price_known and other.price_known,
    )


def _change_goal(session: Session, goal: str) -> None:
    """Take another goal: what the old one said vouches for nothing any more, and what it planned is not granted."""
    contract = ev.Contract(goal)
    text = _goal_text(contract, session.spec)
    session.spec = replace(session.spec, contract=contract)
    session.words = [text, *session.words[1:]]
    session.planned = []
    first = session.messages[0]
    if session.requests or not isinstance(first, UserMessage):
        append_message(session, UserMessage(text, PERSON, told="The goal was changed. It is now:"))
        return
    both = "\n\n".join(filter(None, (text, secrets_text(session.spec.secrets))))
    session.messages = [replace(first, text=both), *session.messages[1:]]


def _goal_text(contract: ev.Contract, opened: ev.SessionOpened) -> str:
    listed = "".join(f"\n- {constraint}" for constraint in opened.constraints)
    constraints = f"Constraints:{listed}" if listed else ""
    checks = checks_text(owned(opened.checks)) if opened.checks else ""
    return "\n\n".join(filter(None, (contract.goal, constraints, checks)))
