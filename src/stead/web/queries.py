"""The questions in the table of routes: what is read, and the few requests that do something without a command.

Layer: a door. It must not know how a row came about. What blocks is called in threads; the live streams themselves are
in ``live.py``. Names, diffs and texts are shown as they are: a model or a stranger may have written them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from operator import attrgetter, methodcaller
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from stead.domain.audit import AuditReport, Decision
from stead.domain.errors import NotFound
from stead.domain.events import Budget, CapWarned, ModelRef, Spend
from stead.domain.forecast import Forecast, Run, forecast, named
from stead.domain.ids import SessionId
from stead.domain.opening import OpenSession
from stead.domain.policies import Rule
from stead.domain.profiles import NamedProfile
from stead.domain.registries import REGISTRIES, spelled_out
from stead.domain.rows import ApprovalRow, ChannelCaps, Kind, ObjectiveRow, ObjectiveStatus, SearchRow, StepRow, Wanted
from stead.domain.rule_rows import RulePreview, RuleRow, ToolRow
from stead.domain.services import ServiceLog, ServicePreview, ServiceRow
from stead.domain.simulation import PolicyChange
from stead.domain.terminals import MOST_COLUMNS, MOST_ROWS, TerminalRow
from stead.domain.timeline import TimelinePage
from stead.domain.work_rows import Watcher
from stead.runtime import service as runtime
from stead.runtime.cap_warnings import standing_warnings
from stead.runtime.caps import channel_caps
from stead.runtime.deps import ChannelService, NotificationService, TrustService
from stead.runtime.external_agents import AgentRoom
from stead.runtime.home import HomeState
from stead.runtime.loading import day_of
from stead.runtime.mcp import McpRoom
from stead.runtime.rejudging import Rejudging
from stead.runtime.settings_file import SettingsRoom
from stead.web import backend
from stead.web.backend import PresetRow
from stead.web.envelopes import ControlEnvelope, Envelope, TransientEnvelope, encode_event
from stead.web.errors import Json, Problem, answer
from stead.web.exports import AnySession
from stead.web.live import SEQ_MAX, parse_streams
from stead.web.routes import Content, Context, Field, get, post
from stead.web.watch import read

Limit = Annotated[int, Meta(ge=1, le=500)]
Cursor = Annotated[str, Meta(pattern=r"^[0-9]{0,18}$", description="The ``next`` of the page before.")]
Place = Annotated[int, Meta(ge=0, le=SEQ_MAX)]
Moment = Annotated[int, Meta(ge=0, le=2**53, description="Milliseconds since 1970; 0 for any.")]
Folder = Annotated[
    str, Meta(max_length=4096, pattern="^(/.*)?$", description='An absolute path; "" for none, or for any.')
]
_ModelName = Annotated[str, Meta(max_length=300, description='PROVIDER/MODEL; "" for the one that is used by default.')]
_Weeks = Annotated[int, Meta(ge=1, le=520)]
_Days = Annotated[int, Meta(ge=1, le=3660)]
_Day = Annotated[
    str, Meta(pattern=r"^(\d{4}-\d\d-\d\d)?$", description='A day of the person\'s, YYYY-MM-DD; "" for any.')
]
_Ahead = Annotated[int, Meta(ge=1, le=62)]
_Checkpoint = Annotated[str, Meta(pattern=r"^(k_[0-9a-f]{16})?$", description="A checkpoint.")]
_Inside = Annotated[str, Meta(max_length=4096, description="From the workspace on, as a listing has it.")]
_File = Annotated[str, Meta(min_length=1, max_length=4096, description="From the workspace on, as a listing has it.")]
_StreamNames = Annotated[
    str,
    Meta(max_length=7000, pattern=r"^([a-z0-9_]{1,64}(,[a-z0-9_]{1,64}){0,99})?$", description="Empty for all."),
]
_DoorName = Annotated[
    str,
    Meta(pattern=r"^([a-z][a-z0-9-]{0,31})?$", description="What the watcher calls itself to those who watch too."),
]
_PATH = {"path": Field(_Inside, "")}
_AHEAD = {"days": Field(_Ahead, 14)}
_AT = {"directory": Field(Folder, "")}
_FILE = {"path": Field(_File)}
_OVER = {"days": Field(_Days, 30), "since": Field(_Day, ""), "until": Field(_Day, "")}
_CHECKPOINTS = {"old": Field(_Checkpoint, ""), "new": Field(_Checkpoint, "")}
_IN_ARCHIVE = "newest first; those in the archive only where they are asked for."
_OBJECTIVES: dict[str, Any] = {"fixed": {"kind": "objective"}, "says": f"Objectives, {_IN_ARCHIVE}"}
_SESSIONS: dict[str, Any] = {"fixed": {"kind": "session"}, "says": f"Interactive sessions, {_IN_ARCHIVE}"}
_ENVELOPES = Content((Envelope, TransientEnvelope, ControlEnvelope), "text/event-stream")
_SERVICE, _VIEWS, _WORK = attrgetter("service"), attrgetter("views"), attrgetter("service.work")
_LOOKS, _TERMINALS = attrgetter("service.looks"), attrgetter("service.terminals")
_REJUDGING, _MCP = attrgetter("rejudging"), attrgetter("service.mcp")
_EXTERNAL = attrgetter("service.mcp.agents")
_NOTIFICATIONS = attrgetter("service.notifications")
_CHANNELS = attrgetter("service.channels")
_PAIRING: dict[str, Any] = {"owner": _CHANNELS, "spread": "wanted"}
_SCHEDULES, _SETTINGS = attrgetter("service.schedules"), attrgetter("service.settings")
_TRIGGERS = attrgetter("service.arrivals")
_AUDIT, _DECISIONS = attrgetter("audit"), attrgetter("decisions")


class ModelChain(msgspec.Struct, frozen=True):
    """Models in the order in which they are tried; empty means whatever is found."""

    chain: tuple[ModelRef, ...]


class Caps(msgspec.Struct, frozen=True):
    """What the whole home may spend in a day and in a month, and which day it is where the person is (``YYYY-MM-DD``).

    What is spent counts requests under way by the most that they can cost. ``warned``: notices of this day and month
    about the caps as they are. ``channels``: those of channels and chats.
    """

    daily: Budget
    monthly: Budget
    warn_at: tuple[int, ...]
    warned: tuple[CapWarned, ...]
    today: str
    spent_today: Spend
    spent_month: Spend
    channels: tuple[ChannelCaps, ...]


class AllowedRow(msgspec.Struct, frozen=True):
    """A pattern of hosts, the folder whose machines may reach them, and the hosts that it stands for.

    ``grants_last``: for ``registries``, whether grants outlast reading from them.
    """

    host: str
    directory: str
    grants_last: bool = False
    hosts: tuple[str, ...] = ()


class EventPage(msgspec.Struct, frozen=True):
    """Envelopes in order, and the journal's head when they were read. None means nothing more up to that head."""

    items: tuple[Envelope, ...]
    head: int


