"""Constraints that a rule can check are held against what ran."""

from __future__ import annotations

import time

import pytest

from stead.brain.constraints import broken
from stead.domain.sessions import Action

WROTE = Action("write", '{"path":"docs/a.md","text":"x"}', "ok")
REFUSED = Action("write", '{"path":"docs/a.md","text":"x"}', "denied")
RAN = Action("shell", '{"command":"make"}', "ok")
FETCHED = Action("fetch", '{"url":"https://example.com/"}', "ok")


@pytest.mark.parametrize(
    ("constraint", "action"),
    [
        ("do not touch docs/a.md", WROTE),
        ("Never change files in docs/", WROTE),
        ("only change src/", WROTE),
        ("only edit README.md", WROTE),
        ("do not run commands", RAN),
        ("don't use the shell", RAN),
        ("no network", FETCHED),
        ("stay offline", FETCHED),
        ("do not use the internet", FETCHED),
    ],
)
def test_a_broken_constraint_is_found(constraint: str, action: Action) -> None:
    assert broken((constraint,), [action])


@pytest.mark.parametrize(
    ("constraint", "action"),
    [
        ("do not touch docs/b.md", WROTE),
        ("do not touch docs/a.md", REFUSED),
        ("only change docs/", WROTE),
        ("only edit docs/a.md", WROTE),
        ("do not run commands", WROTE),
        ("no network", RAN),
        ("be brief", RAN),
        ("", RAN),
    ],
)
def test_a_kept_or_unknown_constraint_is_left_alone(constraint: str, action: Action) -> None:
    assert broken((constraint,), [action]) == ()


@pytest.mark.parametrize("filler", ["a/" * 20_000, "only change " * 4_000, "don't " * 8_000])
def test_a_hostile_constraint_costs_little_time(filler: str) -> None:
    started = time.process_time()
    broken((filler,), [WROTE])
    assert time.process_time() - started < 2.0
