"""Starting the workers, and ending them for certain."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DEADLINE_S = 60


def command(name: str, folder: Path, *numbers: int) -> list[str]:
    return [sys.executable, "-m", "tests.storage.workers", name, str(folder), *map(str, numbers)]


@contextmanager
def worker(name: str, folder: Path, *numbers: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(name, folder, *numbers), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        with process:
            yield process
    finally:
        process.kill()
        process.wait(DEADLINE_S)


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
