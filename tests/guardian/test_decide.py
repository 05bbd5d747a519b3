"""The one decision: a table, and properties that hold for every call under all facts."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.ids import CallKey
from stead.domain.policies import Allow, Ask, Deny, Level, Profile
from stead.domain.sessions import Grant
from stead.domain.tools import ToolEffect
from stead.guardian import policy
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.permits import Circumstances, call_digest
from stead.guardian.reach import Reach
from tests.build import SESSION, TOOLS

SPECS = {spec.name: spec for spec in TOOLS}
PLACE = Circumstances(SESSION, CallKey("call_1_0"), "/home/ada/notes", 0, {})


def facts(**changes: object) -> Facts:
    usual = Facts(
        circumstances=PLACE,
        offered=frozenset(SPECS),
        profile=Profile.ASK,
        grants=(),
        approved="",
        reach=Reach(),
        machine="",
        digest_key=b"k" * 32,
        nonce=b"n" * 16,
    )
    return msgspec.structs.replace(usual, **changes)


def propose(tool: str, malformed: str = "", **arguments: object) -> Proposed:
    return Proposed(tool, SPECS.get(tool), arguments, malformed)


@pytest.mark.parametrize(
    ("call", "under", "rule"),
    [
        (propose("teleport"), facts(), "unknown-tool"),
        (propose("read", "no path"), facts(), "arguments"),
        (propose("read", path="a"), facts(offered=frozenset({"shell"})), "not-offered"),
        (propose("write", path="a"), facts(profile=Profile.READONLY), "readonly"),
        (propose("shell", command="ls"), facts(profile=Profile.READONLY), "readonly"),
        (propose("read", path="../a"), facts(), "outside-workspace"),
        (propose("read", path="/etc/passwd"), facts(), "outside-workspace"),
        (propose("read", path="/work/../etc/passwd"), facts(), "outside-workspace"),
        (propose("read", path="/workshop/a"), facts(), "outside-workspace"),
        (propose("read", path="a/../../b"), facts(), "outside-workspace"),
        (propose("read", path="a\0b"), facts(), "outside-workspace"),
        (propose("read", path=7), facts(), "outside-workspace"),
        (propose("shell", command="ls"), facts(machine="no user namespaces"), "no-machine"),
        (propose("fetch", url="http://169.254.169.254/"), facts(), "address"),
        (propose("fetch", url="file:///etc/passwd"), facts(), "address"),
    ],
)
def test_what_nobody_can_allow_is_denied(call: Proposed, under: Facts, rule: str) -> None:
    everything = [Grant(name, "any", 2**62) for name in SPECS]
    verdict = decide(call, msgspec.structs.replace(under, grants=everything))
    assert isinstance(verdict, Deny)
    assert verdict.reason.rule == rule


@pytest.mark.parametrize(
    ("call", "level"),
    [
        (propose("write", path="a"), Level.SESSION),
        (propose("shell", command="ls"), Level.EACH),
        (propose("fetch", url="https://example.com/"), Level.EACH),
        (propose("mail", to="bo@example.com", text="hi"), Level.CONFIRM),
    ],
)
def test_what_changes_something_is_asked(call: Proposed, level: Level) -> None:
    verdict = decide(call, facts())
    assert isinstance(verdict, Ask)
    assert verdict.level is level


@pytest.mark.parametrize("call", [propose("plan"), propose("read", path="a"), propose("read", path="/work/a")])
def test_reading_and_planning_are_free(call: Proposed) -> None:
    assert isinstance(decide(call, facts()), Allow)


def test_a_grant_for_one_shape_covers_only_that_call() -> None:
    only_ls = facts(grants=(Grant("shell", '{"command":"ls"}', 2**62),))
    assert isinstance(decide(propose("shell", command="ls"), only_ls), Allow)
    assert isinstance(decide(propose("shell", command="ls -a"), only_ls), Ask)


def test_no_grant_covers_what_is_confirmed_each_time() -> None:
    assert isinstance(decide(propose("mail", to="a"), facts(grants=(Grant("mail", "any", 2**62),))), Ask)


def test_a_yes_covers_the_digest_it_was_given_for_and_no_other() -> None:
    asked = decide(propose("shell", command="ls"), facts())
    assert isinstance(asked, Ask)
    assert isinstance(decide(propose("shell", command="ls"), facts(approved=asked.digest)), Allow)
    assert isinstance(decide(propose("shell", command="ls /"), facts(approved=asked.digest)), Ask)


@pytest.mark.parametrize(
    "moved",
    [
        {"key": CallKey("call_2_0")},
        {"directory": "/home/bo"},
        {"revision": 1},
        {"files": {"a": "0" * 64}},
    ],
)
def test_a_yes_is_void_when_the_circumstances_change(moved: dict[str, object]) -> None:
    asked = decide(propose("write", path="a", text="x"), facts())
    assert isinstance(asked, Ask)
    there = msgspec.structs.replace(PLACE, **moved)
    assert isinstance(
        decide(propose("write", path="a", text="x"), facts(approved=asked.digest, circumstances=there)), Ask
    )


json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(["path", "command", "url", "to", "text"]) | st.text(max_size=5), json)
grants = st.lists(st.builds(Grant, st.sampled_from(sorted(SPECS)), st.sampled_from(["any", "{}", "x"]), st.just(2**62)))


@given(
    tool=st.sampled_from([*SPECS, "teleport", ""]),
    arguments=arguments,
    malformed=st.sampled_from(["", "", "bad"]),
    grants=grants,
    offered=st.frozensets(st.sampled_from(sorted(SPECS))),
    profile=st.sampled_from(list(Profile)),
    approved=st.sampled_from(["", "right", "wrong"]),
    machine=st.sampled_from(["", "", "none here"]),
)
def test_the_decision_is_total_and_allows_only_what_is_free_granted_or_approved(
    tool: str,
    arguments: dict[str, object],
    malformed: str,
    grants: list[Grant],
    offered: frozenset[str],
    profile: Profile,
    approved: str,
    machine: str,
) -> None:
    call = Proposed(tool, SPECS.get(tool), arguments, malformed)
    right = call_digest(b"k" * 32, tool, arguments, PLACE)
    said = {"": "", "right": right, "wrong": "0" * 64}[approved]
    under = facts(grants=grants, offered=offered, profile=profile, approved=said, machine=machine)
    verdict = decide(call, under)
    assert type(verdict) is type(decide(call, under))
    if not isinstance(verdict, Allow):
        return
    spec = SPECS[tool]
    assert tool in offered
    assert not malformed
    assert policy.outside(spec.declaration, arguments) is None
    assert profile is not Profile.READONLY or not policy.changes(spec.declaration)
    free = spec.declaration.effect in (ToolEffect.THINK, ToolEffect.READ)
    free = free or (profile is Profile.WORK and spec.declaration.effect in (ToolEffect.WRITE, ToolEffect.EXECUTE))
    granted = spec.declaration.effect is not ToolEffect.SEND and any(grant.tool == tool for grant in grants)
    assert free or granted or approved == "right"
    verdict.permit.spend(tool, arguments)
