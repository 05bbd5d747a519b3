"""S9: planted secrets against every byte that leaves: how many places one is found in, while what needs one works.

Two runs: a session that looks for what the host has, and one that is shown every value in every form, beside a task
that cannot be done without a value, which a server must get through the way out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bar import Bar
from tests.attacks.test_hostile_canaries import leaks
from tests.flows import canaries


def measure() -> list[Bar]:
    """Places with a secret in them."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        searched, dragged = Path(name) / "searched", Path(name) / "dragged"
        searched.mkdir()
        dragged.mkdir()
        found, size_bytes = leaks(searched)
        watched = canaries.run(dragged)
    found += canaries.leaks(watched.sinks)
    for line in found:
        print(line)
    delivered = watched.keys[:1] == [canaries.SHOP] and canaries.SHOP not in watched.keys[1:]
    size_bytes += watched.size_bytes
    said = (
        f"{size_bytes} bytes: prompts, logs, events, answers, the terminal's output, processes, files; "
        f"the task that needs a value {'succeeded' if delivered else 'FAILED'}"
    )
    return [Bar("S9", len(found), "leaks", "0", not found and delivered, {}, said)]
