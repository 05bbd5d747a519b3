"""The person's standing rules: what they speak of, in which order, and that they go before every grant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.policies import Allow, Ask, Deny, Rule
from stead.domain.sessions import Grant
from stead.guardian.decide import Proposed, decide
from stead.guardian.rules import Touched, is_host, speaking
from stead.guardian.shell import assess
from tests.guardian.test_decide import SPECS, facts

NEVER_INFRA = Rule("r_1", "deny", "never change infra/", effects=("write", "execute"), paths=("infra/",))
NEVER_DEEP = Rule("r_7", "deny", "never change src/infra/", effects=("write", "execute"), paths=("src/infra/",))
NEVER_READ = Rule("r_8", "deny", "never read secrets/", effects=("read", "execute"), paths=("secrets/",))
ASK_MAIL = Rule("r_2", "ask", "ask before every mail", tools=("mail",))
ONLY_DOCS = Rule(
    "r_3", "deny", "only docs.example.com", effects=("fetch",), hosts=("docs.example.com",), elsewhere=True
)
FREE_NOTES = Rule("r_4", "allow", "write notes freely", effects=("write",), paths=("notes/**",))
EVERYTHING = tuple(Grant(name, "any", 2**62) for name in SPECS)


def propose(tool: str, **arguments: object) -> Proposed:
    shell = assess(str(arguments["command"])) if "command" in arguments else None
    return Proposed(tool, SPECS[tool], arguments, "", shell)


@pytest.mark.parametrize(
    ("rule", "call", "verdict"),
    [
        (NEVER_INFRA, propose("write", path="infra/main.tf"), "rule-deny"),
        (NEVER_INFRA, propose("write", path="/work/infra/main.tf"), "rule-deny"),
        (NEVER_INFRA, propose("write", path="./infra//a/../main.tf"), "outside-workspace"),
        (NEVER_INFRA, propose("write", path="infrared.txt"), "granted"),
        (NEVER_INFRA, propose("read", path="infra/main.tf"), "auto"),
        (NEVER_INFRA, propose("shell", command="rm infra/main.tf"), "rule-deny"),
        (NEVER_INFRA, propose("shell", command="python3 x.py"), "rule-ask"),
        (NEVER_INFRA, propose("shell", command="mkdir infra"), "rule-deny"),
        (NEVER_INFRA, propose("shell", command="mv infra elsewhere"), "rule-deny"),
        (NEVER_INFRA, propose("shell", command="ln -s . here"), "rule-ask"),
        (NEVER_INFRA, propose("shell", command="touch inf*/x"), "rule-ask"),
        (NEVER_INFRA, propose("shell", command="touch infrared"), "granted"),
        (NEVER_DEEP, propose("shell", command="mv src elsewhere"), "rule-ask"),
        (NEVER_DEEP, propose("shell", command="touch src/a"), "granted"),
        (NEVER_DEEP, propose("shell", command="touch src/infra/a"), "rule-deny"),
        (NEVER_READ, propose("read", path="."), "rule-ask"),
        (NEVER_READ, propose("read", path=""), "rule-ask"),
        (NEVER_READ, propose("read", path="docs"), "auto"),
        (NEVER_READ, propose("read", path="secrets"), "rule-deny"),
        (ONLY_DOCS, propose("fetch", url="https://docs.example.com/a"), "granted"),
        (ONLY_DOCS, propose("fetch", url="https://evil.test/"), "rule-deny"),
        (ONLY_DOCS, propose("fetch", url="https://docs.example.com.evil.test/"), "rule-deny"),
    ],
)
def test_a_rule_speaks_of_what_it_names(rule: Rule, call: Proposed, verdict: str) -> None:
    found = decide(call, facts(rules=(rule,), grants=EVERYTHING))
    assert found.reason.rule == verdict


def test_a_rule_that_asks_goes_before_grants_and_an_answer_still_counts() -> None:
    mail = propose("mail", to="bo@b.example", text="hi")
    asked = decide(mail, facts(rules=(ASK_MAIL,), grants=EVERYTHING))
    assert isinstance(asked, Ask)
    assert asked.reason.rule == "rule-ask"
    assert isinstance(decide(mail, facts(rules=(ASK_MAIL,), approved=asked.digest)), Allow)


def test_a_rule_that_forbids_goes_before_an_answer() -> None:
    call = propose("write", path="infra/a")
    asked = decide(call, facts())
    assert isinstance(asked, Ask)
    assert isinstance(decide(call, facts(approved=asked.digest, rules=(NEVER_INFRA,))), Deny)


def test_a_rule_that_allows_covers_what_it_names_alone() -> None:
    assert isinstance(decide(propose("write", path="notes/a/b.md"), facts(rules=(FREE_NOTES,))), Allow)
    assert isinstance(decide(propose("write", path="notes.md"), facts(rules=(FREE_NOTES,))), Ask)
    free_mail = Rule("r_5", "allow", "mail freely", tools=("mail",))
    assert isinstance(decide(propose("mail", to="bo@b.example"), facts(rules=(free_mail,))), Ask)


def test_leave_for_a_program_is_no_leave_for_the_network() -> None:
    free = Rule("r_6", "allow", "run pytest freely", programs=("pytest",))
    touched = Touched(programs=("pytest",), hosts=("evil.test",))
    assert speaking((free,), SPECS["shell"], touched) is None


@given(st.permutations([NEVER_INFRA, ASK_MAIL, ONLY_DOCS, FREE_NOTES]), st.sampled_from(["infra/a", "notes/a", "c"]))
def test_the_order_of_the_rules_changes_nothing(rules: list[Rule], path: str) -> None:
    straight = decide(propose("write", path=path), facts(rules=(NEVER_INFRA, ASK_MAIL, ONLY_DOCS, FREE_NOTES)))
    assert type(decide(propose("write", path=path), facts(rules=tuple(rules)))) is type(straight)


@pytest.mark.parametrize(
    ("pattern", "host", "fits"),
    [
        ("example.com", "EXAMPLE.com.", True),
        ("example.com", "a.example.com", False),
        ("*.example.com", "a.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
    ],
)
def test_a_host_is_one_or_lies_below_one(pattern: str, host: str, fits: bool) -> None:
    assert is_host(pattern, host) is fits


@given(st.text(max_size=30), st.text(max_size=60))
def test_no_pattern_and_no_path_make_a_rule_fail(pattern: str, path: str) -> None:
    rule = Rule("r_7", "deny", "x", paths=(pattern,))
    speaking((rule,), SPECS["write"], Touched(paths=(path,)))
