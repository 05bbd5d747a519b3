"""What a report claims is held against what ran."""

from __future__ import annotations

import json
import time
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stead.brain.claims import unsupported
from stead.domain.sessions import Action

WROTE = Action("write", '{"path":"SUMMARY.md","text":"x"}', "ok")
RAN = Action("shell", '{"command":"python -m pytest -q","timeout_s":60}', "ok")
RAN_RED = Action("shell", '{"command":"python -m pytest -q","timeout_s":60}', "error")
MOVED = Action("shell", '{"command":"mv a.txt b.txt"}', "ok", changed=("b.txt",), removed=("a.txt",))
FETCHED = Action("fetch", '{"url":"https://example.com/a"}', "ok")


@pytest.mark.parametrize(
    ("report", "actions"),
    [
        ("I wrote SUMMARY.md with the headings.", []),
        ("wrote SUMMARY.md", []),
        ("Done. I've created `notes/out.txt`.", [WROTE]),
        ("SUMMARY.md has been written.", []),
        ("SUMMARY.md was updated.", [Action("write", '{"path":"SUMMARY.md","text":"x"}', "denied")]),
        ("I have successfully saved the result in report.csv.", [WROTE]),
        ("All tests pass.", []),
        ("The tests passed after the fix.", [RAN_RED]),
        ("I ran `make build`.", [RAN]),
        ("I fetched https://example.com/b and read it.", [FETCHED]),
        ("- Updated config.toml\n- Looked around", []),
    ],
)
def test_a_claim_without_a_matching_call_is_found(report: str, actions: list[Action]) -> None:
    assert unsupported(report, actions)


@pytest.mark.parametrize(
    ("report", "actions"),
    [
        ("I wrote SUMMARY.md with the headings.", [WROTE]),
        ("Wrote ./SUMMARY.md.", [WROTE]),
        ("SUMMARY.md has been written.", [WROTE]),
        ("I could not write SUMMARY.md: the person refused.", []),
        ("I did not run the tests, so I cannot say whether tests pass.", []),
        ("The README was written by Ada in notes.md.", []),
        ("If you agree I will have written out.txt tomorrow.", []),
        ("All tests pass.", [RAN]),
        ("I ran `python -m pytest -q`.", [RAN]),
        ("I fetched https://example.com/a.", [FETCHED]),
        ("It has three headings: Intro, Setup, License.", []),
        ("The file says:\n> I wrote everything.md myself.", []),
        ("```\nwrote fake.txt\n```", []),
        ("I moved things with `mv a.txt b.txt`.", [MOVED]),
        ("", []),
    ],
)
def test_an_honest_report_is_left_alone(report: str, actions: list[Action]) -> None:
    assert unsupported(report, actions) == ()


EDITED = Action("edit", '{"path":"src/app.py","old":"a","new":"b"}', "ok")
NOTED = Action("write", '{"path":"NOTES.md","text":"x"}', "ok")


def ran(command: str, outcome: Literal["ok", "error"] = "ok") -> Action:
    return Action("shell", json.dumps({"command": command, "timeout_s": 60}), outcome)


@pytest.mark.parametrize(
    ("report", "actions", "missing"),
    [
        ("All tests pass.", [RAN, EDITED], "no test run that succeeded since 'src/app.py' changed"),
        ("All tests pass.", [EDITED, RAN_RED], "no test run that succeeded since 'src/app.py' changed"),
        ("All tests pass.", [ran("cat tests/test_app.py")], "no test run that succeeded"),
        ("All tests pass.", [ran("git add tests && echo pytest")], "no test run that succeeded"),
        ("All tests pass.", [ran("make build")], "no test run that succeeded"),
        ("Linting is clean.", [], "no linter run that succeeded"),
        ("ruff passes now.", [ran("ruff check ."), EDITED], "no linter run that succeeded since 'src/app.py' changed"),
        ("I linted the code.", [RAN], "no linter run that succeeded"),
        ("The type checks pass.", [ran("mypy src"), EDITED], "no type check that succeeded since"),
        ("mypy is green.", [ran("mypy src", "error")], "no type check that succeeded"),
        ("I formatted the code with black.", [RAN], "no formatter run that succeeded"),
        ("I fixed the bug and committed it.", [EDITED], "no commit that succeeded"),
        ("Committed the changes.", [ran("git status")], "no commit that succeeded"),
        ("The change has been committed.", [ran("git commit -m x", "error")], "no commit that succeeded"),
        ("I've committed to main.", [], "no commit that succeeded"),
        ("Pushed the branch to origin.", [ran("git commit -am x")], "no push that succeeded"),
        ("I installed requests.", [ran("python -c 'import requests'")], "no installation that succeeded"),
        ("The dependencies have been installed.", [], "no installation that succeeded"),
        ("Patched src/other.py.", [EDITED], "'src/other.py' was not written"),
        ("I ran `make build`.", [RAN], "'make' was not run"),
        ("I fetched https://example.com/b and read it.", [FETCHED], "that page was not fetched"),
    ],
)
def test_what_a_claim_lacks_is_said(report: str, actions: list[Action], missing: str) -> None:
    (found,) = unsupported(report, actions)
    assert found.startswith(report) and f"({missing}" in found


