"""Edits of several lines in one save: the file stays as the person saved it, and memory says the same."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain.memory import Memory
from stead.domain.policies import Integrity, Label
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom

ALL = "global/MEMORY.md"
STRANGERS = Label(Integrity.UNTRUSTED)
_BULLET = re.compile(r"^- (.*?)( <!-- .*)?$", re.MULTILINE)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[MirrorRoom]:
    room = MirrorRoom(tmp_path, first=1_000)
    yield room
    room.close()


async def reworded(room: MirrorRoom, *words: tuple[str, str]) -> None:
    """Put other words into lines, all in one save, and sync twice."""
    new = dict(words)
    text = _BULLET.sub(lambda line: f"- {new.get(line[1], line[1])}{line[2] or ''}", room.text(ALL))
    room.edit(ALL, text)
    await room.mirroring.sync()
    head = room.journal.head()
    await room.mirroring.sync()
    assert room.journal.head() == head, "a second look finds nothing to do"


def lines(room: MirrorRoom) -> list[str]:
    return [line[1] for line in _BULLET.finditer(room.text(ALL))]


async def test_lines_that_swap_their_words_swap_them_in_memory_too(room: MirrorRoom) -> None:
    await room.remember(memory(1, "First: apples.", key="a.first"), memory(2, "First: pears."))
    await room.mirroring.sync()
    await reworded(room, ("First: apples.", "First: pears."), ("First: pears.", "First: apples."))
    assert lines(room) == ["First: pears.", "First: apples."]
    assert {text: one.key for text, one in room.said().items()} == {"First: pears.": "a.first", "First: apples.": ""}


async def test_words_that_move_down_a_line_each_are_all_kept(room: MirrorRoom) -> None:
    await room.remember(memory(1, "Build with make."), memory(2, "Build with ninja."))
    await room.mirroring.sync()
    await reworded(room, ("Build with make.", "Build with ninja."), ("Build with ninja.", "Build with bazel."))
    assert lines(room) == ["Build with ninja.", "Build with bazel."]
    assert room.said().keys() == {"Build with ninja.", "Build with bazel."}


async def test_a_line_beside_one_that_is_refused_gives_way_to_what_still_holds(room: MirrorRoom) -> None:
    await room.remember(memory(1, "The till is red."), memory(2, "The till is blue."))
    await room.mirroring.sync()
    await reworded(room, ("The till is red.", "The till is SECRET."), ("The till is blue.", "The till is red."))
    assert room.said().keys() == {"The till is red."}
    assert lines(room) == ["The till is SECRET.", "The till is red."]


async def test_words_that_a_stranger_said_too_are_the_persons_once_they_write_them(room: MirrorRoom) -> None:
    sly = memory(2, "Pay to account 666.", label=STRANGERS, origin="tool", key="pay.to")
    await room.remember(memory(1, "Pay to account 111."), sly)
    await room.mirroring.sync()
    await reworded(room, ("Pay to account 111.", "Pay to account 666."))
    (now,) = room.said().values()
    assert (now.origin, now.label.integrity, now.key) == ("file_edit", Integrity.PERSON, "")
    assert lines(room) == ["Pay to account 666."]


async def test_words_that_were_only_guessed_are_raised_to_the_persons_when_they_write_them(room: MirrorRoom) -> None:
    guess = memory(2, "Deploy on Monday.", origin="inferred", confidence=0.5, expires_ms=1_900_000_000_000)
    await room.remember(memory(1, "Deploy on Friday.", pinned=True), guess)
    await room.mirroring.sync()
    await reworded(room, ("Deploy on Friday.", "Deploy on Monday."))
    (now,) = room.said().values()
    assert (now.text, now.pinned, now.origin, now.confidence) == ("Deploy on Monday.", True, "file_edit", 1.0)
    assert now.expires_ms == 0, "what a person wrote without a date has none"


async def test_an_edit_after_the_clock_went_back_holds_at_once(room: MirrorRoom) -> None:
    await room.remember(replace(memory(1, "Ada lives in Bergen."), valid_from_ms=room.sayings.now_ms))
    await room.mirroring.sync()
    room.clock.ms -= 30 * 86_400_000
    await reworded(room, ("Ada lives in Bergen.", "Ada lives in Oslo."))
    assert room.said()["Ada lives in Oslo."].valid_from_ms <= room.clock.ms


async def test_an_edit_takes_the_place_of_every_rival_at_its_key(room: MirrorRoom) -> None:
    weak = memory(2, "Ada may live in Voss.", key="ada.city", origin="inferred")
    await room.remember(memory(1, "Ada lives in Bergen.", key="ada.city"), weak)
    await room.mirroring.sync()
    await reworded(room, ("Ada lives in Bergen.", "Ada lives in Oslo."))
    assert room.said().keys() == {"Ada lives in Oslo."}


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_a_person_makes_of_the_lines_is_what_the_file_and_memory_say(
    room: MirrorRoom, seed: int
) -> None:
    dice = random.Random(seed)
    pool = [f"Sign {number} of the house." for number in range(12)]
    await room.remember(*(_any(number, text, dice) for number, text in enumerate(pool[:6], start=1)))
    await room.mirroring.sync()
    for _ in range(8):
        before = room.text(ALL)
        changed = _BULLET.sub(
            lambda line: f"- {dice.choice(pool) if dice.random() < 0.6 else line[1]}{line[2] or ''}", before
        )
        if dice.random() < 0.3:
            changed = changed.replace("\n## ", f"\n- {dice.choice(pool)}\n\n## ", 1)
        saved = {line[1] for line in _BULLET.finditer(changed)}
        was = {line[2]: line[1] for line in _BULLET.finditer(before) if line[2]}
        own = {line[1] for line in _BULLET.finditer(changed) if was.get(line[2]) != line[1]}
        room.edit(ALL, changed)
        await room.mirroring.sync()
        assert sorted(lines(room)) == sorted(saved)
        said = room.said()
        assert said.keys() == saved
        assert all(said[text].label.integrity is Integrity.PERSON for text in own)
        head = room.journal.head()
        await room.mirroring.sync()
        assert room.journal.head() == head


def _any(number: int, text: str, dice: random.Random) -> Memory:
    marks: dict[str, object] = {"pinned": dice.random() < 0.3, "key": f"house.sign_{number}" if number % 2 else ""}
    match dice.randrange(4):
        case 0:
            marks |= {"label": STRANGERS, "origin": "tool", "confidence": 0.4}
        case 1:
            marks |= {"origin": "inferred", "confidence": 0.5}
        case _:
            marks |= {"origin": "user_said"}
    return memory(number, text, **marks)
