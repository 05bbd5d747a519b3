"""Carrying out what doors ask for: each command becomes facts, durable before the door hears back.

Layer: runtime. The runtime's face to the doors (``service.Service``). A command's id makes it happen once, however
often it comes.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, get_args

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.agents import Taint
from stead.domain.channels import ChannelCommand, channel_of, read_along
from stead.domain.directive_commands import DirectiveCommand
from stead.domain.errors import Conflict, SteadError
from stead.domain.forget_commands import Forget
from stead.domain.ids import HOME, CommandId, SessionId
from stead.domain.memory_commands import ImportMemories, MemoryCommand
from stead.domain.notifications import TargetCommand
from stead.domain.ports import Claimed, Journal
from stead.domain.providers import ProviderCheck, ProviderRow
from stead.domain.schedules import ScheduleCommand, Scheduled
from stead.domain.services import Services
from stead.domain.settings_file import ApplySettings
from stead.domain.trials import Stay, Trial
from stead.runtime import approvals
from stead.runtime.answers import answer, claim_of, of
from stead.runtime.arrivals import Arrivals
from stead.runtime.bus import Bus
from stead.runtime.deps import Deps
from stead.runtime.directives import DirectiveRoom
from stead.runtime.home import HomeStream, ProviderService, change
from stead.runtime.intents import Intents, Lists
from stead.runtime.looking import Looking
from stead.runtime.mcp import McpRoom
from stead.runtime.opening import Opener
from stead.runtime.overview import Overview
from stead.runtime.own_lines import OwnLines
from stead.runtime.readiness import Conditions
from stead.runtime.registry import Sessions
from stead.runtime.rules import RuleBook
from stead.runtime.schedules import DOOR, Schedules
from stead.runtime.screening import came_in, screened
from stead.runtime.searching import SearchCheck, SearchSetup
from stead.runtime.secrets import SecretBook
from stead.runtime.service import Readiness
from stead.runtime.session_commands import SessionCommands
from stead.runtime.settings_dry_run import DryRun, require_known
from stead.runtime.settings_file import SettingsRoom
from stead.runtime.terminals import TerminalRoom
from stead.runtime.upkeep import UpkeepCommand

Handler = Callable[[Any, Claimed, str], Awaitable[cmd.Answer]]
"""Carries out the commands of its rows; the claim is the home's until it is known which session's it is."""


class Runtime:
    """Implements ``service.Service``."""

    def __init__(
        self,
        deps: Deps,
        sessions: Sessions,
        home: HomeStream,
        *,
        book: SecretBook,
        providers: ProviderService,
        questions: Lists,
        digest_key: bytes,
    ) -> None:
        self._deps = deps
        self._sessions = sessions
        self._home = home
        self._book = book
        self._providers = providers
        self.conditions = Conditions(deps.machines, providers, deps.clock, lambda text: book.redactor().clean(text))
        self._questions = questions
        self._digest_key = digest_key
        self.work = Overview(deps, sessions)
        self.looks = Looking(deps.folders, sessions, book)
        self.attachments = deps.attachments
        self.trust = deps.trust
        self.notifications = deps.notifications
        self.channels = deps.channels
        self.lines = OwnLines(deps, sessions, book)
        self.terminals = TerminalRoom(deps, sessions, self.lines)
        self.memory = deps.memory.queries
        self.directives = DirectiveRoom(lambda: home.state, deps.journal, deps.new_id)
        self.rules = RuleBook(lambda: home.state.rules, lambda: deps.gate.specs(()), deps.gate.reach, deps.clock)
        self._started_ms = deps.clock.now_ms()
        self._opener = Opener(
            *(deps, sessions, book, lambda: home.state.grants, home.copied, self._scheduled),
            lambda door: read_along(home.state.channels, door),
        )
        self.schedules = Schedules(home, sessions, self._opener, self._handle_part, deps.clock, deps.journal, deps.bus)
        dry_run = DryRun(
            *(book, providers, lambda: [spec.name for spec in deps.gate.specs(())]),
            *(self.directives, self.schedules),
            *(self.notifications, self.channels),
        )
        self.settings = SettingsRoom(
            lambda: home.state, dry_run.facts, self._handle_part, lambda text: book.words().clean(text)
        )
        self.schedules.watching.clean = lambda text: came_in(text, book, HOME).text
        self.schedules.load = self._arrived
        self.arrivals = Arrivals(lambda: home.state, self.schedules, deps.attachments, book, deps.journal, deps.clock)
        self.handlers = self._handle_all()
        """By the type of a command, what carries it out."""

    @property
    def bus(self) -> Bus:
        """The live stream."""
        return self._deps.bus

    async def services(self, session: SessionId) -> Services:
        """See ``service.Service``."""
        await self._sessions.actor(session).state()
        return self._deps.services

    async def handle(self, command: cmd.Command, *, id: CommandId, door: str) -> cmd.Answer:
        """See ``service.Service``."""
        digest = hmac.new(self._digest_key, msgspec.json.encode(command), hashlib.sha256).hexdigest()
        if earlier := _earlier(self._deps.journal, id, digest):
            return earlier
        try:
            cleaned, note = await asyncio.to_thread(screened, command, self._book)
            return await self.handlers[type(cleaned)](cleaned, claim_of(id, digest, HOME, note), door)
        except SteadError as error:
            # The same id twice at the same time: the other was first, and its answer is this one's too.
            if isinstance(error, Conflict) and (earlier := _earlier(self._deps.journal, id, digest)):
                return earlier
            # What a provider, a machine or a file said may stand in it, and a door shows it.
            error.args = (self._book.redactor().clean(str(error)),)
            raise

    async def _handle_part(self, command: cmd.Command, id: CommandId, door: str) -> cmd.Answer:
        """A command that a message became."""
        return await self.handle(command, id=id, door=door)

    def _handle_all(self) -> dict[type, Handler]:
        """What carries out each kind of command; of two rows that name one, the later, narrower row counts."""
        commands, memory = SessionCommands(self._deps, self._sessions), self._deps.memory
        intents = Intents(
            self._sessions, self._questions, self._deps.clock, commands.tell, self._handle_part, self.schedules
        )
        return _by_kind(
            (cmd.HomeCommand | cmd.SecretCommand, self._change_home),
            (DirectiveCommand, self._direct),
            (cmd.OpenSession, self._opener.open),
            (cmd.ForkSession, self._opener.fork),
            (cmd.SessionWord, commands.tell),
            (cmd.SendMessage, intents.say),
            (cmd.Revoke, partial(self._revoke, commands)),
            (cmd.FileCommand, commands.change_files),
            (cmd.ApplyTrial | cmd.DiscardTrial, commands.settle_trial),
            (cmd.Decide, self._decide),
            (cmd.TerminalCommand, self.terminals.carry_out),
            (MemoryCommand, memory.memories.carry_out),
            (UpkeepCommand, memory.upkeep.carry_out),
            (ImportMemories, memory.importing.carry_out),
            (Forget, memory.forgetting.carry_out),
            (ScheduleCommand, self.schedules.carry_out),
            (TargetCommand, self.notifications.carry_out),
            (ChannelCommand, self.channels.carry_out),
            (ApplySettings, self.settings.carry_out),
        )

    def _scheduled(self, door: str) -> Scheduled | None:
        """What a door is, if it is a schedule; no door of a person's can be called so."""
        name = door.removeprefix(DOOR)
        if name == door:
            return None
        known = self._home.state.schedules.get(name)
        if known is None:
            return Scheduled(name, Taint())
        return Scheduled(name, known.proposed, quiet=bool(known.schedule.checklist))

    def _arrived(self, content: str) -> str:
        """The text of what came in, as it may be recorded."""
        text = self._deps.attachments.load(content).decode("utf-8", "replace")
        return came_in(text, self._book, SessionId("")).text

    async def readiness(self) -> Readiness:
        """See ``service.Service``."""
        standing = self._sessions.readiness(self._started_ms)
        return self.conditions.of(msgspec.structs.replace(standing, chosen=bool(self._home.state.chain)))

    async def providers(self) -> tuple[ProviderRow, ...]:
        """See ``service.Service``."""
        return self.conditions.rows()

    async def check_provider(self, name: str) -> ProviderCheck:
        """See ``service.Service``."""
        return await self.conditions.check(name)

    @property
    def mcp(self) -> McpRoom:
        """See ``service.RuleArea``."""
        return self._providers.mcp

    async def search_setup(self) -> SearchSetup:
        """See ``service.Holdings``."""
        return self._providers.search.setup()

    async def check_search(self) -> SearchCheck:
        """See ``service.Holdings``."""
        check = await self._providers.search.check()
        return msgspec.structs.replace(check, text=self._book.redactor().clean(check.text))

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """See ``service.ChangeQueries``."""
        return await self._deps.trials.trial(session, path)

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        """See ``service.ChangeQueries``."""
        return await self._deps.trials.stays(session)

    async def _decide(self, command: cmd.Decide, claim: Claimed, door: str) -> cmd.Answer:
        if name := channel_of(door):
            known = self._home.state.channels.channels.get(name)
            if known is None or not any(
                one.kind == known.channel.kind and one.answers for one in self.channels.kinds()
            ):
                raise Conflict("no answer to a question counts that comes from there; answer it on the page")
        question = await asyncio.to_thread(self._questions.approval, command.approval)
        claim, id = of(claim, question.session), claim.id
        now_ms = self._deps.clock.now_ms()
        events = await self._sessions.actor(question.session).tell(
            lambda session: approvals.answer(session, command, door=door, now_ms=now_ms), claim, cause=id
        )
        if command.answer == "project":
            await self._home.record(*approvals.for_project(events, question.directory), cause=id)
        return answer(claim, events)

    async def _revoke(self, commands: SessionCommands, command: cmd.Revoke, claim: Claimed, door: str) -> cmd.Answer:
        """Take back what a session was granted, and what its folder was."""
        answered = await commands.tell(command, claim, door)
        directory = (await self._sessions.actor(command.session).state()).spec.directory
        if any(folder == directory and grant.tool == command.tool for folder, grant in self._home.state.grants):
            await self._home.record(ev.GrantRevoked(tool=command.tool, directory=directory, door=door), cause=claim.id)
        return answered

    async def _change_home(self, command: cmd.HomeCommand | cmd.SecretCommand, claim: Claimed, door: str) -> cmd.Answer:
        known = {row.name for row in self.conditions.rows()}  # ``models.info`` would load the list of all prices
        if not isinstance(command, cmd.SecretCommand):
            require_known(command, known)
        async with self._book.lock:
            if isinstance(command, cmd.SecretCommand):
                fact: ev.Body = await self._book.change(command)
            else:
                tools = [spec.name for spec in self._deps.gate.specs(())]
                fact = await change(command, self._home.state, self._book, self._providers, door, tools)
            events = await self._home.record(fact, cause=claim.id, claim=claim)
            self._providers.configure(self._home.state)
            if isinstance(command, cmd.SetProviderKey):
                self.conditions.forget(command.name)
            await self._book.reload(self._home.state.secrets)
            self.channels.turn.set()
        return answer(claim, events)

    async def _direct(self, command: DirectiveCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Change a directive. The lock is held, so that the version before it is known."""
        async with self._book.lock:
            fact = await self.directives.change(command, door)
            claim = of(claim, HOME, fact.directive.id if isinstance(fact, ev.DirectiveSet) else "")
            return answer(claim, await self._home.record(fact, cause=claim.id, claim=claim))


def _by_kind(*rows: tuple[Any, Handler]) -> dict[type, Handler]:
    return {kind: handler for kinds, handler in rows for kind in get_args(kinds) or (kinds,)}


def _earlier(journal: Journal, id: CommandId, digest: str) -> cmd.Answer | None:
    """What was answered to this id before.

    Raises:
        Conflict: the id was used for another command.
    """
    claimed = journal.claimed(id)
    if claimed is None:
        return None
    if claimed.digest != digest:
        raise Conflict(f"the idempotency key {id!r} was used for another command; make a new one")
    said = claimed.answer
    if said.text:  # whether it is Stead's own answer to an intent is in the event alone
        at = next(journal.events(after=said.seq - 1, session=said.session), None)
        if isinstance(at, ev.Event) and isinstance(at.body, ev.IntentAnswered):
            return msgspec.structs.replace(said, intent=at.body.intent)
    return said
