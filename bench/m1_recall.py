"""M1 and M2: how much of what answers a question is among the first ten, beside three other ways of finding it.

M1 is on LoCoMo, conversations among people; M2 on BEAM 100K, chats with an assistant. The weights were chosen by others
on these sets and taken as published, so expect a little less on conversations that nobody looked at. The data are not
ours: ``STEAD_BENCH_DATA`` names a folder with ``memory/locomo-dev.json`` and ``memory/beam.json`` (or a folder of that
name); a set that is not there is not measured, and the bar says so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.bar import Bar
from bench.memory import located, recall
from bench.recalling.figures import Answer, figures, quantile_ms

_BESIDE = {"bm25": "BM25", "rrf": "equal-weight hybrid", "mem0": "mem0 2.2.1"}


def measure() -> list[Bar]:
    """Both sets."""
    return [*_locomo(), *_beam()]


def _locomo() -> list[Bar]:
    path = located("locomo")
    if path is None:
        return _absent("M1", "locomo")
    full, bare = recall(path, "stead", vectors=True), recall(path, "stead", vectors=False)
    chats = recall(path, "stead", vectors=True, chats=True)
    told = _told(full)
    return [
        _bar("M1", full, 0.79, _others(path), told),
        _bar("M1.bare", bare, 0.76, {}, f"words and names alone, reported as degraded; {_told(bare)}"),
        _bar("M1.chats", chats, 0.64, {}, f"fed as chats of a person with an assistant; {_told(chats)}"),
    ]


def _beam() -> list[Bar]:
    path = located("beam")
    if path is None:
        return _absent("M2", "beam")
    full = recall(path, "stead", vectors=True)
    return [_bar("M2", full, 0.64, _others(path), _told(full))]


def _others(path: Path) -> dict[str, float]:
    return {
        title: round(figures(recall(path, name, vectors=name != "bm25")).recall_10, 3)
        for name, title in _BESIDE.items()
    }


def _bar(id: str, given: list[Answer], least: float, beside: dict[str, float], told: str) -> Bar:
    found = figures(given).recall_10
    return Bar(id, found, "recall@10", f"≥ {least}", found >= least, beside, told)


def _told(given: list[Answer]) -> str:
    some = figures(given)
    return (
        f"{some.questions} questions, recall@5 {some.recall_5:.3f}, hit@10 {some.hit_10:.3f}, "
        f"nDCG@10 {some.ndcg_10:.3f}, MRR {some.mrr:.3f}; "
        f"p50 {quantile_ms(given, 0.5):.1f} ms, p95 {quantile_ms(given, 0.95):.1f} ms"
    )


def _absent(id: str, name: str) -> list[Bar]:
    print(f"{id} is not measured: STEAD_BENCH_DATA names no folder with the {name} data", file=sys.stderr)
    return []


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
        print(f"    {bar.conditions}")
