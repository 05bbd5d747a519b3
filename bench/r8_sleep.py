"""R8: after the host has slept, models, sockets, timers and machines are at work again within seconds.

The whole daemon and all that it started are stopped and go on, with the daemon's clock moved by the sleep's length.
At that moment a model's reply is under way, whose stream is lost without a word where the sleep is longer than a
connection lives; a machine is open; a watcher holds a socket; a schedule has due times in the sleep. Well again is:
another request has been answered, a command has run in the machine, the watcher has seen the end, and the due times are
settled, each once. How it is done is in ``tests/flows/asleep.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bar import Bar
from tests.flows.asleep import Sleeper

SLEEPS = {"1 s": 1, "1 min": 60, "1 h": 3600, "8 h": 8 * 3600, "1 d": 86_400, "3 d": 3 * 86_400}


def measure() -> list[Bar]:
    """Every length of sleep; the slowest waking counts."""
    took: dict[str, float] = {}
    flaws: list[str] = []
    for name, sleep_s in SLEEPS.items():
        with tempfile.TemporaryDirectory(prefix="stead-bench-") as folder:
            (project := Path(folder) / "project").mkdir()
            sleeper = Sleeper(Path(folder), project, sleep_s)
            sleeper.house.start()
            try:
                took[name], told = sleeper.go()
            finally:
                sleeper.house.stop()
        if told["lost"] or told["doubled"] or told["ran"] != 1 or told["ended"][0] not in ("answered", "unverified"):
            flaws.append(f"{name}: {told}")
    slowest = max(took.values())
    said = ", ".join(f"{name} asleep: {seconds:.1f} s" for name, seconds in took.items())
    said += (
        f"; {len(flaws)} with a due time lost or doubled, or work that did not end{''.join(f'; {f}' for f in flaws)}"
    )
    return [
        Bar("R8", round(slowest, 1), "s until all is well after a sleep", "< 5", slowest < 5 and not flaws, {}, said)
    ]
