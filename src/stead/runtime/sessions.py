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
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar, assert_never

from stead.brain.turn import next_effect
from stead.domain import events as ev
from stead.domain.effects import CallModel, Finish, Record, RunTool, Wait
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
from stead.domain.sessions import Session, status
from stead.runtime import recovery
from stead.runtime.deps import Deps
from stead.runtime.objectives import show
from stead.runtime.steps import CUT, Cut, Steps, ending
from stead.runtime.stream import Stream

log = logging.getLogger(__name__)
Done = TypeVar("Done")

STORAGE_RETRY_S = 5.0
"""How long a session rests when the disk refused its events."""
LONGEST_TIMER_S = 24 * 3600.0
NOTES_S = 1.0
"""How long a fact about the machine waits for others to be written with."""


Noted = ev.MachineStarted | ev.MachineEnded | ev.ProtectedQuarantined | ev.EgressUsed
"""What becomes known about a machine beside a session's steps."""


class Actor:
    """Runs one session.

    ``lock``: whoever holds it alone may append to the stream, and when it is free everything appended is committed.
    """

    def __init__(self, id: SessionId, deps: Deps, stream: Stream | None = None) -> None:
        self.id = id
        self.lock = asyncio.Lock()
        self._deps = deps
        self._stream = stream
        self._driver: asyncio.Task[None] | None = None
        self._again = False
        self._work: asyncio.Task[object] | None = None
        self._halting = False
        self._timer: asyncio.TimerHandle | None = None
        self._steps = Steps(id, deps, self._perform)
        self._notes: list[Noted] = []
        self._noting: asyncio.Task[None] | None = None

    async def stream(self) -> Stream:
        """The session's state; call it with the lock held.

        Raises:
            NotFound: the journal has no such session.
        """
        if self._stream is None:
            d = self._deps
            stream = await asyncio.to_thread(
                Stream.load, self.id, journal=d.journal, snapshots=d.snapshots, bus=d.bus, clock=d.clock
            )
            if stream is None or stream.session.deleted:
                raise NotFound(f"there is no session {self.id!r}; see `stead objectives`")
            for ref in stream.session.spec.chain:
                with contextlib.suppress(NotFound):  # told when the model is needed
                    await asyncio.to_thread(d.models.info, ref)  # the first call loads the vendors' price list
            self._stream = stream
            stream.add(*recovery.mend(stream.session))
            try:
                show(d.machines, self.id, stream.session.spec)
            except InvalidRequest as gone:
                if stream.session.phase == "active":
                    stream.add(ev.SessionPaused(why=str(gone)))
            await stream.commit()
        return self._stream

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
        self, work: Callable[[Session], Awaitable[tuple[ev.Body, ...]]], claim: Claimed | None, *, cause: CommandId
    ) -> tuple[ev.Event, ...]:
        """As ``tell``, for a word that takes work first; meanwhile the session starts nothing.

        Raises:
            NotFound: there is no such session.
            Conflict: as ``tell``.
            Fenced, StorageFault: nothing was written.
        """
        async with self.lock:
            stream = await self.stream()
            bodies = await work(stream.session)
            self._write_notes(stream)
            stream.add(*bodies, actor="person", cause=cause)
            try:
                events = await stream.commit(claim)
            except SteadError:
                self.forget()
                raise
        self.wake()
        return events

    async def directory(self) -> str:
        """The session's workspace folder."""
        async with self.lock:
            return (await self.stream()).session.spec.directory

    @property
    def at_rest(self) -> bool:
        """Whether nothing would be lost by forgetting this actor."""
        resting = not self.busy and self._stream is None and self._timer is None
        return resting and not self._notes and not self.lock.locked()

    @property
    def performing(self) -> bool:
        """Whether a request or a call is under way."""
        return self._work is not None

    @property
    def busy(self) -> bool:
        """Whether it is thinking, performing or recording right now."""
        return self._driver is not None and not self._driver.done()

    def note(self, fact: Noted) -> None:
        """A fact to be written with the next ones, and in a second at the latest, whatever the call under way does."""
        self._notes.append(fact)
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._record_notes(NOTES_S), name=f"notes of {self.id}")

    def forget(self) -> None:
        """Drop the state; the journal is read again when it is needed. Call it with the lock held."""
        self._stream = None

    def wake(self) -> None:
        """See whether there is something to do. Cheap, and harmless when there is not."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive(), name=f"session {self.id}")
        else:
            self._again = True

    async def halt(self) -> None:
        """Cut off what is under way: the model's connection, the session's whole process tree. Waits for no loop.

        The caller records why, then calls ``wake``; until then the actor starts nothing.
        """
        self._halting = True
        if self._work is not None:
            self._work.cancel()
        await self._deps.machines.kill(self.id)

    async def close(self) -> None:
        """Cut off, let the outcome be recorded, and end."""
        await self.halt()
        if self._timer is not None:
            self._timer.cancel()
        if self._driver is not None:
            await asyncio.wait([self._driver], timeout=5)
        if self._noting is not None:
            self._noting.cancel()
        await self._record_notes(0)

    def release(self) -> None:
        """Let the actor start things again after ``halt``."""
        self._halting = False

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
                    stream.add(ev.SessionPaused(why=why))
                await stream.commit()
        except SteadError as fault:
            self.forget()
            log.error("session %s: %s", self.id, fault)

    def _give_up(self, fault: Fenced | StorageFault | NotFound) -> None:
        """Drop the state that could not be written. Another runner owns the session, or the disk may come back."""
        self.forget()
        log.warning("session %s: %s", self.id, fault)
        if isinstance(fault, StorageFault):
            self._set_timer(STORAGE_RETRY_S)

    async def _run(self) -> None:
        stream = await self.stream()
        while not self._halting and (world := self._steps.world(stream)) is not None:
            self._write_notes(stream)
            effect = next_effect(stream.session, world)
            match effect:
                case None:
                    break
                case Wait(until_ms=until_ms):
                    if status(stream.session) == "waiting":
                        # Nothing is held while a person thinks: the next call starts another machine in a moment.
                        await self._deps.machines.kill(self.id)
                        self._write_notes(stream)
                    self._set_timer((until_ms - self._deps.clock.now_ms()) / 1000)
                    break
                case Record(bodies=bodies):
                    stream.add(*bodies)
                case Finish():
                    # First the machine, so that whoever hears of the end finds the folder as the session leaves it.
                    await self._deps.machines.kill(self.id)
                    self._write_notes(stream)
                    stream.add(*ending(stream.session, effect.status, effect.reason, effect.summary))
                case CallModel():
                    stream = await self._call_model(stream, effect)
                case RunTool(key=key):
                    await self._steps.run_tool(stream, key)
                case _:
                    assert_never(effect)
        await stream.commit()
        if stream.session.phase == "ended":
            self.forget()

    async def _record_notes(self, after_s: float) -> None:
        """Write the notes that no other facts have taken along by then."""
        await asyncio.sleep(after_s)
        async with self.lock:
            try:
                if self._notes:
                    stream = await self.stream()
                    self._write_notes(stream)
                    await stream.commit()
            except SteadError as fault:
                self.forget()
                log.warning("session %s: what its machine did is not on record: %s", self.id, fault)

    def _write_notes(self, stream: Stream) -> None:
        notes, self._notes = self._notes, []
        stream.add(*notes)

    async def _call_model(self, stream: Stream, effect: CallModel) -> Stream:
        try:
            await self._steps.call_model(stream, effect)
        except BudgetRefused as refused:
            self.forget()
            stream = await self.stream()
            stream.add(ev.SessionPaused(why=str(refused)))
        return stream

    async def _perform(self, work: Coroutine[object, object, Done]) -> Done | Cut:
        """Do something long with the lock free. Being cut off (``halt``, shutdown) gives ``CUT``; other errors pass."""
        task = asyncio.create_task(work)
        if self._halting:
            task.cancel()
        self._work = task
        self.lock.release()
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await self.lock.acquire()
            self._work = None
        return CUT if task.cancelled() else task.result()

    def _set_timer(self, delay_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(max(delay_s, 0.0), LONGEST_TIMER_S), self.wake)
