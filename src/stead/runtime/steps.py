"""What a session's effects come to: a request to a model, a call through the gate; each recorded before and after.

Layer: runtime. Used by one actor, which holds the session's lock whenever one of these methods runs, and lets it go
only inside ``perform``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, assert_never

import msgspec

from stead.brain.directives import instructions
from stead.brain.ends import facts
from stead.brain.supervision import offered
from stead.brain.world import World
from stead.domain import events as ev
from stead.domain.agents import Order
from stead.domain.checking import planned
from stead.domain.checkpoints import FileChange, Version
from stead.domain.effects import CallModel, Finish, RunChecks
from stead.domain.ends import End
from stead.domain.errors import InvalidRequest, MachineError, ModelFault, NotFound, SteadError
from stead.domain.ids import ApprovalId, CallKey, RequestNo, SessionId
from stead.domain.live import OutputDelta, Progress, TextDelta
from stead.domain.messages import MACHINE
from stead.domain.opinions import Opinion
from stead.domain.policies import Allow, Ask, Confidentiality, Deny, Integrity, Label, Level, Reason
from stead.domain.ports import ModelRequest
from stead.domain.providers import Role
from stead.domain.readings import Question
from stead.domain.sessions import STEAD, Call, Session
from stead.domain.tools import ToolContext, ToolOutcome
from stead.domain.trials import Landing
from stead.runtime import approvals, reading, recovery
from stead.runtime.checking import Checker
from stead.runtime.delegated import DelegatedCalls, closed
from stead.runtime.deps import Deps
from stead.runtime.gate import Judged
from stead.runtime.keeping import Keeper, keeps
from stead.runtime.notes import Notes
from stead.runtime.opinions import second_opinion
from stead.runtime.outgoing import outgoing
from stead.runtime.performing import REQUEST, Cancelled, Performer
from stead.runtime.stream import Stream
from stead.runtime.workspace_binding import bind_by_session
from stead.screen.inbound import screen


@dataclass(frozen=True)
class _Run:
    """A call that may run, under its permit."""

    key: CallKey
    judged: Judged
    verdict: Allow
    said: str
    """The call's arguments as they were judged."""


@dataclass(frozen=True)
class _Ran:
    """What came of a call, and how long it took."""

    outcome: ToolOutcome
    duration_ms: int


