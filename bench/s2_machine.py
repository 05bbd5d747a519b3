"""S2: what a machine costs beside a bare process, each further command in a transaction of its own, and landing.

The bare process is the same shell with the same command, without a sandbox; the three are measured in turns.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

import uvloop

from bench.bar import Bar
from stead.machines.landing import land
from stead.machines.space import Space
from tests.machines.bench import SESSION, Bench, open_bench

SPAWNS = 60
PER_SPAWN = 5
COMMAND = "true"
REPEATS = 15
SMALL, LARGE = 30, 300_000
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
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=Path.cwd()) as name:
        ten_ms, many_s, small_ms, large_ms = uvloop.run(_landings(Path(name)))
    ratio = large_ms / small_ms
    sizes = f"{large_ms:.1f} ms in a folder of {LARGE:,} files, {small_ms:.1f} in one of {SMALL}; medians"
    return [
        Bar("S2", spawn, "ms over a bare spawn", "≤ 15", spawn <= 15, ANCHORS, said),
        Bar("S2.transaction", over, "ms over a bare spawn, in a transaction", "≤ 15", over <= 15, {}, said),
        Bar(
            "S2.land10", ten_ms, "ms to land 10 changed files", "≤ 10", ten_ms <= 10, {}, "median of the landings alone"
        ),
        Bar("S2.land10k", many_s, "s to land 10,000 changed files", "≤ 3", many_s <= 3, {}, "median of three"),
        Bar("S2.large", ratio, "times as long in a large folder", "≤ 1.2", ratio <= 1.2, {}, sizes),
    ]


async def _landings(root: Path) -> tuple[float, float, float, float]:
    """Milliseconds for ten files, seconds for 10,000; milliseconds of a command in a small and in a large folder."""
    async with open_bench(root) as bench:
        ten = [await _landing_s(bench, 10) for _ in range(REPEATS)]
        many = [await _landing_s(bench, 10_000) for _ in range(3)]
    times = []
    for files in (SMALL, LARGE):
        (root / str(files)).mkdir()
        async with open_bench(root / str(files)) as bench:
            for number in range(files):
                folder = bench.project / str(number // 1000)
                folder.mkdir(exist_ok=True)
                (folder / str(number)).touch()
            await bench.run("echo > changed")
            times.append(statistics.median([await _timed(bench.run("echo > changed")) for _ in range(REPEATS)]))
    return statistics.median(ten) * 1000, statistics.median(many), times[0], times[1]


async def _landing_s(bench: Bench, files: int) -> float:
    """Have a command change files of a folder, and land them by hand."""
    bench.machines.bind(SESSION, str(bench.project), writable=True, hold="all")
    script = f"import os; os.makedirs('{files}', exist_ok=True)\n"
    script += f"for number in range({files}): open(f'{files}/{{number}}', 'w').write(os.urandom(500).hex())"
    await bench.run(f'python3 -c "{script}"')
    space = Space(bench.home, SESSION)
    space.note({}, whole=False, began_ns=0)
    began = time.perf_counter()
    landing = await asyncio.to_thread(land, space, {}, "obeyed")
    took = time.perf_counter() - began
    assert landing.count >= files, landing
    return took


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
