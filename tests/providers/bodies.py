"""Request bodies as pydantic-ai's own models make them, kept and not sent: what a vendor would get."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest

from stead.domain.ids import SessionId
from stead.domain.messages import Message
from stead.providers.clients import Connection
from stead.providers.convert import thinking_field, tidy, to_wire
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken
from stead.providers.presets import PRESETS, Deadlines, Kind
from stead.providers.streams import Ask, receive

KINDS: list[Kind] = ["openai", "anthropic"]
HERE = SessionId("s_0123456789abcdef")


class Bodies:
    """Makes the body of a request by each wire. Making one of these takes seconds, so share it in a module."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.models = {}
        for kind in KINDS:
            preset = PRESETS["anthropic" if kind == "anthropic" else "compatible"]
            connection = Connection(Endpoint(preset, kind, "http://127.0.0.1:9/v1", "k", Deadlines(), ""))
            connection._http._transport = httpx2.MockTransport(self._keep)
            self.models[kind] = connection

    async def _keep(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(json.loads(request.content))
        return httpx2.Response(418, json={"error": {"message": "kept"}})

    def of(self, kind: Kind, given: Sequence[Message]) -> dict[str, Any]:
        """The body of the request that carries these messages, for the provider ``here``."""
        return asyncio.run(self._of(kind, given))

    async def _of(self, kind: Kind, given: Sequence[Message]) -> dict[str, Any]:
        tidied = tidy(given, "here", HERE)
        ask = Ask(to_wire(tidied, kind), "Be good.", (), 100, "", 5.0)
        with pytest.raises(Broken, match="418"):
            await receive(self.models[kind].model("m", thinking_field(tidied)), kind, ask, lambda _: None, secret="")
        return self.sent.pop()


def prompt(body: dict[str, Any]) -> str:
    """Instructions and messages in one text, cache marks taken out, open at its end."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(inner) for name, inner in value.items() if name != "cache_control"}
        return [bare(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(bare([body.get("system"), body["messages"]])).removesuffix("]]")
