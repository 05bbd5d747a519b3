"""What a preview warns of, among as many rules as a person could have."""

from __future__ import annotations

import msgspec
import pytest

from stead.brain.rule_sentences.grammar import understood
from stead.domain.errors import InvalidRequest
from stead.domain.policies import Condition, ConditionRole, Rule
from stead.guardian.reach import Reach
from stead.runtime.alarms import WallClock
from stead.runtime.rules import RuleBook, check
from tests.test_corpora import TOOLS


def test_among_five_hundred_rules_a_contradiction_and_a_ban_of_everything_are_warned_of() -> None:
    sides = ("never change", "always allow changing")
    read = [understood(f"{sides[number % 2]} folder{number}/") for number in range(500)]
    rules = [msgspec.structs.replace(rule, id=f"r_{number:08x}") for number, rule in enumerate(read) if rule]
    book = RuleBook(lambda: rules, lambda: [tool.spec for tool in TOOLS.values()], Reach(), WallClock())
    (warning,) = book.preview("never change folder3/", "", None).warnings
    assert warning.startswith("r_00000003") and "deny goes before allow" in warning
    everything = Rule("", "deny", ("read", "change", "run", "leave", "send"))
    assert any("your own commands are not touched" in said for said in book.preview("", "", everything).warnings)


@pytest.mark.parametrize(
    ("role", "value"),
    [
        ("path", "docs/./x"),
        ("path", "."),
        ("path", "docs\\x"),
        ("path", "docs/\u202etxt"),
        ("path", "do\u200bcs/"),
        ("host", "a\u2066b.example"),
        ("recipient", "Bob <bob@quay.example>"),
        ("recipient", "bob@quay.example,eve@rival.example"),
        ("command", "git\u00a0push"),
        ("amount", "100..5"),
    ],
)
def test_a_value_that_no_call_could_meet_or_that_hides_a_sign_makes_no_rule(role: ConditionRole, value: str) -> None:
    with pytest.raises(InvalidRequest):
        check(Rule("", "deny", (), (), (Condition(role, (value,)),)), [])


@pytest.mark.parametrize(
    ("role", "value"), [("path", "d\u043ecs/"), ("host", "gith\u0443b.example"), ("recipient", "bob@\u0430cme.example")]
)
def test_a_value_with_a_letter_of_another_script_that_looks_alike_is_warned_of(role: ConditionRole, value: str) -> None:
    book = RuleBook(tuple, lambda: [tool.spec for tool in TOOLS.values()], Reach(), WallClock())
    looks = Rule("", "deny", (), (), (Condition(role, (value,)),))
    assert any("mix letters that look alike" in said for said in book.preview("", "", looks).warnings)
    whole = msgspec.structs.replace(looks, where=(Condition("path", ("\u0434\u043e\u043a/",)),))
    assert not any("letters" in said for said in book.preview("", "", whole).warnings)
