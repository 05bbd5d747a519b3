"""What a report claims is held against what ran."""

from __future__ import annotations

import time

import pytest

from stead.brain.claims import unsupported
from stead.domain.sessions import Action

WROTE = Action("write", '{"path":"SUMMARY.md","text":"x"}', "ok")
RAN = Action("shell", '{"command":"python -m pytest -q","timeout_s":60}', "ok")
RAN_RED = Action("shell", '{"command":"python -m pytest -q","timeout_s":60}', "error")
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
        ("I moved things with `mv a.txt b.txt`.", [Action("shell", '{"command":"mv a.txt b.txt"}', "ok")]),
        ("", []),
    ],
)
def test_an_honest_report_is_left_alone(report: str, actions: list[Action]) -> None:
    assert unsupported(report, actions) == ()


@pytest.mark.parametrize("filler", ["-" * 40_000, "a/" * 20_000, "wrote " * 8_000, "a.b" * 15_000, "I " * 20_000])
def test_a_hostile_report_costs_little_time(filler: str) -> None:
    started = time.process_time()
    unsupported(filler, [WROTE])
    assert time.process_time() - started < 2.0
