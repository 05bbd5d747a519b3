"""When a change of directives reaches a session, what it does to the count of its context, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.brain.estimate import estimate_request
from stead.domain import events as ev
from stead.domain.commands import OpenSession
from stead.domain.directive_commands import (
    OrderDirectives,
    RemoveDirective,
    RestoreDirective,
    SetDirective,
    SwitchDirective,
)
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.folding import fold
from stead.domain.ids import SessionId
from tests.runtime.room import Room, Said, WireModels, calls

DATES = SetDirective("custom", "Dates", "As 2031-05-04.")
READ = calls(("read", '{"path":"a"}'))


@pytest.fixture
async def rooms(tmp_path: Path) -> AsyncIterator[list[Room]]:
    made: list[Room] = []
    yield made
    for room in made:
        await room.leave()


def enter(rooms: list[Room], folder: Path, *turns: Said) -> Room:
    rooms.append(Room(folder, WireModels(turns)))
    return rooms[-1]


def told(room: Room) -> list[bool]:
    """Of each request, whether it had the directive."""
    return [DATES.text in request.instructions for request in room.models.requests]


def changes(room: Room, id: SessionId) -> list[ev.InstructionsSet]:
    return [body for body in room.bodies(id) if isinstance(body, ev.InstructionsSet)]


async def test_a_turn_under_way_keeps_what_held_when_it_began_and_the_next_one_has_the_new(
    rooms: list[Room], tmp_path: Path
) -> None:
    room = enter(rooms, tmp_path, READ, Said(("Read.",)), Said(("Again.",)))
    id = await room.open()
    held = room.hold("read")
    await room.say(id, "Read it.")
    await room.began("read")
    await room.do(DATES)
    await room.say(id, "And be quick.")
    held.set()
    await room.settled(id)
    assert told(room) == [False, False]
    state = await room.tell(id, "Once more.")
    assert told(room) == [False, False, True]
    assert len(changes(room, id)) == 1
    assert fold(room.world.events(id)) == state


async def test_a_change_is_counted_before_the_request_that_has_it_is_sent(rooms: list[Room], tmp_path: Path) -> None:
    room = enter(rooms, tmp_path, Said(("One.",)), Said(("Two.",)))
    id = await room.open()
    await room.tell(id, "Begin.")
    measured = (await room.state(id)).measured_tokens
    assert measured
    await room.do(SetDirective("custom", "Long", "word " * 3000))
    await room.tell(id, "Go on.")
    sent = room.models.requests[-1]
    reserved = [body.reserved for body in room.bodies(id) if isinstance(body, ev.ModelRequested)][-1]
    needed = estimate_request(sent.instructions, sent.tools, sent.messages)
    assert reserved.tokens >= needed > measured + 3000


async def test_a_change_that_makes_no_difference_here_is_no_event(rooms: list[Room], tmp_path: Path) -> None:
    room = enter(rooms, tmp_path)
    id = await room.open()
    await room.tell(id, "Begin.")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    await room.do(SetDirective("custom", "Elsewhere", "x", directory=str(elsewhere)))
    await room.do(SetDirective("custom", "Off", "x", enabled=False))
    made = (await room.do(DATES)).text
    await room.do(SwitchDirective(made, False))  # type: ignore[arg-type]  # an answer's text is plain
    await room.tell(id, "Go on.")
    assert changes(room, id) == []
    there = (await room.do(OpenSession(str(elsewhere)))).session
    await room.tell(there, "Begin.")
    assert "# Elsewhere" in room.models.requests[-1].instructions


async def test_an_order_says_who_is_told_first_and_a_removed_directive_comes_back_in_its_place(
    rooms: list[Room], tmp_path: Path
) -> None:
    room = enter(rooms, tmp_path)
    ids = [(await room.do(SetDirective("custom", name, name))).text for name in ("One", "Two", "Three")]
    one, two, three = ids
    await room.do(OrderDirectives((three, one)))  # type: ignore[arg-type]
    titles = [row.directive.title for row in await room.runtime.directives.rows()]
    assert titles == ["Three", "One", "Two"]
    await room.do(RemoveDirective(one))  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="stead directives"):
        await room.do(SwitchDirective(one, True))  # type: ignore[arg-type]
    await room.do(RestoreDirective(one, 1))  # type: ignore[arg-type]
    rows = await room.runtime.directives.rows()
    assert [row.directive.title for row in rows] == ["Three", "One", "Two"]
    assert [row.directive.version for row in rows] == [1, 2, 1]
    with pytest.raises(InvalidRequest, match="each once"):
        await room.do(OrderDirectives((two, two)))  # type: ignore[arg-type]


async def test_there_is_one_soul_for_a_place_and_a_restored_one_makes_no_second(
    rooms: list[Room], tmp_path: Path
) -> None:
    room = enter(rooms, tmp_path)
    first = (await room.do(SetDirective("soul", "Soul", "Calm."))).text
    with pytest.raises(Conflict, match="there is a soul already"):
        await room.do(SetDirective("soul", "Another", "Loud."))
    await room.do(SetDirective("soul", "Here", "Quick.", directory=str(room.project)))
    await room.do(RemoveDirective(first))  # type: ignore[arg-type]
    await room.do(SetDirective("soul", "Another", "Loud."))
    with pytest.raises(Conflict, match="there is a soul already"):
        await room.do(RestoreDirective(first, 1))  # type: ignore[arg-type]


async def test_two_changes_of_the_same_version_are_one_change_and_one_conflict(
    rooms: list[Room], tmp_path: Path
) -> None:
    room = enter(rooms, tmp_path)
    id = (await room.do(DATES)).text
    await room.do(SetDirective("custom", "Dates", "One.", id=id, version=1))
    with pytest.raises(Conflict, match="has changed since version 1"):
        await room.do(SetDirective("custom", "Dates", "Two.", id=id, version=1))
    await room.do(SetDirective("custom", "Dates", "Three.", id=id))
    found = await room.runtime.directives.versions(id, before=0, limit=2)  # type: ignore[arg-type]
    assert [one.directive.text for one in found] == ["Three.", "One."]
    assert [one.diff for one in found] == ["@@ -1 +1 @@\n-One.\n+Three.", "@@ -1 +1 @@\n-As 2031-05-04.\n+One."]
    (oldest,) = await room.runtime.directives.versions(id, before=2, limit=9)  # type: ignore[arg-type]
    assert (oldest.directive.version, oldest.added, oldest.removed) == (1, 1, 0)
