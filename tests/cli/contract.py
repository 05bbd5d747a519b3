"""What each path of the API answers, in the simulator: the very commands, rows and events of the product."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import msgspec

from stead.domain import commands
from stead.domain.commands import Answer
from stead.domain.ends import ENDS
from stead.domain.events import (
    ApprovalDenied,
    ApprovalGiven,
    Body,
    Contract,
    Event,
    Limits,
    SessionDeleted,
    SessionOpened,
    SessionPaused,
    SessionResumed,
    SessionStopped,
)
from stead.domain.forecast import Forecast
from stead.domain.ids import CommandId, SessionId, WorkspaceId
from stead.domain.policies import Profile
from stead.domain.ports import Isolation
from stead.domain.providers import ProviderCheck, ProviderRow
from stead.domain.rows import ObjectiveRow, ObjectiveStatus, OpenRunRow, SearchRow, UsageRow
from stead.domain.simulation import PolicyChange, Simulation
from stead.domain.timeline import TimelinePage
from stead.domain.trust import TierRow, TrackRecord
from stead.runtime import readiness
from stead.runtime.memory_service import MemoryState
from stead.runtime.service import Readiness
from stead.web.backend import PresetRow
from tests.cli import session_api
from tests.cli.wire import REHEARSAL, Refused, now_ms, page, parse, parse_plain
from tests.timelines import page_of

if TYPE_CHECKING:
    from tests.cli.simulator import Run, Simulator

ISOLATION = Isolation(True, "bubblewrap", "its own namespaces, no network, reads denied by default", ())


def answer(api: Simulator, method: str, path: str, query: dict[str, str], body: bytes, key: str) -> tuple[int, object]:
    """What the API answers."""
    parts = tuple(path.strip("/").split("/"))
    if parts[0] == "sessions" and len(parts) > 1 and parts[1] in api.runs:
        parts = ("objectives", *parts[1:])  # the same session by its other name
    if method == "GET" and parts[2:] == ("timeline",):
        return 200, _timeline(api, parts[1], int(query.get("after", 0)))
    if parts[0] == "sessions":
        return session_api.answer(api, method, parts, query, body, key)
    if method == "GET":
        return 200, _read(api, parts, query)
    if key in api.claims:
        return 200, api.claims[key]
    command: Any = None
    match method, parts:
        case "POST", ("objectives",):
            command = parse(body, commands.OpenSession)
            if not os.path.isdir(command.directory):
                raise Refused(400, "invalid", f"there is no folder {command.directory!r}; give one that exists")
            given = Answer(CommandId(key), api.begin(command, key).id, len(api.events))
        case "POST", ("objectives", session, action):
            command = _act(api, _run(api, session), action, body, key)
            given = Answer(CommandId(key), SessionId(session), len(api.events))
        case "POST", ("approvals", approval, "decision"):
            command = _decide(api, approval, body)
            given = Answer(CommandId(key), api.approvals[approval].session, len(api.events))
        case "POST", ("sign-in-codes",):
            host = "127.0.0.1" if msgspec.json.decode(body).get("plain_host") else "brave-otter.localhost"
            return 200, {"code": "c0de", "url": f"http://{host}:{api.port}/#code=c0de"}
        case "POST", ("providers", name, "test"):
            _provider_of(api, name)
            ok = name != "broken"
            text, fix = ("answered ok", "") if ok else ("no key", "set one")
            return 200, ProviderCheck(name, ok, text, 42, ("m-1", "m-2"), "" if ok else "unconfigured", fix)
        case "POST", ("rules", "simulate"):
            msgspec.json.decode(body, type=PolicyChange)
            return 200, Simulation(0, 0, (), {}, 0, (), ())
        case "POST", ("status", "check"):
            return 200, _status(api)
        case _:
            command = _configure(api, method, parts, body)
            given = Answer(CommandId(key), SessionId("home"), len(api.events))
    api.commands.append(command)
    api.claims[key] = given
    with api.changed:
        api.changed.notify_all()
    return (201 if parts == ("objectives",) else 200), given


def _configure(api: Simulator, method: str, parts: tuple[str, ...], body: bytes) -> Any:
    match method, parts:
        case "POST", ("stop",):
            stop = commands.Stop(SessionId("*"), **parse_plain(body, {"why"}))
            for run in api.runs.values():
                run.happen(SessionStopped("cli", stop.why))
            return stop
        case "POST", ("providers",):
            wanted = parse(body, commands.ConfigureProvider)
            api.providers[wanted.name] = ProviderRow(
                wanted.name, wanted.preset, wanted.base_url, wanted.model, wanted.key, False
            )
            return wanted
        case "POST", ("providers", name, "key"):
            _provider_of(api, name)
            return commands.SetProviderKey(name, **parse_plain(body, {"key"}))
        case "DELETE", ("providers", name):
            _provider_of(api, name)
            del api.providers[name]
            return commands.RemoveProvider(name)
        case "POST", ("chain",):
            chosen = parse(body, commands.SetChain)
            for ref in chosen.chain:
                _provider_of(api, ref.provider)
            api.chain = chosen.chain
            return chosen
        case "POST", ("cap",):
            cap = parse(body, commands.SetCap)
            api.caps |= {name: given for name in api.caps if (given := getattr(cap, name))}
            return cap
        case "POST", ("views", "rebuild"):
            return None
        case _:
            raise Refused(404, "not_found", f"there is no {method} {'/'.join(parts)}")


def _act(api: Simulator, run: Run, action: str, body: bytes, key: str) -> Any:
    session = run.id
    match action:
        case "pause":
            run.status = "paused"
            run.happen(SessionPaused("by the person"))
            return commands.Pause(session)
        case "resume":
            run.status = "running"
            run.happen(SessionResumed())
            return commands.Resume(session)
        case "cancel":
            run.end("cancelled", "cancelled")
            return commands.Cancel(session)
        case "stop":
            stop = commands.Stop(session, **parse_plain(body, {"why"}))
            run.status = "paused"
            run.happen(SessionStopped("cli", stop.why))
            return stop
        case "retry":
            return msgspec.convert({**msgspec.json.decode(body), "session": session}, commands.Retry)
        case "delete":
            if run.status not in ENDS:
                raise Refused(409, "conflict", f"{session!r} has not ended; cancel it first")
            run.happen(SessionDeleted())
            return commands.Delete(session)
        case "messages":
            return commands.SendMessage(session, **parse_plain(body, {"text"}))
        case "revoke":
            return commands.Revoke(session, **parse_plain(body, {"tool"}))
        case _:
            raise Refused(404, "not_found", f"there is no action {action!r}")


def _decide(api: Simulator, approval: str, body: bytes) -> commands.Decide:
    row = api.approvals.get(approval)
    if row is None:
        raise Refused(404, "not_found", f"there is no approval {approval!r}")
    decision = msgspec.convert({**msgspec.json.decode(body), "approval": approval}, commands.Decide)
    if row.status != "pending" or decision.digest != row.digest:
        raise Refused(409, "conflict", f"{approval!r} is answered already; look at it again")
    denied = decision.answer == "deny"
    api.approvals[approval] = msgspec.structs.replace(row, status="denied" if denied else "given", door="cli")
    fact: Body = (
        ApprovalDenied(row.id, row.key, "cli", decision.reason)
        if denied
        else ApprovalGiven(row.id, row.key, row.digest, "cli")
    )
    api.record(row.session, "person", fact)
    with api.changed:
        api.answers[approval] = decision.answer
        api.changed.notify_all()
    return decision


def _status(api: Simulator) -> Readiness:
    standing = Readiness("0.1.0", "test", now_ms() - 5000, len(api.events), api.chain, True, api.isolation, 1, 0)
    return msgspec.structs.replace(standing, parts=readiness.parts(api.chain, [*api.providers.values()], api.isolation))


def _read(api: Simulator, parts: tuple[str, ...], query: dict[str, str]) -> object:
    match parts:
        case ("status",):
            return _status(api)
        case ("memories", "state"):
            return MemoryState(api.legs, api.places, 0, 0, api.files)
        case ("objectives",):
            rows = [_objective(api, run) for run in reversed(api.runs.values())]
            return page([row for row in rows if query.get("status", row.status) == row.status], query)
        case ("objectives", session) if session in api.sessions:
            return session_api.session_row(api.sessions[session])
        case ("objectives", session):
            return _objective(api, _run(api, session))
        case ("objectives", _, "agents"):
            return page([], query)
        case ("objectives", session, "steps"):
            return page([step for step in api.steps if step.session == _run(api, session).id], query)
        case ("reviews",) | ("notifications",) | ("channels",):
            return {"items": [], "next": None}
        case ("approvals",):
            wanted = query.get("status", "pending")
            asked = [row for row in api.approvals.values() if query.get("session", row.session) == row.session]
            return page([row for row in asked if wanted in ("all", row.status)], query)
        case ("approvals", approval):
            if approval not in api.approvals:
                raise Refused(404, "not_found", f"there is no approval {approval!r}; see: stead approvals")
            return api.approvals[approval]
        case ("providers",):
            return page(list(api.providers.values()), query)
        case ("providers", "presets"):
            return page([PresetRow("openai", "OpenAI", "https://api.example.com/v1", "m-1", "OPENAI_API_KEY")], query)
        case ("chain",):
            return {"chain": api.chain}
        case ("cap",):
            spent = {"tokens": 990, "usd_micros": 0, "price_known": True}
            return {
                **api.caps,
                "warn_at": [50, 80, 95],
                "warned": [],
                "today": "2025-10-09",
                "spent_today": spent,
                "spent_month": spent,
                "channels": [],
            }
        case ("forecast",):
            return Forecast()
        case ("usage",):
            return page([UsageRow("2031-05-04", "acme", "m-1", 3, 1, 1200, 340, 800, 12_345, True)], query)
        case ("tiers",):
            return page([TierRow("acme", "m-1", "strict", "measured", TrackRecord(40, 50, 6, 1, 2, 0, 3, 9))], query)
        case ("search",):
            hit = SearchRow(
                7, SessionId("s_00000000000000aa"), 1_900_000_000_000, "model.replied", f"a «{query['q']}» b"
            )
            return page([hit], query)
        case ("open-runs",):
            since_ms = now_ms() - 65_000
            at_work = [OpenRunRow(SessionId(run), since_ms, "model", "Tides", "objective", 0, True) for run in api.runs]
            return page(at_work, query)
        case ("events",):
            return _events(api, query)
        case ("schedules",) | ("egress", "hosts") | ("mcp",) | ("profiles",):
            return page(list(api.listed.get("/".join(parts), ())), query)
        case ("web-search",):
            return api.search
        case _:
            raise Refused(404, "not_found", f"there is no {'/'.join(parts)!r}")


def _events(api: Simulator, query: dict[str, str]) -> object:
    streams = [name for name in query.get("streams", "").split(",") if name]
    after, limit = int(query.get("after", 0)), int(query.get("limit", 50))
    found = [event for event in api.events[after:] if not streams or event["stream"] in streams]
    return {"items": found[:limit], "head": len(api.events)}


def _timeline(api: Simulator, session: str, after: int) -> TimelinePage:
    found = [event for event in api.events if event["stream"] == session]
    if not found or found[-1]["body"]["type"] == "session.deleted":
        raise Refused(404, "not_found", f"there is no session {session!r}; see: stead session list")
    events = [
        Event(at["seq"], SessionId(session), place, at["ts"], at["actor"], CommandId(at["cause"]), _body(at["body"]))
        for place, at in enumerate(found)
    ]
    return page_of(events, after)


def _body(body: dict[str, Any]) -> Body:
    given: Body = msgspec.convert(body, Body)
    return given


def _run(api: Simulator, session: str) -> Run:
    if session not in api.runs:
        raise Refused(404, "not_found", f"there is no objective {session!r}; see: stead objectives --all")
    return api.runs[session]


def _provider_of(api: Simulator, name: str) -> None:
    if name not in api.providers:
        raise Refused(404, "not_found", f"no provider is called {name!r}; see: stead providers list")


def provider_row(name: str, *, found: bool) -> ProviderRow:
    return ProviderRow(name, name, "", name, "none", found)


def created(command: commands.OpenSession) -> SessionOpened:
    return SessionOpened(
        WorkspaceId("default"), command.title or (command.goal or "").split("\n")[0], command.directory, command.tools,
        command.chain or (REHEARSAL,), command.budget or commands.DEFAULT_BUDGET, Limits(), Profile.ASK, "",
        Contract(command.goal or ""), command.constraints,
    )  # fmt: skip


def _objective(api: Simulator, run: Run) -> ObjectiveRow:
    goal = run.command.goal or ""
    ended = run.status in ENDS
    pending = sum(row.session == run.id and row.status == "pending" for row in api.approvals.values())
    return ObjectiveRow(
        id=run.id,
        title=run.command.title or goal.split("\n")[0],
        goal=goal,
        constraints=run.command.constraints,
        status=cast("ObjectiveStatus", run.status),
        reason=run.reason,
        summary=run.summary,
        directory=run.command.directory,
        chain=run.command.chain or (REHEARSAL,),
        budget=run.command.budget or commands.DEFAULT_BUDGET,
        tokens_used=run.tokens,
        tokens_reserved=0,
        usd_micros_used=0,
        price_known=True,
        iterations=2,
        plan=(),
        pending_approvals=pending,
        created_ms=now_ms() - 4000,
        updated_ms=now_ms(),
        ended_ms=now_ms() if ended else 0,
    )
