"""What the API answers below ``/sessions``, in the simulator: the very commands, rows and events of the product."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import msgspec

from stead.domain import commands
from stead.domain.checkpoints import FileChange, LeftOut
from stead.domain.commands import Answer
from stead.domain.context_rows import ContextPart, ContextRow
from stead.domain.events import (
    Body,
    BudgetRaised,
    CallCancelled,
    CallEdited,
    CallRetried,
    CheckpointRestored,
    CheckpointTaken,
    EditUndone,
    Limits,
    MessageReceived,
    PlanMade,
    SessionClosed,
    SessionDeleted,
    SessionOpened,
    SessionPaused,
    SessionResumed,
    SessionStopped,
)
from stead.domain.ids import CheckpointId, CommandId, SessionId, WorkspaceId
from stead.domain.policies import Label, Profile
from stead.domain.rows import ObjectiveRow, ObjectiveStatus
from stead.domain.work_rows import CheckpointRow, EditRow
from tests.cli.wire import REHEARSAL, Markdown, Refused, now_ms, page, parse

if TYPE_CHECKING:
    from tests.cli.simulator import Simulator, Sitting

CONTEXT = ContextRow(
    parts=(
        ContextPart("results", "read", 3, 12_400, 6.2, trimmed=True, cached=True),
        ContextPart("instructions", "", 1, 995, 0.5, trimmed=False, cached=True),
        ContextPart("words", "", 2, 80, 0.04, trimmed=False, cached=False),
    ),
    tokens=13_475,
    window_tokens=200_000,
    used_percent=6.7,
    trims_at_tokens=160_000,
    trimmed_messages=2,
    messages=9,
    counted=True,
    model=REHEARSAL,
    usd_micros=40_425,
    cached_usd_micros=4_100,
    price_known=True,
)
MARKDOWN = "# Tidy up\n\n## Turn 1\n\n> tidy up\n\nDone.\n"
LEFT_OUT = (LeftOut("node_modules", "always left out"),)

_ACTIONS: dict[tuple[str, ...], type[Any]] = {
    ("messages",): commands.SendMessage,
    ("pause",): commands.Pause,
    ("resume",): commands.Resume,
    ("stop",): commands.Stop,
    ("close",): commands.CloseSession,
    ("delete",): commands.Delete,
    ("revoke",): commands.Revoke,
    ("fork",): commands.ForkSession,
    ("checkpoints",): commands.TakeCheckpoint,
    ("checkpoints", "", "restore"): commands.RestoreCheckpoint,
    ("changes", "", "undo"): commands.UndoEdit,
    ("calls", "", "edit"): commands.EditCall,
    ("calls", "", "cancel"): commands.CancelCall,
    ("calls", "", "retry"): commands.RetryCall,
    ("plan",): commands.SetPlan,
    ("budget",): commands.RaiseBudget,
}
_NAMES = {"checkpoints": "checkpoint", "changes": "key", "calls": "key"}


def answer(
    api: Simulator, method: str, parts: tuple[str, ...], query: dict[str, str], body: bytes, key: str
) -> tuple[int, object]:
    """What the API answers."""
    if method == "GET":
        return 200, _list(api, query) if parts == ("sessions",) else _read(_sitting(api, parts[1]), parts[2:], query)
    if key in api.claims:
        return 200, api.claims[key]
    if method == "POST" and parts == ("sessions",):
        command: Any = parse(body, commands.OpenSession)
        if not os.path.isdir(command.directory):
            raise Refused(400, "invalid", f"there is no folder {command.directory!r}; give one that exists")
        sitting = api.seat(command)
        api.record(sitting.id, "person", opened(command, sitting.title), cause=key)
        given = Answer(CommandId(key), sitting.id, len(api.events))
    else:
        sitting = _sitting(api, parts[1])
        command = _command(method, sitting.id, parts[2:], body)
        given = _act(api, sitting, command, key)
    api.commands.append(command)
    api.claims[key] = given
    with api.changed:
        api.changed.notify_all()
    return (201 if parts == ("sessions",) or parts[2:] == ("fork",) else 200), given


def opened(command: commands.OpenSession, title: str) -> SessionOpened:
    """The first event of a session."""
    return SessionOpened(
        WorkspaceId("default"), title, command.directory, command.tools, command.chain or (REHEARSAL,),
        command.budget or commands.SESSION_BUDGET, Limits(), Profile.ASK, "", ignore=command.ignore,
    )  # fmt: skip


def _command(method: str, session: SessionId, parts: tuple[str, ...], body: bytes) -> Any:
    """The body as the very command, strictly: a field too much or of another type is a breach."""
    way = (parts[0], "", parts[2]) if len(parts) == 3 else parts
    kind = _ACTIONS.get(way)
    if kind is None or (method == "PUT") != (way == ("plan",)):
        raise Refused(404, "not_found", f"there is no {method} {'/'.join(parts)}")
    fields = msgspec.json.decode(body)
    if kind is commands.RaiseBudget:
        fields = {"budget": fields}
    named = {_NAMES[parts[0]]: parts[1]} if len(parts) == 3 else {}
    try:
        return msgspec.convert({**fields, **named, "session": session}, kind)
    except msgspec.ValidationError as error:
        raise Refused(400, "breach", str(error)) from error


def _act(api: Simulator, sitting: Sitting, command: Any, key: str) -> Answer:
    if isinstance(command, commands.ForkSession):
        wanted = command.directory or sitting.command.directory
        fork = api.seat(commands.OpenSession(wanted, title=command.title or f"{sitting.title} (fork)"))
        api.record(fork.id, "person", opened(fork.command, fork.title), cause=key)
        return Answer(CommandId(key), fork.id, len(api.events), "with the files as they are now")
    facts = _facts(sitting, command)
    api.record(sitting.id, "person", *facts, cause=key)
    given = Answer(CommandId(key), sitting.id, len(api.events))
    if isinstance(command, commands.SendMessage):
        sitting.heard.append(command.text)
        if sitting.status != "running":
            api.take_turn(sitting, command.text)
    return given


def _facts(sitting: Sitting, command: Any) -> tuple[Body, ...]:
    match command:
        case commands.SendMessage(text=text, interrupt=interrupt):
            return (MessageReceived(text, "cli", Label(), interrupt),)
        case commands.Pause():
            sitting.status = "paused"
            return (SessionPaused("by the person"),)
        case commands.Resume():
            sitting.status = "running"
            return (SessionResumed(),)
        case commands.Stop(why=why):
            sitting.status = "paused"
            sitting.cancelled.set()
            return (SessionStopped("cli", why),)
        case commands.CloseSession():
            sitting.status = "closed"
            return (SessionClosed("cli"),)
        case commands.Delete():
            if sitting.status != "closed":
                raise Refused(409, "conflict", f"{sitting.id!r} is not closed; close it first")
            return (SessionDeleted(),)
        case commands.SetPlan(steps=steps):
            sitting.plan = steps
            return (PlanMade(steps, "person"),)
        case commands.RaiseBudget(budget=budget):
            sitting.budget = budget
            return (BudgetRaised(budget, "cli"),)
        case commands.EditCall() | commands.CancelCall() | commands.RetryCall():
            return (_call_fact(sitting, command),)
        case _:
            return _file_facts(sitting, command)


def _call_fact(sitting: Sitting, command: commands.EditCall | commands.CancelCall | commands.RetryCall) -> Body:
    tool = next((call.tool for call in sitting.calls if call.key == command.key), "")
    if not tool:
        raise Refused(404, "not_found", f"there is no open call {command.key!r}; see: stead session calls ID")
    match command:
        case commands.EditCall(key=key, arguments=arguments):
            for approval, row in list(sitting.api.approvals.items()):
                if row.key == key and row.status == "pending":
                    sitting.api.approvals[approval] = msgspec.structs.replace(row, status="lapsed")
                    sitting.api.answers[approval] = arguments
            return CallEdited(key, tool, arguments, "cli")
        case commands.CancelCall(key=key, reason=reason):
            return CallCancelled(key, tool, reason, "cli")
        case commands.RetryCall(key=key):
            return CallRetried(key, tool, "cli")


def _file_facts(sitting: Sitting, command: Any) -> tuple[Body, ...]:
    match command:
        case commands.TakeCheckpoint(note=note):
            return (take_checkpoint(sitting, note=note),)
        case commands.RestoreCheckpoint(checkpoint=id, files=files, conversation=conversation, paths=paths):
            if all(row.id != id for row in sitting.checkpoints):
                raise Refused(404, "not_found", f"there is no checkpoint {id!r}")
            before = take_checkpoint(sitting, why="restore")
            talk = conversation and not paths
            changed = tuple(change.path for change in sitting.differences.get((id, ""), ()))
            fact = CheckpointRestored(id, before.id, files, talk, len(changed), changed, (), "cli")
            return (before, fact)
        case commands.UndoEdit(key=key, path=path, again=again):
            found = [row for row in sitting.edits if row.key == key and path in ("", row.change.path)]
            if len(found) != 1:
                raise Refused(400, "invalid", f"the call {key!r} changed {len(found)} such files; name one of them")
            index = sitting.edits.index(found[0])
            if found[0].undone != again:
                raise Refused(409, "conflict", "it was undone already")
            sitting.edits[index] = msgspec.structs.replace(found[0], undone=not again)
            return (EditUndone(key, found[0].change.path, again, "cli"),)
        case _:
            raise Refused(404, "not_found", f"{command!r} is not for sessions")


def take_checkpoint(sitting: Sitting, *, why: str = "person", note: str = "") -> CheckpointTaken:
    """A checkpoint in the list, and its event."""
    reason = cast("Any", why)
    fact = CheckpointTaken(
        CheckpointId(f"k_{os.urandom(8).hex()}"), sitting.turns, len(sitting.api.events), reason, "r" * 64,
        1204, 48_200_000, 3, 9_000, LEFT_OUT, 2, 420, note,
    )  # fmt: skip
    row = CheckpointRow(
        fact.id, sitting.id, fact.turn, fact.at, fact.at, now_ms(), why, note, fact.files, fact.size_bytes,
        fact.changed, fact.left_out_count,
    )  # fmt: skip
    sitting.checkpoints.append(row)
    return fact


def edit_row(sitting: Sitting, key: str, change: FileChange) -> EditRow:
    """A change in the list."""
    row = EditRow(cast("Any", key), sitting.turns, len(sitting.api.events), now_ms(), undone=False, change=change)
    sitting.edits.append(row)
    return row


def _list(api: Simulator, query: dict[str, str]) -> object:
    rows = [session_row(sitting) for sitting in reversed(api.sessions.values())]
    return page([row for row in rows if query.get("status", row.status) == row.status], query)


def _read(sitting: Sitting, parts: tuple[str, ...], query: dict[str, str]) -> object:
    match parts:
        case ():
            return session_row(sitting)
        case ("calls",):
            return page(sitting.calls, query)
        case ("checkpoints",):
            return page(sitting.checkpoints, query)
        case ("changes",):
            return page(sitting.edits, query)
        case ("agents",):
            return page([], query)
        case ("watchers",):
            return page(sitting.watchers, query)
        case ("diff",):
            way = (query.get("old", ""), query.get("new", ""))
            if way not in sitting.differences:
                raise Refused(404, "not_found", "there is no checkpoint yet; take one: stead session checkpoint ID")
            return page(sitting.differences[way], query)
        case ("context",):
            return CONTEXT
        case ("export",) if query == {"format": "markdown"}:
            return Markdown(MARKDOWN)
        case _:
            raise Refused(404, "not_found", f"there is no {'/'.join(parts)!r}")


def _sitting(api: Simulator, session: str) -> Sitting:
    if session not in api.sessions:
        raise Refused(404, "not_found", f"there is no session {session!r}; see: stead session list")
    return api.sessions[session]


def session_row(sitting: Sitting) -> ObjectiveRow:
    """A session as lists show it."""
    api, command = sitting.api, sitting.command
    pending = sum(row.session == sitting.id and row.status == "pending" for row in api.approvals.values())
    return ObjectiveRow(
        id=sitting.id,
        title=sitting.title,
        goal="",
        constraints=(),
        status=cast("ObjectiveStatus", sitting.status),
        reason=sitting.reason,
        summary=sitting.summary,
        directory=command.directory,
        chain=command.chain or (REHEARSAL,),
        budget=sitting.budget,
        tokens_used=sitting.tokens,
        tokens_reserved=0,
        usd_micros_used=0,
        price_known=True,
        iterations=2,
        plan=sitting.plan,
        pending_approvals=pending,
        created_ms=now_ms() - 4000,
        updated_ms=now_ms(),
        ended_ms=0,
        kind="session",
        turns=sitting.turns,
    )
