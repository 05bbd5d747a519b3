"""The daemon: puts the parts together, serves one home, leaves in good order.

Layer: the composition root; it alone names concrete classes. A new tool, machine driver or provider is one line here.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import secrets
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from stead import __version__
from stead.channel_wiring import channels_of, serve_requests
from stead.config import Home, Settings, ask_passphrase, load_settings, sole_daemon, use_time_zone
from stead.domain import events as ev
from stead.domain.directive_commands import SetDirective
from stead.domain.errors import SteadError
from stead.domain.ids import DEFAULT_WORKSPACE, HOME, CallKey, CommandId, SessionId
from stead.domain.ports import Clock
from stead.domain.tools import Tool
from stead.domain.trials import Landing
from stead.egress.proxy import EgressProxy
from stead.guardian.reach import Reach
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.file_looks import HostFileLooks
from stead.machines.held_changes import HeldChanges
from stead.machines.host import without
from stead.machines.looking import HostFolders
from stead.machines.project import ProjectFolder
from stead.machines.sandbox import OUTSIDE_USER, Limits
from stead.mcp_wiring import McpHouse
from stead.memory_wiring import MemoryHouse, Shared, new_id
from stead.net.dialing import Dialer
from stead.notify_wiring import notifications_of
from stead.provider_wiring import ConfiguredProviders
from stead.providers.models import ProviderModels
from stead.providers.presets import PRESETS, REHEARSAL
from stead.runtime.agents import Subagents
from stead.runtime.alarms import WallClock
from stead.runtime.attachments import GivenAttachments
from stead.runtime.bus import Bus
from stead.runtime.commands import Runtime
from stead.runtime.deps import Deps
from stead.runtime.gate import Gate
from stead.runtime.home import HomeStream
from stead.runtime.logs import clean_log, start_log
from stead.runtime.pinned_blobs import PinnedBlobs
from stead.runtime.preferences import HomePreferences
from stead.runtime.proposed_schedules import ProposedSchedules
from stead.runtime.registry import Sessions
from stead.runtime.rejudging import Rejudging
from stead.runtime.screening import ScreenedModels, ScreenedTool
from stead.runtime.searching import SearchService
from stead.runtime.secrets import SecretBook
from stead.runtime.session_commands import forget_kept
from stead.runtime.specialists import Specialists
from stead.runtime.supervisor import Supervisor
from stead.runtime.terminals import closed
from stead.runtime.trust import Trust
from stead.storage.attachments import AttachmentStore
from stead.storage.audit import Audit
from stead.storage.contents import ContentStore
from stead.storage.follower import Follower
from stead.storage.head_copy import HeadCopy
from stead.storage.head_keeper import HeadKeeper
from stead.storage.history import History
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import Keys
from stead.storage.keystore import open_keys
from stead.storage.purging import KeptFiles, ReadModels
from stead.storage.upgrading import proven, upgrade
from stead.storage.views import Views
from stead.storage.work_figures import WorkFigures
from stead.tools.browsing import ActTool, OpenTool, ReadPageTool, ShotTool
from stead.tools.calling import ApiCallTool, ApiReadTool, Caller
from stead.tools.configuring import ConfigSetTool, ConfigTool
from stead.tools.fetching import Fetcher
from stead.tools.files import EditTool, GlobTool, GrepTool, ReadTool, WriteTool
from stead.tools.finding import FindTools, UseTool
from stead.tools.history import OWN_TOOLS, HistoryAllTool, HistoryTool
from stead.tools.messaging import MessageTool, SendFileTool
from stead.tools.notifying import NotifyTool
from stead.tools.proposing import ProposeSoulTool
from stead.tools.reading import ExtractPageTool, ExtractTool
from stead.tools.remembering import CorrectTool, ForgetTool, RecallAllTool, RecallTool, RememberTool
from stead.tools.scheduling import ScheduleSetTool, SchedulesTool
from stead.tools.searching import Searcher, WebSearchTool
from stead.tools.shell import ShellTool
from stead.tools.spawning import SpawnTool
from stead.tools.web import FetchTool
from stead.tools.work import Plan
from stead.upkeep_wiring import keep_on, look_at_sources, upkeep_jobs
from stead.web.app import create_app
from stead.web.auth import Auth
from stead.web.backend import Backend, PresetRow
from stead.web.door import Door, address_of, open_door, write_private
from stead.web.envelopes import Identity
from stead.web.metrics import open_metrics
from stead.web.passkeys import Passkeys
from stead.web.request_log import RequestLog
from stead.web.server import WebServer

log = logging.getLogger("stead")
LOCK_S = 0.002  # for a thread, until the interpreter's lock is taken from its holder (ADR 0037)
OWN_WATCHERS = 4
"""Of the bus: memory's upkeep and its files, the ends of scheduled runs, and what is spent. Others are open doors."""

