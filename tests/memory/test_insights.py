"""Figures about memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.memory_ports import Growth, RowsWanted, Tally
from stead.domain.policies import Label
from stead.memory.insights import GROWTH, SUMS, Insights
from tests.memory.saying import memory
from tests.runtime.house import House
from tests.storage.drafts import session

ADA = session(1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def test_what_a_run_noted_counts_as_noted_by_itself_and_as_junk_when_it_was_taken_back(house: House) -> None:
    figures = Insights(house.books)
    await house.hears(ADA, "My dentist is Dr Lund.")
    (run,) = await house.run()
    await house.hears(ADA, "My home town is Bergen.")
    await house.run()
    found = figures.analytics("", 0, house.now_ms())
    assert (found.inferred, found.junk) == (2, 0)
    await house.take_back(run)
    found = figures.analytics("", 0, house.now_ms())
    assert (found.inferred, found.junk, found.live) == (2, 1, 1)


async def test_figures_are_what_counting_one_by_one_gives(house: House) -> None:
    figures = Insights(house.books)
    kinds = ("knowledge", "pattern", "person")
    for number in range(1, 10):
        marks = {"kind": kinds[number % 3], "origin": "tool" if number % 2 else "user_said"}
        await house.talk.note(ev.MemoryMade(memory(number, f"Thing {number}.", **marks), "cli"))
        house.later(5)
    for number in (1, 2, 4):
        id = memory(number, "").id
        await house.talk.note(ev.MemoryRetired(id, "removed" if number < 4 else "superseded", "", 0, "cli"))
    await house.hears(ADA, "What is there?")
    told = tuple(ev.Told(memory(number, "").id, "", ("words",)) for number in (3, 5))
    await house.talk.tell(ADA, ev.MemoryRecalled(told, (), Label()))
    since_ms = house.now_ms() - 30 * 86_400_000
    found = figures.analytics("", since_ms, house.now_ms())
    rows, _ = house.books.rows(RowsWanted(status=(), limit=100))
    live = [row for row in rows if row.status == "live"]
    old = [row for row in live if not row.uses and row.recorded_ms < since_ms]
    assert (found.made, found.live, found.inferred) == (9, len(live), 5) == (9, 6, 5)
    assert (found.junk, found.never_used) == (1, len(old)) == (1, 0)
    assert found.kinds == (Tally("knowledge", 3), Tally("person", 2), Tally("pattern", 1))
    assert found.origins == (Tally("tool", 4), Tally("user_said", 2))
    assert found.statuses == (Tally("live", 6), Tally("retired", 2), Tally("superseded", 1))
    assert [row.memory.text for row in found.most_used] == ["Thing 3.", "Thing 5."]
    assert [row.memory.text for row in found.patterns] == ["Thing 7."]
    made = [row.recorded_ms for row in rows if row.recorded_ms >= since_ms]
    assert sum(growth.made for growth in found.growth) == len(made)
    assert found.growth[-1] == Growth("2027-03-01", 0, 3, 1)


async def test_figures_over_all_of_it_read_no_row(house: House) -> None:
    await house.hears(ADA, "My dentist is Dr Lund.")
    index = house.books.index(house.books.places()[0].id)
    assert index is not None
    with index.reading() as connection:
        for statement in (SUMS, *GROWTH):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (1,)).fetchall()
            assert "COVERING INDEX" in plan[0][3], statement
