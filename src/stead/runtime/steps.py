"""What a session's effects come to: a request to a model, a call through the gate; each recorded before and after.

Layer: runtime. Used by one actor, which holds the session's lock whenever one of these methods runs, and lets it go
only inside ``perform``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, assert_never

import msgspec

from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.effects import CallModel
from stead.domain.errors import MachineError, ModelFault, NotFound
from stead.domain.ids import ApprovalId, CallKey, RequestNo, SessionId
from stead.domain.live import OutputDelta, TextDelta
from stead.domain.policies import Allow, Ask, Deny, Level
from stead.domain.ports import ModelRequest
from stead.domain.readings import Question
from stead.domain.sessions import STEAD, Session
from stead.domain.tools import ToolContext
from stead.runtime import reading, recovery
from stead.runtime.deps import Deps
from stead.runtime.gate import Judged
from stead.runtime.outgoing import outgoing
from stead.runtime.performing import Cut, Perform
from stead.runtime.showing import show
from stead.runtime.stream import Stream


class Steps:
    """Performs one session's effects.

    Args:
        id: whose.
        deps: see there.
        perform: see there.
    """

    def __init__(self, id: SessionId, deps: Deps, perform: Perform) -> None:
        self._id = id
        self._deps = deps
        self._perform = perform

    def world(self, stream: Stream) -> World | None:
        """The facts of the moment; a session whose model is gone is paused, with the reason."""
        spec = stream.session.spec
        try:
            models = tuple(self._deps.models.info(ref) for ref in spec.chain)
        except NotFound as missing:
            if stream.session.phase == "active":
                stream.add(ev.SessionPaused(why=str(missing)))
            return None
        return World(self._deps.clock.now_ms(), self._deps.gate.specs(spec.tools), models)

    async def call_model(self, stream: Stream, effect: CallModel) -> None:
        """Record the request, send it, record what came of it.

        Raises:
            BudgetRefused: the home's daily cap leaves no room, and nothing was sent.
        """
        session = stream.session
        request = ModelRequest(
            session=self._id,
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
        await stream.propose(intent)
        stream.add(*await self._ask(request, effect, stream.session.failures))

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

    async def run_tool(self, stream: Stream, key: CallKey) -> None:
        """Take a call to the gate, and record its verdict and what came of it."""
        call = stream.session.calls[key]
        try:
            judged = await self._deps.gate.judge(stream.session, call, self._deps.clock.now_ms())
        except MachineError as fault:
            stream.add(finished(key, call.tool, "error", str(fault)))
            return
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
        context = ToolContext(self._id, self._teller(key))
        spec = stream.session.spec
        if judged.releases:
            show(self._deps.machines, self._id, spec, judged.releases)
        try:
            ran = await self._perform(self._deps.gate.run(judged, verdict.permit, context))
        finally:
            if judged.releases:  # the yes was for this call; the next one finds them protected again
                show(self._deps.machines, self._id, spec)
        if isinstance(ran, Cut):
            stream.add(_cut_off(key, judged.tool))
            return
        outcome, duration_ms = ran
        stream.add(*outcome.facts, actor="model")
        end = ev.ToolFinished(
            key=key,
            tool=judged.tool,
            outcome=outcome.status,
            text=outcome.text,
            label=judged.label,
            size_bytes=outcome.size_bytes,
            duration_ms=duration_ms,
            source=judged.source,
            entities=outcome.entities,
            warnings=outcome.warnings,
        )
        stream.add(end if outcome.question is None else await self._read(stream, end, outcome.question))

    async def _read(self, stream: Stream, end: ev.ToolFinished, question: Question) -> ev.ToolFinished:
        """The end of a call that put a question: what passes of the answer stands in place of its text."""
        world = self.world(stream)
        read = await reading.answer(stream, end.key, question, end.label, world, self._deps, self._perform)
        if isinstance(read, Cut):
            return _cut_off(end.key, end.tool)
        return msgspec.structs.replace(
            end,
            outcome="ok" if read.ok else "error",
            text=read.text,
            label=read.label,
            duration_ms=end.duration_ms + read.duration_ms,
            source=end.source if read.ok else "",
        )

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
            shape=ask.shape,
            sources=_behind(ask, judged),
            origins=ask.origins,
        )

    def _teller(self, what: RequestNo | CallKey) -> Callable[[str], None]:
        """A sink for pieces of text as they come, for whoever watches."""
        offset = 0

        def tell(text: str) -> None:
            nonlocal offset
            at, offset = offset, offset + len(text)
            if isinstance(what, str):
                self._deps.bus.publish((OutputDelta(self._id, what, at, text),))
            else:
                self._deps.bus.publish((TextDelta(self._id, what, at, text),))

        return tell


def ending(
    session: Session, status: Literal["completed", "failed", "cancelled"], reason: str, summary: str
) -> tuple[ev.Body, ...]:
    """The end of an objective: its open question lapses first, so that no door keeps showing it.

    The summary is the report, which goes to people; the words that it was made of stay in the timeline.
    """
    lapsed = tuple(
        ev.ApprovalLapsed(id=call.approval, key=call.key, why="ended")
        for call in session.calls.values()
        if call.step == "asking"
    )
    return (*lapsed, ev.ObjectiveEnded(status=status, reason=reason, summary=outgoing(summary).text))


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


def _cut_off(key: CallKey, tool: str) -> ev.ToolFinished:
    return finished(key, tool, "cancelled", "Stopped while it ran; what it had done by then stays done.")


def _judgement(key: CallKey, judged: Judged) -> ev.CallJudged:
    verdict = judged.verdict
    return ev.CallJudged(
        key=key,
        tool=judged.tool,
        verdict="allow" if isinstance(verdict, Allow) else "ask" if isinstance(verdict, Ask) else "deny",
        reason=verdict.reason,
        risk=verdict.risk,
        digest=judged.digest,
        sources=judged.context.sources,
        origins=verdict.origins if isinstance(verdict, Ask) else (),
        planned=verdict.planned if isinstance(verdict, Allow) else -1,
    )


def _behind(ask: Ask, judged: Judged) -> tuple[str, ...]:
    """The sources whose word the call would be: those that hold its target, else all that the session has read."""
    named = tuple(dict.fromkeys(origin.source for origin in ask.origins if origin.source))
    return named or judged.context.sources
