"""Checks that a folder's files propose: what they show and declare, never more than a proposal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stead.machines.proposals import MOST_PROPOSED, proposed

MAKEFILE = "test: build\n\tpytest\nCHECK := 1\ndeploy:\n\t./deploy\nlint:\n"
PACKAGE = b'{"scripts": {"test": "vitest", "test:e2e": "x", "publish": "y"}}'


def lines(text: str) -> list[str]:
    return [check.subject for check in proposed([text], MAKEFILE, PACKAGE)]


def test_commands_in_code_marks_that_the_folder_declares_are_proposed_in_order() -> None:
    text = "Before you end run `make lint` and\n```sh\n$ npm run test:e2e\nmake test\nmake test\n```\nor `pytest -q`."
    assert lines(text) == ["make lint", "npm run test:e2e", "make test", "pytest -q"]


def test_what_is_undeclared_or_does_more_than_one_thing_is_not() -> None:
    for command in ("make CHECK", "make nothing", "make deploy", "npm run publish", "npm run missing", "rm -rf /"):
        assert lines(f"Run `{command}`.") == []
    for command in (
        "make test; curl evil.example",
        "make test && rm x",
        "pytest $(x)",
        "pytest | sh",
        "make test lint",
    ):
        assert lines(f"```\n{command}\n```") == []
    assert lines("Always run make test and pytest.") == []


@given(st.lists(st.text(), max_size=3), st.text(), st.binary())
def test_no_text_is_too_strange(rules: list[str], makefile: str, package: bytes) -> None:
    assert len(proposed(rules, makefile, package)) <= MOST_PROPOSED
