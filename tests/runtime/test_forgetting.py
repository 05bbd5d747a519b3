"""What is forgotten is gone from every file of the home, stays gone, and whoever was at work goes on."""

from __future__ import annotations

import json

import pytest

from stead.config import Home
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain import memory_commands as mem
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import FORGOTTEN
from stead.domain.memory import MEMORY
from stead.domain.ids import SessionId
from stead.domain.memory_events import MemoryForgotten
from stead.domain.needles import Needles
from stead.storage.receipts import HomeReceipts, verify_receipt
from stead.storage.residue import Residue
from tests.fakes.world import KEYS
from tests.runtime.conftest import Enter
from tests.runtime.forgetful import forgetting
from tests.runtime.room import Room, Said, calls

PHRASE = "the quillfeather of Torvald Skaane"
WORD = "quillfeather"


def files_with(room: Room, word: str = WORD) -> list[str]:
    """The files of the home that a holder of its keys finds it in."""
    found = Residue(Home(room.world.folder), KEYS).search(Needles([word]).touches, 60)
    assert found.skipped == ()
    return [*found.left, *found.backups]


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
    goal = await room.do(cmd.CreateObjective(f"Write to {PHRASE}", str(room.project)))
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
    assert not verify_receipt(ev.ForgetReceipt(**{**as_fields(receipt), "left": ("x",)}), key)
    assert WORD not in repr(receipt)
    facts = [event.body for event in room.world.events(MEMORY)]
    assert isinstance(facts[-1], MemoryForgotten)
    assert facts[-1].receipt == receipt


def as_fields(receipt: ev.ForgetReceipt) -> dict[str, object]:
    return {name: getattr(receipt, name) for name in receipt.__struct_fields__}
