"""Secrets at the proxy: values go to bound destinations only, and come back to nobody."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from stead.domain.secrets import HostBinding
from stead.egress import exchange
from tests.egress.bench import Site, Way, fields_of, make_certificate, open_way, site
from tests.egress.test_proxy import refusal

VALUE = 'Quill+7/\u00e9 "ink"&=tea'
PLAIN_VALUE = "quill-4711-ink-0815-tea"
ECHO = b"HTTP/1.1 200 OK\r\nX-Echo: 1\r\n\r\n{request}"


def url(shop: Site, path: str = "/") -> str:
    return f"http://shop.example.com:{shop.port}{path}"


@pytest.fixture
def bound(way: Way) -> str:
    """The placeholder of a secret that is bound to the shop."""
    return way.book.add("shop", PLAIN_VALUE, HostBinding("shop.example.com"))


async def test_a_value_takes_the_place_of_its_placeholder_in_a_header(way: Way, shop: Site, bound: str) -> None:
    basic = base64.b64encode(f"ada:{bound}".encode()).decode()
    await way.get(url(shop), f"X-Key: a {bound} b", "Accept-Encoding: gzip, br", "Range: bytes=0-9")
    await way.get(url(shop), f"Authorization: Basic {basic}")
    first, second = fields_of(shop.requests[0]), fields_of(shop.requests[1])
    assert first["x-key"] == f"a {PLAIN_VALUE} b"
    assert first["accept-encoding"] == "identity" and "range" not in first
    assert base64.b64decode(second["authorization"].removeprefix("Basic ")).decode() == f"ada:{PLAIN_VALUE}"
    used = await way.told(2)
    assert [one.secrets for one in used] == [("shop",), ("shop",)]
    assert PLAIN_VALUE not in str(used)


async def test_a_value_takes_its_place_in_the_query_the_form_or_the_json_field_that_it_is_bound_to(
    way: Way, shop: Site
) -> None:
    places = (HostBinding("shop.example.com", place="query:k"), HostBinding("shop.example.com", place="body:key"))
    bound = way.book.add("odd", VALUE, *places)
    await way.get(url(shop, f"/a?k={quote(bound, safe='')}&n=%20b+c"))
    assert shop.requests[0].startswith(f"GET /a?k={quote_plus(VALUE)}&n=%20b+c HTTP/1.1\r\n".encode())
    form = f"key={quote_plus(bound)}&raw={bound}&n=1".encode()
    await way.get(url(shop), "Content-Type: application/x-www-form-urlencoded", method="POST", body=form)
    assert shop.requests[1].endswith(f"key={quote_plus(VALUE)}&raw={bound}&n=1".encode())
    body = b'{"n": 1.10, "deep": {"key": "x"},  "key": "a ' + bound.encode() + b'"}'
    await way.get(url(shop), "Content-Type: application/json; charset=utf-8", method="POST", body=body)
    sent = shop.requests[2].partition(b"\r\n\r\n")[2]
    assert json.loads(sent) == {"n": 1.1, "deep": {"key": "x"}, "key": f"a {VALUE}"} and b"1.10" in sent
    plain = b"\xff\x00" + bound.encode() + b"\xfe"
    await way.get(url(shop), method="PUT", body=plain)
    assert shop.requests[3].endswith(b"\r\n\r\n" + plain)
    for request in shop.requests[1:]:
        body = request.partition(b"\r\n\r\n")[2]
        assert fields_of(request)["content-length"] == str(len(body))
    used = await way.told(4)
    assert [one.secrets for one in used] == [("odd",), ("odd",), ("odd",), ()]
    assert all("odd" in used[at].reason.text for at in (1, 3))
    assert {one.path for one in used} == {"/a?k=&n=", "/"}


async def test_an_unbound_placeholder_stays_and_the_event_says_so(way: Way, shop: Site) -> None:
    elsewhere = way.book.add("bank", "bank-value-0815", HostBinding("bank.example.com"))
    deeper = way.book.add("deep", "deep-value-0815", HostBinding("shop.example.com", ("POST",), "/v1"))
    made_up = "{{secret:nosuch#00000000}}"
    await way.get(url(shop, "/v1/x"), f"A: {elsewhere}", f"B: {deeper}", f"C: {made_up}")
    await way.get(url(shop, "/v1/../v2"), f"B: {deeper}", method="POST")
    await way.get(url(shop, "/v1/x"), f"B: {deeper}", method="POST")
    sent = [fields_of(request) for request in shop.requests]
    assert (sent[0]["a"], sent[0]["b"], sent[0]["c"]) == (elsewhere, deeper, made_up)
    assert (sent[1]["b"], sent[2]["b"]) == (deeper, "deep-value-0815")
    used = await way.told(3)
    assert used[0].secrets == () and all(name in used[0].reason.text for name in ("bank", "deep", "nosuch"))
    assert used[1].secrets == () and used[2].secrets == ("deep",)
    assert b"bank-value-0815" not in b"".join(shop.requests)


async def test_what_may_go_into_tls_never_goes_in_the_clear(way: Way, shop: Site) -> None:
    bound = way.book.add("shop", PLAIN_VALUE, HostBinding("shop.example.com", tls=True))
    await way.get(url(shop), f"X-Key: {bound}")
    assert fields_of(shop.requests[0])["x-key"] == bound
    assert "shop" in (await way.told())[0].reason.text


async def test_a_value_that_would_break_the_message_is_refused_without_a_trace(way: Way, shop: Site) -> None:
    bound = way.book.add("lines", "one\r\nX-Injected: two", HostBinding("shop.example.com"))
    answer = await way.get(url(shop), f"X-Key: {bound}")
    assert refusal(answer, 400)["rule"] == "egress-request"
    assert b"Injected" not in answer and "Injected" not in str(await way.told()) and shop.requests == []


async def test_a_body_too_large_to_look_through_passes_as_it_is(way: Way, shop: Site, bound: str) -> None:
    body = b"a" * exchange.FILLED_LIMIT_BYTES + bound.encode()
    await way.get(url(shop), f"X-Key: {bound}", method="POST", body=body)
    assert shop.requests[0].endswith(b"\r\n\r\n" + body) and fields_of(shop.requests[0])["x-key"] == PLAIN_VALUE


async def test_an_echo_service_gives_no_value_back(way: Way, shop: Site, bound: str) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\nX-Echo: " + PLAIN_VALUE.encode() + b"\r\n\r\n{request}"
    encoded = base64.b64encode(PLAIN_VALUE.encode())
    answer = await way.get(
        url(shop), f"X-Key: {bound}", method="POST", body=bound.encode() + b" \xff\x00\xfe " + encoded
    )
    assert PLAIN_VALUE.encode() in shop.requests[0]
    assert PLAIN_VALUE.encode() not in answer and encoded not in answer
    assert b"x-echo: " + bound.encode() in answer and b"\xff\x00\xfe" in answer
    # The value may have been kept there by an earlier request: later answers are looked through too.
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n" + PLAIN_VALUE.encode()
    assert PLAIN_VALUE.encode() not in await way.get(url(shop))


@pytest.mark.parametrize("size", [1, 2, 7, 22])
async def test_a_value_that_comes_in_pieces_is_found(way: Way, shop: Site, bound: str, size: int) -> None:
    text = f"before {PLAIN_VALUE} after \u00e9\n".encode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    shop.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    answer = await way.ask(f"GET {url(shop)} HTTP/1.0\r\n\r\n")
    assert answer.endswith(f"\r\n\r\nbefore {bound} after \u00e9\n".encode())


async def test_a_compressed_answer_is_unpacked_and_looked_through(way: Way, shop: Site, bound: str) -> None:
    for name, packed in (
        (b"gzip", gzip.compress(PLAIN_VALUE.encode())),
        (b"deflate", zlib.compress(PLAIN_VALUE.encode())),
    ):
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name, len(packed))
        shop.answer = head + packed
        answer = await way.ask(f"GET {url(shop)} HTTP/1.0\r\n\r\n")
        assert answer.endswith(b"\r\n\r\n" + bound.encode()) and b"content-encoding" not in answer


@pytest.mark.parametrize("encoding", [b"br", b"zstd", b"gzip, gzip", b"x"])
async def test_an_answer_that_cannot_be_looked_through_is_refused(
    way: Way, shop: Site, bound: str, encoding: bytes
) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: " + encoding + b"\r\nContent-Length: 2\r\n\r\nok"
    refusal(await way.get(url(shop)), 502)


async def test_a_small_answer_that_unpacks_to_a_huge_one_is_cut(way: Way, shop: Site, bound: str) -> None:
    packed = gzip.compress(bytes(200_000_000), 9)
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    assert len(await way.get(url(shop))) < 3_000_000
    assert (await way.told())[0].reason.rule == "egress-limit"


async def test_without_secrets_answers_pass_untouched(way: Way, shop: Site) -> None:
    packed = gzip.compress(b"pens")
    shop.answer = b"HTTP/1.1 206 Part\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    answer = await way.get(url(shop), "Accept-Encoding: br", "Range: bytes=0-3")
    assert answer.endswith(packed) and b"content-encoding: gzip" in answer
    assert fields_of(shop.requests[0])["accept-encoding"] == "br" and "range" in fields_of(shop.requests[0])


# -- TLS that the person let be opened ------------------------------------------------------------------------------


@asynccontextmanager
async def tls_shop(folder: Path, *names: str, trusted: bool = True) -> AsyncIterator[tuple[Way, Site, str]]:
    """A shop by https with an echo, and a secret that is bound to it with leave to open TLS."""
    server_side, certificate = make_certificate(folder, *names)
    trust = ssl.create_default_context(cafile=str(certificate) if trusted else None)
    async with (
        site(ECHO, tls=server_side) as shop,
        open_way(folder / "way", shop.port, hosts=[f"shop.example.com:{shop.port}"], tls=trust) as way,
    ):
        yield way, shop, way.book.add("shop", PLAIN_VALUE, HostBinding("shop.example.com", path="/v1", tls=True))


async def https(way: Way, shop: Site, message: str, name: str = "shop.example.com") -> bytes:
    """Say something in TLS to the proxy in the middle, trusting what machines trust."""
    reader, writer = await way.tunnel(f"shop.example.com:{shop.port}")
    context = ssl.create_default_context(cafile=f"{way.machine}/ca.pem")
    try:
        await writer.start_tls(context, server_hostname=name, ssl_handshake_timeout=10)
        writer.write(message.encode())
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.transport.abort()


async def test_a_value_goes_into_tls_that_was_let_open_and_is_taken_out_of_the_answer(tmp_path: Path) -> None:
    async with tls_shop(tmp_path, "shop.example.com") as (way, shop, bound):
        host = f"Host: shop.example.com:{shop.port}"
        answer = await https(way, shop, f"GET /v1/pens HTTP/1.1\r\n{host}\r\nX-Key: {bound}\r\n\r\n")
        assert fields_of(shop.requests[0])["x-key"] == PLAIN_VALUE
        assert b"200" in answer and bound.encode() in answer and PLAIN_VALUE.encode() not in answer
        await https(way, shop, f"GET /v2 HTTP/1.1\r\n{host}\r\nX-Key: {bound}\r\n\r\n")
        assert fields_of(shop.requests[1])["x-key"] == bound
        used = await way.told(2)
    assert (used[0].method, used[0].path, used[0].secrets) == ("GET", "/v1/pens", ("shop",))
    assert used[1].secrets == () and PLAIN_VALUE not in str(used)


async def test_an_opened_tunnel_is_for_its_own_host_and_in_origin_form(tmp_path: Path) -> None:
    async with tls_shop(tmp_path, "shop.example.com") as (way, shop, _):
        for message in (
            "GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
            "GET http://other.example.com/ HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
            "CONNECT other.example.com:443 HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
        ):
            assert b"Refused by Stead (egress-request)" in await https(way, shop, message)
        assert shop.visits == 0


@pytest.mark.parametrize(("names", "trusted"), [(("other.example.com",), True), (("shop.example.com",), False)])
async def test_a_server_that_cannot_prove_who_it_is_gets_nothing(
    tmp_path: Path, names: tuple[str, ...], trusted: bool
) -> None:
    async with tls_shop(tmp_path, *names, trusted=trusted) as (way, shop, bound):
        message = f"GET /v1 HTTP/1.1\r\nHost: shop.example.com:{shop.port}\r\nX-Key: {bound}\r\n\r\n"
        answer = await https(way, shop, message)
        assert b"HTTP/1.1 502" in answer and b"no trustworthy certificate" in answer and shop.requests == []


async def test_the_proxy_vouches_for_the_allowed_host_alone_and_only_where_it_was_let(tmp_path: Path) -> None:
    async with tls_shop(tmp_path, "shop.example.com") as (way, shop, _):
        with pytest.raises(ssl.SSLCertVerificationError):
            await https(way, shop, "", name="other.example.com")
        way.book.values.clear()
        with pytest.raises(
            ssl.SSLCertVerificationError
        ):  # now the tunnel leads to the server itself, whom nobody trusts
            await https(way, shop, "")
