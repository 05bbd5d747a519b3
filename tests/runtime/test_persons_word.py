"""What the person wrote or pinned stands: no run and no tool puts anything in its place, or shows it further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import GLOBAL, Evidence, Memory, MemoryId, Scope, Viewer, channel_place, workspace_place
from stead.domain.memory_ports import Done, Wanted
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.runtime.loading import Loading
from stead.runtime.recalling import Recollection
from tests.fakes.world import ScriptedModels
from tests.memory.saying import memory
from tests.runtime.house import House
from tests.storage.drafts import session

ADA = session(1)
HERE = workspace_place(DEFAULT_WORKSPACE, "/ada/notes")
MINE = Scope("private", HERE)
QUOTED = (Evidence(ADA, 1, 0, 5),)
STRANGER = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def knows(house: House, number: int, text: str, **marks: object) -> Memory:
    """Let a memory of Ada's be there already."""
    made = memory(900 + number, text, **{"scope": MINE, "valid_from_ms": house.now_ms(), **marks})
    await house.talk.note(ev.MemoryMade(made, "web"))
    house.later(1)
    return made


DENTIST = {"key": "person.dentist", "value": "Dr Lund"}


@pytest.mark.parametrize("marks", [{"pinned": True, "evidence": QUOTED}, {}], ids=["pinned", "written"])
async def test_a_run_leaves_what_the_person_wrote_or_pinned_and_asks_them(
    house: House, marks: dict[str, object]
) -> None:
    await house.hears(ADA, "Hello.")
    old = await knows(house, 1, "My dentist is Dr Lund.", **DENTIST, **marks)
    await house.hears(ADA, "My dentist is Dr Berg now.")
    await house.run()
    assert [(row.memory.value, row.memory.pinned) for row in house.rows()] == [
        ("Dr Lund", old.pinned),
        ("Dr Berg", False),
    ]
    (asked,) = house.books.proposals(waiting=True)
    assert (asked.proposal.what, asked.proposal.memories) == ("forget", (old.id,))
    await house.hears(ADA, "As I said, my dentist is Dr Berg now.", "My dentist is Dr Berg.")
    await house.run()
    assert len(house.books.proposals(waiting=True)) == 1, "what was asked is not asked again"
    await house.settle(asked.proposal.id, accept=True)
    assert house.live() == {"person.dentist": "Dr Berg"}


async def test_what_was_said_before_the_person_wrote_otherwise_is_the_past_and_nothing_to_ask_about(
    house: House,
) -> None:
    await house.hears(ADA, "My dentist is Dr Berg.")
    house.later(1)
    await knows(house, 1, "My dentist is Dr Lund.", **DENTIST)
    await house.run()
    assert house.live() == {"person.dentist": "Dr Lund"}
    assert house.books.proposals(waiting=True) == ()


async def test_what_is_written_and_said_again_is_still_what_was_written(house: House) -> None:
    await house.hears(ADA, "Hello.")
    await knows(house, 1, "Answer in German.", key="preference.language", value="German")
    await house.hears(ADA, "From now on, answer in German.")
    await house.run()
    house.later(1)
    await house.hears(ADA, "From now on, answer in Danish.")
    await house.run()
    assert "Answer in German." in {row.memory.text for row in house.rows()}


