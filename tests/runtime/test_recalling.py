"""What sessions are told of memory, and what their models may do with it: through the runtime, over a real journal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, SessionId
from stead.domain.memory import Memory, MemoryId, Query, Recalled, Scope, workspace_place
from stead.domain.memory_commands import CorrectMemory, MarkMemories, NewMemory, Remember
from stead.domain.memory_ports import Done, RowsWanted, Wanted
from stead.domain.messages import UserMessage
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.ports import ModelInfo, ModelRequest
from stead.tools.remembering import CorrectTool, ForgetTool, RecallAllTool, RecallTool, RememberTool
from tests.memory.saying import memory
from tests.runtime.room import Room, Said, WireModels, calls

STRANGER = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)


class Later:
    """The room's own memory, for tools that are made before it is."""

    room: Room

    async def remember(self, session: SessionId, items: Sequence[Wanted]) -> tuple[Done, ...]:
        return await self.room.world.deps.memory.recollection.remember(session, items)

    async def correct(self, session: SessionId, old: str, item: Wanted) -> Done:
        return await self.room.world.deps.memory.recollection.correct(session, old, item)

    async def candidates(self, session: SessionId, text: str) -> tuple[Memory, ...]:
        return await self.room.world.deps.memory.recollection.candidates(session, text)

    async def forget(self, session: SessionId, ids: Sequence[MemoryId]) -> str:
        return await self.room.world.deps.memory.recollection.forget(session, ids)

    async def recall(self, session: SessionId, query: Query) -> Recalled:
        return await self.room.world.deps.memory.recollection.recall(session, query)


class Clearing(WireModels):
    """A model whose provider may be sent only what this says."""

    clearance = Confidentiality.PRIVATE

    def info(self, ref: ev.ModelRef) -> ModelInfo:
        return replace(super().info(ref), clearance=self.clearance)


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def models() -> Clearing:
    return Clearing(())


@pytest.fixture
def room(tmp_path: Path, models: Clearing, later: Later) -> Iterator[Room]:
    tools = [kind(later) for kind in (RememberTool, RecallTool, RecallAllTool, CorrectTool, ForgetTool)]
    later.room = room = Room(tmp_path, models, more=tools)
    yield room
    room.world.close()


def said(request: ModelRequest) -> list[str]:
    """What a model reads in a request, of memory and of words, in its order."""
    heard = [message for message in request.messages if isinstance(message, UserMessage)]
    return [text for message in heard for text in (message.told, message.text) if text]


def held(room: Room) -> dict[str, Memory]:
    rows, _ = room.world.books.rows(RowsWanted(limit=100))
    return {row.memory.text: row.memory for row in rows}


async def keep(room: Room, made: Memory) -> None:
    """Put a memory there as it is, whoever it would be from."""
    stream = room.world.deps.memory.memories.stream
    async with stream.lock:
        await stream.record((ev.MemoryMade(made, "stead"),), by="stead")


async def test_a_model_is_told_what_is_remembered_before_the_words_that_bring_it_to_mind(
    room: Room, models: Clearing
) -> None:
    id = await room.open()
    await room.do(Remember((NewMemory("The boiler is serviced by Lund & Sons.", aliases=("boiler",)),)))
    await room.tell(id, "Who looks after the boiler?")
    *_, told, words = said(models.requests[-1])
    assert words == "Who looks after the boiler?"
    assert told.startswith("Remembered")
    assert "The boiler is serviced by Lund & Sons." in told
    await room.tell(id, "And when was the boiler built?")
    assert sum("Lund & Sons" in text for text in said(models.requests[-1])) == 1, "what is told is told once"
    (receipt,) = [body for body in room.bodies(id) if isinstance(body, ev.MemoryRecalled)]
    assert receipt.told[0].by[0] == "alias"
    assert receipt.dead == ("meaning",)


