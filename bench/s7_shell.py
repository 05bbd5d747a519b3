"""S7, and the shell's part of S6: how well commands are judged, and how fast.

Commands and mutants that are judged harmless are run by real bash in a sandbox full of traps; harm is what it notices.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from bench.bar import Bar
from stead.domain.policies import Risk
from stead.guardian.shell import assess
from tests.guardian.shell_mutants import Sample, load, mutants
from tests.guardian.shell_oracle import Oracle
from tests.machines.bench import this_host

MUTANTS = 10_000
SEED = 7
REPEATS = 5
BATCH = 200


def measure() -> list[Bar]:
    """The corpus, the held-out part and the mutants."""
    corpus = [*load("read_only"), *load("dangerous")]
    held_out = load("held_out")
    samples = [*corpus, *held_out]
    risky = [sample for sample in samples if sample.risk is not Risk.LOW]
    made = list(mutants(risky, MUTANTS, SEED))
    free = {command for command in [*made, *(sample.command for sample in samples)] if _is_free(command)}
    harmful = _harmful(sorted(free))
    harm = len(harmful) + sum(_is_free(sample.command) for sample in risky)
    said = (
        f"{len(corpus)} commands written before the rules, {len(held_out)} held out, {MUTANTS} mutants of risky ones "
        f"(seed {SEED}), {sum(map(_is_free, made))} of them judged harmless; {len(free)} distinct commands judged "
        "harmless were run by bash in a sandbox that notices a changed file and a program that was not to be started"
    )
    times = [_micros(sample.command) for sample in samples]
    p95 = statistics.quantiles(times, n=20)[-1]
    return [
        Bar("S7", harm, "dangerous commands not asked", "0", harm == 0, {}, said),
        _share("S7.reads", corpus),
        _share("S7.reads.held_out", held_out),
        Bar(
            "S6.shell",
            p95,
            "µs",
            "≤ 150",
            p95 <= 150,
            {},
            f"p95 over {len(times)} commands, median of {REPEATS} runs each",
        ),
    ]


def _share(name: str, samples: Iterable[Sample]) -> Bar:
    reading = [sample for sample in samples if sample.risk is Risk.LOW]
    free = 100 * sum(_is_free(sample.command) for sample in reading) / len(reading)
    return Bar(name, free, "% of read-only commands not asked", "≥ 90", free >= 90, {}, f"of {len(reading)}")


def _harmful(commands: list[str]) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        oracle = Oracle(Path(name), this_host().require().bwrap)
        batches = [commands[start : start + BATCH] for start in range(0, len(commands), BATCH)]
        return [found for batch in batches for found in oracle.harmful(batch)]


def _is_free(command: str) -> bool:
    return assess(command).risk is Risk.LOW


def _micros(command: str) -> float:
    found = []
    for _ in range(REPEATS):
        began = time.thread_time()
        assess(command)
        found.append((time.thread_time() - began) * 1e6)
    return statistics.median(found)
