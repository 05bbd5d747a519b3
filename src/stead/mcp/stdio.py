"""MCP over the standard input and output of a program, a message a line.

Layer: mcp. The program is a port; where it runs is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stead.domain.errors import SteadError
from stead.domain.mcp import Json, Program
from stead.net.json_lines import JsonLines


class StdioWire(JsonLines):
    """Implements ``connection.Wire``; see ``JsonLines`` for the arguments."""

    def __init__(self, program: Program, receive: Callable[[Json], None], broken: Callable[[SteadError], None]) -> None:
        super().__init__(program, receive, broken)
        self.host = ""

    async def send(self, message: Json, headers: Mapping[str, str]) -> None:
        """Write a message; what HTTP says in headers, the message itself says too."""
        await self.write(message)

    async def cancel(self, ident: int) -> bool:
        """Nothing to cut: the server needs a message for that."""
        return False
