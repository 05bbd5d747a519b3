"""Figures about memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.memory.insights import Insights
from tests.runtime.house import House
from tests.storage.drafts import session

ADA = session(1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def test_what_a_run_noted_counts_as_noted_by_itself_and_as_junk_when_it_was_taken_back(house: House) -> None:
    figures = Insights(house.books, house.books.event)
    await house.hears(ADA, "My dentist is Dr Lund.")
    (run,) = await house.run()
    await house.hears(ADA, "I live in Bergen.")
    await house.run()
    found = figures.analytics("", 0, house.now_ms())
    assert (found.inferred, found.junk) == (2, 0)
    await house.take_back(run)
    found = figures.analytics("", 0, house.now_ms())
    assert (found.inferred, found.junk, found.live) == (2, 1, 1)
