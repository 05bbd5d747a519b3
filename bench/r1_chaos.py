"""R1: kill -9 at random instants and at every commit of runs whose tools must not run twice.

Each run appends numbered lines to a file of its folder by shell commands; the lines are counted there, outside Stead.
After each kill the daemon is started again and must go on by itself; what had not landed then waits for the person, who
lets it in when the run has ended. A line that stands twice, before that or after, is a repeated effect. A line that is
missing must belong to a call whose outcome the journal calls unknown. The negative control is a journal
that forgets what started: there effects must repeat, or the bench would see nothing.
"""

from __future__ import annotations

import contextlib
import os
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.bar import Bar
from bench.rig import PATIENT, UNLIMITED
from stead.client import ApiError, NoDaemon
from stead.domain.ends import ENDS, WELL
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served

KILLS = int(os.environ.get("STEAD_BENCH_KILLS", "200"))
CALLS, FEW_CALLS = 12, 3
"""In a run that is killed at random, and in one that is killed at each of its commits."""
LIVE = 3
ENDED = ENDS
SEED = 20261121
TURNS = [
    Turn(f"Line {n}.", (Call("shell", {"command": f"sleep 0.05; echo {n} >> effects.log; sleep 0.05"}),), delay_s=0.01)
    for n in range(CALLS)
]
"""Slow enough that most instants fall into a request, a command, or between an effect and its record."""


@dataclass
class Tally:
    """What became of everything."""

    kills: int = 0
    runs: int = 0
    completed: int = 0
    repeated: int = 0
    unknown: int = 0
    unexplained: int = 0
    """Lines that are missing although no outcome is called unknown."""
    start_s: list[float] = field(default_factory=list)
    """From the start of the daemon's process to its first answer."""
    resume_s: list[float] = field(default_factory=list)
    """From the start of the daemon's process to the first new fact of a session that was left open."""


@contextlib.contextmanager
def _home(calls: int, forked: bool) -> Iterator[tuple[LivingHome, Path]]:
    with tempfile.TemporaryDirectory(prefix="stead-chaos-") as folder, served(by_turn(*TURNS[:calls])) as model:
        house = LivingHome(Path(folder) / "home", module="bench.chaos_daemon", forked=forked)
        house.start()
        try:
            use_model(house, model.openai)
            yield house, Path(folder)
        finally:
            house.kill()


def _give(house: LivingHome, folder: Path) -> str:
    """The objective of a folder: the one that is there already, or a new one."""
    for row in house.client().items("/objectives"):
        if row["title"] == folder.name:
            return str(row["id"])
    folder.mkdir(exist_ok=True)
    return house.give("append the lines", folder, title=folder.name, budget=UNLIMITED, limits=PATIENT, allow=["shell"])


def at_random(kills: int, *, env: dict[str, str] | None = None, forked: bool = False) -> Tally:
    """Kill at random instants of the daemon's life, its start included, a few runs under way at any time."""
    tally, chance = Tally(), random.Random(SEED)
    with _home(CALLS, forked) as (house, root):
        house.env = env or {}
        open_runs: dict[str, Path] = {}
        while tally.kills < kills or open_runs:
            while len(open_runs) < LIVE and tally.kills < kills:
                folder = root / f"run-{tally.runs}"
                open_runs[_give(house, folder)] = folder
                tally.runs += 1
            if tally.kills < kills:
                _kill_some(house, tally, chance, root, min(2, kills - tally.kills))
                _restart(house, tally, set(open_runs))
            else:
                time.sleep(0.05)
            for id in list(open_runs):
                if house.get(f"/objectives/{id}")["status"] in ENDED:
                    _count(house, id, open_runs.pop(id), tally, CALLS)
    return tally


def _kill_some(house: LivingHome, tally: Tally, chance: random.Random, root: Path, kills: int) -> None:
    """One kill at any time while effects happen, and more at any time of the start that follows."""
    before, deadline = _lines(root), time.monotonic() + 10
    while _lines(root) == before and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, 0.5))
    house.kill()
    for _ in range(kills - 1):
        house.launch()
        time.sleep(chance.uniform(0.0, 3 * statistics.median(tally.start_s or [0.5])))
        house.kill()
    tally.kills += kills


def _lines(root: Path) -> int:
    """How much has been done: in the folders, and of what waits since a kill."""
    logs = [*root.glob("*/effects.log"), *root.glob("home/trials/*/layers/pending/effects.log")]
    return sum(log.stat().st_size for log in logs if log.exists())


