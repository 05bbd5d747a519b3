"""What is said of something that is known: what has ended, what has moved, and what "41, not 42" is about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from stead.runtime.consolidation import Consolidation
from tests.runtime.house import House
from tests.storage.drafts import session

ADA, BOB = session(1), session(2)
DAY_MS = 86_400_000


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def heard(house: House, *days: str) -> dict[str, str]:
    """What is known after these were said, each on a day of its own in a session of its own."""
    for number, text in enumerate(days, start=1):
        await house.hears(session(number), text)
        await house.run()
        house.later(1)
    return house.live()


@pytest.mark.parametrize(
    ("before", "ending", "after"),
    [
        ("We use Redis for the cache.", "We no longer use Redis for the cache.", {"project.cache": "not Redis"}),
        ("We use Redis for the cache.", "We don't use Redis for the cache any more.", {"project.cache": "not Redis"}),
        ("I work at Umbra Labs.", "I no longer work at Umbra Labs.", {"person.employer": "not Umbra Labs"}),
        ("I work at Umbra Labs.", "I've left Umbra Labs.", {"person.employer": "not Umbra Labs"}),
        ("I live in Bergen.", "I don't live in Bergen any more.", {"person.city": "not Bergen"}),
        ("My dentist is Dr Lund.", "My dentist is no longer Dr Lund.", {"person.dentist": "not Dr Lund"}),
        ("My dentist is Dr Lund.", "Dr Lund is no longer my dentist.", {"person.dentist": "not Dr Lund"}),
        ("My bank is Fjord Bank.", "My bank is no longer Fjord Bank.", {"person.bank": "not Fjord Bank"}),
        ("The staging server is s1.", "The staging server is no longer s1.", {"project.staging_server": "not s1"}),
        (
            "We use Redis for the cache.",
            "We no longer use Redis.",
            {"project.uses.redis": "no", "project.cache": "not Redis"},
        ),
        ("We use Ruff.", "We stopped using Ruff.", {"project.uses.ruff": "no"}),
        ("We use Yarn.", "We switched from Yarn to Bun.", {"project.uses.yarn": "no", "project.uses.bun": "yes"}),
    ],
)
async def test_what_has_ended_is_not_told_as_if_it_held(
    house: House, before: str, ending: str, after: dict[str, str]
) -> None:
    assert await heard(house, before, ending) == after
    assert not house.books.proposals(waiting=True) or all(
        row.proposal.what == "scope" for row in house.books.proposals(waiting=True)
    )


async def test_what_has_ended_may_begin_again(house: House) -> None:
    said = ("We use Redis for the cache.", "We no longer use Redis for the cache.", "We use Redis for the cache again.")
    assert await heard(house, *said) == {"project.cache": "Redis"}


@pytest.mark.parametrize(
    "ending",
    ["I no longer work at Umbra Labs.", "My dentist is no longer Dr Lund.", "We don't use Redis for the cache."],
)
async def test_the_end_of_something_else_leaves_what_holds(house: House, ending: str) -> None:
    said = "I work at Kestrel Foods. My dentist is Dr Berg. We use Valkey for the cache."
    known = {"person.employer": "Kestrel Foods", "person.dentist": "Dr Berg", "project.cache": "Valkey"}
    assert await heard(house, said, ending) == known


async def test_two_appointments_of_a_kind_are_two(house: House) -> None:
    await house.hears(ADA, "I have a meeting on Friday.", "I have a meeting on Monday.", "I have a meeting on Monday.")
    await house.run()
    assert sorted(house.live().values()) == ["2027-01-18", "2027-01-22"]
    assert not house.books.proposals(waiting=True)


@pytest.mark.parametrize("moved", ["The meeting was moved to Tuesday.", "My meeting is on Tuesday."])
async def test_the_one_that_is_known_is_moved(house: House, moved: str) -> None:
    assert list((await heard(house, "I have a meeting on Friday.", moved)).values()) == ["2027-01-19"]


async def test_of_two_nobody_can_tell_which_is_moved(house: House) -> None:
    await house.hears(ADA, "I have a meeting on Friday.", "I have a meeting on Monday.")
    await house.run()
    house.later(1)
    await house.hears(BOB, "The meeting was moved to Tuesday.")
    await house.run()
    assert sorted(house.live().values()) == ["2027-01-18", "2027-01-19", "2027-01-22"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("My age is 41.", "It should be 42, not 41."),
        ("The database port is 5432.", "It should be 5433, not 5432."),
        ("My favourite colour is green.", "It should be blue, not green."),
        ("My name is Ada.", "It's Eva, not Ada."),
    ],
)
async def test_a_correction_in_talk_of_something_else_corrects_nothing(house: House, known: str, said: str) -> None:
    before = await heard(house, known)
    await house.hears(BOB, "Look at the parser.", "The test fails.", said)
    await house.run()
    assert house.live() == before


async def test_a_persons_figures_are_never_put_right_by_figures_alone(house: House) -> None:
    await house.hears(ADA, "My age is 41.", "It should be 42, not 41.")
    await house.run()
    assert house.live() == {"person.age": "41"}


async def test_a_correction_is_about_what_was_said_or_named_in_that_session_lately(house: House) -> None:
    await house.hears(ADA, "The database port is 5432.", "It's 5433, not 5432.")
    await house.run()
    assert house.live() == {"project.database_port": "5433"}
    house.later(1)
    await house.hears(BOB, "Which database port did you take?", "It's 5434, not 5433.")
    await house.run()
    assert house.live() == {"project.database_port": "5434"}


async def test_a_correction_is_not_about_what_was_said_long_ago(house: House) -> None:
    await house.hears(ADA, "My favourite colour is green.", *(f"Draw box {n}." for n in range(6)), "Blue, not green.")
    await house.hears(ADA, "It's blue, not green.")
    await house.run()
    assert house.live() == {"preference.favourite.colour": "green"}


async def test_tomorrow_is_the_day_after_the_persons_own(house: House) -> None:
    los_angeles = ZoneInfo("America/Los_Angeles")
    house.consolidation = Consolidation(house.memories, house.books, house.material, los_angeles)
    house.talk.now_ms = int(datetime(2027, 1, 15, 17, tzinfo=los_angeles).timestamp() * 1000)
    assert datetime.fromtimestamp(house.now_ms() / 1000, UTC).day == 16
    await house.hears(ADA, "I have a dentist appointment tomorrow at 3pm.")
    await house.run()
    (row,) = house.rows()
    assert row.memory.value == "2027-01-16 15:00"
    over_ms = int(datetime(2027, 1, 17, tzinfo=los_angeles).timestamp() * 1000)
    assert row.memory.expires_ms == over_ms + DAY_MS
    house.books.rebuild()
    assert house.rows() == [row]


async def test_without_a_zone_it_is_this_computers(house: House) -> None:
    house.consolidation = Consolidation(house.memories, house.books, house.material)
    await house.hears(ADA, "I have a dentist appointment today at 15:00.")
    await house.run()
    (row,) = house.rows()
    assert row.memory.value.startswith(f"{datetime.fromtimestamp(house.now_ms() / 1000).astimezone():%Y-%m-%d}")
