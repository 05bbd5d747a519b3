"""``stead top`` at a real terminal (a pty), against the real daemon: what it shows, and what its keys do."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import Terminal, at_terminal
from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, spawn
from tests.flows.conftest import own_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.promises import promise

__all__ = ["house"]

DONE = Turn("README.md says quills now.")
EDIT = Turn("", calls=(Call("edit", {"path": "README.md", "old": "Notes.", "new": "Notes on quills."}),))


@contextmanager
def watching(house: LivingHome, project: Path, rows: int = 24, columns: int = 80, **env: str) -> Iterator[Terminal]:
    with at_terminal(Cli(house.home, project), "top", rows=rows, columns=columns, env=env) as terminal:
        terminal.shows("Stead 0.1.0:" if columns > 20 else "Stead")
        yield terminal


@promise("TUI-1.dashboard")
def test_what_is_under_way_is_shown_live_and_a_question_is_answered_by_key(house: LivingHome, project: Path) -> None:
    with served(by_turn(EDIT, then=DONE)) as model, watching(house, project) as terminal:
        use_model(house, model.openai)
        terminal.shows("0 running, 0 waiting for you, 0 in all")
        id = house.give("say that these are about quills", project, profile="ask")
        rows = terminal.shows("  asks: edit, risk medium: README.md")
        assert rows[1].split() == ["STATE", "TITLE", "MODEL", "TOKENS", "COST"]
        assert re.fullmatch(r"waiting  say that these are about qu… acme/scripted  120, 0 % +\$0.00/\$5.00", rows[2])
        terminal.type("a")
        terminal.shows("question 1 of 1: edit, risk medium: README.md")
        terminal.shows("    | + Notes on quills.")
        terminal.type("y")
        terminal.shows("Allowed, once.")
        terminal.type("\x1b")
        terminal.shows("unverif… say that")
        terminal.type("\r")
        terminal.shows(f"{id}: say that these are about quills")
        terminal.type("\x1b[F")
        terminal.shows("allowed edit README.md (answered from cli)")
        terminal.type("q")
        assert terminal.end() == 0
    assert "quills" in (project / "README.md").read_text("utf-8")
    assert terminal.seen.count("\x1b[?1049h") == terminal.seen.count("\x1b[?1049l") == 1, "the screen of before is back"


@pytest.mark.long
@promise("TUI-1.dashboard")
def test_subagents_stand_below_what_started_them(house: LivingHome, project: Path) -> None:
    parts = {"ROOT": (Turn("", calls=(spawn("KID: mend the notes"),)),), "KID": (EDIT,)}
    with served(casting(parts), strict=False) as model, watching(house, project, columns=120) as terminal:
        use_model(house, model.openai)
        house.give("ROOT: have the notes mended", project, profile="ask")
        rows = terminal.shows("  asks: edit, risk medium: README.md")
        assert "ROOT: have the notes mended" in rows[2]
        assert re.match(r"waiting +executor: KID: mend the notes", rows[3])
        terminal.type("/kid\r")
        terminal.shows("2 fit 'kid'")
        terminal.type("/zebra")
        terminal.shows("0 fit 'zebra'")
        terminal.type("\x1b")
        terminal.shows("2 in all  ")


def test_a_session_is_paused_goes_on_and_is_stopped_after_one_question(house: LivingHome, project: Path) -> None:
    with served(by_turn(EDIT, then=DONE)) as model, watching(house, project) as terminal:
        use_model(house, model.openai)
        id = house.give("say that these are about quills", project, profile="ask")
        terminal.shows("  asks: edit")
        terminal.type("p")
        terminal.shows("paused   say that")
        house.wait(id, "paused")
        terminal.type("p")
        terminal.shows("waiting  say that")
        terminal.type("s")
        terminal.shows(f"Stop {id} (say that these are about quills)?")
        terminal.type("n")
        terminal.shows("waiting  say that")
        assert house.bodies(id, "stopped") == []
        terminal.type("sy")
        terminal.shows(f"{id} is stopped; p lets it go on")
        house.wait(id, "paused")
        terminal.type("?")
        terminal.shows("what waits for you stands first")
        terminal.type("\x1b")
        terminal.shows("paused   say that")


def test_nothing_is_allowed_before_its_end_was_on_the_screen(house: LivingHome, project: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(100)) + "\nlast of all" + "x" * 300 + "END"
    write = Turn("", calls=(Call("write", {"path": "long.txt", "text": long}),))
    with served(by_turn(write, then=DONE)) as model, watching(house, project) as terminal:
        use_model(house, model.openai)
        id = house.give("write it", project, profile="ask")
        terminal.shows("  asks: write")
        terminal.type("a")
        terminal.shows("question 1 of 1")
        terminal.type("y")
        terminal.shows("Not all of it was shown: read on to its end first.")
        assert house.bodies(id, "approval.given") == []
        terminal.type("\x1b[F")
        terminal.shows("xEND")
        terminal.type("y")
        terminal.shows("Allowed, once.")
        house.finish(id)
    assert (project / "long.txt").read_text("utf-8") == long


def test_a_yes_that_meant_a_question_settled_elsewhere_answers_no_other(house: LivingHome, project: Path) -> None:
    with served(by_turn(EDIT, then=DONE)) as model, watching(house, project) as terminal:
        use_model(house, model.openai)
        first = house.give("say that these are about quills", project, profile="ask")
        house.wait(first, "waiting")
        second = house.give("say it again", project, profile="ask")
        house.wait(second, "waiting")
        terminal.shows("2 waiting for you")
        terminal.type("a")
        terminal.shows("question 1 of 2")
        (asked,) = house.get("/approvals", session=first)["items"]
        assert house.cli("deny", asked["id"]).returncode == 0
        terminal.shows("It is settled: answered elsewhere, or void. 1 question for you: → shows it.")
        terminal.type("y")
        terminal.type("\x1b[C")
        terminal.shows("question 1 of 1")
        assert house.bodies(second, "approval.given") == []
        terminal.type("n")
        terminal.shows("Refused.")
        assert house.bodies(second, "approval.denied")


@pytest.mark.long
def test_it_says_that_the_daemon_is_away_and_goes_on_when_it_is_back(house: LivingHome, project: Path) -> None:
    with served(by_turn(EDIT, then=DONE)) as model, watching(house, project) as terminal:
        use_model(house, model.openai)
        house.kill()
        terminal.shows("the daemon is away")
        terminal.shows("(AWAY)")
        house.start()
        terminal.shows("connected again")
        house.give("say that these are about quills", project, profile="ask")
        terminal.shows("  asks: edit")


@pytest.mark.long
def test_it_fits_small_windows_and_uses_no_colour_where_none_is_wanted(house: LivingHome, project: Path) -> None:
    with (
        served(by_turn(EDIT, then=DONE)) as model,
        watching(house, project, rows=6, columns=20, NO_COLOR="1") as terminal,
    ):
        use_model(house, model.openai)
        house.give("say that these are about quills", project, profile="ask")
        rows = terminal.until_rows(lambda rows: any("asks" in row for row in rows), "the question")
        assert rows[2].startswith("waiting  say that …")
        terminal.resize(24, 80)
        terminal.shows("$0.00/$5.00")
        terminal.resize(2, 10)
        terminal.until_rows(lambda rows: all(len(row) <= 10 for row in rows), "ten columns")
        terminal.resize(24, 80)
        terminal.shows("$0.00/$5.00")
        terminal.type("q")
        assert terminal.end() == 0
    colours = [code for codes in re.findall(r"\x1b\[([\d;]*)m", terminal.seen) for code in codes.split(";")]
    assert {code for code in colours if code not in ("", "0", "39", "49")} <= {"1", "2", "7"}


@pytest.mark.long
def test_nothing_is_drawn_and_hardly_anything_done_while_nothing_happens(house: LivingHome, project: Path) -> None:
    with watching(house, project) as terminal:
        terminal.shows("0 in all")
        while terminal.more(1.0):
            pass
        began_s, began = cpu_s(terminal.pid), time.monotonic()
        assert not terminal.more(5.0)
        assert (cpu_s(terminal.pid) - began_s) / (time.monotonic() - began) < 0.03


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
