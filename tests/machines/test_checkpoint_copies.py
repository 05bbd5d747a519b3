"""Whatever is done to a folder, a restore brings back everything that its checkpoint had: compared with a copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machines.checkpoint_processes import run
from tests.machines.folder_copies import compare_many


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where that can be, as no disk is to be waited for; a user who is not root may reach it."""
    memory = "/dev/shm"
    place = Path(tempfile.mkdtemp(prefix="stead-test-", dir=memory if os.access(memory, os.W_OK) else None))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def test_whatever_was_done_since_a_restore_brings_back_all_that_a_copy_has(place: Path) -> None:
    compare_many(place, 60)


def test_so_it_does_for_a_user_whom_modes_keep_out(place: Path) -> None:
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    done = run("copies", place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["compared"]
