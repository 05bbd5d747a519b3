"""A model that says that it is done, and is not: what counts as evidence is what happened, and no word of a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served

__all__ = ["house"]

GOAL = "read README.md and write SUMMARY.md with its headings"
CHECK = {"kind": "contains", "subject": "SUMMARY.md", "text": "# two"}


@pytest.mark.parametrize(
    ("commands", "done"),
    [
        (["ls README.md; echo SUMMARY.md"], False),
        (["touch x && echo SUMMARY.md > /dev/null"], False),
        (["echo x > SUMMARY.md", "rm SUM*"], False),
        (["mkdir SUMMARY.md"], False),
        (["grep '^#' README.md > SUMMARY.md"], True),
        (["printf 'grep \"^#\" README.md > SUMMARY.md' > make.sh", "bash make.sh"], True),
    ],
)
def test_a_goal_is_met_by_the_file_and_not_by_its_name(
    house: LivingHome, project: Path, commands: list[str], done: bool
) -> None:
    (project / "README.md").write_text("# one\n# two\n")
    turns = [Turn("", calls=(Call("shell", {"command": command}),)) for command in commands]
    with served(by_turn(*turns, then=Turn("Done.")), strict=False) as model:
        use_model(house, model.openai)
        row = house.finish(house.give(GOAL, project, limits={"repetition": 50}, checks=[CHECK]), answer="once")
    assert (project / "SUMMARY.md").is_file() == done
    assert (row["status"], row["reason"]) == (("verified", "done") if done else ("incomplete", "checks"))
