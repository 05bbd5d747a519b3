"""T2: sentences that people say as rules, with meanings fixed by hand before: how many are kept with another meaning.

The rest is refused with the form prefilled; the second bar says how many of those that a rule can say are understood.
"""

from __future__ import annotations

from bench.bar import Bar
from tests.natural_rules import readings


def measure() -> list[Bar]:
    """Read every sentence, and look at the calls that its rule speaks of."""
    found = readings()
    wrong = sum(bool(one.wrong) for one in found)
    meant = [one for one in found if one.sentence.meaning is not None]
    share = sum(one.rule is not None for one in meant) / len(meant)
    said = f"{len(found)} sentences in four languages, half of them inversions, exceptions and quoted parts"
    return [
        Bar("T2", wrong, "kept with another meaning", "0", wrong == 0, {"patterns of English before": 26}, said),
        Bar(
            "T2.understood",
            share * 100,
            "% understood",
            "≥ 60",
            share >= 0.6,
            {},
            f"of {len(meant)} that a rule can say",
        ),
    ]
