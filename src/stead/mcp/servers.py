"""Every session's conversations with the servers that the person set up, begun by the first call that needs one.

Layer: mcp. Implements ``domain.mcp.McpCalls``. Each session has its own conversation, and with a stdio server its own
process, so that no server carries anything from one session to another. Before a tool is called it is compared with
what the person approved.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from stead.domain.errors import Conflict, FetchFault, NotFound, SteadError
from stead.domain.ids import HOME, SessionId
from stead.domain.mcp import (
    MOST_TOOLS,
    Json,
    McpQuestion,
    McpResult,
    McpServer,
    McpTool,
    Programs,
    Standing,
    read_tool,
    secret_name,
)
from stead.domain.ports import Secrets
from stead.mcp.connection import Connection, Wanted
from stead.mcp.http import HttpWire, Places, SessionGone
from stead.mcp.oauth import OAuth, Person
from stead.mcp.rendering import asked, listing, rendered
from stead.mcp.signing_in import PATIENCE_S, Loopback
from stead.mcp.stdio import StdioWire
from stead.net.dialing import Dialer

IDLE_S = 600.0
MOST_OPEN = 32
MOST_QUESTIONS = 32

Found = Callable[[str, tuple[McpTool, ...]], Awaitable[None]]
"""Records how a server describes its tools now."""


@dataclass
class _Open:
    server: McpServer
    connection: Connection
    tools: Mapping[str, McpTool] = field(default_factory=dict)
    idle: asyncio.TimerHandle | None = None


@dataclass(eq=False, repr=False)
class Servers:
    """All of them.

    Args:
        standings: the servers as they are now, by name.
        programs: starts those over stdio.
        dialer: how those over HTTP are reached.
        vault: where their tokens and secrets are.
        found: see ``Found``.
    """

    _standings: Callable[[], Mapping[str, Standing]]
    _programs: Programs
    _dialer: Dialer
    _vault: Secrets
    _found: Found

    def __post_init__(self) -> None:
        self._open: dict[tuple[SessionId, str], _Open] = {}
        self._opening: dict[tuple[SessionId, str], asyncio.Lock] = {}
        self._questions: dict[str, tuple[SessionId, _Open, Wanted]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._logins: dict[str, asyncio.Task[None]] = {}
        self.errors: dict[str, str] = {}
        """What the last test or sign-in of a server failed of."""

    # -- for models -------------------------------------------------------------------------------------------------

    async def call(self, session: SessionId, server: str, tool: McpTool, arguments: Mapping[str, object]) -> McpResult:
        """See ``McpCalls``."""
        opened = await self._opened(session, server)
        if opened.connection.changed:
            await self._list(opened)
        now = opened.tools.get(tool.name)
        if now is None or now.fingerprint != tool.fingerprint:
            await self._found(server, tuple(opened.tools.values()))
            raise FetchFault(
                "the server {!r} describes {!r} in another way than the person approved, so nothing was called; "
                "the person looks at what changed, and approves it: stead mcp review {}",
                *(server, tool.name[:80], server),
            )
        params = {"name": tool.name, "arguments": dict(arguments)}
        return await self._asked(session, opened, "tools/call", params, tool.schema)

    async def read(self, session: SessionId, server: str, uri: str) -> McpResult:
        """See ``McpCalls``."""
        opened = await self._opened(session, server)
        if uri:
            return await self._asked(session, opened, "resources/read", {"uri": uri})
        rows = await self._listed(opened, "resources/list", "resources")
        rows += await self._listed(opened, "resources/templates/list", "resourceTemplates")
        return McpResult(listing(rows, ("uri", "uriTemplate")), host=_host(opened))

    async def prompt(self, session: SessionId, server: str, name: str, arguments: Mapping[str, str]) -> McpResult:
        """See ``McpCalls``."""
        opened = await self._opened(session, server)
        if name:
            return await self._asked(session, opened, "prompts/get", {"name": name, "arguments": dict(arguments)})
        return McpResult(listing(await self._listed(opened, "prompts/list", "prompts"), ("name",)), host=_host(opened))

    async def answer(self, session: SessionId, question: str, content: Json | None) -> McpResult:
        """See ``McpCalls``."""
        owner, opened, wanted = self._questions.get(question, (None, None, None))
        if owner != session or opened is None or wanted is None:
            raise FetchFault("no server waits for an answer to {!r}; it may have ended: call its tool again", question)
        del self._questions[question]
        found = await opened.connection.answer(wanted, content)
        return self._result(session, opened, found)

    # -- for people -------------------------------------------------------------------------------------------------

    async def test(self, name: str, directory: str = "") -> tuple[McpTool, ...]:
        """Begin a conversation, list the tools, and end it; a server that is shown a folder is shown this one.

        Raises:
            FetchFault, MachineError: it cannot be reached.
            NotFound: there is no such server.
        """
        opened = await self._begin(HOME, self._standing(name).server, directory=directory)
        try:
            await self._found(name, tuple(opened.tools.values()))
            self.errors.pop(name, None)
            return tuple(opened.tools.values())
        finally:
            await opened.connection.close()

    async def login(self, name: str) -> str:
        """Begin to sign in; gives the URL that the person opens, "" when they need not.

        Raises:
            FetchFault: the server cannot be reached, or leads nowhere.
            NotFound, Conflict: there is no such server, or it is none that is signed in to.
        """
        server = self._standing(name).server
        if not server.url:
            raise Conflict(f"{name!r} runs in a machine and is not signed in to; its secrets are set by --secret")
        if running := self._logins.pop(name, None):
            running.cancel()
        place = Loopback()
        await place.listen()
        await OAuth(server, Places(self._dialer), self._vault).forget()
        self.errors.pop(name, None)
        task = self._logins[name] = asyncio.create_task(self._sign_in(server, place), name=f"sign in to {name}")
        shown = asyncio.create_task(place.shown.wait())
        await asyncio.wait([task, shown], return_when=asyncio.FIRST_COMPLETED)
        shown.cancel()
        if task.done():
            await task
        return place.url

    def signing_in(self, name: str) -> bool:
        """Whether the person is about to."""
        return name in self._logins and not self._logins[name].done()

    async def close(self) -> None:
        """End every conversation."""
        logins = list(self._logins.values())
        for task in logins:
            task.cancel()
        await asyncio.gather(*logins, *self._ending, return_exceptions=True)
        await asyncio.gather(*(self._end(key) for key in list(self._open)))

    async def _sign_in(self, server: McpServer, place: Loopback) -> None:
        try:
            opened = await self._begin(HOME, server, place)
            await opened.connection.close()
            await self._found(server.name, tuple(opened.tools.values()))
        except SteadError as fault:
            self.errors[server.name] = str(fault)
            if not place.url:
                raise
        finally:
            await place.close()

    # -- conversations ----------------------------------------------------------------------------------------------

    def _standing(self, name: str) -> Standing:
        standing = self._standings().get(name)
        if standing is None:
            raise NotFound(f"no MCP server {name[:80]!r} is set up; see `stead mcp list`")
        return standing

    async def _opened(self, session: SessionId, name: str) -> _Open:
        key, server = (session, name), self._standing(name).server
        async with self._opening.setdefault(key, asyncio.Lock()):
            opened = self._open.get(key)
            if opened and (opened.connection.broken or opened.server != server):
                await self._end(key)
                opened = None
            if opened is None:
                await self._make_room()
                opened = await self._begin(session, server)
            self._open.pop(key, None)
            self._open[key] = opened  # as the one that was used last
        if opened.idle:
            opened.idle.cancel()
        opened.idle = asyncio.get_running_loop().call_later(IDLE_S, self._expire, key)
        return opened

    async def _make_room(self) -> None:
        """Where there are too many conversations, end those that are over, or else the one that was used least lately.

        Raises:
            FetchFault: all of them are in use.
        """
        if len(self._open) < MOST_OPEN:
            return
        waiting = [opened for _, opened, _ in self._questions.values()]
        over = [key for key, opened in self._open.items() if opened.connection.broken]
        idle = [key for key, opened in self._open.items() if not opened.connection.busy and opened not in waiting]
        if not over and not idle:
            raise FetchFault("{} conversations with servers are under way; try again later", MOST_OPEN)
        for key in over or idle[:1]:
            await self._end(key)

    async def _begin(
        self, session: SessionId, server: McpServer, person: Person | None = None, directory: str = ""
    ) -> _Open:
        connection = Connection(PATIENCE_S if person else 0.0)
        opened = _Open(server, connection)
        values = {name: self._vault.get(secret_name(server.name, f"setting/{name}")) for name in server.secrets}
        given = {**server.settings, **{name: value for name, value in values.items() if value is not None}}
        try:
            if server.url:
                places = Places(self._dialer, server.url if server.private else "")
                signs = OAuth(server, places, self._vault, person)
                receive, fail = connection.receive, connection.fail
                connection.wire = HttpWire(server.url, given, places, signs, receive, fail)
            else:
                program = await self._programs.start(session, server, given, directory)
                connection.wire = StdioWire(program, connection.receive, connection.end)
            await connection.open()
            await self._list(opened)
        except TimeoutError as error:
            await connection.close()
            raise FetchFault("the server {!r} did not answer in time", server.name) from error
        except BaseException:
            await connection.close()
            raise
        return opened

    async def _list(self, opened: _Open) -> None:
        opened.connection.changed = False
        rows = await self._listed(opened, "tools/list", "tools")
        tools = [tool for row in rows[:MOST_TOOLS] if (tool := read_tool(row))]
        opened.tools = {tool.name: tool for tool in tools}

    async def _listed(self, opened: _Open, method: str, key: str) -> list[Json]:
        """A list; nothing of a kind that the server says it has none of."""
        if method.partition("/")[0] not in opened.connection.capabilities:
            return []
        return await opened.connection.listed(method, key)

    async def _asked(
        self, session: SessionId, opened: _Open, method: str, params: Json, schema: Json | None = None
    ) -> McpResult:
        try:
            found = await opened.connection.request(method, params, schema)
        except SessionGone:  # it did nothing
            await self._end((session, opened.server.name))
            opened = await self._opened(session, opened.server.name)
            found = await opened.connection.request(method, params, schema)
        return self._result(session, opened, found)

    def _result(self, session: SessionId, opened: _Open, found: Json | Wanted) -> McpResult:
        if not isinstance(found, Wanted):
            text, failed = rendered(found)
            return McpResult(text, failed, host=_host(opened), size_bytes=len(text.encode("utf-8", "replace")))
        while len(self._questions) >= MOST_QUESTIONS:
            del self._questions[next(iter(self._questions))]
        id = f"q{secrets.token_hex(4)}"
        self._questions[id] = (session, opened, wanted := found)
        text, schema, url = asked(wanted.asks)
        return McpResult("", question=McpQuestion(id, text, schema, url), host=_host(opened))

    async def _end(self, key: tuple[SessionId, str]) -> None:
        opened = self._open.pop(key, None)
        if opened is None:
            return
        if opened.idle:
            opened.idle.cancel()
        self._questions = {id: one for id, one in self._questions.items() if one[1] is not opened}
        with contextlib.suppress(SteadError):
            await opened.connection.close()

    def _expire(self, key: tuple[SessionId, str]) -> None:
        """End a conversation that was not used for a long time."""
        task = asyncio.create_task(self._end(key), name="end of an mcp server")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _host(opened: _Open) -> str:
    return opened.connection.wire.host if opened.connection.wire else ""
