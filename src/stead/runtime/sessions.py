"""One actor per session: ask the brain for the next effect, record its intent, perform it, record its outcome.

Layer: runtime. An actor holds ``lock`` while it thinks and records, and lets it go while it performs, so that a command
can pause, stop or speak at any time. Nothing waits here for a person: a question is an event, and the actor returns.

A commit comes before each effect and one more at the end, so between a model's answer and the next request lie two:
{ModelReplied, CallJudged, ToolStarted} before the tool runs, {ToolFinished, ModelRequested} before the request is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import assert_never

from stead.brain.turn import next_effect
from stead.domain import events as ev
from stead.domain.effects import CallModel, Compact, Finish, Record, RunChecks, RunTools, Wait
from stead.domain.errors import (
    BudgetRefused,
    Fenced,
    InvalidRequest,
    NotFound,
    SteadError,
    StorageFault,
)
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Claimed
from stead.domain.sessions import Session, open_agents, status
from stead.runtime import recovery
from stead.runtime.alarms import Alarm
from stead.runtime.deps import Deps
from stead.runtime.holding import Hold
from stead.runtime.keeping import Keeper
from stead.runtime.notes import Noted, Notes
from stead.runtime.performing import REQUEST, Performer
from stead.runtime.reviews import reviewed
from stead.runtime.steps import Steps
from stead.runtime.stream import Stream
from stead.runtime.workspace_binding import bind_by_session

log = logging.getLogger(__name__)

STORAGE_RETRY_S = 5.0
"""How long a session rests when the disk refused its events."""


class Actor:
    """Runs one session.

    ``lock``: whoever holds it alone may append to the stream, and when it is free everything appended is committed.
    """

    def __init__(self, id: SessionId, deps: Deps, stream: Stream | None = None) -> None:
        self.id = id
        self.lock = asyncio.Lock()
        self.parent = _parent(stream) if stream else SessionId("")
        """Of a subagent that was begun or read since the daemon started."""
        self._deps = deps
        self._stream = stream
        self._driver: asyncio.Task[None] | None = None
        self._again = False
        self._performer = Performer(self.lock)
        self.alarm = Alarm(self.wake)
        self.hold = Hold(self._performer, lambda: self.alarm.set(STORAGE_RETRY_S))
        self.release = self.hold.release
        """Lets the actor start things again after ``halt``, unless a stop is still to be recorded."""
        self._notes = Notes(self._record_notes, f"notes of {id}")
        self.keeper = Keeper(id, deps, self._notes.add)
        self._steps = Steps(id, deps, self._performer, self.keeper, self._notes)

    async def stream(self) -> Stream:
        """The session's state, with a stop that was still to be recorded; call it with the lock held.

        Raises:
            NotFound: the journal has no such session.
            Fenced, StorageFault: what must be recorded first cannot be.
        """
        stream = self._stream
        if stream is None:
            d = self._deps
            stream = await asyncio.to_thread(Stream.load, self.id, d)
            if stream is None or stream.session.deleted:
                raise NotFound(f"there is no session {self.id!r}; see `stead objectives`")
            for ref in stream.session.spec.chain:
                with contextlib.suppress(NotFound):  # told when the model is needed
                    await asyncio.to_thread(d.models.info, ref)  # the first call loads the vendors' price list
            self._stream, self.parent = stream, _parent(stream)
            known = {row.id for row in d.terminals.rows(self.id)} | self._notes.ended
            stream.add(*recovery.mend(stream.session, known))
            try:
                bind_by_session(d, stream.session)
            except InvalidRequest as gone:
                if stream.session.phase == "active":
                    stream.add(ev.SessionPaused(str(gone), gone.code))
            await stream.commit()
        try:
            await self.hold.record(stream)
        except SteadError:
            self.forget()
            raise
        return stream

    async def tell(
        self, facts: Callable[[Session], tuple[ev.Body, ...]], claim: Claimed | None, *, cause: CommandId
    ) -> tuple[ev.Event, ...]:
        """Record what a person's word makes of the session as it is now, then see what follows.

        Args:
            facts: gives the facts, or raises what the door is to hear; then nothing is recorded.
            claim: the command's, if its answer is to be kept.
            cause: the command's id.

        Raises:
            NotFound: there is no such session.
            Fenced, Conflict, StorageFault: nothing was written.
        """

        async def at_once(session: Session) -> tuple[ev.Body, ...]:
            return facts(session)

        return await self.carry_out(at_once, claim, cause=cause)

    async def carry_out(
        self,
        work: Callable[[Session], Awaitable[tuple[ev.Body, ...]]],
        claim: Claimed | None,
        *,
        cause: CommandId,
        cut: str = "",
    ) -> tuple[ev.Event, ...]:
        """As ``tell``, for a word that takes work first; meanwhile the session starts nothing.

        Args:
            work: gives the facts, as of ``tell``.
            claim: as of ``tell``.
            cause: as of ``tell``.
            cut: what is cut off by it, a call's key or ``REQUEST``, if it is under way then; the rest goes on.

        Raises:
            NotFound: there is no such session.
            Conflict: as ``tell``.
            Fenced, StorageFault: nothing was written.
        """
        async with self.lock:
            stream = await self.stream()
            bodies = await work(stream.session)
            stream.add(*self._notes.take())
            stream.add(*bodies, actor="person", cause=cause)
            try:
                events = await stream.commit(claim)
            except SteadError:
                self.forget()
                raise
            self._performer.cut(cut)  # before the driver has its next turn, so that it hits nothing newer
        self.wake()
        return events

    async def state(self) -> Session:
        """The session as it is. It may run ahead of the record by a moment; decide nothing by it.

        Raises:
            NotFound: there is no such session.
        """
        async with self.lock:
            return (await self.stream()).session

    @property
    def at_rest(self) -> bool:
        """Whether nothing would be lost by forgetting this actor."""
        resting = not self.busy and self._stream is None and not self.alarm.is_set
        return resting and not self._notes and not self.keeper.busy and not self.lock.locked()

    @property
    def performing(self) -> bool:
        """Whether a request or a call is under way."""
        return self._performer.performing

    @property
    def busy(self) -> bool:
        """Whether it is thinking, performing or recording right now."""
        return self._driver is not None and not self._driver.done()

    def note(self, fact: Noted) -> None:
        """A fact to be written with the next ones, and in a second at the latest, whatever the call under way does."""
        self._notes.add(fact)

    def forget(self) -> None:
        """Drop the state; the journal is read again when it is needed. Call it with the lock held."""
        self._stream = None

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """See ``domain.forgetting.Holder``. A request is cut off because its answer may have the words again."""
        self._performer.cut(REQUEST)
        async with self.lock:
            if self._stream is not None:
                await self._stream.commit()
            try:
                yield
            finally:
                if self._stream is not None:
                    await asyncio.to_thread(self._stream.reload)

    def wake(self) -> None:
        """See whether there is something to do. Cheap, and harmless when there is not."""
        self.alarm.cancel()
        self._steps.delegated.wake()
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive(), name=f"session {self.id}")
        else:
            self._again = True

    async def halt(self) -> None:
        """Cut off what is under way: the model's connection, the session's whole process tree. Waits for no loop.

        The caller records why, then calls ``wake``; until then the actor starts nothing.
        """
        self._performer.halt()
        await self._deps.machines.kill(self.id)

    async def close(self) -> None:
        """Cut off, let the outcome be recorded, and end."""
        await self.halt()
        self.alarm.cancel()
        if self._driver is not None:
            await asyncio.wait([self._driver], timeout=5)
        await self.keeper.close()
        self._notes.cancel()
        await self._record_notes()

    async def _drive(self) -> None:
        async with self._deps.lanes:
            while True:
                self._again = False
                try:
                    async with self.lock:
                        await self._run()
                except (Fenced, StorageFault, NotFound) as fault:
                    self._give_up(fault)
                    return
                except Exception:
                    log.exception("session %s: a fault of ours", self.id)
                    await self._rest("Stead met a fault of its own; `stead logs` has it, `stead resume` tries again")
                    return
                if not self._again:
                    return

    async def _rest(self, why: str) -> None:
        """Pause the session as the journal has it, so that people see that it stands still, and why."""
        self.forget()
        try:
            async with self.lock:
                stream = await self.stream()
                if stream.session.phase == "active":
                    stream.add(ev.SessionPaused(why, "internal"))
                await stream.commit()
                _tell_parent(self._deps, stream.session)
        except SteadError as fault:
            self.forget()
            log.error("session %s: %s", self.id, fault)

    def _give_up(self, fault: Fenced | StorageFault | NotFound) -> None:
        """Drop the state that could not be written. Another runner owns the session, or the disk may come back."""
        self.forget()
        log.warning("session %s: %s", self.id, fault)
        if isinstance(fault, StorageFault):
            self.alarm.set(STORAGE_RETRY_S)

    async def _run(self) -> None:
        stream, told = await self.stream(), False
        stream.add(*await self._deps.agents.settled(stream.session))
        while not self._performer.halting and (world := self._steps.world(stream)) is not None:
            stream.add(*self._notes.take())
            effect = next_effect(stream.session, world)
            match effect:
                case None:
                    break
                case Wait(until_ms=until_ms):
                    if status(stream.session) == "waiting":
                        # Nothing is held while a person thinks: the next call starts another machine in a moment.
                        await self._deps.machines.kill(self.id, resting=True)
                        stream.add(*self._notes.take())
                    self.alarm.set((until_ms - self._deps.clock.now_ms()) / 1000)
                    break
                case Record(bodies=bodies):
                    stream.add(*bodies)
                case Finish():
                    if open_agents(stream.session):
                        await stream.commit()
                        await self._deps.agents.cancel(stream.session)
                        stream.add(*await self._deps.agents.settled(stream.session))
                    # First the machine, so that whoever hears of the end finds the folder as the session leaves it.
                    await self._deps.machines.kill(self.id, resting=stream.session.spec.interactive)
                    stream.add(*self._notes.take())
                    stream.add(
                        *await reviewed(self._deps.trials, stream.session)
                    )  # before the end, so that whoever waits for that has heard it
                    stream.add(*await self._steps.ending(stream, effect))
                case CallModel() if said := self._steps.instructed(stream.session):
                    stream.add(*said)
                case CallModel() if led := await self._deps.trust.led(stream.session):
                    stream.add(*led)
                case CallModel():
                    await self._call_model(stream, effect)
                case RunTools(keys=keys):
                    await self._steps.run_tools(stream, keys)
                case RunChecks():
                    await self._steps.run_checks(stream, effect)
                case Compact(upto=upto, head=head, counted_percent=percent):
                    await stream.commit()
                    ingested = await self._deps.history.ingest(stream.place)
                    stream.add(ev.ContextCompacted(upto, head, ingested, percent))
                case _:
                    assert_never(effect)
            told = isinstance(effect, Finish)
        if not told and (stream.session.phase != "active" or stream.session.resting):
            stream.add(*await reviewed(self._deps.trials, stream.session))
        await stream.commit()
        _tell_parent(self._deps, stream.session)
        if stream.session.phase == "ended" or stream.session.resting:
            self.forget()  # what rests costs nothing; the journal has it

    async def _record_notes(self) -> None:
        """Write the notes that no other facts have taken along."""
        async with self.lock:
            try:
                if self._notes:
                    stream = await self.stream()
                    stream.add(*self._notes.take())
                    await stream.commit()
            except SteadError as fault:
                self.forget()
                log.warning("session %s: what its machine did is not on record: %s", self.id, fault)

    async def _call_model(self, stream: Stream, effect: CallModel) -> None:
        try:
            await self._steps.call_model(stream, effect)
        except BudgetRefused as refused:
            stream.add(ev.SessionPaused(str(refused), refused.code))


def _tell_parent(deps: Deps, session: Session) -> None:
    """Have the session that waits for this one look, once this has ended or cannot go on by itself."""
    if session.spec.parent and (session.phase == "ended" or (session.phase == "paused" and session.paused)):
        deps.agents.wake(session.spec.parent.session)


def _parent(stream: Stream) -> SessionId:
    parent = stream.session.spec.parent
    return parent.session if parent else SessionId("")
