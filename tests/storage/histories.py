"""Random histories that could have happened: each event is one that the session's state allows."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from stead.domain import events as ev
from stead.domain.ids import HOME, ApprovalId, CallDigest, CallKey, CommandId, RequestNo, SessionId
from stead.domain.policies import GrantScope, Label, Reason, Risk
from stead.domain.sessions import Call, Session
from stead.domain.trials import Held, Landing, Review
from tests.build import START_MS, Story, created, desk
from tests.storage import interactive_histories
from tests.storage.drafts import failed, read, reading, session, unread

WORDS = ("tide", "ledger", "otter", "quince", "lantern")
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
REASON = Reason("level-each", "It runs a program.")

Draw = Callable[[st.SearchStrategy[str]], str]
Bodies = list[ev.Body]


class History:
    """Sessions and the home, told side by side; ``drafts`` is what the journal is given."""

    def __init__(self) -> None:
        self.stories: dict[SessionId, Story] = {}
        self.drafts: list[ev.Draft] = []
        self._home = 0

    def open(self, goal: str, *, interactive: bool = False) -> None:
        """A new objective, or an interactive session."""
        id = session(len(self.stories) + 1)
        story = Story(desk(goal) if interactive else created(goal))
        self.stories[id] = story
        self._record(id, story.events)

    def tell(self, id: SessionId, bodies: Bodies) -> None:
        """More of a session."""
        story = self.stories[id]
        known = len(story.events)
        story.tell(*bodies)
        self._record(id, story.events[known:])

    def at_home(self, body: ev.Body) -> None:
        """A fact about the whole home."""
        self._home += 1
        self.drafts.append(ev.Draft(HOME, self._home, self._now(), "stead", CommandId(""), body))

    def _record(self, id: SessionId, events: list[ev.Event]) -> None:
        self.drafts += [
            ev.Draft(id, event.session_seq, self._now() + at, event.actor, event.cause, event.body)
            for at, event in enumerate(events)
        ]

    def _now(self) -> int:
        return START_MS + len(self.drafts) * 3_600_000  # an hour an event, so that days pass


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Up to 40 steps of up to three sessions."""
    history = History()
    history.open(draw(texts), interactive=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 40))):
        where = draw(st.sampled_from(["session"] * 12 + ["new", "home"]))
        if where == "new" and len(history.stories) < 3:
            history.open(draw(texts), interactive=draw(st.booleans()))
        elif where == "home":
            facts: list[ev.Body] = [ev.DaemonStopped("down"), ev.CapSet(ev.Budget("unlimited", 10**9))]
            history.at_home(draw(st.sampled_from(facts)))
        else:
            id = draw(st.sampled_from(sorted(history.stories)))
            state = history.stories[id].session
            if not state.deleted:
                history.tell(id, _next(draw, state))
    return history


def _next(draw: st.DrawFn, state: Session) -> Bodies:
    if state.spec.interactive and (bodies := interactive_histories.beside_the_work(draw, state)):
        return bodies
    if state.end is not None:
        return draw(st.sampled_from([[ev.ObjectiveRetried(ev.Budget(1000, "unlimited"))], [ev.SessionDeleted()]]))
    anytime: list[Bodies] = [
        [ev.MessageReceived(draw(texts), "cli", Label())],
        interactive_histories.over(draw, state) or [ev.ObjectiveEnded("cancelled", "cancelled", draw(texts))],
        [ev.MachineStarted("bubblewrap", "walls")],
        [ev.TerminalOpened("t_0000000000000001", 24, 80, "web")],
        [ev.TerminalClosed("t_0000000000000001", draw(st.integers(0, 255)), "exited")],
        [ev.ChangesLanded(CallKey(""), Landing(runnable=("run.sh",)))],
        [ev.ReviewWanted(Review(draw(st.integers(-1, 3)), (Held("a.md", ""),)))],
        [ev.TrialApplied(1, ("a.md",), 0, (), draw(st.booleans()), "web")],
        [ev.TrialDiscarded(1, "web")],
        [ev.GrantMade("shell", "any", GrantScope.SESSION, "", START_MS * 2, "cli")],
    ]
    if state.phase == "paused":
        return draw(st.sampled_from([[ev.SessionResumed()]] * 3 + [*anytime, [ev.SessionStopped("cli", "hold")]]))
    anytime += [[ev.SessionPaused(draw(texts))], [ev.PlanMade((ev.PlanStep(draw(texts)),), "model")]]
    if draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(anytime))
    if state.open_request is not None:
        return _answer(draw, state.open_request.number)
    if state.open_reading is not None:
        number, spent = state.open_reading.number, draw(st.integers(20, 900))
        ends: Bodies = [read(number, spent), unread(number), unread(number, spent)]
        return [draw(st.sampled_from(ends))]
    call = next((call for call in state.calls.values() if call.step != "done"), None)
    if call is not None and call.step == "started" and draw(st.integers(0, 2)) == 0:
        return [reading(state.requests + 1, 1000, 40)]
    if call is not None:
        return draw(st.sampled_from(_CALL_STEPS[call.step](draw, call)))
    if draw(st.integers(0, 3)) == 0:
        if state.spec.interactive:
            return [ev.TurnEnded(state.turn, "done", draw(texts))]
        return [ev.ObjectiveEnded("unverified", "done", draw(texts))]
    return [ev.ModelRequested(RequestNo(state.requests + 1), "", len(state.messages), 500, ev.Spend(1000, 40))]


