"""The servers of two vendors of coding agents, scripted: Anthropic's messages and OpenAI's responses, over TLS.

They answer by how far the conversation has come, so that any number of side requests (titles, models, telemetry) change
nothing, and keep what they were sent.
"""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.fakes.http import Exchange, Request, serve
from tests.fakes.wire import Call, Json, Turn, anthropic_events


@dataclass
class Vendor:
    """One server.

    Args:
        turns: what its model replies, in order, by the number of its replies so far.
    """

    turns: Callable[[Json], Sequence[Turn]]
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    bodies: list[Json] = field(default_factory=list)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request; what is none for a reply of the model gets an empty answer."""
        self.requests.append(request)
        path = request.path.partition("?")[0]
        if request.method != "POST" or not path.endswith(("/messages", "/responses")):
            await exchange.send(200 if request.method == "GET" else 404, b'{"data": [], "models": []}')
            return
        body: Json = json.loads(request.body)
        self.bodies.append(body)
        if path.endswith("/messages"):
            at = json.dumps(body["messages"]).count('"tool_result"')
            own = f'"msg_{len(self.bodies)}"'.encode()  # replies with one id would be taken for one reply
            events: Iterator[bytes] = (
                event.replace(b'"msg_1"', own) for event in anthropic_events(self._turn(body, at), body["model"], at)
            )
        else:
            at = sum(item.get("type") in ("function_call", "custom_tool_call") for item in body["input"])
            events = _responses(self._turn(body, at), at)
        await exchange.start()
        for event in events:
            await exchange.chunk(event)
        await exchange.finish()

    def _turn(self, body: Json, at: int) -> Turn:
        if not body.get("tools"):
            return Turn("Pears")
        turns = self.turns(body)
        return turns[at] if at < len(turns) else Turn("Done.")


def _responses(turn: Turn, at: int) -> Iterator[bytes]:
    """A reply as events of the responses API: its items, and its end."""

    def event(kind: str, **fields: object) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    ident = f"resp_{at}"
    yield event("response.created", response={"id": ident})
    for index, call in enumerate(turn.calls):
        item = {"type": "function_call", "call_id": f"c{at}_{index}", "name": call.tool, "arguments": call.text}
        yield event("response.output_item.done", output_index=index, item=item)
    if turn.text:
        text = [{"type": "output_text", "text": turn.text}]
        yield event("response.output_item.done", item={"type": "message", "role": "assistant", "content": text})
    counts = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
    usage = {**counts, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield event("response.completed", response={"id": ident, "usage": usage})


@contextlib.asynccontextmanager
async def vendor(turns: Callable[[Json], Sequence[Turn]], tls: ssl.SSLContext) -> AsyncIterator[Vendor]:
    """Serve one."""
    made = Vendor(turns)
    async with serve(made.handle, tls=tls) as port:
        made.port = port
        yield made


def claude_turns(elsewhere: str) -> Callable[[Json], Sequence[Turn]]:
    """What a model has Claude Code do: write a file, count it, reach for a second host."""
    return lambda _: [
        Turn(calls=(Call("Write", {"file_path": "/work/pears.txt", "content": "41 pears\n"}),)),
        Turn(calls=(Call("Bash", {"command": "wc -c pears.txt", "description": "count"}),)),
        Turn(calls=(Call("Bash", {"command": f"curl -sS -m 9 {elsewhere}", "description": "look"}),)),
        Turn("There are 41 pears."),
    ]


def codex_turns(elsewhere: str) -> Callable[[Json], Sequence[Turn]]:
    """The same for Codex, by whichever of its tools runs commands."""

    def turns(body: Json) -> Sequence[Turn]:
        names = [tool.get("name") for tool in body["tools"]]
        # Codex makes no sandbox of its own inside a machine, so its model asks for leave to do without.
        leave = {"sandbox_permissions": "require_escalated", "justification": "May I count?"}

        def run(line: str) -> Turn:
            if "exec_command" in names:
                return Turn(calls=(Call("exec_command", {"cmd": line, **leave}),))
            return Turn(calls=(Call("shell_command", {"command": line, **leave}),))

        return [
            run("printf '41 pears\\n' > pears.txt"),
            run("wc -c pears.txt"),
            run(f"curl -sS -m 9 {elsewhere}"),
            Turn("There are 41 pears."),
        ]

    return turns
