"""Several watch one session while its daemon is killed in the middle of turns: each comes back and misses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.watching import Watcher
from tests.promises import promise

pytestmark = pytest.mark.timeout(180)

SLOW = Turn("A long story about quills and ink, told slowly so that somebody can listen to it.", delay_s=0.1)
WORK = Turn("I look.", calls=(Call("shell", {"command": "sleep 2 && touch looked"}),))
LOOK = Turn("I look.", calls=(Call("shell", {"command": "touch looked"}),))


def _script(seen: Seen) -> Turn:
    """The last words of the person say what happens: a slow reply, or a slow or quick command and then the end."""
    last = seen.body["messages"][-1]
    if last["role"] != "user":
        return Turn("Done.")
    said = str(last["content"])
    return WORK if "work" in said else LOOK if "look" in said else Turn("Yes.") if "quick" in said else SLOW


@pytest.fixture
def model() -> Iterator[ServedModel]:
    """A model that takes its time."""
    with served(_script) as server:
        yield server


def _open(house: LivingHome, project: Path) -> str:
    return str(house.post("/sessions", {"directory": str(project), "allow": ["shell"]})["session"])


def _say(house: LivingHome, session: str, text: str) -> None:
    house.post(f"/sessions/{session}/messages", {"text": text})


def _all_watch(house: LivingHome, session: str, count: int) -> None:
    """Wait until everybody has the session before their eyes."""
    house.until(lambda: len(house.get(f"/sessions/{session}/watchers")["items"]) == count, f"{count} watchers")


def _crash_when(house: LivingHome, session: str, kind: str, count: int) -> None:
    """Kill the daemon as soon as the record has so many events of a kind, and start it again."""
    house.until(lambda: len(house.bodies(session, kind)) >= count, f"{count} of {kind}")
    house.kill()
    house.start()


@promise("SES-5.watchers", "SES-5.reconnect", "OBJ-6.resume")
async def test_every_watcher_comes_back_after_kills_in_the_middle_of_turns_and_misses_nothing(
    house: LivingHome, project: Path, model: ServedModel
) -> None:
    await asyncio.to_thread(use_model, house, model.openai)
    session = await asyncio.to_thread(_open, house, project)
    watchers = [
        Watcher(house, session, transport, cuts=cuts, last=("turn.ended", 3))
        for transport in ("ws", "sse")
        for cuts in (0, 4)
    ]
    watching = asyncio.gather(*(watcher.until_the_end() for watcher in watchers))

    def live() -> list[Json]:
        _all_watch(house, session, len(watchers))
        _say(house, session, "tell me about quills")
        _crash_when(house, session, "model.requested", 1)  # the reply is half-way
        house.wait(session, "idle", timeout_s=60)
        _all_watch(house, session, len(watchers))
        _say(house, session, "now work")
        _crash_when(house, session, "tool.started", 1)  # the command runs
        house.wait(session, "idle", timeout_s=60)
        _all_watch(house, session, len(watchers))
        _say(house, session, "and tell me more")
        house.wait(session, "idle", timeout_s=60)
        return house.events(session)

    recorded = await asyncio.to_thread(live)
    await watching

    ended = [place for place, event in enumerate(recorded) if event["body"]["type"] == "turn.ended"]
    assert len(ended) == 3
    for watcher in watchers:
        assert watcher.connections >= 3
        assert watcher.seen == recorded[: len(watcher.seen)]
        assert len(watcher.seen) > ended[2]
    outcomes = [event["body"]["outcome"] for event in recorded if event["body"]["type"] == "tool.finished"]
    assert outcomes == ["unknown"], "the command that was cut off is not run twice, and nobody says that it ended"
    row = house.get(f"/sessions/{session}")
    assert (row["status"], row["turns"], row["kind"]) == ("idle", 3, "session")


@promise("OBJ-6.resume", "SES-2.reopen")
def test_after_a_crash_a_session_that_rested_goes_on_resting_and_one_that_waits_goes_on_waiting(
    house: LivingHome, project: Path, model: ServedModel
) -> None:
    use_model(house, model.openai)
    rests = _open(house, project)
    waits = str(house.post("/sessions", {"directory": str(project), "profile": "ask"})["session"])
    _say(house, rests, "quick, is it late?")
    house.wait(rests, "idle")
    _say(house, waits, "look with care")
    house.wait(waits, "waiting")
    heads = {id: len(house.events(id)) for id in (rests, waits)}

    house.kill()
    house.start()

    (question,) = house.get("/approvals", session=waits)["items"]
    assert question["tool"] == "shell"
    started = house.bodies("home", "daemon.started")[-1]
    assert started["recovered"] == [waits]
    assert len(house.events(rests)) == heads[rests]
    house.post(f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"], "whole": True})
    assert house.wait(waits, "idle")["turns"] == 1
    _say(house, rests, "quick, and now?")
    house.until(lambda: len(house.bodies(rests, "turn.ended")) == 2, "the second turn")
    assert house.wait(rests, "idle")["turns"] == 2