class Steps:
    """Performs one session's effects.

    Args:
        id: whose.
        deps: see there.
        performer: does what is long.
        keeper: keeps what calls change.
        notes: what becomes known beside the steps.
    """

    def __init__(self, id: SessionId, deps: Deps, performer: Performer, keeper: Keeper, notes: Notes) -> None:
        self._id = id
        self._deps = deps
        self._performer = performer
        self._keeper = keeper
        self._notes = notes
        self._checker = Checker(deps.gate, deps.proofs, deps.clock)
        self.delegated = DelegatedCalls(deps, performer.lock, judgement, self._question)

    def world(self, stream: Stream) -> World | None:
        """The facts of the moment; a session whose model is gone is paused, with the reason."""
        session = stream.session
        try:
            models = tuple(self._deps.models.info(ref) for ref in session.spec.chain)
        except NotFound as missing:
            if session.phase == "active":
                stream.add(ev.SessionPaused(str(missing), missing.code))
            return None
        tools = offered(session, self._deps.gate.offered(session.spec.tools))
        return World(self._deps.clock.now_ms(), tools, models, stream.prompt)

    def _role_world(self, stream: Stream, role: Role) -> World | None:
        """The same for a reading, with the models that the person chose for the role, if they did."""
        world, chosen = self.world(stream), self._deps.models.role(role)
        if world is None or not chosen:
            return world
        return msgspec.structs.replace(world, models=tuple(self._deps.models.info(ref) for ref in chosen))

    def instructed(self, session: Session) -> tuple[ev.InstructionsSet, ...]:
        """What the person has come to ask of models always, if the next request begins otherwise by it.

        An objective hears of it at its next request; an interactive session when its next turn begins, so that
        the rules of a piece of work stay while it lasts.
        """
        if session.compacting or (session.spec.interactive and session.iterations):
            return ()
        spec = session.spec
        text = instructions(self._deps.directives(), spec.directory, interactive=spec.interactive, channel=spec.channel)
        return (ev.InstructionsSet(text),) if text != session.instructions else ()

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
            instructions=session.instructions,
            tools=offered(session, self._deps.gate.offered(session.spec.tools)),
            messages=stream.prompt.messages(session),
            max_output_tokens=effect.max_output_tokens,
            effort=session.spec.effort,
        )
        intent = ev.ModelRequested(
            number=effect.number,
            prefix_sha256=session.sent_sha256 if session.requests else "",
            messages=len(request.messages),
            max_output_tokens=effect.max_output_tokens,
            reserved=effect.reserve,
            trimmed=session.trimmed,
        )
        await stream.propose(intent)
        stream.add(*await self._ask(request, effect, stream.session.failures))

    async def _ask(self, request: ModelRequest, effect: CallModel, failures: int) -> tuple[ev.Body, ...]:
        """Send the request; what became of it, as facts."""
        try:
            reply = await self._performer.perform(
                self._deps.models.reply(request, self._teller(request.number)), REQUEST
            )
        except ModelFault as fault:
            backoff_ms = min(self._deps.backoff_ms * 2**failures, 60_000)
            failed = ev.ModelFailed(
                number=effect.number,
                kind=fault.kind,
                error=str(fault),
                attempts=fault.attempts,
                spend=effect.reserve if fault.charged else ev.Spend(),
                retry_after_ms=max(backoff_ms, int(fault.retry_after_s * 1000)),
                partial=self._shown(effect.number),
            )
            paused = ev.SessionPaused(str(fault), fault.code)
            return (failed, paused) if fault.kind in ("auth", "unconfigured") else (failed,)
        if isinstance(reply, Cancelled):
            why, shown = "The request was interrupted.", self._shown(effect.number)
            return (recovery.lost_request(effect.number, effect.reserve, "stopped", why, shown),)
        return (ev.ModelReplied(number=effect.number, **msgspec.structs.asdict(reply)),)

    async def run_tools(self, stream: Stream, keys: Sequence[CallKey]) -> None:
        """Take calls to the gate, and record each verdict and what came of it; those that are allowed run together.

        A question ends the round: the calls after it are judged once it is answered.
        """
        runs: list[_Run] = []
        for key in keys:
            run = await self._judge(stream, key)
            if run is not None:
                runs.append(run)
            elif stream.session.calls and stream.session.calls[key].step == "asking":
                break
        if runs:
            await self._execute(stream, runs)

    async def _judge(self, stream: Stream, key: CallKey) -> _Run | None:
        """Record the verdict on one call; what is to run, if it may."""
        call = stream.session.calls[key]
        try:
            judged = await self._deps.gate.judge(stream.session, call, self._deps.clock.now_ms())
        except MachineError as fault:
            stream.add(_kept_from_running(key, call.tool, fault))
            return None
        verdict = judged.verdict
        stream.add(judgement(key, judged))
        match verdict:
            case Deny(reason=reason):
                stream.add(finished(key, call.tool, "denied", _edited(call, judged) + reason.text))
            case Ask():
                question = self._question(key, judged, verdict)
                given = approvals.by_editing(call, question)
                if call.step == "approved":
                    stream.add(ev.ApprovalLapsed(id=call.approval, key=key, why="changed"))
                stream.add(question)
                stream.add(*given, actor="person")
            case Allow():
                return _Run(key, judged, verdict, call.arguments)
            case _:
                assert_never(verdict)
        return None

    async def _execute(self, stream: Stream, runs: Sequence[_Run]) -> None:
        session = stream.session
        changing = [run for run in runs if run.judged.changes] if keeps(session) else []
        kept = await self._keep(stream, changing[0]) if changing else ()
        if kept is None:
            return
        try:
            bind_by_session(self._deps, session)
        except InvalidRequest as gone:
            stream.add(ev.SessionPaused(str(gone), gone.code))
            return
        stream.add(*self._notes.take())  # the checkpoint stands in the record before what it is for
        for run in runs:
            stream.add(
                ev.ToolStarted(
                    key=run.key,
                    tool=run.judged.tool,
                    arguments=run.judged.arguments,
                    digest=run.judged.digest,
                    idempotent=run.judged.idempotent,
                )
            )
        await stream.commit()
        ran = await self._performer.perform_all({run.key: self._run(stream, run) for run in runs})
        if kept:
            stream.add(*await self._keeper.after(session, changing[0].key, kept))
        for run in runs:
            await self._record(stream, run, ran[run.key])

    async def _keep(self, stream: Stream, run: _Run) -> tuple[Version, ...] | None:
        """What the call is about to change, as it is; nothing at all when the call may not begin."""
        session = stream.session
        self._keeper.begin(session)
        waited = await self._performer.perform(self._keeper.ready(whole=not run.judged.writes))
        call = session.calls.get(run.key)
        held = isinstance(waited, Cancelled) or session.phase != "active" or session.interrupted
        if call is None or held or call.step not in ("new", "approved") or call.arguments != run.said:
            return None
        try:
            return await self._keeper.before(session, run.judged.writes)
        except SteadError as fault:
            stream.add(_kept_from_running(run.key, run.judged.tool, fault))
            return None

    async def _run(self, stream: Stream, run: _Run) -> _Ran:
        ask = partial(self.delegated.ask, stream, run.key)
        context = ToolContext(self._id, self._teller(run.key), ask=ask)
        return _Ran(*await self._deps.gate.run(run.judged, run.verdict.permit, context))

    async def _record(self, stream: Stream, run: _Run, ran: _Ran | Cancelled) -> None:
        key, judged, call = run.key, run.judged, stream.session.calls.get(run.key)
        if call is None:  # the person ended all of it while this ran, and the model has been told
            stream.add(finished(key, judged.tool, "cancelled", "Stopped by the end of the session."))
            return
        stream.add(*closed(stream.session, key))
        if isinstance(ran, Cancelled):
            stream.add(_cut_off(call))
            return
        outcome = ran.outcome
        if outcome.order is not None:
            await self._spawn(stream, run, outcome.order)
            return
        stream.add(*_confirmed(outcome.facts, run.verdict.reason), actor="model")
        for plan in outcome.facts:
            items = planned(stream.session, plan.checks)
            if items != stream.session.checks and not stream.session.spec.interactive:
                stream.add(ev.ChecksSet(items, "model"))
        end = ev.ToolFinished(
            key=key,
            tool=judged.tool,
            outcome=outcome.status,
            text=_edited(call, judged) + outcome.text,
            label=_label(judged.label, outcome),
            size_bytes=outcome.size_bytes,
            duration_ms=ran.duration_ms,
            source=self._deps.gate.source(stream.session, judged, outcome),
            entities=outcome.entities,
            warnings=outcome.warnings,
            changed=_written(outcome.landing),
            removed=outcome.landing.removed,
            effect=judged.effect.value,
            exit_code=outcome.exit_code,
            reached=outcome.reached,
            attachments=outcome.attachments,
        )
        stream.add(end if outcome.question is None else await self._read(stream, end, outcome.question))
        if outcome.landing != Landing():
            stream.add(ev.ChangesLanded(key, outcome.landing))

    async def _spawn(self, stream: Stream, run: _Run, order: Order) -> None:
        """Open a subagent; its first facts and the parent's are written together. Its end will end the call."""
        opening = await self._deps.agents.opening(stream.session, run.key, order)
        if isinstance(opening, str):
            stream.add(finished(run.key, run.judged.tool, "error", opening))
            return
        stream.add(opening.spawned, actor="model")
        await stream.commit_with_child(opening)
        self._deps.agents.wake(opening.spawned.session)

    async def _read(self, stream: Stream, end: ev.ToolFinished, question: Question) -> ev.ToolFinished:
        """The end of a call that put a question: what passes of the answer stands in place of its text."""
        world = self._role_world(stream, "reading")
        perform = partial(self._performer.perform, name=end.key)
        read = await reading.answer(stream, end.key, question, end.label, world, self._deps, perform)
        if isinstance(read, Cancelled):
            return _cut_off(stream.session.calls[end.key])
        return msgspec.structs.replace(
            end,
            outcome="ok" if read.ok else "error",
            text=read.text,
            label=read.label,
            duration_ms=end.duration_ms + read.duration_ms,
            source=end.source if read.ok else "",
        )

    async def run_checks(self, stream: Stream, effect: RunChecks) -> None:
        """Judge checks and record what they came to; nothing is recorded of checks that were cut off."""
        await stream.commit()  # what was said last is on record before checks that may take minutes
        started, count = time.monotonic(), len(effect.items)
        self._deps.bus.publish((Progress(self._id, "checks", 0, count),))
        judging = self._checker.run(stream.session, effect.items, self._teller(CallKey("checks")))
        results = await self._performer.perform(judging)
        self._deps.bus.publish((Progress(self._id, "checks", count, count),))
        if not isinstance(results, Cancelled):
            took_ms = int((time.monotonic() - started) * 1000)
            known = [item for item in effect.items if item in stream.session.checks]  # the person may have changed some
            kept = tuple(result for result in results if result.id in [item.id for item in known])
            stream.add(ev.ChecksRun(effect.when, kept, took_ms))

    async def ending(self, stream: Stream, effect: Finish) -> tuple[ev.Body, ...]:
        """The end of an objective, or of a turn of an interactive session, with what the turn has changed."""
        session, opinion = stream.session, None
        if not session.spec.interactive:
            if session.spec.second_opinion and effect.status in ("verified", "unverified", "incomplete"):
                perform = partial(self._performer.perform, name=CallKey("opinion"))
                opinion = await second_opinion(stream, self._role_world(stream, "review"), self._deps, perform)
            return ending(session, effect.status, effect.reason, effect.summary, opinion)
        changes, changed = await self._keeper.survey(session)
        return turn_ending(session, effect, changes, changed)

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
            bound=ask.bound,
        )

    def _shown(self, number: RequestNo) -> str:
        """The text of an unfinished reply that watchers were shown."""
        reply = self._deps.bus.reply_of(self._id)
        return reply.text if reply and reply.number == number else ""

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
    session: Session, status: End, reason: str, summary: str, opinion: Opinion | None = None
) -> tuple[ev.Body, ...]:
    """The end of an objective: its open question lapses first, so that no door keeps showing it.

    The summary is the report, which goes to people; the words that it was made of stay in the timeline.
    """
    end = ev.ObjectiveEnded(status, reason, outgoing(summary).text, facts(session), opinion)
    return (*lapsed(session), end)


