"""What stands behind the door in these tests: a small home in memory that does what commands ask.

It keeps the contracts of the runtime's service, the journal's and the read models' ports with the same care, and has
the real bus; only the disk, the models and the machines are missing.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from stead.domain import channels, profiles, schedules
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain import external_agents as external
from stead.domain import mcp_commands as mcp
from stead.domain import notifications as notify
from stead.domain.directive_commands import (
    OrderDirectives,
    RemoveDirective,
    RestoreDirective,
    SetDirective,
    SwitchDirective,
)
from stead.domain.ends import ENDS
from stead.domain.errors import Conflict, Fenced, InvalidRequest, NotFound, SteadError
from stead.domain.folding import fold
from stead.domain.forecast import Run
from stead.domain.ids import HOME, ApprovalId, CallDigest, CallKey, CommandId, SessionId, WorkspaceId
from stead.domain.live import Transient
from stead.domain.objectives import NO_CAP
from stead.domain.policies import Integrity, Label, Reason, Risk, Rule
from stead.domain.ports import Claimed, Isolation
from stead.domain.providers import ProviderCheck, ProviderRow
from stead.domain.rows import ApprovalRow, Kind, ObjectiveRow, OpenRunRow, SearchRow, StepRow, UsageRow, Wanted
from stead.domain.schedule_rows import AgendaRow, ScheduleRow
from stead.domain.sessions import Session, status
from stead.domain.settings_file import ApplySettings
from stead.domain.timeline import Timeline
from stead.domain.trials import Stay, Trial
from stead.domain.triggers import TriggerRow, TriggerTest
from stead.domain.watches import WatchCheck
from stead.guardian.reach import Reach
from stead.runtime.bus import Bus
from stead.runtime.directives import DirectiveRoom
from stead.runtime.external_agents import AgentRoom, Agents, agent_change
from stead.runtime.home import HomeState
from stead.runtime.home import fold as fold_home
from stead.runtime.mcp import McpRoom, mcp_change
from stead.runtime.memory_service import MemoryQueries
from stead.runtime.notifications import Notifications
from stead.runtime.profiles import profile_change
from stead.runtime.rules import RuleBook
from stead.runtime.schedule_changes import agenda, known_of, schedule_change, schedule_row
from stead.runtime.searching import SearchCheck, SearchSetup
from stead.runtime.service import Readiness
from stead.runtime.settings_file import SettingsRoom
from stead.runtime.target_changes import target_fact
from tests.build import TOOLS
from tests.fakes.world import NoServices
from tests.timelines import items_of
from tests.web import simulated_sessions
from tests.web.places import Looks, NoAttachments, NoMcpServers, OneTier, TerminalQueries
from tests.web.simulated_channels import SimulatedChannels
from tests.web.simulated_sessions import SimulatedSessions

PERSON = Label(integrity=Integrity.PERSON)
REHEARSAL = ev.ModelRef("rehearsal", "rehearsal")
_ENDED = ENDS


class SetClock:
    """Time that moves when it is told to."""

    def __init__(self, now_ms: int = 1_760_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, seconds: float) -> None:
        self._now_ms += round(seconds * 1000)


class MemorySecrets:
    """Values by name. ``fault`` is raised by the next writes while it is set."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.fault: SteadError | None = None

    async def put(self, name: str, value: str) -> int:
        if self.fault:
            raise self.fault
        self.values[name] = value
        return 1

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    async def remove(self, name: str) -> bool:
        return self.values.pop(name, None) is not None


class ReadAgents:
    """External agents of a home where none is ever at work."""

    def __init__(self, agents: Agents) -> None:
        self.agents = agents

    async def record(self, *bodies: external.AgentRunStarted, cause: CommandId) -> object:
        raise AssertionError("no agent is started here")

    async def reached(self, directory: str, host: str) -> None:
        raise AssertionError("no agent is started here")

    def note(self, body: external.AgentRunEnded) -> None:
        raise AssertionError("no agent is started here")


