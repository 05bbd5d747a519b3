"""Sessions that people work in, by the API alone: every route, on a running daemon with its real machine and store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

EDIT = Turn("I change the notes.", calls=(Call("edit", {"path": "README.md", "old": "Notes.", "new": "Few notes."}),))
RUN = Turn("", calls=(Call("shell", {"command": "touch one"}), Call("shell", {"command": "touch two"})))


def _script(seen: Seen) -> Turn:
    """What the person said last is what is done; after its results the turn ends."""
    last = seen.body["messages"][-1]
    if last["role"] != "user":
        return Turn("Done.")
    said = str(last["content"])
    return EDIT if "edit" in said else RUN if "run" in said else Turn("Done.")


@pytest.fixture
def model(house: LivingHome) -> Iterator[ServedModel]:
    """The home's only model."""
    with served(_script) as server:
        use_model(house, server.openai)
        yield server


@pytest.fixture
def desk(house: LivingHome, project: Path, model: ServedModel) -> str:
    """The path of a session in the project."""
    body = {"directory": str(project), "title": "Quill", "profile": "ask"}
    return f"/sessions/{house.post('/sessions', body)['session']}"


def _id(desk: str) -> str:
    return desk.removeprefix("/sessions/")


def _rests(house: LivingHome, desk: str, said: str = "") -> Json:
    """Say something, answer what is asked, and wait until the session rests."""
    if said:
        house.post(f"{desk}/messages", {"text": said})
    while (row := house.wait(_id(desk), "idle", "waiting", "paused"))["status"] == "waiting":
        for question in house.get("/approvals", session=_id(desk))["items"]:
            given = {"answer": "once", "digest": question["digest"], "whole": True}
            house.post(f"/approvals/{question['id']}/decision", given)
    return row


def _refused(house: LivingHome, path: str, body: Json | None = None) -> int:
    with pytest.raises(ApiError) as refused:
        house.post(path, body or {})
    return refused.value.status


@promise("SES-1.status", "SES-2.reopen", "SES-6.queued")
def test_a_session_is_listed_apart_and_goes_through_its_statuses(house: LivingHome, desk: str, project: Path) -> None:
    objective = house.give("say hello", project)
    house.finish(objective)
    row = house.get(desk)
    assert (row["kind"], row["status"], row["turns"], row["title"]) == ("session", "idle", 0, "Quill")
    assert [each["id"] for each in house.get("/sessions")["items"]] == [row["id"]]
    assert [each["id"] for each in house.get("/objectives")["items"]] == [objective]
    assert house.get(f"/objectives/{row['id']}") == row, "an id is good at both"
    assert house.get("/sessions", status="closed")["items"] == []

    assert _rests(house, desk, "say something")["turns"] == 1
    assert [step["turn"] for step in house.get(f"{desk}/steps")["items"]] == [1]
    house.post(f"{desk}/pause")
    assert house.get(desk)["status"] == "paused"
    house.post(f"{desk}/resume")
    house.post(f"{desk}/stop", {"why": "enough"})
    assert (house.get(desk)["status"], house.get(desk)["reason"]) == ("paused", "enough")
    assert _refused(house, f"{desk}/delete") == 409
    house.post(f"{desk}/close")
    assert house.get(desk)["status"] == "closed"
    assert _refused(house, f"{desk}/close") == 409
    assert _rests(house, desk, "and again")["turns"] == 2, "it opened again, with what it knew"
    house.post(f"{desk}/close")
    house.post(f"{desk}/delete")
    assert house.get("/sessions")["items"] == [] and house.get(desk)["trashed_ms"] > 0
    house.post(f"{desk}/delete", {"now": True})
    for path in ("", "/steps", "/context", "/watchers", "/calls", "/checkpoints", "/changes", "/diff"):
        with pytest.raises(ApiError, match="there is no") as gone:
            house.get(f"{desk}{path}")
        assert gone.value.status == 404


