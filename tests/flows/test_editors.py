"""Editors by the Agent Client Protocol: the protocol's own client, the bridge, a running daemon and a scripted model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.editor import Editor, editor
from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

EDIT = Turn("I change the notes.", calls=(Call("edit", {"path": "README.md", "old": "Notes.", "new": "Few notes."}),))


def _script(seen: Seen) -> Turn:
    """What the person said last is what is done; after its results the turn ends."""
    last = seen.body["messages"][-1]
    if last["role"] != "user":
        return Turn("Done.")
    said = str(last["content"])
    return EDIT if "edit" in said else Turn("Done.")


@pytest.fixture
def model(house: LivingHome) -> Iterator[ServedModel]:
    """The home's only model."""
    with served(_script) as server:
        use_model(house, server.openai)
        yield server


def acp(house: LivingHome, *options: str) -> list[str]:
    """The command that an editor is told to run."""
    return [sys.executable, "-m", "stead", "--home", str(house.root), "acp", *options]


@pytest.fixture
def zed(house: LivingHome, project: Path, model: ServedModel) -> Iterator[Editor]:
    """An editor that has said what it is."""
    with editor(acp(house), house.environment, project) as running:
        running.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        yield running


def begun(zed: Editor, project: Path, mode: str = "") -> str:
    """A session in the project; gives its id."""
    answer = zed.request("session/new", {"cwd": str(project), "mcpServers": []})
    session = str(answer["sessionId"])
    if mode:
        zed.request("session/set_mode", {"sessionId": session, "modeId": mode})
    return session


def prompt(session: str, text: str) -> dict[str, object]:
    """The parameters of a prompt."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def test_a_prompt_is_answered_in_pieces(zed: Editor, project: Path) -> None:
    session = begun(zed, project)
    assert zed.request("session/prompt", prompt(session, "hello")) == {"stopReason": "end_turn"}
    assert zed.text() == "Done."
