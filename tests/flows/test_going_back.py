"""Going back to before a turn, where terminals and background processes changed the folder between turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import Sitting, files_of, sit_down
from tests.flows.test_person_terminal import opened, until, watched
from tests.machines.bench import require_sandbox
from tests.promises import promise

TICKING = "(while :; do date +%N > ticking; sleep 0.05; done) > /dev/null 2>&1 &"


def write(path: str, text: str) -> Turn:
    return Turn("", (Call("write", {"path": path, "text": text}),))


def shell(command: str) -> Turn:
    return Turn("", (Call("shell", {"command": command}),))


def typed(house: LivingHome, desk: Sitting, line: str) -> None:
    """Have the person's terminal carry out a line, and see it land."""
    with watched(house, opened(house, desk.path)) as socket:
        socket.send(f"{line}; echo do'ne'\n".encode())
        until(socket, "done\r\n")
        socket.send(b"exit\n")
        until(socket, "exit\r\n")
    house.until(lambda: not house.get(f"{desk.path}/terminals")["items"], "the terminal to end")


@promise("WS-3.checkpoint", "WS-3.restore")
def test_each_turn_is_gone_back_to_with_what_landed_before_it(house: LivingHome, project: Path) -> None:
    require_sandbox()
    script = (
        *(write("notes.md", "one\n"), Turn("One.")),
        *(shell(f"rm between.md; echo two > notes.md; mkdir two; {TICKING}"), Turn("Two.")),
        *(write("notes.md", "corrected\n"), Turn("Three.")),
        *(shell("ls"), Turn("Four.")),
    )
    with served(script) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project, profile="work")
        states = [files_of(project)]
        desk.turn("one")
        typed(house, desk, "echo between > between.md; echo more >> README.md; chmod 600 README.md")
        states.append(files_of(project))
        assert (project / "between.md").exists(), "what the terminal did has landed"
        desk.turn("two")
        house.until((project / "ticking").exists, "what goes on in the background to land")
        states.append(files_of(project, "ticking"))
        desk.turn("three")
        first, second, third = desk.items("checkpoints")
        edits = desk.items("changes")

        desk.restore(third["id"], "--files")
        assert files_of(project, "ticking") == states[2]
        assert (project / "ticking").exists()
        desk.restore(second["id"], "--files")
        assert files_of(project) == states[1]
        assert not (project / "two").exists()
        desk.undo(edits[0])
        assert not (project / "notes.md").exists(), "the edit of the first turn alone is undone"
        assert (project / "between.md").exists()
        desk.undo(edits[0], again=True)
        with pytest.raises(ApiError, match="not as it was left any more"):
            desk.undo(edits[-1])
        desk.restore(first["id"], "--files")
        assert files_of(project) == states[0]
        desk.turn("four")
        assert files_of(project) == states[0], "what was at work in the background is gone, and lands no more"
