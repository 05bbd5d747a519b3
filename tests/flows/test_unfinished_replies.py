"""Replies that are cut short: a watcher sees the whole so far, and afterwards the text is kept, for people alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.models import Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import Sitting, sit_down

STORY = "The north lamp is lit; the key is hunter2-correct-horse and the south lamp is dark. "
VALUE = "hunter2-correct-horse"


def script(seen: Seen) -> Turn:
    """One long slow reply to the first message; a short one to what comes after."""
    said = [message for message in seen.body["messages"] if message["role"] == "user"]
    return Turn(STORY * 50, delay_s=0.03) if "slowly" in str(said[-1]["content"]) else Turn("Short.")


def shown(desk: Sitting, words: str) -> str:
    """Look at a session until the text of its reply has these words; gives the text as a newcomer is shown it."""
    text = ""
    with closing(desk.house.client().stream(0, [desk.id])) as stream:
        while frame := stream.next(20.0):
            for body in (envelope["body"] for envelope in frame):
                if body["type"] != "text.delta":
                    continue
                assert body["offset"] <= len(text), "there is no hole in it"
                text = text[: body["offset"]] + body["text"] + text[body["offset"] + len(body["text"]) :]
            if words in text:
                return text
    raise AssertionError(f"the stream ended after {text!r}")


def interrupted(desk: Sitting) -> None:
    desk.say("Stop that.", interrupt=True)


def stopped(desk: Sitting) -> None:
    desk.house.post(f"{desk.path}/stop", {"why": "enough"})


def restarted(desk: Sitting) -> None:
    desk.house.stop()
    desk.house.start()
    # It goes on by itself, and asks again.
    desk.house.until(lambda: len(desk.bodies("model.requested")) == 2, "the second request")
    desk.say("Stop that.", interrupt=True)


@pytest.mark.parametrize(
    "cut", [*(pytest.param(cut, marks=pytest.mark.long) for cut in (interrupted, stopped)), restarted]
)
def test_text_that_was_shown_before_the_end_is_kept_and_no_model_reads_it(
    house: LivingHome, project: Path, cut: Callable[[Sitting], None]
) -> None:
    with served(script) as model:
        use_model(house, model.openai)
        assert house.cli("secret", "add", "lamp", stdin=f"{VALUE}\n").returncode == 0
        desk = sit_down(house, project)
        desk.say("Tell it slowly.")
        shown(desk, "south lamp")
        assert shown(desk, "is dark").startswith("The north lamp is lit"), "a second watcher has it from the start"
        cut(desk)
        failed, *_ = failures(desk)
        kept = failed["partial"]
        assert kept.startswith("The north lamp is lit; the key is ")
        assert "south lamp is dark" in kept
        assert VALUE not in kept, "it was screened"
        assert failed["error"] in ("The request was interrupted.", "Stead was interrupted during the request.")
        desk.rest()
        desk.say("Say it shortly.")
        desk.rest()
        last = json.dumps(model.requests()[-1].body)
        assert "Say it shortly" in last
        assert "north lamp" not in last, "it is no part of what the model is told"


def failures(desk: Sitting) -> list[Json]:
    """The session's failed requests, once there is one."""
    desk.house.until(lambda: bool(desk.bodies("model.failed")), "the request to have ended")
    return desk.bodies("model.failed")


def test_text_of_a_model_that_broke_off_is_kept(house: LivingHome, project: Path) -> None:
    turns = iter([Turn("The north lamp", stop="none"), Turn("It is lit.")])
    with served(lambda _: next(turns, Turn("Done."))) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project)
        desk.say("Is it lit?")
        (failed,) = failures(desk)
        assert failed["partial"] == "The north lamp"
        desk.rest()
        assert "**Interrupted reply**" in house.cli("session", "export", desk.id).stdout
