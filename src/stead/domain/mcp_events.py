"""What the person set up of MCP servers, and what those said of themselves: a part of ``domain.home_events``.

Layer: domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from stead.domain.mcp import McpServer, McpTool, ServerEffect


class McpConfigured(msgspec.Struct, frozen=True, tag="mcp.configured"):
    """A server was added or changed. Reached in another way, it is another server: nothing of it is approved any more.

    The values of its secrets are in the vault and in no event.
    """

    server: McpServer


class McpRemoved(msgspec.Struct, frozen=True, tag="mcp.removed"):
    """A server is no longer used; its token and its secrets are erased from the vault."""

    name: str


class McpToolsSeen(msgspec.Struct, frozen=True, tag="mcp.tools_seen"):
    """A server describes its tools in another way than before. Nothing of it can be called by that."""

    name: str
    tools: tuple[McpTool, ...]


class McpToolsApproved(msgspec.Struct, frozen=True, tag="mcp.tools_approved"):
    """The person approved tools as they were described: ``tools`` has the fingerprint of each."""

    name: str
    tools: Mapping[str, str]
    door: str


class McpToolSet(msgspec.Struct, frozen=True, tag="mcp.tool_set"):
    """The person said what a tool does, or ("off") that it is not to be called any more."""

    name: str
    tool: str
    effect: ServerEffect | Literal["off"]
    door: str


McpFact = McpConfigured | McpToolsSeen | McpToolsApproved | McpToolSet
