"""MCP servers as the person set them up, their tools as they describe them, and what of that the person approved.

Layer: domain. A server is a stranger: every statement of its own is a claim. A tool can be called only as the
person approved it, word for word; what is changed waits for the person.

Source: Model Context Protocol, revisions 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from stead.domain.bounds import Name
from stead.domain.ids import SessionId

Json = dict[str, Any]
ServerEffect = Literal["send", "fetch", "read"]
"""What the person says that a tool does, mildest last: ``send`` is confirmed with its arguments, ``fetch`` asked each
time, ``read`` runs unasked."""

MOST_SERVERS, MOST_TOOLS = 50, 200
DESCRIPTION_CHARS, SCHEMA_BYTES = 4_000, 16_000
_PREFIX = "mcp__"
_TOOL_NAME_CHARS = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")


class McpServer(msgspec.Struct, frozen=True):
    """How a server is reached.

    Args:
        name: see ``Name``.
        command: of a server over stdio: the program and its arguments, run in a machine of its own; empty for HTTP.
        url: of a server over Streamable HTTP; "" for stdio.
        hosts: patterns of what a stdio server's machine may reach; none by default.
        settings: variables of its environment, or headers of its requests, by name. No secrets.
        secrets: names of those whose values are in the vault alone (``secret_name``).
        folder: a stdio server is shown the session's folder; what it changes there is thrown away.
        private: the person means a server of this computer or its networks.
        client_id: of a client that was registered by hand; "" registers one, or needs none.
        grant: how a token is had: the person signs in, or the client's own credentials are enough.
        issuer: the authorization server that the client was registered with by hand; no other is sent its secret.
        scope: what is asked for on top of what the server wants; "" for nothing.
    """

    name: Name
    command: tuple[str, ...] = ()
    url: str = ""
    hosts: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    folder: bool = False
    private: bool = False
    client_id: str = ""
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: str = ""
    scope: str = ""


class McpTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it: the server's words, and claims.

    Args:
        name: as the server calls it.
        description: cut at ``DESCRIPTION_CHARS``.
        schema: of its arguments.
        claims: its annotations, such as ``readOnlyHint``. Trusted for nothing.
        fingerprint: of all that the server says of it, also of what was cut.
    """

    name: str
    description: str
    schema: Json
    claims: Mapping[str, bool] = {}
    fingerprint: str = ""


class McpChange(msgspec.Struct, frozen=True):
    """What differs between a tool as it was approved and as its server describes it now.

    ``diff``: lines of both, marked by ``+`` and ``-``; all of it is the server's words.
    """

    tool: str
    state: Literal["new", "changed", "gone", "approved"]
    effect: ServerEffect
    description: str
    schema: Json
    claims: Mapping[str, bool]
    fingerprint: str
    diff: tuple[str, ...] = ()


class McpRow(msgspec.Struct, frozen=True):
    """A server for people. ``approved``, ``waiting``: how many of its tools can be called, and wait to be approved.

    ``signed_in``: a token is there. ``error``: what the last test or sign-in failed of.
    """

    server: McpServer
    approved: int
    waiting: int
    signed_in: bool = False
    error: str = ""


class Standing(msgspec.Struct, frozen=True):
    """What is known of a server. ``seen``: its tools as it described them last; ``approved``: as the person did."""

    server: McpServer
    seen: tuple[McpTool, ...] = ()
    approved: Mapping[str, McpTool] = {}
    effects: Mapping[str, ServerEffect] = {}

    def changes(self) -> tuple[McpChange, ...]:
        """Every tool, with how it differs from what was approved; those that wait for the person first."""
        import difflib  # few ask

        found = []
        now = {tool.name: tool for tool in self.seen}
        for name in dict.fromkeys((*now, *self.approved)):
            new, old = now.get(name), self.approved.get(name)
            shown = new or old
            assert shown is not None
            same = new and old and new.fingerprint == old.fingerprint
            diff = difflib.unified_diff(_lines(old), _lines(new), lineterm="", n=1) if old and new and not same else ()
            state: Literal["new", "changed", "gone", "approved"] = "gone" if new is None else "new"
            if new and old:
                state = "approved" if same else "changed"
            effect = self.effects.get(name, "send")
            words = (shown.description, shown.schema, shown.claims, shown.fingerprint)
            found.append(McpChange(name, state, effect, *words, tuple(diff)[2:]))
        return tuple(sorted(found, key=lambda one: one.state == "approved"))