class SignInCode(msgspec.Struct, frozen=True):
    """A one-time code, and the link that signs a browser in with it within ten minutes."""

    code: str
    url: str


class Done(msgspec.Struct, frozen=True):
    """It was done; ``text`` says what."""

    text: str


# -- objectives and sessions ----------------------------------------------------------------------------------------


def list_rows(
    context: Context,
    kind: Kind,
    status: ObjectiveStatus | Literal[""] = "",
    directory: Folder = "",
    tag: str = "",
    since_ms: Moment = 0,
    until_ms: Moment = 0,
    archived: Literal["no", "yes", "trash", "any"] = "no",
    after: Cursor = "",
    limit: Limit = 50,
) -> tuple[Sequence[ObjectiveRow], str]:
    """Objectives or sessions, newest first."""
    wanted = Wanted(status, directory, tag, since_ms, until_ms, archived)
    return context.behind.views.objectives(kind=kind, wanted=wanted, after=after, limit=limit)


def list_steps(
    context: Context, session: SessionId, after: Place = 0, limit: Limit = 50
) -> tuple[Sequence[StepRow], str]:
    """Its steps past an index, in order."""
    rows = context.behind.views.steps(session, after, limit)
    return rows, str(rows[-1].index) if len(rows) == limit else ""


def show_timeline(context: Context, session: SessionId, after: Place = 0, limit: Limit = 500) -> Response:
    """What people read of it, as items: those that are new or changed since event ``after``, and how it stands."""
    return Json(context.behind.views.timeline(session, after, limit))