class NoMessages:
    """Sends nothing, keeps nothing: how targets of notifications stand in a home where nothing is told."""

    def __init__(self, state: HomeState) -> None:
        self.state = state

    def figures(self, target: str) -> tuple[int, int, int, int, int, str]:
        return 0, 0, 0, 0, 0, ""

    @property
    def reached(self) -> int:
        return 0

    def check(self, target: notify.NotificationTarget) -> None:
        pass

    async def send(self, target: notify.NotificationTarget, message: notify.Message) -> None:
        pass

    async def subscribe(self, command: notify.SubscribePush) -> notify.Push:
        return notify.Push("push.example.com")

    async def forget(self, name: str) -> None:
        pass

    async def push_key(self) -> str:
        return "an invented key"


class NoTriggers:
    """Triggers of a home where nothing listens."""

    async def rows(self) -> tuple[TriggerRow, ...]:
        return ()

    async def test(self, name: str) -> TriggerTest:
        raise NotFound(f"there is no trigger {name[:80]!r}")


class FixedSchedules:
    """Schedules of a home where none ever runs."""

    def __init__(self, known: Mapping[str, schedules.Standing], now_ms: int) -> None:
        self._known = known
        self._now_ms = now_ms

    async def rows(self, directory: str = "") -> tuple[ScheduleRow, ...]:
        rows = [schedule_row(one, self._now_ms) for one in self._known.values()]
        return tuple(row for row in rows if directory in ("", row.schedule.directory))

    async def agenda(self, days: int) -> tuple[AgendaRow, ...]:
        return agenda(self._known.values(), self._now_ms, days)

    async def check(self, name: str) -> tuple[WatchCheck, ...]:
        known_of(self._known, name)
        return (WatchCheck("the folder", "unchanged", "3 items"),)

    async def runs(self, name: str) -> tuple[schedules.ScheduleRun, ...]:
        return known_of(self._known, name).runs


def never(*_: object) -> NoReturn:
    raise AssertionError("no agent is started here")


async def greeting(agent: external.ExternalAgent) -> str:
    return f"{agent.name} 1.0"


class SameConditions:
    """A computer that offers what it did."""

    async def look_again(self) -> None:
        """Nothing has changed."""


class MemoryJournal:
    """The record, in a list. Readers may be in other threads."""

    def __init__(self) -> None:
        self._events: list[ev.Event | ev.Erased] = []
        self._claims: dict[CommandId, Claimed] = {}
        self._places: dict[SessionId, int] = {}
        self._lock = threading.Lock()

    async def append(self, drafts: Sequence[ev.Draft], *, claim: Claimed | None = None) -> tuple[ev.Event, ...]:
        await asyncio.sleep(0)  # a disk would make the caller wait
        return self.write(drafts, claim)

    def write(self, drafts: Sequence[ev.Draft], claim: Claimed | None = None) -> tuple[ev.Event, ...]:
        """Append at once, from any thread."""
        with self._lock:
            if claim and claim.id in self._claims:
                raise Conflict(f"the command id {claim.id!r} was used before")
            new: list[ev.Event] = []
            places = dict(self._places)
            for draft in drafts:
                if draft.session_seq != places.get(draft.session, 0) + 1:
                    raise Fenced(f"place {draft.session_seq} of {draft.session!r} is not the next one")
                places[draft.session] = draft.session_seq
                new.append(ev.Event(len(self._events) + len(new) + 1, *msgspec.structs.astuple(draft)))
            self._events += new
            self._places = places
            if claim:
                answer = msgspec.structs.replace(claim.answer, seq=new[-1].seq)
                self._claims[claim.id] = msgspec.structs.replace(claim, answer=answer)
            return tuple(new)

    def events(self, *, after: int = 0, session: SessionId | None = None) -> Iterator[ev.Event | ev.Erased]:
        snapshot = self._events[after:]
        return (event for event in snapshot if session is None or event.session == session)

    def head(self) -> int:
        return len(self._events)

    def claimed(self, command: CommandId) -> Claimed | None:
        return self._claims.get(command)

    async def erase(self, session: SessionId) -> int:
        count = 0
        for place, event in enumerate(self._events[:-1]):
            if event.session == session and isinstance(event, ev.Event):
                tag = str(type(event.body).__struct_config__.tag)
                self._events[place] = ev.Erased(event.seq, session, event.session_seq, event.ts_ms, tag)
                count += 1
        return count


