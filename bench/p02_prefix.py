"""P2: request N's prompt is an exact byte prefix of request N+1's, across turns and a restart of the daemon."""

from __future__ import annotations

from itertools import pairwise

from bench.bar import Bar
from bench.rig import commands, plans, reads, rig


def measure() -> list[Bar]:
    """Both wires: plan, reads, commands, a question that waits over a restart."""
    kept = total = 0
    for preset in ("compatible", "anthropic"):
        with rig([*plans(2), *reads(8), *commands(8)], preset=preset) as r:
            id = r.house.give("work", r.project, allow=[])
            r.house.wait(id, "waiting")
            r.house.kill()
            r.house.start()
            r.house.finish(id, answer="once")
            prompts = [seen.prompt for seen in r.model.requests()]
            kept += sum(later.startswith(earlier) for earlier, later in pairwise(prompts))
            total += len(prompts) - 1
    return [
        Bar(
            "P2",
            100 * kept / total,
            "% of requests repeat the one before",
            "100",
            kept == total,
            {"nanobot": 50, "Hermes": 53, "OpenClaw": 0},
            f"{total} pairs, OpenAI and Anthropic wire, kill -9 and restart in the middle",
        )
    ]
