"""P6: the gap between a model's answer and the next request, per tool call, as the model server sees it."""

from __future__ import annotations

import statistics

from bench.bar import Bar
from bench.rig import reads, rig

ANCHORS = {"Claude Code": 40.0, "Codex": 62.0, "OpenClaw": 62.0, "nanobot": 112.0, "Hermes": 220.0}
CALLS = 25
RUNS = 12


def measure() -> list[Bar]:
    """Gaps over sandboxed reads, one session at a time."""
    gaps: list[float] = []
    with rig(reads(CALLS)) as r:
        r.run()
        for _ in range(RUNS):
            at = len(r.model.arrived_s)
            r.run()
            arrived, answered = r.model.arrived_s[at + 1 :], r.model.answered_s[at:]
            gaps += [(later - earlier) * 1000 for earlier, later in zip(answered, arrived, strict=False)]
    p50 = statistics.median(gaps)
    p99 = statistics.quantiles(gaps, n=100)[98]
    said = f"{len(gaps)} sandboxed reads, {CALLS} a run, two durable commits in each gap"
    return [
        Bar("P6", p50, "ms p50", "≤ 10", p50 <= 10, ANCHORS, said),
        Bar("P6.p99", p99, "ms p99", "≤ 30", p99 <= 30, {}, said),
    ]
