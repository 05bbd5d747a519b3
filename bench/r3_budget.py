"""R3: 64 objectives race on the home's one daily cap, and the subagents of one objective, and theirs, on its budget.

So do 64 schedules that come due at the same moment.

At no moment may what is spent and reserved pass either.
"""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.bar import Bar
from bench.rig import PATIENT, UNLIMITED, Rig, plans, rig
from stead.domain.ends import ENDS, WELL
from tests.fakes.models import Seen, Turn
from tests.flows.agents import descendants, spawn
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json

OBJECTIVES = 64
CAP_TOKENS = 250_000
TREE_TOKENS = 600_000
USED = (1200, 800, 0, 0)
"""What each reply reports: enough that some objectives finish and the cap is truly reached."""


@dataclass(frozen=True)
class Race:
    """How it went.

    Args:
        peak: the most that was spent and reserved at any event, in tokens.
        spent: what the home's usage says at the end.
        completed: objectives that finished.
        paused: objectives that hold and name the cap.
        otherwise: how any other one ended; there should be none.
    """

    peak: int
    spent: int
    completed: int
    paused: int
    otherwise: tuple[str, ...]


def race(r: Rig, objectives: int, cap_tokens: int, *, scheduled: bool = False) -> Race:
    """Set the cap, let them all start at once, and wait until each has ended or holds.

    ``scheduled``: each is the run of a schedule of its own, and all are due at the same moment of a ``set_ahead`` home.
    """
    r.house.post("/cap", {"daily": {"tokens": cap_tokens, "usd_micros": "unlimited"}})
    if scheduled:
        ids = _runs_at_once(r, objectives)
    else:
        with ThreadPoolExecutor(8) as threads:
            ids = list(threads.map(r.give, (f"work {n}" for n in range(objectives))))
    rows = [r.house.wait(id, *WELL, "incomplete", "failed", "cancelled", "paused", timeout_s=120) for id in ids]
    held = {row["id"] for row in rows if row["status"] == "paused" and _names_cap(r.house.events(row["id"]))}
    completed = {row["id"] for row in rows if row["status"] in WELL}
    otherwise = tuple(
        f"{row['id']} is {row['status']}: {row['summary']}" for row in rows if row["id"] not in held | completed
    )
    usage = r.house.get("/usage")["items"]
    spent = sum(row["tokens_in"] + row["tokens_out"] for row in usage)
    return Race(_peak(r.house.events()), spent, len(completed), len(held), otherwise)


_DUE_IN_MS = 3_600_000


def set_ahead(folder: Path) -> dict[str, Any]:
    """What a rig's home is whose clock the race sets."""
    set_clock(folder / "clock", 0)
    return {"env": {"CLOCK": str(folder / "clock")}, "module": "tests.flows.clocked_daemon"}


def _runs_at_once(r: Rig, schedules: int) -> list[str]:
    """Have so many schedules come due at one moment; gives the sessions of their runs."""
    due_ms = int(time.time() * 1000) + _DUE_IN_MS
    given = {"budget": UNLIMITED, "limits": PATIENT, "allow": ["shell", "write", "edit"], "profile": "ask"}

    def one(n: int) -> str:
        job = {"type": "session.open", "goal": f"work {n}", "directory": str(r.project), **given}
        when = {"type": "every", "seconds": 86_400, "from_ms": due_ms - 86_400_000}
        r.house.post("/schedules", {"name": f"work-{n}", "when": when, "job": job})
        return f"work-{n}"

    def session(name: str) -> str:
        runs = r.house.get(f"/schedules/{name}/runs")["items"]
        return str(runs[0].get("session", "")) if runs else ""

    with ThreadPoolExecutor(8) as threads:
        names = list(threads.map(one, range(schedules)))
    set_clock(Path(r.house.env["CLOCK"]), _DUE_IN_MS)
    assert r.house.process
    r.house.process.send_signal(signal.SIGCONT)
    r.house.until(lambda: all(map(session, names)), "every schedule to run", timeout_s=90)
    return [session(name) for name in names]


