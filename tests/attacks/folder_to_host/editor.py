"""An editor that opens a folder: starts what the manuals of editors and agents say is started then.

Those named here are not on every computer, so this stands for them; it believes what it reads as they do once a folder
is trusted. VS Code: Tasks (``runOn``), Git extension (``git.path``), Multi-root workspaces; Dev Container reference
(``initializeCommand``); Model Context Protocol clients (``mcpServers``); Helix: Languages; Zed: Configuring Languages;
Claude Code: Hooks; Python extension: Environments. Run as ``python -I editor.py FOLDER``; needs nothing but Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def commands(folder: Path) -> Iterator[str | list[str]]:
    """Command lines that opening the folder starts."""
    for path in (folder / ".vscode/tasks.json", *folder.glob("*.code-workspace")):
        read = _json(path)
        for task in read.get("tasks", {}).get("tasks", []) if path.suffix != ".json" else read.get("tasks", []):
            if task.get("runOptions", {}).get("runOn") == "folderOpen":
                yield task["command"]
    if program := _json(folder / ".vscode/settings.json").get("git.path"):
        yield [program, "status"]
    for path in (folder / ".devcontainer.json", *folder.glob(".devcontainer/**/devcontainer.json")):
        if command := _json(path).get("initializeCommand"):
            yield command
    for name in (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"):
        for server in _json(folder / name).get("mcpServers", {}).values():
            yield [server["command"], *server.get("args", [])]
    helix = folder / ".helix/languages.toml"
    if helix.is_file():
        for server in tomllib.loads(helix.read_text()).get("language-server", {}).values():
            yield [server["command"]]
    for server in _json(folder / ".zed/settings.json").get("lsp", {}).values():
        yield [server["binary"]["path"]]
    for event in _json(folder / ".claude/settings.json").get("hooks", {}).get("SessionStart", []):
        yield from (hook["command"] for hook in event["hooks"])
    interpreter = folder / ".venv/bin/python"
    if interpreter.is_file():
        yield [str(interpreter), "-I", "-c", "import sys; print(sys.version)"]


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


if __name__ == "__main__":
    opened = Path(sys.argv[1]).resolve()
    for command in commands(opened):
        subprocess.run(command, cwd=opened, shell=isinstance(command, str), timeout=20, check=False)
