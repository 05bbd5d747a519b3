"""What a run is likely to cost, from the runs before it, and how often such forecasts were right.

Layer: domain. Pure; asks no model. The interval is one that the next run falls into with the probability ``SHARE``,
whatever the shape of the distribution, as far as the past says anything of the future:

- Of n earlier runs, the next one lies between the k-th smallest and the k-th largest with the probability
  1 - 2k/(n + 1). Where n is too small for that, costs are taken for log-normal, and the interval is Student's.
- Costs drift: only the last ``WINDOW`` runs count, and the probability that is aimed at moves a little with each hit
  and each miss, so that in the long run the share of hits is right even where the past is no guide (adaptive conformal
  inference, Gibbs and Candès 2021).

So the forecast is a replay of the history, and its hits and misses are shown with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1, log1p, sqrt
from statistics import NormalDist, fmean, stdev
from typing import Literal

import msgspec

from stead.domain.objectives import ModelRef
from stead.domain.rows import ObjectiveRow

SHARE = 0.8
LEAST = 4
"""Fewer runs give no forecast."""
WINDOW = 60
LAST = 40
"""So many forecasts of before are counted."""
_STEP = 0.03
_MISS_MOST = 0.6

Basis = Literal["schedule", "folder", "model", ""]
"""The similar runs are those of the same schedule; else in the same folder with the same model; else with it."""
Unit = Literal["usd_micros", "tokens"]


class Run(msgspec.Struct, frozen=True):
    """An objective: what makes it like another one, and what it cost, its subagents included.

    Args:
        schedule: that opened it; "" for none.
        directory: its folder.
        model: the first of its chain, as PROVIDER/MODEL.
        usd_micros, tokens: 0 of one that is to be forecast.
        price_known: whether ``usd_micros`` is all of it.
    """

    schedule: str
    directory: str
    model: str
    usd_micros: int = 0
    tokens: int = 0
    price_known: bool = True


def run_of(row: ObjectiveRow) -> Run:
    """An objective as a run."""
    model = named(row.chain)
    return Run(row.schedule, row.directory, model, row.usd_micros_used, row.tokens_used, row.price_known)


def named(chain: Sequence[ModelRef]) -> str:
    """The first model of a chain, as a run has it; "" for none."""
    return f"{chain[0].provider}/{chain[0].model}" if chain else ""


class Forecast(msgspec.Struct, frozen=True):
    """Between what four of five such runs cost.

    Args:
        basis: which runs are taken for similar; "" where there are too few of any kind, and no figure is given.
        runs: how many they are.
        unit: of the figures; tokens where a price is not known, or nothing is paid.
        low, high: both included.
        within: how many of the last ``of`` such runs fell within what would have been forecast before them.
        of: 40 at most.
    """

    basis: Basis = ""
    runs: int = 0
    unit: Unit = "usd_micros"
    low: int = 0
    high: int = 0
    within: int = 0
    of: int = 0


def forecast(history: Sequence[Run], wanted: Run) -> Forecast:
    """What a run is likely to cost, from those that have ended, the oldest first."""
    for basis, similar in _similar(history, wanted):
        if len(similar) >= LEAST:
            priced = all(run.price_known for run in similar) and any(run.usd_micros for run in similar)
            unit: Unit = "usd_micros" if priced else "tokens"
            costs = [run.usd_micros if priced else run.tokens for run in similar]
            low, high, hits = replayed(costs)
            counted = hits[-LAST:]
            return Forecast(basis, len(similar), unit, low, high, sum(counted), len(counted))
    return Forecast()


def _similar(history: Sequence[Run], wanted: Run) -> Iterator[tuple[Basis, list[Run]]]:
    if wanted.schedule:
        yield "schedule", [run for run in history if run.schedule == wanted.schedule]
    same = [run for run in history if run.model == wanted.model]
    yield "folder", [run for run in same if run.directory == wanted.directory]
    yield "model", same


def replayed(costs: Sequence[int]) -> tuple[int, int, list[bool]]:
    """The interval of the next of these costs, and for each from the fifth on whether it fell within its own.

    Args:
        costs: never negative, in the order in which they came, ``LEAST`` or more.
    """
    miss, hits = 1 - SHARE, list[bool]()
    for at in range(LEAST, len(costs)):
        low, high = interval(costs[max(0, at - WINDOW) : at], miss)
        hits.append(low <= costs[at] <= high)
        miss = min(max(miss + _STEP * (1 - SHARE - (not hits[-1])), 1e-3), _MISS_MOST)
    return *interval(costs[-WINDOW:], miss), hits


def interval(costs: Sequence[int], miss: float) -> tuple[int, int]:
    """Between what the next cost lies, but for a probability of ``miss``; see the head of the module."""
    logs, n = sorted(map(log1p, costs)), len(costs)
    rank = (n + 1) * miss / 2
    if rank >= 1:
        low, high = _at(logs, rank), _at(logs, n + 1 - rank)
    else:
        half = _student(1 - miss / 2, n - 1) * stdev(logs) * sqrt(1 + 1 / n)
        low, high = fmean(logs) - half, fmean(logs) + half
    return max(0, round(expm1(low))), round(expm1(min(high, 60.0)))


def _at(ordered: Sequence[float], rank: float) -> float:
    """The value of a rank from 1 on, between two neighbours where it is no whole number."""
    place = int(rank)
    above = ordered[min(place, len(ordered) - 1)]
    return ordered[place - 1] + (rank - place) * (above - ordered[place - 1])


def _student(probability: float, freedom: int) -> float:
    """The quantile of Student's t, by its expansion around the normal's (Abramowitz and Stegun 26.7.5); freedom ≥ 3."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom**power) for power, term in enumerate(terms, 1))