def _names_cap(events: list[Json]) -> bool:
    """Whether the last pause says that the daily cap is why."""
    whys = [event["body"]["why"] for event in events if event["body"]["type"] == "session.paused"]
    return bool(whys) and "daily cap" in whys[-1]


_SETTLED = ("model.replied", "model.failed")


def _peak(events: list[Json]) -> int:
    """Replays the journal: a request counts as reserved until it is settled, then as spent."""
    counted: dict[tuple[str, int], int] = {}
    peak = 0
    for event in events:
        body = event["body"]
        if body["type"] in ("model.requested", *_SETTLED):
            amount = body["reserved" if body["type"] == "model.requested" else "spend"]["tokens"]
            counted[event["stream"], body["number"]] = amount
            peak = max(peak, sum(counted.values()))
    return peak


@dataclass(frozen=True)
class TreeRace:
    """How it went: as of ``Race``, for one objective and its subagents, and what the objective's row says is spent."""

    peak: int
    spent: int
    counted: int
    subagents: int


def race_below(r: Rig, tokens: int) -> TreeRace:
    """Have one objective start four subagents, and each of them four, down to the last; all work until none may."""
    r.model.script = _spawning
    budget = {"tokens": tokens, "usd_micros": "unlimited"}
    row = r.house.wait(r.house.give("work", r.project, budget=budget, limits=PATIENT), *ENDS, timeout_s=300)
    below = descendants(r.house, row["id"])
    events = [one for id in (row["id"], *(one["id"] for one in below)) for one in r.house.events(id)]
    events.sort(key=lambda event: int(event["seq"]))
    used = [event["body"]["spend"]["tokens"] for event in events if event["body"]["type"] in _SETTLED]
    if open_ := [one["id"] for one in below if one["status"] not in ENDS]:
        raise AssertionError(f"these had not ended when the objective had: {open_}")
    return TreeRace(_peak(events), sum(used), row["tokens_used"], len(below))


def _spawning(seen: Seen) -> Turn:
    at = sum(message["role"] == "assistant" for message in seen.body["messages"])
    calls = tuple(spawn(f"work {n}") for n in range(4)) if at == 0 else plans(at + 1)[at].calls
    return Turn("", calls, usage=USED, delay_s=0.02)


def measure() -> list[Bar]:
    """All three races."""
    return [_measured(), _measured(scheduled=True), _measured_below()]


def _measured_below() -> Bar:
    with rig([]) as r:
        found = race_below(r, TREE_TOKENS)
    overshoot = max(0, found.peak - TREE_TOKENS)
    said = (
        f"{found.subagents} subagents, three deep, on the {TREE_TOKENS:,} tokens of one objective: at most "
        f"{found.peak:,} spent or reserved, {found.spent:,} spent in the end, {found.counted:,} by the objective's row"
    )
    return Bar(
        "R3.tree", overshoot, "tokens past the budget", "0", not overshoot and found.spent == found.counted, {}, said
    )


def _measured(*, scheduled: bool = False) -> Bar:
    """One race on the cap; each objective wants three requests."""
    turns = [Turn(turn.text, turn.calls, usage=USED, delay_s=0.02) for turn in plans(2)]
    with TemporaryDirectory() as folder, rig(turns, **set_ahead(Path(folder))) as r:
        found = race(r, OBJECTIVES, CAP_TOKENS, scheduled=scheduled)
    overshoot = max(0, found.peak - CAP_TOKENS)
    at_once = f"{OBJECTIVES} {'schedules due' if scheduled else 'objectives'} at once"
    said = (
        f"{at_once} on {CAP_TOKENS:,} tokens: at most {found.peak:,} spent or reserved, "
        f"{found.spent:,} spent in the end; {found.completed} completed, {found.paused} hold and name the cap"
    )
    said += "".join(f"; {one}" for one in found.otherwise)
    holds = overshoot == 0 and not found.otherwise
    return Bar("R3.schedules" if scheduled else "R3", overshoot, "tokens past the cap", "0", holds, {}, said)
