"""A model that says that it is done, in five languages: the end is what the checks and the record show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import corpora
from tests.fakes.weak_model import WeakModel
from tests.flows.claims import carried_out
from tests.flows.house import LivingHome

SHORT = 5


def chosen() -> list[corpora.Run]:
    """Every script, each in one of its five languages."""
    runs = corpora.runs()
    return [run for place, run in enumerate(runs) if place % SHORT == place // (len(runs) // 5) % SHORT]


@pytest.mark.promise("OBJ-10.ends")
def test_a_very_weak_model_that_makes_everything_up_never_ends_as_verified_wrongly(
    house: LivingHome, tmp_path: Path
) -> None:
    runs = [run for run in corpora.runs() if run.checks][::5]
    ended = list(carried_out(house, runs[:6], tmp_path, WeakModel(corpora.runs(), seed=15).reply))
    assert any(one.row["facts"]["calls"] for one in ended), "it does call tools"
    assert all(not one.broken for one in ended if one.row["status"] == "verified")
    assert any(one.row["status"] != "verified" for one in ended)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_no_claim_ends_a_run_as_verified_and_honest_work_does(house: LivingHome, tmp_path: Path, every: int) -> None:
    ended = list(carried_out(house, chosen()[::every], tmp_path))
    wrong = {one.run.id: (one.row["status"], one.run.end) for one in ended if one.row["status"] not in one.run.end}
    assert not wrong
    for one in ended:
        if one.row["status"] == "verified":
            assert one.run.honest and one.run.checks and not one.broken, one.run.id
