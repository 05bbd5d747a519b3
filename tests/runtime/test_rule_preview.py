"""What a preview warns of, among as many rules as a person could have."""

from __future__ import annotations

import msgspec

from stead.brain.rule_sentences.grammar import understood
from stead.daemon import WallClock
from stead.domain.policies import Rule
from stead.guardian.reach import Reach
from stead.runtime.rules import RuleBook
from tests.test_corpora import TOOLS


def test_among_five_hundred_rules_a_contradiction_and_a_ban_of_everything_are_warned_of() -> None:
    sides = ("never change", "always allow changing")
    read = [understood(f"{sides[number % 2]} folder{number}/") for number in range(500)]
    rules = [msgspec.structs.replace(rule, id=f"r_{number:08x}") for number, rule in enumerate(read) if rule]
    book = RuleBook(lambda: rules, [tool.spec for tool in TOOLS.values()], Reach(), WallClock())
    (warning,) = book.preview("never change folder3/", "", None).warnings
    assert warning.startswith("r_00000003") and "deny goes before allow" in warning
    everything = Rule("", "deny", ("read", "change", "run", "leave", "send"))
    assert any("your own commands are not touched" in said for said in book.preview("", "", everything).warnings)
