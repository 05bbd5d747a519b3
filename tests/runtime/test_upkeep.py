"""When consolidation runs by itself, and its commands through the runtime."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound, StorageFault
from stead.domain.ids import CommandId
from stead.domain.memory import MEMORY, MemoryRow, RunId
from stead.domain.memory_commands import Consolidate, RevertRun, SettleProposal
from stead.domain.memory_ports import RowsWanted
from stead.runtime.bus import Subscription
from stead.runtime.consolidation import Consolidation
from stead.runtime.extractor import Extractor
from stead.runtime.upkeep import DAILY_S, EVERY_S, LONGEST_S, QUIET_S, Upkeep, Waits
from tests.fakes.world import ScriptedModels
from tests.runtime.house import House
from tests.runtime.room import Room, WireModels
from tests.storage.drafts import session

ADA = session(1)


@pytest.mark.parametrize(
    ("waits", "due_s"),
    [
        (Waits(), 1000 + DAILY_S),
        (Waits(ran_s=900), 900 + DAILY_S),
        (Waits(ended_s=1000), 1000 + QUIET_S),
        (Waits(ran_s=990, ended_s=1000), 990 + EVERY_S),
        (Waits(ran_s=1, ended_s=1000), 1000 + QUIET_S),
    ],
)
def test_a_run_waits_for_quiet_and_for_the_one_before(waits: Waits, due_s: float) -> None:
    assert waits.due_s(1000) == due_s


def test_where_it_is_never_quiet_a_run_comes_all_the_same() -> None:
    waits = Waits(ended_s=0)
    for now_s in range(0, 10_000, 100):
        waits.ended(now_s)
    assert waits.due_s(10_000) == LONGEST_S


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def recorded(watch: Subscription, count: int) -> None:
    """Wait until so many runs have ended."""
    async with asyncio.timeout(30):
        while count > 0:
            for item in await watch.next():
                count -= isinstance(item, ev.Event) and isinstance(item.body, ev.MemoryConsolidated)


async def test_it_runs_by_itself_at_the_start_and_when_a_turn_has_ended(house: House) -> None:
    models = ScriptedModels(())
    extractor = Extractor(house.consolidation, lambda: models, house.journal, tokens_a_day=0)
    upkeep = Upkeep(house.consolidation, extractor, house.runs, house.settling, house.bus, quiet_s=0.01, every_s=0.01)
    await house.hears(ADA, "My home town is Bergen.")
    watch = house.bus.subscribe()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(upkeep.keep())
        await recorded(watch, 1)
        assert house.live() == {"person.home_town": "Bergen"}
        await house.hears(ADA, "My dentist is Dr Lund.")
        ended = ev.TurnEnded(1, "done", "Noted.")
        seq = await house.talk.tell(ADA, ended)
        house.bus.publish(
            (next(iter(event for event in house.journal.events(after=seq - 1) if isinstance(event, ev.Event))),)
        )
        await recorded(watch, 1)
        task.cancel()
    assert house.live() == {"person.home_town": "Bergen", "person.dentist": "Dr Lund"}
    watch.close()
    assert house.bus.watchers == 0


class Failing(Consolidation):
    """Cannot read the journal, the first times."""

    def __init__(self, house: House, times: int) -> None:
        super().__init__(house.memories, house.material)
        self.times = times

    async def run(self) -> tuple[ev.MemoryConsolidated, ...]:
        self.times -= 1
        if self.times >= 0:
            raise StorageFault("the disk is busy")
        return await super().run()


async def test_what_could_not_be_worked_in_is_tried_again_though_nothing_else_happens(house: House) -> None:
    consolidation = Failing(house, 2)
    extractor = Extractor(consolidation, lambda: ScriptedModels(()), house.journal, tokens_a_day=0)
    upkeep = Upkeep(consolidation, extractor, house.runs, house.settling, house.bus, quiet_s=0.01, every_s=0.01)
    await house.hears(ADA, "My home town is Bergen.")
    watch = house.bus.subscribe()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(upkeep.keep())
        await recorded(watch, 1)
        task.cancel()
    watch.close()
    assert house.live() == {"person.home_town": "Bergen"}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path, WireModels(()))
    yield room
    room.world.close()


def rows(room: Room) -> tuple[MemoryRow, ...]:
    return room.world.books.rows(RowsWanted(limit=100))[0]


async def test_people_have_it_run_take_a_run_back_and_settle_what_it_proposed(room: Room) -> None:
    id = await room.open()
    await room.tell(id, "My home town is Bergen. Always run the tests first.")
    answer = await room.do(Consolidate())
    assert (answer.session, answer.text) == (MEMORY, "2 remembered, 0 retired, 2 proposed, 0 tokens")
    assert (await room.do(Consolidate())).text == "nothing was new"
    (asked,) = [one for one in room.world.books.proposals(waiting=True) if one.proposal.text == "workspace"]
    assert (await room.do(SettleProposal(asked.proposal.id, accept=True))).text == "1 are seen further now"
    with pytest.raises(Conflict, match="was accepted before"):
        await room.do(SettleProposal(asked.proposal.id, accept=False))
    ((_, run),) = room.world.books.runs(10)
    (order,) = [row.memory for row in rows(room) if row.memory.standing]
    text = (await room.do(RevertRun(run.run))).text
    assert text == f"{run.run} is taken back, 2 changes; what you have changed since stays: {order.id}"
    assert [row.memory for row in rows(room)] == [order], "the person has had it told more widely"
    with pytest.raises(NotFound, match="there was no consolidation"):
        await room.do(RevertRun(RunId("c_none")))


async def test_a_command_that_comes_twice_happens_once(room: Room) -> None:
    await room.tell(await room.open(), "My home town is Bergen.")
    first = await room.runtime.handle(Consolidate(), id=CommandId("once"), door="cli")
    again = await room.runtime.handle(Consolidate(), id=CommandId("once"), door="cli")
    assert first == again
    assert len(room.world.books.runs(10)) == 1
