"""The verdicts of the journal, given again: by the policy of their moment, and by a changed one.

Layer: runtime. Each session is folded once, from its beginning; where a verdict stands, the call is judged again under
the session as it was just before, and the rules, hosts and files that the verdict knew. It only reads, and blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, get_args

import msgspec

from stead.brain.autonomy import EVENTS, WEEK_MS, autonomy
from stead.domain import events as ev
from stead.domain.autonomy import Autonomy
from stead.domain.errors import NotFound
from stead.domain.folding import fold
from stead.domain.ids import HOME, CallKey, SessionId
from stead.domain.policies import Allow, Ask, Deny, Rule, Verdict
from stead.domain.ports import Clock, Journal
from stead.domain.sessions import Call, Grant, Session
from stead.domain.simulation import ANSWERS, Answered, Apart, PolicyChange, Shift, ShiftedCall, ShiftRow, Simulation
from stead.domain.tools import Tool
from stead.runtime import home
from stead.runtime.gate import Gate, Moment, Standing
from stead.runtime.home import HomeState
from stead.runtime.mcp import Servers

EXAMPLE_CHARS = 300
_TRIED = 5
"""So many proposals of rules are tried on the record: those that would spare most questions."""
_FOREVER_MS = 2**62


class Outcome(NamedTuple):
    """What of a verdict is compared; ``digest`` is "" for a denied call."""

    verdict: str
    rule: str
    digest: str


class Rejudged(msgspec.Struct, frozen=True):
    """A verdict of the record with those that are given now.

    Args:
        event: of the verdict; nothing when it was erased.
        apart: why it is not compared; "" when it is.
        first: whether it is the call's first verdict, and not the one after an answer.
        arguments: of the call.
        now: the verdicts by the policy of its moment, then by each changed one; empty where it could not be judged.
        answer: the person's.
    """

    event: ev.Event | None
    apart: Apart | str = ""
    first: bool = False
    arguments: str = ""
    now: tuple[Outcome, ...] = ()
    answer: Answered = ""

    @property
    def judged(self) -> ev.CallJudged:
        """The verdict of the record; only of one that was not erased."""
        assert self.event is not None and isinstance(self.event.body, ev.CallJudged)
        return self.event.body

    @property
    def same(self) -> bool:
        """Whether it comes out as recorded, by the same rule."""
        return self.now[:1] != () and self.now[0][:2] == (self.judged.verdict, self.judged.reason.rule)


class Verdicts(Protocol):
    """Finds verdicts in the record, and what belongs to them. It blocks."""

    def newest(self, limit: int) -> Sequence[tuple[int, SessionId, bool]]:
        """The seq and session of the last verdicts, newest first, and whether what they said was erased."""

    def about(self, kinds: Sequence[type[ev.Body]], since_ms: int) -> Sequence[ev.Event]:
        """Events of these kinds from a time on, in order: of grants and openings all, of verdicts those by a grant."""


@dataclass(eq=False, repr=False)
class Rejudging:
    """Judges the calls of the record again.

    Args:
        journal: the record.
        verdicts: finds verdicts, and what was asked, in it.
        gate: knows the tools, and asks the guardian.
        clock: says when a grant has ended.
        version: of this Stead.
        of_servers: the tools of MCP servers, where the servers are these.
    """

    _journal: Journal
    _verdicts: Verdicts
    _gate: Gate
    _clock: Clock
    _version: str
    _of_servers: Callable[[Servers], Mapping[str, Tool]] = lambda _: {}

    def autonomy(self, weeks: int = 12) -> Autonomy:
        """Say what was asked in the last weeks, how it was answered, what is allowed ahead, and which rules would help.

        Raises:
            StorageFault: the journal cannot be read.
        """
        now_ms = self._clock.now_ms()
        since_ms = now_ms - weeks * WEEK_MS
        declared = {spec.name: spec.declaration for spec in self._gate.specs(())}
        found = autonomy(self._verdicts.about(EVENTS, since_ms), declared, now_ms, since_ms)
        tried = found.proposals[:_TRIED]
        changes = [
            PolicyChange(add=(Rule(f"r_{place:08x}", one.decision, (), one.tools, one.where),))
            for place, one in enumerate(tried)
        ]
        again = self.again(changes, PolicyChange().last) if changes else []
        proposals = [
            msgspec.structs.replace(one, history=summed_up(again, place, PolicyChange().examples))
            for place, one in enumerate(tried, 1)
        ]
        return msgspec.structs.replace(found, proposals=(*proposals, *found.proposals[_TRIED:]))

    def simulate(self, change: PolicyChange) -> Simulation:
        """Try a change of policy on the last verdicts of the home; nothing is changed by it.

        Raises:
            NotFound: there is no such rule.
            InvalidRequest: there is no such tool.
            StorageFault: the journal cannot be read.
        """
        changes = [change] if change.changes else []
        return summed_up(self.again(changes, change.last), len(changes), change.examples)

    def again(self, changes: Sequence[PolicyChange], last: int) -> list[Rejudged]:
        """The last verdicts, by session, under the policy of their moment and under each changed one; as ``simulate``.

        Raises:
            NotFound, InvalidRequest, StorageFault: as there.
        """
        homes = _Homes(self._journal, lambda servers: self._gate.with_more(self._of_servers(servers)))
        known = {rule.id for rule in homes.at(_FOREVER_MS, 0)[0].rules}
        for change in changes:
            self._gate.specs([grant.tool for grant in change.grants])
            if missing := set(change.remove) - known:
                raise NotFound(f"there is no rule {min(missing)!r}; see `stead rules`")
        places = self._verdicts.newest(last)
        wanted = {seq for seq, _, erased in places if not erased}
        found = [Rejudged(None, "erased") for _, _, erased in places if erased]
        for session in dict.fromkeys(id for _, id, erased in reversed(places) if not erased):
            found += self._of_session(session, wanted, homes, changes)
        return found

    def _of_session(
        self, id: SessionId, wanted: set[int], homes: _Homes, changes: Sequence[PolicyChange]
    ) -> Iterator[Rejudged]:
        events = [*self._journal.events(session=id)]
        bodies = [(event.seq, event.body) for event in events if isinstance(event, ev.Event)]
        rewritten = [
            (one.seq, at) for at, body in bodies if isinstance(body, ev.ContentRedacted) for one in body.events
        ]
        erased = min((event.seq for event in events if isinstance(event, ev.Erased)), default=_FOREVER_MS)
        session: Session | None = None
        found: dict[int, Rejudged] = {}
        asked: dict[CallKey, int] = {}
        for event in events:
            if isinstance(event, ev.Erased) or (session is None and not isinstance(event.body, ev.SessionOpened)):
                continue
            match body := event.body:
                case ev.CallJudged(key=key) if session and event.seq in wanted:
                    lost = erased < event.seq or any(of < event.seq < at for of, at in rewritten)
                    call = session.calls.get(key)
                    again = self._once(event, session, call, homes, changes) if call and not lost else None
                    found[event.seq] = again or Rejudged(event, "erased")
                    if again and again.first:
                        asked[key] = event.seq
                case ev.ApprovalGiven(key=key) | ev.ApprovalDenied(key=key) | ev.ApprovalLapsed(key=key):
                    if seq := asked.pop(key, 0):
                        found[seq] = msgspec.structs.replace(found[seq], answer=ANSWERS[type(body)])
                case _:
                    pass
            session = fold((event,), session)
        yield from found.values()

    def _once(
        self, event: ev.Event, session: Session, call: Call, homes: _Homes, changes: Sequence[PolicyChange]
    ) -> Rejudged:
        judged = Rejudged(event).judged
        first, directory = call.step != "approved", session.spec.directory
        if judged.reason.rule == "no-machine":
            return Rejudged(event, "no-sandbox", first)
        state, version = homes.at(event.seq, judged.home)
        moment = Moment(homes.standing(state, directory), event.ts_ms, judged.files)
        gate = homes.gate(state)
        now = [_outcome(gate.judge_again(session, call, moment))]
        for change in changes:
            gone = {*change.remove, *(rule.id for rule in change.add)}
            rules = (*(rule for rule in state.rules if rule.id not in gone), *change.add)
            changed = replace(moment, standing=replace(state, rules=rules).standing(directory))
            now.append(_outcome(gate.judge_again(_under(session, change), call, changed)))
        again = Rejudged(event, "", first, call.arguments, tuple(now))
        if version != self._version or not judged.home:
            return again if again.same else msgspec.structs.replace(again, apart="older")
        completed = "" not in (judged.digest, now[0].digest) and judged.digest != now[0].digest
        return msgspec.structs.replace(again, apart="changed") if completed else again


class _Homes:
    """The home as it was after each event of its stream, and the version of Stead that served it then.

    Args:
        journal: the record.
        gate: the gate where the servers are these.
    """

    def __init__(self, journal: Journal, gate: Callable[[Servers], Gate]) -> None:
        self._gate = gate
        self._gates: dict[int, Gate] = {}
        self._states = [(HomeState(), "")]
        self._seqs, self._places = [0], [0]
        self._standing: dict[tuple[int, str], Standing] = {}
        for event in journal.events(session=HOME):
            if isinstance(event, ev.Event):
                state, version = self._states[-1]
                version = event.body.version if isinstance(event.body, ev.DaemonStarted) else version
                self._states.append((home.fold(state, event), version))
                self._seqs.append(event.seq)
                self._places.append(event.session_seq)

    def at(self, seq: int, place: int) -> tuple[HomeState, str]:
        """As of an event of its stream, or of the journal where that place is not known (0)."""
        after = bisect_right(self._places, place) if place else bisect_right(self._seqs, seq)
        return self._states[after - 1]

    def gate(self, state: HomeState) -> Gate:
        """The gate with the tools that the servers had in one of these states; made once while nothing changed."""
        servers = state.mcp  # kept by its state, so that no other one has its id
        if id(servers) not in self._gates:
            self._gates[id(servers)] = self._gate(servers)
        return self._gates[id(servers)]

    def standing(self, state: HomeState, directory: str) -> Standing:
        """What one of these states says for a folder; worked out once."""
        known = state.seq, directory
        if known not in self._standing:
            self._standing[known] = state.standing(directory)
        return self._standing[known]


def summed_up(found: Sequence[Rejudged], place: int, examples: int) -> Simulation:
    """What one of the changes moves.

    Args:
        found: as of ``Rejudging.again``.
        place: of the change among them, from 1; 0 for none.
        examples: at most so many calls of each kind of shift.
    """
    compared = [one for one in found if not one.apart]
    calls = [one for one in compared if one.first and one.same]
    shifted = {kind: [one for one in calls if _shift(one.now[0], one.now[place]) == kind] for kind in get_args(Shift)}
    apart = Counter(one.apart for one in found)
    rows = [
        ShiftRow(kind, len(ones), *(sum(one.answer == word for one in ones) for word in ("given", "denied")))
        for kind, ones in shifted.items()
    ]
    return Simulation(
        verdicts=len(found),
        same=sum(one.same for one in compared),
        differing=tuple(one.event.seq for one in compared if one.event and not one.same),
        apart={why: apart[why] for why in get_args(Apart) if apart[why]},
        calls=len(calls),
        shifts=tuple(row for row in rows if row.calls),
        examples=tuple(
            ShiftedCall(
                shift=kind,
                event=one.event.seq,
                ts_ms=one.event.ts_ms,
                session=one.event.session,
                tool=one.judged.tool,
                arguments=one.arguments[:EXAMPLE_CHARS],
                before=one.now[0].rule,
                after=one.now[place].rule,
                answer=one.answer,
            )
            for kind, ones in shifted.items()
            for one in ones[: -examples - 1 : -1]
            if one.event
        ),
    )


def _shift(before: Outcome, after: Outcome) -> Shift | None:
    if before.verdict == after.verdict:
        return None
    if "deny" in (before.verdict, after.verdict):
        return "refused" if after.verdict == "deny" else "released"
    return "asked" if after.verdict == "ask" else "unasked"


def _outcome(verdict: Verdict) -> Outcome:
    match verdict:
        case Allow(permit=permit, reason=reason):
            return Outcome("allow", reason.rule, permit.digest)
        case Ask(digest=digest, reason=reason):
            return Outcome("ask", reason.rule, digest)
        case Deny(reason=reason):
            return Outcome("deny", reason.rule, "")


def _under(session: Session, change: PolicyChange) -> Session:
    """The session with the profile and the grants of a change."""
    profile = change.profile or session.spec.profile
    granted = [
        Grant(grant.tool, grant.shape, _FOREVER_MS)
        for grant in change.grants
        if grant.directory in ("", session.spec.directory)
    ]
    spec = msgspec.structs.replace(session.spec, profile=profile)
    return msgspec.structs.replace(session, spec=spec, grants=[*session.grants, *granted])