class Told(House):
    """A home in which a model uses its tools."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        files, models = Loading(self.books, self.books), ScriptedModels(())
        self.recollection = Recollection(
            self.memories, self.retriever, files, models=models, clock=self, forget=_forgets_nothing
        )

    async def notes(self, text: str, key: str = "") -> Done:
        (done,) = await self.recollection.remember(ADA, [Wanted(text, key=key)])
        return done


async def _forgets_nothing(ids: Sequence[MemoryId], door: str) -> str:
    raise AssertionError(f"{door} forgot {ids}")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    told = Told(tmp_path)
    yield told
    told.close()


@pytest.mark.parametrize("scope", [Scope(), Scope("workspace", HERE), MINE], ids=lambda scope: scope.level)
@pytest.mark.parametrize("marks", [{"pinned": True, "evidence": QUOTED}, {"standing": True, "evidence": QUOTED}, {}])
async def test_no_wording_of_a_models_stands_beside_what_the_person_settled(
    told: Told, scope: Scope, marks: dict[str, object]
) -> None:
    await told.hears(ADA, "Which IBAN do I use? The payments go to GB66 by noon or so.")
    old = await knows(told, 1, "Payments go to IBAN NO11.", key="pay.iban", scope=scope, **marks)
    done = await told.notes("Payments go to GB66 by noon.", key="pay.iban")
    assert done.change == "refused"
    assert "ask them" in done.text
    assert [row.memory for row in told.rows()] == [old]


async def test_the_persons_own_sentence_stands_beside_what_they_settled_before(told: Told) -> None:
    await told.hears(ADA, "Payments go to IBAN GB66.")
    old = await knows(told, 1, "Payments go to IBAN NO11.", key="pay.iban", scope=MINE, pinned=True)
    assert (await told.notes("Payments go to IBAN GB66.", key="pay.iban")).change == "made"
    assert [(row.memory.text, row.memory.key) for row in told.rows()] == [
        (old.text, old.key),
        ("Payments go to IBAN GB66.", ""),
    ]


async def test_a_pinned_instruction_is_turned_round_by_a_sentence_of_the_persons_alone(told: Told) -> None:
    await told.hears(ADA, "I never want to hear that we deploy on Fridays.")
    old = await knows(told, 1, "Never deploy on Fridays.", pinned=True, standing=True, key="deploy.days")
    refused = await told.recollection.correct(ADA, old.id, Wanted("Deploy on Fridays."))
    assert (refused.change, told.rows()[0].memory) == ("refused", old)
    await told.hears(ADA, "Deploy on Fridays from noon.")
    done = await told.recollection.correct(ADA, old.id, Wanted("Deploy on Fridays from noon."))
    assert done.change == "superseded"
    (row,) = told.rows()
    assert (row.memory.text, row.memory.pinned, row.memory.standing) == ("Deploy on Fridays from noon.", True, True)


async def test_correcting_one_memory_takes_no_other_one_away_that_the_person_settled(told: Told) -> None:
    await told.hears(ADA, "Payments go to IBAN GB66.")
    settled = await knows(told, 1, "Payments go to IBAN NO11.", key="pay.iban", pinned=True)
    loose = await knows(told, 2, "Lunch is at noon.", key="pay.iban", evidence=QUOTED)
    done = await told.recollection.correct(ADA, loose.id, Wanted("Payments go to IBAN GB66."))
    assert (done.change, settled.id in done.text) == ("refused", True)
    assert [row.memory for row in told.rows()] == [settled, loose]


async def test_what_a_tool_notes_is_seen_no_further_than_the_words_it_rests_on(told: Told) -> None:
    await told.hears(ADA, "My therapist is Dr Vik.", "Use metric units in all my projects.")
    await told.notes("My therapist is Dr Vik.")
    await told.notes("Use metric units in all my projects.")
    alone, group = session(2), session(3)
    await told.talk.open(alone, "/ada/notes", attended=False)
    await told.talk.says(alone, "The build is run by make.")
    await told.recollection.remember(alone, [Wanted("The build is run by make.")])
    await told.talk.open(group, "/ada/notes", channel="team")
    await told.talk.says(group, "Lena brings the cake in all our projects.")
    await told.recollection.remember(group, [Wanted("Lena brings the cake in all our projects.")])
    assert {row.memory.text: row.memory.scope for row in told.rows()} == {
        "My therapist is Dr Vik.": MINE,
        "Use metric units in all my projects.": Scope("global", GLOBAL),
        "The build is run by make.": Scope("workspace", HERE),
        "Lena brings the cake in all our projects.": Scope("channel", channel_place(DEFAULT_WORKSPACE, "team")),
    }


async def test_what_more_sessions_know_is_not_copied_for_those_of_ones_own(told: Told) -> None:
    await told.hears(ADA, "The boiler is serviced in March.")
    wide = await knows(told, 1, "The boiler is serviced in March.", scope=Scope("workspace", HERE))
    done = await told.notes("The boiler is serviced in March.")
    assert (done.change, done.id) == ("same", wide.id)


async def test_a_model_that_read_no_stranger_is_not_shown_their_words_by_an_id(told: Told) -> None:
    await told.hears(ADA, "Hello.")
    strange = await knows(told, 1, "The boiler wants your bank details.", label=STRANGER, scope=MINE)
    assert await told.recollection.candidates(ADA, strange.id) == ()
    assert await told.recollection.candidates(ADA, strange.text) == (strange,), "they said all of it themselves"
    look = Viewer(HERE, interactive=True)
    assert await told.recollection.named(look, strange.id) == (strange,)
