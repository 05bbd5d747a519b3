"""Which ways of working a session is told of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, SessionId
from stead.domain.memory import MemoryId, Scope, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.ports import ModelInfo
from stead.runtime.loading import Loading
from stead.runtime.recalling import Recollection
from stead.runtime.skills import Skills
from tests.fakes.world import ScriptedModels
from tests.memory.saying import memory
from tests.runtime.house import House
from tests.storage.drafts import session

ADA, ALONE, SHOP, GROUP = session(1), session(2), session(3), session(4)
PRIVATE = Scope("private", workspace_place(DEFAULT_WORKSPACE, "/ada/notes"))
PROOFREAD = "# Proofread the newsletter\n1. read\n2. shell: aspell"


class Clearing(ScriptedModels):
    """A model whose provider may be sent only what this says."""

    clearance = Confidentiality.PRIVATE

    def info(self, ref: ev.ModelRef) -> ModelInfo:
        return replace(super().info(ref), clearance=self.clearance)


class Finding(House):
    """A home in which sessions look for how to do something."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.models = Clearing(())
        files = Loading(self.books, self.books)
        recollection = Recollection(
            self.memories, self.retriever, files, models=self.models, clock=self, forget=self._forgets
        )
        self.skills = Skills(recollection, self.retriever, self.books, self.journal)

    async def _forgets(self, ids: Sequence[MemoryId], door: str) -> str:
        raise AssertionError(f"{door} forgot {ids}")

    async def found(self, id: SessionId, query: str = "proofread the newsletter") -> tuple[str, ...]:
        return await self.skills.approved(id, query)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Finding]:
    house = Finding(tmp_path)
    await house.talk.open(ADA, "/ada/notes")
    await house.talk.open(ALONE, "/ada/notes", attended=False)
    await house.talk.open(SHOP, "/ada/shop")
    await house.talk.open(GROUP, "/ada/notes", channel="team")
    yield house
    house.close()


async def test_a_session_finds_what_it_may_see_and_no_other_does(house: Finding) -> None:
    await house.talk.note(ev.MemoryMade(memory(901, PROOFREAD, kind="skill", scope=PRIVATE), "web"))
    assert {id: await house.found(id) for id in (ADA, ALONE, SHOP, GROUP)} == {
        ADA: (PROOFREAD,),
        ALONE: (),
        SHOP: (),
        GROUP: (),
    }


async def test_nothing_is_found_that_strangers_made_or_that_is_no_skill_or_does_not_fit(house: Finding) -> None:
    stranger = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)
    await house.talk.note(
        ev.MemoryMade(memory(901, PROOFREAD, kind="skill", label=stranger), "stead"),
        ev.MemoryMade(memory(902, f"{PROOFREAD} too", kind="procedure"), "stead"),
        ev.MemoryMade(memory(903, "# Water the ferns\n1. shell", kind="skill", pinned=True), "web"),
    )
    assert await house.found(ADA) == ()
    assert await house.found(ADA, "water the ferns") == ("# Water the ferns\n1. shell",)


async def test_a_provider_that_may_have_public_data_alone_is_told_of_no_private_skill(house: Finding) -> None:
    await house.talk.note(ev.MemoryMade(memory(901, PROOFREAD, kind="skill"), "web"))
    house.models.clearance = Confidentiality.PUBLIC
    assert await house.found(ADA) == ()
