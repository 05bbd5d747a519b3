"""Carrying out what doors ask for: each command becomes facts, durable before the door hears back.

Layer: runtime. The runtime's face to the doors (``service.Service``). A command's id makes it happen once, however
often it comes.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.directive_commands import DirectiveCommand
from stead.domain.errors import Conflict, NotFound, SteadError, StorageFault
from stead.domain.forget_commands import Forget
from stead.domain.ids import HOME, ApprovalId, CommandId, SessionId
from stead.domain.memory_commands import ImportMemories, MemoryCommand
from stead.domain.ports import Claimed, Journal
from stead.domain.rows import ApprovalRow
from stead.domain.services import Services
from stead.domain.sessions import Session
from stead.domain.trials import Stay, Trial
from stead.runtime import approvals, objectives
from stead.runtime.answers import answer, claim_of, of
from stead.runtime.aside import settled
from stead.runtime.bus import Bus
from stead.runtime.deps import Deps
from stead.runtime.directives import DirectiveRoom
from stead.runtime.home import HomeCommand, HomeStream, ProviderDesk, change
from stead.runtime.looking import Looking
from stead.runtime.overview import Overview
from stead.runtime.performing import REQUEST
from stead.runtime.readiness import Conditions
from stead.runtime.registry import Sessions
from stead.runtime.screening import screened
from stead.runtime.searching import SearchCheck, SearchSetup
from stead.runtime.secrets import SecretBook, SecretCommand
from stead.runtime.service import ProviderCheck, ProviderRow, Readiness
from stead.runtime.stream import Stream
from stead.runtime.terminals import TerminalRoom
from stead.runtime.upkeep import UpkeepCommand
from stead.runtime.workroom import Workroom


class Questions(Protocol):
    """Where a question stands; the read models know."""

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """The question.

        Raises:
            NotFound: there never was one of this id.
        """


class Runtime:
    """Implements ``service.Service``."""

    def __init__(
        self,
        deps: Deps,
        sessions: Sessions,
        home: HomeStream,
        *,
        book: SecretBook,
        desk: ProviderDesk,
        questions: Questions,
        digest_key: bytes,
    ) -> None:
        self._deps = deps
        self._sessions = sessions
        self._home = home
        self._book = book
        self._desk = desk
        self.conditions = Conditions(deps.machines, desk, deps.clock, lambda text: book.redactor().clean(text))
        self._questions = questions
        self._digest_key = digest_key
        self._work = Workroom(deps, sessions, book, lambda: home.state.grants, home.copied)
        self.work = Overview(deps, sessions)
        self.looks = Looking(deps.folders, sessions, book)
        self.terminals = TerminalRoom(deps, sessions)
        self.memory = deps.memory.queries
        self.directives = DirectiveRoom(lambda: home.state, deps.journal, deps.new_id)
        self._started_ms = deps.clock.now_ms()

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
            return await self._carry_out(cleaned, claim_of(id, digest, HOME, note), door)
        except SteadError as error:
            # The same id twice at the same time: the other was first, and its answer is this one's too.
            if isinstance(error, Conflict) and (earlier := _earlier(self._deps.journal, id, digest)):
                return earlier
            # What a provider, a machine or a file said may stand in it, and a door shows it.
            error.args = (self._book.redactor().clean(str(error)),)
            raise

    async def _carry_out(self, command: cmd.Command, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out. The claim is the home's until it is known which session's it is."""
        if isinstance(command, Forget):
            return await self._deps.memory.forgetting.carry_out(command, claim, door)
        if isinstance(command, UpkeepCommand):
            return await self._deps.memory.upkeep.carry_out(command, claim, door)
        if isinstance(command, ImportMemories):
            return await self._deps.memory.importing.carry_out(command, claim, door)
        if isinstance(command, MemoryCommand):
            return await self._deps.memory.memories.carry_out(command, claim, door)
        match command:
            case cmd.CreateObjective():
                return await self._create(command, claim, door)
            case cmd.Decide():
                return await self._decide(command, claim, door)
            case cmd.ApplyTrial() | cmd.DiscardTrial():
                return await self._settle_trial(command, of(claim, command.session), door)
            case cmd.OpenTerminal() | cmd.CloseTerminal():
                return await self.terminals.carry_out(command, claim, door)
            case cmd.Stop(session="*"):
                return await self._stop_all(command, claim.id, door)
            case (
                cmd.SendMessage()
                | cmd.Pause()
                | cmd.Resume()
                | cmd.Cancel()
                | cmd.Stop()
                | cmd.Retry()
                | cmd.Revoke()
                | cmd.Delete()
            ):
                return await self._tell(command, of(claim, command.session), door)
            case (
                cmd.OpenSession()
                | cmd.ForkSession()
                | cmd.CloseSession()
                | cmd.TakeCheckpoint()
                | cmd.RestoreCheckpoint()
                | cmd.UndoEdit()
                | cmd.EditCall()
                | cmd.CancelCall()
                | cmd.RetryCall()
                | cmd.SetPlan()
                | cmd.RaiseBudget()
            ):
                return await self._work.carry_out(command, claim, door)
            case _:
                return await self._change_home(command, claim, door)

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

    async def search_setup(self) -> SearchSetup:
        """See ``service.Holdings``."""
        return self._desk.search.setup()

    async def check_search(self) -> SearchCheck:
        """See ``service.Holdings``."""
        check = await self._desk.search.check()
        return msgspec.structs.replace(check, text=self._book.redactor().clean(check.text))

    async def trial(self, session: SessionId, path: str = "") -> Trial:
        """See ``service.Aside``."""
        return await self._deps.trials.trial(session, path)

    async def stays(self, session: SessionId) -> tuple[Stay, ...]:
        """See ``service.Aside``."""
        return await self._deps.trials.stays(session)

    async def _create(self, command: cmd.CreateObjective, claim: Claimed, door: str) -> cmd.Answer:
        d = self._deps
        d.gate.specs((*command.tools, *command.allow))
        session, id = SessionId(d.new_id("s")), claim.id
        secrets = self._book.given(command.secrets, session)
        fact = await asyncio.to_thread(objectives.created, command, d.models.default_chain(), d.directives())
        fact = msgspec.structs.replace(fact, secrets=secrets)
        for ref in fact.chain:
            # Says which provider there is not. In a thread, because the first call loads the vendors' price list.
            await asyncio.to_thread(d.models.info, ref)
        grants = objectives.granted(command, fact.directory, self._home.state.grants, d.clock.now_ms(), door)
        self._sessions.bind(session, fact)
        stream = Stream.open(
            session, fact, cause=id, journal=d.journal, snapshots=d.snapshots, bus=d.bus, clock=d.clock
        )
        stream.add(*grants, actor="person", cause=id)
        stream.add(*await d.memory.recollection.opening(fact, command.goal))
        claim = of(claim, session)
        events = await stream.commit(claim)
        self._sessions.adopt(stream).wake()
        return answer(claim, events)

    async def _settle_trial(self, command: cmd.ApplyTrial | cmd.DiscardTrial, claim: Claimed, door: str) -> cmd.Answer:
        actor = self._sessions.actor(command.session)
        work = settled(self._deps.trials, command, door, performing=lambda: actor.performing)
        return answer(claim, await actor.carry_out(work, claim, cause=claim.id))

    async def _tell(self, command: objectives.Told, claim: Claimed, door: str) -> cmd.Answer:
        actor = self._sessions.actor(command.session)
        halts = isinstance(command, (cmd.Stop, cmd.Cancel))
        cut = REQUEST if isinstance(command, cmd.SendMessage) and command.interrupt else ""
        if isinstance(command, cmd.Cancel):
            objectives.told(command, await actor.state(), door)  # what is refused stops nothing
        if halts:
            await actor.halt()
        try:
            events = await actor.carry_out(partial(self._work.told, command, door), claim, cause=claim.id, cut=cut)
        except StorageFault as fault:
            if not isinstance(command, cmd.Stop):
                raise
            actor.hold.owe(partial(_told, command, door))
            return msgspec.structs.replace(claim.answer, seq=self._deps.journal.head(), text=_unrecorded(fault))
        finally:
            if halts:
                actor.release()
        if isinstance(command, cmd.Delete):
            await self._deps.journal.erase(command.session)
            await self._work.forget_kept()
            with suppress(NotFound):
                await self._deps.trials.discard_trial(command.session)
            self._sessions.drop(command.session)
        if isinstance(command, cmd.Revoke):
            await self._revoke_for_folder(command, claim.id, door)
        return answer(claim, events)

    async def _stop_all(self, command: cmd.Stop, id: CommandId, door: str) -> cmd.Answer:
        """Stop every session at once. It is not claimed: stopping twice is the same as once."""
        live, said = [actor for actor in self._sessions.live() if actor.busy or actor.alarm.is_set], ""
        await asyncio.gather(self._deps.machines.close(), *(actor.halt() for actor in live))
        for actor in live:
            stop = cmd.Stop(actor.id, command.why)
            try:
                await actor.tell(partial(_told, stop, door), None, cause=id)
            except Conflict:
                continue  # it ended by itself in the meantime
            except StorageFault as fault:
                actor.hold.owe(partial(_told, stop, door))
                said = f"; {_unrecorded(fault)}"
            finally:
                actor.release()
        return cmd.Answer(id, HOME, self._deps.journal.head(), f"{len(live)} stopped{said}")

    async def _decide(self, command: cmd.Decide, claim: Claimed, door: str) -> cmd.Answer:
        question = await asyncio.to_thread(self._questions.approval, command.approval)
        claim, id = of(claim, question.session), claim.id
        now_ms = self._deps.clock.now_ms()
        events = await self._sessions.actor(question.session).tell(
            lambda session: approvals.answer(session, command, door=door, now_ms=now_ms), claim, cause=id
        )
        if command.answer == "project":
            await self._home.record(*approvals.for_project(events, question.directory), cause=id)
        return answer(claim, events)

    async def _revoke_for_folder(self, command: cmd.Revoke, id: CommandId, door: str) -> None:
        directory = (await self._sessions.actor(command.session).state()).spec.directory
        if any(folder == directory and grant.tool == command.tool for folder, grant in self._home.state.grants):
            await self._home.record(ev.GrantRevoked(tool=command.tool, directory=directory, door=door), cause=id)

    async def _change_home(
        self, command: HomeCommand | SecretCommand | DirectiveCommand, claim: Claimed, door: str
    ) -> cmd.Answer:
        if isinstance(command, DirectiveCommand):
            return await self._direct(command, claim, door)
        if isinstance(command, cmd.SetChain):
            for ref in command.chain:
                self._deps.models.info(ref)  # says which provider there is not
        async with self._book.lock:
            if isinstance(command, SecretCommand):
                fact: ev.Body = await self._book.change(command)
            else:
                fact = await change(command, self._home.state, self._book, self._desk, door)
            events = await self._home.record(fact, cause=claim.id, claim=claim)
            self._desk.configure(self._home.state)
            if isinstance(command, cmd.SetProviderKey):
                self.conditions.forget(command.name)
            await self._book.reload(self._home.state.secrets)
        return answer(claim, events)

    async def _direct(self, command: DirectiveCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Change a directive. Whoever waits for the lock sees the version that the one before has made."""
        async with self._book.lock:
            fact = await self.directives.change(command, door)
            claim = of(claim, HOME, fact.directive.id if isinstance(fact, ev.DirectiveSet) else "")
            return answer(claim, await self._home.record(fact, cause=claim.id, claim=claim))


def _told(command: objectives.Told, door: str, session: Session) -> tuple[ev.Body, ...]:
    return objectives.told(command, session, door)


def _unrecorded(fault: StorageFault) -> str:
    return f"it holds, but that could not be recorded ({fault}); a restart before it is would let it go on"


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
    return claimed.answer
