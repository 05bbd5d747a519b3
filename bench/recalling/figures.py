"""How good the answers to questions are."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import msgspec

from bench.recalling.data import APART, Question


class Figures(msgspec.Struct, frozen=True):
    """Means over questions.

    Args:
        recall_5: the share of the evidence among the first 5.
        recall_10: among the first 10.
        hit_10: whether any of it is among the first 10.
        ndcg_10: the discounted gain of the first 10, by the best that there could be.
        mrr: one over the place of the first.
        questions: how many.
    """

    recall_5: float
    recall_10: float
    hit_10: float
    ndcg_10: float
    mrr: float
    questions: int


class Answer(msgspec.Struct, frozen=True):
    """What was found for a question, best first, and how long it took."""

    question: Question
    found: tuple[str, ...]
    took_ms: float


def figures(answers: Sequence[Answer]) -> Figures:
    """Of all answers but those apart."""
    return _mean([answer for answer in answers if answer.question.category != APART])


def by_category(answers: Sequence[Answer]) -> dict[str, Figures]:
    """Of each category."""
    names = sorted({answer.question.category for answer in answers})
    return {name: _mean([answer for answer in answers if answer.question.category == name]) for name in names}


def quantile_ms(answers: Sequence[Answer], share: float) -> float:
    """The time within which this share of the answers came."""
    times = sorted(answer.took_ms for answer in answers)
    return times[min(len(times) - 1, int(len(times) * share))] if times else math.nan


def _mean(answers: Sequence[Answer]) -> Figures:
    rows = [_of(answer) for answer in answers]
    if not rows:
        return Figures(math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    return Figures(means[0], means[1], means[2], means[3], means[4], len(rows))


def _of(answer: Answer) -> tuple[float, float, float, float, float]:
    wanted, found = set(answer.question.evidence), answer.found
    places = [place for place, id in enumerate(found, 1) if id in wanted]
    best = sum(1 / math.log2(1 + place) for place in range(1, min(10, len(wanted)) + 1))
    gain = sum(1 / math.log2(1 + place) for place in places if place <= 10)
    return (
        sum(place <= 5 for place in places) / len(wanted),
        sum(place <= 10 for place in places) / len(wanted),
        float(any(place <= 10 for place in places)),
        gain / best,
        1 / places[0] if places else 0.0,
    )
