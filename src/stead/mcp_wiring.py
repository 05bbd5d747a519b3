"""Puts the parts of MCP servers and of external agents together: who speaks to them, their tools, what people see.

Layer: a part of the composition root, as ``memory_wiring``. Who speaks to servers is loaded when there is one to be
spoken to, since most homes have none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from stead.domain.external_agents import AgentPrograms
from stead.domain.mcp import Programs
from stead.domain.tools import Tool, ToolSpec
from stead.net.dialing import Dialer
from stead.runtime.external_agents import AgentRoom
from stead.runtime.home import HomeStream
from stead.runtime.mcp import McpRoom
from stead.runtime.registry import Sessions
from stead.runtime.screening import ScreenedTool
from stead.runtime.secrets import SecretBook
from stead.tools.delegating import AgentActionTool, DelegateTool, meet
from stead.tools.mcp import McpAnswerTool, McpPageTool, McpPromptTool, McpReadTool, Pages, ServerTools

if TYPE_CHECKING:
    from stead.mcp.servers import Servers


class HousePrograms(Programs, AgentPrograms, Protocol):
    """Starts both."""


class McpHouse:
    """All of it.

    Args:
        known: the home, which knows the servers and agents, what keeps secrets out of what they say, and the sessions;
            asked for when needed.
        programs: starts servers over stdio, and agents.
        dialer: reaches servers over HTTP.
    """

    def __init__(
        self, known: Callable[[], tuple[HomeStream, SecretBook, Sessions]], programs: HousePrograms, dialer: Dialer
    ) -> None:
        self._known = known
        self._programs = programs
        self._dialer = dialer
        pages = Pages()
        self.of_servers = ServerTools(
            lambda: known()[0].state.mcp, lambda: self.servers, pages, lambda tool: ScreenedTool(tool, known()[1])
        )
        agents = AgentRoom(
            lambda: known()[0],
            lambda: known()[1],
            lambda session: known()[2].actor(session).state(),
            lambda agent: meet(agent, programs),
        )
        self.room = McpRoom(
            lambda: known()[0].state.mcp,
            lambda: self.servers,
            lambda name: known()[1].get(name) is not None,
            lambda text: known()[1].redactor().clean(text),
            agents,
        )
        kinds = (McpReadTool, McpPromptTool, McpAnswerTool)
        self.tools: tuple[Tool, ...] = (
            *(kind(lambda: self.servers, pages) for kind in kinds),
            McpPageTool(pages),
            DelegateTool(agents, programs),
            AgentActionTool(),
        )

    @cached_property
    def servers(self) -> Servers:
        """Who speaks to them."""
        from stead.mcp.servers import Servers

        home, book, _ = self._known()
        return Servers(lambda: home.state.mcp, self._programs, self._dialer, book, home.seen_mcp)

    def specs(self) -> list[ToolSpec]:
        """The tools of servers as they are now."""
        return [tool.spec for tool in self.of_servers().values()]

    async def close(self) -> None:
        """End every conversation."""
        if "servers" in vars(self):
            await self.servers.close()
