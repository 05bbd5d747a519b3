"""Tasks handed to an external agent: it works in a machine, its requests pass the gate, its changes land."""

from __future__ import annotations

from pathlib import Path

from tests.flows.conftest import shared_house as house
from tests.flows.delegation import add, asked, delegate, report, requests
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import home_events
from tests.promises import promise

__all__ = ["house"]


@promise("OBJ-8.delegate", "SEC-1.delegated")
def test_a_task_is_handed_over_and_what_the_agent_changed_lands(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "write notes/pears.txt 41 pears", "run wc -c notes/pears.txt", "say all counted")
    assert (project / "notes/pears.txt").read_text() == "41 pears"
    text = report(sitting)
    assert "[pear: it says that it is done]" in text and "[it changed: notes/pears.txt]" in text, text
    assert "8 notes/pears.txt\nall counted" in text
    assert requests(sitting) == [("write", "allow", True), ("shell", "allow", True)]
    (question,) = asked(sitting)
    assert question["tool"] == "delegate" and "api.pears.example.com" in question["arguments"]
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "delegate"]
    assert end["label"]["integrity"] == "untrusted" and end["changed"] == ["notes/pears.txt"]
    (ended,) = home_events(house, "external_agent.run_ended")
    assert (ended["report"]["end"], ended["report"]["asked"], ended["report"]["changed"]) == ("done", 2, 1)
