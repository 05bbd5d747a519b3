"""ACP: how long an editor waits for the first answer of ``stead acp``, wall time from start to ``initialize``."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench.bar import Bar
from bench.p08_cli import entry
from tests.flows.house import LivingHome

REPEATS = 21
TARGET_S = 0.5
_HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def measure() -> list[Bar]:
    """The median, and the slowest; no daemon runs, as none is asked."""
    with tempfile.TemporaryDirectory() as folder:
        house = LivingHome(Path(folder) / "home")
        environment = {**house.environment, "PYTHONDONTWRITEBYTECODE": ""}
        taken_s = [_time([*entry(), "acp"], environment) for _ in range(REPEATS + 2)][2:]
    figure = statistics.median(taken_s)
    conditions = f"median of {REPEATS}; the slowest {max(taken_s) * 1000:.0f} ms; {os.cpu_count()} CPUs"
    return [Bar("ACP", round(figure, 4), "s", f"≤ {TARGET_S:.2f}", figure <= TARGET_S, {"SDK": 1.6}, conditions)]


def _time(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write(json.dumps(_HELLO).encode() + b"\n")
        agent.stdin.flush()
        line = agent.stdout.readline()
        seconds = time.perf_counter() - began
        agent.stdin.close()
    if json.loads(line)["result"]["protocolVersion"] != 1:
        raise RuntimeError(f"{command} answered {line!r}")
    return seconds
