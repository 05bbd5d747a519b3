"""Another project's model server, in Node: ``@copilotkit/aimock``, scripted turn by turn, with every request recorded.

It knows both vendors' wires independently of us; that is what it is for. It takes half a second to start, so flows and
benches that only need a script use ``fakes/models.py``. ``make test`` installs it, and a Node that is new enough.

    async with aimock([Turn(calls=(Call("read", {"path": "a.md"}),)), Turn("Done.")]) as server:
        ...                             # OpenAI's client at server.openai, Anthropic's at server.anthropic
        await server.requests()         # what came, byte for byte
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.http import Request
from tests.fakes.wire import Turn

FOLDER = Path(__file__).parent / "node"
START_S = 30.0
WITH_NODE = Path(__file__).parents[2] / "scripts" / "with_node.sh"


@dataclass(frozen=True)
class Aimock:
    """A running server."""

    port: int

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's wire."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's wire."""
        return f"http://127.0.0.1:{self.port}"

    async def requests(self) -> list[Request]:
        """Every request so far, in order."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"GET /seen HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        seen = json.loads(answer.partition(b"\r\n\r\n")[2])
        return [Request(item["method"], item["path"], item["headers"], base64.b64decode(item["body"])) for item in seen]


@contextlib.asynccontextmanager
async def aimock(turns: Sequence[Turn]) -> AsyncIterator[Aimock]:
    """Serve these turns, one a request.

    Raises:
        RuntimeError: it is not installed, or did not start.
    """
    if not (FOLDER / "node_modules").is_dir():
        raise RuntimeError("aimock is not installed; run `make test` once, which does it")
    script = [
        {
            "text": turn.text,
            "calls": [{"name": call.tool, "arguments": call.text} for call in turn.calls],
            "stop": turn.stop,
            "usage": _usage(turn),
        }
        for turn in turns
    ]
    process = await asyncio.create_subprocess_exec(
        WITH_NODE, "node", "serve.mjs", cwd=FOLDER, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps(script).encode() + b"\n")
        line = await asyncio.wait_for(process.stdout.readline(), START_S)
        if not line:
            raise RuntimeError("aimock did not start; its reason is on stderr")
        yield Aimock(int(line))
    finally:
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _usage(turn: Turn) -> dict[str, int] | None:
    """The same figures by both vendors' names."""
    if turn.usage is None:
        return None
    taken, given, cached, written = turn.usage
    return {
        "prompt_tokens": taken,
        "completion_tokens": given,
        "total_tokens": taken + given,
        "input_tokens": taken - cached - written,
        "output_tokens": given,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