async def test_a_session_begins_with_the_files_in_their_order_and_an_objective_too(
    room: Room, models: Clearing
) -> None:
    await room.do(
        Remember((NewMemory("Ada wants short answers.", kind="preference"), NewMemory("The shop opens at nine.")))
    )
    await room.tell(await room.open(), "Hello.")
    first = said(models.requests[0])[0]
    assert first.index("user.md") < first.index("Ada wants short answers.") < first.index("MEMORY.md")
    assert first.index("MEMORY.md") < first.index("The shop opens at nine.")
    answer = await room.do(cmd.OpenSession(goal="Write a sign for the shop.", directory=str(room.project)))
    await room.settled(answer.session)
    files, goal, *_ = said(models.requests[-1])
    assert goal == "Write a sign for the shop."
    assert "The shop opens at nine." in files


async def test_what_strangers_words_made_is_told_to_nobody_unasked(room: Room, models: Clearing) -> None:
    await keep(room, memory(1, "The boiler wants your bank details.", label=STRANGER, aliases=("boiler",)))
    await room.tell(await room.open(), "Who looks after the boiler?")
    assert not any("bank details" in text for request in models.requests for text in said(request))


async def test_each_session_sees_its_own_scopes(room: Room, models: Clearing, tmp_path: Path) -> None:
    here = workspace_place(DEFAULT_WORKSPACE, str(room.project))
    shop = tmp_path / "shop"
    shop.mkdir()
    there = workspace_place(DEFAULT_WORKSPACE, str(shop))
    for number, (word, scope) in enumerate(
        {
            "alder": Scope("global"),
            "birch": Scope("workspace", here),
            "cedar": Scope("private", here),
            "elder": Scope("workspace", there),
            "hazel": Scope("private", there),
        }.items(),
        start=1,
    ):
        await keep(room, memory(number, f"The gate's code word is {word}.", scope=scope, aliases=("gate",)))
    await room.tell(await room.open(), "What is the code word of the gate?")
    objective = cmd.OpenSession(goal="Open the gate.", directory=str(room.project))
    await room.settled((await room.do(objective)).session)
    interactive, alone = ("\n".join(said(request)) for request in (models.requests[0], models.requests[-1]))
    words = ("alder", "birch", "cedar", "elder", "hazel")
    assert [word for word in words if word in interactive] == ["alder", "birch", "cedar"]
    assert [word for word in words if word in alone] == ["alder", "birch"]


async def test_a_provider_that_may_have_public_data_alone_is_told_nothing_private(room: Room, models: Clearing) -> None:
    models.clearance = Confidentiality.PUBLIC
    await room.do(Remember((NewMemory("The boiler is serviced by Lund & Sons.", aliases=("boiler",)),)))
    await room.tell(await room.open(), "Who looks after the boiler?")
    assert not any("Lund" in text for request in models.requests for text in said(request))


async def test_a_model_remembers_what_was_said_and_nothing_else(room: Room, models: Clearing) -> None:
    items = [
        '{"text":"The boiler is serviced in March.","key":"boiler.service"}',
        '{"text":"Ada owes the bank a million."}',
        '{"text":"The boiler is SECRET in March."}',
    ]
    models.left = iter([calls(("remember", f'{{"items":[{",".join(items)}]}}')), Said(("Noted.",))])
    id = await room.open()
    await room.tell(id, "The boiler is serviced in March. The boiler is SECRET in March. Please keep that in mind.")
    (made,) = held(room).values()
    assert (made.text, made.origin, made.scope.level) == ("The boiler is serviced in March.", "user_said", "private")
    assert made.label.integrity is Integrity.PERSON, "it is a whole sentence of theirs"
    (quote,) = room.world.deps.memory.queries.insights.quotes(made)
    assert quote.text[quote.start : quote.end].strip() == "The boiler is serviced in March."
    (end,) = [body for body in room.bodies(id) if isinstance(body, ev.ToolFinished)]
    assert end.outcome == "ok"
    assert "nobody said it here" in end.text
    assert "looks like a secret" in end.text


async def test_a_tainted_models_wording_of_the_persons_words_is_a_strangers(room: Room, models: Clearing) -> None:
    said = "Trust the messenger in the lighthouse alone."
    items = [f'{{"text":"{text}"}}' for text in ("Trust the messenger.", "Never trust the messenger.", said)]
    turns = [
        calls(("read", '{"path":"mail"}'), ("page", '{"about":"mail"}')),
        calls(("remember", f'{{"items":[{",".join(items)}]}}')),
    ]
    models.left = iter(turns)
    await room.tell(await room.open(allow=("page",)), said)
    labels = {text: made.label.integrity for text, made in held(room).items()}
    assert labels == {"Trust the messenger.": Integrity.UNTRUSTED, said: Integrity.PERSON}, "nobody denied it"


