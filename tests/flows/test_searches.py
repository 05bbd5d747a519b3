"""What an agent finds in a person's folder on a running daemon: the project, not what its tools have put there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import sit_down
from tests.machines.bench import require_sandbox
from tests.promises import promise


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


@promise("TOOL-1.ignored")
def test_an_agent_finds_the_project_and_is_shown_how_much_is_ignored(house: LivingHome, project: Path) -> None:
    def says(seen: Seen) -> Turn:
        last = seen.body["messages"][-1]
        if last["role"] == "tool":
            return Turn(str(last["content"]))
        said = last["content"] if isinstance(last["content"], str) else last["content"][-1]["text"]
        return Turn("", (Call("glob", json.loads(said[said.index("{") :])),))

    for path in ("main.py", "app/views.py", ".venv/lib/a.py", ".venv/lib/b.py", "out/made.py", "out/kept.py"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).touch()
    (project / ".gitignore").write_text("out/\n")
    environment = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": os.environ["PATH"]}
    for words in (("init", "-q"), ("add", "--force", "out/kept.py")):
        subprocess.run(["git", *words], cwd=project, check=True, env=environment)
    with served(says) as server:
        use_model(house, server.openai)
        desk = sit_down(house, project, profile="work")

        def found(**arguments: object) -> str:
            desk.turn(json.dumps(arguments))
            return str(desk.bodies("tool.finished")[-1]["text"])

        own = ["main.py", "app/views.py", "out/kept.py"]
        note = "[3 ignored matches left out; set ignored to include them]"
        assert found(pattern="**/*.py").splitlines() == [*own, note]
        every = found(pattern="**/*.py", ignored=True).splitlines()
        assert every[:3] == own and sorted(every[3:]) == [".venv/lib/a.py", ".venv/lib/b.py", "out/made.py"]
