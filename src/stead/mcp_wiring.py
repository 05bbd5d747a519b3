"""Puts the parts of MCP servers together: who speaks to them, their tools, and what the person is shown.

Layer: a part of the composition root, as ``memory_wiring``.
"""

from __future__ import annotations

from collections.abc import Callable

from stead.domain.mcp import Programs
from stead.domain.ports import Secrets
from stead.domain.tools import Tool, ToolSpec
from stead.mcp.servers import Servers
from stead.net.dialing import Dialer
from stead.runtime.home import HomeStream
from stead.runtime.mcp import McpRoom
from stead.runtime.screening import ScreenedTool
from stead.runtime.secrets import SecretBook
from stead.tools.mcp import McpAnswerTool, McpPageTool, McpPromptTool, McpReadTool, Pages, ServerTools


class McpHouse:
    """All of it.

    Args:
        home: knows the servers; asked for when it is needed, as ``book`` is.
        programs: starts servers over stdio.
        dialer: reaches those over HTTP.
        vault: where tokens and secrets are.
        book: keeps secrets out of what servers say.
    """

    def __init__(
        self,
        home: Callable[[], HomeStream],
        programs: Programs,
        dialer: Dialer,
        vault: Secrets,
        book: Callable[[], SecretBook],
    ) -> None:
        pages = Pages()
        self.servers = Servers(
            lambda: home().state.mcp, programs, dialer, book, lambda name, found: home().seen_mcp(name, found)
        )
        self.of_servers = ServerTools(
            lambda: home().state.mcp, self.servers, pages, lambda tool: ScreenedTool(tool, book())
        )
        self.room = McpRoom(lambda: home().state.mcp, self.servers, vault, lambda text: book().redactor().clean(text))
        self.tools: tuple[Tool, ...] = (
            *(kind(self.servers, pages) for kind in (McpReadTool, McpPromptTool, McpAnswerTool)),
            McpPageTool(pages),
        )

    def specs(self) -> list[ToolSpec]:
        """The tools of servers as they are now."""
        return [tool.spec for tool in self.of_servers().values()]
