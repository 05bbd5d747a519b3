"""R3: 64 objectives race on the home's one daily cap; at no moment may what is spent and reserved pass it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.bar import Bar
from bench.rig import Rig, plans, rig
from stead.domain.ends import WELL
from tests.fakes.models import Turn
from tests.flows.house import Json

OBJECTIVES = 64
CAP_TOKENS = 250_000
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


def race(r: Rig, objectives: int, cap_tokens: int) -> Race:
    """Set the cap, let them all start at once, and wait until each has ended or holds."""
    r.house.post("/cap", {"daily": {"tokens": cap_tokens, "usd_micros": "unlimited"}})
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


def _names_cap(events: list[Json]) -> bool:
    """Whether the last pause says that the daily cap is why."""
    whys = [event["body"]["why"] for event in events if event["body"]["type"] == "session.paused"]
    return bool(whys) and "daily cap" in whys[-1]


def _peak(events: list[Json]) -> int:
    """Replays the journal: a request counts as reserved until it is settled, then as spent."""
    counted: dict[tuple[str, int], int] = {}
    peak = 0
    for event in events:
        body = event["body"]
        if body["type"] in ("model.requested", "model.replied", "model.failed"):
            amount = body["reserved" if body["type"] == "model.requested" else "spend"]["tokens"]
            counted[event["stream"], body["number"]] = amount
            peak = max(peak, sum(counted.values()))
    return peak


def measure() -> list[Bar]:
    """One race; each objective wants three requests."""
    turns = [Turn(turn.text, turn.calls, usage=USED, delay_s=0.02) for turn in plans(2)]
    with rig(turns) as r:
        found = race(r, OBJECTIVES, CAP_TOKENS)
    overshoot = max(0, found.peak - CAP_TOKENS)
    said = (
        f"{OBJECTIVES} objectives at once on {CAP_TOKENS:,} tokens: at most {found.peak:,} spent or reserved, "
        f"{found.spent:,} spent in the end; {found.completed} completed, {found.paused} hold and name the cap"
    )
    said += "".join(f"; {one}" for one in found.otherwise)
    holds = overshoot == 0 and not found.otherwise
    return [Bar("R3", overshoot, "tokens past the cap", "0", holds, {}, said)]