def _answer(draw: st.DrawFn, number: RequestNo) -> Bodies:
    if draw(st.integers(0, 5)) == 0:
        return [failed(number, draw(st.integers(0, 900)))]
    story = Story()
    story.session.requests = number
    parts: list[str | tuple[str, str]] = [draw(texts)]
    for _ in range(draw(st.integers(0, 3))):
        arguments = draw(st.sampled_from(['{"command": "%s"}', '{"a": [1, "%s", null]}', "not json %s"])) % draw(texts)
        by_name = f'{{"name": "read", "arguments": {{"path": "{draw(texts)}"}}}}'
        parts.append(draw(st.sampled_from([("shell", arguments), ("read", arguments), ("use_tool", by_name)])))
    body = story.ask().reply(*parts, tokens=draw(st.integers(20, 900))).events[-1].body
    assert isinstance(body, ev.ModelReplied)
    return [ev.ModelReplied(number, *(getattr(body, name) for name in body.__struct_fields__[1:]))]


def _judged(call: Call, verdict: str) -> ev.CallJudged:
    digest = CallDigest("d")
    made = {
        "allow": ev.CallJudged(call.key, call.tool, "allow", REASON, Risk.LOW, digest),
        "ask": ev.CallJudged(call.key, call.tool, "ask", REASON, Risk.HIGH, digest),
        "deny": ev.CallJudged(call.key, call.tool, "deny", REASON, Risk.CRITICAL, digest),
    }
    return made[verdict]


def _started(call: Call) -> Bodies:
    return [_judged(call, "allow"), ev.ToolStarted(call.key, call.tool, '{"canonical":1}', CallDigest("d"), True)]


def _finished(draw: st.DrawFn, call: Call, outcome: str) -> ev.ToolFinished:
    return next(
        ev.ToolFinished(call.key, call.tool, known, draw(texts), Label(), 9, 12)
        for known in ("ok", "error", "denied", "unknown", "cancelled")
        if known == outcome
    )


def _new(draw: st.DrawFn, call: Call) -> list[Bodies]:
    place = f"{draw(st.integers(0, 2**64 - 1)):016x}"
    question = ev.ApprovalRequested(
        ApprovalId(f"a_{place}"), call.key, call.tool, call.arguments, CallDigest("d"), "each", REASON, Risk.HIGH, 0
    )
    return [
        _started(call),
        [_judged(call, "ask"), question],
        [_judged(call, "deny"), _finished(draw, call, "denied")],
    ]


def _asking(draw: st.DrawFn, call: Call) -> list[Bodies]:
    return [
        [ev.ApprovalGiven(call.approval, call.key, CallDigest("d"), "web")],
        [ev.ApprovalDenied(call.approval, call.key, "cli", draw(texts))],
        [ev.ApprovalLapsed(call.approval, call.key, "expired")],
        [ev.ApprovalLapsed(call.approval, call.key, "changed")],
    ]


def _under_way(draw: st.DrawFn, call: Call) -> list[Bodies]:
    ends: list[Bodies] = [[_finished(draw, call, end)] for end in ("ok", "error", "unknown", "cancelled")]
    return [*ends, [ev.ToolReopened(call.key, call.tool)]]


_CALL_STEPS: dict[str, Callable[[st.DrawFn, Call], list[Bodies]]] = {
    "new": _new,
    "asking": _asking,
    "approved": lambda _draw, call: [_started(call)],
    "refused": lambda draw, call: [[_finished(draw, call, "denied")]],
    "lapsed": lambda draw, call: [[_finished(draw, call, "denied")]],
    "started": _under_way,
}
