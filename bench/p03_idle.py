"""P3: tokens that models use in 24 idle hours. What runs by itself is memory's upkeep, schedules, watches, a heartbeat.

A home in which things were said and noted down by a model; then a simulated day in which nobody says anything, with a
run of the upkeep every hour and memories whose time comes. And a home with five schedules and a goal that is reviewed
each week, none of them due that day, which are looked at every hour as after a change of the clock. Beside them a
heartbeat every half hour over a folder of 1,000 files, and three watches that are compared every quarter of an hour: a
folder, a feed over a real socket, and a file; nothing of it changes. How much CPU that takes is told.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench.bar import Bar
from stead.domain import commands as cmd
from stead.domain.checks import Check
from stead.domain.schedules import Every, GoalReview, Schedule, SetSchedule
from stead.domain.watches import FeedWatch, PathWatch, Watch
from stead.machines.file_looks import HostFileLooks
from stead.net.dialing import Dialer
from stead.runtime.calendars import CalendarEvents
from stead.runtime.extractor import Extractor
from stead.tools.looking import SourceLooks
from tests.fakes.world import ScriptedModels
from tests.runtime.house import House
from tests.runtime.room import Room, WireModels
from tests.storage.drafts import session
from tests.tools.test_fetch import response, site

HOURS = 24
FILES = 1_000
CPU_S = 30.0
FEED = b"<rss><channel><item><guid>1</guid><title>Pears</title></item></channel></rss>"
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
    looked, looks, cpu_s = await _schedules()
    said = (
        f"{HOURS} simulated hours, memory's upkeep every hour; before them {sum(run.tokens for run in busy)} tokens in "
        f"{asked} requests, in them {idle} requests and {runs} runs for what had come to its end; "
        f"ten schedules, of them a heartbeat and three watches with {looks} looks in all: {looked} requests, "
        f"{cpu_s:.1f} s of CPU"
    )
    fine = tokens == idle == looked == 0 < min(asked, looks) and cpu_s < CPU_S
    return Bar("P3", tokens, "tokens in 24 idle hours", "0", fine, {}, said)


async def _schedules() -> tuple[int, int, float]:
    """How often a model is asked in a day in which nothing is due or has changed; how many looks; seconds of CPU."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        room = Room(Path(name), WireModels(()))
        for number in range(FILES):
            (room.project / f"note-{number}.md").write_text(f"note {number}\n" * 20)
        job = cmd.OpenSession(str(room.project), goal="Read the inbox", checks=(Check("exists", "never.txt"),))
        goal = (await room.do(job)).session
        await room.settled(goal)
        async with site(response(FEED, extra='ETag: "1"\r\n')) as served:
            nothing: object = None  # no command is watched
            files = HostFileLooks()
            looks = SourceLooks(Dialer(served.reach), nothing, files, CalendarEvents(), lambda _: "")  # type: ignore[arg-type]
            watching = room.runtime.schedules.watching
            watching.looks = looks
            for number in range(5):
                await room.do(SetSchedule(Schedule(f"weekly-{number}", Every(7 * 86_400), job)))
            await room.do(SetSchedule(Schedule("review", Every(7 * 86_400), GoalReview(goal))))
            watches: dict[str, Watch] = {
                "folder": PathWatch(),
                "feed": FeedWatch(served.url()),
                "file": PathWatch("note-1.md"),
            }
            for of, watch in watches.items():
                await room.do(SetSchedule(Schedule(of, Every(900), job, watches=(watch,))))
            beat = Schedule("beat", Every(1800), job, watches=(PathWatch(),), checklist="HEARTBEAT.md")
            await room.do(SetSchedule(beat))
            before, began_s = len(room.models.requests), time.process_time()
            for _ in range(HOURS * 4):
                room.world.clock.ms += 900_000
                await room.runtime.schedules.settle()
                await watching.settle()
            cpu_s = time.process_time() - began_s
            asked = len(room.models.requests) - before
            compared = sum(watching.counts(of)[1] for of in (*watches, "beat"))
        await room.leave()
    return asked, compared, cpu_s
