"""A person at a real terminal answers a question of the real daemon, where the work began and where it is watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import at_terminal
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome
from tests.promises import promise

__all__ = ["house"]

GOAL = "read README.md and write SUMMARY.md with its headings"
QUESTION = "q leave it pending: "


@promise("UI-2.terminal", "SEC-2.approve")
def test_a_question_is_answered_where_the_work_was_started(house: LivingHome, project: Path) -> None:
    with at_terminal(Cli(house.home, project), "run", GOAL, "--profile", "ask") as terminal:
        card = terminal.until(QUESTION)
        assert "SUMMARY.md" in card
        assert not (project / "SUMMARY.md").exists()
        terminal.type("y\n")
        assert terminal.end() == 0, terminal.seen
    assert "Quill" in (project / "SUMMARY.md").read_text("utf-8")


@promise("UI-2.terminal", "SEC-2.deny")
def test_a_question_is_answered_by_whoever_watches(house: LivingHome, project: Path) -> None:
    id = house.give(GOAL, project)
    with at_terminal(Cli(house.home, project), "watch", id) as terminal:
        terminal.until(QUESTION)
        terminal.type("n\n")
        terminal.until("reason")
        terminal.type("not today\n")
        terminal.end()
    denied = house.bodies(id, "approval.denied")
    assert [body["reason"] for body in denied] == ["not today"]
    assert not (project / "SUMMARY.md").exists()


@promise("OBJ-10.checks")
@pytest.mark.long  # it says so after 5 s
def test_a_terminal_says_that_it_waits_for_checks_and_the_last_words_come_before_them(
    house: LivingHome, project: Path
) -> None:
    slow = "test ! -e SUMMARY.md || sleep 6"  # it is the look at the end that takes long
    with at_terminal(Cli(house.home, project), "run", GOAL, "--done-when", slow) as terminal:
        said = terminal.until("waiting for its acceptance checks, 5 s")
        assert "I wrote SUMMARY.md" in said and "waiting for the model" not in said
        terminal.end()
