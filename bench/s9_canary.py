"""S9: planted secrets against every byte that leaves: how many places one is found in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bar import Bar
from tests.attacks.test_hostile_canaries import leaks


def measure() -> list[Bar]:
    """Places with a secret in them."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        found, size_bytes = leaks(Path(name))
    for line in found:
        print(line)
    said = f"{size_bytes} bytes: prompts, logs, events, answers, the terminal's output, processes, files"
    return [Bar("S9", len(found), "leaks", "0", not found, {}, said)]
