"""R2: from a person's STOP to the death of what it stops, while other sessions keep the loop busy.

In the middle of a tool it is a ``sleep`` in the sandbox with every process between it and the daemon, each watched by
a pidfd. In the middle of a stream it is the model's connection, seen to close at the server. STOP comes by HTTP, and
by the command line, whose time holds the start of its own interpreter.
"""

from __future__ import annotations

import os
import random
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from bench.bar import Bar
from bench.rig import Rig, goal_of, rig
from tests.fakes.models import Call, Seen, Turn
from tests.flows.agents import spawn
from tests.machines.bench import fresh_nap, napping

TRIES = int(os.environ.get("STEAD_BENCH_TRIES", "25"))
BUSY = 3
TARGET_MS = 300
DEADLINE_S = 20.0
_ENDLESS = "be busy"
"""The goal, and with it the title, of the sessions that keep the loop busy."""

Stop = Callable[[Rig, str], None]


def measure() -> list[Bar]:
    """Both surfaces, both moments, in turns."""
    taken: dict[tuple[str, str], list[float]] = {}
    start_ms: list[float] = []
    surfaces: dict[str, Stop] = {"API": _by_api, "CLI": _by_command}
    with rig([]) as r:
        r.model.script = busy
        for _ in range(TRIES):
            _keep_busy(r)
            for surface, stop in surfaces.items():
                taken.setdefault((surface, "tool"), []).append(_stop_tool_ms(r, stop))
                taken.setdefault((surface, "stream"), []).append(_stop_stream_ms(r, stop))
                taken.setdefault((surface, "tree"), []).append(_stop_tree_ms(r, stop))
            start_ms.append(_interpreter_ms())
    interpreter = statistics.median(start_ms)
    return [_bar("R2", "API", taken, 0.0), _bar("R2.cli", "CLI", taken, interpreter)]


def _bar(id: str, surface: str, taken: dict[tuple[str, str], list[float]], interpreter_ms: float) -> Bar:
    figure = max(max(times) for (by, _), times in taken.items() if by == surface)
    parts = [f"{TRIES} tries each while {BUSY} sessions work"]
    for (by, moment), times in taken.items():
        if by == surface:
            parts.append(f"mid-{moment} median {statistics.median(times):.0f}, slowest {max(times):.0f} ms")
    if interpreter_ms:
        parts.append(f"an empty Python takes {interpreter_ms:.0f} ms of each")
    return Bar(
        id, figure, f"ms, the slowest STOP by {surface}", f"< {TARGET_MS}", figure < TARGET_MS, {}, "; ".join(parts)
    )


# -- what the model says ---------------------------------------------------------------------------------------------


def busy(seen: Seen) -> Turn:
    """The goal says what a session is for: a call that sleeps, a long answer, three subagents, calls without an end."""
    goal = goal_of(seen)
    if goal.startswith("tree"):
        return Turn("", tuple(spawn(f"nap {nap}") for nap in goal.split()[1:]))
    at = sum(message["role"] == "assistant" for message in seen.body["messages"])
    if "nap" in goal:
        return Turn("", (Call("shell", {"command": f"sleep {goal.split()[-1]}"}),))
    if "talk" in goal:
        return Turn("word " * 4000, delay_s=0.02)
    return Turn(f"Still at it: {at}.", (Call("plan", {"steps": [{"title": f"step {at}"}]}),))


def _keep_busy(r: Rig) -> None:
    under_way = [row for row in r.house.get("/objectives", status="running")["items"] if row["title"] == _ENDLESS]
    for _ in range(BUSY - len(under_way)):
        r.give(_ENDLESS)


# -- the two moments -------------------------------------------------------------------------------------------------


def _stop_tool_ms(r: Rig, stop: Stop) -> float:
    nap = fresh_nap()
    id = r.give(f"nap {nap}")
    r.house.until(lambda: bool(napping(nap)), "the sleep to begin")
    with _watched([pid for one in napping(nap) for pid in _up_to(one, r.pid)]) as died_at:
        began = time.monotonic()
        stop(r, id)
        return (died_at() - began) * 1000


def _stop_stream_ms(r: Rig, stop: Stop) -> float:
    before = len(r.model.requests())
    id = r.give("talk")
    r.house.until(lambda: any(goal_of(seen) == "talk" for seen in r.model.requests()[before:]), "the stream to begin")
    time.sleep(random.uniform(0.02, 0.2))
    left_at: list[float] = []
    watcher = Thread(target=_wait_for_leave, args=(r, left_at))
    r.model.left.clear()
    watcher.start()
    began = time.monotonic()
    stop(r, id)
    watcher.join(DEADLINE_S)
    if not left_at:
        raise AssertionError(f"the connection to the model was still open {DEADLINE_S:g} s after STOP")
    return (left_at[0] - began) * 1000


def _stop_tree_ms(r: Rig, stop: Stop) -> float:
    """A session with three subagents, each in a call that sleeps: from the STOP to the death of the last process."""
    naps = [fresh_nap() for _ in range(3)]
    id = r.give(f"tree {' '.join(naps)}")
    r.house.until(lambda: all(napping(nap) for nap in naps), "the subagents to sleep")
    with _watched([pid for nap in naps for one in napping(nap) for pid in _up_to(one, r.pid)]) as died_at:
        began = time.monotonic()
        stop(r, id)
        return (died_at() - began) * 1000


def _up_to(pid: int, daemon: int) -> Iterator[int]:
    """A process and those above it, the daemon excluded: the whole chain of its sandbox."""
    while pid not in (daemon, 0):
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])


@contextmanager
def _watched(pids: list[int]) -> Iterator[Callable[[], float]]:
    """Gives a function that waits until all are dead, and says when the last one died."""
    handles = [os.pidfd_open(pid) for pid in dict.fromkeys(pids)]
    ends: list[float] = []
    watcher = Thread(target=_wait_for_deaths, args=(handles, ends))
    watcher.start()

    def died_at() -> float:
        watcher.join(DEADLINE_S)
        if not ends:
            raise AssertionError(f"processes of the sandbox lived on for {DEADLINE_S:g} s after STOP")
        return ends[0]

    try:
        yield died_at
    finally:
        watcher.join(DEADLINE_S)
        for handle in handles:
            os.close(handle)


def _wait_for_deaths(handles: list[int], ends: list[float]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    for handle in handles:
        if not select.select([handle], [], [], deadline - time.monotonic())[0]:
            return
    ends.append(time.monotonic())


def _wait_for_leave(r: Rig, left_at: list[float]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if r.model.left.is_set():
            left_at.append(time.monotonic())
            return
        time.sleep(0.001)


# -- the two surfaces ------------------------------------------------------------------------------------------------


def _by_api(r: Rig, id: str) -> None:
    r.house.post(f"/objectives/{id}/stop", {"why": "bench"})


def _by_command(r: Rig, id: str) -> None:
    command = [sys.executable, "-m", "stead", "stop", id]
    subprocess.run(command, env=r.house.environment, capture_output=True, check=True, timeout=DEADLINE_S)


def _interpreter_ms() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", ""], check=True, timeout=DEADLINE_S)
    return (time.monotonic() - began) * 1000
