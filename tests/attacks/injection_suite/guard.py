"""Stead's own guard, as the replay puts it to use: the real gate over a real session, folded from real events."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import TypeVar, assert_never

import msgspec

from stead.domain import events as ev
from stead.domain.agents import SPAWN, Order, Parent
from stead.domain.errors import InvalidRequest
from stead.domain.folding import apply, begin
from stead.domain.ids import ApprovalId, CallKey, CommandId, SessionId
from stead.domain.obeyed import kept
from stead.domain.permits import Permit
from stead.domain.policies import Allow, Ask, Deny, GrantScope, Integrity, Level, PlannedCall, Profile
from stead.domain.ports import Isolation
from stead.domain.sessions import Call, taint_of
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.domain.trials import Barred, Hold, unbarred
from stead.guardian import policy
from stead.guardian.narrowing import Caps, narrowed
from stead.guardian.reach import Reach
from stead.runtime.gate import Gate
from stead.runtime.gate import Judged as GateJudged
from stead.runtime.workspace_binding import bind_workspace
from tests.attacks.injection_suite.replay import Guard, Judged, Opens, Start
from tests.attacks.injection_suite.suite import Call as Made
from tests.build import created

Result = TypeVar("Result")
_SESSION = SessionId("s_0123456789abcdef")
_NEVER_MS = 2**62


class DeclaredTool:
    """A tool that declares itself and is never run: what it would give back is known."""

    def __init__(self, name: str, declaration: Declaration, defaults: Mapping[str, object]) -> None:
        self.spec = ToolSpec(name, "", {"type": "object", "properties": {}, "required": []}, declaration)
        self._defaults = defaults

    def parse(self, arguments: str) -> Mapping[str, object]:
        """The arguments with the defaults filled in, and a URL written out as a request needs it."""
        given = msgspec.json.decode(arguments, type=dict[str, object])
        if self.spec.declaration.effect is ToolEffect.FETCH:
            given |= {name: _whole_url(str(given[name])) for name in ("url",) if name in given}
        return {**self._defaults, **given}

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Never called."""
        raise InvalidRequest(f"{self.spec.name!r} is only judged here, never run")


class StillMachines:
    """A host that could make machines and never has to; every file is as it was. ``hold``: as it was bound last."""

    hold: Hold = "all"

    def isolation(self, *, again: bool = False) -> Isolation:
        """See ``Machines``."""
        return Isolation(True, "none", "nothing runs in the replay", ())

    def bind(
        self,
        session: SessionId,
        directory: str,
        *,
        writable: bool,
        hold: Hold = "obeyed",
        hosts: Sequence[str] = (),
        barred: Barred = unbarred,
    ) -> None:
        """See ``Machines``."""
        self.hold = hold

    async def fingerprint(self, session: SessionId, paths: Sequence[str]) -> Mapping[str, str]:
        """See ``Machines``."""
        return dict.fromkeys(paths, "absent")

    async def kill(self, session: SessionId, *, resting: bool = False) -> bool:
        """See ``Machines``."""
        return False

    async def close(self) -> None:
        """See ``Machines``."""


