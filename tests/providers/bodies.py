"""Request bodies as the wires write them, not sent: what a vendor would get."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from stead.domain.events import ModelRef
from stead.domain.ids import RequestNo, SessionId
from stead.domain.messages import Message
from stead.domain.ports import ModelRequest
from stead.domain.tools import ToolSpec
from stead.providers.attachments import Showing, nothing_kept
from stead.providers.connection import wire_of
from stead.providers.conversation import Conversation
from stead.providers.directory import Endpoint
from stead.providers.prefix import Prefixes
from stead.providers.presets import PRESETS, Deadlines, Kind

KINDS: list[Kind] = ["openai", "anthropic"]
HERE = SessionId("s_0123456789abcdef")
PRESET = {"openai": "compatible", "anthropic": "anthropic", "google": "google"}


def prefixes(kind: Kind, preset: str = "") -> Prefixes:
    """Where bodies of a wire are written, for the provider ``here``."""
    endpoint = Endpoint(PRESETS[preset or PRESET[kind]], kind, "http://127.0.0.1:9/v1", "k", Deadlines(), "")
    return Prefixes(wire_of(endpoint), "here")


def asked(given: Sequence[Message], tools: tuple[ToolSpec, ...] = (), instructions: str = "Be good.") -> ModelRequest:
    """A request that carries these messages."""
    return ModelRequest(HERE, RequestNo(1), (ModelRef("here", "m"),), instructions, tools, tuple(given), 100)


def written(writer: Prefixes, given: Sequence[Message], tools: tuple[ToolSpec, ...] = ()) -> dict[str, Any]:
    """The body that a session's writer makes of these messages."""
    body: dict[str, Any] = json.loads(b"".join(asyncio.run(writer.body(asked(given, tools), "m"))))
    return body


class Bodies:
    """Makes the body of a request by each wire, each from its first message on."""

    def of(self, kind: Kind, given: Sequence[Message], tools: tuple[ToolSpec, ...] = ()) -> dict[str, Any]:
        """The body of the request that carries these messages."""
        return written(prefixes(kind), given, tools)


def tidy(given: Sequence[Message], provider: str, session: SessionId) -> list[Message]:
    """What a provider is sent of a whole list of messages."""
    conversation = Conversation(provider, "m", session, Showing(nothing_kept, "m"))
    return [*conversation.extended(given), *conversation.closing()]


def prompt(body: dict[str, Any]) -> str:
    """Instructions and messages in one text, cache marks taken out, open at its end."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(inner) for name, inner in value.items() if name != "cache_control"}
        return [bare(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(bare([body.get("system"), body["messages"]])).removesuffix("]]")
