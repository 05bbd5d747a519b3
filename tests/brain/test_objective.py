"""The contract that a goal makes, and the check of a model's last word."""

from __future__ import annotations

import pytest

from stead.brain.objective import contract, judge
from stead.domain import events as ev
from stead.domain.effects import Finish, Record
from tests.build import Story, created


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("read README.md and write SUMMARY.md with its headings", [("wrote", "SUMMARY.md")]),
        ("Read README.md, then write its headings to SUMMARY.md", [("wrote", "SUMMARY.md")]),
        ("write a summary of README.md into docs/out.md", [("wrote", "docs/out.md")]),
        ("Create the file notes.txt", [("wrote", "notes.txt")]),
        ("count the lines of a.csv and save the number in n.txt", [("wrote", "n.txt")]),
        ("run `pytest -q` and report", [("ran", "pytest")]),
        ("summarise README.md", []),
        ("write a poem about README.md", []),
        ("do not write SUMMARY.md, only tell me the headings", []),
        ("find every TODO in src/app.py", []),
        ("what does setup.py do?", []),
        ("count the lines in log.txt", []),
        ("list the headings of a.md to b.md", [("wrote", "b.md")]),
        ("record the total in total.txt", [("wrote", "total.txt")]),
        ("", []),
    ],
)
def test_a_goal_names_the_evidence_that_it_wants(goal: str, wanted: list[tuple[str, str]]) -> None:
    assert [(want.kind, want.subject) for want in contract(goal).evidence] == wanted


WANTED = (ev.EvidenceWanted("wrote", "SUMMARY.md"),)
WRITE = ("write", '{"path":"SUMMARY.md","text":"x"}')


def test_a_met_goal_with_an_honest_report_is_completed() -> None:
    story = Story(created(evidence=WANTED)).turn(WRITE).run().turn("I wrote SUMMARY.md.")
    assert judge(story.session) == Finish("completed", "done", "I wrote SUMMARY.md.")


def test_a_goal_without_its_evidence_is_sent_back() -> None:
    story = Story(created(evidence=WANTED)).turn("All is well.")
    effect = judge(story.session)
    assert isinstance(effect, Record)
    assert isinstance(notice := effect.bodies[0], ev.NoticeGiven)
    assert "SUMMARY.md" in notice.text


def test_a_claim_without_a_call_is_sent_back_and_in_the_end_fails() -> None:
    story = Story(created(evidence=WANTED))
    for _ in range(3):
        story.turn("I wrote SUMMARY.md.")
        effect = judge(story.session)
        assert isinstance(effect, Record)
        story.tell(*effect.bodies)
    story.turn("I really wrote SUMMARY.md.")
    effect = judge(story.session)
    assert isinstance(effect, Finish)
    assert (effect.status, effect.reason) == ("failed", "evidence")


def test_a_goal_whose_write_was_refused_ends_as_denied() -> None:
    story = Story(created(evidence=WANTED)).turn(WRITE).run("denied").turn("The person refused; here are the headings.")
    effect = judge(story.session)
    assert isinstance(effect, Finish)
    assert (effect.status, effect.reason) == ("failed", "denied")


@pytest.mark.parametrize(
    "said", ["Not met: there is no such file.", "I looked. The goal is not met.", "**Not met:** no."]
)
def test_a_model_that_says_that_it_failed_is_believed(said: str) -> None:
    effect = judge(Story(created(evidence=WANTED)).turn(said).session)
    assert isinstance(effect, Finish)
    assert (effect.status, effect.reason) == ("failed", "unmet")


def test_a_reply_that_was_cut_off_is_not_the_last_word() -> None:
    story = Story()
    for _ in range(3):
        story.ask().reply("The answer is", stop="length")
        effect = judge(story.session)
        assert isinstance(effect, Record)
        story.tell(*effect.bodies)
    story.ask().reply("The answer is", stop="length")
    effect = judge(story.session)
    assert isinstance(effect, Finish)
    assert (effect.status, effect.reason) == ("failed", "model")


def test_an_empty_reply_is_sent_back() -> None:
    effect = judge(Story().turn("").session)
    assert isinstance(effect, Record)
