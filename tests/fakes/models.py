"""A scripted model server in plain asyncio: it speaks three wires, judges every request strictly, and starts in 1 ms.

For flows, benches and tests that need the exact bytes that were sent. Its independent counterparts: ``fakes/aimock.py``
(another project's server, in Node) and ``llmock`` (faults, with a verdict); ``fakes/faults.py`` misbehaves at will.

    async with scripted_model([Turn(calls=(Call("read", {"path": "a.md"}),)), Turn("Done.")]) as server:
        ...                         # OpenAI's client at server.openai, others at server.anthropic and server.google
        server.requests()           # what came, byte for byte
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from tests.fakes.google import google_error, google_events, google_flaws
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.wire import (
    Call,
    Json,
    Turn,
    Wire,
    anthropic_error,
    anthropic_events,
    anthropic_flaws,
    openai_error,
    openai_events,
    openai_flaws,
)

__all__ = ["Call", "Script", "Seen", "ServedModel", "Turn", "scripted_model"]

Script = Sequence[Turn] | Callable[["Seen"], Turn]
"""The replies in order, or a function that makes each from the request."""


@dataclass(frozen=True)
class Seen:
    """One request for a reply. ``flaws`` says what a strict vendor would have refused."""

    wire: Wire
    request: Request
    body: Json
    flaws: tuple[str, ...]

    @property
    def prompt(self) -> bytes:
        """Tools, instructions and messages in one byte form, cache marks taken out, open at its end.

        So request N's prompt is a prefix of request N+1's exactly when nothing before the new part has changed.
        """
        system = self.body.get("system", self.body.get("systemInstruction"))
        parts = [self.body.get("tools"), system, self.body.get("messages", self.body.get("contents"))]
        return json.dumps(_without_marks(parts)).encode().removesuffix(b"]]")


@dataclass
class ServedModel:
    """A running server.

    Args:
        port: on 127.0.0.1.
        script: what it replies.
        models: what it lists.
        strict: answer 400 to a request with flaws, as a vendor does.
    """

    port: int
    script: Script
    models: tuple[str, ...]
    strict: bool = True
    seen: list[Seen] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    windows: dict[str, int] = field(default_factory=dict)
    """By model, what the list says of its window in tokens, as vLLM does."""
    connections: int = 0
    """How many were opened to it."""
    arrived_s: list[float] = field(default_factory=list)
    """When each request for a reply had come, and in ``answered_s`` when its reply had gone, by the monotonic clock."""
    answered_s: list[float] = field(default_factory=list)
    replied_s: dict[int, float] = field(default_factory=dict)
    """By place among the requests, for conversations that overlap: when the last byte of the answer was sent."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client leaves in the middle of a slow stream."""

    @property
    def url(self) -> str:
        """The root."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's wire."""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's wire."""
        return self.url

    @property
    def google(self) -> str:
        """The base URL for Google's wire."""
        return f"{self.url}/v1beta"

    def requests(self) -> list[Seen]:
        """Every request for a reply, in order."""
        return list(self.seen)

    def connected(self) -> None:
        """Count a connection."""
        self.connections += 1

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request."""
        # Google has OpenAI's form under a path of its own.
        path = request.path.partition("?")[0].replace("/v1beta/openai/", "/v1/")
        if request.method == "GET" and path == "/v1/models":
            listed = [
                {"id": name, "object": "model", "type": "model", "created": 1}
                | ({"max_model_len": self.windows[name]} if name in self.windows else {})
                for name in self.models
            ]
            await exchange.send(200, json.dumps({"object": "list", "data": listed, "has_more": False}).encode())
        elif request.method == "POST" and path in ("/v1/chat/completions", "/v1/messages"):
            await self._reply("openai" if path.endswith("completions") else "anthropic", request, exchange)
        elif request.method == "GET" and path == "/v1beta/models":
            named = [{"name": f"models/{name}", "displayName": name} for name in self.models]
            await exchange.send(200, json.dumps({"models": named}).encode())
        elif request.method == "POST" and path.endswith(":streamGenerateContent"):
            await self._reply("google", request, exchange)
        else:
            await exchange.send(
                404, json.dumps({"error": {"message": f"no {path}", "type": "not_found_error"}}).encode()
            )

    async def _reply(self, wire: Wire, request: Request, exchange: Exchange) -> None:
        self.arrived_s.append(time.monotonic())
        body: Json = json.loads(request.body)
        judge, events, refusal = _WIRES[wire]
        flaws = judge(body)
        seen = Seen(wire, request, body, tuple(flaws))
        self.seen.append(seen)
        place = len(self.seen) - 1
        self.flaws += flaws
        if flaws and self.strict:
            turn = Turn(status=400, error="; ".join(flaws))
        elif callable(self.script):
            turn = self.script(seen)
        elif len(self.seen) <= len(self.script):
            turn = self.script[len(self.seen) - 1]
        else:
            turn = Turn(status=400, error="the script has no more turns")
        if turn.status != 200:
            await exchange.send(turn.status, refusal(turn), turn.headers)
            return
        await exchange.start()
        parts = events(turn, body.get("model", "scripted"), len(body.get("messages") or body["contents"]))
        for number, event in enumerate(parts):
            await exchange.chunk(event)
            self.replied_s[place] = time.monotonic()
            if number and turn.delay_s and await exchange.left_within(turn.delay_s):
                self.left.set()
                return
        await exchange.finish()
        self.answered_s.append(time.monotonic())


_WIRES = {
    "openai": (openai_flaws, openai_events, openai_error),
    "anthropic": (anthropic_flaws, anthropic_events, anthropic_error),
    "google": (google_flaws, google_events, google_error),
}


def _without_marks(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key != "cache_control"}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


@contextlib.asynccontextmanager
async def scripted_model(
    script: Script, *, models: tuple[str, ...] = ("scripted",), strict: bool = True, port: int = 0
) -> AsyncIterator[ServedModel]:
    """Serve a scripted model for as long as the block runs."""
    served = ServedModel(0, script, models, strict)
    async with serve(served.handle, port, served.connected) as bound:
        served.port = bound
        yield served
