"""Whole sessions over the vendors' own clients, against two other projects' servers: they take every request.

Calls side by side, one edited, one cancelled, one retried, words between, and a window so small that older results and
then older messages give way.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from llmock.scenarios import Reply as Scripted
from llmock.scenarios import ToolCall as ScriptedCall
from llmock.testing import LLMockServer
from llmock.verdict import judge

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.ids import CallKey, SessionId
from stead.domain.ports import ModelRequest, Reply
from stead.providers.models import ProviderModels
from tests.build import MODEL
from tests.fakes.aimock import aimock
from tests.fakes.models import Call, Seen, Turn
from tests.fakes.wire import Wire, anthropic_flaws, openai_flaws
from tests.providers.conftest import local
from tests.runtime.room import Room, WireModels

WIRES = ["openai", "anthropic"]
LONG = Call("read", {"path": "long"})
TURNS = [
    Turn("Let me look.", (Call("read", {"path": "a.txt"}), Call("read", {"path": "b.txt"})), usage=(700, 40, 0, 0)),
    Turn(calls=(Call("read", {"path": "c.txt"}), Call("write", {"path": "a.txt", "text": 'quote " and\nü'}))),
    Turn(calls=(Call("read", {"path": "d.txt"}), Call("read", {"path": "e.txt"}), Call("teleport", {"to": "moon"}))),
    *(Turn(f"Reading {n}.", (LONG, Call("read", {"path": f"{n}.txt"}))) for n in range(8)),
    Turn("So far, so good."),
    *(Turn(f"More {n}.", (LONG, LONG)) for n in range(4)),
    *(Turn(f"That was all, {n}.") for n in range(8)),
]


class ServedModels(WireModels):
    """The vendors' own clients, to a server; counts every request."""

    def __init__(self, served: ProviderModels) -> None:
        super().__init__((), window_tokens=9_000)
        self._served = served

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        return await self._served.reply(request, on_text)


@asynccontextmanager
async def working(folder: Path, url: str, wire: str) -> AsyncIterator[Room]:
    """A room whose model is at a server."""
    served = ProviderModels({})
    served.configure([local(MODEL.provider, url, wire, model=MODEL.model)])
    room = Room(folder, ServedModels(served))
    try:
        yield room
    finally:
        await room.leave()
        await served.close()


async def work(room: Room) -> SessionId:
    """Live through all of it."""
    id = await room.open(limits=ev.Limits(stall=100, repetition=100))
    await room.tell(id, "Look around, then tidy a.txt.")
    await room.do(cmd.RetryCall(id, CallKey("call_2_0")))
    await room.settled(id)
    await room.do(cmd.EditCall(id, CallKey("call_2_1"), '{"path":"a.txt","text":"mine"}'))
    gate = room.hold("read")
    await room.began("read")
    await room.do(cmd.CancelCall(id, CallKey("call_3_0"), "Not that one."))
    await room.say(id, "And be quick.", interrupt=True)
    gate.set()
    await room.settled(id)
    await room.tell(id, "Go on.")
    return id


def check(room: Room, id: SessionId) -> None:
    """What the runtime saw of it."""
    bodies = room.bodies(id)
    assert [body for body in bodies if isinstance(body, ev.ModelFailed)] == []
    ends = {body.key: body.outcome for body in bodies if isinstance(body, ev.ToolFinished)}
    assert ends[CallKey("call_3_0")] == "cancelled"
    assert room.tools["write"].ran == [("call_2_1", {"path": "a.txt", "text": "mine"})]


@pytest.mark.parametrize("wire", WIRES)
async def test_an_independent_server_takes_every_request_of_a_session(wire: str, tmp_path: Path) -> None:
    turns = [turn if at == 0 else _measured(turn, at) for at, turn in enumerate(TURNS)]
    async with aimock(turns) as server, working(tmp_path, getattr(server, wire), wire) as room:
        id = await work(room)
        requests = await server.requests()
        check(room, id)
        bodies = [json.loads(request.body) for request in requests]
        assert len(bodies) == len(room.models.requests) >= 12
        flaws = anthropic_flaws if wire == "anthropic" else openai_flaws
        assert [flaws(body) for body in bodies] == [[]] * len(bodies)
        kind: Wire = "anthropic" if wire == "anthropic" else "openai"
        prompts = [Seen(kind, request, body, ()).prompt for request, body in zip(requests, bodies, strict=True)]
        rewrites = sum(isinstance(body, ev.ContextTrimmed | ev.ContextCompacted) for body in room.bodies(id))
        assert rewrites > 0
        breaks = sum(not later.startswith(earlier) for earlier, later in itertools.pairwise(prompts))
        assert breaks <= rewrites


def _measured(turn: Turn, at: int) -> Turn:
    return Turn(turn.text, turn.calls, usage=(700 * at, 40, 0, 0))


@pytest.fixture(scope="module")
def llmock_server() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        yield server


@pytest.mark.parametrize("wire", WIRES)
async def test_a_second_one_takes_them_too_and_its_verdict_is_clean(
    wire: str, tmp_path: Path, llmock_server: LLMockServer
) -> None:
    state = llmock_server.state
    state.scenarios.clear()
    state.journal.clear()
    for turn in TURNS:
        made = tuple(ScriptedCall(call.tool, json.loads(call.text)) for call in turn.calls)
        state.scenarios.add(Scripted(turn.text or None, made))
    async with working(tmp_path, llmock_server.base_url(wire), wire) as room:
        check(room, await work(room))
        judge(state.journal.records(wait=10.0)).assert_ok(strict=True)
