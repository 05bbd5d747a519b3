"""What each event changes in the read models, as pure functions over rows.

Layer: storage. Knows no SQL. Nothing decides by these rows; the truth about a session is ``domain.sessions``.
"""

from __future__ import annotations

from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.checking import owned
from stead.domain.checks import CheckItem
from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.messages import ReplyPart, Text, ToolCall
from stead.domain.rows import ApprovalRow, CheckRow, ObjectiveRow, ObjectiveStatus, OpenRunRow
from stead.domain.timeline import OpenRequest
from stead.domain.timeline_fold import Standing
from stead.domain.trials import Review
from stead.storage.talk import Talk, followed

Answered = ev.ApprovalGiven | ev.ApprovalDenied | ev.ApprovalLapsed


class OpenCall(msgspec.Struct, frozen=True):
    """A call that has started and not finished."""

    key: CallKey
    tool: str
    since_ms: int


class Objective(msgspec.Struct, frozen=True):
    """The row of an objective or a session, and what is needed to carry it forward.

    Args:
        row: as shown, but for the goal, which is kept apart: it may have a megabyte and never changes.
        requests: model requests in all; the row counts those since the last retry.
        steps: how many it has.
        items: how many its timeline has.
        paused: held, if it has not ended.
        open_request: the request that waits for its reply, 0 for none.
        requested_ms: since when.
        reading: it is a reading on behalf of a call.
        replied: the last request that was answered, or failed.
        reserved: for it.
        open_calls: calls under way.
        talk: where its conversation stands.
    """

    row: ObjectiveRow
    requests: int = 0
    steps: int = 0
    items: int = 0
    paused: bool = False
    open_request: RequestNo = RequestNo(0)
    requested_ms: int = 0
    reading: bool = False
    replied: RequestNo = RequestNo(0)
    reserved: ev.Spend = ev.Spend()
    open_calls: tuple[OpenCall, ...] = ()
    talk: Talk = Talk()


def opened(event: ev.Event, body: ev.SessionOpened) -> Objective:
    """A new objective, or a new interactive session, which is idle until the person says something."""
    return Objective(
        ObjectiveRow(
            id=event.session,
            title=body.title,
            goal="",
            constraints=body.constraints,
            guarded=_guarded(body),
            status="idle" if body.interactive else "pending",
            reason="",
            summary="",
            directory=body.directory,
            chain=body.chain,
            budget=body.budget,
            tokens_used=0,
            tokens_reserved=0,
            usd_micros_used=0,
            price_known=True,
            iterations=0,
            plan=(),
            pending_approvals=0,
            created_ms=event.ts_ms,
            updated_ms=event.ts_ms,
            ended_ms=0,
            kind="session" if body.interactive else "objective",
            checks=_checks(owned(body.checks), ()),
            parent=body.parent.session if body.parent else SessionId(""),
            specialist=body.parent.specialist if body.parent else "",
            schedule=body.scheduled.schedule if body.scheduled else "",
        ),
        talk=Talk(interactive=body.interactive, resting=body.interactive),
    )


def advanced(objective: Objective, event: ev.Event) -> Objective:
    """The objective after one more event of its stream."""
    changed = replace(_advanced(objective, event), talk=followed(objective.talk, event.body))
    row = replace(changed.row, status=_status(changed), turns=changed.talk.turn, updated_ms=event.ts_ms)
    return replace(changed, row=row)


def asks(objective: Objective, count: int) -> Objective:
    """The objective while so many questions wait, those of the subagents below it included."""
    changed = replace(objective, row=replace(objective.row, pending_approvals=0 if objective.row.ended_ms else count))
    return replace(changed, row=replace(changed.row, status=_status(changed)))


