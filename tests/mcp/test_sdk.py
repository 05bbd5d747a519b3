"""Our client against the servers of the protocol's own SDK, in both revisions."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

from stead.domain.mcp import McpServer, read_tool
from stead.guardian.reach import Reach
from stead.mcp.connection import Connection, Refused, Wanted
from stead.mcp.http import HttpWire, Places
from stead.mcp.messages import HANDSHAKE, STATELESS
from stead.mcp.oauth import OAuth
from stead.mcp.rendering import rendered
from stead.net.dialing import Dialer


class Kind(BaseModel):
    kind: str
    ripe: bool = True


def pears() -> MCPServer:
    """A server with one of everything."""
    server = MCPServer("pears")

    @server.tool()
    def count(orchard: str, rows: int = 2) -> str:
        """Counts the pears."""
        return f"{rows * 7} pears in {orchard}"

    @server.tool()
    async def choose(ctx: Context) -> str:
        """Asks which kind."""
        answer = await ctx.elicit("Which kind?", Kind)
        return f"{answer.action}: {answer.data.kind if answer.action == 'accept' else ''}"

    @server.resource("pear://{name}")
    def pear(name: str) -> str:
        return f"A {name} pear."

    @server.prompt()
    def praise(pear: str) -> str:
        return f"Praise {pear}."

    return server


@asynccontextmanager
async def conversation(*, legacy: bool) -> AsyncIterator[Connection]:
    """A server of the SDK over HTTP, and a conversation with it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        config = uvicorn.Config(pears().streamable_http_app(), log_level="critical", ws="none")
        served = uvicorn.Server(config)
        running = asyncio.create_task(served.serve([listener]))
        connection = Connection()
        try:
            places = Places(Dialer(Reach()), url)
            signs = OAuth(McpServer("pears", url=url, private=True), places, Values())
            connection.wire = HttpWire(url, {}, places, signs, connection.receive, connection.fail)
            while not served.started:
                await asyncio.sleep(0)
            await connection.open(legacy=legacy)
            yield connection
        finally:
            await connection.close()
            served.should_exit = True
            await running


class Values(dict[str, str]):
    """A vault."""

    async def put(self, name: str, value: str) -> int:
        self[name] = value
        return 1

    async def remove(self, name: str) -> bool:
        return self.pop(name, None) is not None


@pytest.mark.parametrize(("legacy", "version"), [(False, STATELESS), (True, HANDSHAKE)])
async def test_everything_that_a_server_of_the_sdk_has_is_understood(legacy: bool, version: str) -> None:
    async with conversation(legacy=legacy) as connection:
        assert connection.version == version
        tools = [read_tool(row) for row in await connection.listed("tools/list", "tools")]
        assert [tool.name for tool in tools if tool] == ["count", "choose"]
        counted = await connection.request("tools/call", {"name": "count", "arguments": {"orchard": "north"}})
        assert not isinstance(counted, Wanted) and rendered(counted) == ("14 pears in north", False)
        wrong = await connection.request("tools/call", {"name": "count", "arguments": {"rows": "many"}})
        assert not isinstance(wrong, Wanted) and rendered(wrong)[1]
        read = await connection.request("resources/read", {"uri": "pear://green"})
        assert not isinstance(read, Wanted) and "A green pear." in rendered(read)[0]
        prompt = await connection.request("prompts/get", {"name": "praise", "arguments": {"pear": "Anjou"}})
        assert not isinstance(prompt, Wanted) and rendered(prompt)[0] == "user: Praise Anjou."
        with pytest.raises(Refused):
            await connection.request("resources/read", {"uri": "plum://green"})


@pytest.mark.parametrize("content", [{"kind": "Anjou"}, None], ids=["accepted", "declined"])
async def test_a_question_of_a_server_of_the_sdk_is_answered(content: dict[str, str] | None) -> None:
    async with conversation(legacy=True) as connection:
        wanted = await connection.request("tools/call", {"name": "choose", "arguments": {}})
        assert isinstance(wanted, Wanted)
        [ask] = wanted.asks.values()
        assert ask["params"]["message"] == "Which kind?"
        answered = await connection.answer(wanted, content)
        assert not isinstance(answered, Wanted)
        assert rendered(answered)[0] == ("accept: Anjou" if content else "decline: ")
