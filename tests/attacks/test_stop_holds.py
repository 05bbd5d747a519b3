"""A stop holds although the disk is full: nothing goes on by itself, and the person hears what is not on record."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from stead.domain.ends import ENDS, WELL
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox
from tests.promises import promise

NOTE = Turn("", calls=(Call("shell", {"command": "echo on >> log.txt"}),))
SLEEP = Turn("", calls=(Call("shell", {"command": "sleep 30"}),))


def fill(house: LivingHome, *, full: bool) -> None:
    """Let the daemon's files grow no more, as on a full disk; or let them grow again."""
    assert house.process is not None
    hard = resource.prlimit(house.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(house.process.pid, resource.RLIMIT_FSIZE, (1 if full else hard, hard))


@promise("SEC-5.stop")
@pytest.mark.parametrize(("when", "everything"), [("at work", False), ("already given up", True)])
def test_a_stop_on_a_full_disk_holds_until_it_is_recorded_and_the_person_resumes(
    house: LivingHome, project: Path, when: str, everything: bool
) -> None:
    require_sandbox()
    second = SLEEP if when == "at work" else Turn("", calls=(Call("shell", {"command": "sleep 2"}),))
    turns = [NOTE, second, *[NOTE] * 20]
    with served(by_turn(*turns, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("work on it", project, allow=["shell"])
        house.until(lambda: len(house.bodies(id, "tool.started")) == 2, "the second call to start")
        fill(house, full=True)
        if when == "already given up":  # what ends the call cannot be recorded, and the session rests to try again
            house.until(lambda: house.get("/status")["live_sessions"] == 0, "the session to give up for now")
        stopped = house.cli("stop", *(["--all"] if everything else [id]))
        assert stopped.returncode == 0 and "could not be recorded" in stopped.stdout, stopped.stdout + stopped.stderr
        assert "a restart before it is would let it go on" in stopped.stdout
        assert house.cli("resume", id).returncode != 0, "what was not recorded is not taken back unrecorded"
        fill(house, full=False)
        assert house.wait(id, "paused", *WELL, "incomplete", "failed", timeout_s=30)["status"] == "paused"
        assert len(house.bodies(id, "session.stopped")) == 1
        assert (project / "log.txt").read_text() == "on\n", "nothing went on by itself"
        assert house.cli("resume", id).returncode == 0
        house.until(lambda: (project / "log.txt").read_text().count("on") > 1, "the work to go on")


def test_a_restart_after_the_stop_was_recorded_goes_on_holding(house: LivingHome, project: Path) -> None:
    require_sandbox()
    with served(by_turn(NOTE, SLEEP, NOTE, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("work on it", project, allow=["shell"])
        house.until(lambda: len(house.bodies(id, "tool.started")) == 2, "the second call to start")
        fill(house, full=True)
        assert "could not be recorded" in house.cli("stop").stdout
        fill(house, full=False)
        house.wait(id, "paused")
        house.kill()
        house.start()
        assert house.get(f"/objectives/{id}")["status"] == "paused" and (project / "log.txt").read_text() == "on\n"


def test_what_waits_for_a_moment_of_its_own_is_stopped_too(house: LivingHome, project: Path) -> None:
    require_sandbox()
    with served(by_turn(Turn("", calls=(Call("write", {"path": "a", "text": "b"}),)), then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("write it", project)
        house.wait(id, "waiting")
        assert "1 stopped" in house.cli("stop", "--all").stdout
        assert house.get(f"/objectives/{id}")["status"] == "paused"


def test_how_things_stand_is_answered_on_a_full_disk(house: LivingHome, project: Path) -> None:
    with served(by_turn(then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("work on it", project)
        house.wait(id, *ENDS)
        fill(house, full=True)
        status, checked = house.cli("status"), house.cli("doctor")
        refused = house.cli("session", "rename", id, "Another title")
        fill(house, full=False)
    assert status.returncode in (0, 1) and "daemon" in status.stdout, status.stderr
    assert "checks:" in checked.stdout, checked.stderr
    assert refused.returncode != 0 and house.get(f"/objectives/{id}")["title"] == "work on it"
