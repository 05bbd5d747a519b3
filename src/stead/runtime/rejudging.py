"""The verdicts of the journal, given again: by the policy of their moment, and by a changed one.

Layer: runtime. Each session is folded once, from its beginning; where a verdict stands, the call is judged again under
the session as it was just before, and the rules, hosts and files that the verdict knew. It only reads, and blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

import msgspec

from stead.domain import events as ev
from stead.domain.errors import NotFound
from stead.domain.folding import fold
from stead.domain.ids import HOME, CallKey, SessionId
from stead.domain.policies import Allow, Ask, Profile, Rule, Verdict
from stead.domain.ports import Journal
from stead.domain.sessions import Grant, Session
from stead.domain.simulation import Answered, Apart, PolicyChange, Shift, ShiftedCall, ShiftRow, Simulation
from stead.runtime import home
from stead.runtime.approvals import ANY
from stead.runtime.gate import Gate, Moment
from stead.runtime.home import HomeState

EXAMPLE_CHARS = 300
_FOREVER_MS = 2**62
_ANSWERS: dict[type[ev.Body], Answered] = {
    ev.ApprovalGiven: "given",
    ev.ApprovalDenied: "denied",
    ev.ApprovalLapsed: "lapsed",
}


class Rejudged(msgspec.Struct, frozen=True):
    """A verdict of the record with those that are given now.

    Args:
        event: of the verdict; nothing when it was erased.
        arguments: of the call.
        first: whether it is the call's first verdict, and not the one after an answer.
        apart: why it is not compared; "" when it is.
        now: the verdicts by the policy of its moment, then by each changed one; empty when it is apart from the start.
        answer: the person's.
    """

    event: ev.Event | None
    arguments: str = ""
    first: bool = False
    apart: Apart | str = ""
    now: tuple[Verdict, ...] = ()
    answer: Answered = ""

    @property
    def judged(self) -> ev.CallJudged:
        """The verdict of the record; only of one that was not erased."""
        assert self.event is not None and isinstance(self.event.body, ev.CallJudged)
        return self.event.body

    @property
    def same(self) -> bool:
        """Whether it comes out as recorded: the verdict, the rule, and the call that was judged."""
        return not self.apart and _outcome(self.now[0]) == (self.judged.verdict, self.judged.reason.rule)


class Rejudging:
    """Judges the calls of the record again.

    Args:
        journal: the record.
        verdicts: the seq and session of the last verdicts, newest first, and whether one was erased.
        gate: knows the tools, and asks the guardian.
        version: of this Stead.
    """

    def __init__(
        self,
        journal: Journal,
        verdicts: Callable[[int], Sequence[tuple[int, SessionId, bool]]],
        gate: Gate,
        version: str,
    ) -> None:
        self._journal = journal
        self._verdicts = verdicts
        self._gate = gate
        self._version = version

    def simulate(
        self,
        add: tuple[Rule, ...] = (),
        remove: tuple[str, ...] = (),
        profile: Profile | None = None,
        grants: tuple[str, ...] = (),
        last: int = 2000,
        examples: int = 5,
    ) -> Simulation:
        """Try a change of policy on the last verdicts of the home; nothing is changed by it.

        Args:
            add: rules that hold, in place of those with the same id.
            remove: ids of rules that do not.
            profile: of every session; none for its own.
            grants: tools that are granted ahead, in every session.
            last: so many verdicts.
            examples: at most so many calls of each kind of shift.

        Raises:
            NotFound: there is no such rule.
            InvalidRequest: there is no such tool.
            StorageFault: the journal cannot be read.
        """
        self._gate.specs(grants)
        found = self.again([PolicyChange(add, remove, profile, grants)], last)
        return summed_up(found, 0, examples)

    def again(self, changes: Sequence[PolicyChange], last: int) -> list[Rejudged]:
        """The last verdicts, by session, under the policy of their moment and under each changed one.

        Raises:
            NotFound: a change removes a rule that there is not.
            StorageFault: the journal cannot be read.
        """
        homes = _Homes(self._journal)
        known = {rule.id for rule in homes.last.rules}
        if missing := [id for change in changes for id in change.remove if id not in known]:
            raise NotFound(f"there is no rule {missing[0]!r}; see `stead rules`")
        places = self._verdicts(last)
        wanted = {seq for seq, _, erased in places if not erased}
        found = [Rejudged(None, apart="erased") for _, _, erased in places if erased]
        for session in dict.fromkeys(id for _, id, erased in reversed(places) if not erased):
            found += self._of_session(session, wanted, homes, changes)
        return found

    def _of_session(
        self, id: SessionId, wanted: set[int], homes: _Homes, changes: Sequence[PolicyChange]
    ) -> Iterator[Rejudged]:
        events = [*self._journal.events(session=id)]
        rewritten = [(one.seq, event.seq) for event in events for one in _redacted(event)]
        session: Session | None = None
        found: dict[int, Rejudged] = {}
        asked: dict[CallKey, int] = {}
        whole = True
        for event in events:
            if isinstance(event, ev.Erased):
                whole = False
                continue
            match body := event.body:
                case ev.CallJudged() if event.seq in wanted:
                    kept = whole and not any(of < event.seq < at for of, at in rewritten)
                    found[event.seq] = self._once(event, body, session if kept else None, homes, changes)
                    if found[event.seq].first:
                        asked[body.key] = event.seq
                case ev.ApprovalGiven(key=key) | ev.ApprovalDenied(key=key) | ev.ApprovalLapsed(key=key):
                    if seq := asked.pop(key, 0):
                        found[seq] = msgspec.structs.replace(found[seq], answer=_ANSWERS[type(body)])
                case _:
                    pass
            if session is not None or isinstance(body, ev.SessionOpened):
                session = fold((event,), session)
        yield from found.values()

    def _once(
        self,
        event: ev.Event,
        judged: ev.CallJudged,
        session: Session | None,
        homes: _Homes,
        changes: Sequence[PolicyChange],
    ) -> Rejudged:
        call = session.calls.get(judged.key) if session else None
        if session is None or call is None:
            return Rejudged(event, apart="erased")
        first = call.step != "approved"
        if judged.reason.rule == "no-machine":
            return Rejudged(event, call.arguments, first, "no-sandbox")
        state, version = homes.at(event, judged)
        directory = session.spec.directory
        moment = Moment(state.standing(directory), event.ts_ms, judged.files)
        now = [self._gate.judge_again(session, call, moment)]
        for change in changes:
            rules = (*(rule for rule in state.rules if rule.id not in _gone(change)), *change.add)
            standing = replace(state, rules=rules).standing(directory)
            now.append(self._gate.judge_again(_under(session, change), call, replace(moment, standing=standing)))
        again = Rejudged(event, call.arguments, first, "", tuple(now))
        older = not judged.home or version != self._version
        completed = "" not in (judged.digest, digest := _digest(now[0])) and digest != judged.digest
        apart = "older" if older and not again.same else "changed" if completed and not older else ""
        return msgspec.structs.replace(again, apart=apart) if apart else again


class _Homes:
    """The home as it was after each event of its stream, and the version of Stead that served it then."""

    def __init__(self, journal: Journal) -> None:
        self._seqs: list[int] = [0]
        self._places: list[int] = [0]
        self._states: list[tuple[HomeState, str]] = [(HomeState(), "")]
        for event in journal.events(session=HOME):
            if isinstance(event, ev.Event):
                state, version = self._states[-1]
                version = event.body.version if isinstance(event.body, ev.DaemonStarted) else version
                self._seqs.append(event.seq)
                self._places.append(event.session_seq)
                self._states.append((home.fold(state, event), version))

    @property
    def last(self) -> HomeState:
        """As it is now."""
        return self._states[-1][0]

    def at(self, event: ev.Event, judged: ev.CallJudged) -> tuple[HomeState, str]:
        """What a verdict knew of it: as recorded, or by its place in the journal where that was not."""
        recorded = (self._places, judged.home) if judged.home else (self._seqs, event.seq)
        return self._states[bisect_right(*recorded) - 1]


def summed_up(found: Sequence[Rejudged], change: int, examples: int) -> Simulation:
    """What one of the changes moves.

    Args:
        found: as of ``Rejudging.again``.
        change: its place.
        examples: at most so many calls of each kind of shift.
    """
    compared = [one for one in found if not one.apart]
    calls = [one for one in compared if one.first and one.same]
    shifted = [(shift, one) for one in reversed(calls) if (shift := _shift(one, change))]
    rows = {kind: [one for shift, one in shifted if shift == kind] for kind in get_args(Shift)}
    return Simulation(
        verdicts=len(found),
        same=sum(one.same for one in compared),
        differing=tuple(one.event.seq for one in compared if one.event and not one.same),
        apart={why: count for why in get_args(Apart) if (count := Counter(one.apart for one in found)[why])},
        calls=len(calls),
        shifts=tuple(
            ShiftRow(kind, len(ones), *(sum(one.answer == word for one in ones) for word in ("given", "denied")))
            for kind, ones in rows.items()
            if ones
        ),
        examples=tuple(_example(kind, one, change) for kind, ones in rows.items() for one in ones[:examples]),
    )


def _shift(one: Rejudged, change: int) -> Shift | None:
    before, after = one.judged.verdict, _outcome(one.now[change + 1])[0]
    if before == after:
        return None
    if "deny" in (before, after):
        return "refused" if after == "deny" else "released"
    return "asked" if after == "ask" else "unasked"


def _example(shift: Shift, one: Rejudged, change: int) -> ShiftedCall:
    assert one.event is not None
    return ShiftedCall(
        shift=shift,
        seq=one.event.seq,
        ts_ms=one.event.ts_ms,
        session=one.event.session,
        key=one.judged.key,
        tool=one.judged.tool,
        arguments=one.arguments[:EXAMPLE_CHARS],
        before=one.judged.reason.rule,
        after=_outcome(one.now[change + 1])[1],
        answer=one.answer,
    )


def _outcome(verdict: Verdict) -> tuple[str, str]:
    """The verdict and the rule that decided, as the record has them."""
    word = "allow" if isinstance(verdict, Allow) else "ask" if isinstance(verdict, Ask) else "deny"
    return word, verdict.reason.rule


def _digest(verdict: Verdict) -> str:
    match verdict:
        case Allow(permit=permit):
            return permit.digest
        case Ask(digest=digest):
            return digest
        case _:
            return ""


def _redacted(event: ev.Event | ev.Erased) -> Sequence[ev.Redacted]:
    return event.body.events if isinstance(event, ev.Event) and isinstance(event.body, ev.ContentRedacted) else ()


def _gone(change: PolicyChange) -> set[str]:
    """Ids of rules that do not hold, or hold in another form."""
    return {*change.remove, *(rule.id for rule in change.add)}


def _under(session: Session, change: PolicyChange) -> Session:
    """The session with the profile and the grants of a change."""
    if change.profile is not None:
        session = msgspec.structs.replace(session, spec=msgspec.structs.replace(session.spec, profile=change.profile))
    granted = [Grant(tool, ANY, _FOREVER_MS) for tool in change.grants]
    return msgspec.structs.replace(session, grants=[*session.grants, *granted]) if granted else session
