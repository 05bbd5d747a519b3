"""One task through ``stead chat``, an editor and ``stead run``: the three journals say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.test_chat import idle, leave
from tests.fakes.editor import editor
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.flows.test_chat import chatting, last_session
from tests.flows.test_editors import acp, begun, prompt
from tests.machines.bench import require_sandbox
from tests.promises import promise

TASK = "say that these notes are about quills, and see that it says so"


def _edit(old: str, new: str) -> Turn:
    return Turn("", calls=(Call("edit", {"path": "README.md", "old": old, "new": new}),))


TEST = Turn("I test it.", calls=(Call("shell", {"command": "grep -n quills README.md"}),))
WORK = (
    Turn("I look first.", calls=(Call("read", {"path": "README.md"}),)),
    _edit("Notes.", "Notes on quilts."),
    TEST,
    _edit("quilts", "quills"),
    TEST,
)
QUESTIONS = 2
"""Each edit is asked about."""
DONE = Turn("README.md says **quills** now; `grep` finds it.")
_FRESH = {"digest", "id", "home", "root", "revision"}
"""What is another in each run, as are times and what is keyed."""
_TIMED = ("_ms", "_bytes", "_hash")
_OF_A_KIND = {
    *("session.opened", "message.received", "plan.made", "checkpoint.taken", "file.changed", "turn.ended"),
    "objective.ended",
}
"""How a session that a person works in and a run that works alone begin and end, and what only the former keeps."""


def told(house: LivingHome, project: Path, session: str) -> list[Json]:
    """All that is on record of a session, but for ids, times, digests, its folder and the door's name."""
    text = json.dumps(house.events(session)).replace(session, "SESSION").replace(str(project), "FOLDER")
    text = re.sub(r'"(acp|cli)"', '"DOOR"', text)
    bodies = [event["body"] for event in json.loads(re.sub("[a-z]_[0-9a-f]{16}", "ID", text))]
    return [_lasting(body) for body in bodies if not body["type"].startswith("machine.")]


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if name not in _FRESH and not name.endswith(_TIMED)}
        return {name: _lasting(inner) for name, inner in kept.items()}
    return [_lasting(inner) for inner in value] if isinstance(value, list) else value


def _has_asked(times: int) -> Callable[[list[str]], bool]:
    return lambda rows: sum("leave it pending:" in row for row in rows) == times


def by_chat(house: LivingHome, project: Path) -> str:
    """The task at a terminal; gives the session."""
    with chatting(house, project, "--profile", "ask", columns=160) as terminal:
        idle(terminal)
        terminal.type(f"{TASK}\r")
        for asked in range(QUESTIONS):
            terminal.until_rows(_has_asked(asked + 1), "it to be asked")
            terminal.type("y\n")
        terminal.shows("turn 1 done")
        idle(terminal)
        leave(terminal)
    return last_session(house, project)


def by_editor(house: LivingHome, project: Path) -> str:
    """The same in an editor."""
    with editor(acp(house, "--profile", "ask"), house.environment, project) as zed:
        zed.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = begun(zed, project)
        going = zed.begin("session/prompt", prompt(session, TASK))
        since = 0
        for _ in range(QUESTIONS):
            question = zed.permission(since)
            since = zed.seen.index(question) + 1
            zed.permit(question, "once")
        assert zed.result(going) == {"stopReason": "end_turn"}
    return session


def by_run(house: LivingHome, project: Path) -> str:
    """The same as a run without a terminal."""
    run = house.cli("run", TASK, "--profile", "ask", cwd=project)
    while run.returncode == 3:
        (question,) = house.get("/approvals")["items"]
        assert house.cli("approve", question["id"], "--digest", question["digest"]).returncode == 0
        run = house.cli("watch", question["session"], cwd=project)
    assert run.returncode == 0, run.stdout + run.stderr
    return str(house.get("/objectives")["items"][0]["id"])


@promise("TUI-1.interactive", "ACP-1.agent")
def test_an_edit_that_is_tested_and_fixed_leaves_the_same_journal_by_chat_editor_and_run(
    house: LivingHome, tmp_path: Path
) -> None:
    require_sandbox()
    journals = []
    for way in (by_chat, by_editor, by_run):
        project = tmp_path / way.__name__ / "notes"
        project.mkdir(parents=True)
        (project / "README.md").write_text("# Quill\n\nNotes.\n", "utf-8")
        with served(by_turn(*WORK, then=DONE)) as model:
            use_model(house, model.openai)
            journals.append(told(house, project, way(house, project)))
        assert "Notes on quills." in (project / "README.md").read_text("utf-8")
    chat, edited, ran = journals
    assert edited == chat
    assert _of_work(ran) == _of_work(chat)
    assert (ran[-1]["facts"], ran[-1]["summary"]) == (chat[-1]["facts"], chat[-1]["summary"])
    assert [body["door"] for body in chat if body["type"] == "approval.given"] == ["DOOR"] * QUESTIONS


def _of_work(journal: list[Json]) -> list[Json]:
    """What was asked of models and tools, and what came of it; the instructions of the two kinds are others."""
    work = [body for body in journal if body["type"] not in _OF_A_KIND]
    of_instructions = ("reserved", "prefix_sha256")
    return [{name: value for name, value in body.items() if name not in of_instructions} for body in work]
