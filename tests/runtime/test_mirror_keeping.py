"""When the files of memory are looked at, and that no machine sees them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.memory.files.exchange import Stamp
from stead.memory.files.folder import MemoryFolder
from stead.runtime.memory_files import FilePurges, MemoryFiles
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom

USER = "global/user.md"
TEA = memory(1, "Ada drinks tea.", kind="preference")


class Counting(MemoryFolder):
    """Counts how often the folder is looked at."""

    looks = 0

    def stamps(self) -> Mapping[str, Stamp]:
        self.looks += 1
        return super().stamps()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[MirrorRoom]:
    room = MirrorRoom(tmp_path, Counting, first=1_000)
    yield room
    room.close()


async def until(room: MirrorRoom, words: str, path: str = USER) -> None:
    async with asyncio.timeout(20):
        while not (room.root / path).exists() or words not in room.text(path):
            await asyncio.sleep(0.01)


async def test_facts_reach_the_files_and_edits_are_taken_in_while_anything_is_live(room: MirrorRoom) -> None:
    keeper = MemoryFiles(room.mirroring, room.bus, soon_s=0.05, poll_s=0.1)
    keeping = asyncio.create_task(keeper.keep(lambda: True))
    await until(room, "# You")
    await room.remember(TEA)
    await until(room, "drinks tea")
    room.edit(USER, room.text(USER).replace("drinks tea", "drinks coffee"))
    async with asyncio.timeout(20):
        while "Ada drinks coffee." not in room.said():
            await asyncio.sleep(0.01)
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping


async def test_nothing_is_looked_at_while_nothing_happens(room: MirrorRoom) -> None:
    keeper = MemoryFiles(room.mirroring, room.bus, soon_s=0.01, poll_s=0.01)
    keeping = asyncio.create_task(keeper.keep(lambda: False))
    await until(room, "# You")
    async with asyncio.timeout(20):
        while room.mirroring.state.last_sync_ms == 0:
            await asyncio.sleep(0.01)
    assert isinstance(room.files, Counting)
    room.files.looks = 0
    await asyncio.sleep(0.2)
    assert room.files.looks == 0
    await room.remember(TEA)
    await until(room, "drinks tea")
    assert room.files.looks > 0
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping


async def test_an_edit_is_taken_in_before_a_model_is_told(room: MirrorRoom) -> None:
    await room.mirroring.sync()
    room.edit(USER, room.text(USER) + "- Ada drinks tea.\n")
    assert await MemoryFiles(room.mirroring, room.bus).fresh(lambda: room.said().keys()) == {"Ada drinks tea."}


async def test_a_file_with_a_name_that_is_no_text_stops_nothing(room: MirrorRoom) -> None:
    await room.remember(TEA)
    await room.mirroring.sync()
    (room.root / "global" / "people").mkdir()
    odd = room.root / "global" / "people" / os.fsdecode(b"Ren\xe9e.md")
    odd.write_text("- Has the keys.\n")
    os.utime(odd, (1, 1))
    await MemoryFiles(room.mirroring, room.bus).fresh(room.said)
    assert isinstance(room.files, MemoryFolder)
    await FilePurges(room.mirroring, room.files, inside=True).purge([], [])
    state = room.mirroring.state
    assert state.alive
    assert room.said().keys() == {TEA.text}
    assert state.notices == ("global/people/Ren\\xe9e.md is not read: its name is no UTF-8; rename it",)
    assert not room.mirroring.changed()


async def test_a_scan_after_forgetting_tells_what_a_person_wrote_and_what_could_not_be_read(room: MirrorRoom) -> None:
    await room.remember(TEA)
    await room.mirroring.sync()
    room.edit(USER, room.text(USER) + "Tea is what Ada drinks.\n")
    (room.root / "global" / "people").mkdir()
    (room.root / "global" / "people" / "bob.md").symlink_to("/etc/hostname")
    purges = FilePurges(room.mirroring, room.files, inside=False)
    async with room.memories.stream.lock:
        await room.memories.stream.record([ev.ForgettingBegun((TEA.id,), (), (), "cli")], by="person")
    await purges.purge([TEA.id], [])
    left = await purges.scan(lambda found: b"Ada drinks" in found)
    assert {line.partition(" ")[0] for line in left} == {USER, "global/people/bob.md"}
    (room.root / "global").rename(room.root.parent / "gone")
    room.root.rmdir()
    room.root.symlink_to("/nowhere")
    await purges.purge([], [])
    (only,) = await purges.scan(lambda found: True)
    assert "could not be looked into" in only
