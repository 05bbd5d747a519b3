"""Search engines as strict servers: each takes what its documentation takes and refuses everything else.

SearXNG: docs.searxng.org, Search API. Brave: Web Search API, GET. Tavily: API reference, POST /search.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from tests.fakes.http import Exchange, Request, serve

KEY = "cnry-search-key-4b1d7c9e2f60"
HITS = (
    {"title": "Quill, a pen", "url": "https://quill.example.com/pen", "text": "A pen made of a feather."},
    {"title": "Ink", "url": "https://ink.example.com/", "text": "What a pen\n  writes with."},
    {"title": "Paper", "url": "http://paper.example.com/a?b=c", "text": ""},
)


@dataclass
class Engine:
    """One engine of each kind behind one port, by path: ``/search`` (SearXNG), ``/res/v1/web/search``, ``/tavily``.

    ``answer`` takes the place of the next answers: status, body, headers. ``formats`` are those of the instance.
    """

    port: int = 0
    hits: Sequence[Mapping[str, object]] = HITS
    formats: tuple[str, ...] = ("html", "json")
    unresponsive: Sequence[Sequence[str]] = ()
    answer: tuple[int, bytes, Mapping[str, str]] | None = None
    requests: list[Request] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def url(self, path: str = "") -> str:
        """Of the server."""
        return f"http://127.0.0.1:{self.port}{path}"

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer as the engine of this path does."""
        self.requests.append(request)
        if self.answer is not None:
            status, body, headers = self.answer
            await exchange.send(status, body, headers)
            return
        path, _, query = request.path.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        match request.method, path:
            case "GET", "/search":
                status, said = self._searxng(given)
            case "GET", "/res/v1/web/search":
                status, said = self._brave(given, request.headers)
            case "POST", "/tavily":
                status, said = self._tavily(request)
            case _:
                status, said = 404, {"detail": "no such path"}
        await exchange.send(status, json.dumps(said).encode())

    def _searxng(self, given: Mapping[str, str]) -> tuple[int, object]:
        known = {"q", "format", "categories", "engines", "language", "pageno", "time_range", "safesearch"}
        if set(given) - known or not given.get("q"):
            return 400, {"error": "bad parameters"}
        if given.get("format", "html") not in self.formats:
            return 403, "Forbidden"
        self.queries.append(given["q"])
        hits = [{"title": hit["title"], "url": hit["url"], "content": hit["text"]} for hit in self.hits]
        rest: dict[str, object] = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
        return 200, {"query": given["q"], "results": hits, "unresponsive_engines": self.unresponsive, **rest}

    def _brave(self, given: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, object]:
        if headers.get("x-subscription-token") != KEY:
            return 422, _brave_error("SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")
        if headers.get("accept") not in ("application/json", "*/*"):
            return 406, _brave_error("NOT_ACCEPTABLE", "accept")
        known = {"q", "count", "offset", "country", "search_lang", "text_decorations", "freshness", "safesearch"}
        words = given.get("q", "")
        if set(given) - known or not 1 <= len(words) <= 400 or len(words.split()) > 50:
            return 422, _brave_error("VALIDATION", "Unable to validate request parameter(s)")
        if not 1 <= int(given.get("count", "20")) <= 20 or given.get("text_decorations") not in (None, "true", "false"):
            return 422, _brave_error("VALIDATION", "Unable to validate request parameter(s)")
        self.queries.append(words)
        hits = [{"title": hit["title"], "url": hit["url"], "description": hit["text"]} for hit in self.hits]
        whole: dict[str, object] = {"type": "search", "query": {"original": words}}
        if hits:
            whole["web"] = {"type": "search", "results": hits[: int(given.get("count", "20"))]}
        return 200, whole

    def _tavily(self, request: Request) -> tuple[int, object]:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}
        if request.headers.get("content-type") != "application/json":
            return 415, {"detail": {"error": "send JSON"}}
        body = json.loads(request.body)
        known = {"query", "max_results", "search_depth", "topic", "include_answer", "include_raw_content"}
        if set(body) - known or not body.get("query") or not 0 <= body.get("max_results", 5) <= 20:
            return 400, {"detail": {"error": "bad request"}}
        self.queries.append(body["query"])
        hits = [
            {"title": hit["title"], "url": hit["url"], "content": hit["text"], "score": 0.9, "raw_content": None}
            for hit in self.hits
        ]
        found = hits[: body.get("max_results", 5)]
        return 200, {"query": body["query"], "answer": None, "images": [], "results": found, "response_time": 0.4}


def _brave_error(code: str, detail: str) -> dict[str, object]:
    return {"type": "ErrorResponse", "error": {"id": "0", "status": 422, "code": code, "detail": detail}}


@contextlib.asynccontextmanager
async def engine() -> AsyncIterator[Engine]:
    """Serve it on 127.0.0.1."""
    made = Engine()
    async with serve(made.handle) as port:
        made.port = port
        yield made