@promise("SES-1.diff", "SES-2.resume", "SES-2.fork")
def test_files_are_kept_shown_and_put_back(house: LivingHome, desk: str, project: Path, tmp_path: Path) -> None:
    readme = project / "README.md"
    before = readme.read_text("utf-8")
    _rests(house, desk, "edit it")
    after = readme.read_text("utf-8")
    assert "Few notes." in after
    (change,) = house.get(f"{desk}/changes")["items"]
    assert "+Few notes." in change["change"]["diff"]
    (kept,) = house.get(f"{desk}/checkpoints")["items"]
    assert (kept["why"], kept["turn"]) == ("turn", 1)
    (differs,) = house.get(f"{desk}/diff", old=kept["id"])["items"]
    assert (differs["path"], differs["kind"]) == ("README.md", "changed")
    assert house.get(f"{desk}/diff")["items"] == [differs], "from the first one on"

    house.post(f"{desk}/changes/{change['key']}/undo")
    assert readme.read_text("utf-8") == before
    house.post(f"{desk}/changes/{change['key']}/undo", {"again": True})
    assert readme.read_text("utf-8") == after
    assert [row["undone"] for row in house.get(f"{desk}/changes")["items"]] == [False]

    house.post(f"{desk}/checkpoints", {"note": "with few notes"})
    assert house.get(f"{desk}/checkpoints")["items"][-1]["note"] == "with few notes"
    house.post(f"{desk}/checkpoints/{kept['id']}/restore", {"conversation": False})
    assert readme.read_text("utf-8") == before
    undoing = house.get(f"{desk}/checkpoints")["items"][-1]
    house.post(f"{desk}/checkpoints/{undoing['id']}/restore", {"paths": ["README.md"]})
    assert readme.read_text("utf-8") == after

    room = tmp_path / "room"
    room.mkdir()
    fork = house.post(f"{desk}/fork", {"at": kept["at"], "directory": str(room), "title": "from the start"})["session"]
    assert (room / "README.md").read_text("utf-8") == before
    assert house.get(f"/sessions/{fork}")["title"] == "from the start"


@promise("SES-3.queue", "SES-3.cancel", "SES-3.retry")
def test_calls_in_the_queue_are_edited_cancelled_and_run_again(house: LivingHome, desk: str, project: Path) -> None:
    house.post(f"{desk}/messages", {"text": "run them"})
    house.wait(_id(desk), "waiting")
    first, second = house.get(f"{desk}/calls")["items"]
    assert (first["tool"], first["step"], second["step"], first["edited"]) == ("shell", "asking", "new", False)
    assert _refused(house, f"{desk}/calls/{first['key']}/edit", {"arguments": "not json"}) == 400
    assert _refused(house, f"{desk}/calls/call_9_9/cancel") == 404

    house.post(f"{desk}/calls/{second['key']}/cancel", {"reason": "one is enough"})
    house.post(f"{desk}/calls/{first['key']}/edit", {"arguments": '{"command":"touch mine"}'})
    _rests(house, desk)

    assert (project / "mine").exists()
    assert not (project / "one").exists() and not (project / "two").exists()
    steps = [step for step in house.get(f"{desk}/steps")["items"] if step["tool"]]
    assert [(step["edited"], step["cancelled"], step["outcome"]) for step in steps] == [
        (True, False, "ok"),
        (False, True, "denied"),
    ]
    assert '"touch mine"' in steps[0]["input"]
    ran = [row for row in house.get("/audit", session=_id(desk))["items"] if row["outcome"] == "ok"]
    assert {row["answered_by"] for row in ran} == {"cli"}
    assert all('"touch mine"' in row["arguments"] for row in ran)
    (project / "mine").unlink()
    house.post(f"{desk}/calls/{first['key']}/retry")
    assert house.bodies(_id(desk), "message.received")[-1]["text"].startswith("Make the call")
    _rests(house, desk)


def test_plan_budget_and_context_are_the_persons_to_see_and_to_set(house: LivingHome, desk: str) -> None:
    steps = [{"title": "read", "status": "done"}, {"title": "write", "status": "todo"}]
    house.client().put(f"{desk}/plan", {"steps": steps})
    assert house.get(desk)["plan"] == steps
    house.post(f"{desk}/budget", {"tokens": 123_456, "usd_micros": "unlimited"})
    assert house.get(desk)["budget"] == {"tokens": 123_456, "usd_micros": "unlimited"}
    assert _refused(house, f"{desk}/budget", {"tokens": 0, "usd_micros": "unlimited"}) == 400
    _rests(house, desk, "hello")
    context = house.get(f"{desk}/context")
    assert context["tokens"] == sum(part["tokens"] for part in context["parts"])
    assert {"instructions", "words", "replies"} <= {part["kind"] for part in context["parts"]}


def test_the_story_of_a_session_is_read_as_markdown(house: LivingHome, desk: str) -> None:
    _rests(house, desk, "edit it\n```\n# not a heading")
    text = house.client().text(f"{desk}/export", format="markdown")
    at = 0
    for words in (
        "# `Quill`",
        "## Turn 1",
        "````text\nedit it\n```\n# not a heading\n````",
        "> I change the notes.",
        "**Call** `edit`",
        "+Few notes.",
        "*checkpoint `k_",
        "> Done.",
        "*turn 1 done, 1 path changed*",
    ):
        assert words in text[at:], text
        at = text.index(words, at)
