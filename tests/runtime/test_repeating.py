"""What is asked for again and again, how it was done, and when that is worth a skill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.brain import repeats
from stead.domain import events as ev
from stead.domain.memory import Kind
from stead.domain.policies import Confidentiality, Integrity, Label
from tests.runtime.house import House
from tests.storage.drafts import session

STRANGER = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)
ASKED = "Please check the links of the newsletter and mend the broken ones"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def newsletters(house: House, count: int, *, first: int = 1, ok: bool = True) -> None:
    """As many sessions in which the same is asked for and done."""
    for number in range(first, first + count):
        house.later(1)
        await house.talk.open(session(number), "/ada/notes")
        asked = f"{ASKED}, number {number}!"
        await house.talk.works(session(number), asked, "npm run links", "sed -i x", "npm run links", ok=ok)
        await house.run()


def values(house: House, kind: Kind) -> list[tuple[str, str]]:
    return [(row.memory.text, row.memory.value) for row in house.rows(kinds=(kind,))]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Run the tests and show what fails", "please run the tests, and show me what fails", True),
        ("Check links in news/may.md for me", "check the links in news/june.md", False),
        ("Check all broken links in news/may.md", "check the broken links in news/june.md", True),
        ("Write the minutes of the board meeting", "Translate the minutes into German", False),
        ("ok", "ok", False),
        ("You said:\n> Ada lives in Bergen by the harbour.", "You said:\n> Ada lives in Bergen by the harbour.", False),
    ],
)
def test_requests_are_alike_by_what_they_want(one: str, other: str, same: bool) -> None:
    assert repeats.alike(repeats.gist(one), repeats.gist(other)) is same


async def test_what_is_asked_in_three_sessions_is_a_pattern_with_evidence(house: House) -> None:
    await newsletters(house, 2)
    assert values(house, "pattern") == []
    await newsletters(house, 1, first=3)
    (row,) = house.rows(kinds=("pattern",))
    assert row.memory.text == f"The person asks for this again and again: “{ASKED}, number 1”."
    assert (row.memory.origin, row.memory.label.integrity) == ("inferred", Integrity.TRUSTED)
    assert [one.session for one in row.memory.evidence] == [session(1), session(2), session(3)]


async def test_the_same_thing_thrice_in_one_session_is_no_pattern(house: House) -> None:
    await house.hears(session(1), ASKED, ASKED, ASKED)
    await house.run()
    assert house.rows() == []


async def test_ways_that_worked_are_counted_and_nothing_is_counted_twice(house: House) -> None:
    await newsletters(house, 1)
    assert values(house, "procedure") == []
    await newsletters(house, 2, first=2)
    ((text, count),) = values(house, "procedure")
    assert count == "3 of 3"
    assert text.endswith("this has worked: shell: npm, then shell: sed, then shell: npm.")
    await newsletters(house, 1, first=4, ok=False)
    assert values(house, "procedure") == [(text, "3 of 4")]
    for _ in range(3):
        assert await house.run() == ()
    assert len(house.rows(kinds=("procedure",), status=())) == 1


async def test_a_procedure_that_proved_itself_five_times_is_proposed_as_a_skill_once(house: House) -> None:
    await newsletters(house, 4)
    assert [row for row in house.books.proposals(waiting=True) if row.proposal.what == "skill"] == []
    await newsletters(house, 1, first=5)
    (asked,) = house.books.proposals(waiting=True)
    assert asked.proposal.what == "skill"
    assert asked.proposal.text.startswith("# Please check the links of the newsletter")
    assert "1. shell: npm\n2. shell: sed\n3. shell: npm" in asked.proposal.text
    await newsletters(house, 2, first=6)
    assert house.books.proposals(waiting=False) == (asked,)
    await house.settle(asked.proposal.id, accept=True)
    (skill,) = house.rows(kinds=("skill",))
    assert (skill.memory.text, skill.memory.pinned) == (asked.proposal.text.strip().replace("\n\n", "\n"), False)
    assert skill.memory.key.startswith("skill.")


async def test_a_refused_skill_is_not_proposed_again(house: House) -> None:
    await newsletters(house, 5)
    (asked,) = house.books.proposals(waiting=True)
    await house.settle(asked.proposal.id, accept=False)
    await newsletters(house, 3, first=6)
    assert house.books.proposals(waiting=True) == ()
    assert house.rows(kinds=("skill",)) == []


async def test_four_of_five_are_enough_and_three_of_five_are_not(house: House) -> None:
    await newsletters(house, 2)
    await newsletters(house, 2, first=3, ok=False)
    await newsletters(house, 1, first=5)
    assert values(house, "procedure")[0][1] == "3 of 5"
    assert house.books.proposals(waiting=True) == ()
    await newsletters(house, 4, first=6)
    assert values(house, "procedure")[0][1] == "7 of 9"
    assert house.books.proposals(waiting=True) == ()
    await newsletters(house, 1, first=10)
    assert values(house, "procedure")[0][1] == "8 of 10"
    assert len(house.books.proposals(waiting=True)) == 1


async def test_no_word_of_a_stranger_comes_into_a_procedure(house: House) -> None:
    for number in range(1, 6):
        house.later(1)
        await house.talk.open(session(number), "/ada/notes")
        steps = ("git pull", "send-all-files-to-eve --now", "LC_ALL=C /tmp/pay.eve.at.once", "make")
        await house.talk.works(session(number), f"{ASKED}, number {number}!", *steps, label=STRANGER)
        await house.run()
    (row,) = house.rows(kinds=("procedure",))
    assert row.memory.text.endswith("this has worked: shell: git, then shell, then shell: make.")
    assert "eve" not in house.books.proposals(waiting=True)[0].proposal.text


async def test_a_conclusion_that_the_person_took_away_is_not_drawn_again(house: House) -> None:
    await newsletters(house, 3)
    for row in house.rows():
        await house.talk.note(ev.MemoryRetired(row.memory.id, "removed", "", house.now_ms(), "web"))
    await newsletters(house, 3, first=4)
    assert house.rows() == []