def _advanced(objective: Objective, event: ev.Event) -> Objective:
    row = objective.row
    match event.body:
        case ev.ModelRequested() | ev.ReadingRequested() as body:
            counted = replace(row, tokens_reserved=body.reserved.tokens, iterations=row.iterations + 1)
            return replace(
                objective,
                row=counted,
                requests=objective.requests + 1,
                open_request=body.number,
                requested_ms=event.ts_ms,
                reading=isinstance(body, ev.ReadingRequested),
                reserved=body.reserved,
            )
        case ev.ModelReplied(number=number, spend=spend, parts=parts):
            steps = objective.steps + max(1, sum(isinstance(part, ToolCall) for part in parts))
            return replace(_settled(objective, spend), steps=steps, replied=number)
        case ev.CallDelegated():
            return replace(objective, steps=objective.steps + 1)
        case ev.ModelFailed(number=number, spend=spend):
            return replace(_settled(objective, spend), replied=number)
        case ev.ReadingReplied(spend=spend) | ev.ReadingFailed(spend=spend):
            return _settled(objective, spend)
        case ev.PlanMade(steps=plan):
            return replace(objective, row=replace(row, plan=plan))
        case ev.ChecksSet() | ev.ChecksRun() | ev.CheckAnswered() as body:
            return replace(objective, row=replace(row, checks=_checked(row.checks, body)))
        case ev.ApprovalRequested():
            return replace(objective, row=replace(row, pending_approvals=row.pending_approvals + 1))
        case ev.ApprovalGiven() | ev.ApprovalDenied() | ev.ApprovalLapsed():
            return replace(objective, row=replace(row, pending_approvals=max(0, row.pending_approvals - 1)))
        case ev.ToolStarted(key=key, tool=tool):
            return replace(objective, open_calls=(*objective.open_calls, OpenCall(key, tool, event.ts_ms)))
        case ev.ToolReopened(key=key) | ev.ToolFinished(key=key):
            left = tuple(call for call in objective.open_calls if call.key != key)
            return replace(objective, open_calls=left)
        case _:
            return _turned(objective, event)


def _checks(items: tuple[CheckItem, ...], known: tuple[CheckRow, ...]) -> tuple[CheckRow, ...]:
    old = {row.item.id: row for row in known if row.item.check in [item.check for item in items]}
    return tuple(replace(old.get(item.id, CheckRow(item, item.check.words)), item=item) for item in items)


def _checked(rows: tuple[CheckRow, ...], body: ev.CheckBody) -> tuple[CheckRow, ...]:
    came: dict[str, dict[str, bool | str | tuple[str, ...] | None]] = {}
    match body:
        case ev.ChecksSet(items=items):
            return _checks(items, rows)
        case ev.ChecksRun(when="before", results=results):
            came = {result.id: {"before": result.holds} for result in results}
        case ev.ChecksRun(results=results):
            came = {one.id: {"holds": one.holds, "detail": one.detail, "touched": one.touched} for one in results}
        case ev.CheckAnswered(id=id, holds=holds):
            came = {id: {"holds": holds, "detail": ""}}
    return tuple(replace(row, **came.get(row.item.id, {})) for row in rows)