def turn_ending(session: Session, effect: Finish, changes: tuple[FileChange, ...], changed: int) -> tuple[ev.Body, ...]:
    """The end of a turn, likewise; the session rests."""
    end = ev.TurnEnded(
        turn=session.turn,
        reason=effect.reason,
        summary=outgoing(effect.summary).text,
        changes=changes,
        changed=changed,
        status=effect.status,
        facts=facts(session),
    )
    return (*lapsed(session), end)


def lapsed(session: Session) -> tuple[ev.ApprovalLapsed, ...]:
    """The end of the session's open questions, which nobody can answer any more."""
    return tuple(
        ev.ApprovalLapsed(id=call.approval, key=call.key, why="ended")
        for call in session.calls.values()
        if call.step == "asking"
    )


def finished(key: CallKey, tool: str, outcome: Literal["error", "denied", "cancelled"], text: str) -> ev.ToolFinished:
    """The outcome of a call that Stead itself speaks for."""
    return ev.ToolFinished(key=key, tool=tool, outcome=outcome, text=text, label=STEAD, size_bytes=0, duration_ms=0)


def _kept_from_running(key: CallKey, tool: str, fault: SteadError) -> ev.ToolFinished:
    """The outcome of a call that a fault kept from running; what the fault quotes is not said in Stead's own name."""
    seen = screen(f"Not run: {fault}")
    end = finished(key, tool, "error", seen.text)
    return msgspec.structs.replace(end, label=Label(), source=MACHINE, warnings=seen.warnings) if fault.quotes else end


