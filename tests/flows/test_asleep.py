"""A host that sleeps and wakes: models, sockets, timers and machines go on by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.asleep import Sleeper
from tests.promises import promise


@promise("OBJ-6.sleep")
@pytest.mark.parametrize("sleep_s", [pytest.param(1, marks=pytest.mark.long), 3 * 86_400])
def test_after_a_sleep_work_goes_on_within_seconds_and_no_due_time_is_lost_or_doubled(
    tmp_path: Path, project: Path, sleep_s: float
) -> None:
    sleeper = Sleeper(tmp_path, project, sleep_s)
    sleeper.house.start()
    try:
        took_s, told = sleeper.go()
    finally:
        sleeper.house.stop()
    assert (told["lost"], told["doubled"], told["ran"]) == (0, 0, 1)
    assert told["ended"][0] in ("answered", "verified", "unverified") and len(told["ended"]) == 1
    written = sorted(path.name for path in project.glob("*.txt"))
    assert len(written) == (2 if sleep_s > 10 else 1), written
    assert took_s < 15, "a bound for a busy computer; the bench has the figure"
