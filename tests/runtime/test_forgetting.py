"""What is forgotten is gone from every file of the home, stays gone, and whoever was at work goes on."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.brain.rule_sentences.grammar import understood
from stead.config import Home
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain import memory_commands as mem
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import FORGOTTEN
from stead.domain.ids import CommandId, SessionId
from stead.domain.memory import MEMORY, Evidence, Memory, MemoryId, Scope
from stead.domain.memory_events import MemoryForgotten
from stead.domain.messages import UserMessage
from stead.domain.needles import Needles
from stead.domain.sessions import PERSON
from stead.storage.receipts import HomeReceipts, verify_receipt
from stead.storage.residue import Residue
from tests.fakes.world import KEYS
from tests.runtime.conftest import Enter
from tests.runtime.forget_and_die import (
    LIKE_A_NAME,
    PHRASE,
    SHARP,
    SHORT,
    QuietHome,
    killed_at,
    kinds_of_steps,
    sampled,
)
from tests.runtime.forgetful import forgetting
from tests.runtime.room import Room, Said, calls

WORD = "quillfeather"


def files_with(room: Room, word: str = WORD) -> list[str]:
    """The files of the home that a holder of its keys finds it in."""
    found = Residue(Home(room.world.folder), KEYS).search(Needles([word]).touches, 60)
    assert found.skipped == ()
    return [*found.left, *found.databases, *found.backups]


async def live(room: Room) -> tuple[SessionId, SessionId]:
    """Say the phrase in every way there is: title, message, reply, thinking, plan, arguments, result, goal, memory."""
    await room.do(mem.Remember((mem.NewMemory(f"Ada keeps {PHRASE}."),)))
    plan = json.dumps({"steps": [{"title": f"Look for {PHRASE}", "status": "todo"}]})
    room.models.turns[:] = [
        Said((f"I will look for {PHRASE}.", ("plan", plan)), thinking=f"They said {PHRASE}"),
        calls(("read", json.dumps({"path": "the\nquillfeather of  Torvald Skaane"}))),
        Said((f"I have read of {PHRASE}.",)),
        calls(("mail", json.dumps({"to": "bo@example.com", "text": PHRASE.upper()}))),
    ]
    room.models.left = iter(room.models.turns)
    room.tools["read"]._text = f"A file about {PHRASE}"
    id = await room.open(title=f"About {PHRASE}")
    await room.tell(id, f"Find {PHRASE}, please")
    goal = await room.do(cmd.OpenSession(str(room.project), goal=f"Write to {PHRASE}"))
    await room.settled(goal.session)
    return id, goal.session


async def test_no_byte_of_it_is_left_anywhere_and_the_sessions_go_on(enter: Enter) -> None:
    room = enter()
    id, goal = await live(room)
    assert room.world.views.search(WORD)
    assert len(files_with(room)) >= 3
    receipt = await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    assert (receipt.left, receipt.backups) == ((), ())
    assert files_with(room) == []
    assert files_with(room, "Torvald Skaane") == []
    assert {"journal.db", "views.db"} <= set(receipt.scanned)
    assert room.world.journal.verify_chain().faults == ()
    assert room.world.views.search(WORD) == []
    assert room.world.views.objective(goal).goal == f"Write to {FORGOTTEN}"
    state = await room.state(id)
    assert state.messages
    assert WORD not in repr(state).lower()
    after = await room.tell(id, "And now?")
    assert WORD not in repr(room.models.requests[-1]).lower()
    assert after.resting


async def test_the_receipt_is_signed_and_has_no_word_of_it(enter: Enter) -> None:
    room = enter()
    await live(room)
    receipt = await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    key = HomeReceipts(KEYS).public_key()
    assert verify_receipt(receipt, key)
    assert key == room.world.journal.heads.public_key()
    assert not verify_receipt(replace(receipt, left=("x",)), key)
    assert WORD not in repr(receipt)
    facts = [event.body for event in room.world.events(MEMORY)]
    assert isinstance(facts[-1], MemoryForgotten)
    assert facts[-1].receipt == receipt


async def test_a_preview_shows_what_would_go_and_does_nothing(enter: Enter) -> None:
    room = enter()
    id, _ = await live(room)
    before = room.world.journal.head()
    shown = await forgetting(room).preview(Forget(words=(PHRASE,)))
    assert [text for _, text in shown.memories] == [f"Ada keeps {PHRASE}."]
    assert shown.events == len(shown.places) > 8
    found = next(place for place in shown.places if place.type == "message.received")
    assert (found.session, found.excerpt, found.count) == (id, f"Find {PHRASE}, please", 1)
    assert room.world.journal.head() == before


async def test_a_named_memory_goes_with_its_versions_and_the_words_that_it_rests_on(enter: Enter) -> None:
    room = enter()
    said, other = "My ferret Ottoline bites the postman.", "My ferret is called Ottilie."
    id = await room.open()
    await room.tell(id, said)
    await room.tell(id, other)
    seqs = {event.body.text: event.seq for event in room.world.events(id) if isinstance(event.body, ev.MessageReceived)}
    first = memory("m_1", "Ada's ferret Ottoline bites.", id, (seqs[said], 0, len(said)))
    second = memory("m_2", "Ada's ferret is Ottilie.", id, (seqs[other], 0, len(other)), supersedes=("m_1",))
    third = memory("m_3", "Something bites the postman.", id, (seqs[said], 10, len(said)))
    fourth = memory("m_4", "The postman is bitten.", id, (seqs[said], 10, len(said)), (seqs[other] + 99, 0, 3))
    stays = memory("m_5", "Ada likes tea.", id)
    stream = room.world.deps.memory.memories.stream
    async with stream.lock:
        await stream.record([ev.MemoryMade(one, "cli") for one in (first, second, third, fourth, stays)], by="person")
        await stream.record([ev.MemoryRetired(first.id, "superseded", second.id, 5, "cli")], by="person")
    forget = forgetting(room)
    receipt = await forget.forget(Forget(memories=(second.id,)), "cli")
    assert receipt.memories == ("m_1", "m_2", "m_3", "m_4")
    assert [files_with(room, word) for word in ("Ottoline bites", "ferret", "postman", "Ottilie")] == [[]] * 4
    assert [type(event) for event in room.world.journal.events(session=MEMORY)][:5] == [ev.Erased] * 4 + [ev.Event]
    assert room.world.books.row(stays.id).memory == stays
    for gone in receipt.memories:
        with pytest.raises(NotFound):
            room.world.books.row(gone)
    assert room.world.journal.verify_chain().faults == ()


def memory(
    id: str, text: str, session: SessionId, *evidence: tuple[int, int, int], supersedes: tuple[str, ...] = ()
) -> Memory:
    return Memory(
        MemoryId(id),
        "knowledge",
        text,
        Scope(),
        "user_said",
        PERSON,
        1,
        evidence=tuple(Evidence(session, *place) for place in evidence),
        supersedes=tuple(map(MemoryId, supersedes)),
    )


async def test_it_is_known_when_it_comes_back_however_it_is_spelled(enter: Enter) -> None:
    room = enter()
    await live(room)
    await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    again = forgetting(room)  # as after a start
    again.load()
    for text in (PHRASE, "I keep THE Quillfeather,\nof torvald SKAANE!", "the — quillfeather of Torvald  Skaane's"):
        assert again.is_forgotten(text), text
    assert not again.is_forgotten("the quillfeather of Torvald")


async def test_an_events_words_go_and_copies_of_them(enter: Enter) -> None:
    room = enter()
    id = await room.open()
    await room.tell(id, f"A long story of {PHRASE} and more.")
    fork = await room.do(cmd.ForkSession(id))
    seq = next(event.seq for event in room.world.events(id) if isinstance(event.body, ev.MessageReceived))
    assert WORD in repr(await room.state(fork.session))
    receipt = await forgetting(room).forget(Forget(events=(seq,)), "cli")
    assert receipt.left == ()
    assert files_with(room, "long story") == []
    assert WORD not in repr(await room.state(fork.session))


async def test_a_request_under_way_is_cut_off_and_asked_again_without_the_words(enter: Enter) -> None:
    room = enter()
    id = await room.open()
    room.models.hold = gate = asyncio.Event()
    room.models.asked.clear()
    await room.say(id, f"Do you know {PHRASE}?")
    async with asyncio.timeout(10):
        await room.models.asked.wait()
    forgotten = asyncio.create_task(forgetting(room).forget(Forget(words=(PHRASE,)), "cli"))
    while len(room.models.requests) < 2 and not forgotten.done():
        await asyncio.sleep(0)
    assert (await forgotten).left == ()
    gate.set()
    await room.settled(id)
    assert [WORD in repr(request) for request in room.models.requests] == [True, False]
    assert [body.kind for body in room.bodies(id) if isinstance(body, ev.ModelFailed)] == ["stopped"]


async def test_a_call_under_way_goes_on_and_its_session_knows_the_words_no_more(enter: Enter) -> None:
    room = enter(calls(("read", json.dumps({"path": PHRASE}))), Said(("Read.",)))
    gate = room.hold("read")
    id = await room.open()
    await room.say(id, "Read it.")
    await room.began("read")
    receipt = await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    assert (receipt.left, files_with(room)) == ((), [])
    gate.set()
    state = await room.settled(id)
    assert (state.resting, room.effects.total(), WORD in repr(state)) == (True, 1, False)
    assert files_with(room) == []


async def test_what_binds_the_home_stays_and_is_told(enter: Enter) -> None:
    room = enter()
    rule = understood(f"never read {WORD}/")
    assert rule is not None
    await room.home.record(ev.RuleMade(rule, "cli"), cause=CommandId("c"))
    await room.do(cmd.OpenSession(str(room.project), goal=f"Read {WORD}"))
    receipt = await forgetting(room).forget(Forget(words=(WORD,)), "cli")
    assert "rule.made" in receipt.left[0]
    assert WORD in room.home.state.rules[0].text


@pytest.mark.parametrize("words", ["ab", "  ", "…!?", "forgot"], ids=["short", "blank", "no letter", "the mark itself"])
async def test_what_cannot_be_looked_for_is_refused(enter: Enter, words: str) -> None:
    with pytest.raises((InvalidRequest, NotFound)):
        await forgetting(enter()).forget(Forget(words=(words,)), "cli")


async def test_words_that_nothing_has_are_not_forgotten(enter: Enter) -> None:
    room = enter()
    with pytest.raises(NotFound):
        await forgetting(room).forget(Forget(words=("nobody said this",)), "cli")
    assert list(room.world.journal.events(session=MEMORY)) == []


async def test_what_was_nearly_said_is_shown_as_it_stands_there(enter: Enter) -> None:
    room = enter()
    id = await room.open()
    await room.tell(id, "We met Thorvald Skåne, of the quilfeather, on Monday; he has a feather.")
    shown = await forgetting(room).near("quillfeather Thorvald")
    assert shown.words == ("Thorvald Skåne, of the quilfeather",)
    await forgetting(room).forget(Forget(words=shown.words), "cli")
    assert files_with(room, "quilfeather") == []


def _found(folder: Path) -> list[str]:
    found = Residue(Home(folder), KEYS).search(Needles([WORD, SHARP, SHORT]).touches, 60)
    return [*found.left, *found.databases]


@pytest.mark.timeout(600)  # a process for each kind of step
async def test_killed_at_any_step_it_is_done_whole_at_the_next_start_or_not_begun(enter: Enter, tmp_path: Path) -> None:
    """One step of each kind: statements of each database, and writes of files of memory."""
    room = enter()
    await live(room)
    await room.leave()
    for folder in room.folder.glob("home/memory-*"):  # of the room alone; a home has one place for it
        shutil.rmtree(folder)
    stays = memory("m_00000000000000b1", "Ada likes tea.", SessionId("s_x"))
    texts = {SHORT: "a1", f"{SHARP} 5 is where Bo lives.": "a2", f"Bo is a kind {LIKE_A_NAME}.": "a3"}
    gone = [memory(f"m_00000000000000{id}", text, SessionId("s_x")) for text, id in texts.items()]
    life = QuietHome(room.world.folder)
    async with life.memories.stream.lock:
        await life.memories.stream.record([ev.MemoryMade(one, "cli") for one in (stays, *gone)], by="person")
    assert life.views.search(WORD)
    await life.mirroring.sync()
    life.close()
    assert any("memory-files" in line for line in _found(room.world.folder))
    whole = tmp_path / "whole"
    shutil.copytree(room.world.folder, whole)
    kinds = kinds_of_steps(whole)
    assert {kind.split()[0] for kind in kinds} >= {
        "journal.db",
        "views.db",
        "global.db",
        "open",
        "os.rename",
        "os.remove",
    }
    outcomes: list[bool] = []
    for number in sampled(kinds, random.Random(1)):
        home = tmp_path / f"killed-{number}"
        shutil.copytree(room.world.folder, home)
        killed_at(home, number)
        outcomes.append(await _is_whole(home, number, stays))
        shutil.rmtree(home)
    assert (outcomes[0], outcomes[-1]) == (False, True)


async def _is_whole(home: Path, number: int, stays: Memory) -> bool:
    """Whether it was forgotten; all of it or nothing."""
    life = QuietHome(home)
    life.forgetting.load()
    begun = life.forgetting.is_forgotten(PHRASE)
    await life.forgetting.resume()
    assert life.journal.verify_chain().faults == ()
    assert bool(life.views.search(WORD)) is not begun
    assert bool(_found(home)) is not begun, number
    facts = [event.body for event in life.journal.events(session=MEMORY) if isinstance(event, ev.Event)]
    assert isinstance(facts[-1], MemoryForgotten) is begun
    held = [fact.memory for fact in facts if isinstance(fact, ev.MemoryMade)]
    assert held == [stays] if begun else len(held) == 5
    assert "Ada likes tea." in (home / "memory-files" / "global" / "MEMORY.md").read_text()
    life.close()
    return begun


async def test_requests_repeat_those_before_them_but_once_where_words_went(enter: Enter) -> None:
    """P2: what is sent is the beginning of what is sent next, until a forgetting; then again, after a restart too."""
    room = enter()
    id = await room.open()
    for words in ("One.", f"Two: {PHRASE}.", "Three."):
        await room.tell(id, words)
    await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    await room.tell(id, "Four.")
    await room.tell(id, "Five.")
    again = await room.crash()
    await again.tell(id, "Six.")
    sent = [request.messages for request in again.models.requests]
    repeated = [later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(sent)]
    assert repeated == [True, True, False, True, True]
    without = [
        replace(one, text=one.text.replace(PHRASE, FORGOTTEN)) for one in sent[2] if isinstance(one, UserMessage)
    ]
    assert without == [one for one in sent[3] if isinstance(one, UserMessage)][: len(without)]
    await again.leave()


async def test_watchers_that_are_behind_read_the_journal_instead(enter: Enter) -> None:
    room = enter()
    behind = room.world.bus.subscribe()
    id = await room.open()
    await room.tell(id, PHRASE)
    await forgetting(room).forget(Forget(words=(PHRASE,)), "cli")
    assert (await behind.next(), behind.overrun) == ([], True)
    ahead = room.world.bus.subscribe()
    await room.tell(id, "Go on.")
    assert await ahead.next()
    assert not ahead.overrun
