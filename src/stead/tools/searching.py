"""The tool that searches the web, by the engine that the person set up.

Layer: tools. Knows no command and no event; which engine it is, is handed in. The key is read from the vault for each
search and stands nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec

from stead.domain.errors import FetchFault, InvalidRequest
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.search import KEY_NAME, KEYED, Engine
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.net.dialing import Dialer
from stead.net.exchange import Answer, brief, send
from stead.tools import engines
from stead.tools.output import clip
from stead.tools.tool import StructTool

BODY_LIMIT_BYTES = 2_000_000
TIME_LIMIT_S = 15.0
NONE = (
    "no search engine is set up, so the web cannot be searched; the person sets one up with "
    "`stead search set searxng --url http://HOST:PORT`, `stead search set brave` or `stead search set tavily`"
)


class Searcher:
    """Asks the engine.

    Args:
        secret: gives a value of the vault by its name.
        dialer: how hosts are reached, and which may be when the engine is at a company's own.
        timeout_s: for one search.
    """

    def __init__(self, secret: Callable[[str], str | None], dialer: Dialer, *, timeout_s: float = TIME_LIMIT_S) -> None:
        self._secret = secret
        self._dialer = dialer
        self._timeout_s = timeout_s
        self._chosen: tuple[Engine, str] | None = None

    def configure(self, chosen: tuple[Engine, str] | None) -> None:
        """Ask this engine from now on, at this URL or, for "", at its own; or none."""
        self._chosen = chosen

    @property
    def url(self) -> str:
        """Where it is asked; "" for none."""
        return engines.place_of(*self._chosen).url if self._chosen else ""

    @property
    def host(self) -> str:
        """The same without the path."""
        return engines.place_of(*self._chosen).host if self._chosen else ""

    @property
    def keyed(self) -> bool:
        """Whether the engine wants a key, and it is in the vault."""
        return self._chosen is not None and self._chosen[0] in KEYED and bool(self._secret(KEY_NAME))

    async def search(self, query: str, count: int) -> engines.Results:
        """The hits for a query, best first.

        Args:
            query: 1 to ``engines.QUERY_CHARS`` characters.
            count: 1 to ``engines.MOST``.

        Raises:
            FetchFault: there is no engine, or it gave no results; the text says why and what to do.
        """
        if self._chosen is None:
            raise FetchFault(NONE)
        engine, url = self._chosen
        key = (self._secret(KEY_NAME) or "") if engine in KEYED else ""
        if engine in KEYED and not key:
            raise FetchFault("the key of {0} is not in the vault; give it: stead search set {0}", engine)
        request = engines.request_of(engine, url, key, query, count)
        try:
            async with asyncio.timeout(self._timeout_s), send(self._dialer, request) as answer:
                return engines.read(engine, await _json(engine, answer), count)
        except TimeoutError as error:
            raise FetchFault("{} did not answer within {:g} s; try again later", engine, self._timeout_s) from error


async def _json(engine: Engine, answer: Answer) -> bytes:
    """The body of a good answer."""
    if answer.status != 200:
        body, _ = await answer.body(10_000)
        raise FetchFault("{}", engines.refusal(engine, answer.status, answer.fields, body))
    media_type, _ = answer.media_type
    if media_type != "application/json":
        said = brief(media_type) or "of no stated type"
        raise FetchFault("{} answered with {!r} instead of JSON; is its address right? stead search show", engine, said)
    body, cut = await answer.body(BODY_LIMIT_BYTES)
    if cut:
        raise FetchFault("{} answered with more than {:,} bytes; ask for fewer results", engine, BODY_LIMIT_BYTES)
    return body


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for. ``engine`` is the host that is asked, filled in by the tool."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=engines.QUERY_CHARS)]
    count: Annotated[int, msgspec.Meta(ge=1, le=engines.MOST)] = 10
    engine: str = ""


class WebSearchTool(StructTool[SearchArguments]):
    """``web_search``: titles, addresses and snippets for a query."""

    def __init__(self, searcher: Searcher) -> None:
        super().__init__(
            "web_search",
            "Search the web: titles, URLs, snippets.",
            SearchArguments,
            Declaration(
                effect=ToolEffect.FETCH,
                # What is asked leaves, and decides what comes back: a plan covers it in the person's own words alone.
                authority_args=("query",),
                content_args=("query",),
                service_args=("engine",),
                output_trust=Integrity.UNTRUSTED,
                sensitivity=Confidentiality.PUBLIC,
                idempotent=True,
            ),
            deferred=True,
        )
        self._searcher = searcher

    def parse(self, arguments: str) -> Mapping[str, object]:
        """As every tool, with the engine that is asked filled in, so that it is shown, judged and approved.

        Raises:
            InvalidRequest: also when there is no engine, or it is another one than the call was made for.
        """
        parsed = super().parse(arguments)
        host, given = self._searcher.host, parsed["engine"]
        if not host:
            raise InvalidRequest(NONE)
        if given and given != host:
            raise InvalidRequest(
                f"'engine' is not yours to choose, and it is {host!r} now; leave it out and call again"
            )
        return {**parsed, "engine": host}

    async def work(self, permit: Permit, arguments: SearchArguments, context: ToolContext) -> ToolOutcome:
        """Search, and write the results down.

        Raises:
            FetchFault: as ``Searcher.search``.
        """
        found = await self._searcher.search(arguments.query, arguments.count)
        if not found.results and found.silent:
            said = f"No results: {'; '.join(found.silent)}. Try again later, or other words."
            return ToolOutcome("error", said, reached=(arguments.engine,))
        text = clip(_written(arguments, found))
        return ToolOutcome("ok", text, len(text.encode("utf-8", "replace")), reached=(arguments.engine,))


def _written(arguments: SearchArguments, found: engines.Results) -> str:
    if not found.results:
        return f"{arguments.engine} found nothing for {arguments.query!r}; try other words"
    blocks = [f"{arguments.engine}: {len(found.results)} results for {arguments.query!r}"]
    blocks += [
        "\n   ".join(filter(None, (f"{number}. {hit.title}", hit.url, hit.snippet)))
        for number, hit in enumerate(found.results, start=1)
    ]
    if found.left_out:
        blocks.append(f"[{found.left_out} results without a web address left out]")
    if found.silent:
        blocks.append(f"[no answer from {'; '.join(found.silent)}]")
    return "\n\n".join(blocks)