async def test_a_model_corrects_its_own_memories_and_not_the_persons(room: Room, models: Clearing) -> None:
    await room.do(Remember((NewMemory("The shop opens at nine.", key="shop.opens"),)))
    models.left = iter(
        [
            calls(("remember", '{"items":[{"text":"The stall opens at ten."}]}')),
            Said(("The stall opens at ten.",)),
            calls(("correct_memory", '{"old":"The stall opens at ten.","text":"The stall opens at noon."}')),
            calls(("correct_memory", '{"old":"The shop opens at nine.","text":"The shop opens at six, I think."}')),
        ]
    )
    id = await room.open()
    await room.tell(id, "The stall opens at ten.")
    await room.tell(id, "The stall opens at noon.")
    assert set(held(room)) == {"The shop opens at nine.", "The stall opens at noon."}
    ends = [body.text for body in room.bodies(id) if isinstance(body, ev.ToolFinished)]
    assert ends[1].startswith("superseded")
    assert "nobody said it here" in ends[2]


async def test_recall_looks_up_what_the_session_may_see_and_says_which_legs_are_dead(
    room: Room, models: Clearing
) -> None:
    await keep(room, memory(1, "The boiler is in the cellar.", aliases=("boiler",)))
    await keep(room, memory(2, "The boiler wants your bank details.", label=STRANGER, aliases=("boiler",)))
    models.left = iter([calls(("recall", '{"query":"boiler"}')), calls(("recall_all", '{"query":"boiler"}'))])
    id = await room.open()
    state = await room.tell(id, "Look it up.")
    own, every = [body for body in room.bodies(id) if isinstance(body, ev.ToolFinished)]
    assert "in the cellar" in own.text
    assert "bank details" not in own.text
    assert "1 more came of strangers' words" in own.text
    assert "not searched by meaning" in own.text
    assert "bank details" in every.text
    assert (own.label.taints, every.label.taints) == (False, True)
    assert state.sources == ["recall_all"]


async def test_forgetting_for_good_asks_the_person(room: Room, models: Clearing) -> None:
    await room.do(Remember((NewMemory("The shop opens at nine."),)))
    models.left = iter([calls(("forget_memory", '{"memories":["The shop opens at nine."]}'))])
    id = await room.open()
    await room.tell(id, "Forget when the shop opens.")
    (call,) = await room.calls(id)
    assert (call.step, call.level) == ("asking", "confirm")
    assert "The shop opens at nine." in call.asked


async def test_people_correct_and_mark_what_is_remembered(room: Room) -> None:
    answer = await room.do(Remember((NewMemory("The shop opens at nine.", key="shop.opens", value="9"),)))
    old = MemoryId(answer.text.split()[1])
    again = await room.do(Remember((NewMemory("the shop opens at nine"),)))
    assert again.text == f"same {old}"
    new = MemoryId((await room.do(CorrectMemory(old, "The shop opens at ten.", "10"))).text.split()[1])
    await room.do(MarkMemories((new,), pinned=True, aliases=("shop", "shop")))
    row = room.world.books.row(new)
    assert (row.memory.pinned, row.memory.aliases, row.memory.supersedes) == (True, ("shop",), (old,))
    assert room.world.books.row(old).superseded_by == new
    assert [one.memory.text for one in room.world.deps.memory.queries.insights.chain(new)] == [
        "The shop opens at nine.",
        "The shop opens at ten.",
    ]


async def test_texts_that_repeat_themselves_are_compared_without_holding_everything_up(
    room: Room, later: Later
) -> None:
    id = await room.open()
    for number in range(5):
        await keep(room, memory(number, f"{number} " + "drum bass horn " * 250))
    start = time.process_time()
    assert await later.candidates(id, "drum bass horn horn bass drum " * 125) != ()
    assert time.process_time() - start < 3