def _cut_off(call: Call) -> ev.ToolFinished:
    who = f"The person stopped it ({call.said or 'no reason given'})" if call.cancelled else "Stopped"
    return finished(call.key, call.tool, "cancelled", f"{who} while it ran; what it had done by then stays done.")


def _label(declared: Label, outcome: ToolOutcome) -> Label:
    """An answer may be more confidential and less trusted than its tool's answers are, and never the other way."""
    if outcome.quoted:
        declared = msgspec.structs.replace(declared, integrity=Integrity.UNTRUSTED, typed=False)
    private = outcome.private and Confidentiality.PRIVATE.exceeds(declared.confidentiality)
    return msgspec.structs.replace(declared, confidentiality=Confidentiality.PRIVATE) if private else declared


def _edited(call: Call, judged: Judged) -> str:
    return f"[the person changed this call's arguments to {judged.arguments}]\n" if call.edited else ""


def judgement(key: CallKey, judged: Judged) -> ev.CallJudged:
    """A verdict as it is recorded."""
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
        strays=isinstance(verdict, Allow) and verdict.strays,
        stains=judged.stains if isinstance(verdict, Allow) else (),
        home=judged.moment.standing.at,
        files=judged.moment.files,
    )


def _written(landing: Landing) -> tuple[str, ...]:
    """The files that a call wrote, those that wait for the person among them."""
    landed = (path for path in landing.landed if path not in landing.removed and not path.endswith("/"))
    return tuple(dict.fromkeys((*landed, *(one.path for one in landing.held))))


def _confirmed(facts: tuple[ev.PlanMade, ...], why: Reason) -> tuple[ev.PlanMade, ...]:
    """A plan that a person was shown and said yes to is confirmed, call by call."""
    replace = msgspec.structs.replace
    if why.rule != "approved":
        return facts
    return tuple(replace(fact, calls=tuple(replace(call, confirmed=True) for call in fact.calls)) for fact in facts)


def _behind(ask: Ask, judged: Judged) -> tuple[str, ...]:
    """The sources whose word the call would be: those that hold its target, else all that the session has read."""
    named = tuple(dict.fromkeys(origin.source for origin in ask.origins if origin.source))
    return named or judged.context.sources
