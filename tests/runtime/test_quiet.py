"""Quiet when the person says so: real commands in real machines, cut off with every child in a quarter of a second."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.ids import CallKey, SessionId
from stead.machines.bubblewrap import BubblewrapMachines
from stead.tools.shell import ShellTool
from tests.machines.bench import fresh_nap, napping, require_sandbox, this_host, until
from tests.runtime.room import Room, Said, WireModels, calls

QUIET_S = 0.25
FIRST, SECOND = CallKey("call_1_0"), CallKey("call_1_1")


class Shop:
    """A room with real machines and the real shell, whose model has trees of processes sleep.

    Args:
        folder: of the home.
        trees: commands of one reply; ``NAP`` in them is an argument for ``sleep`` that nobody else uses.
    """

    def __init__(self, folder: Path, trees: Sequence[str]) -> None:
        home = Home(folder / "home")
        home.make()
        self.nap = fresh_nap()
        self.machines = BubblewrapMachines(home, host=this_host())
        commands = [json.dumps({"command": tree.replace("NAP", self.nap)}) for tree in trees]
        models = WireModels([calls(*(("shell", command) for command in commands)), Said(("Well.",))])
        self.room = Room(
            folder, models, machines=self.machines, more=[ShellTool(self.machines, self.machines.services)]
        )

    async def at_work(self, processes: int) -> SessionId:
        """Open a session, let its first command run, and wait until so many processes sleep."""
        id = await self.room.open()
        await self.room.tell(id)
        await self.room.decide(id)
        await until(lambda: len(napping(self.nap)) == processes)
        return id

    async def quiet(self) -> None:
        """Wait until none of them is left."""
        await until(lambda: not napping(self.nap))


TREE = "trap '' TERM INT HUP; sh -c 'trap \"\" TERM; sleep NAP; :' & sleep NAP & sleep NAP; echo over"
LOOSE = "setsid -f sleep NAP; (sleep NAP &) ; sleep NAP"


@pytest.fixture
async def shops(tmp_path: Path) -> AsyncIterator[list[Shop]]:
    """Shops to be left after the test."""
    require_sandbox()
    made: list[Shop] = []
    yield made
    for shop in made:
        await shop.room.leave()
        await shop.machines.close()


def ends(room: Room, id: SessionId) -> dict[str, str]:
    return {body.key: body.outcome for body in room.bodies(id) if isinstance(body, ev.ToolFinished)}


@pytest.mark.parametrize("tree", [TREE, LOOSE], ids=["tree", "loose"])
async def test_a_cancelled_command_is_gone_with_its_children_in_a_quarter_of_a_second(
    shops: list[Shop], tmp_path: Path, tree: str
) -> None:
    shops.append(shop := Shop(tmp_path, [tree, "echo next"]))
    id = await shop.at_work(3)
    began = time.monotonic()
    await shop.room.do(cmd.CancelCall(id, FIRST, "Enough."))
    await shop.quiet()
    took = time.monotonic() - began
    assert took < QUIET_S
    await shop.room.settled(id)
    assert ends(shop.room, id)[FIRST] == "cancelled"
    assert ends(shop.room, id)[SECOND] == "ok"  # the session and its machine go on


@pytest.mark.parametrize("tree", [TREE, LOOSE], ids=["tree", "loose"])
async def test_a_stopped_session_is_quiet_in_a_quarter_of_a_second(
    shops: list[Shop], tmp_path: Path, tree: str
) -> None:
    shops.append(shop := Shop(tmp_path, [tree, "echo next"]))
    id = await shop.at_work(3)
    began = time.monotonic()
    await shop.room.do(cmd.Stop(id, "enough"))
    await shop.quiet()
    took = time.monotonic() - began
    assert took < QUIET_S
    state = await shop.room.settled(id)
    assert state.phase == "paused"
    assert ends(shop.room, id) == {FIRST: "cancelled"}
