"""What a person calls work, and takes back of what they said, through the command line, the daemon and the wire."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from tests.fakes.models import Seen, Turn
from tests.flows.house import LivingHome
from tests.flows.served import served


def _rows(house: LivingHome, *words: str) -> list[str]:
    listed = house.cli(*words, "--json")
    assert listed.returncode == 0, listed.stderr
    return [json.loads(line)["title"] for line in listed.stdout.splitlines()]


def _did(house: LivingHome, *words: str) -> str:
    done = house.cli(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_work_is_renamed_tagged_archived_and_found_by_that(house: LivingHome, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here, there = (
        house.post("/sessions", {"directory": str(folder), "title": "Plain"})["session"] for folder in (project, other)
    )
    _did(house, "session", "rename", here, "  The shop ")
    _did(house, "session", "tag", here, "work", "urgent")
    assert "urgent" in _did(house, "session", "tag", here, "work", "--remove")
    assert _rows(house, "session", "list", "--dir", str(project)) == ["The shop"]
    assert _rows(house, "session", "list", "--tag", "urgent") == ["The shop"]
    assert _rows(house, "session", "list", "--tag", "work") == []
    assert _rows(house, "session", "list", "--until", "2020-01-01") == []
    assert _rows(house, "session", "list", "--since", "2020-01-01") == ["Plain", "The shop"]
    _did(house, "session", "archive", there[:10])
    assert _rows(house, "session", "list") == ["The shop"]
    assert _rows(house, "session", "list", "--archived", "yes") == ["Plain"]
    _did(house, "session", "unarchive", there[:10])
    assert len(_rows(house, "session", "list")) == 2
    shown = _did(house, "session", "show", here)
    assert "The shop" in shown and "urgent" in shown
    for refused in (("rename", here, " "), ("tag", here, "a,b"), ("tag", here, "x" * 41)):
        assert house.cli("session", *refused).returncode == 2
    house.stop()
    house.start()
    assert _rows(house, "session", "list", "--tag", "urgent") == ["The shop"]


def test_a_message_that_waits_is_changed_and_withdrawn_and_a_model_reads_the_rest(
    house: LivingHome, project: Path
) -> None:
    go = threading.Event()

    def answer(_: Seen) -> Turn:
        assert go.wait(30)
        return Turn("Heard.")

    with served(answer) as model:
        house.cli("providers", "add", "lan", "--preset", "compatible", "--url", model.openai, "--model", "m-1")
        chain = [{"provider": "lan", "model": "m-1"}]
        id = house.post("/sessions", {"directory": str(project), "chain": chain})["session"]
        _did(house, "session", "send", id, "begin")
        house.until(lambda: bool(model.requests()), "the first request")
        for text in ("ship to Paris", "ship to Oslo", "wipe the disk"):
            _did(house, "session", "send", id, text)
        first, _, last = (row["message"] for row in house.get(f"/sessions/{id}/waiting")["items"])
        assert "wipe the disk" in _did(house, "session", "waiting", id)
        _did(house, "session", "withdraw", id)
        _did(house, "session", "reword", id, "ship to Bergen", "--number", str(first))
        go.set()
        house.until(lambda: house.get(f"/sessions/{id}")["status"] == "idle", "the end of the turn")
        read = str(model.requests()[-1].body["messages"])
        assert "Bergen" in read and "Oslo" in read and "Paris" not in read and "wipe" not in read
        assert [event["text"] for event in house.bodies(id, "message.received")][-1] == "wipe the disk"
        gone = house.cli("session", "withdraw", id, "--number", str(last))
        assert gone.returncode != 0 and "waits" in gone.stderr
    told = _did(house, "session", "export", id)
    assert "was withdrawn" in told and "Bergen" in told


def test_the_goal_of_a_paused_objective_is_changed_and_vouches_for_its_new_words_alone(
    house: LivingHome, project: Path
) -> None:
    go = threading.Event()

    def answer(_: Seen) -> Turn:
        assert go.wait(30)
        return Turn("Noted.")

    with served(answer) as model:
        house.cli("providers", "add", "lan", "--preset", "compatible", "--url", model.openai, "--model", "m-1")
        goal = {"goal": "count the pears", "directory": str(project), "chain": [{"provider": "lan", "model": "m-1"}]}
        id = house.post("/objectives", goal)["session"]
        house.until(lambda: bool(model.requests()), "the first request")
        running = house.cli("goal", id, "count the plums")
        assert running.returncode != 0 and "pause it first" in running.stderr
        _did(house, "pause", id)
        assert "keeps the old one" in _did(house, "goal", id, "count the plums")
        assert house.get(f"/objectives/{id}")["goal"] == "count the plums"
        go.set()
        _did(house, "resume", id)
        house.until(lambda: len(model.requests()) > 1, "the request after it")
        assert "count the plums" in str(model.requests()[-1].body["messages"])
    assert _rows(house, "objectives", "--dir", str(project)) == ["count the pears"]
