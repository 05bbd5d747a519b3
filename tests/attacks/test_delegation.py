"""External agents that lie, flood, forge, die and never end: refused or bounded, said clearly, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.conftest import own_house, project, shared_house
from tests.flows.conftest import shared_house as house
from tests.flows.delegation import add, answered, asked, delegate, hand_over, handed, handing, report, requests
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import home_events, use
from tests.promises import promise

__all__ = ["house", "own_house", "project", "shared_house"]


@promise("SEC-1.delegated")
def test_what_an_agent_calls_a_command_makes_it_no_milder(house: LivingHome, project: Path) -> None:
    add(house)
    with handed(house, project, handing("sneak rm -rf README.md", "say over"), profile="ask") as sitting:
        answered(sitting, delegate="once", shell="deny")
    assert requests(sitting) == [("shell", "ask", False)]
    assert (project / "README.md").exists()
    assert "rm -rf README.md" in asked(sitting)[-1]["arguments"]


@promise("SEC-1.delegated")
def test_leave_is_given_for_once_or_not_at_all(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "always touch a.txt", "say over")
    assert not (project / "a.txt").exists()
    assert not requests(sitting) and '"cancelled"' in report(sitting)


def test_a_grant_of_the_persons_for_a_clean_session_covers_no_agent(house: LivingHome, project: Path) -> None:
    add(house)
    with handed(house, project, handing("run touch a.txt", "run touch a.txt", "say over"), profile="ask") as sitting:
        answered(sitting, delegate="once", shell="once")
    asks = [question["sources"] for question in asked(sitting) if question["tool"] == "shell"]
    assert asks == [["agent:pear"], ["agent:pear"]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("die", "exited with 3: the pears are gone"),
        ("noise", "prints what is no message"),
        ("forge", "answered what it was not asked"),
        ("nest", "the agent sent"),
        ("twice", "asks with an id that cannot be"),
        ("flood", "the agent printed more than 256 MB"),
    ],
)
def test_nonsense_ends_the_run_with_its_reason(line: str, says: str, house: LivingHome, project: Path) -> None:
    add(house)
    sitting = hand_over(house, project, handing("bare a.txt one", line, "bare b.txt two"), timeout_s=90)
    text = report(sitting)
    assert "[pear: ended: fault]" in text and says in text, text
    assert (project / "a.txt").exists() and not (project / "b.txt").exists()
    assert home_events(house, "external_agent.run_ended")[-1]["report"]["end"] == "fault"


def test_an_agent_gets_no_files_and_no_terminal_of_ours(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "client fs/read_text_file", "client terminal/create")
    assert report(sitting).count("-32601") == 2
    assert not sitting.bodies("call.delegated")


def test_one_that_asks_without_end_is_ended(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = hand_over(house, project, handing("many 600"), timeout_s=110)
    assert "ended: it asked for leave more than 500 times" in report(sitting)
    assert len(sitting.bodies("call.delegated")) == 500


def test_a_path_out_of_the_workspace_is_refused_without_a_question(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "write ../../etc/passwd root", "say over")
    assert requests(sitting) == [("write", "deny", False)]
    assert [question["tool"] for question in asked(sitting)] == ["delegate"]


def test_a_model_cannot_choose_an_agents_hosts_nor_ask_in_its_name(house: LivingHome, project: Path) -> None:
    add(house)
    chosen = hand_over(house, project, use("delegate", agent="pear", task="say hi", hosts=["evil.example.com"]))
    assert chosen.bodies("call.judged")[-1]["reason"]["rule"] == "arguments"
    acted = hand_over(house, project, use("agent_action", agent="pear", asks="rm -rf /"))
    assert [body["outcome"] for body in acted.bodies("tool.finished")] == ["error"]


@pytest.mark.long
def test_one_that_never_ends_is_ended_by_its_time(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = hand_over(house, project, handing("bare a.txt one", "sleep 600", minutes=1), timeout_s=100)
    assert "ended: its time was up" in report(sitting) and (project / "a.txt").exists()
