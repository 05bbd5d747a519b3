"""What external agents ask leave for, put to the gate while the call that handed them their task runs.

Layer: runtime. A request is judged as a call of Stead's own that would do the same, on the record as calls are, and
where the gate asks, the person sees the question in every door as they see others. Nothing runs here: leave given, the
agent does it itself, in its machine. The permit is spent on having said so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.errors import MachineError
from stead.domain.external_agents import Leave, Wanted
from stead.domain.ids import CallKey
from stead.domain.permits import Permit
from stead.domain.policies import Allow, Ask, Deny
from stead.domain.sessions import Call, Session
from stead.runtime.deps import Deps
from stead.runtime.gate import Judged
from stead.runtime.stream import Stream

_MOST_S = 3600
"""How long a question of an agent's stands at most: its machine waits for the answer."""
_YES = "It may do that itself, in its machine, this once."
_LAPSED = "Nobody answered in time."
T = TypeVar("T")

Question = Callable[[CallKey, Judged, Ask], ev.ApprovalRequested]
Judgement = Callable[[CallKey, Judged], ev.CallJudged]


class DelegatedCalls:
    """Those of one session.

    Args:
        deps: the parts that a session works with.
        lock: the session's; free while a call runs.
        judgement: a verdict as it is recorded.
        question: the question that a verdict asks.
    """

    def __init__(self, deps: Deps, lock: asyncio.Lock, judgement: Judgement, question: Question) -> None:
        self._deps = deps
        self._lock = lock
        self._judgement = judgement
        self._question = question
        self._waiting: set[asyncio.Event] = set()

    def wake(self) -> None:
        """Something about the session may have changed: each waiter looks again."""
        for waiter in self._waiting:
            waiter.set()

    async def ask(self, stream: Stream, parent: CallKey, wanted: Wanted) -> Leave:
        """Judge a request; waits for the person where the gate asks.

        Raises:
            Fenced, StorageFault: it could not be recorded.
        """
        asked_ms = self._deps.clock.now_ms()
        key, leave = await _whole(self._begin(stream, parent, wanted))
        while leave is None:
            await self._answered(stream, key)
            leave = await _whole(self._settle(stream, key))
        return Leave(leave.given, leave.why, self._deps.clock.now_ms() - asked_ms)

    async def _begin(self, stream: Stream, parent: CallKey, wanted: Wanted) -> tuple[CallKey, Leave | None]:
        async with self._lock:
            session = stream.session
            key = CallKey(f"{parent}_{session.asked_by_agents + 1}")
            asked = ev.CallDelegated(key, parent, wanted.agent, wanted.tool, wanted.arguments, wanted.title)
            stream.add(asked, actor="model")
            leave = await self._judge(stream, key)
            await stream.commit()
            return key, leave

    async def _settle(self, stream: Stream, key: CallKey) -> Leave | None:
        """What became of a question: the answer, or nothing where another one was put in its place."""
        async with self._lock:
            call = stream.session.calls.get(key)
            if call is None:
                return Leave(given=False, why="The session went on without it.")
            if call.step == "asking" and self._deps.clock.now_ms() < call.expires_at_ms:
                return None
            if call.step in ("new", "approved"):
                leave = await self._judge(stream, key)
            else:
                if call.step == "asking":
                    stream.add(ev.ApprovalLapsed(id=call.approval, key=key, why="expired"))
                leave = Leave(given=False, why=call.said or ("" if call.step == "refused" else _LAPSED))
                stream.add(ev.CallAnswered(key, given=False, why=leave.why))
            await stream.commit()
            return leave

    async def _judge(self, stream: Stream, key: CallKey) -> Leave | None:
        """The verdict on a request as things stand now; nothing where it asks the person."""
        call = stream.session.calls.get(key)
        if call is None:
            return Leave(given=False, why="The task it is for has ended.")
        try:
            judged = await self._deps.gate.judge(stream.session, call, self._deps.clock.now_ms())
        except MachineError as fault:
            return _answer(stream, key, Leave(given=False, why=f"It could not be judged: {fault}"))
        stream.add(self._judgement(key, judged))
        match judged.verdict:
            case Allow(permit=permit):
                return _answer(stream, key, await self._deps.gate.attempt(judged, permit, _given))
            case Deny(reason=reason):
                return _answer(stream, key, Leave(given=False, why=reason.text))
            case Ask() as verdict:
                if call.step == "approved":
                    stream.add(ev.ApprovalLapsed(id=call.approval, key=key, why="changed"))
                asked = self._question(key, judged, verdict)
                latest = self._deps.clock.now_ms() + _MOST_S * 1000
                stream.add(replace(asked, expires_at_ms=min(asked.expires_at_ms, latest)))
                return None

    async def _answered(self, stream: Stream, key: CallKey) -> None:
        """Wait until the question was answered, or its time is up."""
        waiter = asyncio.Event()
        self._waiting.add(waiter)
        try:
            while (call := stream.session.calls.get(key)) is not None and call.step == "asking":
                left_s = (call.expires_at_ms - self._deps.clock.now_ms()) / 1000
                if left_s <= 0:
                    return
                waiter.clear()
                try:
                    async with asyncio.timeout(left_s):
                        await waiter.wait()
                except TimeoutError:
                    return
        finally:
            self._waiting.discard(waiter)


def closed(session: Session, parent: CallKey | None = None) -> tuple[ev.Body, ...]:
    """The facts that close what agents still ask for: of one call, or of all."""
    open_ = [call for call in session.calls.values() if call.parent and parent in (None, call.parent)]
    return tuple(fact for call in open_ for fact in _closed(call))


def _closed(call: Call) -> tuple[ev.Body, ...]:
    lapsed = (ev.ApprovalLapsed(id=call.approval, key=call.key, why="ended"),) if call.step == "asking" else ()
    return (*lapsed, ev.CallAnswered(call.key, given=False, why="The agent has ended."))


def _answer(stream: Stream, key: CallKey, leave: Leave) -> Leave:
    stream.add(ev.CallAnswered(key, leave.given, leave.why))
    return leave


async def _given(_permit: Permit) -> Leave:
    return Leave(given=True, why=_YES)


async def _whole(work: Coroutine[object, object, T]) -> T:
    """Do it to its end even when the caller is cut off meanwhile: half a record is none."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
