"""A model that says that it is done, in five languages: the end is what the checks and the record show."""

from __future__ import annotations

from pathlib import Path

from tests import corpora
from tests.flows.claims import carried_out
from tests.flows.house import LivingHome

SHORT = 5


def chosen() -> list[corpora.Run]:
    """Every script, each in one of its five languages."""
    runs = corpora.runs()
    return [run for place, run in enumerate(runs) if place % SHORT == place // (len(runs) // 5) % SHORT]


def test_no_claim_ends_a_run_as_verified_and_honest_work_does(house: LivingHome, tmp_path: Path) -> None:
    ended = list(carried_out(house, chosen(), tmp_path))
    wrong = {one.run.id: (one.row["status"], one.run.end) for one in ended if one.row["status"] not in one.run.end}
    assert not wrong
    for one in ended:
        if one.row["status"] == "verified":
            assert one.run.honest and one.run.checks and not one.broken, one.run.id