OpenJournal = Callable[[Path, Keys], JournalFile]


@dataclass(frozen=True)
class Own:
    """What the product brings itself, and a test may replace; nothing that a person can set does.

    Args:
        open_journal: how the journal is opened; the chaos bench hands in one that dies at a chosen commit.
        reach: what may be fetched.
        dialer: how hosts are resolved, reached and trusted for machines.
        clock: says what time it is.
        timer: makes the timer that tells of sleep, see ``WallAlarm``; None for the host's.
    """

    open_journal: OpenJournal = open_journal
    reach: Reach = field(default_factory=Reach)
    dialer: Callable[[Reach], Dialer] = Dialer
    clock: Clock = field(default_factory=WallClock)
    timer: Callable[[], int] | None = None


OWN = Own()


class House:
    """All parts of one home, wired.

    Args:
        home: its folders exist and its lock is held.
        settings: see there.
        keys: the home's.
        own: see there.
    """

    def __init__(self, home: Home, settings: Settings, keys: Keys, own: Own = OWN) -> None:
        self._home = home = home.under(settings)
        self.clock, self._timer = own.clock, own.timer
        self.journal = own.open_journal(home.journal, keys)
        self.audit = Audit(self.journal.heads, HeadCopy(Path(settings.audit_heads or home.heads)))
        self.keeper = HeadKeeper(self.audit)
        self.journal.on_growth = self._grown
        self.views = Views(home.views / f"{DEFAULT_WORKSPACE}.db", keys, self.journal)
        self.follower = Follower(self.views)
        self.egress = self._egress(home, own)
        self.machines = self._machines(home, settings)
        pinned, contents = PinnedBlobs(), ContentStore(home.contents, keys.checkpoints)
        self.kept = FolderCheckpoints(contents, on_kept=pinned.pin)
        self.machines.transactions.before = self.kept.held
        self.machines.transactions.on_landed = self._landed
        blobs = AttachmentStore(contents)
        self.attachments = GivenAttachments(blobs, self.machines.pictures, pinned, self.clock, self._sweep)
        self.models = ProviderModels(os.environ, self.journal.vault, load=blobs.load)
        self.searcher = Searcher(self.journal.vault.get, Dialer(own.reach))
        bus = Bus()
        self.memory = MemoryHouse(home, settings, keys, self._shared(bus, contents))
        preferences = HomePreferences(lambda: self.home, self.models, settings.approval_ttl_s, lambda: self.runtime)
        self.mcp = McpHouse(lambda: (self.home, self.book, self.sessions), self.machines.programs, Dialer(own.reach))
        self.specialists = Specialists(home.specialists, lambda: [tool.spec.name for tool in tools])
        tools = self._tools(Dialer(own.reach), preferences)
        self.book: SecretBook = self._secrets(tools, keys)
        self.notifications = notifications_of(home, keys, own.dialer(own.reach), lambda: self)
        self.channels = channels_of(home, keys, self.machines.programs, bus, self)
        self.deps: Deps = Deps(
            journal=self.journal,
            snapshots=self.journal.snapshots,
            models=ScreenedModels(self.models, self.book),
            machines=self.machines,
            terminals=self.machines.terminals,
            services=self.machines.services,
            proofs=self.machines.proofs,
            trials=HeldChanges(home, self.machines.kill),
            checkpoints=self.kept,
            versions=self.kept,
            pinned=pinned,
            project=ProjectFolder(),
            folders=HostFolders(home.root, home.memory_files),
            history=self.views,
            gate=self._gate(tools, own.reach, keys),
            bus=bus,
            clock=self.clock,
            directives=lambda: self.home.state.directives,
            new_id=new_id,
            attachments=self.attachments,
            memory=self.memory.parts,
            agents=Subagents(lambda: self, self.specialists),
            trust=Trust(lambda: self.home, self.journal.track_records),
            notifications=self.notifications,
            channels=self.channels,
            approval_ttl_s=settings.approval_ttl_s,
            lanes=asyncio.Semaphore(settings.max_live_sessions),
        )
        self.sessions: Sessions = Sessions(self.deps)
        self.home: HomeStream = HomeStream(journal=self.journal, bus=bus, clock=self.clock)
        self.providers = ConfiguredProviders(self.models, self.egress, SearchService(self.searcher), self.mcp)
        self.runtime: Runtime = Runtime(
            self.deps,
            self.sessions,
            self.home,
            book=self.book,
            providers=self.providers,
            questions=self.views,
            digest_key=keys.digests,
        )
        look_at_sources(self.runtime, Dialer(own.reach), self.machines.programs, HostFileLooks())

    def _shared(self, bus: Bus, contents: ContentStore) -> Shared:
        """What memory works with. Some of it is made after memory, and is there before anything is asked of it."""
        return Shared(
            journal=self.journal,
            bus=bus,
            clock=self.clock,
            models=self.models,
            copies=(ReadModels(self.views), KeptFiles(contents)),
            screened=lambda: self.deps.models,
            redactor=lambda: self.book.redactor(),
            holder=lambda id: self.home if id == HOME else self.sessions.actor(id),
            directives=lambda: self.home.state.directives,
            change_directive=self._change_directive,
            live=lambda: any(actor.busy for actor in self.sessions.live()) or bus.watchers > OWN_WATCHERS,
        )

    def _egress(self, home: Home, own: Own) -> EgressProxy:
        return EgressProxy(
            home.run / "egress",
            own.dialer(own.reach),
            release=lambda: self.book,
            redactor=lambda: self.book.words(),
            on_use=lambda session, used: (self.home if session == HOME else self.sessions.actor(session)).note(used),
            on_reach=lambda directory, host: self.home.reached(directory, host),
            owner=OUTSIDE_USER if os.geteuid() == 0 else None,
        )

    def _secrets(self, tools: Sequence[Tool], keys: Keys) -> SecretBook:
        return SecretBook(
            self.journal.vault,
            digest_key=keys.digests,
            environment=self.models.environment_keys,
            clock=self.clock,
            tools=[tool.spec for tool in tools],
            on_use=lambda used: self.home.note(used),
        )

    def _machines(self, home: Home, settings: Settings) -> BubblewrapMachines:
        off = without('machines are switched off; set machine = "auto" in config.toml, and start Stead again')
        return BubblewrapMachines(
            home,
            limits=Limits.of(settings),
            host=None if settings.machine == "auto" else off,
            on_change=self._machine_changed,
            egress=self.egress,
            on_terminal=lambda session, id, ended: self.sessions.note(session, closed(id, ended)),
        )

    def _gate(self, tools: Sequence[Tool], reach: Reach, keys: Keys) -> Gate:
        return Gate(
            [ScreenedTool(tool, self.book) for tool in tools],
            self.machines,
            reach=reach,
            digest_key=keys.digests,
            random_bytes=secrets.token_bytes,
            standing=lambda directory: self.home.state.standing(directory),
            more=self.mcp.of_servers,
        )

    def _tools(self, dialer: Dialer, preferences: HomePreferences) -> list[Tool]:
        """Every tool there is, in the order in which models see them."""
        schedules = ProposedSchedules(lambda: self.sessions, lambda: self.runtime.schedules, lambda: self.runtime)
        tools: list[Tool] = [
            Plan(),
            ReadTool(self.machines, self.machines.pictures, self.attachments),
            WriteTool(self.machines),
            EditTool(self.machines),
            GlobTool(self.machines),
            GrepTool(self.machines),
            ShellTool(self.machines, self.machines.services, self.egress.refusals),
            FetchTool(Fetcher(dialer), self.machines),
            ExtractTool(self.machines),
            ExtractPageTool(Fetcher(dialer), self.machines),
            WebSearchTool(self.searcher),
            *(kind(Caller(dialer)) for kind in (ApiReadTool, ApiCallTool)),
            *(kind(self.machines.browser) for kind in (OpenTool, ReadPageTool, ActTool)),
            ShotTool(self.machines.browser, self.attachments),
            *(kind(History(self.views.reading, OWN_TOOLS)) for kind in (HistoryTool, HistoryAllTool)),
            *(kind(preferences) for kind in (ConfigTool, ConfigSetTool)),
            *(kind(schedules) for kind in (SchedulesTool, ScheduleSetTool)),
            *(
                kind(self.memory.parts.recollection)
                for kind in (RememberTool, RecallTool, RecallAllTool, CorrectTool, ForgetTool)
            ),
            ProposeSoulTool(self.memory.soul_proposals),
            *self.mcp.tools,
            SpawnTool(),
            NotifyTool(),
            MessageTool(lambda: self.channels.post.messages),
            SendFileTool(lambda: self.channels.post.messages, self.machines.pictures),
            FindTools(
                lambda: [*(self.specialists.shown(tool.spec) for tool in tools), *self.mcp.specs()],
                self.memory.skills.approved,
            ),
            UseTool(),
        ]
        return tools

    async def start(self) -> None:
        """Take up what the last daemon left: the home's facts, then every session that was under way."""
        self.keeper.noticed(self.journal.head())
        serve_requests(self.channels, self.runtime.arrivals)
        self.home.load()
        await self.memory.start()
        self.providers.configure(self.home.state)
        await self.book.reload(self.home.state.secrets)
        left = await asyncio.to_thread(self.views.under_way)
        await self.home.begin(ev.DaemonStarted(version=__version__, recovered=left))
        await self.machines.transactions.take_up_left()
        self.sessions.resume(left)

    async def stop(self, why: str) -> None:
        """Cut off what is under way, record it, and let everything go."""
        await self.machines.terminals.stop("*")  # while sessions can still be told
        await self.runtime.lines.close()
        await self.sessions.close()
        await self.mcp.close()
        await self.home.settle()
        await self.home.record(ev.DaemonStopped(why=why), cause=CommandId(""))
        await self.keeper.sign()
        await self.machines.close()
        await self.models.close()
        await asyncio.to_thread(self.kept.close)
        await self.memory.close()
        self.views.close()
        self.journal.close()

    async def warm(self, *, find_servers: bool) -> None:
        """After the start: collect garbage from now on, but not among what was loaded; look for model servers."""
        gc.freeze()  # a collection before it frees 0.4 MB and costs 50 ms of CPU
        gc.enable()
        if find_servers:
            await self.models.discover()

    async def keep_up(self, settings: Settings) -> None:
        """What runs in the background."""
        jobs = upkeep_jobs(self, self._home, settings, self._timer)
        own = (self.keeper.keep, self.follower.keep, self.notifications.keep, self.channels.keep, *self.memory.jobs)
        await asyncio.gather(*(keep_on(job) for job in (*own, *jobs)))

    def backend(self, door: Door, shut_down: Callable[[], None], public_url: str = "") -> Backend:
        """What the web door stands in front of."""
        outside = (public_url, door.public_port, lambda: self.home.state.devices, self.clock, secrets.token_bytes)
        passkeys = Passkeys(*outside) if public_url else None
        auth = Auth(door.name, door.port, door.bearer, self.clock, secrets.token_bytes, self.journal.vault, passkeys)
        return Backend(
            service=self.runtime,
            home=lambda: self.home.state,
            views=self.views,
            figures=WorkFigures(self.views.reading),
            journal=self.journal,
            spent=self.journal.spent,
            audit=self.audit,
            decisions=self.journal.decisions,
            rejudging=Rejudging(
                *(self.journal, self.journal.decisions, self.deps.gate, self.clock, __version__),
                self.mcp.of_servers.of,
            ),
            auth=auth,
            clock=self.clock,
            identity=Identity(server_id=secrets.token_hex(8), epoch=self._epoch(), build=__version__),
            presets=tuple(
                PresetRow(p.name, p.title, p.base_url, p.model, p.key_env)
                for p in PRESETS.values()
                if p.name != REHEARSAL  # it is built in, and cannot be set up
            ),
            shut_down=shut_down,
        )

    def _epoch(self) -> str:
        """Names the journal. A restored backup begins like the journal that it replaces, but is another file."""
        file = self._home.journal.stat()
        return f"{self.journal.chain_at(1).hex()[:16]}-{file.st_dev:x}-{file.st_ino:x}"

    async def _change_directive(self, command: SetDirective, door: str) -> None:
        await self.runtime.handle(command, id=CommandId(new_id("soul")), door=door)

    async def _sweep(self) -> None:
        await forget_kept(self.deps)

    def _grown(self, seq: int) -> None:
        self.keeper.noticed(seq)
        self.follower.noticed(seq)
        self.notifications.noticed()
        self.channels.post.noticed()
        self.memory.grown(seq)

    def _landed(self, session: SessionId, landing: Landing) -> None:
        self.sessions.note(session, ev.ChangesLanded(CallKey(""), landing))

    def _machine_changed(self, session: SessionId, what: str, why: str) -> None:
        host = self.machines.isolation()
        started = ev.MachineStarted(driver=host.driver, isolation=host.statement)
        self.sessions.note(session, started if what == "started" else ev.MachineEnded(why=why))