def _turned(objective: Objective, event: ev.Event) -> Objective:
    """The objective after a turn of its life."""
    row = objective.row
    match event.body:
        case ev.SessionPaused(why=why, fault=fault):
            return replace(objective, row=replace(row, reason=why, fault=fault), paused=True)
        case ev.SessionStopped(why=why):
            return replace(objective, row=replace(row, reason=why, fault=""), paused=True)
        case ev.SessionResumed(again=True):
            return replace(objective, row=_spoken_to(objective), paused=False)
        case ev.SessionResumed():
            return replace(objective, row=replace(row, reason=""), paused=False)
        case ev.ObjectiveEnded(status=status, reason=reason, summary=summary) as body:
            ended = replace(row, status=status, reason=reason, summary=summary, ended_ms=event.ts_ms)
            ended = replace(ended, facts=body.facts, opinion=body.opinion)
            return replace(objective, row=replace(ended, pending_approvals=0), paused=False, open_calls=())
        case ev.ObjectiveRetried(budget=budget):
            allowed = ev.Budget(
                tokens=_on_top(row.tokens_used + objective.reserved.tokens, budget.tokens),
                usd_micros=_on_top(row.usd_micros_used + objective.reserved.usd_micros, budget.usd_micros),
            )
            again = replace(row, reason="", summary="", ended_ms=0, iterations=0, budget=allowed)
            return replace(objective, row=again, paused=False)
        case ev.MessageReceived() as body if objective.talk.interactive:
            return replace(objective, row=_spoken_to(_titled(objective, body)), paused=False)
        case ev.TurnEnded() if objective.talk.unread:
            return replace(objective, row=replace(row, iterations=0), open_calls=())
        case ev.TurnEnded(reason=reason, summary=summary, facts=facts):
            return replace(objective, row=replace(row, reason=reason, summary=summary, facts=facts), open_calls=())
        case ev.SessionClosed():
            return replace(objective, open_calls=())
        case ev.ConversationSet(carried=carried):
            then = replace(row, plan=carried.plan, reason="", summary="")
            return replace(objective, row=then, open_calls=())
        case ev.SessionLabelled() as said:
            given = {
                name: value for name in ("title", "tags", "archived") if (value := getattr(said, name)) is not None
            }
            if said.trashed is not None:
                given["trashed_ms"] = event.ts_ms if said.trashed else 0
            return replace(objective, row=replace(row, **given))
        case ev.BudgetRaised(budget=budget):
            return replace(objective, row=replace(row, budget=budget))
        case ev.AgentSpawned():
            return replace(objective, row=replace(row, agents=row.agents + 1))
        case ev.AgentEnded(spend=spend, iterations=iterations):
            counted = replace(
                row,
                agents=max(0, row.agents - 1),
                tokens_used=row.tokens_used + spend.tokens,
                usd_micros_used=row.usd_micros_used + spend.usd_micros,
                price_known=row.price_known and spend.price_known,
                iterations=row.iterations + iterations,
            )
            return replace(objective, row=counted)
        case ev.ModelSwitched(chain=chain):
            return replace(objective, row=replace(row, chain=chain))
        case ev.ReviewWanted(review=review):
            return replace(objective, row=replace(row, review=review))
        case ev.TrialDiscarded() | ev.TrialApplied(left=False):
            return replace(objective, row=replace(row, review=Review()))
        case _:
            return objective


def _guarded(body: ev.SessionOpened) -> tuple[str, ...]:
    """The constraints that the guardian keeps, as rules that were recorded at the opening."""
    said = {rule.text for rule in body.rules or ()}
    return tuple(text for text in body.constraints if " ".join(text.split()) in said)


def _titled(objective: Objective, body: ev.MessageReceived) -> Objective:
    """A session without a title of its own is called by the first line of its first message."""
    row = objective.row
    line = next((line for text in body.text.splitlines() if (line := text.strip("#*-> \t"))), "")
    if row.turns or row.title != PurePath(row.directory).name or body.label.taints or not line:
        return objective
    return replace(objective, row=replace(row, title=line[:80]))


def _spoken_to(objective: Objective) -> ObjectiveRow:
    """The row of a session after a message: they begin a turn, go on with one that was held, or add to it."""
    row = objective.row
    if objective.talk.resting:
        return replace(row, reason="", summary="", iterations=0)
    return replace(row, reason="") if objective.paused else row


def standing(before: Objective, after: Objective) -> Standing:
    """What the items of the event between the two depend on."""
    return Standing(before.items, before.steps, after.talk.turn, before.row.plan, before.talk.unanswered)


def request(objective: Objective) -> OpenRequest | None:
    """What waits for a reply."""
    if not objective.open_request:
        return None
    return OpenRequest(objective.open_request, objective.requested_ms, objective.reading)


def asked(objective: Objective, event: ev.Event, body: ev.ApprovalRequested) -> ApprovalRow:
    """A new question."""
    return ApprovalRow(
        id=body.id,
        session=event.session,
        title=objective.row.title,
        directory=objective.row.directory,
        key=body.key,
        tool=body.tool,
        arguments=body.arguments,
        digest=body.digest,
        level=body.level,
        rule=body.reason.rule,
        reason=body.reason.text,
        risk=body.risk,
        status="pending",
        door="",
        requested_ms=event.ts_ms,
        expires_at_ms=body.expires_at_ms,
        shape=body.shape,
        sources=body.sources,
        origins=body.origins,
        bound=body.bound,
    )


