"""Requests about MCP servers: a part of ``domain.commands``, whose rules hold here too.

Layer: domain.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.bounds import Name, bounds
from stead.domain.mcp import ServerEffect

_Values = dict[Annotated[str, bounds(maxLength=200)], Annotated[str, bounds(maxLength=8000)]]


class ConfigureMcp(msgspec.Struct, frozen=True, tag="mcp.configure", forbid_unknown_fields=True):
    """Add or change an MCP server; see ``domain.mcp.McpServer`` for the fields.

    Args:
        secrets: values by name: they go into the vault and nowhere else; those of before that are not named are erased.
        client_secret: goes into the vault as well; "" keeps the one that there is, or none.
    """

    name: Name
    command: Annotated[tuple[str, ...], bounds(maxItems=200)] = ()
    url: Annotated[str, bounds(maxLength=2000)] = ""
    hosts: Annotated[tuple[str, ...], bounds(maxItems=50)] = ()
    settings: _Values = {}
    secrets: _Values = {}
    folder: bool = False
    private: bool = False
    client_id: Annotated[str, bounds(maxLength=500)] = ""
    client_secret: Annotated[str, bounds(maxLength=8000)] = ""
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: Annotated[str, bounds(maxLength=2000)] = ""
    scope: Annotated[str, bounds(maxLength=1000)] = ""

    def __repr__(self) -> str:
        return f"ConfigureMcp({self.name!r})"  # values stay out of every trace


class RemoveMcp(msgspec.Struct, frozen=True, tag="mcp.remove", forbid_unknown_fields=True):
    """Forget an MCP server, its token and its secrets."""

    name: Name


class ApproveMcpTools(msgspec.Struct, frozen=True, tag="mcp.approve", forbid_unknown_fields=True):
    """Let models call tools of a server, as they are described now.

    Args:
        name: of the server.
        tools: the fingerprint of each, as the caller was shown it; another one is refused.
    """

    name: Name
    tools: dict[str, str]


class SetMcpTool(msgspec.Struct, frozen=True, tag="mcp.set_tool", forbid_unknown_fields=True):
    """Say what a tool of a server does, or that it is not to be called any more ("off")."""

    name: Name
    tool: Annotated[str, bounds(minLength=1, maxLength=200)]
    effect: ServerEffect | Literal["off"]


McpCommand = ConfigureMcp | RemoveMcp | ApproveMcpTools | SetMcpTool