def list_approvals(
    context: Context, status: Literal["pending", "all"] = "pending", session: AnySession = "", limit: Limit = 50
) -> Sequence[ApprovalRow]:
    """Questions to the person, newest first."""
    whose = SessionId(session) if session else None
    return context.behind.views.approvals(status=status, session=whose, limit=limit)


def list_agents(context: Context, session: SessionId) -> Sequence[ObjectiveRow]:
    """The subagents below it, oldest first, so that each comes after its parent; 500 at most."""
    context.behind.views.objective(session)
    wanted = Wanted(archived="any", below=session)
    return context.behind.views.objectives(kind="objective", wanted=wanted, after="", limit=500)[0][::-1]


async def list_watchers(context: Context, session: SessionId) -> tuple[Watcher, ...]:
    """Who has it before their eyes, the longest first."""
    await asyncio.to_thread(context.behind.views.objective, session)
    return context.streams.watchers.of(session)


async def resize_terminal(
    context: Context,
    session: SessionId,
    terminal: str,
    rows: Annotated[int, Meta(ge=1, le=MOST_ROWS)],
    columns: Annotated[int, Meta(ge=1, le=MOST_COLUMNS)],
) -> TerminalRow:
    """Tell a terminal how large it is now; it is as large as the last page said."""
    found = await context.behind.service.terminals.terminal(session, terminal)
    await found.resize(rows, columns)
    return found.row


async def list_services(context: Context, session: SessionId) -> tuple[ServiceRow, ...]:
    """The services of a session's machine, in the order in which they were first started."""
    return await (await context.behind.service.services(session)).rows(session)


async def show_service(context: Context, session: SessionId, service: str) -> ServiceLog:
    """One service, and the last 64 KiB that it printed."""
    return await (await context.behind.service.services(session)).log(session, service)


async def stop_service(context: Context, session: SessionId, service: str) -> ServiceLog:
    """Kill all processes of a service; gives it as it ended. What it changed lands."""
    stopped, _ = await (await context.behind.service.services(session)).stop(session, service, record=True)
    return stopped


async def preview_service(
    context: Context, session: SessionId, service: str, port: Annotated[int, Meta(ge=0, le=65_535)] = 0
) -> ServicePreview:
    """The URL at which a browser on this computer reaches a port of a service (0: its lowest) until that ends.

    It is a secret. The preview itself is no part of this door (``machines.previews``).
    """
    return await (await context.behind.service.services(session)).preview(session, service, port)


SESSION_ROUTES = (
    get("/objectives", "list_objectives", list_rows, **_OBJECTIVES),
    get("/objectives/{session}", "show_objective", backend.Work.objective, _VIEWS),
    get("/objectives/{session}/steps", "list_steps", list_steps),
    get("/objectives/{session}/trial", "show_trial", runtime.ChangeQueries.trial, _SERVICE, bounds=_PATH),
    get("/objectives/{session}/stays", "list_stays", runtime.ChangeQueries.stays, _SERVICE),
    get("/reviews", "list_reviews", backend.ApprovalViews.reviews, _VIEWS),
    get("/approvals", "list_approvals", list_approvals, leads_to="$response.body#/items/0/id"),
    get("/approvals/{approval}", "show_approval", backend.ApprovalViews.approval, _VIEWS),
    get("/sessions", "list_sessions", list_rows, **_SESSIONS),
    get("/sessions/{session}", "show_session", backend.Work.objective, _VIEWS),
    get("/sessions/{session}/steps", "list_session_steps", list_steps),
    get("/sessions/{session}/timeline", "show_timeline", show_timeline, gives=Content(TimelinePage)),
    get("/sessions/{session}/agents", "list_agents", list_agents),
    get("/sessions/{session}/context", "show_context", runtime.Work.context, _WORK),
    get("/sessions/{session}/watchers", "list_watchers", list_watchers),
    get("/sessions/{session}/calls", "list_calls", runtime.Work.calls, _WORK),
    get("/sessions/{session}/waiting", "list_waiting", runtime.Work.waiting, _WORK),
    get("/sessions/{session}/checkpoints", "list_checkpoints", runtime.Work.checkpoints, _WORK),
    get("/sessions/{session}/diff", "show_differences", runtime.Work.differences, _WORK, bounds=_CHECKPOINTS),
    get("/sessions/{session}/changes", "list_changes", runtime.Work.edits, _WORK),
    get("/sessions/{session}/files", "list_files", runtime.Looks.files, _LOOKS, bounds=_PATH),
    get("/sessions/{session}/file", "show_file", runtime.Looks.content, _LOOKS, bounds=_FILE),
    get("/sessions/{session}/terminals", "list_terminals", runtime.TerminalQueries.rows, _TERMINALS),
    post("/sessions/{session}/terminals/{terminal}/resize", "resize_terminal", resize_terminal, "Size"),
    get("/sessions/{session}/services", "list_services", list_services),
    get("/sessions/{session}/services/{service}", "show_service", show_service),
    post("/sessions/{session}/services/{service}/stop", "stop_service", stop_service),
    post("/sessions/{session}/services/{service}/preview", "preview_service", preview_service, "PreviewOf"),
)


