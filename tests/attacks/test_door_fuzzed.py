"""The API against its own document: made-up requests to every operation of a running daemon (bar S12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.fuzzing import NOT_FUZZED, fuzz
from tests.flows.house import LivingHome
from tests.promises import promise


@pytest.fixture
def house(tmp_path: Path) -> Iterator[LivingHome]:
    """A running daemon of a fresh home."""
    living = LivingHome(tmp_path / "home", forked=True)
    living.start()
    yield living
    living.stop()


BOUNDS = ("coverage",)
"""Of each operation every bound and every wrong type; requests by chance come on top in the long form."""


@pytest.mark.timeout(420)
@promise("API-1.rest")
@pytest.mark.parametrize(
    ("phases", "apart"),
    [(BOUNDS, 4), pytest.param((*BOUNDS, "fuzzing"), 1, marks=pytest.mark.long)],
    ids=["bounds", "by chance"],
)
def test_every_answer_is_what_the_document_says_and_nothing_breaks(
    house: LivingHome, tmp_path: Path, phases: tuple[str, ...], apart: int
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()

    found = fuzz(house, folder, examples=3, seed=7, phases=phases, timeout_s=400, apart=apart)

    assert found.failures == (), found.said
    assert found.operations == found.documented - len(NOT_FUZZED)
    assert found.cases > 1000
    assert house.get("/status")["version"], "the daemon still answers"
    assert "Traceback" not in house.log_tail()
