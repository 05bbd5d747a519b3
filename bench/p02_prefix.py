"""P2: request N's prompt is an exact byte prefix of request N+1's, over 50 turns, a restart, and trimming.

The reads are large enough to pass the limit of the window again and again. Where the mark of what is trimmed moves, the
prompt repeats the one before as far as the mark stood, and from there on it is a new one by intention; such a pair is
counted only by that part. Every other pair has to repeat all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from bench.bar import Bar
from bench.rig import Rig, plans, rig
from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn

TURNS = 50
LINES = {"compatible": 50, "anthropic": 600}
"""Of one read, by wire; the windows are of 32,768 and 200,000 tokens."""
LINE = "line {number:05d} of the ledger: 12 crates of pears to pier 7, paid, signed by the harbour master"
ASKS = Turn("", calls=(Call("shell", {"command": "make ledger"}),))
"""A command that a person is asked about."""


@dataclass
class Kept:
    """What of the prompts repeats the ones before. ``moved``: pairs between which the mark moved."""

    pairs: int = 0
    kept: int = 0
    moved: int = 0
    broken_before_mark: int = 0


def measure() -> list[Bar]:
    """Both wires: plans and reads, a question that waits over a restart, more reads."""
    found = Kept()
    for preset, lines in LINES.items():
        half = _reads(TURNS // 2, lines)
        with rig([*plans(2), *half, ASKS, *half[: TURNS - len(half) - 4]], preset=preset) as r:
            _run(r)
            _count(r, found)
    said = (
        f"{TURNS} turns each on OpenAI's and Anthropic's wire, kill -9 and restart in the middle: {found.pairs} pairs; "
        f"trimmed {found.moved} times, then alike up to the old mark {found.moved - found.broken_before_mark} times"
    )
    holds = found.kept == found.pairs and found.moved > 1 and not found.broken_before_mark
    anchors = {"nanobot": 50.0, "Hermes": 53.0, "OpenClaw": 0.0}
    share = 100 * found.kept / found.pairs
    return [Bar("P2", share, "% of requests repeat the one before", "100", holds, anchors, said)]


def _reads(count: int, lines: int) -> list[Turn]:
    """Turns with one large read each, all different, whose tokens nobody counts: so Stead goes by its upper bound."""
    return [
        Turn("", calls=(Call("read", {"path": "ledger.txt", "line": 1 + at, "lines": lines}),), usage=None)
        for at in range(count)
    ]


def _run(r: Rig) -> None:
    text = "\n".join(LINE.format(number=number) for number in range(1000))
    (r.project / "ledger.txt").write_text(text + "\n", "utf-8")
    id = r.house.give("work", r.project, budget={"tokens": "unlimited", "usd_micros": "unlimited"}, limits=_LIMITS)
    r.house.wait(id, "waiting", timeout_s=120)
    r.house.kill()
    r.house.start()
    row = r.house.finish(id, answer="once", timeout_s=120)
    if row["status"] not in WELL:
        raise AssertionError(f"the run ended as {row['status']}: {row['summary']}")


_LIMITS = {"iterations": 200, "stall": 100, "repetition": 100}


def _count(r: Rig, found: Kept) -> None:
    """Hold each prompt against the one before, with the marks that the journal has of both."""
    [id] = [row["id"] for row in r.house.get("/objectives")["items"]]
    asked = r.house.bodies(id, "model.requested")
    prompts = [seen.prompt for seen in r.model.requests()]
    if len(prompts) != len(asked):
        raise AssertionError(f"{len(prompts)} requests came, {len(asked)} are in the journal")
    for (earlier, before), (later, after) in pairwise(zip(prompts, asked, strict=True)):
        was, now = before.get("trimmed", 0), after.get("trimmed", 0)
        if was == now:
            found.pairs += 1
            found.kept += later.startswith(earlier)
        else:
            found.moved += 1
            found.broken_before_mark += _alike(earlier, later) < _place(earlier, was)


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes at their starts are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _place(prompt: bytes, mark: int) -> int:
    """Where in a prompt what is trimmed ends: behind its last placeholder; 0 while nothing was."""
    return prompt.rfind(b"[trimmed;") if mark else 0
