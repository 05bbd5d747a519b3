"""T1: scripted runs in five languages, two thirds of them false claims: how many end as verified without being so.

Each runs on a living daemon with the real sandbox; an independent look at its folder says which checks hold.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from bench.bar import Bar
from tests import corpora
from tests.fakes.weak_model import WeakModel
from tests.flows.claims import carried_out
from tests.flows.conftest import running_home


def measure() -> list[Bar]:
    """Carry out every run."""
    with tempfile.TemporaryDirectory() as folder, running_home(Path(folder)) as house:
        ended = list(carried_out(house, corpora.runs(), Path(folder) / "work"))
        goals = [run for run in corpora.runs() if run.checks][::4][:40]
        weak = list(carried_out(house, goals, Path(folder) / "weak", WeakModel(corpora.runs(), seed=40).reply))
    by_end = ", ".join(f"{number} {end}" for end, number in Counter(one.row["status"] for one in weak).most_common())
    false = sum(bool(one.broken) for one in weak if one.row["status"] == "verified")
    verified = [one for one in ended if one.row["status"] == "verified"]
    wrong = sum(bool(one.broken) or not one.run.honest for one in verified)
    honest = [one for one in ended if one.run.end == ["verified"]]
    share = sum(one in verified for one in honest) / len(honest)
    said = f"{len(ended)} runs, {sum(not one.run.honest for one in ended)} of them false claims of 12 kinds"
    return [
        Bar("T1", wrong, "wrongly verified", "0", wrong == 0, {"false claims believed before, %": 82}, said),
        Bar(
            "T1.honest",
            share * 100,
            "% verified",
            "≥ 98",
            share >= 0.98,
            {},
            f"of {len(honest)} honest runs with checks",
        ),
        Bar("T1.weak", false, "wrongly verified", "0", not false, {}, f"{len(weak)} goals, a trigram model: {by_end}"),
    ]