# -- the home -------------------------------------------------------------------------------------------------------


def list_presets(context: Context) -> tuple[PresetRow, ...]:
    """Providers that can be set up by name."""
    return context.behind.presets


async def show_chain(context: Context) -> ModelChain:
    """The models that new objectives use."""
    return ModelChain((await context.behind.service.readiness()).chain)


def show_cap(context: Context) -> Caps:
    """What the whole home may spend in a day and in a month, and what it has spent."""
    home, today = context.behind.home(), day_of(context.behind.clock.now_ms()).name
    caps, spent, warned = home.caps, context.behind.spent, standing_warnings(home, today)
    channels = channel_caps(caps, home.channels, lambda of: (spent(today, of), spent(today[:7], of)))
    used = (spent(today, ""), spent(today[:7], ""))
    return Caps(caps.daily, caps.monthly, caps.warn_at, warned, today, *used, channels)


async def show_forecast(
    context: Context, directory: Folder = "", model: _ModelName = "", schedule: Annotated[str, Meta(max_length=64)] = ""
) -> Forecast:
    """What an objective is likely to cost, from the runs before it: in a folder with a model, or by a schedule."""
    chain = (await context.behind.service.readiness()).chain
    if schedule:
        known = context.behind.home().schedules.get(schedule)
        if known is None:
            raise NotFound(f"there is no schedule {schedule!r}; see: stead schedule")
        if not isinstance(known.schedule.job, OpenSession):
            return Forecast()  # a review's share of what its objective cost is in no record
        directory, chain = known.schedule.directory, known.schedule.job.chain or chain
    runs = await asyncio.to_thread(context.behind.figures.runs)
    return forecast(runs, Run(schedule, directory, model or named(chain)))


def list_allowed_hosts(context: Context) -> tuple[AllowedRow, ...]:
    """Which hosts are allowed, by folder."""
    home = context.behind.home()
    return tuple(
        AllowedRow(host, directory, host == REGISTRIES and directory in home.lasting, spelled_out([host]))
        for directory, host in sorted(home.hosts)
    )


def list_profiles(context: Context) -> tuple[NamedProfile, ...]:
    """The named profiles, by name."""
    return tuple(profile for _, profile in sorted(context.behind.home().profiles.items()))


def list_rules(context: Context) -> tuple[RuleRow, ...]:
    """What the person's standing rules are, each in plain words too; one that is not confirmed holds as before."""
    return context.behind.service.rules.rows()


def list_tool_rules(context: Context) -> tuple[ToolRow, ...]:
    """Every tool, how often its calls are asked about, and which rules name it."""
    return context.behind.service.rules.tools()


def preview_rule(context: Context, text: str = "", directory: Folder = "", rule: Rule | None = None) -> RulePreview:
    """What a rule would do, of a sentence or of the form; nothing holds by it.

    A sentence that is not understood comes back as a form, filled in as far as it was read. A rule comes with what it
    would have changed in the home's last calls; one with the id of a standing rule is tried in its place.
    """
    preview = context.behind.service.rules.preview(text, directory, rule)
    if not preview.understood:
        return preview
    tried = msgspec.structs.replace(preview.rule, directory=directory or preview.rule.directory)
    history = context.behind.rejudging.simulate(PolicyChange(add=(tried,), examples=3))
    return msgspec.structs.replace(preview, history=history)


async def look_again(context: Context) -> runtime.Readiness:
    """Find out again what this computer offers, a sandbox and model servers, and say how things stand then."""
    await context.behind.service.conditions.look_again()
    return await context.behind.service.readiness()


