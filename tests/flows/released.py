"""The release of today's sources; ``STEAD_RELEASE`` names one that was just made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD_S = 1800


def make(out: Path, work: Path) -> Path:
    """Make a release; gives its folder."""
    words = [sys.executable, "scripts/release.py", "--out", str(out), "--work", str(work)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the release."""
    if there := os.environ.get("STEAD_RELEASE"):
        return Path(there).absolute()
    folder = tmp_path_factory.mktemp("release")
    (folder / "work").mkdir()
    return make(folder / "out", folder / "work")
