"""S2: what a machine costs beside a bare process: the first command of a fresh one, and each further one of a kept one.

The bare process is the same shell with the same command, without a sandbox; the three are measured in turns.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

import uvloop

from bench.bar import Bar
from tests.machines.bench import SESSION, Bench, open_bench

SPAWNS = 60
PER_SPAWN = 5
COMMAND = "true"
ANCHORS = {"Codex": 100.0, "sandbox-runtime": 700.0}


def measure() -> list[Bar]:
    """Medians over fresh machines."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        first, kept, bare = uvloop.run(_times_ms(Path(name)))
    first_ms, kept_ms, bare_ms = map(statistics.median, (first, kept, bare))
    spawn = first_ms - bare_ms
    said = (
        f"medians of {SPAWNS} fresh machines, each with its first command, and of {len(kept)} commands in kept ones: "
        f"{first_ms:.1f} and {kept_ms:.1f} ms; the same command in a bare shell {bare_ms:.1f} ms"
    )
    over = kept_ms - bare_ms
    return [
        Bar("S2", spawn, "ms over a bare spawn", "≤ 15", spawn <= 15, ANCHORS, said),
        Bar("S2.kept", over, "ms over a bare spawn, in a kept machine", "≤ 2", over <= 2, {}, said),
    ]


async def _times_ms(root: Path) -> tuple[list[float], list[float], list[float]]:
    first: list[float] = []
    kept: list[float] = []
    bare: list[float] = []
    async with open_bench(root) as bench:
        await _timed(bench.run(COMMAND))  # the host is probed once
        for _ in range(SPAWNS):
            await bench.machines.kill(SESSION)
            first.append(await _timed(bench.run(COMMAND)))
            for _ in range(PER_SPAWN):
                bare.append(_bare_ms(bench))
                kept.append(await _timed(bench.run(COMMAND)))
    return first, kept, bare


def _bare_ms(bench: Bench) -> float:
    """As lean as it gets: a shell without a sandbox, waited for by a thread that does nothing else."""
    began = time.perf_counter()
    subprocess.run(
        ["bash", "-c", COMMAND], cwd=bench.project, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    return (time.perf_counter() - began) * 1000


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000
