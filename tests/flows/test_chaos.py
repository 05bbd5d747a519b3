"""The power goes out: the short form of the chaos bench. ``make bench BARS=R1`` is the long one."""

from __future__ import annotations

import pytest

from bench.r1_chaos import Tally, at_commits, at_random
from tests.promises import promise

FATES = ("after:3", "after:4", "before:5", "after:5")
"""Around the first request and the first call, which starts with the fourth commit and ends with the fifth."""


pytestmark = pytest.mark.timeout(400)  # daemons start dozens of times, which a busy machine makes slow


def require_unharmed(tally: Tally) -> None:
    """Every run went on by itself, nothing happened twice, and what is missing is called unknown."""
    assert tally.completed == tally.runs
    assert tally.repeated == 0
    assert tally.unexplained == 0


@promise("OBJ-6.resume", "OBJ-6.once", "OPS-2.repair")
def test_runs_survive_kills_at_random_instants() -> None:
    tally = at_random(4, forked=True)
    assert tally.kills == 4
    require_unharmed(tally)
    assert tally.resume_s  # something was open when a daemon started again, and went on


@promise("OBJ-6.resume", "OBJ-6.once")
def test_runs_survive_kills_between_a_fact_and_the_next() -> None:
    tally = at_commits(FATES, forked=True)
    assert tally.kills == len(FATES)
    require_unharmed(tally)
    assert tally.unknown  # a call that had started is said to be of unknown outcome


def test_a_journal_that_forgets_what_started_fails_the_same_requirements() -> None:
    tally = at_commits(["before:5"], env={"STEAD_CHAOS": "forget"}, forked=True)
    assert tally.kills == 1
    assert tally.repeated > 0
