"""How much a home asks of its person, and how it is answered: worked out of the journal's events.

Layer: brain. Pure; nothing here decides anything. Answers look like *reflex* where there are at least 20 in a period,
98 % of them yes, and half of them within two seconds: then a question protects nobody, and a rule would be honest.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec
from msgspec.structs import replace

from stead.brain.dates import DAY_MS, day_of
from stead.domain import events as ev
from stead.domain.autonomy import Autonomy, LiveGrant, Period, RuleProposal
from stead.domain.ids import HOME, ApprovalId, SessionId
from stead.domain.messages import WORKSPACE
from stead.domain.policies import Condition, Risk
from stead.domain.simulation import ANSWERS, Answered
from stead.domain.tools import Declaration

EVENTS = (
    *(ev.SessionOpened, ev.SessionDeleted, ev.TurnEnded, ev.ObjectiveEnded, ev.CallJudged, ev.ApprovalRequested),
    *(ev.ApprovalGiven, ev.ApprovalDenied, ev.ApprovalLapsed, ev.GrantMade, ev.GrantRevoked),
)
"""What ``autonomy`` looks at."""
REFLEX_ANSWERS, REFLEX_YES, REFLEX_MS = 20, 0.98, 2000
PROPOSED_FROM = 5
"""Questions about the same thing, all of them answered with yes, from which on a rule is proposed."""
WEEK_MS = 7 * DAY_MS


class Asked(msgspec.Struct, frozen=True):
    """A question, and what became of it."""

    ts_ms: int
    question: ev.ApprovalRequested
    answer: Answered = ""
    waited_ms: int = 0


def autonomy(events: Iterable[ev.Event], declared: Mapping[str, Declaration], now_ms: int, since_ms: int) -> Autonomy:
    """What the events say.

    Args:
        events: of the kinds in ``EVENTS``, in order; grants and openings from the beginning on.
        declared: what each tool declares, by name.
        now_ms: the moment at which a grant has to be live.
        since_ms: what was asked before it does not count.
    """
    asked: dict[ApprovalId, Asked] = {}
    folders: dict[SessionId, str] = {}
    tasks: list[int] = []
    grants: list[LiveGrant] = []
    for event in events:
        match event.body:
            case ev.SessionOpened() as opened:
                folders[event.session] = opened.directory
                tasks += [] if opened.interactive else [event.ts_ms]
            case ev.TurnEnded():
                tasks.append(event.ts_ms)
            case ev.ApprovalRequested() as question:
                asked[question.id] = Asked(event.ts_ms, question)
            case ev.ApprovalGiven(id=id) if id in asked and not event.cause:
                del asked[id]  # nobody was waited for: the person had put these very arguments in
            case ev.ApprovalGiven(id=id) | ev.ApprovalDenied(id=id) | ev.ApprovalLapsed(id=id) if id in asked:
                answer = ANSWERS[type(event.body)]
                asked[id] = replace(asked[id], answer=answer, waited_ms=event.ts_ms - asked[id].ts_ms)
            case _:
                grants = _granted(grants, event, folders)
    seen = [one for one in asked.values() if one.ts_ms >= since_ms]
    recent = [ts_ms for ts_ms in tasks if ts_ms >= since_ms]
    weeks = sorted({_week(ts_ms) for ts_ms in (*recent, *(one.ts_ms for one in seen))}, reverse=True)
    return Autonomy(
        overall=_period(since_ms // DAY_MS, recent, seen),
        weeks=tuple(
            _period(day, [at for at in recent if _week(at) == day], [one for one in seen if _week(one.ts_ms) == day])
            for day in weeks
        ),
        grants=tuple(grant for grant in grants if grant.expires_at_ms > now_ms),
        proposals=_proposals(seen, declared),
    )


def _granted(grants: list[LiveGrant], event: ev.Event, folders: Mapping[SessionId, str]) -> list[LiveGrant]:
    """The live grants after one more event."""
    session = "" if event.session == HOME else event.session
    folder = folders.get(event.session, "")
    match event.body:
        case ev.GrantMade() as made:
            directory = made.directory or folder
            grant = LiveGrant(made.tool, made.shape, session, directory, event.ts_ms, made.expires_at_ms)
            return [*grants, grant]
        case ev.GrantRevoked(tool=tool, directory=directory):
            where = (session, directory or folder)
            return [one for one in grants if (one.tool, one.session, one.directory) != (tool, *where)]
        case ev.SessionDeleted() | ev.ObjectiveEnded():
            return [grant for grant in grants if grant.session != session]
        case ev.CallJudged(tool=tool, reason=reason) if reason.rule == "granted":
            mine = [one.tool == tool and (one.session or one.directory) in (session, folder) for one in grants]
            return [replace(one, used=one.used + used) for one, used in zip(grants, mine, strict=True)]
        case _:
            return grants


def _period(day: int, tasks: Sequence[int], asked: Sequence[Asked]) -> Period:
    answers = Counter(one.answer for one in asked)
    waited = [one.waited_ms for one in asked if one.answer in ("given", "denied")]
    median_ms = int(median(waited)) if waited else 0
    yes = answers["given"] / max(1, len(waited))
    return Period(
        since=day_of(day * DAY_MS),
        tasks=len(tasks),
        asks=len(asked),
        given=answers["given"],
        denied=answers["denied"],
        lapsed=answers["lapsed"],
        median_ms=median_ms,
        about=dict(Counter(one.question.reason.rule for one in asked).most_common()),
        reflex=len(waited) >= REFLEX_ANSWERS and yes >= REFLEX_YES and median_ms < REFLEX_MS,
    )


def _week(ts_ms: int) -> int:
    """The day (since 1970) of the Monday before."""
    day = ts_ms // DAY_MS
    return day - (day + 3) % 7


def _proposals(asked: Sequence[Asked], declared: Mapping[str, Declaration]) -> tuple[RuleProposal, ...]:
    alike: dict[tuple[str, Condition], list[Asked]] = {}
    for one in asked:
        if one.answer != "lapsed" and (condition := _condition(one.question, declared)):
            alike.setdefault((one.question.tool, condition), []).append(one)
    found = [
        RuleProposal("allow", (tool,), (condition,), len(ones))
        for (tool, condition), ones in alike.items()
        if len(ones) >= PROPOSED_FROM and all(one.answer == "given" for one in ones)
    ]
    return tuple(sorted(found, key=lambda one: -one.asks))


def _condition(question: ev.ApprovalRequested, declared: Mapping[str, Declaration]) -> Condition | None:
    """What a rule could say of calls like this one; nothing where no rule is to answer in the person's place.

    That is so for what is confirmed each time, what is critical, what the person's own rule asks for, and whatever
    a session that has read strangers' words wants.
    """
    strange = any(source != WORKSPACE for source in question.sources)
    if question.level == "confirm" or question.risk is Risk.CRITICAL or strange or question.reason.rule == "rule-ask":
        return None
    kind, _, value = question.shape.partition(":")
    if kind in ("shell", "host") and value:
        return Condition("command" if kind == "shell" else "host", (value,))
    arguments = msgspec.json.decode(question.arguments, type=dict[str, object])
    named = [arguments.get(name) for name in declared[question.tool].path_args] if question.tool in declared else []
    if len(named) != 1 or not isinstance(named[0], str) or "/" not in posixpath.normpath(named[0]):
        return None
    return Condition("path", (posixpath.dirname(posixpath.normpath(named[0])) + "/",))