async def make_sign_in_code(context: Context, plain_host: bool = False) -> SignInCode:
    """A link that signs a browser in. For the command line.

    ``plain_host``: lead to 127.0.0.1, for browsers that do not know the page's own name.
    """
    return SignInCode(*context.behind.auth.make_code(plain_host=plain_host))


async def sign_in(context: Context, code: str) -> Response:
    """Spend a one-time code for a browser session, which the cookie of the answer is. For the page."""
    if context.caller.door != "web":
        return answer(Problem(403, "auth", "a browser signs in at the page's own name; run: stead open"))
    cookie = await context.behind.auth.sign_in(code)
    return answer(cookie) if isinstance(cookie, Problem) else Json(Done("signed in"), headers={"set-cookie": cookie})


async def sign_out(context: Context) -> Response:
    """End this browser's session."""
    return Json(Done("signed out"), headers={"set-cookie": await context.behind.auth.sign_out(context.caller)})


def rebuild_views(context: Context) -> Done:
    """Make the read models again from the journal; what is under way goes on meanwhile."""
    return Done(f"rebuilt from {context.behind.views.rebuild()} events")


async def shut_down(context: Context) -> Done:
    """Ask the daemon to leave in good order. For the command line."""
    context.behind.shut_down()
    return Done("the daemon is leaving; what is under way goes on at its next start")


def search(
    context: Context,
    q: Annotated[str, Meta(min_length=1, max_length=500)],
    limit: Limit = 50,
    since_ms: Moment = 0,
    until_ms: Moment = 0,
    lines: Annotated[int, Meta(ge=0, le=20)] = 0,
) -> Sequence[SearchRow]:
    """Where the history says it, from a moment on and before another, with so many lines around each hit."""
    return context.behind.views.search(q, limit, since_ms=since_ms, until_ms=until_ms, context=lines)


def list_events(context: Context, after: Place = 0, streams: _StreamNames = "", limit: Limit = 500) -> Response:
    """What happened, from the journal."""
    events, head = read(context.behind.journal, after, parse_streams(streams), limit)
    return Json(b'{"items":[%b],"head":%d}' % (b",".join(map(encode_event, events)), head))


async def watch_events(
    context: Context, after: Place = 0, streams: _StreamNames = "", door: _DoorName = ""
) -> Response:
    """What happens, as server-sent events: ``id`` is the place to go on from (``Last-Event-ID``), ``data`` an array."""
    return await context.streams.events(context.request)


def list_decisions(
    context: Context,
    session: AnySession = "",
    verdict: Literal["allow", "ask", "deny", ""] = "",
    call: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{0,64}$", description="A call's key.")] = "",
    after: Cursor = "",
    limit: Limit = 50,
) -> tuple[Sequence[Decision], str]:
    """Verdicts on calls, newest first: what, why, by which rule, who approved it, through which door."""
    whose, before = SessionId(session) if session else None, int(after or 0)
    return context.behind.decisions.page(session=whose, verdict=verdict, call=call, before=before, limit=limit)


async def verify_journal(context: Context) -> AuditReport:
    """Check the whole journal. A large one takes longer than a request may: stead audit verify has no such limit."""
    async with context.verifying:
        return await asyncio.to_thread(context.behind.audit.verify)