def answered(row: ApprovalRow, body: Answered, ts_ms: int) -> ApprovalRow:
    """A question after its answer, which came at ``ts_ms``."""
    match body:
        case ev.ApprovalGiven(door=door):
            return replace(row, status="given", door=door, answered_ms=ts_ms)
        case ev.ApprovalDenied(door=door):
            return replace(row, status="denied", door=door, answered_ms=ts_ms)
        case ev.ApprovalLapsed():
            return replace(row, status="lapsed", answered_ms=ts_ms)


def shown(objective: Objective, goal: str) -> ObjectiveRow:
    """The row with the goal put back."""
    return replace(objective.row, goal=goal)


def open_run(objective: Objective) -> OpenRunRow:
    """What an objective that has not ended is at."""
    row = objective.row
    what = {"waiting": "waits for an answer", "paused": "paused", "pending": "not begun"}.get(row.status, "next step")
    since_ms = row.updated_ms
    if objective.open_calls:
        call = objective.open_calls[0]
        since_ms, what = call.since_ms, f"tool {call.tool} ({call.key})"
    elif objective.open_request:
        since_ms, what = objective.requested_ms, f"model request {objective.open_request}"
    return OpenRunRow(row.id, since_ms, what, row.title, row.kind, row.usd_micros_used, row.price_known)


def searchable(body: ev.Body) -> str:
    """The words of an event that the history is searched by; "" for none."""
    match body:
        case ev.SessionOpened(title=title, contract=contract):
            goal = contract.goal if contract else ""
            return goal if goal.startswith(title) else f"{title}\n{goal}".strip()
        case ev.TurnEnded(summary=summary):
            return summary
        case ev.CallEdited(arguments=arguments):
            return " ".join(_strings(arguments))
        case ev.GoalChanged(goal=text) | ev.SessionLabelled(title=str(text)):
            return text
        case ev.MessageReceived(text=text) | ev.ToolFinished(text=text) | ev.MessageChanged(text=text):
            return text
        case ev.ModelReplied(parts=parts):
            return "\n".join(_words_of(part) for part in parts)
        case _:
            return ""


def by(body: ev.Body) -> str:
    """Who said or did it, for what ``searchable`` has words of."""
    match body:
        case ev.SessionOpened(contract=contract):
            return "goal" if contract else "title"
        case ev.TurnEnded():
            return "turn"
        case ev.ModelReplied():
            return "model"
        case ev.ToolFinished(tool=tool, outcome=outcome):
            return f"{tool}: {outcome}"
        case ev.MessageReceived(material=material) if material:
            return f"handed over: {material}"
        case _:
            return "person"


def _words_of(part: ReplyPart) -> str:
    match part:
        case Text(text=text):
            return text
        case ToolCall(tool=tool, arguments=arguments):
            return f"{tool} {' '.join(_strings(arguments))}"
        case _:
            return ""


def _strings(arguments: str) -> list[str]:
    """The values of a call's arguments, without the quoting of JSON; the text as it is where that does not parse."""
    try:
        plain = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):  # a model may nest as deeply as it likes
        return [arguments]
    found: list[str] = []
    todo = [plain]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(reversed(value.values()))
        elif isinstance(value, list):
            todo.extend(reversed(value))
        elif value is not None:
            found.append(str(value))
    return found


def _settled(objective: Objective, spend: ev.Spend) -> Objective:
    row = objective.row
    return replace(
        objective,
        row=replace(
            row,
            tokens_reserved=0,
            tokens_used=row.tokens_used + spend.tokens,
            usd_micros_used=row.usd_micros_used + spend.usd_micros,
            price_known=row.price_known and spend.price_known,
        ),
        open_request=RequestNo(0),
        requested_ms=0,
        reserved=ev.Spend(),
    )


def _status(objective: Objective) -> ObjectiveStatus:
    """The same words, by the same rule, as ``domain.sessions.status``; it also waits for what is asked below it."""
    row = objective.row
    if row.ended_ms:
        return row.status
    if objective.talk.closed:
        return "closed"
    if objective.paused:
        return "paused"
    if objective.talk.resting:
        return "idle"
    if row.pending_approvals:
        return "waiting"
    return "running" if objective.requests else "pending"


def _on_top(spent: int, more: int | ev.Unlimited) -> int | ev.Unlimited:
    return more if more == "unlimited" else spent + more