class Home:
    """A home: the service, its read models and its journal in one."""

    memory: MemoryQueries
    """None: what is said of memory is tried over whole daemons, in tests/flows and tests/cli."""

    def __init__(self, clock: SetClock) -> None:
        self.clock = clock
        self.journal = MemoryJournal()
        self.secrets = MemorySecrets()
        self.doors: list[str] = []
        self.hold = asyncio.Event()
        self.hold.set()
        self.entered = asyncio.Event()
        self._bus = Bus()
        self._ids = itertools.count(1)
        self._terminals = TerminalQueries(self._state)
        self._servers = NoMcpServers()
        self.trust = OneTier()
        self._places: dict[SessionId, int] = {}

    async def services(self, session: SessionId) -> NoServices:
        self._state(session)
        return NoServices()

    # -- what tests do ----------------------------------------------------------------------------------------------

    async def record(
        self,
        session: SessionId,
        *bodies: ev.Body,
        cause: str = "",
        claim: Claimed | None = None,
        published: bool = True,
    ) -> tuple[ev.Event, ...]:
        """Let facts happen: committed, then (unless the test does so itself) published."""
        place = self._places.get(session, 0)
        self._places[session] = place + len(bodies)
        events = await self.journal.append(
            [
                ev.Draft(session, place + index, self.clock.now_ms(), "stead", CommandId(cause), body)
                for index, body in enumerate(bodies, start=1)
            ],
            claim=claim,
        )
        if published:
            self._bus.publish(events)
        return events

    def show(self, *items: Transient) -> None:
        """Let watchers see something that is not recorded."""
        self._bus.publish(items)

    async def ask(
        self, session: SessionId, command: str = "ls", level: Literal["session", "each", "confirm"] = "each"
    ) -> ApprovalId:
        """Have a session ask to run a shell command."""
        number = next(self._ids)
        approval = ApprovalId(f"a_{number:016x}")
        key = CallKey(f"call_{900 + number}_0")
        arguments = msgspec.json.encode({"command": command}).decode()
        digest = CallDigest(hashlib.sha256(arguments.encode()).hexdigest())
        reason = Reason("shell.each", "shell commands are asked about, every one")
        await self.record(
            session,
            ev.CallJudged(key, "shell", "ask", reason, Risk.MEDIUM, digest),
            ev.ApprovalRequested(
                approval, key, "shell", arguments, digest, level, reason, Risk.MEDIUM, self.clock.now_ms() + 3_600_000
            ),
        )
        return approval

    # -- the service ------------------------------------------------------------------------------------------------

    @property
    def bus(self) -> Bus:
        return self._bus

    @property
    def conditions(self) -> SameConditions:
        return SameConditions()

    @property
    def work(self) -> SimulatedSessions:
        return SimulatedSessions(self._state)

    @property
    def looks(self) -> Looks:
        return Looks(self._state)

    @property
    def attachments(self) -> NoAttachments:
        return NoAttachments()

    @property
    def rules(self) -> RuleBook:
        return RuleBook(lambda: (), lambda: TOOLS, Reach(), self.clock)

    @property
    def terminals(self) -> TerminalQueries:
        return self._terminals

    @property
    def directives(self) -> DirectiveRoom:
        return DirectiveRoom(self.home_state, self.journal, lambda prefix: f"{prefix}_{next(self._ids) + 2**32:016x}")

    def home_state(self) -> HomeState:
        """What the home's stream adds up to."""
        return reduce(fold_home, self._of(HOME), HomeState())

    async def handle(self, command: cmd.Command, *, id: CommandId, door: str) -> cmd.Answer:
        self.entered.set()
        await self.hold.wait()
        self.doors.append(door)
        if isinstance(command, ApplySettings):
            claim = Claimed(id, "", cmd.Answer(id, HOME, 0))
            return await self.settings.carry_out(command, claim, door)
        digest = hashlib.sha256(msgspec.json.encode(command)).hexdigest()
        if (earlier := self.journal.claimed(id)) is not None:
            if earlier.digest != digest:
                raise Conflict(f"the idempotency key {id!r} was used for another command; make a new one")
            return earlier.answer
        session, bodies = await self._facts(command, door)
        text = bodies[0].directive.id if isinstance(bodies[0], ev.DirectiveSet) else ""
        claim = Claimed(id, digest, cmd.Answer(id, session, 0, text))
        events = await self.record(session, *bodies, cause=id, claim=claim)
        if isinstance(command, cmd.Delete) and command.now:
            await self.journal.erase(session)
        return msgspec.structs.replace(claim.answer, seq=events[-1].seq)

    async def readiness(self) -> Readiness:
        return Readiness(
            version="0.0.0",
            build="test",
            started_ms=self.clock.now_ms(),
            head=self.journal.head(),
            chain=(REHEARSAL,),
            rehearsal=True,
            isolation=Isolation(
                True, "bubblewrap", "Commands run in a sandbox without network and without your keys.", ()
            ),
            live_sessions=sum(row.status == "running" for row in self._rows()),
            watchers=self._bus.watchers,
        )

    async def providers(self) -> tuple[ProviderRow, ...]:
        rows = {"rehearsal": ProviderRow("rehearsal", "rehearsal", "", "rehearsal", "none", True)}
        for body in self._home_facts():
            match body:
                case ev.ProviderConfigured(name=name, preset=preset, base_url=url, model=model, key=key):
                    rows[name] = ProviderRow(name, preset, url, model, key, False)
                case ev.ProviderRemoved(name=name):
                    rows.pop(name, None)
                case _:
                    pass
        return tuple(rows.values())

    async def check_provider(self, name: str) -> ProviderCheck:
        if name not in {row.name for row in await self.providers()}:
            raise NotFound(f"there is no provider {name!r}; see: stead providers")
        return ProviderCheck(name, True, "it answered", 12, ("rehearsal",))

    @property
    def mcp(self) -> McpRoom:
        agents = AgentRoom(lambda: ReadAgents(self.home_state().agents), never, never, greeting)
        secrets = self.secrets.values
        return McpRoom(lambda: self.home_state().mcp, lambda: self._servers, secrets.__contains__, str, agents)

    async def _target_change(self, command: notify.TargetCommand, door: str) -> notify.TargetFact:
        none = NoMessages(self.home_state())
        return await target_fact(command, none.state.targets, none, self.clock.now_ms(), door)

    @property
    def notifications(self) -> Notifications:
        none: Any = NoMessages(self.home_state())
        return Notifications(lambda: none, none, none, none, lambda: none, self.clock, str)

    @property
    def channels(self) -> SimulatedChannels:
        state = self.home_state()
        return SimulatedChannels(state.channels, state.secrets.__contains__, self.clock)

    @property
    def arrivals(self) -> NoTriggers:
        return NoTriggers()

    @property
    def schedules(self) -> FixedSchedules:
        return FixedSchedules(self.home_state().schedules, self.clock.now_ms())

    @property
    def settings(self) -> SettingsRoom:
        async def facts(command: cmd.Command, _: HomeState) -> tuple[ev.Body, ...]:
            return (await self._facts(command, "cli"))[1]

        async def handle(command: cmd.Command, id: CommandId, door: str) -> cmd.Answer:
            return await self.handle(command, id=id, door=door)

        return SettingsRoom(self.home_state, facts, handle, str)

    async def search_setup(self) -> SearchSetup:
        found = SearchSetup("", "", "none")
        for body in self._home_facts():
            match body:
                case ev.SearchConfigured(engine=engine, url=url):
                    found = SearchSetup(engine, url, "none" if engine == "searxng" else "vault")
                case ev.SearchRemoved():
                    found = SearchSetup("", "", "none")
                case _:
                    pass
        return found

    async def check_search(self) -> SearchCheck:
        ok = bool((await self.search_setup()).engine)
        return SearchCheck(ok, "it answered" if ok else "no search engine is set up", 12, int(ok))

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        return (Stay("node_modules", 3, 2_000),)

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        raise NotFound(f"{session!r} has nothing on trial")

    # -- the read models ----------------------------------------------------------------------------------------------

    def objectives(self, *, kind: Kind, wanted: Wanted, after: str, limit: int) -> tuple[list[ObjectiveRow], str]:
        rows = [row for row in reversed(self._rows()) if row.kind == kind and wanted.status in ("", row.status)]
        rows = [row for row in rows if row.parent == wanted.below]  # nothing is deeper here
        start = int(after) if after else 0
        page = rows[start : start + limit]
        return page, str(start + limit) if start + limit < len(rows) else ""

    def reviews(self) -> list[ObjectiveRow]:
        return [row for row in reversed(self._rows()) if row.review.waiting]

    def objective(self, id: SessionId) -> ObjectiveRow:
        for row in self._rows():
            if row.id == id:
                return row
        raise NotFound(f"there is no objective {id!r}; list them with: stead objectives")

    def timeline(self, id: SessionId, after: int, limit: int) -> Timeline[msgspec.Raw]:
        row = self.objective(id)
        items = tuple(msgspec.Raw(msgspec.json.encode(item)) for item in items_of(self._of(id)) if item.seq > after)
        return Timeline(items, self.journal.head(), False, row, None, 0)

    def steps(self, id: SessionId, after: int, limit: int) -> list[StepRow]:
        self.objective(id)
        steps: list[StepRow] = []
        for event in self._of(id):
            if isinstance(event.body, ev.ToolFinished):
                body = event.body
                steps.append(
                    StepRow(
                        session=id,
                        index=len(steps) + 1,
                        ts_ms=event.ts_ms,
                        reasoning="",
                        key=body.key,
                        tool=body.tool,
                        input="{}",
                        output=body.text,
                        verdict="allow",
                        rule="test",
                        risk="low",
                        outcome=body.outcome,
                        tokens_in=0,
                        tokens_out=0,
                        usd_micros=0,
                        duration_ms=body.duration_ms,
                        error="",
                    )
                )
        return [step for step in steps if step.index > after][:limit]

    def open_runs(self) -> list[OpenRunRow]:
        return [
            OpenRunRow(row.id, row.updated_ms, row.status, row.title, row.kind, row.usd_micros_used, row.price_known)
            for row in self._rows()
            if row.status not in _ENDED
        ]

    def rebuild(self) -> int:
        return self.journal.head()

    def search(self, query: str, limit: int, *, since_ms: int, until_ms: int, context: int) -> list[SearchRow]:
        rows = self._rows()
        return [
            SearchRow(1, row.id, row.created_ms, "session.opened", f"«{query}»") for row in rows if query in row.goal
        ][:limit]

    def approvals(
        self, *, status: Literal["pending", "all"], session: SessionId | None, limit: int
    ) -> list[ApprovalRow]:
        rows = [row for row in self._questions() if status == "all" or row.status == "pending"]
        return [row for row in reversed(rows) if session in (None, row.session)][:limit]

    def approval(self, id: ApprovalId) -> ApprovalRow:
        for row in self._questions():
            if row.id == id:
                return row
        raise NotFound(f"there is no approval {id!r}; list them with: stead approvals")

    def usage(self, days: int, since: str = "", until: str = "", by: str = "model", per: str = "day") -> list[UsageRow]:
        return [UsageRow("2025-10-09", "rehearsal", "rehearsal", 3, 0, 900, 90, 600, 0, True)][:days]

    def counts(self) -> list[tuple[str, str, int]]:
        return [(row.kind, row.status, 1) for row in self._rows()]

    def runs(self) -> list[Run]:
        return [Run("", "/home/ada/notes", "rehearsal/rehearsal", tokens=900)] * 4

    # -- within -----------------------------------------------------------------------------------------------------

    async def _facts(self, command: cmd.Command, door: str) -> tuple[SessionId, tuple[ev.Body, ...]]:
        match command:
            case cmd.OpenSession():
                return SessionId(f"s_{next(self._ids):016x}"), (_opened(command),)
            case cmd.Decide():
                return self._decided(command, door)
            case cmd.Stop(session="*", why=why):
                return HOME, (ev.SessionStopped(door, why),)
            case cmd.ConfigureProvider(name=name, preset=preset, base_url=url, model=model, key=key):
                return HOME, (ev.ProviderConfigured(name, preset, url, model, key),)
            case cmd.SetProviderKey(name=name, key=key):
                await self.secrets.put(f"provider-{name}", key)
                return HOME, (ev.ProviderConfigured(name, "custom", "", "", "vault"),)
            case cmd.RemoveProvider(name=name):
                if name not in {row.name for row in await self.providers()}:
                    raise NotFound(f"there is no provider {name!r}; see: stead providers")
                return HOME, (ev.ProviderRemoved(name),)
            case cmd.SetSearch(engine=engine, url=url, key=key):
                await self.secrets.put("search", key)
                return HOME, (ev.SearchConfigured(engine, url),)
            case cmd.RemoveSearch():
                if not (await self.search_setup()).engine:
                    raise NotFound("no search engine is set up")
                return HOME, (ev.SearchRemoved(),)
            case mcp.ConfigureMcp() | mcp.RemoveMcp() | mcp.ApproveMcpTools() | mcp.SetMcpTool():
                return HOME, (await mcp_change(command, self.home_state().mcp, self.secrets, door),)
            case external.ConfigureAgent() | external.RemoveAgent():
                state = self.home_state()
                return HOME, (agent_change(command, state.agents, state.secrets),)
            case (
                schedules.SetSchedule()
                | schedules.SwitchSchedule()
                | schedules.RemoveSchedule()
                | schedules.RunSchedule()
                | schedules.SnoozeSchedule()
            ):
                return HOME, schedule_change(command, self.home_state().schedules, self.clock.now_ms(), door)
            case notify.SetTarget() | notify.SubscribePush() | notify.SwitchTarget() | notify.RemoveTarget():
                return HOME, (await self._target_change(command, door),)
            case (
                channels.SetChannel()
                | channels.SwitchChannel()
                | channels.RemoveChannel()
                | channels.SetChat()
                | channels.RemoveChat()
            ):
                return HOME, (self.channels.fact(command, door),)
            case profiles.SetNamedProfile() | profiles.RemoveNamedProfile():
                return HOME, (profile_change(command, self.home_state().profiles),)
            case cmd.SetChain(chain=chain):
                return HOME, (ev.ChainSet(chain),)
            case cmd.SetCap(daily=daily, monthly=monthly):
                return HOME, (ev.CapSet(_positive(daily or NO_CAP), _positive(monthly or NO_CAP)),)
            case cmd.ApplyTrial(session=session) | cmd.DiscardTrial(session=session):
                raise NotFound(f"{session!r} has nothing on trial")
            case cmd.AddSecret(name=name, value=value):
                version = await self.secrets.put(f"secret/{name}", value)
                return HOME, (ev.SecretAdded(name, version, f"{{{{secret:{name}#00000000}}}}"),)
            case cmd.BindSecret(name=name, binding=binding):
                return HOME, (ev.SecretBound(name, binding),)
            case cmd.UnbindSecret(name=name, host=host, tool=tool):
                return HOME, (ev.SecretUnbound(name, host, tool),)
            case cmd.RemoveSecret(name=name):
                await self.secrets.remove(f"secret/{name}")
                return HOME, (ev.SecretRemoved(name),)
            case cmd.AllowHost(host=host, directory=directory):
                return HOME, (ev.HostAllowed(host, directory),)
            case cmd.DisallowHost(host=host, directory=directory):
                return HOME, (ev.HostDisallowed(host, directory),)
            case cmd.AddRule(text=text, directory=directory):
                rule = Rule(f"r_{next(self._ids):08x}", "ask", ("run",), text=text, directory=directory)
                return HOME, (ev.RuleMade(rule, door),)
            case cmd.RemoveRule(id=rule_id) | cmd.ConfirmRule(id=rule_id):
                raise NotFound(f"there is no rule {rule_id!r}; see: stead rules")
            case (
                cmd.SendMessage()
                | cmd.Pause()
                | cmd.Resume()
                | cmd.Cancel()
                | cmd.Stop()
                | cmd.Retry()
                | cmd.Delete()
                | cmd.Revoke()
            ):
                return command.session, (self._told(command, door),)
            case SetDirective() | SwitchDirective() | RemoveDirective() | OrderDirectives() | RestoreDirective():
                return HOME, (await self.directives.change(command, door),)
            case cmd.OpenTerminal() | cmd.RunLine() | cmd.CloseTerminal():
                return command.session, self._terminals.carried(command, door)
            case _:
                worked = simulated_sessions.worked(command, door)
                assert worked is not None
                self._state(worked[0])
                return worked

    def _told(
        self,
        command: cmd.SendMessage | cmd.Pause | cmd.Resume | cmd.Cancel | cmd.Stop | cmd.Retry | cmd.Delete | cmd.Revoke,
        door: str,
    ) -> ev.Body:
        row = self.objective(command.session)
        ended = row.status in _ENDED or row.status == "closed"
        wants_ended = isinstance(command, cmd.Retry | cmd.Delete)
        if ended is not wants_ended and not isinstance(command, cmd.Revoke):
            raise Conflict(f"{command.session!r} is {row.status}; look at it with: stead objectives")
        match command:
            case cmd.SendMessage(text=text, interrupt=interrupt):
                return ev.MessageReceived(text, door, PERSON, interrupt)
            case cmd.Pause():
                return ev.SessionPaused("asked")
            case cmd.Resume():
                return ev.SessionResumed()
            case cmd.Cancel():
                return ev.ObjectiveEnded("cancelled", "cancelled", "")
            case cmd.Stop(why=why):
                return ev.SessionStopped(door, why)
            case cmd.Retry(budget=budget):
                return ev.ObjectiveRetried(_positive(budget))
            case cmd.Delete(now=now):
                return ev.SessionDeleted() if now else ev.SessionLabelled(door, trashed=True)
            case cmd.Revoke(tool=tool):
                return ev.GrantRevoked(tool, "", door)

    def _decided(self, command: cmd.Decide, door: str) -> tuple[SessionId, tuple[ev.Body, ...]]:
        question = self.approval(command.approval)
        if question.status != "pending":
            raise Conflict(f"the question {question.id!r} was answered already: {question.status}")
        if question.digest != command.digest:
            raise Conflict("the answer is for another call than the one that is open; look at it again")
        if command.answer == "deny":
            return question.session, (ev.ApprovalDenied(question.id, question.key, door, command.reason),)
        return question.session, (ev.ApprovalGiven(question.id, question.key, question.digest, door),)

    def _state(self, id: SessionId) -> Session:
        self.objective(id)
        session = fold(self._of(id))
        assert session is not None
        return session

    def _of(self, session: SessionId) -> Iterable[ev.Event]:
        return (event for event in self.journal.events(session=session) if isinstance(event, ev.Event))

    def _home_facts(self) -> Iterable[ev.Body]:
        return (event.body for event in self._of(HOME))

    def _rows(self) -> list[ObjectiveRow]:
        sessions = dict.fromkeys(event.session for event in self.journal.events() if event.session != HOME)
        folded = [(fold(self._of(id)), list(self._of(id))) for id in sessions if _is_whole(self._of(id))]
        return [self._row(session, events) for session, events in folded if session]

    def _row(self, session: Session, events: list[ev.Event]) -> ObjectiveRow:
        waiting = self.approvals(status="pending", session=session.id, limit=100)
        now = status(session)
        return ObjectiveRow(
            id=session.id,
            title=session.spec.title,
            goal=session.spec.contract.goal if session.spec.contract else "",
            constraints=session.spec.constraints,
            status="waiting" if waiting and now in ("running", "pending") else now,
            reason=session.end.reason if session.end else "",
            summary=session.end.summary if session.end else "",
            directory=session.spec.directory,
            chain=session.spec.chain,
            budget=session.budget,
            tokens_used=session.spent.tokens,
            tokens_reserved=0,
            usd_micros_used=session.spent.usd_micros,
            price_known=session.spent.price_known,
            iterations=session.iterations,
            plan=session.plan,
            pending_approvals=len(waiting),
            created_ms=session.created_ms,
            updated_ms=events[-1].ts_ms,
            ended_ms=events[-1].ts_ms if session.end else 0,
            kind="session" if session.spec.interactive else "objective",
            turns=session.turn,
        )

    def _questions(self) -> list[ApprovalRow]:
        rows: dict[ApprovalId, ApprovalRow] = {}
        titles: dict[SessionId, tuple[str, str]] = {}
        for event in self.journal.events():
            if not isinstance(event, ev.Event):
                continue
            match event.body:
                case ev.SessionOpened(title=title, directory=directory):
                    titles[event.session] = (title, directory)
                case ev.ApprovalRequested() as asked:
                    rows[asked.id] = ApprovalRow(
                        id=asked.id,
                        session=event.session,
                        title=titles[event.session][0],
                        directory=titles[event.session][1],
                        key=asked.key,
                        tool=asked.tool,
                        arguments=asked.arguments,
                        digest=asked.digest,
                        level=asked.level,
                        rule=asked.reason.rule,
                        reason=asked.reason.text,
                        risk=asked.risk,
                        status="pending",
                        door="",
                        requested_ms=event.ts_ms,
                        expires_at_ms=asked.expires_at_ms,
                        shape=asked.shape,
                        sources=asked.sources,
                        origins=asked.origins,
                    )
                case ev.ApprovalGiven(id=id, door=door):
                    rows[id] = msgspec.structs.replace(rows[id], status="given", door=door)
                case ev.ApprovalDenied(id=id, door=door):
                    rows[id] = msgspec.structs.replace(rows[id], status="denied", door=door)
                case ev.ApprovalLapsed(id=id):
                    rows[id] = msgspec.structs.replace(rows[id], status="lapsed")
                case _:
                    pass
        return list(rows.values())


