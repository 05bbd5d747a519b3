"""A hundred utterances of four languages with every provider down: each is answered, and no model is asked anything."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.brain.intent_sayings import MISSES, SAID
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

DOWN = "http://127.0.0.1:9/v1"


@promise("OBJ-9.routing")
def test_a_hundred_utterances_are_answered_with_every_provider_down(house: LivingHome, project: Path) -> None:
    use_model(house, DOWN)
    id = str(house.post("/sessions", {"directory": str(project)})["session"])
    wanted = []
    for kind, sayings in SAID.items():
        for words in sayings.split("|"):
            if kind != "resume":  # which counts where something is paused
                answer = house.post(f"/sessions/{id}/messages", {"text": words})
                assert (answer["intent"], bool(answer["text"])) == (kind, True), words
                wanted.append(kind)
    paused = house.give("count the files", project, profile="work", chain=[{"provider": "acme", "model": "scripted"}])
    resumes = SAID["resume"].split("|")
    for words in resumes:
        if house.get(f"/objectives/{paused}")["status"] != "paused":
            house.post(f"/objectives/{paused}/pause")
        answer = house.post(f"/objectives/{paused}/messages", {"text": words})
        assert answer["intent"] == "resume", words
    assert len(wanted) + len(resumes) >= 100
    assert [body["intent"] for body in house.bodies(id, "intent.answered")] == wanted
    row = house.get(f"/sessions/{id}")
    assert (row["turns"], row["tokens_used"], row["iterations"]) == (0, 0, 0)
    assert house.bodies(id, "model.requested") == house.bodies(id, "message.received") == []
    memories = [row["memory"]["text"] for row in house.get("/memories")["items"]]
    assert any("dentist is Dr Lund" in text for text in memories)


@promise("OBJ-9.schedule")
def test_something_is_scheduled_read_back_and_confirmed_without_a_model(house: LivingHome, project: Path) -> None:
    use_model(house, DOWN)
    sitting = str(house.post("/sessions", {"directory": str(project), "profile": "readonly"})["session"])

    def say(words: str) -> str:
        return str(house.post(f"/sessions/{sitting}/messages", {"text": words})["text"])

    said = say("Schedule every monday at 7:05: look through the notes")
    assert f"in {project}: Look through the notes" in said and len(re.findall(r"\d 07:05", said)) == 5
    assert said.endswith("To have it run: enable schedule at-0705-on-1")
    (row,) = house.get("/schedules")["items"]
    assert (row["on"], row["next_ms"], row["schedule"]["job"]["profile"]) == (False, [], "readonly"), "it asks first"
    assert row["schedule"]["job"]["allow"] == row["schedule"]["job"]["hosts"] == []
    assert "off (you have not confirmed it)" in say("schedules")
    assert "next " in say("Zeitplan einschalten at-0705-on-1")
    assert house.get("/schedules")["items"][0]["on"] is True
    assert "off (switched off)" in say("disable schedule at-0705-on-1")
    assert "there is no schedule 'moon'" in say("enable schedule moon")
    assert house.bodies(sitting, "model.requested") == []


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_near_misses_reach_the_model_as_they_were_typed(house: LivingHome, project: Path, every: int) -> None:
    misses = [words.strip() for words in MISSES][::every]
    with served(lambda seen: Turn("Yes.")) as model:
        use_model(house, model.openai)
        id = str(house.post("/sessions", {"directory": str(project)})["session"])
        for words in misses:
            assert house.post(f"/sessions/{id}/messages", {"text": words})["intent"] == ""
    assert [body["text"] for body in house.bodies(id, "message.received")] == misses
    assert house.bodies(id, "intent.answered") == []


def test_by_the_command_line_it_is_answered_at_once_shown_in_the_story_and_can_be_forced(
    house: LivingHome, project: Path
) -> None:
    turns = [
        Turn("I hear you."),
        Turn("Again.", calls=(Call("shell", {"command": "rm -rf build"}),)),
        Turn("As you wish."),
    ]
    with served(turns) as model:
        use_model(house, model.openai)
        opened = house.cli("session", "new", "--json", "--profile", "ask", cwd=project)
        id = str(json.loads(opened.stdout)["session"])
        said = house.cli("session", "send", id, "status", "--wait")
        assert said.returncode == 0 and said.stdout.startswith("Status: idle")
        forced = house.cli("session", "send", id, "status", "--to-model", "--wait")
        assert forced.returncode == 0 and "I hear you." in forced.stdout
        assert house.cli("session", "send", id, "clean up", "--wait").returncode == 3
        answer = house.cli("session", "send", id, "approve").stdout
        assert "It was not allowed: its risk is" in answer, "what is risky is looked at first"
        assert "Denied: shell" in house.cli("session", "send", id, "deny").stdout
    story = house.cli("session", "export", id).stdout
    assert "answered by Stead without a model" in story and "Status: idle" in story
    assert "status" in house.cli("session", "attach", id, "--all").stdout
