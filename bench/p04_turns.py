"""P4 and P5: CPU of a turn without tools, and of a tool call.

A turn is an objective from its command to its end: one request, one answer. A call's figure is the difference between
runs with and without calls, divided by their number, so it holds the model request that each call leads to, as the
anchors' do; the sandbox's processes are counted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from bench.bar import Bar
from bench.meters import cpu_s
from bench.rig import Rig, commands, plans, reads, rig

TURNS = 40
CALLS = 10
REPEATS = 5
ANCHORS_P4 = {"nanobot": 100.0, "Hermes": 199.0, "OpenClaw": 414.0}
ANCHORS_P5 = {"nanobot": 61.0, "Hermes": 96.0, "OpenClaw": 101.0}


def measure() -> list[Bar]:
    """Medians over repeats."""
    with rig([]) as r:
        turn_ms = _per_run_ms(r, TURNS)
    with rig(reads(CALLS)) as r:
        read_ms = (_per_run_ms(r, TURNS // CALLS) - turn_ms) / CALLS
    with rig(commands(CALLS)) as r:
        shell_ms = (_per_run_ms(r, TURNS // CALLS) - turn_ms) / CALLS
    with rig(plans(CALLS)) as r:
        plan_ms = (_per_run_ms(r, TURNS // CALLS) - turn_ms) / CALLS
    said = f"median of {REPEATS}, daemon and sandbox together, journal durable and encrypted"
    worst = max(read_ms, shell_ms)
    return [
        Bar("P4", turn_ms, "ms CPU", "≤ 20", turn_ms <= 20, ANCHORS_P4, f"{TURNS} objectives of one turn; {said}"),
        Bar(
            "P5", worst, "ms CPU", "≤ 20", worst <= 20, ANCHORS_P5, f"read {read_ms:.1f}, shell {shell_ms:.1f}; {said}"
        ),
        Bar("P5.in-process", plan_ms, "ms CPU", "≤ 10", plan_ms <= 10, {}, f"plan, with its request; {said}"),
    ]


def _per_run_ms(r: Rig, runs: int) -> float:
    r.run()
    return statistics.median(_timed(r.pid, lambda: _several(r, runs)) / runs for _ in range(REPEATS)) * 1000


def _several(r: Rig, runs: int) -> None:
    """Runs one after the other; each is waited for on its stream, so that waiting costs the daemon next to nothing."""
    for _ in range(runs):
        r.run()


def _timed(pid: int, work: Callable[[], None]) -> float:
    before = cpu_s(pid)
    work()
    return cpu_s(pid) - before
