"""Starting the workers of checkpoints, and ending them for certain."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEADLINE_S = 60


def command(name: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.machines.checkpoint_workers", name, str(folder)]


def run(name: str, folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *command(name, folder)], cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )


@contextmanager
def worker(name: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(name, folder), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        with process:
            yield process
    finally:
        process.kill()
        process.wait(DEADLINE_S)
