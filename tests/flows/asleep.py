"""A home on a host that sleeps: its daemon and all that it started are stopped, and go on with a clock that went on.

A host's clock cannot be moved by a test, so the daemon's is. What a sleep does to the rest is done to it: the stream of
a model is lost without a word, a machine stands still, a watcher hears nothing, and due times pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.models import Call, Seen, Turn
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.watching import Watcher

SHORT_S = 5.0
"""Of a sleep; a connection outlives it."""
_STOPPED_S = 0.2
_HOUR_MS = 3_600_000
CALL, LOOK = "Write down the time twice", "Look around"


class Sleeper:
    """A home whose host can sleep, with a session at work and a schedule.

    Args:
        root: an empty folder.
        project: where the work is.
        sleep_s: for how long it is going to sleep.
    """

    def __init__(self, root: Path, project: Path, sleep_s: float) -> None:
        self._clock = root / "clock"
        set_clock(self._clock, 0)
        self.sleep_s = sleep_s
        self.project = project
        env = {"CLOCK": str(self._clock)}
        self.house = LivingHome(root / "home", env=env, module="tests.flows.clocked_daemon", forked=True)
        self._asked = 0

    def reply(self, seen: Seen) -> Turn:
        """What the model says: to the session a command, then a reply that the sleep cuts off, then another command."""
        if LOOK in str(seen.body["messages"]):
            return Turn("Nothing new.")
        self._asked += 1
        if self._asked == 2:
            words = "And now I shall write it down again."
            return Turn(words, delay_s=0.05 if self.sleep_s < SHORT_S else 3600)
        if self._asked > (2 if self.sleep_s < SHORT_S else 3):
            return Turn("Done.")
        return Turn("", calls=(Call("shell", {"command": f"date > {self._asked}.txt"}),))

    def go(self) -> tuple[float, Json]:
        """Work, sleep, wake; gives the seconds from the waking until all is well, and what became of the schedule."""
        house = self.house
        with served(self.reply) as model:
            use_model(house, model.openai)
            since_ms = int(time.time() * 1000)
            first_ms = since_ms + (1_500 if self.sleep_s < SHORT_S else 30_000)
            job = {"type": "session.open", "directory": str(self.project), "goal": LOOK}
            when = {"type": "every", "seconds": 3600, "from_ms": first_ms - _HOUR_MS}
            house.post("/schedules", {"name": "hourly", "when": when, "job": job})
            id = house.give(CALL, self.project, profile="work")
            watcher = Watcher(house, id, "ws", last=("objective.ended", 1))
            watching = threading.Thread(target=lambda: asyncio.run(watcher.until_the_end()))
            watching.start()
            house.until(lambda: any("And" in str(said) for said in watcher.transients), "the reply to begin")
            woke = self._sleep()
            until_ms = since_ms + int(self.sleep_s * 1000)
            due = range(first_ms, max(until_ms, first_ms) + 1, _HOUR_MS)
            house.until(lambda: self._settled(due), "the schedule to be settled", poll_s=0.05)
            watching.join(60)
            assert watcher.done, "the watcher saw the end"
            took_s = time.monotonic() - woke
            ended = [body["status"] for body in house.bodies(id, "objective.ended")]
            runs: list[Json] = house.get("/schedules/hourly/runs")["items"]
            recorded = [run["due_ms"] for run in runs if run["times"] == 1] + [
                at for run in runs if run["times"] > 1 for at in range(run["due_ms"], run["last_ms"] + 1, _HOUR_MS)
            ]
            told = {
                "ended": ended,
                "lost": len({*due} - {*recorded}),
                "doubled": len(recorded) - len({*recorded}),
                "ran": sum(bool(run["session"]) for run in runs),
                "sockets": watcher.connections,
            }
        return took_s, told

    def _settled(self, due: range) -> bool:
        runs: list[Json] = self.house.get("/schedules/hourly/runs")["items"]
        return any(run["session"] and run["end"] and run["due_ms"] == due[-1] for run in runs)

    def _sleep(self) -> float:
        """Stop everything, move the clock, let everything go on; gives the moment of waking."""
        assert self.house.process is not None
        all_ = [*tree(self.house.process.pid)]
        for pid in all_:
            _signal(pid, signal.SIGSTOP)
        time.sleep(_STOPPED_S)  # the sleep itself; long enough for what is in flight to arrive
        set_clock(self._clock, int((self.sleep_s - _STOPPED_S) * 1000))
        woke = time.monotonic()
        for pid in reversed(all_):
            _signal(pid, signal.SIGCONT)
        return woke


def tree(pid: int) -> Iterator[int]:
    """A process and all that it started, parents first."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                yield from tree(int(child))


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended by itself
        os.kill(pid, number)
