"""Searching the web over real sockets: what each engine is asked, and every way in which one fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping

import pytest

from stead.domain.errors import FetchFault, InvalidRequest
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.search import KEY_NAME, require_valid
from stead.domain.search import Engine as Kind
from stead.domain.tools import ToolContext, ToolOutcome
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.searching import BODY_LIMIT_BYTES, Searcher, WebSearchTool
from tests.fakes import http
from tests.fakes.search import KEY, Engine, engine
from tests.promises import promise

SESSION = SessionId("s_0000000000000001")
PATHS: dict[Kind, str] = {"searxng": "", "brave": "/res/v1/web/search", "tavily": "/tavily"}


@pytest.fixture
async def server() -> AsyncIterator[Engine]:
    async with engine() as served:
        yield served


def asking(server: Engine, kind: Kind, key: str = KEY, timeout_s: float = 5) -> WebSearchTool:
    vault = {KEY_NAME: key}
    searcher = Searcher(vault.get, Dialer(Reach()), timeout_s=timeout_s)
    searcher.configure((kind, server.url(PATHS[kind])))
    return WebSearchTool(searcher)


async def search(tool: WebSearchTool, **arguments: object) -> ToolOutcome:
    parsed = tool.parse(json.dumps(arguments))
    permit = Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool="web_search",
        arguments=parsed,
        digest=CallDigest(""),
        nonce=bytes(16),
    )
    return await tool.run(permit, parsed, ToolContext(SESSION, lambda text: None))


@promise("TOOL-1.search")
@pytest.mark.parametrize("kind", PATHS)
async def test_each_engine_is_asked_as_it_documents_and_its_hits_are_told(server: Engine, kind: Kind) -> None:
    outcome = await search(asking(server, kind), query="quill & ink 100%", count=2)

    assert server.queries == ["quill & ink 100%"]
    assert outcome.status == "ok"
    assert outcome.text == (
        "127.0.0.1: 2 results for 'quill & ink 100%'\n\n"
        "1. Quill, a pen\n   https://quill.example.com/pen\n   A pen made of a feather.\n\n"
        "2. Ink\n   https://ink.example.com/\n   What a pen writes with."
    )
    sent = str(server.requests)
    assert (KEY in sent) == (kind != "searxng")


@pytest.mark.parametrize("kind", PATHS)
async def test_no_hits_are_said_to_be_none(server: Engine, kind: Kind) -> None:
    server.hits = ()
    outcome = await search(asking(server, kind), query="quill")
    assert (outcome.status, outcome.text) == ("ok", "127.0.0.1 found nothing for 'quill'; try other words")


async def test_nothing_found_because_no_engine_behind_searxng_answered_is_an_error(server: Engine) -> None:
    server.hits, server.unresponsive = (), [["wikipedia", "timeout"], ["duckduckgo", "CAPTCHA"]]
    outcome = await search(asking(server, "searxng"), query="quill")
    assert outcome.status == "error"
    assert "wikipedia timeout; duckduckgo CAPTCHA" in outcome.text


async def test_hits_are_capped_and_what_is_no_web_address_is_left_out(server: Engine) -> None:
    bad = [
        "javascript:alert(1)",
        "",
        "https://a.example.com/ b",
        "ftp://a.example.com/",
        "https://a.example.com/" + "a" * 2000,
    ]
    server.hits = [{"title": "t", "url": url, "text": "x"} for url in bad]
    server.hits += [{"title": "T" * 5000, "url": "https://a.example.com/", "text": "x\n" * 5000}] * 40
    outcome = await search(asking(server, "searxng"), query="quill", count=20)
    assert len(outcome.text) < 20 * 1000
    assert "javascript" not in outcome.text and "[5 results without a web address left out]" in outcome.text
    assert "20 results" in outcome.text and "21. " not in outcome.text


@promise("TOOL-1.search")
async def test_without_an_engine_the_next_step_is_said_and_nothing_is_asked() -> None:
    tool = WebSearchTool(Searcher(lambda name: None, Dialer(Reach())))
    with pytest.raises(InvalidRequest, match="stead search set searxng"):
        tool.parse('{"query": "quill"}')


async def test_the_engine_is_shown_in_the_call_and_is_not_the_models_to_choose(server: Engine) -> None:
    tool = asking(server, "brave")
    parsed = tool.parse('{"query": "quill"}')
    assert parsed == {"query": "quill", "count": 10, "engine": "127.0.0.1"}
    assert tool.parse(json.dumps(parsed)) == parsed
    assert tool.spec.parameters["properties"] == {"query": {"type": "string"}, "count": {"type": "integer"}}
    with pytest.raises(InvalidRequest, match="not yours to choose"):
        tool.parse('{"query": "quill", "engine": "evil.example.com"}')
    for wrong in ('{"query": ""}', '{"query": "q", "count": 21}', json.dumps({"query": "q" * 401}), '{"q": "quill"}'):
        with pytest.raises(InvalidRequest):
            tool.parse(wrong)


FAILURES: list[tuple[Kind, int, bytes, Mapping[str, str], str]] = [
    ("searxng", 429, b"", {"retry-after": "30"}, "too many requests .429.; try again in 30 s"),
    ("brave", 429, b"{}", {"x-ratelimit-reset": "2, 1419704"}, "try again in 2 s"),
    ("tavily", 429, b"{}", {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, "try again later"),
    ("searxng", 403, b"Forbidden", {"content-type": "text/html"}, "adds json to search.formats"),
    ("tavily", 401, b"{}", {}, "does not take the key .401.; give it again: stead search set tavily"),
    ("tavily", 432, b"{}", {}, "the plan of the tavily key is used up"),
    ("searxng", 302, b"", {"location": "http://169.254.169.254/"}, "redirects to 'http://169.254.169.254/'"),
    ("brave", 500, b"oh\nno", {}, "brave answered 500: oh no"),
    (
        "searxng",
        200,
        b"<html>",
        {"content-type": "text/html; charset=utf-8"},
        "answered with 'text/html' instead of JSON",
    ),
    ("searxng", 200, b"<html>", {}, "what is not its search results"),
    ("searxng", 200, b"[]", {}, "what is not its search results"),
    ("brave", 200, b'{"results": []}', {}, "what is not its search results"),
    ("tavily", 200, b'{"results": [{"url": 7}]}', {}, "what is not its search results"),
    ("searxng", 200, b'{"results": ' + b"[" * 100_000, {}, "what is not its search results"),
    ("searxng", 200, b"\xff\xfe", {}, "what is not its search results"),
    ("searxng", 200, b" " * (BODY_LIMIT_BYTES + 1), {}, "more than 2,000,000 bytes"),
    ("searxng", 200, b"a" * 10_000_000, {}, "more than 2,000,000 bytes"),
]


@pytest.mark.parametrize(("kind", "status", "body", "headers", "why"), FAILURES)
async def test_what_an_engine_does_wrong_is_told_with_the_way_out(
    server: Engine, kind: Kind, status: int, body: bytes, headers: Mapping[str, str], why: str
) -> None:
    server.answer = (status, body, headers)
    with pytest.raises(FetchFault, match=why) as failed:
        await search(asking(server, kind), query="quill")
    assert len(str(failed.value)) < 400
    assert KEY not in str(failed.value)
    assert len(server.requests) == 1


async def test_a_wrong_key_is_told_as_one(server: Engine) -> None:
    with pytest.raises(FetchFault, match="brave does not take the key"):
        await search(asking(server, "brave", "another"), query="quill")
    with pytest.raises(FetchFault, match="tavily does not take the key"):
        await search(asking(server, "tavily", "another"), query="quill")
    with pytest.raises(FetchFault, match="is not in the vault"):
        await search(asking(server, "tavily", ""), query="quill")


async def test_json_that_the_instance_does_not_give_is_told(server: Engine) -> None:
    server.formats = ("html",)
    with pytest.raises(FetchFault, match=r"search\.formats"):
        await search(asking(server, "searxng"), query="quill")


async def test_an_engine_that_never_answers_is_left_after_the_deadline() -> None:
    async def mute(request: http.Request, exchange: http.Exchange) -> None:
        await asyncio.Event().wait()

    async with http.serve(mute) as port:
        with pytest.raises(FetchFault, match=r"did not answer within 0\.2 s"):
            await search(asking(Engine(port=port), "searxng", timeout_s=0.2), query="quill")


async def test_a_private_address_is_asked_only_where_the_person_wrote_it() -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    searcher = Searcher({KEY_NAME: KEY}.get, Dialer(Reach(), resolve=inside))
    searcher.configure(("brave", ""))
    with pytest.raises(FetchFault, match="not a public address"):
        await searcher.search("quill", 1)


@pytest.mark.parametrize(
    ("kind", "url", "why"),
    [
        ("searxng", "", "needs the address"),
        ("searxng", "ftp://a.example.com/", "cannot be asked"),
        ("searxng", "http://u:p@a.example.com/", "no name and no password"),
        ("searxng", "http://a.example.com/?q=x", "has a query"),
        ("searxng", "http://a.example.com:99999/", "cannot be read"),
        ("searxng", "http://a.example.com/ b", "without spaces"),
        ("searxng", "http://a\\b.example.com/", "cannot be asked"),
        ("searxng", "http://", "cannot be asked"),
        ("brave", "http://a.example.com/", "in the clear"),
        ("tavily", "http://192.168.1.9/", "in the clear"),
        ("altavista", "", "is unknown"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(kind: Kind, url: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        require_valid(kind, url)


def test_usual_addresses_are_taken() -> None:
    for url in (
        "http://localhost:8888",
        "http://searxng:8080/",
        "http://[::1]:8888/base/",
        "https://s.example.com/search",
    ):
        require_valid("searxng", url)
    for kind in ("brave", "tavily"):
        require_valid(kind, "")
        require_valid(kind, "http://127.0.0.1:9/")
