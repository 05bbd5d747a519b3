"""P15: CPU of a step of a session that has made a thousand before, against one that has made ten, on both wires.

A step is a request, its answer with one call, and the call, which stays in the process. The histories are those of the
loop itself; where they near the model's window they are trimmed and compacted as in earnest.
"""

from __future__ import annotations

import os
import time

from bench.bar import Bar
from bench.meters import own_cpu_s
from bench.rig import Rig, plans, rig

STEPS = int(os.environ.get("STEAD_BENCH_STEPS", "990"))
"""An objective has at most 1,000 requests."""
SAMPLE = 40
"""Steps over which the CPU is taken."""
TARGET = 1.3


def measure() -> list[Bar]:
    """The ratio, and both figures beside it."""
    ratios, said = [], []
    for preset in ("compatible", "anthropic"):
        with rig(plans(STEPS), preset=preset) as r:
            young_ms, old_ms = _steps_ms(r)
        ratios.append(old_ms / young_ms)
        said.append(f"{preset}: {young_ms:.1f} ms at 10, {old_ms:.1f} at {STEPS}")
    figure = max(ratios)
    conditions = f"{'; '.join(said)}; each over {SAMPLE} steps with an in-process call, the daemon alone"
    return [Bar("P15", round(figure, 2), "times", f"≤ {TARGET}", figure <= TARGET, {}, conditions)]


def _steps_ms(r: Rig) -> tuple[float, float]:
    """CPU of a step after ten steps, and after nearly all of them."""
    id = r.give("grow old")
    marks = {10: 0.0, 10 + SAMPLE: 0.0, STEPS - SAMPLE: 0.0, STEPS: 0.0}
    steps, deadline = 0, time.monotonic() + 600
    while steps < STEPS:
        if time.monotonic() > deadline:
            raise AssertionError(f"only {steps} of {STEPS} steps were made within 600 s")
        for envelope in r.watching.next(1.0):
            if envelope["body"]["type"] == "tool.finished" and envelope["stream"] == id:
                steps += 1
                if steps in marks:
                    marks[steps] = own_cpu_s(r.pid)
    first, then, before, last = marks.values()
    return (then - first) / SAMPLE * 1000, (last - before) / SAMPLE * 1000