async def serve(home: Home, settings: Settings, own: Own = OWN) -> None:
    """Serve the home until told to leave.

    Args:
        home: its folders exist and its lock is held.
        settings: see there.
        own: see there.

    Raises:
        SteadError: it cannot start; the text says why and what to do.
    """
    supervisor = Supervisor(os.environ)
    opened = open_keys(home, settings.key_source, ask_passphrase)
    if opened.recovery:
        write_private(home.run / "recovery.txt", opened.recovery + "\n")
    upgrade(home, opened.keys, __version__)
    house = House(home, settings, opened.keys, own)
    clean_log(house.book)
    leaving = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leaving.set)
    listeners, door = open_door(home, settings)
    house.egress.own_ports = {door.port, door.public_port, settings.metrics_port}
    house.notifications.page = settings.public_url or f"http://{door.name}.localhost:{door.port}"
    probing = asyncio.create_task(asyncio.to_thread(house.machines.isolation), name="probing")
    await house.start()
    await probing  # the sandbox is a part of the first answer
    backend = house.backend(door, leaving.set, settings.public_url)
    app = create_app(backend)
    server = WebServer(RequestLog(app, home.request_log) if settings.request_log == "on" else app, *listeners)
    await server.start()
    metrics = await open_metrics(backend, home, settings)
    proven(home, __version__)
    write_private(home.address, address_of(door, home, house.clock.now_ms(), supervisor.service))
    supervisor.tell("READY=1", f"STATUS=serving {home.root} on port {door.port}")
    log.info("ready: pid %d, port %d", os.getpid(), door.port)
    warming = asyncio.create_task(house.warm(find_servers=settings.discover == "auto"), name="warm")
    keeping = asyncio.create_task(house.keep_up(settings), name="keeping up")
    watched = asyncio.create_task(supervisor.keep(), name="signs of life")
    try:
        await leaving.wait()
    finally:
        supervisor.tell("STOPPING=1")
        warming.cancel()
        keeping.cancel()
        home.address.unlink(missing_ok=True)
        await server.stop()
        if metrics:
            await metrics.stop()
        await house.stop("asked to leave")
        watched.cancel()


def main(arguments: list[str] | None = None, *, own: Own = OWN) -> int:
    """Run the daemon in the foreground; 0 after it left in good order, 1 when it cannot start."""
    parser = argparse.ArgumentParser(prog="stead-daemon", description="Serve one home of Stead.")
    parser.add_argument("--home", type=Path, required=True, help="the home's folder")
    home = Home(parser.parse_args(arguments).home.absolute())
    os.umask(0o077)
    try:
        home.make()
        settings = load_settings(home)
        use_time_zone(settings)
        start_log(home, settings)
        with sole_daemon(home):
            sys.setswitchinterval(LOCK_S)
            uvloop.run(serve(home, settings, own))
    except (SteadError, OSError) as error:
        if logged := log.hasHandlers():
            log.error("%s", error)
        if not (logged and os.path.samestat(os.fstat(2), home.log.stat())):  # in the background stderr is the log
            sys.stderr.write(f"error: {error}\n")
        return 1
    return 0
