"""Taking a run of consolidation back, and what people answer to its proposals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import GLOBAL, Memory, MemoryId, ProposalId, RunId, Scope, workspace_place
from stead.domain.sessions import STEAD
from tests.memory.saying import memory
from tests.runtime.house import House
from tests.storage.drafts import DAY_MS, session

ADA, BOB = session(1), session(2)
HERE = workspace_place(DEFAULT_WORKSPACE, "/ada/notes")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def dentists(house: House, *names: str) -> list[ev.MemoryConsolidated]:
    """One run for each name, days apart."""
    runs: list[ev.MemoryConsolidated] = []
    for name in names:
        house.later(2)
        await house.hears(ADA, f"My dentist is {name}.")
        runs += await house.run()
    return runs


async def appointment(house: House) -> Memory:
    """One that is over in a day."""
    await house.hears(ADA, "Hello.")
    await house.run()
    visit = memory(1, "The dentist is seen on Friday.", key="event.dentist", value="on Friday")
    visit = replace(visit, scope=Scope("private", HERE), expires_ms=house.now_ms() + DAY_MS)
    await house.talk.note(ev.MemoryMade(visit, "stead", RunId("c_1")))
    return visit


async def test_a_diff_tells_what_was_before_and_after(house: House) -> None:
    first, second = await dentists(house, "Dr Lund", "Dr Berg")
    (made,) = (await house.runs.diff(first.run)).changed
    assert (made.how, made.before) == ("made", None)
    diff = await house.runs.diff(second.run)
    assert [(one.how, one.why) for one in diff.changed] == [("made", ""), ("retired", "superseded")]
    assert diff.changed[1].before == made.after
    assert (diff.run, diff.reverted_by) == (second, "")


async def test_a_run_that_is_taken_back_leaves_what_was_before_it(house: House) -> None:
    await dentists(house, "Dr Lund")
    before = house.rows()
    (run,) = await dentists(house, "Dr Berg")
    back = await house.take_back(run)
    assert house.rows() == before
    assert (back.reverted, back.retired, back.by) == (run.run, 1, "person")
    assert (await house.runs.diff(run.run)).reverted_by == back.run
    assert await house.run() == ()


async def test_a_run_is_taken_back_once_and_a_taking_back_not_at_all(house: House) -> None:
    (run,) = await dentists(house, "Dr Lund")
    back = await house.take_back(run)
    with pytest.raises(Conflict, match="was taken back before"):
        await house.take_back(run)
    with pytest.raises(Conflict, match=r"took .* back; `stead memory restore`"):
        await house.take_back(back)
    with pytest.raises(NotFound, match="there was no consolidation"):
        await house.runs.diff(RunId("c_none"))


async def test_what_was_built_on_a_run_stays_when_it_is_taken_back(house: House) -> None:
    _, second, _ = await dentists(house, "Dr Lund", "Dr Berg", "Dr Holm")
    await house.take_back(second)
    rows = {row.memory.value: row for row in house.rows(status=())}
    assert house.live() == {"person.dentist": "Dr Holm"}
    assert (rows["Dr Berg"].status, rows["Dr Lund"].status) == ("retired", "superseded")
    assert rows["Dr Lund"].superseded_by == rows["Dr Holm"].memory.id
    assert rows["Dr Lund"].memory.valid_to_ms == rows["Dr Holm"].memory.valid_from_ms


async def test_what_was_said_again_after_a_run_was_taken_back_is_remembered_again(house: House) -> None:
    (run,) = await dentists(house, "Dr Lund")
    await house.take_back(run)
    assert house.live() == {}
    await dentists(house, "Dr Lund")
    assert house.live() == {"person.dentist": "Dr Lund"}


async def test_what_the_person_said_since_is_not_contradicted_by_what_a_taking_back_brings_back(house: House) -> None:
    _, run = await dentists(house, "Dr Lund", "Dr Berg")
    (berg,) = house.rows()
    holm = memory(900, "My dentist is Dr Holm.", key="person.dentist", value="Dr Holm", scope=berg.memory.scope)
    holm = replace(holm, valid_from_ms=house.now_ms())
    await house.talk.note(ev.MemoryRetired(berg.memory.id, "removed", "", house.now_ms(), "web"))
    await house.talk.note(ev.MemoryMade(holm, "web"))
    await house.take_back(run)
    assert house.live() == {"person.dentist": "Dr Holm"}
    lund = next(row for row in house.rows(status=()) if row.memory.value == "Dr Lund")
    assert (lund.status, lund.superseded_by) == ("superseded", holm.id)


async def test_what_the_person_marked_since_is_theirs_and_stays_in_its_place(house: House) -> None:
    _, run = await dentists(house, "Dr Lund", "Dr Berg")
    (row,) = house.rows()
    pinned = replace(row.memory, pinned=True)
    await house.talk.note(ev.MemoryAmended(pinned, "web"))
    await house.take_back(run)
    assert [row.memory for row in house.rows()] == [pinned]


async def test_what_time_ended_comes_not_back_beside_what_was_said_since(house: House) -> None:
    old = await appointment(house)
    house.later(4)
    (run,) = await house.run()
    new = replace(old, id=MemoryId("m_0000000000000900"), value="in May", text="The dentist is seen in May.")
    await house.talk.note(ev.MemoryMade(replace(new, expires_ms=0), "web"))
    await house.take_back(run)
    assert [row.memory.value for row in house.rows()] == ["in May"]


async def test_what_only_faded_since_goes_with_its_run(house: House) -> None:
    guess = memory(900, "Ada asks for tests.", origin="inferred", confidence=0.7, scope=Scope("workspace", HERE))
    await house.hears(ADA, "Hello.")
    await house.talk.note(ev.MemoryMade(guess, "stead", RunId("c_1")))
    closing = ev.MemoryConsolidated(RunId("c_1"), HERE, house.journal.head(), 1, 1, 0, 0, 0, "rules")
    await house.talk.note(closing, ev.MemoryAmended(replace(guess, confidence=0.3), "stead", RunId("c_2")))
    await house.take_back(closing)
    assert house.rows() == []


async def test_as_many_are_said_to_be_seen_further_as_are(house: House) -> None:
    await house.hears(ADA, "Always run the tests first.", "Never push on Fridays.")
    await house.run()
    (asked,) = house.books.proposals(waiting=True)
    gone = asked.proposal.memories[0]
    await house.talk.note(ev.MemoryRetired(gone, "removed", "", house.now_ms(), "web"))
    assert await house.settle(asked.proposal.id, accept=True) == "1 are seen further now"


async def test_what_time_ended_can_be_had_back_and_does_not_end_again(house: House) -> None:
    await appointment(house)
    guess = memory(900, "Ada asks for tests.", origin="inferred", confidence=0.7, scope=Scope("workspace", HERE))
    await house.talk.note(ev.MemoryMade(guess, "stead"))
    house.later(70)
    (run,) = await house.run()
    assert (await house.runs.diff(run.run)).changed[0].why == "expired"
    await house.take_back(run)
    assert {row.memory.key for row in house.rows()} == {"event.dentist", ""}
    house.later(1)
    assert await house.run() == ()


async def test_what_was_forgotten_since_stays_out_of_diffs_and_reverts(house: House) -> None:
    (run,) = await dentists(house, "Dr Lund")
    (row,) = house.rows()
    await house.talk.note(ev.ForgettingBegun((row.memory.id,), (), (), "cli"))
    assert (await house.runs.diff(run.run)).changed == ()
    await house.take_back(run)
    assert house.rows(status=()) == []


async def test_proposals_of_a_run_go_with_it(house: House) -> None:
    await house.hears(ADA, "Always run the tests first.")
    (run,) = await house.run()
    assert len(house.books.proposals(waiting=True)) == 1
    await house.take_back(run)
    assert house.books.proposals(waiting=True) == ()


async def test_a_contradiction_is_settled_by_keeping_the_newer_word(house: House) -> None:
    await house.hears(ADA, "My dentist is Dr Lund.", "My dentist is Dr Berg.")
    await house.run()
    asked = house.asked("forget")
    await house.settle(asked.id, accept=True)
    assert house.live() == {"person.dentist": "Dr Berg"}
    assert house.forgot == []
    with pytest.raises(Conflict, match="was accepted before"):
        await house.settle(asked.id, accept=False)


async def test_a_wider_scope_is_given_by_the_person_alone(house: House) -> None:
    await house.hears(ADA, "Always run the tests first.")
    await house.run()
    (asked,) = house.books.proposals(waiting=True)
    await house.settle(asked.proposal.id, accept=True)
    assert [row.memory.scope for row in house.rows()] == [Scope("workspace", HERE)]


async def test_a_memory_can_be_made_to_hold_everywhere(house: House) -> None:
    await house.hears(ADA, "My dentist is Dr Lund.")
    await house.run()
    (row,) = house.rows()
    asks = ev.MemoryProposed(ProposalId("p_1"), "scope", (row.memory.id,), "global", "It was said twice.", STEAD)
    await house.talk.note(asks)
    await house.settle(asks.id, accept=True)
    (wide,) = house.rows()
    assert (wide.memory.scope, wide.memory.value) == (Scope("global", GLOBAL), "Dr Lund")


@pytest.mark.parametrize("accept", [True, False])
async def test_forgetting_and_the_soul_are_carried_out_by_their_owners(house: House, accept: bool) -> None:
    kept = memory(1, "Ada lives in Bergen.")
    forget = ev.MemoryProposed(ProposalId("p_1"), "forget", (kept.id,), "", "Its line was deleted.", STEAD)
    soul = ev.MemoryProposed(ProposalId("p_2"), "soul", (), "Be brief.", "The model would be briefer.", STEAD)
    await house.talk.note(ev.MemoryMade(kept, "web"), forget, soul)
    for asks in (forget, soul):
        await house.settle(asks.id, accept=accept)
    assert house.forgot == ([kept.id] if accept else [])
    assert house.souls == (["Be brief."] if accept else [])
    assert house.books.proposals(waiting=True) == ()
    with pytest.raises(NotFound, match="there is no proposal"):
        await house.settle(ProposalId("p_3"), accept=True)
