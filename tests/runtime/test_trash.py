"""What is deleted is kept for 30 days with all that it had, and erased by itself after that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.rows import Wanted
from stead.domain.trash import KEPT_MS, is_due
from stead.runtime.trash import Trash
from tests.runtime.room import Room, Said, WireModels


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """A room whose model answers."""
    room = Room(tmp_path, WireModels([Said(("Hello.",))] * 4))
    yield room
    room.close()


async def closed(room: Room) -> SessionId:
    """A session in which something was said, closed."""
    id = await room.open()
    await room.tell(id)
    await room.do(cmd.CloseSession(id))
    await room.settled(id)
    return id


def trash_of(room: Room) -> Trash:
    """The part that empties it."""
    return Trash(room.world.views, room.runtime, room.world.clock)


def listed(room: Room, archived: str) -> list[SessionId]:
    """The sessions of a list."""
    wanted = Wanted(archived=archived)  # type: ignore[arg-type]
    return [row.id for row in room.world.views.objectives(kind="session", wanted=wanted)[0]]


@pytest.mark.parametrize(("days", "due"), [(0, False), (29.999, False), (30, True), (400, True)])
def test_thirty_days_are_kept_to_the_millisecond(days: float, due: bool) -> None:
    assert is_due(1_000, 1_000 + int(days * 86_400_000)) is due
    assert not is_due(0, 10 * KEPT_MS), "what is not in the trash is never due"


async def test_what_is_deleted_leaves_the_lists_keeps_everything_and_comes_back(room: Room) -> None:
    id = await closed(room)
    before = room.bodies(id)
    await room.do(cmd.LabelSession(id, trashed=True))
    assert listed(room, "no") == listed(room, "yes") == [] and listed(room, "trash") == listed(room, "any") == [id]
    assert room.world.views.search("hello") == []
    for command in (cmd.SendMessage(id, "again"), cmd.CloseSession(id), cmd.LabelSession(id, trashed=True)):
        with pytest.raises(Conflict, match="in the trash"):
            await room.do(command)
    room.world.clock.ms += KEPT_MS - 60_000
    assert await trash_of(room).empty() == 0
    await room.do(cmd.LabelSession(id, trashed=False))
    assert room.bodies(id)[: len(before)] == before and listed(room, "no") == [id]
    assert room.world.views.search("hello") != []
    room.world.clock.ms += 10 * KEPT_MS
    assert await trash_of(room).empty() == 0, "one that was taken out is not due"
    await room.tell(id)


async def test_after_thirty_days_it_is_erased_and_only_it(room: Room) -> None:
    old, kept, new = [await closed(room) for _ in range(3)]
    await room.do(cmd.LabelSession(old, trashed=True))
    room.world.clock.ms += KEPT_MS
    await room.do(cmd.LabelSession(new, trashed=True))
    assert await trash_of(room).empty() == 1
    assert isinstance(room.bodies(old)[-1], ev.SessionDeleted) and len(room.bodies(old)) == 1
    assert listed(room, "any") == [new, kept] or listed(room, "any") == [kept, new]
    with pytest.raises(NotFound):
        await room.do(cmd.LabelSession(old, trashed=False))
    assert await trash_of(room).empty() == 0


async def test_what_is_at_work_is_not_deleted_and_what_is_deleted_can_be_erased_at_once(room: Room) -> None:
    id = await room.open()
    with pytest.raises(Conflict, match="close it first"):
        await room.do(cmd.LabelSession(id, trashed=True))
    with pytest.raises(Conflict, match="not in the trash"):
        await room.do(cmd.LabelSession(id, trashed=False))
    await room.do(cmd.CloseSession(id))
    await room.do(cmd.LabelSession(id, trashed=True))
    with pytest.raises(Conflict, match="in the trash already"):
        await room.do(cmd.Delete(id))
    await room.do(cmd.Delete(id, now=True))
    assert listed(room, "any") == []
