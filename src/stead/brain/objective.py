"""When a goal counts as met: the contract made from it, and the check of a model's last word against the journal.

Layer: brain. Nothing here asks a model: what a goal names as its result, and what a reply claims, is held against the
calls that really ran. A wrong guess costs one question back, and ``send_backs`` bounds those.
"""

from __future__ import annotations

import re

from stead.brain import claims, constraints
from stead.domain.effects import Effect, Finish, Record
from stead.domain.events import Contract, EvidenceWanted, NoticeGiven
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.messages import AssistantMessage, Text
from stead.domain.sessions import Action, Session

_CLAUSE = lazy_pattern(r"\s*(?:[;\n]|\.\s|,|\band then\b|\bthen\b|\band\b(?=\s+(?:\w+ly\s+)?[a-z]+\s))\s*", re.I)
_NEGATED = lazy_pattern(r"\b(?:not|never|without|don't|avoid|instead of)\b", re.I)
_POLITE = r"^(?:\W*(?:please|also|finally|first|next|now|to|you|should|must|can|could)\s+)*"
_WRITES = lazy_pattern(rf"{_POLITE}(?:write|create|save|store|put|record|generate|produce)\b", re.I)
_MOVES = lazy_pattern(rf"{_POLITE}(?:export|append|copy|add|output|list|count|summari[sz]e)\b", re.I)
_NAMED = r"\s+(?:the\s+|a\s+|an\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?$"
_TO = lazy_pattern(rf"\b(?:to|into|as){_NAMED}", re.I)
_IN = lazy_pattern(rf"\b(?:in|at|write|create|generate|produce){_NAMED}", re.I)
"""Only what is written is also written "in" or "at" a place; lines are counted in one."""
_UNMET = lazy_pattern(r"\bthe goal (?:is|was) not met\b|^\W*not met\b", re.I | re.MULTILINE)
"""A model that says itself that it did not get there; it is believed."""
_RUN = lazy_pattern(r"\b(?:run|execute)\s+`([^`\n]{1,200})`", re.I)


def contract(goal: str) -> Contract:
    """A goal, with what it says itself must have happened: files that it has written, commands that it has run."""
    wanted: list[EvidenceWanted] = []
    for clause in _CLAUSE.split(goal[:20_000]):
        if not clause or _NEGATED.search(clause):
            continue
        wanted.extend(EvidenceWanted("ran", command.split()[0]) for command in _RUN.findall(clause))
        writes = _WRITES.search(clause)
        if not writes and not _MOVES.search(clause):
            continue
        for path in claims.PATH.finditer(clause):
            before = clause[: path.start()].rstrip("`'\" ") + " "
            if _TO.search(before) or (writes and _IN.search(before)):
                wanted.append(EvidenceWanted("wrote", claims.clean(path.group())))
    return Contract(goal, tuple(dict.fromkeys(wanted)))


def judge(session: Session) -> Effect:
    """What follows from a reply without calls: the end, or a question back."""
    text = last_text(session)
    if session.spec.contract is None:
        return _judge_turn(session, text)
    if session.cut_off and session.send_backs < session.spec.limits.send_backs:
        return Record((NoticeGiven("Your reply was cut off. Say it again, shorter.", "completion"),))
    if session.cut_off:
        return Finish("failed", "model", "Stopped: the model's replies were cut off again and again.")
    missing = [want for want in session.spec.contract.evidence if not _shown(want, session.actions)]
    if refused := [want for want in missing if _denied(want, session.actions)]:
        named = ", ".join(repr(want.subject) for want in refused)
        return Finish("failed", "denied", f"{text}\n\nNot done, because it was refused: {named}.".strip())
    if _UNMET.search(text):
        return Finish("failed", "unmet", text)
    unsupported = claims.unsupported(text, session.actions)
    broken = constraints.broken(session.spec.constraints, session.actions)
    if text and not missing and not unsupported and not broken:
        return Finish("completed", "done", text)
    if session.send_backs >= session.spec.limits.send_backs:
        return Finish("failed", "evidence", _give_up(missing, unsupported, broken))
    return Record((_send_back(missing, unsupported, broken),))


def _judge_turn(session: Session, text: str) -> Effect:
    """A turn of an interactive session owes nothing but honesty: what it claims must have happened."""
    unsupported = claims.unsupported(text, session.actions)
    if (text and not unsupported and not session.cut_off) or session.send_backs >= session.spec.limits.send_backs:
        doubt = f"\n\n[Stead: no tool result shows this: {'; '.join(unsupported)}]" if unsupported else ""
        return Finish("completed", "unsupported" if unsupported else "done", f"{text}{doubt}")
    if session.cut_off:
        return Record((NoticeGiven("Your reply was cut off. Say it again, shorter.", "completion"),))
    return Record((_send_back([], unsupported, ()),))


def last_text(session: Session) -> str:
    """The words of the last reply, or "" when the last message is none."""
    last = session.messages[-1]
    if not isinstance(last, AssistantMessage):
        return ""
    return "".join(part.text for part in last.parts if isinstance(part, Text)).strip()


def _send_back(missing: list[EvidenceWanted], unsupported: tuple[str, ...], broken: tuple[str, ...]) -> NoticeGiven:
    if broken:
        said = "; ".join(broken)
        return NoticeGiven(f"A constraint is broken: {said}. Put it right, and say so in your report.", "completion")
    if unsupported:
        said = "; ".join(claim.rstrip(".") for claim in unsupported)
        return NoticeGiven(f"No tool result shows this: {said}. Do it with a tool, or correct your report.", "claim")
    if missing:
        named = ", ".join(_wanted(want) for want in missing)
        return NoticeGiven(f"The goal is not met: {named}. Go on, or say why it cannot be done.", "completion")
    return NoticeGiven("Your reply was empty. Go on with the goal, or report.", "completion")


def _give_up(missing: list[EvidenceWanted], unsupported: tuple[str, ...], broken: tuple[str, ...]) -> str:
    parts = [
        *(f"constraint broken: {breach}" for breach in broken),
        *(f"claimed without evidence: {claim}" for claim in unsupported),
        *(_wanted(want) for want in missing),
    ]
    return f"Stopped: sent back too often; {'; '.join(parts) or 'the replies were empty'}."


def _wanted(want: EvidenceWanted) -> str:
    return f"{want.subject!r} was not written" if want.kind == "wrote" else f"{want.subject!r} was not run"


def _shown(want: EvidenceWanted, actions: list[Action]) -> bool:
    if want.kind == "ran":  # a command that failed ran all the same
        return any(action.outcome in ("ok", "error") and claims.ran(action, want.subject) for action in actions)
    return want.subject in claims.written(actions)


def _denied(want: EvidenceWanted, actions: list[Action]) -> bool:
    wanted = claims.would_write if want.kind == "wrote" else claims.ran
    return any(action.outcome == "denied" and wanted(action, want.subject) for action in actions)
