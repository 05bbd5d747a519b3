"""kill -9 in the midst of a consolidation: a run is there whole or not at all, and the next one doubles nothing."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests import forks
from tests.runtime.house import House
from tests.storage.drafts import session
from tests.storage.processes import DEADLINE_S

FOLDERS = ("/ada/notes", "/ada/shop")
NAMES = ("Ada", "Bob", "Eva", "Ole", "Lin", "Mia", "Tom")


async def talked(folder: Path) -> None:
    """Seven statements in each of two folders."""
    house = House(folder)
    for number, directory in enumerate(FOLDERS, start=1):
        said = [f"Never call {name}." for name in NAMES]
        await house.hears(session(number), *said, directory=directory)
    house.close()


def killed(folder: Path, step: str, number: int) -> None:
    done = forks.run("tests.runtime.consolidating", [str(folder), step, str(number)], DEADLINE_S)
    assert done.returncode == -signal.SIGKILL, done


@pytest.mark.parametrize(
    ("step", "number", "left"),
    [
        ("statement", 1, 0),
        ("statement", 5, 0),
        ("statement", 9, 1),
        ("statement", 14, 1),
        ("append", 1, 0),
        ("append", 2, 1),
        ("written", 1, 1),
        ("written", 2, 2),
    ],
)
async def test_a_kill_at_each_step_leaves_whole_runs_and_the_next_one_goes_on(
    tmp_path: Path, step: str, number: int, left: int
) -> None:
    await talked(tmp_path)
    killed(tmp_path, step, number)
    house = House(tmp_path)
    assert house.journal.verify_chain().faults == ()
    assert len(house.books.runs(10)) == left
    assert len(house.rows(status=())) == left * len(NAMES)
    await house.run()
    assert len(house.books.runs(10)) == len(FOLDERS)
    assert len(house.rows(status=())) == len(FOLDERS) * len(NAMES)
    assert await house.run() == ()
    house.close()
