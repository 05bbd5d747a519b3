"""P8: how long a person waits for ``stead --help`` and ``stead status``, wall time from start to exit."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.bar import Bar
from tests.flows.house import LivingHome

REPEATS = 21
TARGET_S = 0.10
ANCHORS = {"Codex": 0.14, "Hermes": 0.71, "nanobot": 2.9}


def measure() -> list[Bar]:
    """The slower of the two medians; the commands take turns, an empty Python between them."""
    with tempfile.TemporaryDirectory() as folder:
        house = LivingHome(Path(folder) / "home")
        house.start()
        try:
            commands = {"help": [*entry(), "--help"], "status": [*entry(), "status"], "python": [_python(), "-c", ""]}
            # As installed: with compiled files, which a development setting may forbid to write.
            environment = {**house.environment, "PYTHONDONTWRITEBYTECODE": ""}
            taken_s: dict[str, list[float]] = {name: [] for name in commands}
            for repeat in range(REPEATS + 2):
                for name, command in commands.items():
                    seconds = _time(command, environment)
                    if repeat >= 2:
                        taken_s[name].append(seconds)
        finally:
            house.stop()
    median = {name: statistics.median(seconds) for name, seconds in taken_s.items()}
    figure = max(median["help"], median["status"])
    least = max(min(taken_s["help"]), min(taken_s["status"]))
    in_ms = {name: f"{seconds * 1000:.0f} ms" for name, seconds in median.items()}
    conditions = (
        f"medians of {REPEATS} in turns: --help {in_ms['help']}, status {in_ms['status']}, an empty Python "
        f"{in_ms['python']}; best of the slower one {least * 1000:.0f} ms; {os.cpu_count()} CPUs"
    )
    return [Bar("P8", round(figure, 4), "s", f"≤ {TARGET_S:.2f}", figure <= TARGET_S, ANCHORS, conditions)]


def _python() -> str:
    return sys.executable


def entry() -> list[str]:
    """The command as a person has it."""
    script = Path(sys.executable).parent / "stead"
    return [str(script)] if script.exists() else [sys.executable, "-m", "stead"]


def _time(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
    return seconds
