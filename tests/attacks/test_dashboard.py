"""What a model, a tool or a file wrote, in the dashboard: nothing of it is obeyed by the terminal or read as markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import at_terminal
from tests.fakes.models import Call, Turn
from tests.flows.conftest import own_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served

__all__ = ["house"]

MARKUP = "[red]quill[/red] [@click=app.quit]press[/] [/nothing] $primary"
CONTROL = "\x1b]0;OWNED\x07\x1b[2J\x1b[31;44mOWNED\x1b[?1049l\x9b31m\x08\x7f\u202e"
OURS = re.compile(r"\x1b(?:\[[<>?]?[\d;]*[A-Za-z]|\[\?\d+\$p|[78=>]|\]22;[a-z]+\x07)")
"""Every sequence that a dashboard itself may send: of cursor, style, mode and query, without a text of another's."""


def test_markup_and_control_sequences_are_shown_as_text_everywhere(house: LivingHome, project: Path) -> None:
    command = f"echo {MARKUP} {CONTROL}"
    asks = Turn(f"I look. {MARKUP} {CONTROL}", calls=(Call("shell", {"command": command}),))
    with served(by_turn(asks, then=Turn(f"Done. {MARKUP} {CONTROL}"))) as model:
        use_model(house, model.openai)
        with at_terminal(Cli(house.home, project), "top", columns=200, rows=50, env={"NO_COLOR": "1"}) as terminal:
            terminal.shows("0 in all")
            id = house.give(f"{MARKUP} {CONTROL}", project, profile="ask")
            terminal.shows(f"waiting  {MARKUP}")
            terminal.shows("  asks: shell")
            terminal.type("a")
            terminal.shows(f"question 1 of 1: shell, risk critical: {command[: len(MARKUP) + 5]}")
            rows = terminal.shows("(rule shell-hidden-characters)")
            escaped = "\\x1b]0;OWNED\\x07\\x1b[2J\\x1b[31;44mOWNED\\x1b[?1049l\\x9b31m\\x08\\x7f\\u202e"
            assert any(escaped in row for row in rows), "a person sees what the command hides"
            terminal.type("n")
            terminal.shows("Refused.")
            house.wait(id, "answered", "incomplete", "unverified", "failed")
            terminal.type("\x1b")
            terminal.shows("STATE")
            terminal.type("\r")
            terminal.shows(f"I look. {MARKUP}")
            terminal.type("\x1b")
            terminal.shows("STATE")
            terminal.type(f"/{MARKUP}")
            terminal.shows(f"1 fit '{MARKUP}'")
            terminal.type("\x1b")
            terminal.shows("1 in all  ")
            terminal.type("q")
            assert terminal.end() == 0
    left = OURS.sub("", terminal.seen)
    odd = re.findall(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e].{,20}", left)
    assert odd == [], "what is left is text alone"
    assert "\x1b[31;44m" not in terminal.seen
    assert terminal.seen.count("\x1b[?1049l") == 1


@pytest.mark.parametrize("name", ["y", *(pytest.param(one, marks=pytest.mark.long) for one in "nq")])
def test_a_key_that_was_pressed_before_a_question_came_answers_nothing(
    house: LivingHome, project: Path, name: str
) -> None:
    asks = Turn("", calls=(Call("shell", {"command": "rm -rf build"}),))
    with served(by_turn(asks, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        with at_terminal(Cli(house.home, project), "top") as terminal:
            terminal.shows("0 in all")
            terminal.type("a")
            terminal.shows("Nothing waits for your answer.")
            id = house.give("clear up", project, profile="ask")
            house.wait(id, "waiting")
            terminal.type(name)
            if name == "q":
                assert terminal.end() == 0
            else:
                terminal.shows("1 question for you: → shows it.")
                terminal.type(name)
                terminal.type("\x1b[Cy")
                terminal.shows("That was quick for something risky; read it, and answer again.")
            assert house.bodies(id, "approval.given") == house.bodies(id, "approval.denied") == []
