"""What a sync looks at: the files of what changed, and no others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE
from stead.domain.memory import Scope, workspace_place
from stead.memory.files.exchange import FileRead
from stead.memory.files.folder import MemoryFolder
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom
from tests.storage.drafts import session

HERE = workspace_place(DEFAULT_WORKSPACE, "/ada/notes")
FOLDER = f"private/notes-{HERE[2:]}"
DAY = f"{FOLDER}/journal/2027-01-15.md"
ADA = session(1)


class Reading(MemoryFolder):
    """Notes down which files are read."""

    paths: list[str]

    def read(self, path: str) -> FileRead | None:
        self.paths.append(path)
        return super().read(path)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[MirrorRoom]:
    room = MirrorRoom(tmp_path, Reading, first=1_000)
    room.files.paths = []  # type: ignore[attr-defined]
    yield room
    room.close()


async def read_by(room: MirrorRoom) -> list[str]:
    """The files that the next sync reads."""
    assert isinstance(room.files, Reading)
    room.files.paths.clear()
    await room.mirroring.sync()
    return sorted(set(room.files.paths))


async def begun(room: MirrorRoom) -> None:
    await room.sayings.open(ADA, "/ada/notes")
    await room.sayings.says(ADA, "See to the house.")
    await room.remember(memory(1, "The boiler is old."), memory(2, "The roof is new.", scope=Scope("private", HERE)))
    await room.mirroring.sync()
    await room.mirroring.sync()


async def ended(room: MirrorRoom, summary: str) -> None:
    await room.sayings.tell(ADA, ev.TurnEnded(turn=1, reason="done", summary=summary))


async def test_a_turns_end_reads_one_days_file_and_adds_one_line(room: MirrorRoom) -> None:
    await begun(room)
    assert await read_by(room) == []
    await ended(room, "The boiler is booked.")
    before = room.text(DAY)
    assert await read_by(room) == [DAY]
    assert room.text(DAY).startswith(before)
    assert room.text(DAY).removeprefix(before).count("\n") == 1
    assert await read_by(room) == []


async def test_a_memory_or_an_edit_has_the_files_of_its_own_place_read_alone(room: MirrorRoom) -> None:
    await begun(room)
    await room.remember(memory(3, "The fence is green.", scope=Scope("private", HERE)))
    assert {path.partition("/")[0] for path in await read_by(room)} == {"private"}
    room.edit("global/MEMORY.md", room.text("global/MEMORY.md").replace("old", "new"))
    assert {path.partition("/")[0] for path in await read_by(room)} == {"global"}
    assert "The boiler is new." in room.said()


async def test_a_line_that_was_deleted_stays_so_after_a_start_and_after_a_forgetting(room: MirrorRoom) -> None:
    await begun(room)
    await ended(room, "The boiler is booked.")
    await ended(room, "The roof is looked at.")
    await room.mirroring.sync()
    room.edit(DAY, "".join(line for line in room.text(DAY).splitlines(True) if "booked" not in line))
    for _ in range(2):
        await room.mirroring.sync()
        await room.note(ev.ForgettingBegun((memory(9, "").id,), (), (), "cli"))
        room.mirroring = room.anew()
        await ended(room, "The shelf is up.")
    await room.mirroring.sync(whole=True)
    assert "booked" not in room.text(DAY)
    assert room.text(DAY).count("looked at") == 1
    assert room.text(DAY).count("The shelf is up.") == 2, "one line each"


async def test_a_line_in_a_fence_that_nobody_closed_is_known_and_goes_when_it_is_forgotten(room: MirrorRoom) -> None:
    await begun(room)
    room.edit(DAY, room.text(DAY).replace("# 2027-01-15", "# 2027-01-15\n```"))
    await ended(room, "The boiler is booked.")
    await room.mirroring.sync()
    await room.mirroring.sync(whole=True)
    assert room.text(DAY).count("The roof is new.") == room.text(DAY).count("The boiler is booked.") == 1
    await room.note(ev.ForgettingBegun((memory(2, "").id,), (), (), "cli"))
    await room.mirroring.sync()
    assert "roof" not in room.text(DAY)


async def test_notes_of_an_older_version_are_understood(room: MirrorRoom) -> None:
    await begun(room)
    note = room.root.parent / "mirror.json"
    kept = json.loads(note.read_text())
    kept["files"][DAY] = {"generation": 0, "ids": {"0123456789abcdef": 1}, "digest": ""}
    note.write_text(json.dumps(kept))
    before = room.every_file()
    room.mirroring = room.anew()
    await room.mirroring.sync(whole=True)
    assert room.every_file() == before
    await ended(room, "The boiler is booked.")
    await room.mirroring.sync()
    assert DAY not in json.loads(note.read_text())["files"], "ids of lines are kept no longer"