def at_every_commit(most: int = 100) -> Tally:
    """Kill before and after the first commit of a daemon that starts and is given a run, the second, and so on."""
    tally = Tally()
    for fate in ("before", "after"):
        with _home(FEW_CALLS, False) as (house, root):
            for at in range(1, most + 1):
                if not _kill_at(house, root, tally, f"{fate}:{at}", {}):
                    break
    return tally


def at_commits(fates: Iterable[str], *, env: Mapping[str, str] | None = None, forked: bool = False) -> Tally:
    """Kill at chosen commits, such as ``before:4``, one run each."""
    tally = Tally()
    with _home(FEW_CALLS, forked) as (house, root):
        for fate in fates:
            _kill_at(house, root, tally, fate, env or {})
    return tally


def _kill_at(house: LivingHome, root: Path, tally: Tally, fate: str, env: Mapping[str, str]) -> bool:
    """A run whose daemon dies at a commit and is started again; whether the run came that far."""
    folder = root / f"run-{tally.runs}"
    house.kill()
    house.env = {"STEAD_CHAOS": fate}
    died = _dies(house, folder)
    if died:
        house.env = env
        house.start()
    tally.kills += died
    tally.runs += 1
    id = _give(house, folder)
    house.wait(id, *ENDED)
    _count(house, id, folder, tally, FEW_CALLS)
    return died


def _dies(house: LivingHome, folder: Path) -> bool:
    """Start a doomed daemon and give it a run; whether it died before the run was over."""
    try:
        house.start()
        id = _give(house, folder)
    except (ApiError, AssertionError):
        assert house.process is not None
        house.process.wait(10)
        return True  # it died before it answered
    assert house.process is not None
    deadline = time.monotonic() + 20
    while house.process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(NoDaemon):
            if house.get(f"/objectives/{id}")["status"] in ENDED:
                return False
        time.sleep(0.02)
    return True


def _restart(house: LivingHome, tally: Tally, open_runs: set[str]) -> None:
    began = time.monotonic()
    tally.start_s.append(house.start())
    started = next(event for event in reversed(house.events("home")) if event["body"]["type"] == "daemon.started")
    waiting = open_runs & set(started["body"]["recovered"])
    if not waiting:
        return
    stream = house.client().stream(started["seq"])
    while time.monotonic() - began < 20:  # a run that never goes on shows as these 20 s
        if any(envelope["stream"] in waiting for envelope in stream.next(1.0) if "seq" in envelope):
            break
    tally.resume_s.append(time.monotonic() - began)
    stream.close()


def _count(house: LivingHome, id: str, folder: Path, tally: Tally, calls: int) -> None:
    landed = _counted(folder)
    try:
        house.post(f"/objectives/{id}/trial/apply", {})
    except ApiError as refused:
        assert refused.status == 404, refused  # nothing waits
    lines = _counted(folder)
    tally.unexplained += (landed - lines).total()  # what waits is all that was there, and more
    tally.repeated += sum(count - 1 for count in lines.values() if count > 1)
    ends = house.bodies(id, "tool.finished")
    unknown = sum(end["outcome"] == "unknown" for end in ends)
    tally.completed += house.get(f"/objectives/{id}")["status"] in WELL
    tally.unknown += unknown
    tally.unexplained += max(0, calls - len(lines) - unknown)


def _counted(folder: Path) -> Counter[str]:
    log = folder / "effects.log"
    return Counter(log.read_text("utf-8").split() if log.exists() else ())


def measure() -> list[Bar]:
    """Random kills, kills at every commit, and the control."""
    chaos = at_random(KILLS)
    boundary = at_every_commit()
    control = at_random(min(KILLS, 30), env={"STEAD_CHAOS": "forget"})
    kills = chaos.kills + boundary.kills
    repeated = chaos.repeated + boundary.repeated
    bad = repeated + chaos.unexplained + boundary.unexplained
    runs = chaos.runs + boundary.runs
    finished = chaos.completed + boundary.completed
    slowest = max(chaos.resume_s, default=0.0)
    said = (
        f"{chaos.kills} random kills and {boundary.kills} at commits, {runs} runs, {finished} completed, "
        f"{chaos.unknown + boundary.unknown} outcomes shown as unknown; resume median "
        f"{statistics.median(chaos.resume_s or [0]):.2f} s, of which the daemon's start takes "
        f"{statistics.median(chaos.start_s or [0]):.2f} s; control repeated {control.repeated} effects"
    )
    holds = bad == 0 and finished == runs and control.repeated > 0
    return [
        Bar(
            "R1",
            bad,
            f"effects repeated or lost in {kills} kills",
            "0",
            holds,
            {"a journal that forgets": control.repeated},
            said,
        ),
        Bar("R1.resume", slowest, "s until every run goes on", "< 2", slowest < 2, {}, said),
    ]
