"""P16: how long a person waits for an answer while eight sessions work against a model that answers at once.

What the page asks for again and again is asked over HTTP; the command line is ``stead status``, whose time holds the
start of its own interpreter.
"""

from __future__ import annotations

import os
import statistics
import time

from bench.bar import Bar
from bench.r2_stop import busy
from bench.rig import Rig, rig

SESSIONS = 8
ROUNDS = int(os.environ.get("STEAD_BENCH_TRIES", "60"))
PATHS = ("/status", "/objectives", "/approvals", "/objectives/{id}", "/objectives/{id}/steps")
TARGET_MS, MOST_MS = 300, 1000


def measure() -> list[Bar]:
    """Both doors, in turns."""
    asked: list[float] = []
    told: list[float] = []
    with rig([]) as r:
        r.model.script = busy
        ids = [r.give("be busy") for _ in range(SESSIONS)]
        for at in range(ROUNDS):
            asked += [_get_ms(r, path.format(id=ids[at % SESSIONS])) for path in PATHS]
            if at % 4 == 0:
                told.append(_status_ms(r))
            time.sleep(0.25)
        requests = len(r.model.requests())
    said = f"{SESSIONS} busy sessions that made {requests} requests; load {os.getloadavg()[0]:.1f}"
    return [_bar("P16", "API", asked, said), _bar("P16.cli", "CLI", told, said)]


def _bar(id: str, door: str, times: list[float], said: str) -> Bar:
    p99, most = statistics.quantiles(times, n=100, method="inclusive")[98], max(times)
    holds = p99 < TARGET_MS and most < MOST_MS
    conditions = f"{len(times)} answers, median {statistics.median(times):.0f}, slowest {most:.0f} ms; {said}"
    return Bar(id, p99, f"ms p99 by {door}", f"< {TARGET_MS}, none over {MOST_MS}", holds, {}, conditions)


def _get_ms(r: Rig, path: str) -> float:
    began = time.monotonic()
    r.house.get(path)
    return (time.monotonic() - began) * 1000


def _status_ms(r: Rig) -> float:
    began = time.monotonic()
    r.house.cli("status")
    return (time.monotonic() - began) * 1000
