"""What an auditor is shown: signed heads, the findings of a check, and each decision with its answer.

Layer: domain. Pure: who reads the journal, and who signs, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from stead.domain import events as ev
from stead.domain.ids import ApprovalId, CallDigest, CallKey, SessionId


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the journal was at a size, signed; ``docs/audit.md`` has the bytes that the signature covers.

    Args:
        journal: which journal: the chain hash of its first event, hex.
        size: how many events it covers, from the first.
        root: of the Merkle tree over them (RFC 6962), hex.
        chain: the chain hash of the last of them, hex.
        ts_ms: when it was signed.
        key: the public key (Ed25519), hex.
        signature: hex.
    """

    journal: str
    size: int
    root: str
    chain: str
    ts_ms: int
    key: str
    signature: str


class AuditReport(msgspec.Struct, frozen=True):
    """What a check of the whole journal found.

    Args:
        events: rows that were read.
        erased: those of them whose payload was deleted on purpose.
        heads: signed heads that agree with the journal, those in its file and those outside together, each once.
        outside: heads outside the journal's file that agree; without one, cut-off events cannot be found.
        covered: events up to the newest head outside; what came later is covered by the chain alone.
        faults: what is wrong, one sentence each, at most the first 100.
        doubts: what could not be checked, and how to fix that.
    """

    events: int
    erased: int
    heads: int
    outside: int
    covered: int
    faults: tuple[str, ...]
    doubts: tuple[str, ...]


class Decision(msgspec.Struct, frozen=True):
    """One verdict on one call: what, why, by which rule, who approved it, through which door, what became of it.

    Args:
        seq: of the verdict's event.
        key: the call, within its session.
        arguments: canonical JSON, as far as it was recorded: of the question, else of the run; "" if neither came.
        verdict: allow, ask or deny.
        rule: the name of the rule, as the security model lists it.
        digest: of what was judged.
        further: every other field that the verdict was recorded with, labels and origins for instance.
        approval: the question, "" for none.
        answer: given, denied or lapsed; "" where nobody was asked or nobody answered yet.
        answered_by: the door that the answer came through, or that a grant was made through; "stead" for a lapse.
        answer_seq: of the answer's, or the grant's, event; 0 for none.
        answer_reason: what the person gave as a reason, or why the question lapsed.
        outcome: what came of the call: ok, error, denied, unknown, cancelled; "" while it is open.
        outcome_seq: of that event; 0 for none.
    """

    seq: int
    ts_ms: int
    session: SessionId
    key: CallKey
    tool: str
    arguments: str
    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    risk: str
    digest: CallDigest
    further: Mapping[str, Any]
    approval: ApprovalId
    answer: Literal["given", "denied", "lapsed", ""]
    answered_by: str
    answer_seq: int
    answer_reason: str
    outcome: str
    outcome_seq: int


DECISION_EVENTS = (
    ev.CallJudged,
    ev.ApprovalRequested,
    ev.ApprovalGiven,
    ev.ApprovalDenied,
    ev.ApprovalLapsed,
    ev.GrantMade,
    ev.CallEdited,
    ev.ToolStarted,
    ev.ToolFinished,
)
"""The events that decisions are read from."""

_SHOWN = {"key", "tool", "verdict", "reason", "risk", "digest", "type"}


def decisions(events: Iterable[ev.Event], grants: Iterable[ev.Event] = ()) -> list[Decision]:
    """Every decision of one session, oldest first.

    Args:
        events: the session's, in order; at least those of the types in ``DECISION_EVENTS``.
        grants: those for the session's folder, from the home's stream, in order.
    """
    rows: list[Decision] = []
    of_call: dict[CallKey, list[int]] = {}
    granted = list(grants)
    for event in events:
        match event.body:
            case ev.CallJudged() as judged:
                before = rows[of_call[judged.key][-1]] if judged.key in of_call else None
                of_call.setdefault(judged.key, []).append(len(rows))
                rows.append(_judged(event, judged, before, granted))
            case ev.GrantMade():
                granted.append(event)
            case ev.CallEdited(key=key):  # what was judged of it so far was another call
                of_call.pop(key, None)
            case ev.ApprovalRequested(key=key) | ev.ToolStarted(key=key) | ev.ToolFinished(key=key):
                for place in of_call.get(key, ()):
                    rows[place] = _with_fact(rows[place], event)
            case ev.ApprovalGiven(key=key) | ev.ApprovalDenied(key=key) | ev.ApprovalLapsed(key=key):
                for place in of_call.get(key, ()):
                    rows[place] = _with_answer(rows[place], event)
            case _:
                pass
    return rows


def _judged(event: ev.Event, judged: ev.CallJudged, before: Decision | None, grants: list[ev.Event]) -> Decision:
    decision = Decision(
        seq=event.seq,
        ts_ms=event.ts_ms,
        session=event.session,
        key=judged.key,
        tool=judged.tool,
        arguments=before.arguments if before else "",
        verdict=judged.verdict,
        rule=judged.reason.rule,
        reason=judged.reason.text,
        risk=judged.risk.value,
        digest=judged.digest,
        further={name: value for name, value in msgspec.to_builtins(judged).items() if name not in _SHOWN},
        approval=ApprovalId(""),
        answer="",
        answered_by="",
        answer_seq=0,
        answer_reason="",
        outcome="",
        outcome_seq=0,
    )
    if before and before.answer == "given" and before.digest == judged.digest and judged.verdict == "allow":
        return _answered(decision, before)
    if judged.reason.rule == "granted":
        for grant in reversed(grants):
            made = grant.body
            if isinstance(made, ev.GrantMade) and made.tool == judged.tool and grant.ts_ms <= event.ts_ms:
                return msgspec.structs.replace(decision, answered_by=made.door, answer_seq=grant.seq)
    return decision


def _answered(decision: Decision, before: Decision) -> Decision:
    """A call that is judged again because of an answer carries that answer."""
    return msgspec.structs.replace(
        decision,
        approval=before.approval,
        answer=before.answer,
        answered_by=before.answered_by,
        answer_seq=before.answer_seq,
    )


def _with_fact(decision: Decision, event: ev.Event) -> Decision:
    match event.body:
        case ev.ApprovalRequested(id=id, arguments=arguments) if decision.verdict == "ask" and not decision.approval:
            return msgspec.structs.replace(decision, approval=id, arguments=arguments)
        case ev.ToolStarted(arguments=arguments):
            return msgspec.structs.replace(decision, arguments=decision.arguments or arguments)
        case ev.ToolFinished(outcome=outcome) if not decision.outcome:
            return msgspec.structs.replace(decision, outcome=outcome, outcome_seq=event.seq)
        case _:
            return decision


def _with_answer(decision: Decision, event: ev.Event) -> Decision:
    if decision.answer or decision.verdict != "ask":
        return decision
    match event.body:
        case ev.ApprovalGiven(id=id, door=door) if id == decision.approval:
            return msgspec.structs.replace(decision, answer="given", answered_by=door, answer_seq=event.seq)
        case ev.ApprovalDenied(id=id, door=door, reason=reason) if id == decision.approval:
            answered = msgspec.structs.replace(decision, answer="denied", answered_by=door, answer_seq=event.seq)
            return msgspec.structs.replace(answered, answer_reason=reason)
        case ev.ApprovalLapsed(id=id, why=why) if id == decision.approval:
            answered = msgspec.structs.replace(decision, answer="lapsed", answered_by="stead", answer_seq=event.seq)
            return msgspec.structs.replace(answered, answer_reason=why)
        case _:
            return decision
