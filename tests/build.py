"""Short ways to write events, for tests of the pure core."""

from __future__ import annotations

from collections.abc import Sequence

from stead.brain.context import INSTRUCTIONS, SESSION_INSTRUCTIONS
from stead.domain import events as ev
from stead.domain.checks import Check
from stead.domain.folding import apply, begin
from stead.domain.ids import DEFAULT_WORKSPACE, ApprovalId, CallDigest, CallKey, CommandId, RequestNo, SessionId
from stead.domain.messages import ReplyPart, Text, ToolCall, Usage
from stead.domain.policies import Confidentiality, GrantScope, Label, Profile, Reason, Risk
from stead.domain.ports import ModelInfo
from stead.domain.sessions import Session
from stead.domain.tools import Declaration, ToolEffect, ToolSpec

SESSION = SessionId("s_0123456789abcdef")
MODEL = ev.ModelRef("acme", "m1")
OTHER_MODEL = ev.ModelRef("umbra", "m2")
START_MS = 1_800_000_000_000
ALLOWED = Reason("auto", "It is free.")

TOOLS = tuple(
    ToolSpec(name, f"{name} things.", {"type": "object", "properties": {}, "required": []}, declaration)
    for name, declaration in (
        ("plan", Declaration(ToolEffect.THINK, idempotent=True)),
        ("read", Declaration(ToolEffect.READ, path_args=("path",), idempotent=True)),
        ("write", Declaration(ToolEffect.WRITE, path_args=("path",), authority_args=("path",))),
        ("shell", Declaration(ToolEffect.EXECUTE, authority_args=("command",), command_args=("command",))),
        ("fetch", Declaration(ToolEffect.FETCH, authority_args=("url",), url_args=("url",))),
        ("mail", Declaration(ToolEffect.SEND, authority_args=("to",), content_args=("text",))),
    )
)


def info(
    ref: ev.ModelRef = MODEL,
    *,
    price: int = 0,
    known: bool = True,
    window: int = 100_000,
    clearance: Confidentiality = Confidentiality.PRIVATE,
) -> ModelInfo:
    """What is known of a model; ``price`` in millionths of a dollar per million tokens, the same both ways."""
    return ModelInfo(ref, window, 4096, price, price, known, rehearsal=False, clearance=clearance)


def created(
    goal: str = "tidy the notes",
    *,
    checks: tuple[Check, ...] = (),
    budget: ev.Budget | None = None,
    limits: ev.Limits | None = None,
    chain: tuple[ev.ModelRef, ...] = (MODEL,),
    tools: tuple[str, ...] = (),
) -> ev.SessionOpened:
    """An objective's first fact."""
    return ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=goal[:80],
        contract=ev.Contract(goal),
        checks=checks,
        directory="/home/ada/notes",
        tools=tools,
        chain=chain,
        budget=budget or ev.Budget(tokens=100_000, usd_micros="unlimited"),
        limits=limits or ev.Limits(),
        profile=Profile.ASK,
        instructions=INSTRUCTIONS,
    )


def desk(title: str = "notes", *, budget: ev.Budget | None = None) -> ev.SessionOpened:
    """The first fact of a session that people work in."""
    return ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=title,
        directory="/home/ada/notes",
        tools=(),
        chain=(MODEL,),
        budget=budget or ev.Budget(tokens=100_000, usd_micros="unlimited"),
        limits=ev.Limits(),
        profile=Profile.ASK,
        instructions=SESSION_INSTRUCTIONS,
    )


class Story:
    """A session told event by event; time passes by a second an event."""

    def __init__(self, opening: ev.SessionOpened | None = None) -> None:
        self.events: list[ev.Event] = []
        self.session: Session = begin(self._event(opening or created()))

    def tell(self, *bodies: ev.Body) -> Story:
        """Let these happen next."""
        for body in bodies:
            apply(self.session, self._event(body))
        return self

    def ask(self, *, tokens: int = 1000) -> Story:
        """A model request goes out."""
        number = RequestNo(self.session.requests + 1)
        messages = len(self.session.messages)
        return self.tell(ev.ModelRequested(number, "", messages, 500, ev.Spend(tokens=tokens)))

    def reply(self, *parts: str | tuple[str, str], stop: str = "", tokens: int = 100) -> Story:
        """The model answers the open request with texts and (tool, JSON arguments) calls."""
        number = RequestNo(self.session.requests)
        made: list[ReplyPart] = []
        for part in parts:
            if isinstance(part, str):
                made.append(Text(part))
            else:
                made.append(ToolCall(CallKey(f"call_{number}_{len(made)}"), part[0], part[1]))
        calls = any(isinstance(part, ToolCall) for part in made)
        return self.tell(
            ev.ModelReplied(
                number=number,
                parts=tuple(made),
                stop="length" if stop == "length" else "tool_call" if calls else "stop",
                model=self.session.spec.chain[0],
                usage=Usage(input=tokens - 10, output=10),
                spend=ev.Spend(tokens=tokens),
                attempts=(),
                duration_ms=1000,
                first_token_ms=100,
            )
        )

    def turn(self, *parts: str | tuple[str, str]) -> Story:
        """A request and its answer."""
        return self.ask().reply(*parts)

    def open_call(self) -> CallKey:
        """The first call that has no result yet."""
        return next(call.key for call in self.session.calls.values() if call.step != "done")

    def run(self, outcome: str = "ok", text: str = "done") -> Story:
        """The first open call runs and ends so."""
        call = self.session.calls[self.open_call()]
        self.tell(ev.ToolStarted(call.key, call.tool, call.arguments, CallDigest("d"), idempotent=False))
        return self.finish(call.key, call.tool, outcome, text)

    def finish(self, key: CallKey, tool: str, outcome: str = "ok", text: str = "done") -> Story:
        """A call ends so."""
        ends: dict[str, ev.ToolFinished] = {
            name: ev.ToolFinished(key, tool, name, text, Label(), len(text), 5)
            for name in ("ok", "error", "denied", "unknown", "cancelled")
        }
        return self.tell(ends[outcome])

    def question(self, *, level: str = "each", ttl_ms: int = 3_600_000) -> Story:
        """The first open call is put to the person."""
        call = self.session.calls[self.open_call()]
        return self.tell(
            ev.ApprovalRequested(
                id=ApprovalId("a_1"),
                key=call.key,
                tool=call.tool,
                arguments=call.arguments,
                digest=CallDigest("d"),
                level="session" if level == "session" else "confirm" if level == "confirm" else "each",
                reason=Reason("level-each", "It runs a program."),
                risk=Risk.HIGH,
                expires_at_ms=self.now_ms + ttl_ms,
            )
        )

    @property
    def now_ms(self) -> int:
        """The time of the last event."""
        return self.events[-1].ts_ms

    def _event(self, body: ev.Body) -> ev.Event:
        place = len(self.events) + 1
        event = ev.Event(place, SESSION, place, START_MS + place * 1000, "stead", CommandId(""), body)
        self.events.append(event)
        return event


def grant(tool: str, shape: str = "any", expires_at_ms: int = START_MS * 2) -> ev.GrantMade:
    """A grant for the session."""
    return ev.GrantMade(tool, shape, GrantScope.SESSION, "", expires_at_ms, "cli")


def words(events: Sequence[ev.Event]) -> list[str]:
    """The tags of events, for reading a story."""
    return [str(type(event.body).__struct_config__.tag) for event in events]
