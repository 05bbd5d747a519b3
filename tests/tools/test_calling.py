"""API calls over real sockets: what is sent, what is refused before it, and what is told of the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stead.domain.errors import FetchFault, InvalidRequest, ToolFault
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.secrets import Known, RequestHead
from stead.domain.tools import ToolContext, ToolOutcome
from stead.guardian.reach import Reach
from stead.machines.bubblewrap import BubblewrapMachines
from stead.tools.calling import BODY_LIMIT_BYTES, ApiCallTool, ApiReadTool, Caller
from stead.tools.checking import Pair, misfits
from tests.fakes.http import Exchange, Request, serve
from tests.machines.bench import SESSION, Bench, open_bench
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


def caller(api: Api, files: BubblewrapMachines, timeout_s: float = 5) -> Caller:
    return Caller(files, Reach(endpoints=frozenset({("127.0.0.1", api.port)})), timeout_s=timeout_s)


@asynccontextmanager
async def nothing_read(root: Path) -> AsyncIterator[BubblewrapMachines]:
    """Machines that are made when a file is read, which no call without a document does."""
    bench = Bench(root)
    try:
        yield bench.machines
    finally:
        await bench.machines.close()


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[BubblewrapMachines]:
    async with nothing_read(tmp_path) as machines:
        yield machines


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
async def test_a_get_brings_json_written_to_be_read(api: Api, files: BubblewrapMachines) -> None:
    query = {"q": "a b&c", "page": 2, "all": True, "tag": ["x", "y"]}
    outcome = await run(ApiReadTool(caller(api, files)), url=api.url("/items?own=1"), query=query)

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
async def test_a_call_sends_its_body_as_json(api: Api, files: BubblewrapMachines, method: str) -> None:
    api.answer = (201, b"", {"location": "/items/7"})
    outcome = await run(
        ApiCallTool(caller(api, files)),
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
    api: Api, files: BubblewrapMachines, status: int, body: bytes, headers: Mapping[str, str], outcome: str, told: str
) -> None:
    api.answer = (status, body, headers)
    said = await run(ApiReadTool(caller(api, files)), url=api.url())
    assert said.status == outcome
    assert told in said.text
    assert len(said.text) <= 16_000
    assert len(api.requests) == 1, "no redirect is followed"


async def test_what_is_no_text_is_refused(api: Api, files: BubblewrapMachines) -> None:
    api.answer = (200, b"PK", {"content-type": "application/zip"})
    with pytest.raises(FetchFault, match="answered 200 with application/zip; only text"):
        await run(ApiReadTool(caller(api, files)), url=api.url("/a?key=hidden"))


async def test_a_server_that_never_answers_is_left_and_what_it_did_is_said_to_be_unknown(
    files: BubblewrapMachines,
) -> None:
    async def mute(request: Request, exchange: Exchange) -> None:
        await asyncio.Event().wait()

    async with serve(mute) as port:
        tool = ApiCallTool(caller(Api(port), files, timeout_s=0.2))
        with pytest.raises(FetchFault, match=r"within 0\.2 s; what it did is not known"):
            await run(tool, url=f"http://127.0.0.1:{port}/", method="POST")


@promise("SEC-6.network")
async def test_a_private_address_is_refused_also_when_only_the_query_makes_it_one(files: BubblewrapMachines) -> None:
    tool = ApiReadTool(Caller(files, Reach()))
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
    api: Api, files: BubblewrapMachines, headers: dict[str, str]
) -> None:
    with pytest.raises(InvalidRequest, match="header"):
        ApiReadTool(caller(api, files)).parse(json.dumps({"url": api.url(), "headers": headers}))


async def test_a_body_is_no_deeper_than_whoever_reads_it_can_bear(api: Api, files: BubblewrapMachines) -> None:
    tool = ApiCallTool(caller(api, files))
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
    api: Api, files: BubblewrapMachines, place: str, given: dict[str, Any]
) -> None:
    tool = ApiCallTool(caller(api, files))
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
async def test_a_value_goes_into_no_other_part_and_into_none_twice(
    api: Api, files: BubblewrapMachines, given: dict[str, Any]
) -> None:
    with pytest.raises(FetchFault, match=r"stead secret bind shop .*--in PLACE") as refused:
        await run(ApiCallTool(caller(api, files)), Book(), url=api.url("/orders"), method="POST", **given)
    assert api.requests == [] and "quill" not in str(refused.value)


async def test_a_value_that_is_not_bound_there_stays_and_nothing_is_sent(api: Api, files: BubblewrapMachines) -> None:
    given: dict[str, Any] = {"url": api.url("/orders"), "method": "POST", "headers": {"X-Key": SHOP}}
    bind = "stead secret bind shop --host 127.0.0.1"
    for book in (None, Book(method="PUT"), Book(tls=True)):
        with pytest.raises(FetchFault, match=bind):
            await run(ApiCallTool(caller(api, files)), book, **given)
    with pytest.raises(FetchFault, match="does not fit into the header 'X-Key'"):
        await run(ApiCallTool(caller(api, files)), Book("a\nb"), **given)
    assert api.requests == []


# -- documents ------------------------------------------------------------------------------------------------------

ITEM = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "note": {"type": "string", "nullable": True}},
}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 50}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/items": {
            "get": {
                "parameters": [{"$ref": "#/components/parameters/Limit"}],
                "responses": {
                    "200": {
                        "description": "",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}
                            }
                        },
                    }
                },
            },
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
                },
                "responses": {"201": {"$ref": "#/components/responses/Made"}, "4XX": {"description": "no"}},
            },
        },
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {
                "parameters": [{"name": "X-Trace", "in": "header", "required": True, "schema": {"type": "string"}}],
                "responses": {
                    "default": {
                        "description": "",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
                    }
                },
            },
        },
    },
    "components": {
        "schemas": {"Item": ITEM},
        "parameters": {"Limit": LIMIT},
        "responses": {
            "Made": {
                "description": "",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
            }
        },
    },
}


@promise("TOOL-1.api-call")
async def test_a_request_is_checked_before_it_is_sent_and_its_answer_after(api: Api, tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        (bench.project / "shop.json").write_text(json.dumps(DOCUMENT, indent=1), "utf-8")
        read, call = ApiReadTool(caller(api, bench.machines)), ApiCallTool(caller(api, bench.machines))
        items, item = api.url("/v1/items"), api.url("/v1/items/7")
        given: dict[str, Any] = {"openapi": "shop.json"}
        refused = [
            await run(read, url=items, query={"limit": 99}, **given),
            await run(read, url=f"{items}?limit=many", **given),
            await run(read, url=items, query={"limt": 1}, **given),
            await run(read, url=item, **given),
            await run(read, url=api.url("/v1/items/x"), headers={"X-Trace": "t"}, **given),
            await run(call, url=items, method="POST", **given),
            await run(call, url=items, method="POST", body={"name": 7}, **given),
            await run(call, url=items, method="POST", body={"name": "a", "colour": "red"}, **given),
        ]
        for path in ("/v2/items", "/v1/orders", "/items"):
            with pytest.raises(ToolFault, match="has no GET for"):
                await run(read, url=api.url(path), **given)
        with pytest.raises(ToolFault, match="has no DELETE for"):
            await run(call, url=item, method="DELETE", **given)
        assert api.requests == []

        api.answer = (201, b'{"id": 1, "name": "a", "note": null}', {})
        made = await run(call, url=items, method="POST", body={"name": "a", "note": None}, **given)
        api.answer = (200, b'[{"id": "x", "name": "a"}]', {})
        wrong = await run(read, url=f"{items}?limit=7", **given)
        api.answer = (418, b"{}", {})
        unknown = await run(read, url=items, **given)
        api.answer = (200, b"text", {"content-type": "text/plain"})
        text = await run(read, url=item, headers={"x-trace": "t"}, **given)

    whys = [
        *("query limit: 99 is greater than the maximum of 50", "query limit: ", "'limt' is no query parameter"),
        *("the header parameter 'X-Trace' is missing", "path id: ", "POST /items wants a body"),
        *("body/name: 7 is not of type", "body: Additional properties are not allowed ('colour'"),
    ]
    for outcome, why in zip(refused, whys, strict=True):
        assert outcome.status == "error"
        assert outcome.text.startswith("Nothing was sent, because the request does not fit: ")
        assert why in outcome.text
    assert (made.status, wrong.status) == ("ok", "ok")
    assert "\nfit: the answer is as described\n" in made.text
    assert '\nmisfit: 0/id: "x" is not of type "integer"\n' in wrong.text
    assert "misfit: GET /items has no answer 418 in the document" in unknown.text
    assert "misfit: it is text/plain and should be JSON" in text.text


async def test_a_document_longer_than_one_reading_is_read_on_and_a_bad_one_is_refused(api: Api, tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        long = DOCUMENT | {"info": {"title": ["x" * 50] * 8000}}
        (bench.project / "long.json").write_text(json.dumps(long, indent=1), "utf-8")
        (bench.project / "one_line.json").write_text(json.dumps(long), "utf-8")
        (bench.project / "shop.yaml").write_text("openapi: 3.0.3\n", "utf-8")
        (bench.project / "other.json").write_text('{"swagger": "2.0", "paths": {}}', "utf-8")
        loop = {"openapi": "3.1.0", "paths": {"/items": {"$ref": "#/paths/~1items"}}}
        (bench.project / "loop.json").write_text(json.dumps(loop), "utf-8")
        tool = ApiReadTool(caller(api, bench.machines))
        api.answer = (200, b"[]", {})
        read = await run(tool, url=api.url("/v1/items"), openapi="long.json")
        for path, why in (
            ("one_line.json", "json.tool"),
            ("shop.yaml", "only JSON is read"),
            ("other.json", "no OpenAPI 3 document"),
            ("loop.json", "leads to no end"),
            ("absent.json", "absent.json"),
        ):
            with pytest.raises(ToolFault, match=why):
                await run(tool, url=api.url("/items"), openapi=path)
    assert "fit: the answer is as described" in read.text
    assert len(api.requests) == 1


# -- schemas --------------------------------------------------------------------------------------------------------


async def test_a_schema_of_the_calls_own_is_checked_on_both_ways(api: Api, files: BubblewrapMachines) -> None:
    tool = ApiCallTool(caller(api, files))
    given: dict[str, Any] = {"url": api.url(), "method": "POST", "body_schema": {"allOf": [{"required": ["a"]}]}}
    refused = await run(tool, **given, body={"b": 1})
    sent = await run(tool, **given, body={"a": 1}, answer_schema={"properties": {"id": {"type": "string"}}})
    assert refused.text == 'Nothing was sent, because the request does not fit: body: "a" is a required property'
    assert 'misfit: id: 1 is not of type "string"' in sent.text
    assert len(api.requests) == 1


BOMB: dict[str, object] = {
    "$ref": "#/$defs/d40",
    "$defs": {"d0": {}} | {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 41)},
}


async def test_a_schema_that_takes_for_ever_is_given_up() -> None:
    with pytest.raises(ToolFault, match=r"longer than 0\.5 s"):
        await misfits("2020-12", BOMB, [Pair("", {}, 1)], timeout_s=0.5)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
        {"pattern": "(?=a)b"},
    ],
)
async def test_a_schema_that_cannot_be_used_is_told_and_nothing_outside_it_is_read(schema: dict[str, object]) -> None:
    with pytest.raises(ToolFault, match="the schema cannot be used"):
        await misfits("2020-12", schema, [Pair("", {}, "a")])


async def test_a_pattern_that_backtracks_elsewhere_is_checked_at_once() -> None:
    found = await misfits("4", {}, [Pair("body", {"pattern": "(a+)+$"}, "a" * 50 + "b")])
    assert len(found) == 1
    assert found[0].startswith("body: ") and len(found[0]) <= 200


async def test_an_answer_whose_schema_cannot_be_used_is_told_all_the_same(api: Api, files: BubblewrapMachines) -> None:
    outcome = await run(ApiReadTool(caller(api, files)), url=api.url(), answer_schema={"type": "nonsense"})
    assert outcome.status == "ok"
    assert "not checked: the schema cannot be used" in outcome.text and '"name": "Quill"' in outcome.text
