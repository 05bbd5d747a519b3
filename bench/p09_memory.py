"""P9: memory of all processes (PSS) with a page watching: before the first message, after 30 turns, after many."""

from __future__ import annotations

import os

from bench.bar import Bar
from bench.meters import pss_mib
from bench.rig import reads, rig

TURNS = int(os.environ.get("STEAD_BENCH_TURNS", "1000"))
"""10,000 in the bar; that takes about half an hour, so fewer by default, said in the conditions."""


def measure() -> list[Bar]:
    """One provider; each turn has a sandboxed read."""
    with rig(reads(1)) as r:
        first = pss_mib(r.pid)
        for _ in range(30):
            r.run()
        after_30 = pss_mib(r.pid)
        for _ in range(TURNS):
            r.run()
        growth = pss_mib(r.pid) - after_30
    said = "daemon, sandbox helpers; one watcher on the live stream"
    return [
        Bar("P9", first, "MiB PSS", "≤ 70", first <= 70, {"Hermes": 83, "nanobot": 83, "OpenClaw": 900}, said),
        Bar(
            "P9.after-30",
            after_30,
            "MiB PSS",
            "≤ 125",
            after_30 <= 125,
            {"Hermes": 184, "nanobot": 131, "OpenClaw": 1584},
            f"{said}; anchors in RSS",
        ),
        Bar(
            "P9.growth",
            growth,
            "MiB PSS",
            "≤ 20",
            growth <= 20,
            {},
            f"{said}; {TURNS} further turns of the bar's 10,000",
        ),
    ]
