"""P7: CPU seconds from the daemon's start until it answers."""

from __future__ import annotations

import statistics

from bench.bar import Bar
from bench.meters import cpu_s
from bench.rig import rig


def measure() -> list[Bar]:
    """Seven starts of a home that has a history."""
    figures: list[float] = []
    with rig([]) as r:
        r.run()
        for _ in range(7):
            r.house.stop()
            r.house.start()
            figures.append(cpu_s(r.pid))
    figure = statistics.median(figures)
    anchors = {"Hermes": 0.86, "nanobot": 1.15, "OpenClaw": 10.8}
    return [
        Bar("P7", figure, "s CPU", "≤ 0.5", figure <= 0.5, anchors, "median of 7 starts, until GET /status answers")
    ]