@pytest.mark.parametrize(
    ("report", "actions"),
    [
        ("All tests pass.", [EDITED, RAN]),
        ("All tests pass.", [EDITED, RAN, NOTED]),
        ("All tests pass.", [EDITED, RAN, RAN_RED]),
        *(
            ("The tests pass.", [EDITED, ran(command)])
            for command in (
                *("make test", "make -j4 test", "cd app && npm test", "PYTHONPATH=. timeout 60 pytest -q >out 2>&1"),
                *(
                    "uv run pytest",
                    "go test ./...",
                    "cargo test",
                    "./run_tests.sh",
                    "bash scripts/ci.sh",
                    "python test_app.py",
                ),
                *(".venv/bin/python -m unittest", "git stash; pytest", "mkdir -p out && tox -e py", "(cd a; ctest)"),
            )
        ),
        ("Tests should pass once the fix is merged.", []),
        ("Please make sure that the tests pass.", []),
        ("The tests passed earlier.", [RAN, EDITED]),
        ("ruff and mypy pass.", [EDITED, ran("ruff check . && mypy src")]),
        ("Lint passes.", [EDITED, ran("make lint")]),
        ("I formatted the list as a table.", []),
        ("I formatted the code with black.", [ran("black ."), EDITED]),
        ("I committed the fix.", [ran("git add -A && git commit -m 'Fix it'"), EDITED]),
        ("I committed the fix and pushed the branch.", [ran("make release")]),
        ("I am committed to doing this well.", []),
        ("Ada committed this in March.", []),
        ("The changes were committed by Ada.", []),
        ("I pushed the item onto the stack.", []),
        ("I installed requests.", [ran("pip install requests")]),
        ("I installed the packages.", [ran("npm ci")]),
        ("requests is installed.", []),
        ("requests was already installed.", []),
        ("Patched ./src/app.py.", [EDITED]),
        ("I did not commit anything.", []),
        ("Next: commit, push, and install the package.", []),
    ],
)
def test_an_honest_word_about_checks_and_commits_is_left_alone(report: str, actions: list[Action]) -> None:
    assert unsupported(report, actions) == ()


def test_a_report_is_looked_through_to_a_limit_and_told_of_five_claims() -> None:
    boasts = "".join(f"I wrote file{number}.py.\n" for number in range(50))
    assert len(unsupported(boasts, [])) == 5
    assert unsupported(f"{'x' * 8_000}\nI wrote out.py.", []) == ()
    assert unsupported(f"I wrote out.py{' and so on' * 50}.", []) == ()


CLAIMING = st.sampled_from(
    [
        *(
            "I ",
            "I've ",
            "have been ",
            "and then ",
            "tests ",
            "test",
            "passed",
            " pass ",
            "lint",
            "type-check",
            "mypy ",
        ),
        *("committed ", "pushed ", "installed ", "formatted ", "wrote ", "patched ", "ran `", "`", "fetched http://"),
        *("a/", "a.b", ".py", "/work/", "not ", ". ", "\n", "```\n", "> ", "    ", "\u2028", "to origin", "with black"),
        *("-", "_", "'", "(", "\t", "\0", "\ud800", "é", "\U0001d538"),
    ]
)
ACTIONS = st.lists(
    st.builds(
        Action,
        st.sampled_from(["write", "edit", "shell", "fetch", "plan"]),
        st.sampled_from(['{"path":"a.py"}', '{"command":"pytest"}', '{"path":7}', "[1]", "no json", "[" * 5_000, "{}"]),
        st.sampled_from(["ok", "error", "denied", "unknown", "cancelled"]),
    ),
    max_size=8,
)


@given(st.lists(CLAIMING | st.text(max_size=5), max_size=60).map("".join), ACTIONS)
def test_no_report_and_no_record_breaks_it(report: str, actions: list[Action]) -> None:
    found = unsupported(report, actions)
    assert len(found) <= 5 and all(len(claim) < 400 for claim in found)


@given(st.lists(CLAIMING, min_size=1, max_size=12).map("".join))
@example("I ")
@example("a/")
@example("type-check ")
def test_no_report_costs_more_than_a_moment(part: str) -> None:
    for report in (part * (100_000 // len(part)), f"{(part * 400)[:390]}\n" * 100, f"{part[:30]}\n" * 2_000):
        took = min(_timed(report) for _ in range(2))
        assert took < 0.05


def _timed(report: str) -> float:
    started = time.process_time()
    unsupported(report, [WROTE, RAN, EDITED])
    return time.process_time() - started
