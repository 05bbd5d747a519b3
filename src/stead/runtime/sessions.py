"""One actor per session: ask the brain for the next effect, record its intent, perform it, record its outcome.

Layer: runtime. An actor holds ``lock`` while it thinks and records, and lets it go while it performs, so that a command
can pause, stop or speak at any time. Nothing waits here for a person: a question is an event, and the actor returns.

A commit comes before each effect and one more at the end, so between a model's answer and the next request lie two:
{ModelReplied, CallJudged, ToolStarted} before the tool runs, {ToolFinished, ModelRequested} before the request is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Literal, TypeVar, assert_never

from stead.brain.turn import next_effect
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.effects import CallModel, Finish, Record, RunTool, Wait
from stead.domain.errors import (
    BudgetRefused,
    Fenced,
    InvalidRequest,
    MachineError,
    ModelFault,
    NotFound,
    SteadError,
    StorageFault,
)
from stead.domain.ids import ApprovalId, CallKey, CommandId, RequestNo, SessionId
from stead.domain.live import OutputDelta, TextDelta
from stead.domain.policies import Allow, Ask, Deny, Level, Profile
from stead.domain.ports import Claimed, Clock, Journal, Machines, ModelRequest, Models, Snapshots
from stead.domain.sessions import STEAD, Session
from stead.domain.tools import ToolContext
from stead.runtime import recovery
from stead.runtime.bus import Bus
from stead.runtime.gate import Gate, Judged
from stead.runtime.stream import Stream

log = logging.getLogger(__name__)
Done = TypeVar("Done")

STORAGE_RETRY_S = 5.0
"""How long a session rests when the disk refused its events."""
LONGEST_TIMER_S = 24 * 3600.0


@dataclass(frozen=True)
class Deps:
    """What every actor works with."""

    journal: Journal
    snapshots: Snapshots
    models: Models
    machines: Machines
    gate: Gate
    bus: Bus
    clock: Clock
    new_id: Callable[[str], str]
    """Makes an id with this prefix."""
    approval_ttl_s: int
    backoff_ms: int = 1000
    """The first pause after a model failure; it doubles up to a minute."""
    lanes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    """How many sessions work at the same time."""


class Cut:
    """What performing gives when it was cut off from outside."""


CUT = Cut()


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
        self._notes: list[ev.MachineStarted | ev.MachineEnded] = []
        if stream is not None:
            self._bind(stream.session)

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
            self._stream = stream
            stream.add(*recovery.mend(stream.session))
            try:
                self._bind(stream.session)
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
        async with self.lock:
            stream = await self.stream()
            stream.add(*facts(stream.session), actor="person", cause=cause)
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
        return not self.busy and self._stream is None and self._timer is None and not self.lock.locked()

    @property
    def busy(self) -> bool:
        """Whether it is thinking, performing or recording right now."""
        return self._driver is not None and not self._driver.done()

    def note(self, fact: ev.MachineStarted | ev.MachineEnded) -> None:
        """A fact to be written with the next ones."""
        self._notes.append(fact)

    def forget(self) -> None:
        """Drop the state; the journal is read again when it is needed. Call it with the lock held."""
        self._stream = None

    def wake(self) -> None:
        """See whether there is something to do. Cheap, and harmless when there is not."""
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
        while not self._halting and (world := self._world(stream)) is not None:
            self._write_notes(stream)
            effect = next_effect(stream.session, world)
            match effect:
                case None:
                    break
                case Wait(until_ms=until_ms):
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
                    stream = await self._run_tool(stream, key)
                case _:
                    assert_never(effect)
        await stream.commit()
        if stream.session.phase == "ended":
            self.forget()

    def _bind(self, session: Session) -> None:
        writable = session.spec.profile is not Profile.READONLY
        self._deps.machines.bind(self.id, session.spec.directory, writable=writable)

    def _write_notes(self, stream: Stream) -> None:
        notes, self._notes = self._notes, []
        stream.add(*notes)

    def _world(self, stream: Stream) -> World | None:
        """The facts of the moment; a session whose model is gone is paused, with the reason."""
        spec = stream.session.spec
        try:
            models = tuple(self._deps.models.info(ref) for ref in spec.chain)
        except NotFound as missing:
            if stream.session.phase == "active":
                stream.add(ev.SessionPaused(why=str(missing)))
            return None
        return World(self._deps.clock.now_ms(), self._deps.gate.specs(spec.tools), models)

    async def _call_model(self, stream: Stream, effect: CallModel) -> Stream:
        session = stream.session
        request = ModelRequest(
            session=self.id,
            number=effect.number,
            chain=effect.chain,
            instructions=session.spec.instructions,
            tools=self._deps.gate.specs(session.spec.tools),
            messages=tuple(session.messages),
            max_output_tokens=effect.max_output_tokens,
        )
        intent = ev.ModelRequested(
            number=effect.number,
            prefix_sha256=session.sent_sha256 if session.requests else "",
            messages=len(request.messages),
            max_output_tokens=effect.max_output_tokens,
            reserved=effect.reserve,
        )
        stream.add(intent)
        try:
            await stream.commit()
        except BudgetRefused as refused:
            self.forget()
            stream = await self.stream()
            stream.add(ev.SessionPaused(why=str(refused)))
            return stream
        stream.add(*await self._ask(request, effect, stream.session.failures))
        return stream

    async def _ask(self, request: ModelRequest, effect: CallModel, failures: int) -> tuple[ev.Body, ...]:
        """Send the request; what became of it, as facts."""
        try:
            reply = await self._perform(self._deps.models.reply(request, self._teller(request.number)))
        except ModelFault as fault:
            backoff_ms = min(self._deps.backoff_ms * 2**failures, 60_000)
            failed = ev.ModelFailed(
                number=effect.number,
                kind=fault.kind,
                error=str(fault),
                attempts=fault.attempts,
                spend=effect.reserve if fault.charged else ev.Spend(),
                retry_after_ms=max(backoff_ms, int(fault.retry_after_s * 1000)),
            )
            hopeless = fault.kind in ("auth", "unconfigured")
            return (failed, ev.SessionPaused(why=str(fault))) if hopeless else (failed,)
        if isinstance(reply, Cut):
            return (recovery.lost_request(effect.number, effect.reserve, "stopped", "The request was cut off."),)
        return (
            ev.ModelReplied(
                number=effect.number,
                parts=reply.parts,
                stop=reply.stop,
                model=reply.model,
                usage=reply.usage,
                spend=reply.spend,
                attempts=reply.attempts,
                duration_ms=reply.duration_ms,
                first_token_ms=reply.first_token_ms,
            ),
        )

    async def _run_tool(self, stream: Stream, key: CallKey) -> Stream:
        call = stream.session.calls[key]
        try:
            judged = await self._deps.gate.judge(stream.session, call, self._deps.clock.now_ms())
        except MachineError as fault:
            stream.add(finished(key, call.tool, "error", str(fault)))
            return stream
        verdict = judged.verdict
        stream.add(_judgement(key, judged))
        match verdict:
            case Deny(reason=reason):
                stream.add(finished(key, call.tool, "denied", reason.text))
            case Ask():
                if call.step == "approved":
                    stream.add(ev.ApprovalLapsed(id=call.approval, key=key, why="changed"))
                stream.add(self._question(key, judged, verdict))
            case Allow():
                await self._execute(stream, key, judged, verdict)
            case _:
                assert_never(verdict)
        return stream

    async def _execute(self, stream: Stream, key: CallKey, judged: Judged, verdict: Allow) -> None:
        stream.add(
            ev.ToolStarted(
                key=key,
                tool=judged.tool,
                arguments=judged.arguments,
                digest=judged.digest,
                idempotent=judged.idempotent,
            )
        )
        await stream.commit()
        context = ToolContext(self.id, self._teller(key))
        ran = await self._perform(self._deps.gate.run(judged, verdict.permit, context))
        if isinstance(ran, Cut):
            text = "Stopped while it ran; what it had done by then stays done."
            stream.add(finished(key, judged.tool, "cancelled", text))
            return
        outcome, duration_ms = ran
        stream.add(*outcome.facts, actor="model")
        stream.add(
            ev.ToolFinished(
                key=key,
                tool=judged.tool,
                outcome=outcome.status,
                text=outcome.text,
                label=judged.label,
                size_bytes=outcome.size_bytes,
                duration_ms=duration_ms,
            )
        )

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

    def _question(self, key: CallKey, judged: Judged, ask: Ask) -> ev.ApprovalRequested:
        return ev.ApprovalRequested(
            id=ApprovalId(self._deps.new_id("a")),
            key=key,
            tool=judged.tool,
            arguments=judged.arguments,
            digest=ask.digest,
            level="session" if ask.level is Level.SESSION else "each" if ask.level is Level.EACH else "confirm",
            reason=ask.reason,
            risk=ask.risk,
            expires_at_ms=self._deps.clock.now_ms() + self._deps.approval_ttl_s * 1000,
        )

    def _teller(self, what: RequestNo | CallKey) -> Callable[[str], None]:
        """A sink for pieces of text as they come, for whoever watches."""
        offset = 0

        def tell(text: str) -> None:
            nonlocal offset
            at, offset = offset, offset + len(text)
            if isinstance(what, str):
                self._deps.bus.publish((OutputDelta(self.id, what, at, text),))
            else:
                self._deps.bus.publish((TextDelta(self.id, what, at, text),))

        return tell

    def _set_timer(self, delay_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(max(delay_s, 0.0), LONGEST_TIMER_S), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.wake()


def ending(
    session: Session, status: Literal["completed", "failed", "cancelled"], reason: str, summary: str
) -> tuple[ev.Body, ...]:
    """The end of an objective: its open question lapses first, so that no door keeps showing it."""
    lapsed = tuple(
        ev.ApprovalLapsed(id=call.approval, key=call.key, why="ended")
        for call in session.calls.values()
        if call.step == "asking"
    )
    return (*lapsed, ev.ObjectiveEnded(status=status, reason=reason, summary=summary))


def finished(key: CallKey, tool: str, outcome: Literal["error", "denied", "cancelled"], text: str) -> ev.ToolFinished:
    """The outcome of a call that Stead itself speaks for."""
    return ev.ToolFinished(
        key=key,
        tool=tool,
        outcome=outcome,
        text=text,
        label=STEAD,
        size_bytes=0,
        duration_ms=0,
    )


def _judgement(key: CallKey, judged: Judged) -> ev.CallJudged:
    verdict = judged.verdict
    return ev.CallJudged(
        key=key,
        tool=judged.tool,
        verdict="allow" if isinstance(verdict, Allow) else "ask" if isinstance(verdict, Ask) else "deny",
        reason=verdict.reason,
        risk=verdict.risk,
        digest=judged.digest,
    )
