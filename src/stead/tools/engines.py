"""The wires of the search engines: what each is asked, and what its answer says.

Layer: tools. Opens no connection. An answer is a stranger's: it is read by strict types, capped, and never trusted.

Source: docs.searxng.org, Search API; Brave Search API, web search; Tavily API reference, POST /search.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from stead.domain.errors import FetchFault
from stead.domain.search import ADDRESSES, Engine
from stead.guardian.reach import Target
from stead.net.exchange import Request, brief

MOST = 20
QUERY_CHARS = 400
"""What Brave and Tavily take; nobody means to send more to a search engine."""
_TITLE_CHARS, _URL_CHARS, _SNIPPET_CHARS = 200, 1000, 600
_JSON = ("Accept", "application/json")


class Result(msgspec.Struct, frozen=True):
    """One hit, each part on one line and capped."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True)
class Results:
    """What came back. ``silent``: engines behind the engine that did not answer; ``left_out``: hits without a URL."""

    results: tuple[Result, ...]
    silent: tuple[str, ...] = ()
    left_out: int = 0


def place_of(engine: Engine, url: str) -> Target:
    """Where an engine is asked.

    Args:
        engine: which.
        url: a valid one (``domain.search.require_valid``), or "" for the engine's own.
    """
    parts = urlsplit(url or ADDRESSES[engine])
    host = (parts.hostname or "").removesuffix(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if engine == "searxng":
        path = path.removesuffix("/").removesuffix("/search") + "/search"
    return Target(parts.scheme, host, port, path)


def request_of(engine: Engine, url: str, key: str, query: str, count: int) -> Request:
    """The request for a query; ``count`` is 1 to ``MOST``."""
    target = place_of(engine, url)
    anywhere = bool(url)  # an address that the person wrote may be one of their own network
    match engine:
        case "searxng":
            asked = urlencode({"q": query, "format": "json"})
            return Request(_with_query(target, asked), headers=(_JSON,), anywhere=anywhere)
        case "brave":
            asked = urlencode({"q": query, "count": count, "text_decorations": "false"})
            return Request(
                _with_query(target, asked), headers=(_JSON, ("X-Subscription-Token", key)), anywhere=anywhere
            )
        case "tavily":
            body = msgspec.json.encode({"query": query, "max_results": count})
            headers = (_JSON, ("Content-Type", "application/json"), ("Authorization", f"Bearer {key}"))
            return Request(target, "POST", headers, body, anywhere=anywhere)


def read(engine: Engine, body: bytes, count: int) -> Results:
    """What an answer says.

    Raises:
        FetchFault: it is not the JSON that this engine gives.
    """
    try:
        match engine:
            case "searxng":
                found = msgspec.json.decode(body, type=_SearXNG)
                silent = tuple(_line(" ".join(map(str, pair)), 100) for pair in found.unresponsive_engines[:MOST])
                return _results([(hit.title, hit.url, hit.content) for hit in found.results], count, silent)
            case "brave":
                hits = msgspec.json.decode(body, type=_Brave).web.results
                return _results([(hit.title, hit.url, hit.description) for hit in hits], count)
            case "tavily":
                given = msgspec.json.decode(body, type=_Tavily).results
                return _results([(hit.title, hit.url, hit.content) for hit in given], count)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FetchFault("{} answered with what is not its search results: {}", engine, brief(str(error))) from error


def refusal(engine: Engine, status: int, fields: Mapping[str, str], body: bytes) -> str:
    """What an answer other than 200 means, and what to do about it."""
    if status == 429:
        wait = _wait(fields)
        return f"{engine} has had too many requests (429); try again {f'in {wait} s' if wait else 'later'}"
    if 300 <= status < 400:
        # Followed, a redirect would take the query and the key to where nobody sent them.
        elsewhere = brief(fields.get("location", ""))
        return f"{engine} redirects to {elsewhere!r}; if that is its address: stead search set {engine} --url URL"
    if engine == "searxng" and status == 403:
        return "the SearXNG instance gives no JSON (403): its operator adds json to search.formats in its settings.yml"
    if status in (401, 403) or (status == 422 and b"TOKEN" in body):
        return f"{engine} does not take the key ({status}); give it again: stead search set {engine}"
    if engine == "tavily" and status in (432, 433):
        return f"the plan of the tavily key is used up ({status}); raise its limit there, or set another engine"
    said = _line(body[:2000].decode("utf-8", "replace"), 200)
    return f"{engine} answered {status}{f': {said}' if said else ''}"


def _with_query(target: Target, query: str) -> Target:
    return msgspec.structs.replace(target, path=f"{target.path}?{query}")


def _results(
    hits: list[tuple[str | None, str | None, str | None]], count: int, silent: tuple[str, ...] = ()
) -> Results:
    whole = [
        Result(_line(title, _TITLE_CHARS) or "(no title)", url, _line(snippet, _SNIPPET_CHARS))
        for title, url, snippet in hits
        if url and len(url) <= _URL_CHARS and _WEB.fullmatch(url)
    ]
    return Results(tuple(whole[:count]), silent, len(hits) - len(whole))


def _line(text: str | None, most: int) -> str:
    """A text on one line, cut."""
    line = " ".join((text or "").split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _wait(fields: Mapping[str, str]) -> int:
    """For how many seconds an engine wants to be left alone; 0 when it does not say."""
    said = fields.get("retry-after") or fields.get("x-ratelimit-reset", "").partition(",")[0]
    return int(said) if re.fullmatch(r"[0-9]{1,7}", said.strip()) else 0


_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


class _Hit(msgspec.Struct, frozen=True):
    title: str | None = None
    url: str | None = None
    content: str | None = None
    description: str | None = None


class _SearXNG(msgspec.Struct, frozen=True):
    results: list[_Hit]
    unresponsive_engines: list[list[object]] = []


class _Hits(msgspec.Struct, frozen=True):
    results: list[_Hit] = []


class _Brave(msgspec.Struct, frozen=True):
    type: str
    web: _Hits = _Hits()  # left out when there is no hit


class _Tavily(msgspec.Struct, frozen=True):
    results: list[_Hit]
