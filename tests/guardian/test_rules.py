"""The person's standing rules: what they speak of, in which order, and that they go before every grant."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.policies import Action, Allow, Ask, Condition, ConditionRole, Decision, Deny, Rule
from stead.domain.sessions import Grant
from stead.domain.tools import Role, ToolSpec
from stead.guardian.decide import Proposed, decide
from stead.guardian.rules import Touched, is_host, speaking, speaks
from stead.guardian.shell import assess
from tests.guardian import test_decide
from tests.guardian.test_decide import facts


def declared(tool: str, **more: object) -> ToolSpec:
    """A tool of the tests with more in its declaration."""
    spec = test_decide.SPECS[tool]
    return msgspec.structs.replace(spec, declaration=msgspec.structs.replace(spec.declaration, **more))


SPECS = {
    **test_decide.SPECS,
    "mail": declared("mail", roles={"to": Role.RECIPIENT}),
    "shell": declared("shell", host_args=("hosts",)),
}


def rule(
    decision: Decision,
    *what: Action,
    tools: tuple[str, ...] = (),
    outside: tuple[ConditionRole, ...] = (),
    **where: tuple[str, ...],
) -> Rule:
    """A rule whose conditions are named by their roles."""
    tests = [Condition(role, values, "outside" if role in outside else "inside") for role, values in where.items()]  # type: ignore[arg-type]
    return Rule("r_00000001", decision, what, tools, tuple(tests))


NEVER_INFRA = rule("deny", "change", path=("infra/",))
NEVER_DEEP = rule("deny", "change", path=("src/infra/",))
NEVER_READ = rule("deny", "read", path=("secrets/",))
ASK_MAIL = rule("ask", tools=("mail",))
ONLY_DOCS = rule("deny", "leave", outside=("host",), host=("docs.example.com",))
FREE_NOTES = rule("allow", "change", path=("notes/**",))
OFFLINE = rule("deny", "leave")
NEVER_FORCE = rule("deny", command=("git push --force",))
NEVER_PUSH = rule("deny", "run", command=("git push",))
STATUS = rule("allow", "run", command=("git status",))
ONLY_STATUS = rule("deny", "run", outside=("command",), command=("git status", "ls"))
AT_HOME = rule("deny", "send", outside=("recipient",), recipient=("acme.example",))
SRC_BUT_MADE = Rule(
    "r_00000002", "deny", ("change",), (), (Condition("path", ("src/",)), Condition("path", ("src/made/",), "outside"))
)
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
        (NEVER_INFRA, propose("shell", command="python3 x.py"), "granted"),  # what it changes is judged as it lands
        (NEVER_INFRA, propose("shell", command="mkdir infra"), "rule-deny"),
        (NEVER_INFRA, propose("shell", command="mv infra elsewhere"), "rule-deny"),
        (NEVER_INFRA, propose("shell", command="ln -s . here"), "granted"),
        (NEVER_INFRA, propose("shell", command="touch inf*/x"), "granted"),
        (NEVER_INFRA, propose("shell", command="touch infrared"), "granted"),
        (NEVER_DEEP, propose("shell", command="mv src elsewhere"), "granted"),
        (NEVER_DEEP, propose("shell", command="touch src/a"), "granted"),
        (NEVER_DEEP, propose("shell", command="touch src/infra/a"), "rule-deny"),
        (NEVER_READ, propose("read", path="."), "rule-ask"),
        (NEVER_READ, propose("read", path=""), "rule-ask"),
        (NEVER_READ, propose("read", path="docs"), "auto"),
        (NEVER_READ, propose("read", path="secrets"), "rule-deny"),
        (ONLY_DOCS, propose("fetch", url="https://docs.example.com/a"), "granted"),
        (ONLY_DOCS, propose("fetch", url="https://a.docs.example.com/"), "granted"),
        (ONLY_DOCS, propose("fetch", url="https://evil.test/"), "rule-deny"),
        (ONLY_DOCS, propose("fetch", url="https://docs.example.com.evil.test/"), "rule-deny"),
        (OFFLINE, propose("fetch", url="https://docs.example.com/"), "rule-deny"),
        (OFFLINE, propose("mail", to="bo@b.example"), "rule-deny"),
        (OFFLINE, propose("shell", command="curl https://a.test/"), "rule-deny"),
        (OFFLINE, propose("shell", command="git push", hosts=["a.test"]), "rule-deny"),
        (OFFLINE, propose("shell", command="ls"), "auto"),
        (OFFLINE, propose("write", path="a"), "granted"),
        (AT_HOME, propose("mail", to="bo@acme.example"), "level-confirm"),
        (AT_HOME, propose("mail", to="Bo <bo@mail.acme.example>"), "level-confirm"),
        (AT_HOME, propose("mail", to="bo@evilacme.example"), "rule-deny"),
        (AT_HOME, propose("mail", to=["bo@acme.example", "eve@evil.test"]), "rule-deny"),
        (AT_HOME, propose("mail", to='"bo@acme.example" <eve@evil.test>'), "rule-deny"),
        (AT_HOME, propose("fetch", url="https://evil.test/"), "granted"),
        (NEVER_FORCE, propose("shell", command="git push"), "granted"),
        (NEVER_FORCE, propose("shell", command="git push origin main --force"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="git push -f"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="git push -uf origin main"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="git push --forc"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="git -C sub push --force"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="ls && (git push -f)"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="bash -c 'git push -f'"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="timeout 5 git push -f"), "rule-deny"),
        (NEVER_FORCE, propose("shell", command="git push $HOW"), "rule-ask"),
        (NEVER_PUSH, propose("shell", command="git commit -m push"), "granted"),
        (NEVER_PUSH, propose("shell", command="git --unheard-of thing push"), "rule-ask"),
        (NEVER_PUSH, propose("shell", command="git status"), "auto"),
        (ONLY_STATUS, propose("shell", command="git status --short"), "auto"),
        (ONLY_STATUS, propose("shell", command="git status > out"), "granted"),
        (ONLY_STATUS, propose("shell", command="git push"), "rule-deny"),
        (ONLY_STATUS, propose("shell", command="ls; make"), "rule-deny"),
        (SRC_BUT_MADE, propose("write", path="src/a.py"), "rule-deny"),
        (SRC_BUT_MADE, propose("write", path="src/made/a.py"), "granted"),
        (SRC_BUT_MADE, propose("write", path="docs/a.md"), "granted"),
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
    free_mail = rule("allow", tools=("mail",))
    assert isinstance(decide(propose("mail", to="bo@b.example"), facts(rules=(free_mail,))), Ask)


@pytest.mark.parametrize(
    ("allowed", "call", "covered"),
    [
        (STATUS, propose("shell", command="git stash list"), False),
        (STATUS, propose("shell", command="git stash drop"), False),
        (STATUS, propose("shell", command="git -c core.pager=evil status"), False),
        (STATUS, propose("shell", command="git status > .bashrc"), False),
        (STATUS, propose("shell", command="git status && make"), False),
        (STATUS, propose("shell", command="git status $(make)"), False),
        (STATUS, propose("shell", command="env PAGER=x git status"), False),
        (rule("allow", "run", command=("pytest",)), propose("shell", command="pytest -q tests"), True),
        (rule("allow", command=("make build",)), propose("shell", command="make build"), True),
        (rule("allow", command=("make build",)), propose("shell", command="make -f other build"), False),
        (rule("allow", command=("make build",)), propose("shell", command="make install"), False),
        (rule("allow", "run", command=("pytest",)), propose("shell", command="pytest", hosts=["evil.test"]), False),
        (rule("allow", "run", command=("kubectl get",)), propose("shell", command="kubectl get pods"), True),
        (rule("allow", "run", command=("kubectl get",)), propose("shell", command="kubectl delete ns"), False),
        (rule("allow", "run", command=("kubectl get",)), propose("shell", command="kubectl get x && zork"), False),
        (
            rule("allow", "run", command=("kubectl get",)),
            propose("shell", command="alias kubectl=rm; kubectl get"),
            False,
        ),
        (rule("allow", "run", command=("kubectl get",)), propose("shell", command="kubectl get `make`"), False),
        (
            rule("allow", "run", command=("kubectl get",)),
            propose("shell", command="kubectl get", hosts=["e.test"]),
            False,
        ),
        (rule("allow", "leave"), propose("shell", command="python3 x.py", hosts=["evil.test"]), False),
        (rule("allow", "leave", host=("b.example",)), propose("fetch", url="https://b.example/"), True),
        (rule("allow", "leave", host=("b.example",)), propose("fetch", url="https://c.example/"), False),
        (rule("allow", tools=("fetch",)), propose("fetch", url="https://c.example/"), True),
        (rule("allow", "run"), propose("write", path="a"), False),
        (rule("allow", "change"), propose("shell", command="rm -r a"), False),
    ],
)
def test_an_allowance_names_all_that_a_call_does(allowed: Rule, call: Proposed, covered: bool) -> None:
    assert (decide(call, facts(rules=(allowed,))).reason.rule == "rule-allow") is covered


@given(st.text(max_size=60))
def test_no_command_that_is_not_understood_is_allowed_by_a_rule(command: str) -> None:
    shell = assess(command)
    if not shell.shape and {reason.rule for reason in shell.reasons} != {"shell-unknown-command"}:
        call = Proposed("shell", SPECS["shell"], {"command": command}, "", shell)
        under = facts(rules=(rule("allow", "run", command=(*(one[0] for one in shell.commands), "ls")),))
        assert decide(call, under).reason.rule != "rule-allow"


def test_a_ban_on_the_network_asks_about_programs_where_a_folder_may_reach_hosts() -> None:
    found = decide(propose("shell", command="python3 x.py"), facts(rules=(OFFLINE,), hosts=("b.example",)))
    assert found.reason.rule == "rule-ask"
    assert decide(propose("shell", command="ls"), facts(rules=(OFFLINE,), hosts=("b.example",))).reason.rule == "auto"


@given(
    st.sampled_from(["host", "recipient", "path", "account"]),
    st.lists(st.sampled_from(["a.example", "src/", "*", "bo@a.example", "x"]), min_size=1, max_size=3),
    st.sampled_from(["a.example", "b.a.example", "bo@a.example", "src/x", "x", "y"]),
)
def test_inside_and_outside_are_complements(role: ConditionRole, values: list[str], name: str) -> None:
    seen = Touched(frozenset(), names={role: (name,)})
    sides = [
        speaks(Rule("r_1", "deny", where=(Condition(role, tuple(values), side),)), SPECS["read"], seen)
        for side in ("inside", "outside")
    ]
    assert sorted(sides) in ([0, 2], [1, 2])  # a folder above may hold more than it names


@given(
    st.permutations([NEVER_INFRA, ASK_MAIL, ONLY_DOCS, FREE_NOTES, OFFLINE]), st.sampled_from(["infra/a", "notes/a"])
)
def test_the_order_of_the_rules_changes_nothing_and_a_ban_goes_first(rules: list[Rule], path: str) -> None:
    allowed = rule("allow", "change", "leave")
    found = decide(propose("write", path=path), facts(rules=(allowed, *rules)))
    assert found.reason.rule == ("rule-deny" if path == "infra/a" else "rule-allow")
    assert decide(propose("fetch", url="https://a.test/"), facts(rules=(allowed, *rules))).reason.rule == "rule-deny"


@pytest.mark.parametrize(
    ("value", "amount", "covered"),
    [
        ("..100", "100", True),
        ("..100", "100.01", False),
        ("5..10", "1.000", False),
        ("100..", "1.840,00", True),
        ("100..", "some", False),
    ],
)
def test_an_amount_is_compared_as_a_number_and_its_interval_has_its_ends(
    value: str, amount: str, covered: bool
) -> None:
    seen = Touched(frozenset({"send"}), names={"amount": (amount,)})
    assert (speaks(rule("deny", "send", amount=(value,)), SPECS["mail"], seen) == 2) is covered


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


@given(st.text(max_size=30), st.text(max_size=60), st.sampled_from(["path", "host", "recipient", "account"]))
def test_no_value_and_no_name_make_a_rule_fail(value: str, name: str, role: ConditionRole) -> None:
    speaking(
        (Rule("r_1", "deny", where=(Condition(role, (value,)),)),),
        SPECS["write"],
        Touched(frozenset(), names={role: (name,)}),
    )