HOME_ROUTES = (
    get("/providers", "list_providers", runtime.Holdings.providers, _SERVICE),
    get("/providers/presets", "list_presets", list_presets),
    post("/providers/{provider}/test", "check_provider", runtime.Holdings.check_provider, owner=_SERVICE),
    get("/chain", "show_chain", show_chain),
    get("/cap", "show_cap", show_cap),
    get("/forecast", "show_forecast", show_forecast),
    get("/usage", "list_usage", backend.ApprovalViews.usage, _VIEWS, bounds=_OVER),
    get("/tiers", "list_tiers", TrustService.rows, attrgetter("service.trust")),
    get("/search", "search", search),
    get("/open-runs", "list_open_runs", backend.Work.open_runs, _VIEWS),
    get("/events", "list_events", list_events, gives=Content(EventPage)),
    get("/events/stream", "watch_events", watch_events, gives=_ENVELOPES),
    get("/status", "show_status", runtime.Service.readiness, _SERVICE),
    post("/status/check", "look_again", look_again),
    get("/folders", "list_folders", runtime.Looks.folders, _LOOKS, bounds={"path": Field(Folder, "")}),
    get("/secrets", "list_secrets", HomeState.secret_rows, methodcaller("home")),
    get("/egress/hosts", "list_allowed_hosts", list_allowed_hosts),
    get("/rules", "list_rules", list_rules),
    post("/rules/simulate", "simulate_rules", Rejudging.simulate, "PolicyOnTrial", owner=_REJUDGING, spread="change"),
    get("/autonomy", "show_autonomy", Rejudging.autonomy, _REJUDGING, bounds={"weeks": Field(_Weeks, 12)}),
    get("/rules/tools", "list_tool_rules", list_tool_rules),
    post("/rules/preview", "preview_rule", preview_rule, "WantedRule"),
    get("/external-agents", "list_external_agents", AgentRoom.rows, _EXTERNAL),
    get("/external-agents/runs", "list_agent_runs", AgentRoom.runs, _EXTERNAL),
    post("/external-agents/{name:mcp}/test", "test_agent", AgentRoom.test, owner=_EXTERNAL),
    get("/schedules", "list_schedules", runtime.ScheduleQueries.rows, _SCHEDULES, bounds=_AT),
    get("/schedules/agenda", "show_agenda", runtime.ScheduleQueries.agenda, _SCHEDULES, bounds=_AHEAD),
    get("/schedules/{name:schedule}/runs", "list_schedule_runs", runtime.ScheduleQueries.runs, _SCHEDULES),
    get("/notifications", "list_targets", NotificationService.rows, _NOTIFICATIONS),
    get("/push-key", "show_push_key", NotificationService.push_key, _NOTIFICATIONS),
    post("/notifications/{name:schedule}/test", "test_target", NotificationService.test, owner=_NOTIFICATIONS),
    get("/channels", "list_channels", ChannelService.rows, _CHANNELS),
    get("/channels/kinds", "list_channel_kinds", ChannelService.kinds, _CHANNELS),
    post("/channels/{name:schedule}/test", "test_channel", ChannelService.test, owner=_CHANNELS),
    post("/channels/{name:schedule}/pair", "pair_chat", ChannelService.pair, "PairingWish", **_PAIRING),
    get("/settings", "export_settings", SettingsRoom.export, _SETTINGS),
    post("/settings/plan", "plan_settings", SettingsRoom.plan, "SettingsToPlan", owner=_SETTINGS),
    get("/profiles", "list_profiles", list_profiles),
    post("/schedules/{name:schedule}/check", "check_schedule", runtime.ScheduleQueries.check, owner=_SCHEDULES),
    get("/triggers", "list_triggers", runtime.TriggerQueries.rows, _TRIGGERS),
    post("/triggers/{name:schedule}/test", "test_trigger", runtime.TriggerQueries.test, owner=_TRIGGERS),
    get("/mcp", "list_mcp_servers", McpRoom.rows, _MCP),
    get("/mcp/{name:mcp}/tools", "list_mcp_tools", McpRoom.tools, _MCP),
    post("/mcp/{name:mcp}/test", "test_mcp_server", McpRoom.test, "WhereToTest", owner=_MCP, bounds=_AT),
    post("/mcp/{name:mcp}/login", "sign_in_to_mcp_server", McpRoom.login, owner=_MCP),
    get("/web-search", "show_web_search", runtime.Holdings.search_setup, _SERVICE),
    post("/web-search/test", "check_web_search", runtime.Holdings.check_search, owner=_SERVICE),
    get("/audit", "list_decisions", list_decisions),
    get("/audit/decisions/{seq}", "show_decision", backend.Decisions.decision, _DECISIONS),
    get("/audit/head", "show_head", backend.Auditor.last, _AUDIT),
    post("/audit/head", "sign_head", backend.Auditor.sign, owner=_AUDIT),
    get("/audit/verify", "verify_journal", verify_journal),
    post("/sign-in-codes", "make_sign_in_code", make_sign_in_code, "CodeWish"),
    post("/sign-in", "sign_in", sign_in, "Code", gives=Content(Done)),
    post("/sign-out", "sign_out", sign_out, gives=Content(Done)),
    post("/views/rebuild", "rebuild_views", rebuild_views),
    post("/shutdown", "shut_down", shut_down, status=202),
)
