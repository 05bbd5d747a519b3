"""B1: what forecasts of a run's cost are worth: how many of the runs that followed fell within them, of 80 in 100.

No recording of a person's runs over months exists, so histories are made: costs whose logarithms are normal, skewed,
or of two kinds of days; with rare runs twenty times as dear; that grow, fall, jump when a model's price changes, or
repeat on the days of a week; of 6 to 250 runs. Each is replayed as it came: every run is forecast from those before.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

from bench.bar import Bar
from stead.domain.forecast import LEAST, replayed

LENGTHS = (6, 12, 25, 60, 120, 250)
EACH = 40
"""Histories of each kind and length."""
Draw = Callable[[random.Random, int, int], float]
"""The logarithm of a cost over the usual one: of the run at a place, of so many."""

KINDS: dict[str, Draw] = {
    "log-normal": lambda r, _at, _n: r.gauss(0, 0.6),
    "narrow": lambda r, _at, _n: r.gauss(0, 0.08),
    "skewed": lambda r, _at, _n: r.expovariate(1.2),
    "two kinds": lambda r, _at, _n: r.gauss(1.8 if r.random() < 0.3 else 0.0, 0.25),
    "heavy tail": lambda r, _at, _n: r.gauss(0, 0.4) + (3.0 if r.random() < 0.04 else 0.0),
    "Pareto": lambda r, _at, _n: min(r.paretovariate(1.1), 1e4) ** 0.5,
    "grows": lambda r, at, n: r.gauss(0, 0.4) + 1.5 * at / n,
    "price halves": lambda r, at, n: r.gauss(0, 0.4) - (0.7 if at > n / 2 else 0.0),
    "price triples": lambda r, at, n: r.gauss(0, 0.4) + (1.1 if at > n / 2 else 0.0),
    "week": lambda r, at, _n: r.gauss(0, 0.3) + (1.0 if at % 7 in (0, 1) else 0.0),
    "more erratic": lambda r, at, n: r.gauss(0, 0.2 + 0.8 * at / n),
}


def coverage(draw: Draw, seed: int, lengths: tuple[int, ...] = LENGTHS, each: int = EACH) -> tuple[int, int]:
    """How many runs fell within their forecasts, and how many were forecast."""
    chance, within, of = random.Random(seed), 0, 0
    for runs in lengths:
        for _ in range(each):
            usual = exp(chance.gauss(12, 1.5))  # around 16 cents
            _, _, hits = replayed([round(usual * exp(draw(chance, at, runs))) for at in range(runs)])
            assert len(hits) == runs - LEAST
            within, of = within + sum(hits), of + len(hits)
    return within, of


def measure() -> list[Bar]:
    """The share over all kinds, and that of the worst one."""
    found = {name: coverage(draw, seed) for seed, (name, draw) in enumerate(KINDS.items())}
    shares = {name: 100 * within / of for name, (within, of) in found.items()}
    short = [coverage(draw, seed, lengths=(6, 12)) for seed, draw in enumerate(KINDS.values())]
    of_short = 100 * sum(within for within, _ in short) / sum(of for _, of in short)
    share = 100 * sum(within for within, _ in found.values()) / sum(of for _, of in found.values())
    said = f"of {sum(of for _, of in found.values()):,} runs; of histories of 6 and 12 runs alone {of_short:.1f} %; "
    said += ", ".join(f"{name} {one:.1f} %" for name, one in shares.items())
    holds = all(75 <= one <= 85 for one in (share, of_short, *shares.values()))
    return [Bar("B1", round(share, 1), "% within 80 % intervals", "75 to 85, of each kind", holds, {}, said)]
