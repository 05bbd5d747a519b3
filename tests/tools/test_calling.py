"""API calls over real sockets: what is sent, what is refused before it, and what is told of the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from stead.domain.errors import FetchFault, InvalidRequest
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.secrets import Known, RequestHead
from stead.domain.tools import ToolContext, ToolOutcome
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.calling import BODY_LIMIT_BYTES, ApiCallTool, ApiReadTool, Caller
from tests.fakes.http import Exchange, Request, serve
from tests.machines.bench import SESSION
from tests.promises import promise

SHOP = "{{secret:shop#0a1b2c3d}}"
VALUE = 'quill "4711" /ü'


@dataclass
class Api:
    """An API whose every answer is ``answer``: status, body, headers."""

    port: int = 0
    answer: tuple[int, bytes, Mapping[str, str]] = (200, b'{"id": 1, "name": "Quill"}', {})
    requests: list[Request] = field(default_factory=list)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        self.requests.append(request)
        await exchange.send(*self.answer)

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    made = Api()
    async with serve(made.handle) as port:
        made.port = port
        yield made


class Book:
    """Lets one value into requests to one host by one method, in the clear or, for ``tls``, into TLS alone."""

    def __init__(self, value: str = "quill-4711", method: str = "POST", *places: str, tls: bool = False) -> None:
        self.value, self.method, self.tls = value, method, tls
        self.places = places or ("header:authorization", "header:x-key")

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> str | None:
        return None

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> str | None:
        bound = (session, placeholder, head.host, head.method) == (SESSION, SHOP, "127.0.0.1", self.method)
        fits = place in self.places and self.tls == (head.scheme == "https")
        return self.value if bound and fits else None

    def opens_tls(self, host: str) -> bool:
        return self.tls

    def known(self) -> Sequence[Known]:
        return ()


def caller(api: Api, timeout_s: float = 5) -> Caller:
    return Caller(Dialer(Reach(endpoints=frozenset({("127.0.0.1", api.port)}))), timeout_s=timeout_s)


async def run(tool: ApiReadTool | ApiCallTool, book: Book | None = None, **arguments: Any) -> ToolOutcome:
    parsed = tool.parse(json.dumps(arguments))
    permit = Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool=tool.spec.name,
        arguments=parsed,
        digest=CallDigest(""),
        nonce=bytes(16),
    )
    return await tool.run(permit, parsed, ToolContext(SESSION, lambda text: None, book))


# -- the exchange ---------------------------------------------------------------------------------------------------


@promise("TOOL-1.api-call")
async def test_a_get_brings_json_written_to_be_read(api: Api) -> None:
    query = {"q": "a b&c", "page": 2, "all": True, "tag": ["x", "y"]}
    outcome = await run(ApiReadTool(caller(api)), url=api.url("/items?own=1"), query=query)

    assert outcome.status == "ok"
    assert outcome.text == (
        f'GET {api.url("/items")}: 200 (application/json, 26 bytes)\n\n{{\n  "id": 1,\n  "name": "Quill"\n}}'
    )
    [request] = api.requests
    assert (request.method, request.path) == ("GET", "/items?own=1&q=a+b%26c&page=2&all=true&tag=x&tag=y")
    assert request.headers["accept"] == "application/json, text/*;q=0.5"
    assert request.body == b"" and "content-length" not in request.headers


@promise("TOOL-1.api-call")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_call_sends_its_body_as_json(api: Api, method: str) -> None:
    api.answer = (201, b"", {"location": "/items/7"})
    outcome = await run(
        ApiCallTool(caller(api)),
        url=api.url("/items"),
        method=method,
        body={"name": "Tinte ü", "parts": [1, None]},
        headers={"if-match": '"v1"'},
    )

    assert outcome.status == "ok"
    assert outcome.text == f"{method} {api.url('/items')}: 201 (no body, 0 bytes)\nlocation: /items/7"
    [request] = api.requests
    assert json.loads(request.body) == {"name": "Tinte ü", "parts": [1, None]}
    assert (request.headers["content-type"], request.headers["if-match"]) == ("application/json", '"v1"')


ANSWERS: list[tuple[int, bytes, Mapping[str, str], str, str]] = [
    (404, b'{"detail":"none"}', {}, "error", '"detail": "none"'),
    (302, b"", {"location": "http://169.254.169.254/"}, "error", "302 (no body, 0 bytes)\nlocation: http://169.254"),
    (429, b"{}", {"retry-after": "7"}, "error", "retry-after: 7"),
    (200, b"plain", {"content-type": "text/plain"}, "ok", "(text/plain, 5 bytes)\n\nplain"),
    (200, b"{broken", {}, "ok", "it says to be JSON and is not"),
    (200, b"[" * 5000, {}, "ok", "it says to be JSON and is not"),
    (200, b"\xff\xfe{}", {}, "ok", "it says to be JSON and is not"),
    (200, b'"' + b"a" * 100_000 + b'"', {}, "ok", "characters left out"),
    (200, b'"' + b"a" * BODY_LIMIT_BYTES, {}, "ok", "more than 2,000,000 bytes, and was cut"),
]


@pytest.mark.parametrize(("status", "body", "headers", "outcome", "told"), ANSWERS)
async def test_answers_of_every_kind_are_told_capped(
    api: Api, status: int, body: bytes, headers: Mapping[str, str], outcome: str, told: str
) -> None:
    api.answer = (status, body, headers)
    said = await run(ApiReadTool(caller(api)), url=api.url())
    assert said.status == outcome
    assert told in said.text
    assert len(said.text) <= 16_000
    assert len(api.requests) == 1, "no redirect is followed"


async def test_what_is_no_text_is_refused(api: Api) -> None:
    api.answer = (200, b"PK", {"content-type": "application/zip"})
    with pytest.raises(FetchFault, match="answered 200 with application/zip; only text"):
        await run(ApiReadTool(caller(api)), url=api.url("/a?key=hidden"))


async def test_a_server_that_never_answers_is_left_and_what_it_did_is_said_to_be_unknown() -> None:
    async def mute(request: Request, exchange: Exchange) -> None:
        await asyncio.Event().wait()

    async with serve(mute) as port:
        tool = ApiCallTool(caller(Api(port), timeout_s=0.2))
        with pytest.raises(FetchFault, match=r"within 0\.2 s; what it did is not known"):
            await run(tool, url=f"http://127.0.0.1:{port}/", method="POST")


@promise("SEC-6.network")
async def test_a_private_address_is_refused_also_when_only_the_query_makes_it_one() -> None:
    tool = ApiReadTool(Caller(Dialer(Reach())))
    for url in (
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "http://10.0.0.1#@api.example.com/",
        "ftp://a.example.com/",
    ):
        with pytest.raises(FetchFault):
            await run(tool, url=url, query={"a": "b"})


HEADERS = [
    {"Host": "evil.example.com"},
    {"content-length": "0"},
    {"Transfer-Encoding": "chunked"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"x-forwarded-for": "127.0.0.1"},
    {"Cookie": "a=b"},
    {"a b": "c"},
    {"A": "b\r\nC: d"},
    {"A": ""},
    {"A": "\u2713"},
    {"A": "b", "a": "c"},
]


@pytest.mark.parametrize("headers", HEADERS)
async def test_headers_that_frame_a_request_or_turn_it_into_another_are_refused(
    api: Api, headers: dict[str, str]
) -> None:
    with pytest.raises(InvalidRequest, match="header"):
        ApiReadTool(caller(api)).parse(json.dumps({"url": api.url(), "headers": headers}))


async def test_a_body_is_no_deeper_than_whoever_reads_it_can_bear(api: Api) -> None:
    tool = ApiCallTool(caller(api))
    given = '{"url": "https://a.example.com/", "method": "POST", "body": %s}'
    with pytest.raises(InvalidRequest, match="nested more than 60 deep"):
        tool.parse(given % ("[" * 400 + "]" * 400))
    with pytest.raises(InvalidRequest, match="content-type of JSON"):
        tool.parse(given % '1, "headers": {"Content-Type": "text/html"}')


# -- secrets --------------------------------------------------------------------------------------------------------


@promise("SEC-7.bound")
@pytest.mark.parametrize(
    ("place", "given"),
    [
        ("header:authorization", {"headers": {"Authorization": f"Bearer {SHOP}"}}),
        ("query:key", {"query": {"key": SHOP, "n": 1}}),
        ("query:key", {"query": {"key": ["a", SHOP]}}),
        ("body:token", {"body": {"token": f"<{SHOP}>", "n": 1}}),
    ],
)
async def test_a_value_goes_into_the_part_of_the_request_that_it_is_bound_to(
    api: Api, place: str, given: dict[str, Any]
) -> None:
    tool = ApiCallTool(caller(api))
    outcome = await run(tool, Book("quill-4711", "POST", place), url=api.url("/orders"), method="POST", **given)
    [request] = api.requests
    sent = f"{request.path} {request.headers} {request.body.decode()}"
    assert sent.count("quill-4711") == 1 and "secret:" not in sent
    assert "quill" not in outcome.text.partition("\n")[0] and outcome.reached == ("127.0.0.1",)


@pytest.mark.parametrize(
    "given",
    [
        {"query": {"key": SHOP}},
        {"body": {"token": SHOP}},
        {"body": SHOP},
        {"body": [SHOP]},
        {"body": {"deep": {"token": SHOP}}},
        {"body": {SHOP: "a name"}},
        {"headers": {"Authorization": SHOP}, "body": {"text": f"the key is {SHOP}"}},
        {"headers": {"Authorization": SHOP, "X-Key": SHOP}},
        {"headers": {"Authorization": f"{SHOP} {SHOP}"}},
    ],
)
async def test_a_value_goes_into_no_other_part_and_into_none_twice(api: Api, given: dict[str, Any]) -> None:
    with pytest.raises(FetchFault, match=r"stead secret bind shop .*--in PLACE") as refused:
        await run(ApiCallTool(caller(api)), Book(), url=api.url("/orders"), method="POST", **given)
    assert api.requests == [] and "quill" not in str(refused.value)


async def test_a_value_that_is_not_bound_there_stays_and_nothing_is_sent(api: Api) -> None:
    given: dict[str, Any] = {"url": api.url("/orders"), "method": "POST", "headers": {"X-Key": SHOP}}
    bind = "stead secret bind shop --host 127.0.0.1"
    for book in (None, Book(method="PUT"), Book(tls=True)):
        with pytest.raises(FetchFault, match=bind):
            await run(ApiCallTool(caller(api)), book, **given)
    with pytest.raises(FetchFault, match="does not fit into the header 'X-Key'"):
        await run(ApiCallTool(caller(api)), Book("a\nb"), **given)
    assert api.requests == []
