"""What is forgotten is what was asked for, all of it, and nothing beside it."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import FORGOTTEN
from stead.domain.ids import SessionId
from stead.domain.memory import MEMORY, Memory, MemoryId
from stead.domain.memory_events import LoadedFile
from tests.runtime.conftest import Enter
from tests.runtime.forgetful import forgetting
from tests.runtime.room import Room, Said, calls
from tests.runtime.test_forgetting import files_with, memory
from tests.runtime.test_recalling import keep

HELD = MemoryId("m_00000000000000a1")


def events_with(room: Room, word: str) -> list[str]:
    """The types of the events that have it, names of fields and numbers included."""
    return [
        type(event.body).__name__
        for event in room.world.journal.events()
        if isinstance(event, ev.Event) and word.encode() in msgspec.json.encode(event.body)
    ]


def heard(room: Room, id: SessionId) -> int:
    """The seq of the first words that a session was told."""
    return next(event.seq for event in room.world.events(id) if isinstance(event.body, ev.MessageReceived))


async def keep_all(room: Room, *made: Memory) -> None:
    for one in made:
        await keep(room, one)


@pytest.mark.parametrize("word", ["person", "knowledge", "4711", "user_said"])
async def test_what_looks_like_the_word_in_names_of_fields_numbers_and_ids_is_not_taken_for_it(
    enter: Enter, word: str
) -> None:
    room = enter()
    others = [
        memory(f"m_{number:012x}4711", f"The shop sells item no. {number}.", SessionId("s_x")) for number in range(9)
    ]
    await keep_all(room, *others, memory(HELD, f"It is about {word}, said Ada.", SessionId("s_x")))
    id = await room.open()
    await room.tell(id, "Nothing of it.")
    shown = await forgetting(room).preview(Forget(words=(word,)))
    assert [held for held, _ in shown.memories] == [HELD]
    assert shown.kept == ()
    receipt = await forgetting(room).forget(Forget(words=(word,)), "cli")
    assert (receipt.memories, receipt.left) == ((HELD,), ())
    assert [room.world.books.row(one.id).memory for one in others] == others
    assert room.world.journal.verify_chain().faults == ()
    said = repr([event.body for event in room.world.journal.events(session=id) if isinstance(event, ev.Event)])
    assert f"about {word}" not in said


async def test_a_short_memory_goes_from_where_it_was_told(enter: Enter) -> None:
    for number, text in enumerate(("PIN is 4711", "Blue")):
        room = enter()
        await keep_all(room, memory(HELD, text, SessionId("s_x")), memory("m_b2", "Ada likes tea.", SessionId("s_x")))
        id = await room.open()
        await room.tell(id, f"What do you know of me ({number})?")
        assert "MemoryLoaded" in events_with(room, text)
        receipt = await forgetting(room).forget(Forget(memories=(HELD,)), "cli")
        assert receipt.left == ()
        assert events_with(room, text) == []
        assert files_with(room, text) == []
        assert "Ada likes tea" in repr(await room.state(id))
        await room.leave()


async def test_a_short_memory_goes_from_calls_of_memorys_tools_and_stays_in_other_words(enter: Enter) -> None:
    room = enter(calls(("remember", '{"items":[{"text":"Blue"}]}')), Said(("Noted.",)), Said(("Yes.",)))
    id = await room.open()
    await room.tell(id, "Remember my colour.")
    await room.tell(id, "The sky is Blue.")
    await keep(room, memory(HELD, "Blue", SessionId("s_x")))
    await forgetting(room).forget(Forget(memories=(HELD,)), "cli")
    assert events_with(room, "Blue") == ["MessageReceived"]


async def test_a_text_longer_than_what_is_looked_for_at_once_goes_to_its_end(enter: Enter) -> None:
    room = enter()
    body = "".join(f"line {number} of the letter to the notary\n" for number in range(900)) + "PS quillfeather\n"
    assert len(body) > 20_000
    id = await room.open()
    await room.tell(id, body)
    fork = await room.do(cmd.ForkSession(id))
    receipt = await forgetting(room).forget(Forget(events=(heard(room, id),)), "cli")
    assert (receipt.left, events_with(room, "quillfeather"), files_with(room)) == ((), [], [])
    assert FORGOTTEN in repr(await room.state(fork.session))


async def test_a_memory_that_rests_on_a_word_elsewhere_stays(enter: Enter) -> None:
    room = enter()
    id = await room.open()
    await room.tell(id, "Blue.")
    stays = memory("m_b1", "Ada's favourite colour is blue.", id, (heard(room, id), 0, 4))
    await keep_all(room, stays, memory(HELD, "The Blue. Note cafe closes at six.", id))
    shown = await forgetting(room).preview(Forget(memories=(HELD,)))
    assert [held for held, _ in shown.memories] == [HELD]


async def test_memories_go_whose_short_words_go_with_a_named_one(enter: Enter) -> None:
    room = enter()
    id = await room.open()
    await room.tell(id, "Blue, and tea.")
    seq = heard(room, id)
    await keep_all(
        room,
        memory(HELD, "Ada's favourite colour is blue.", id, (seq, 0, 4), (seq, 10, 13)),
        memory("m_b2", "Her walls are to be of that colour.", id, (seq, 0, 4)),
        memory("m_b3", "Something is liked.", id, (seq, 0, 13)),
    )
    receipt = await forgetting(room).forget(Forget(memories=(HELD,)), "cli")
    assert receipt.memories == (HELD, "m_b2")
    assert events_with(room, "Blue") == []
    assert f"{FORGOTTEN}, and {FORGOTTEN}." in repr(await room.state(id))


async def test_no_digest_tells_a_guess_from_another(enter: Enter) -> None:
    room = enter()
    await keep(room, memory(HELD, "The alarm's code is 4711, do not share it.", SessionId("s_x")))
    id = await room.open()
    await room.tell(id, "Hello.")
    await room.tell(id, "And again.")
    other = await room.open()
    await room.tell(other, "Elsewhere.")
    before = [body.prefix_sha256 for body in room.bodies(id) if isinstance(body, ev.ModelRequested)]
    assert len(set(before)) == len(before) == 2
    await forgetting(room).forget(Forget(words=("4711",)), "cli")
    loaded = [file for body in room.bodies(id) if isinstance(body, ev.MemoryLoaded) for file in body.files]
    assert FORGOTTEN in repr(loaded)
    assert all(file.sha256 == digest(file) for file in loaded)
    assert [body.prefix_sha256 for body in room.bodies(id) if isinstance(body, ev.ModelRequested)] == ["", ""]
    assert room.world.journal.verify_chain().faults == ()
    await room.tell(id, "Go on.")
    assert (await room.state(id)).resting


def digest(file: LoadedFile) -> str:
    return hashlib.sha256(file.text.encode()).hexdigest()


async def test_new_words_that_only_look_like_it_do_not_hold_forgetting_up(enter: Enter) -> None:
    """Ids of what is recorded meanwhile have figures as well."""
    room = enter()
    await keep(room, memory(HELD, "The code is 4711.", SessionId("s_x")))
    forget = forgetting(room)
    read = room.world.journal.head()
    await keep(room, memory("m_0000000000004711", "Ada likes tea.", SessionId("s_x")))
    assert read < room.world.journal.head()
    receipt = await forget.forget(Forget(words=("4711",)), "cli")
    assert (receipt.memories, receipt.left) == ((HELD,), ())
    assert [type(event) for event in room.world.journal.events(session=MEMORY)][:2] == [ev.Erased, ev.Event]
