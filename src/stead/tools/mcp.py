"""The tools of MCP servers, each as the person approved it; and reading, paging and answering what servers say.

Layer: tools. A server is a stranger. A tool of one can send anything anywhere until the person says otherwise, all that
it is given carries authority, and what comes back is untrusted and vouches for nothing. Its annotations count for
nothing. Its name begins with its server's, which the person chose, so it can stand for no other tool.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import SessionId
from stead.domain.mcp import McpCalls, McpResult, McpTool, Standing, tool_name
from stead.domain.messages import DEPTH, is_shallow
from stead.domain.permits import Permit
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

_PAGE_CHARS = OUTPUT_CAP - 500
_KEPT_CHARS = 16 << 20
_SHOWN_CHARS, _SCHEMA_CHARS = 1_000, 4_000
_Server = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class Pages:
    """Long results, kept in memory until there are too many; each is its session's alone."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[SessionId, str]] = {}

    def first(self, session: SessionId, text: str) -> str:
        """The text, or its first page and how to read on."""
        if len(text) <= _PAGE_CHARS:
            return text
        id = f"r{secrets.token_hex(6)}"  # a page comes from its result, and no other result has ever had the name
        self._kept[id] = (session, text)
        while len(self._kept) > 1 and sum(len(kept) for _, kept in self._kept.values()) > _KEPT_CHARS:
            del self._kept[next(iter(self._kept))]
        return self.page(session, id, 1)

    def page(self, session: SessionId, id: str, number: int) -> str:
        """A page of a kept result.

        Raises:
            InvalidRequest: there is none.
        """
        owner, text = self._kept.get(id, (None, ""))
        count = -(-len(text) // _PAGE_CHARS)
        if owner != session or not 1 <= number <= count:
            raise InvalidRequest(f"there is no page {number} of {id!r}; long results are kept for a while only")
        part = text[(number - 1) * _PAGE_CHARS : number * _PAGE_CHARS]
        more = f'; go on: mcp_page {{"result": "{id}", "page": {number + 1}}}' if number < count else ""
        return f"{part}\n[page {number} of {count}, {len(text)} characters{more}]"


class ServerTool:
    """A tool of a server. Implements ``Tool``.

    Args:
        server: its name.
        tool: as the person approved it.
        effect: what the person says that it does.
        calls: who asks servers; made when it is first needed.
        pages: keeps long results.
    """

    def __init__(
        self, server: str, tool: McpTool, effect: ToolEffect, calls: Callable[[], McpCalls], pages: Pages
    ) -> None:
        self._server = server
        self._tool = tool
        self._calls = calls
        self._pages = pages
        properties = tool.schema.get("properties", {})
        declared = Declaration(
            effect=effect, authority_args=tuple(properties), unplanned=effect is ToolEffect.SEND
        )  # untrusted and private by default, and it vouches for nothing
        words = clip(" ".join(tool.description.split()), _SHOWN_CHARS)
        shown = tool.schema if len(msgspec.json.encode(tool.schema)) <= _SCHEMA_CHARS else _outline(tool.schema)
        description = f"[in the words of the MCP server {server}] {words}"
        self._spec = ToolSpec(tool_name(server, tool.name), description, shown, declared, deferred=True)

    @property
    def spec(self) -> ToolSpec:
        """See ``Tool``."""
        return self._spec

    def parse(self, arguments: str) -> Mapping[str, object]:
        """See ``Tool``; what the schema says beyond the names of arguments, the server itself checks."""
        name = self._spec.name
        try:
            parsed = msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            raise InvalidRequest(f"arguments of {name!r}: {error}; fix them and call again") from error
        known = self._tool.schema.get("properties", {})
        if unknown := next((key for key in parsed if key not in known), ""):
            raise InvalidRequest(f"arguments of {name!r}: it has no {unknown[:80]!r}; it has {', '.join(known)[:500]}")
        required = self._tool.schema.get("required")
        if missing := [key for key in required if key not in parsed] if isinstance(required, list) else []:
            raise InvalidRequest(f"arguments of {name!r}: {missing[0]!r} is missing; add it and call again")
        if not is_shallow(parsed):
            raise InvalidRequest(f"arguments of {name!r}: they are nested more than {DEPTH} deep")
        return parsed

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See ``Tool``."""
        permit.spend(self._spec.name, arguments)
        asking = self._calls().call(context.session, self._server, self._tool, arguments)
        return await _asked(asking, context.session, self._server, self._pages)


@dataclass(eq=False, repr=False)
class ServerTools:
    """The tools of all servers that the person approved; made again when something about a server changes.

    Args:
        standings: the servers as they are now, the same object while nothing changed.
        calls: who asks servers; made when it is first needed.
        pages: keeps long results.
        wrap: what goes around every tool.
    """

    _standings: Callable[[], Mapping[str, Standing]]
    _calls: Callable[[], McpCalls]
    _pages: Pages
    _wrap: Callable[[Tool], Tool]

    def __post_init__(self) -> None:
        self._made: Mapping[str, Tool] = {}
        self._of: Mapping[str, Standing] = {}

    def __call__(self) -> Mapping[str, Tool]:
        """They, by the names that models call them by."""
        standings = self._standings()
        if standings is not self._of:
            self._made, self._of = self.of(standings), standings
        return self._made

    def of(self, standings: Mapping[str, Standing]) -> Mapping[str, Tool]:
        """What they are where the servers are these."""
        tools = [tool for standing in standings.values() for tool in self._tools(standing)]
        return {tool.spec.name: self._wrap(tool) for tool in tools}

    def _tools(self, standing: Standing) -> list[ServerTool]:
        name, effects = standing.server.name, standing.effects
        return [
            ServerTool(name, tool, ToolEffect(effects.get(tool.name, "send")), self._calls, self._pages)
            for tool in standing.approved.values()
        ]


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A resource of a server; without a URI, its list of resources."""

    server: _Server
    uri: Annotated[str, msgspec.Meta(max_length=4000)] = ""


class PromptArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A prompt of a server; without a name, its list of prompts."""

    server: _Server
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    arguments: dict[str, str] = {}


class PageArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a long result, from 1."""

    result: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    page: Annotated[int, msgspec.Meta(ge=1)] = 1


class AnswerArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The person's answer to a server's question: its fields; or they decline."""

    question: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    content: dict[str, Any] = {}
    decline: bool = False


class McpReadTool(StructTool[ReadArguments]):
    """``mcp_read``."""

    def __init__(self, calls: Callable[[], McpCalls], pages: Pages) -> None:
        declared = Declaration(effect=ToolEffect.FETCH, authority_args=("server", "uri"))
        says = "Read a resource of an MCP server; without uri list them."
        super().__init__("mcp_read", says, ReadArguments, declared, deferred=True)
        self._calls = calls
        self._pages = pages

    async def work(self, permit: Permit, arguments: ReadArguments, context: ToolContext) -> ToolOutcome:
        """Read it."""
        asking = self._calls().read(context.session, arguments.server, arguments.uri)
        return await _asked(asking, context.session, arguments.server, self._pages)


class McpPromptTool(StructTool[PromptArguments]):
    """``mcp_prompt``."""

    def __init__(self, calls: Callable[[], McpCalls], pages: Pages) -> None:
        declared = Declaration(effect=ToolEffect.FETCH, authority_args=("server", "name", "arguments"))
        says = "Get a prompt of an MCP server, as data; without name list them."
        super().__init__("mcp_prompt", says, PromptArguments, declared, deferred=True)
        self._calls = calls
        self._pages = pages

    async def work(self, permit: Permit, arguments: PromptArguments, context: ToolContext) -> ToolOutcome:
        """Get it."""
        asking = self._calls().prompt(context.session, arguments.server, arguments.name, arguments.arguments)
        return await _asked(asking, context.session, arguments.server, self._pages)


class McpPageTool(StructTool[PageArguments]):
    """``mcp_page``."""

    def __init__(self, pages: Pages) -> None:
        says = "Read on in a long result of an MCP server."
        declared = Declaration(effect=ToolEffect.READ, authority_args=("result",), idempotent=True)
        super().__init__("mcp_page", says, PageArguments, declared, deferred=True)
        self._pages = pages

    async def work(self, permit: Permit, arguments: PageArguments, context: ToolContext) -> ToolOutcome:
        """Show it."""
        try:
            text = self._pages.page(context.session, arguments.result, arguments.page)
        except InvalidRequest as error:
            return ToolOutcome("error", str(error))
        return ToolOutcome("ok", text, size_bytes=len(text.encode()), quoted=True)


class McpAnswerTool(StructTool[AnswerArguments]):
    """``mcp_answer``: the person sees what is sent before it is."""

    def __init__(self, calls: Callable[[], McpCalls], pages: Pages) -> None:
        declared = Declaration(effect=ToolEffect.SEND, authority_args=("question", "content"), unplanned=True)
        says = "Give an MCP server the person's answer to its question."
        super().__init__("mcp_answer", says, AnswerArguments, declared, deferred=True)
        self._calls = calls
        self._pages = pages

    async def work(self, permit: Permit, arguments: AnswerArguments, context: ToolContext) -> ToolOutcome:
        """Give it."""
        content = None if arguments.decline else arguments.content
        asking = self._calls().answer(context.session, arguments.question, content)
        return await _asked(asking, context.session, "that asked", self._pages)


async def _asked(asking: Awaitable[McpResult], session: SessionId, server: str, pages: Pages) -> ToolOutcome:
    """What a request came to; that there is no such server, or question, is an answer like others."""
    try:
        found = await asking
    except NotFound as missing:
        return ToolOutcome("error", str(missing))
    return _outcome(found, session, server, pages)


def _outcome(found: McpResult, session: SessionId, server: str, pages: Pages) -> ToolOutcome:
    reached = (found.host,) if found.host else ()
    if (question := found.question) is not None:
        wants = f"It wants the person to open {question.url}" if question.url else _fields(question.schema)
        text = (
            f"The MCP server {server} asks the person something first, in its own words: {clip(question.text, 2000)}\n"
            f"{wants}\nPut it to the person, word for word. Then give their answer, and nothing of your own: use_tool "
            f'mcp_answer {{"question": "{question.id}", "content": {{…}}}}, or "decline": true.'
        )
        return ToolOutcome("ok", text, size_bytes=len(text.encode()), quoted=True, reached=reached)
    text = pages.first(session, found.text)
    return ToolOutcome(
        "error" if found.failed else "ok", text, size_bytes=found.size_bytes, quoted=True, reached=reached
    )


def _fields(schema: Mapping[str, object]) -> str:
    return f"Fields of the answer: {clip(msgspec.json.encode(schema).decode(), 2000)}"


def _outline(schema: Mapping[str, Any]) -> dict[str, object]:
    """A large schema without the words in it: names and types alone."""
    rows = schema.get("properties", {}).items()
    types = {name: {"type": one.get("type")} if isinstance(one, dict) else {} for name, one in list(rows)[:100]}
    return {"type": "object", "properties": types, "required": schema.get("required", [])}