def _lines(tool: McpTool | None) -> list[str]:
    if tool is None:
        return []
    schema = msgspec.json.format(msgspec.json.encode(tool.schema), indent=1).decode()
    claims = (f"{name}: {value}" for name, value in sorted(tool.claims.items()))
    return [*tool.description.splitlines(), *schema.splitlines(), *claims, f"fingerprint {tool.fingerprint[:16]}"]


def secret_name(server: str, what: str) -> str:
    """Under which name the vault holds something of a server's: ``setting/NAME``, ``token``, ``client``."""
    return f"mcp/{server}/{what}"


def read_tool(said: object) -> McpTool | None:
    """A tool as a server describes it; None for what is no tool, or too large to be approved by anybody."""
    if not isinstance(said, dict) or not isinstance(name := said.get("name"), str) or not 0 < len(name) <= 200:
        return None
    schema = said.get("inputSchema")
    encoded = msgspec.json.encode(said, order="sorted")
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return None
    if len(msgspec.json.encode(schema)) > SCHEMA_BYTES:
        return None
    claims = said.get("annotations")
    flags = {key: on for key, on in claims.items() if isinstance(on, bool)} if isinstance(claims, dict) else {}
    words = [text for key in ("title", "description") if isinstance(text := said.get(key), str)]
    text = "\n".join(words)[:DESCRIPTION_CHARS]
    return McpTool(name, text, schema, flags, hashlib.sha256(encoded).hexdigest())


def tool_name(server: str, tool: str) -> str:
    """What models call a server's tool: never a name of Stead's own tools, and never another server's."""
    plain = _ODD.sub("_", tool)
    full = f"{_PREFIX}{server}__{plain}"
    if plain == tool and len(full) <= _TOOL_NAME_CHARS:
        return full
    mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
    return f"{full[: _TOOL_NAME_CHARS - 7]}_{mark}"


def is_mcp(tool: str) -> bool:
    """Whether a name is one that only a server's tool has."""
    return tool.startswith(_PREFIX)


class McpQuestion(msgspec.Struct, frozen=True):
    """What a server wants from the person before it goes on: its own words.

    Args:
        id: to answer it by.
        text: what it asks.
        schema: of the answer's fields; empty where it wants none.
        url: where it wants the person to go instead; "" for nowhere.
    """

    id: str
    text: str
    schema: Json
    url: str = ""


class McpResult(msgspec.Struct, frozen=True):
    """What a request brought: a text, or a question to be answered first. ``host``: who said it, "" for a machine's."""

    text: str
    failed: bool = False
    question: McpQuestion | None = None
    host: str = ""
    size_bytes: int = 0


class McpCalls(Protocol):
    """Asking servers something for a session.

    Each method raises ``FetchFault`` or ``MachineError`` where nothing came of it, and ``NotFound`` for a server that
    there is not.
    """

    async def call(self, session: SessionId, server: str, tool: McpTool, arguments: Mapping[str, object]) -> McpResult:
        """Call a tool, if it still is what the person approved."""

    async def read(self, session: SessionId, server: str, uri: str) -> McpResult:
        """Read a resource; "" lists them."""

    async def prompt(self, session: SessionId, server: str, name: str, arguments: Mapping[str, str]) -> McpResult:
        """Get a prompt; "" lists them."""

    async def answer(self, session: SessionId, question: str, content: Json | None) -> McpResult:
        """Answer a question, or decline it (None); gives what the request then brought."""


class Program(Protocol):
    """A program in a machine of its own."""

    async def write(self, data: bytes) -> None:
        """Give it input; waits while it does not read.

        Raises:
            ToolFault, MachineDied: it has ended.
        """

    async def read(self) -> bytes:
        """What it printed, some at least; b"" once it has ended and all was read."""

    async def end(self) -> None:
        """End it, with everything in its machine."""

    @property
    def last_words(self) -> str:
        """Once it has ended: why, and the last that it complained of."""


class Programs(Protocol):
    """Starting them."""

    async def start(
        self, session: SessionId, server: McpServer, environment: Mapping[str, str], directory: str = ""
    ) -> Program:
        """Start a server's command in a machine that reaches its hosts and no others.

        A server that is to be shown a folder is shown the session's, or ``directory`` where no session is meant.

        Raises:
            InvalidRequest: the directory may not be shown.
            MachineUnavailable, MachineDied: no machine could be made.
        """
