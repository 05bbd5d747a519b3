"""U6: from the first page of a home that nobody used to a first answered objective, with the rehearsal model.

A person reads and thinks; this does not, so the time is what Stead itself takes of the three minutes. ``make up``,
which comes before and mostly waits for downloads, is not in it.
"""

from __future__ import annotations

import statistics

from bench.bar import Bar
from bench.pages import crowding, seat
from tests.browser import first_answer

RUNS = 5


def measure() -> list[Bar]:
    """A fresh home each time."""
    walks: list[first_answer.Walk] = []
    for _ in range(RUNS):
        with seat() as at:
            walks.append(first_answer.walk(at.visit, at.stage))
            answers = at.stage.house.get("/objectives", status="unverified")["items"]
            assert len(answers) == 1 and not at.watch.complaints(), at.watch.complaints()
    took_s = statistics.median(one.took_s for one in walks)
    prompts = max(len(one.prompts) for one in walks)
    said = f"median of {RUNS} fresh homes, by mouse, rehearsal model; without make up and without thinking"
    asked = f"{', '.join(walks[0].prompts)}: {walks[0].presses} presses, nothing typed or pasted"
    return [
        Bar("U6", took_s, "s to a first answered objective", "≤ 180", took_s <= 180, {}, said + crowding()),
        Bar("U6.PROMPTS", prompts, "prompts", "≤ 6", prompts <= 6, {}, asked),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
