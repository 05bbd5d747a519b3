"""MCP servers: how a person sets them up, what they are shown of them, and what they approve.

Layer: runtime. Knows no wire of a server. Secrets come in with a command, go into the vault and are read from there by
the server's client alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, assert_never
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from stead.domain.errors import Conflict, FetchFault, InvalidRequest, MachineError, NotFound
from stead.domain.hosts import parse_host
from stead.domain.mcp import MOST_SERVERS, McpChange, McpRow, McpServer, McpTool, Standing, secret_name
from stead.domain.mcp_commands import ApproveMcpTools, ConfigureMcp, McpCommand, RemoveMcp, SetMcpTool
from stead.domain.mcp_events import McpConfigured, McpFact, McpRemoved, McpToolsApproved, McpToolSet, McpToolsSeen
from stead.domain.ports import Secrets
from stead.domain.registries import REGISTRIES
from stead.guardian.reach import Target, read_url
from stead.runtime.external_agents import AgentRoom

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_OURS = re.compile(r"host|connection|content-.*|transfer-encoding|accept.*|mcp-.*|te|upgrade|cookie", re.IGNORECASE)
_VALUE = re.compile(r"[\x20-\x7e]*")
_MOST_VALUES, _VALUE_CHARS = 50, 8000
_TOKENS = ("token", "refresh", "granted", "registration", "wanted")
Servers = Mapping[str, Standing]


class McpCheck(msgspec.Struct, frozen=True):
    """The result of a live test: how many tools the server has, or why it could not be asked."""

    ok: bool
    text: str
    tools: int = 0


class McpLogin(msgspec.Struct, frozen=True):
    """Where the person signs in; "" where a token was had without them."""

    url: str


class McpDoor(Protocol):
    """Speaks to servers for the person; ``daemon.py`` puts the real thing behind it."""

    errors: dict[str, str]

    async def test(self, name: str, directory: str = "") -> Sequence[McpTool]:
        """Ask a server for its tools; one that is shown a folder is shown this one.

        Raises:
            FetchFault, MachineError, NotFound.
        """

    async def login(self, name: str) -> str:
        """Begin to sign in; gives the URL to open.

        Raises:
            FetchFault, MachineError, NotFound, Conflict.
        """

    def signing_in(self, name: str) -> bool:
        """Whether the person is about to sign in."""


def fold_mcp(servers: Servers, fact: McpFact | McpRemoved) -> Servers:
    """The servers after one more fact about them."""
    if isinstance(fact, McpConfigured):
        old = servers.get(fact.server.name)
        same = old and (old.server.command, old.server.url) == (fact.server.command, fact.server.url)
        new = replace(old, server=fact.server) if old and same else Standing(fact.server)
        return {**servers, fact.server.name: new}
    one = servers.get(fact.name)
    if one is None:
        return servers
    match fact:
        case McpRemoved():
            return {name: standing for name, standing in servers.items() if name != fact.name}
        case McpToolsSeen(tools=tools):
            return {**servers, fact.name: replace(one, seen=tools)}
        case McpToolsApproved(tools=tools):
            approved = {tool.name: tool for tool in one.seen if tools.get(tool.name) == tool.fingerprint}
            return {**servers, fact.name: replace(one, approved={**one.approved, **approved})}
        case McpToolSet(tool=tool, effect="off"):
            left = {name: approved for name, approved in one.approved.items() if name != tool}
            effects = {name: effect for name, effect in one.effects.items() if name != tool}
            return {**servers, fact.name: replace(one, approved=left, effects=effects)}
        case McpToolSet(tool=tool, effect=effect):
            return {**servers, fact.name: replace(one, effects={**one.effects, tool: effect})}
        case _:
            assert_never(fact)


async def mcp_change(command: McpCommand, servers: Servers, vault: Secrets, door: str) -> McpFact | McpRemoved:
    """The fact that a command makes; secrets go into the vault, or out of it, on the way.

    Raises:
        InvalidRequest: a server that cannot be.
        NotFound: there is no such server, or tool.
        Conflict: the server describes a tool in another way by now.
    """
    match command:
        case ConfigureMcp():
            old = servers.get(command.name)
            server = _server(command)
            if old is None and len(servers) >= MOST_SERVERS:
                raise InvalidRequest(f"{MOST_SERVERS} servers are the most; remove one first: stead mcp remove NAME")
            if old and (old.server.command, old.server.url) != (server.command, server.url):
                await _forget(old, vault)  # a token for one address is not sent to another
            elif old:
                for gone in set(old.server.secrets) - set(server.secrets):
                    await vault.remove(secret_name(server.name, f"setting/{gone}"))
            for name, value in command.secrets.items():
                await vault.put(secret_name(server.name, f"setting/{name}"), value)
            if command.client_secret:
                await vault.put(secret_name(server.name, "client"), command.client_secret)
            return McpConfigured(server)
        case RemoveMcp(name=name):
            await _forget(_known(servers, name), vault)
            return McpRemoved(name)
        case ApproveMcpTools(name=name, tools=tools):
            now = {tool.name: tool.fingerprint for tool in _known(servers, name).seen}
            if other := next((tool for tool, mark in tools.items() if now.get(tool) != mark), ""):
                raise Conflict(f"{name!r} describes {other[:80]!r} in another way by now; see: stead mcp review {name}")
            return McpToolsApproved(name, tools, door)
        case SetMcpTool(name=name, tool=tool, effect=effect):
            if tool not in _known(servers, name).approved:
                raise NotFound(f"no tool {tool[:80]!r} of {name!r} is approved; see: stead mcp review {name}")
            return McpToolSet(name, tool, effect, door)


def _known(servers: Servers, name: str) -> Standing:
    if name not in servers:
        raise NotFound(f"no MCP server {name[:80]!r} is set up; see `stead mcp list`")
    return servers[name]


async def _forget(standing: Standing, vault: Secrets) -> None:
    server = standing.server
    for what in (*_TOKENS, "client", *(f"setting/{name}" for name in server.secrets)):
        await vault.remove(secret_name(server.name, what))


def _server(command: ConfigureMcp) -> McpServer:
    """The server that a command describes, checked."""
    if not _NAME.fullmatch(command.name):
        raise InvalidRequest(f"the name {command.name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if bool(command.command) == bool(command.url):
        raise InvalidRequest("give either the command of a server, or its URL")
    _check_values(command)
    fields = msgspec.structs.asdict(command)
    del fields["client_secret"]
    server = McpServer(**{**fields, "secrets": tuple(command.secrets)})
    if command.command:
        if any("\0" in word for word in command.command) or not command.command[0]:
            raise InvalidRequest("a command is a program and its arguments; the program is not empty")
        if command.private or command.client_id or command.scope or command.issuer:
            raise InvalidRequest("--private, --client-id, --issuer and --scope are for servers with a URL")
        hosts = tuple(host if host == REGISTRIES else str(parse_host(host)) for host in command.hosts)
        return replace(server, hosts=hosts)
    found = read_url(command.url)
    if not isinstance(found, Target):
        raise InvalidRequest(found.text)
    if command.hosts or command.folder:
        raise InvalidRequest("--host and --folder are for servers that run here; one with a URL is reached by that")
    if urlsplit(command.url).fragment:
        raise InvalidRequest("the URL of a server has no part behind #; leave it out")
    if found.scheme == "http" and not command.private:
        raise InvalidRequest(f"{command.url!r} would be asked in the clear; give https://, or --private for your own")
    if command.grant == "client_credentials" and not (command.client_id and command.issuer):
        raise InvalidRequest("client credentials need --client-id, --client-secret and the --issuer that gave them")
    return server


def _check_values(command: ConfigureMcp) -> None:
    both = {**command.settings, **command.secrets}
    if len(both) > _MOST_VALUES or len(both) < len(command.settings) + len(command.secrets):
        raise InvalidRequest(f"at most {_MOST_VALUES} variables or headers can be set, each once")
    for name, value in both.items():
        known = _HEADER if command.url else _VARIABLE
        if not known.fullmatch(name) or (command.url and _OURS.fullmatch(name)):
            raise InvalidRequest(f"{name[:80]!r} cannot be set; it is no name of a variable, or of a header of yours")
        if len(value) > _VALUE_CHARS or "\0" in value or (command.url and not _VALUE.fullmatch(value)):
            raise InvalidRequest(f"the value of {name!r} is too long, or holds what it cannot")


@dataclass(eq=False, repr=False)
class McpRoom:
    """The person's questions about servers.

    Args:
        servers: as they are now.
        door: who speaks to them.
        has: whether the vault has something of a name.
        clean: takes known values out of what a server said.
        agents: the same for external agents.
    """

    _servers: Callable[[], Servers]
    _door: Callable[[], McpDoor]
    _has: Callable[[str], bool]
    _clean: Callable[[str], str]
    agents: AgentRoom

    async def rows(self) -> tuple[McpRow, ...]:
        """The servers that are set up, by name."""
        return tuple(self._row(standing) for _, standing in sorted(self._servers().items()))

    async def tools(self, name: str) -> tuple[McpChange, ...]:
        """A server's tools, in its own words, and how they differ from what was approved.

        Raises:
            NotFound: there is no such server.
        """
        return _known(self._servers(), name).changes()

    async def test(self, name: str, directory: str = "") -> McpCheck:
        """Ask a server for its tools, within a minute; one that is shown a folder is shown this one, or none.

        Raises:
            NotFound: there is no such server.
        """
        _known(self._servers(), name)
        try:
            tools = await self._door().test(name, directory)
        except (FetchFault, MachineError) as fault:
            self._door().errors[name] = said = self._clean(str(fault))
            return McpCheck(False, said)
        return McpCheck(True, "it answered", len(tools))

    async def login(self, name: str) -> McpLogin:
        """Begin to sign in to a server: gives the URL that the person opens.

        Raises:
            NotFound, Conflict: there is no such server, or it is none that is signed in to.
            FetchFault: it cannot be reached, or does not say how.
        """
        return McpLogin(await self._door().login(name))

    def _row(self, standing: Standing) -> McpRow:
        changes = standing.changes()
        waiting = sum(change.state in ("new", "changed") for change in changes)
        name = standing.server.name
        signed_in = self._has(secret_name(name, "token"))
        error = "" if self._door().signing_in(name) else self._door().errors.get(name, "")
        return McpRow(standing.server, len(standing.approved), waiting, signed_in, self._clean(error))


def seen(servers: Servers, name: str, tools: tuple[McpTool, ...]) -> McpToolsSeen | None:
    """The fact that a server describes its tools in another way now; nothing when it does not."""
    known = servers.get(name)
    return McpToolsSeen(name, tools) if known and known.seen != tools else None
