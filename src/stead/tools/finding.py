"""Finding and calling tools that requests do not list, so that each first request stays small.

Layer: tools. ``use_tool`` never runs itself: the fold takes what it is given for the call that is meant
(``domain.messages.meant``), and that call is judged as any other.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import msgspec

from stead.domain.ids import SessionId
from stead.domain.mcp import is_mcp
from stead.domain.messages import USE_TOOL
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.tools.tool import StructTool

MOST_SHOWN = 5
_WAY_CHARS = 1_000
Ways = Callable[[SessionId, str], Awaitable[Sequence[str]]]
_WORD = re.compile(r"[a-z0-9]+")
_SAYS_NOTHING = frozenset(
    {"a", "an", "and", "by", "for", "from", "in", "it", "of", "on", "or", "s", "the", "thi", "to", "what"}
)
"""Words of every sentence, in the form of ``_words``."""
_THINK = Declaration(
    effect=ToolEffect.THINK,
    output_trust=Integrity.TRUSTED,
    sensitivity=Confidentiality.PUBLIC,
    idempotent=True,
)


class FindArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that say what is wanted; none lists every tool."""

    query: Annotated[str, msgspec.Meta(max_length=500)] = ""


class UseArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool that was found, and its arguments."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    arguments: dict[str, Any] = {}


class FindTools(StructTool[FindArguments]):
    """``find_tools``: what else there is, and ways of working that the person approved.

    The list of tools is public; an answer with such ways in it is private, and says so.

    Args:
        tools: every tool there is, as it is now.
        ways: those that a session may read for a query.
    """

    def __init__(self, tools: Callable[[], Sequence[ToolSpec]], ways: Ways) -> None:
        super().__init__(
            "find_tools", "Find more tools: web search, browser, APIs, history, subagents.", FindArguments, _THINK
        )
        self._tools = tools
        self._ways = ways

    async def work(self, permit: Permit, arguments: FindArguments, context: ToolContext) -> ToolOutcome:
        """Name the tools that fit, the best first, with their schemas; without words name all."""
        deferred = [spec for spec in self._tools() if spec.deferred]
        wanted = _words(arguments.query)
        own = [spec for spec in deferred if not is_mcp(spec.name)]
        others = f"{len(deferred) - len(own)} tools of MCP servers: give words that say what is wanted."
        if not wanted:
            listed = [f"{spec.name}: {spec.description}" for spec in own]
            listed += [others] if len(own) < len(deferred) else []
            return ToolOutcome("ok", "\n".join(listed) or "There are no more tools.")
        best = _best(deferred, own, wanted)
        text = "Call these by use_tool:\n" + "\n".join(map(_shown, best))
        if not best:
            more = f" And {others}" if len(own) < len(deferred) else ""
            text = f"None fits. There are: {', '.join(spec.name for spec in own) or 'none'}.{more}"
        ways = await self._ways(context.session, arguments.query)
        if ways:
            text += "\n\nWays of working that the person approved:\n" + "\n\n".join(map(_cut, ways))
        # What servers say of their tools is read as a stranger's words are.
        return ToolOutcome("ok", text, private=bool(ways), quoted=any(is_mcp(spec.name) for spec in best))


class UseTool(StructTool[UseArguments]):
    """``use_tool``: reached only by what is no call of a tool that was found."""

    def __init__(self) -> None:
        super().__init__(USE_TOOL, "Call a tool that find_tools showed.", UseArguments, _THINK)

    async def work(self, permit: Permit, arguments: UseArguments, context: ToolContext) -> ToolOutcome:
        """Say how it is meant."""
        return ToolOutcome("error", "`use_tool` calls other tools, not itself: give the name that find_tools showed.")


def _best(deferred: Sequence[ToolSpec], own: Sequence[ToolSpec], wanted: set[str]) -> list[ToolSpec]:
    """Those that fit, the best first. However servers describe theirs, the best of Stead's own that fits is there."""
    scored = sorted(((_score(spec, wanted), -place) for place, spec in enumerate(deferred)), reverse=True)
    fitting = [deferred[-place] for score, place in scored if score > 0]
    best, mine = fitting[:MOST_SHOWN], next((spec for spec in fitting if spec in own), None)
    return best if mine is None or mine in best else [*best[:-1], mine]


def _words(text: str) -> set[str]:
    """Words in one form: small, without the endings that English puts on them."""
    return {word.removesuffix("s").removesuffix("ing") for word in _WORD.findall(text.lower())} - _SAYS_NOTHING


def _score(spec: ToolSpec, wanted: set[str]) -> int:
    """How well a tool fits: a word of its name counts more than one of its description, and the whole name most."""
    name, description = _words(spec.name.replace("_", " ")), _words(spec.description)
    return 3 * len(wanted & name) + 2 * (name <= wanted) + len(wanted & description - name)


def _cut(way: str) -> str:
    return way if len(way) <= _WAY_CHARS else f"{way[:_WAY_CHARS]}…"


def _shown(spec: ToolSpec) -> str:
    schema = msgspec.json.encode(spec.parameters).decode()
    return f"{spec.name}: {spec.description} {schema}"