class GateGuard:
    """The gate and one session's events.

    Args:
        gate: over the tools of the start.
        machines: the gate's.
        tools: those of the gate, to read planned calls as they do.
        start: how the session begins.
        profile: the session's.
    """

    def __init__(
        self, gate: Gate, machines: StillMachines, tools: Mapping[str, DeclaredTool], start: Start, profile: Profile
    ) -> None:
        self._gate = gate
        self._machines = machines
        self._tools = tools
        self._generous = start.generous
        opened = msgspec.structs.replace(created(start.text), profile=profile)
        self.session = begin(_event(1, opened))
        if start.plan:
            calls = tuple(PlannedCall(call.tool, self._pinned(call.tool, call.arguments)) for call in start.plan)
            self._add(ev.PlanMade(steps=(ev.PlanStep("The whole task"),), by="model", calls=calls))

    def judge(self, tool: str, arguments: Mapping[str, object]) -> Judged:
        """See ``Guard``."""
        judged = self.look(tool, arguments)
        match judged.verdict:
            case Allow(reason=reason):
                return Judged("allow", reason.rule, held=self._holds(judged))
            case Ask(reason=reason, origins=origins):
                doubts = (origin.argument for origin in origins if origin.integrity is Integrity.UNTRUSTED)
                return Judged("ask", reason.rule, next(doubts, ""))
            case Deny(reason=reason):
                return Judged("deny", reason.rule)
            case _:
                assert_never(judged.verdict)

    def look(self, tool: str, arguments: Mapping[str, object]) -> GateJudged:
        """Likewise, with all that the gate knows of the call."""
        return self._judge(self._call(tool, arguments))

    def plan(self, *calls: PlannedCall) -> None:
        """The model plans these, besides what is planned already; the person has seen nothing of it."""
        steps = (ev.PlanStep("All of it"),)
        self._add(ev.PlanMade(steps=steps, by="model", calls=(*self.session.planned, *self.session.used, *calls)))

    def yes(self, tool: str, arguments: Mapping[str, object]) -> None:
        """See ``Guard``: for this call alone, or as far as the question lets an answer go."""
        judged = self._judge(self._call(tool, arguments))
        if not self._generous or not isinstance(judged.verdict, Ask):
            return
        ask = judged.verdict
        if ask.level is Level.SESSION and ask.shape:
            self._add(ev.GrantMade(tool, ask.shape, GrantScope.SESSION, "", _NEVER_MS, "web"))
            return
        named = tuple(dict.fromkeys(origin.source for origin in ask.origins if origin.source))
        if sources := named or judged.context.sources:
            self._add(ev.SourcesTrusted(sources=sources, tool=tool, door="web"))

    def ran(self, made: Made) -> None:
        """See ``Guard``."""
        call, tool, output = self._call(made.tool, made.arguments), made.tool, made.output
        self.session.calls[call.key] = call
        judged = self._judge(call)
        if isinstance(judged.verdict, Ask):  # the person said yes: it is judged again, as what they approved
            self._approve(call, judged, judged.verdict)
            judged = self._judge(call)
        verdict = judged.verdict
        planned = verdict.planned if isinstance(verdict, Allow) else -1
        strays = isinstance(verdict, Allow) and verdict.strays
        self._add(
            ev.CallJudged(
                call.key,
                tool,
                "allow",
                verdict.reason,
                verdict.risk,
                judged.digest,
                judged.context.sources,
                (),
                planned,
                strays,
                judged.stains,
            )
        )
        self._add(ev.ToolStarted(call.key, tool, judged.arguments, judged.digest, judged.idempotent))
        ended = ev.ToolFinished(
            call.key, tool, "ok", output, judged.label, len(output), 0, self._source(judged, output), made.entities
        )
        self._add(ended)

    def child(self, task: str) -> GateGuard:
        """A subagent that the model starts now, with this task and no more than the session has."""
        judged = self.judge(SPAWN, {"task": task})
        given = narrowed(self.session, Order(task), Caps(), 2)
        assert judged.verdict == "allow" and not isinstance(given, str), (judged, given)
        made = GateGuard(self._gate, self._machines, self._tools, Start(task, (), {}, self._generous), given.profile)
        parent = Parent(self.session.id, CallKey("call_0_0"), 1, self.session.id, taint=taint_of(self.session))
        spec = self.session.spec
        opened = msgspec.structs.replace(
            spec, contract=ev.Contract(task), tools=given.tools, hosts=given.hosts, profile=given.profile, parent=parent
        )
        made.session = begin(_event(1, opened))
        return made

    def _approve(self, call: Call, judged: GateJudged, ask: Ask) -> None:
        id = ApprovalId("a_0123456789abcdef")
        asked = ev.ApprovalRequested(
            id, call.key, call.tool, judged.arguments, ask.digest, "confirm", ask.reason, ask.risk, _NEVER_MS
        )
        self._add(asked)
        self._add(ev.ApprovalGiven(id, call.key, ask.digest, "web"))

    def _holds(self, judged: GateJudged) -> bool:
        """Whether all that the call changes waits for the person, by what its machine is told and what it names."""
        declaration = self._tools[judged.tool].spec.declaration
        if not (policy.changes_files(declaration) and policy.needs_machine(declaration)):
            return False
        bind_workspace(self._machines, _SESSION, self.session.spec, self.session.sources)
        return self._machines.hold == "all" or (bool(judged.writes) and all(map(kept, judged.writes)))

    def _source(self, judged: GateJudged, output: str) -> str:
        """What the output comes from, the call having reached the hosts that it named and no other."""
        declaration = self._tools[judged.tool].spec.declaration
        reached = policy.requested(declaration, judged.parsed, Reach())
        return self._gate.source(self.session, judged, ToolOutcome("ok", output, reached=reached))

    def _judge(self, call: Call) -> GateJudged:
        return _now(self._gate.judge(self.session, call, 0))

    def _call(self, tool: str, arguments: Mapping[str, object]) -> Call:
        key = CallKey(f"call_{self.session.seq}_0")
        return Call(key, tool, msgspec.json.encode(arguments).decode(), runnable=True)

    def _pinned(self, tool: str, arguments: Mapping[str, object]) -> str:
        parsed = self._tools[tool].parse(msgspec.json.encode(arguments).decode())
        return msgspec.json.encode({name: parsed[name] for name in arguments}, order="sorted").decode()

    def _add(self, body: ev.Body) -> None:
        apply(self.session, _event(self.session.seq + 1, body))


def guardian(defaults: Mapping[str, Mapping[str, object]] | None = None, profile: Profile = Profile.WORK) -> Opens:
    """Sessions under Stead's own policy.

    Args:
        defaults: by tool, what its parser fills in where a call leaves it out.
        profile: of the sessions.
    """

    def opens(start: Start) -> Guard:
        tools = {
            name: DeclaredTool(name, declaration, (defaults or {}).get(name, {}))
            for name, declaration in start.tools.items()
        }
        machines = StillMachines()
        gate = Gate(
            list(tools.values()),
            machines,
            reach=Reach(),
            digest_key=b"k" * 32,
            random_bytes=lambda size: b"n" * size,
        )
        return GateGuard(gate, machines, tools, start, profile)

    return opens


def _event(number: int, body: ev.Body) -> ev.Event:
    return ev.Event(number, _SESSION, number, 0, "stead", CommandId(""), body)


def _whole_url(url: str) -> str:
    return url if "://" in url else f"https://{url}"


def _now(work: Coroutine[object, object, Result]) -> Result:
    """The result of a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    raise RuntimeError("judging a call waited for something; nothing here can answer")
