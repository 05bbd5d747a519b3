"""Day journals as files: what was deleted or forgotten leaves every one of them, whatever came between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.memory import MemoryId
from stead.memory.files.codec import MOST_BYTES
from stead.memory.files.days import MORE
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom
from tests.storage.drafts import session

ADA = session(1)
ATTIC = memory(1, "The quillfeather is in the attic.")
TEN_DAYS_MS = 10 * 86_400_000


@pytest.fixture
def room(tmp_path: Path) -> Iterator[MirrorRoom]:
    room = MirrorRoom(tmp_path, first=1_000)
    yield room
    room.close()


def having(room: MirrorRoom, words: str) -> list[str]:
    return [path for path, text in room.every_file().items() if words.encode() in text]


async def forget(room: MirrorRoom, *ids: MemoryId) -> None:
    await room.note(ev.ForgettingBegun(ids, (), (), "cli"))


async def an_old_day(room: MirrorRoom) -> None:
    await room.remember(ATTIC)
    await room.mirroring.sync()
    room.clock.ms += TEN_DAYS_MS
    await room.remember(memory(2, "Ada likes tea."))
    await room.mirroring.sync()
    assert len(having(room, "quillfeather")) == 2


async def test_a_folder_that_was_away_while_words_were_forgotten_loses_them_when_it_is_back(room: MirrorRoom) -> None:
    await an_old_day(room)
    away = room.root.with_name("away")
    room.root.rename(away)
    room.root.symlink_to("/nowhere")
    await forget(room, ATTIC.id)
    assert not (await room.mirroring.sync(whole=True)).alive
    room.root.unlink()
    away.rename(room.root)
    assert (await room.anew().sync()).alive
    assert having(room, "quillfeather") == []


async def test_a_session_that_was_deleted_right_before_a_kill_leaves_its_day(room: MirrorRoom) -> None:
    await room.sayings.open(ADA, "/ada/notes")
    await room.sayings.says(ADA, "x.")
    await room.sayings.tell(ADA, ev.TurnEnded(turn=1, reason="done", summary="The quillfeather is booked."))
    await room.mirroring.sync()
    room.clock.ms += TEN_DAYS_MS
    await room.mirroring.sync()
    await room.sayings.tell(ADA, ev.SessionDeleted())
    await room.anew().sync()
    assert having(room, "quillfeather") == []


async def test_a_day_that_was_being_written_is_seen_to_when_it_is_whole(room: MirrorRoom) -> None:
    await an_old_day(room)
    (day,) = [path for path in having(room, "quillfeather") if "journal" in path]
    with (room.root / day).open("a") as file:
        file.write("My own line.\n")
    room.clock.step_ms, now_ms = 0, room.clock.ms
    os.utime(room.root / day, ns=(now_ms * 1_000_000,) * 2)
    await forget(room, ATTIC.id)
    await room.mirroring.sync(whole=True)
    assert having(room, "quillfeather") == [day]
    room.clock.ms += 1_000
    await room.anew().sync()
    assert having(room, "quillfeather") == []
    assert "My own line." in room.text(day)


async def test_nothing_is_written_down_anew_for_events_that_are_of_no_file(room: MirrorRoom) -> None:
    await room.sayings.open(ADA, "/ada/notes")
    await room.sayings.says(ADA, "x.")
    await room.mirroring.sync()
    state = room.root.parent / "mirror.json"
    before = state.stat().st_ino
    await room.sayings.says(ADA, "x.")
    await room.mirroring.sync()
    assert state.stat().st_ino == before


async def test_a_day_is_no_longer_than_can_be_read_back(room: MirrorRoom) -> None:
    every = [memory(0x1000 + number, f"{number} " + "ы" * 1_000) for number in range(600)]
    await room.remember(*every)
    for _ in range(2):
        await room.mirroring.sync()
    (day,) = [path for path in room.every_file() if "journal" in path]
    assert (room.root / day).stat().st_size < MOST_BYTES
    assert room.text(day).count(MORE) == 1
    await forget(room, *(one.id for one in every))
    await room.mirroring.sync()
    assert having(room, "ы") == []


async def test_a_file_of_the_persons_own_among_the_days_is_left_as_it_is(room: MirrorRoom) -> None:
    await room.remember(ATTIC)
    await room.mirroring.sync()
    (day,) = [path for path in having(room, "quillfeather") if "journal" in path]
    assert "takes it in" not in room.text(day)
    ideas = (room.root / day).with_name("ideas.md")
    ideas.write_bytes(b"My own.\r\n")
    os.utime(ideas, (1, 1))
    await room.mirroring.sync(whole=True)
    assert ideas.read_bytes() == b"My own.\r\n"


async def test_an_old_day_that_an_editor_saves_as_it_was_loses_what_was_forgotten(room: MirrorRoom) -> None:
    await an_old_day(room)
    (day,) = [path for path in having(room, "quillfeather") if "journal" in path]
    opened = room.text(day)
    await forget(room, ATTIC.id)
    await room.mirroring.sync()
    room.edit(day, opened)
    await room.mirroring.sync()
    assert having(room, "quillfeather") == []
