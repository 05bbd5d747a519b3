"""Goals that live for weeks: at each review, what the objective reads of where it stands.

Layer: runtime. Facts of the record alone, and the person's own words for their checks; nothing that a model or a page
said.
"""

from __future__ import annotations

from stead.domain import figures
from stead.domain.schedules import Standing
from stead.domain.sessions import Session

_REASONS = {
    "budget": "the budget was used up",
    "context": "the model's window was full",
    "iterations": "the limit of model requests was reached",
    "stall": "it repeated the same call",
    "repetition": "it repeated the same reply",
    "wall_time": "the time limit was reached",
    "calls": "the limit of tool calls was reached",
    "plan": "its own plan is not finished",
    "confirm": "a check needs your answer",
    "model": "the model failed",
}
"""As on the page; of failed checks it says how many hold."""


def found_of(session: Session) -> str:
    """Why it ended without its goal, and how many of its checks hold, in a few words; "" where neither is known."""
    why = _REASONS.get(session.end.reason, "") if session.end else ""
    items = [item for item in session.checks if item.accepted]
    hold = sum(session.results[item.id].holds is True for item in items if item.id in session.results)
    return "; ".join(filter(None, (f"{hold} of {figures.counted(len(items), 'check')} hold" if items else "", why)))


def digest_of(session: Session, standing: Standing, now_ms: int) -> str:
    """What its model reads at a review.

    Args:
        session: as it rests.
        standing: of the schedule that reviews it.
        now_ms: what time it is.
    """
    reviews = [run for run in standing.runs if run.started_ms]
    until_ms = standing.schedule.until_ms
    last_ms = max([session.created_ms, *(run.ended_ms for run in reviews)])
    lines = [
        f"Review {len(reviews) + 1} of this goal, {figures.duration(now_ms - last_ms)} after you last worked on it.",
        *(f"- {_state(session, item.id)}: {item.check.words}" for item in session.checks if item.accepted),
        f"Spent so far: {figures.tokens(session.spent.tokens)} tokens, {figures.money(session.spent.usd_micros)}.",
        f"Reviews go on for {figures.duration(until_ms - now_ms)}." if until_ms else "",
        "Look at what has changed, do what can be done now, and report. What cannot be done yet waits for the next"
        " review; say so in a sentence and stop.",
    ]
    return "\n".join(filter(None, lines))


def _state(session: Session, id: str) -> str:
    result = session.results.get(id)
    return "not checked" if result is None or result.holds is None else "holds" if result.holds else "does not hold"