def _is_whole(events: Iterable[ev.Event]) -> bool:
    return any(isinstance(event.body, ev.SessionOpened) for event in events)


def _opened(command: cmd.OpenSession) -> ev.SessionOpened:
    if command.goal is None:
        return simulated_sessions.opened(command)
    if not command.goal.strip():
        raise InvalidRequest("the goal is empty; say what to reach")
    if len(command.goal.encode()) >= cmd.GOAL_LIMIT_BYTES:
        raise InvalidRequest("the goal has 1 MB or more; put long material into a file of the folder")
    if "\0" in command.directory or not Path(command.directory).is_absolute() or not Path(command.directory).is_dir():
        raise InvalidRequest(f"{command.directory!r} is no folder; give an absolute path of one")
    return ev.SessionOpened(
        workspace=WorkspaceId("default"),
        title=command.title or command.goal.strip().splitlines()[0][:80],
        contract=ev.Contract(command.goal),
        constraints=command.constraints,
        directory=command.directory,
        tools=command.tools,
        chain=command.chain or (REHEARSAL,),
        budget=_positive(command.budget or cmd.DEFAULT_BUDGET),
        limits=command.limits,
        profile=command.profile,
        instructions="",
    )


def _positive(budget: ev.Budget) -> ev.Budget:
    for name, figure in (("tokens", budget.tokens), ("usd_micros", budget.usd_micros)):
        if figure != "unlimited" and figure <= 0:
            raise InvalidRequest(f"a budget of {figure} {name} allows nothing; give a positive figure or 'unlimited'")
    return budget
