"""JSON-RPC messages of the Model Context Protocol, of both revisions that are spoken.

Layer: mcp. Pure. ``HANDSHAKE`` begins with ``initialize`` and may keep a session; ``STATELESS`` says in each request
who asks, and learns by ``server/discover`` what the server can do.

Source: Model Context Protocol, revisions 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from stead import __version__
from stead.domain.errors import FetchFault
from stead.domain.mcp import Json

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
OLDER = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that a server may answer the handshake with."""
METHOD_NOT_FOUND, UNSUPPORTED_VERSION = -32601, -32022
CLIENT = {"name": "stead", "title": "Stead", "version": __version__}
CAPABILITIES: Json = {"elicitation": {"form": {}, "url": {}}}
_META = "io.modelcontextprotocol"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""By method, the parameter that stands in a header too."""
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")
_PLAIN = re.compile(r"[\x20-\x7e]*")


def request(ident: int, method: str, params: Json, version: str) -> Json:
    """A request, in the form of a revision."""
    if version == STATELESS:
        own = {f"{_META}/protocolVersion": version, f"{_META}/clientInfo": CLIENT}
        params = {**params, "_meta": {**own, f"{_META}/clientCapabilities": CAPABILITIES}}
    return {"jsonrpc": "2.0", "id": ident, "method": method, **({"params": params} if params else {})}


def headers(message: Json, version: str, schema: Json | None = None) -> dict[str, str]:
    """What a request's HTTP headers repeat of it; ``schema`` is of the tool that is called."""
    if not version:
        return {}
    found = {"MCP-Protocol-Version": version}
    if version != STATELESS or "method" not in message:
        return found
    params = message.get("params", {})
    found["Mcp-Method"] = message["method"]
    if (key := _NAMED.get(message["method"])) and isinstance(name := params.get(key), str):
        found["Mcp-Name"] = _encoded(name)
    for path, header in mirrored(schema or {}):
        value: Any = params.get("arguments", {})
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            value = "true" if value else "false"
        if isinstance(value, str | int):
            found[f"Mcp-Param-{header}"] = _encoded(str(value))
    return found


def mirrored(schema: Json) -> list[tuple[tuple[str, ...], str]]:
    """The arguments that a tool wants repeated in headers, each by its path.

    Raises:
        FetchFault: it says so in a way that the protocol forbids; such a tool is not called.
    """
    found: list[tuple[tuple[str, ...], str]] = []
    for path, part in _parts(schema):
        if "x-mcp-header" not in part:
            continue
        header, kind = part["x-mcp-header"], part.get("type")
        if not path or not isinstance(header, str) or not _TOKEN.fullmatch(header):
            raise FetchFault("a tool asks for a header that cannot be: {}", repr(header)[:60])
        if kind not in ("string", "integer", "boolean") or header.lower() in [known.lower() for _, known in found]:
            raise FetchFault("a tool asks for the header {} twice, or for a value that no header takes", header)
        found.append((path, header))
    return found


def _parts(schema: Json) -> Iterator[tuple[tuple[str, ...] | None, Json]]:
    """Every part of a schema, with its path where only ``properties`` lead to it."""
    waiting: list[tuple[tuple[str, ...] | None, Any]] = [((), schema)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, list):
            waiting += [(None, item) for item in part]
        elif isinstance(part, dict):
            yield path, part
            for key, value in part.items():
                if key == "properties" and isinstance(value, dict):
                    waiting += [(None if path is None else (*path, name), inner) for name, inner in value.items()]
                elif key not in ("default", "examples", "const", "enum"):
                    waiting.append((None, value))


def _encoded(value: str) -> str:
    """As a header takes it: text that is not plain goes as Base64 between marks."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def with_defaults(schema: Json, content: Json) -> Json:
    """An answer with what its schema says of fields that were left out."""
    fields = schema.get("properties")
    known = fields.items() if isinstance(fields, dict) else ()
    return {name: one["default"] for name, one in known if isinstance(one, dict) and "default" in one} | content
