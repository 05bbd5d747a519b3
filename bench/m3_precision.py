"""M3: PrecisionMemBench. Exactly the beliefs that belong to a question, none superseded, none of another user."""

from __future__ import annotations

from bench.bar import Bar
from bench.memory import Precision, asked_otherwise, judge
from bench.recalling.precision import DATA

PEERS = {"mem0": 0.06, "Zep": 0.09, "Supermemory": 0.22}
"""The share of exact sets, as the benchmark's authors published it."""


def measure() -> list[Bar]:
    """With vectors and without; and what is told when it is asked for in other words, with vectors."""
    return [*_bars("M3", judge(DATA, vectors=True)), *_bars("M3.bare", judge(DATA, vectors=False)), *_otherwise()]


def _otherwise() -> list[Bar]:
    found = asked_otherwise(vectors=True)
    told = f"asked in near words {found.near:.2f}; {found.hits:.1f} hits a question; memories and questions are ours"
    return [
        Bar("M3.other-words", found.other, "of the memories told", "≥ 0.60", found.other >= 0.60, {}, told),
        Bar("M3.idle", found.idle, "of 20 idle turns told something", "≤ 4", found.idle <= 4, {}, told),
    ]


def _bars(id: str, found: Precision) -> list[Bar]:
    told = (
        f"precision {found.precision:.3f}, recall {found.recall:.3f}; turns of sessions exact {found.exact_turns} of "
        f"{found.turns}; missed: {'; '.join(found.missed) or 'none'}"
    )
    peers = {name: round(share * found.cases, 1) for name, share in PEERS.items()}
    sharp = min(found.precision, found.recall)
    never = found.wrong + found.drifted
    return [
        Bar(id, found.exact, f"of {found.cases} exact", "≥ 70", found.exact >= 70, peers, told),
        Bar(f"{id}.sharp", sharp, "the lesser of precision and recall", "≥ 0.95", sharp >= 0.95, {}, told),
        Bar(f"{id}.never", never, "superseded, of another user, or drifted", "0", never == 0, {}, told),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
        print(f"    {bar.conditions}")
