"""What a session is told from turn to turn: through the runtime, over a real journal."""

from __future__ import annotations

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import Query, Scope, workspace_place
from stead.domain.policies import Confidentiality, Integrity, Label
from tests.memory.saying import memory
from tests.runtime.room import Room
from tests.runtime.test_recalling import Clearing, keep, later, models, room

__all__ = ["later", "models", "room"]


async def test_standing_rules_leave_room_and_are_told_once(room: Room, models: Clearing) -> None:
    for number in range(1, 46):
        await keep(room, memory(number, f"Rule {number}: be brief.", standing=True))
    await keep(room, memory(99, "The staging server is otter.", aliases=("staging",)))
    id = await room.open()
    for words in ("Hello there.", "Where is staging?"):
        await room.tell(id, words)
    # The standing rules are in the files that the session began with, so that recall does not repeat them.
    (second,) = [body for body in room.bodies(id) if isinstance(body, ev.MemoryRecalled)]
    assert [told.text for told in second.told] == ["The staging server is otter."]
    recollection = room.world.deps.memory.recollection
    (exact,) = await recollection.candidates(id, "The staging server is otter.")
    assert exact.text == "The staging server is otter."
    found = await recollection.recall(id, Query("staging server"))
    assert [hit.text for hit in found.hits] == ["The staging server is otter."]


async def test_a_model_is_told_the_part_of_long_words_that_was_looked_for(room: Room) -> None:
    await room.tell(await room.open(), "Here is the log. " + "It rains. " * 300 + "The otter's hint is kingfisher.")
    id = await room.open()
    await room.tell(id, "What was the otter's hint?")
    (told,) = [one for body in room.bodies(id) if isinstance(body, ev.MemoryRecalled) for one in body.told]
    assert "kingfisher" in told.text
    assert len(told.text) < 620


async def test_a_preview_looks_as_a_session_there_does_however_the_folder_is_written(room: Room) -> None:
    stranger = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)
    for number, directory in enumerate(("", "/home/ada/shop"), 1):
        place = Scope("workspace", workspace_place(DEFAULT_WORKSPACE, directory))
        await keep(room, memory(number, f"The kayak {number} is red.", scope=place))
    await keep(room, memory(9, "The kayak wants your bank details.", label=stranger))
    desk = room.world.deps.memory.queries
    for directory, told in (("", "The kayak 1 is red."), ("/home/ada/shop/", "The kayak 2 is red.")):
        found = await desk.preview(Query("kayak", trusted=True), directory, attended=True)
        assert [hit.text for hit in found.hits] == [told]
        assert found.withheld == 1
