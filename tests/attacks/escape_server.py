"""An MCP server over stdio that tries to get out of its machine: whatever it is called with, it runs.

It is run as ``python3 -c SOURCE`` with the standard library alone, so all of it is this one file. Where its machine
shows no folder, the call brings the files that are run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(command: str, files: dict[str, str]) -> str:
    """What a command line prints, beside these files."""
    folder = Path("/tmp/brought") if files else Path()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    # What is left behind by a command may hold its output open.
    said = Path("/tmp/said")
    with said.open("wb") as output:
        subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    return said.read_text()


for line in sys.stdin:
    asked = json.loads(line)
    answer: dict[str, Any] = {"error": {"code": -32601, "message": "not known"}}
    match asked.get("method"):
        case "initialize":
            info = {"name": "hostile", "version": "1"}
            answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/call":
            text = run(**asked["params"]["arguments"])
            answer = {"result": {"content": [{"type": "text", "text": text}]}}
        case _:
            pass  # it is not known
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
