"""P3: tokens that models use in 24 idle hours. What runs by itself so far is memory's upkeep and schedules.

A home in which things were said and noted down by a model; then a simulated day in which nobody says anything, with a
run of the upkeep every hour and memories whose time comes. And a home with five schedules and a goal that is reviewed
each week, none of them due that day, which are looked at every hour as after a change of the clock.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from bench.bar import Bar
from stead.domain import commands as cmd
from stead.domain.checks import Check
from stead.domain.schedules import Every, GoalReview, Schedule, SetSchedule
from stead.runtime.extractor import Extractor
from tests.fakes.world import ScriptedModels
from tests.runtime.house import House
from tests.runtime.room import Room, WireModels
from tests.storage.drafts import session

HOURS = 24
SAID = (
    "My home town is Bergen. My dentist is Dr Lund.",
    "Never deploy on Fridays.",
    "Lena from the print shop wants the flyers on thick paper, as always.",
)


def measure() -> list[Bar]:
    """The tokens of a day."""
    return [asyncio.run(_idle())]


async def _idle() -> Bar:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        house = House(Path(name))
        models = ScriptedModels(())
        extractor = Extractor(house.consolidation, lambda: models, house.journal)
        await house.hears(session(1), *SAID)
        busy = (*await house.run(), *await extractor.run())
        asked = len(models.requests)
        tokens = runs = 0
        for _ in range(HOURS):
            house.later(1 / 24)
            for run in (*await house.run(), *await extractor.run()):
                tokens, runs = tokens + run.tokens, runs + 1
        idle = len(models.requests) - asked
        house.close()
    looked = await _schedules()
    said = (
        f"{HOURS} simulated hours, memory's upkeep every hour; before them {sum(run.tokens for run in busy)} tokens in "
        f"{asked} requests, in them {idle} requests and {runs} runs for what had come to its end; "
        f"six schedules looked at each hour: {looked} requests"
    )
    return Bar("P3", tokens, "tokens in 24 idle hours", "0", tokens == idle == looked == 0 < asked, {}, said)


async def _schedules() -> int:
    """How often a model is asked in a day in which schedules are not due."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        room = Room(Path(name), WireModels(()))
        job = cmd.OpenSession(str(room.project), goal="Read the inbox", checks=(Check("exists", "never.txt"),))
        goal = (await room.do(job)).session
        await room.settled(goal)
        for number in range(5):
            await room.do(SetSchedule(Schedule(f"weekly-{number}", Every(7 * 86_400), job)))
        await room.do(SetSchedule(Schedule("review", Every(7 * 86_400), GoalReview(goal))))
        before = len(room.models.requests)
        for _ in range(HOURS):
            room.world.clock.ms += 3_600_000
            await room.runtime.schedules.settle()
        asked = len(room.models.requests) - before
        await room.leave()
    return asked
