"""P10: many at once. Eight sessions with three tool calls a turn, and the gap while 500 sessions are live.

A turn is a goal, three sandboxed reads and the answer: four requests. The model answers at once for the rate. For the
gaps it takes its time, as real ones do, so that all 500 sessions are at work together, and each conversation at a pace
of its own, drawn with a fixed seed: in step they would measure a stampede. Their calls are in-process, since 500
sandboxes would measure the memory of this computer. The model server and the watcher share its processors with the
daemon; what else runs there is told by the load.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.bar import Bar
from bench.meters import cpu_s
from bench.rig import Rig, goal_of, plans, reads, rig
from stead.domain.ends import WELL
from tests.fakes.models import Script, Seen, ServedModel, Turn
from tests.flows.served import by_turn

ANCHORS = {"nanobot": 4.4, "Hermes": 1.5, "OpenClaw": 1.3}
PARALLEL = 8
CALLS = 3
TURNS = 15
"""Of each of the eight."""
LIVE = 500
SLOW_S = (1.0, 3.0)
"""Between the pieces of a reply while 500 sessions wait for theirs, from the fastest to the slowest conversation."""


def measure() -> list[Bar]:
    """Both figures."""
    with rig(reads(CALLS)) as r:
        _crowd(r, PARALLEL, 1)
        before = cpu_s(r.pid)
        took = _crowd(r, PARALLEL, TURNS)
        cpu_ms = (cpu_s(r.pid) - before) / (PARALLEL * TURNS) * 1000
    rate = PARALLEL * TURNS / took
    turns = f"{PARALLEL} at once, {TURNS} turns of {CALLS} sandboxed reads each"
    said = f"{turns}; {cpu_ms:.0f} ms CPU a turn, {_conditions()}"
    gaps = _gaps()
    p99 = statistics.quantiles(gaps, n=100)[98]
    paces = f"{LIVE} sessions at work at once, pieces {SLOW_S[0]:g} to {SLOW_S[1]:g} s apart"
    live = f"{paces}, {len(gaps)} gaps; median {statistics.median(gaps):.0f} ms, {_conditions()}"
    return [
        Bar("P10", rate, "turns/s", "≥ 20", rate >= 20, ANCHORS, said),
        Bar("P10.live", p99, "ms p99 gap", "< 250", p99 < 250, {}, live),
    ]


def _conditions() -> str:
    return f"{os.cpu_count()} processors shared with the model server, load {os.getloadavg()[0]:.1f}"


def _crowd(r: Rig, wide: int, turns: int) -> float:
    """Seconds that so many people take who each give one goal after the other."""
    ended: set[str] = set()
    began = time.monotonic()
    open_now = {r.give(f"goal {n}") for n in range(wide)}
    given, wanted = wide, wide * turns
    while len(ended) < wanted:
        if time.monotonic() - began > 300:
            raise AssertionError(f"{len(ended)} of {wanted} turns ended within 300 s")
        for envelope in r.watching.next(1.0):
            if envelope["body"]["type"] != "objective.ended" or envelope["stream"] not in open_now:
                continue
            assert envelope["body"]["status"] in WELL, envelope["body"]["summary"]
            ended.add(envelope["stream"])
            if given < wanted:
                open_now.add(r.give(f"goal {given}"))
                given += 1
    return time.monotonic() - began


def _gaps() -> list[float]:
    """Milliseconds from each answer to the next request of the same session, while all are live."""
    with rig(plans(CALLS)) as r:
        r.house.stop()
        r.house.home.settings.write_text(f'discover = "off"\nmax_live_sessions = {LIVE}\n', "utf-8")
        r.house.start()
        r.model.script = _slowly(by_turn(*plans(CALLS)))
        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(lambda n: r.give(f"goal {n:03d}"), range(LIVE)))
        for id in ids:
            r.house.wait(id, *WELL, timeout_s=300)
        return list(_between(r.model))


def _slowly(script: Script) -> Script:
    assert callable(script)

    def reply(seen: Seen) -> Turn:
        turn = script(seen)
        return Turn(turn.text, turn.calls, delay_s=random.Random(goal_of(seen)).uniform(*SLOW_S))

    return reply


def _between(model: ServedModel) -> Iterator[float]:
    """By conversation, which its goal names."""
    ended: dict[str, float] = defaultdict(float)
    for place, seen in enumerate(model.requests()):
        who = goal_of(seen)
        if ended[who]:
            yield (model.arrived_s[place] - ended[who]) * 1000
        ended[who] = model.replied_s.get(place, 0.0)
