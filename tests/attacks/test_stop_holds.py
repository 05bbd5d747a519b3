"""A stop holds although the disk is full: nothing goes on by itself, and the person hears what is not on record."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from stead.domain.ends import ENDS, WELL
from tests.fakes.models import Call, Turn
from tests.flows.agents import casting, descendants, spawn
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


@promise("SEC-5.stop", "OBJ-7.cancel")
def test_a_stop_holds_for_every_subagent_though_one_of_them_cannot_be_read(house: LivingHome, project: Path) -> None:
    require_sandbox()
    asleep, on = "touch {0}.asleep; sleep 30", Turn("", calls=(Call("shell", {"command": "touch went-on"}),))
    leaves = {
        name: (Turn("", calls=(Call("shell", {"command": asleep.format(name)}),)), *[on] * 5) for name in ("AA", "CC")
    }
    both = Turn("", calls=(spawn("BB: have it done"), spawn("AA: sleep")))
    parts = {"ROOT": (both,), "BB": (Turn("", calls=(spawn("CC: sleep"),)),), **leaves}
    with served(casting(parts)) as model:
        use_model(house, model.openai)
        id = house.give("ROOT: have it done", project, profile="work")
        house.until(lambda: len(descendants(house, id)) == 3, "three subagents")
        below = [row["id"] for row in descendants(house, id)]
        branch = next(row["id"] for row in descendants(house, id) if "BB:" in row["title"])
        leaf = {one for one in below if one != branch}
        house.until(lambda: all(house.bodies(one, "tool.started") for one in leaf), "the leaves to work")
        fill(house, full=True)
        assert "could not be recorded" in house.cli("stop", branch).stdout
        stopped = house.cli("stop", id)
        assert stopped.returncode == 0 and "could not be recorded" in stopped.stdout, stopped.stdout + stopped.stderr
        fill(house, full=False)
        for one in (id, *below):
            house.wait(one, "paused", timeout_s=30)
            assert len(house.bodies(one, "session.stopped")) == 1, one
        assert not (project / "went-on").exists(), "nothing went on by itself"
        assert house.cli("resume", id).returncode == 0
        row = house.wait(id, *WELL, "incomplete", "failed", timeout_s=60)
    assert row["agents"] == 0 and (project / "went-on").exists(), "everything goes on when the person says so"


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
