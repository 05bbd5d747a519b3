"""Attacks on the wire itself: requests with two readings, bombs, lies about sizes, callers that dawdle, crowds."""

from __future__ import annotations

import contextlib
import re
import resource
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.attacks.door_matrix import Knocker

DEADLINE_S = 15.0
POST = b"POST /api/v1/stop HTTP/1.1\r\n@HEAD"
GET = b"GET /api/v1/status HTTP/1.1\r\n@HEAD"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
TWO_READINGS = {
    "a length and chunks": POST + b"Content-Length: 4\r\n" + CHUNKED + b"0\r\n\r\n@INNER",
    "chunks and a length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n@INNER",
    "an unknown coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n@INNER",
    "a coding after chunked": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n@INNER",
    "two codings": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n@INNER",
    "a space before the colon": POST + b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@INNER",
    "a folded coding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n@INNER",
    "a coding behind a tab": POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n@INNER",
    "a folded header": GET + b"X-A: b\r\n c\r\n\r\n",
    "the same length twice": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}@INNER",
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a length below nothing": POST + b"Content-Length: -2\r\n\r\n{}@INNER",
    "a length in hex": POST + b"Content-Length: 0x2\r\n\r\n{}@INNER",
    "a length without end": POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
    "a chunk of no size": POST + CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n@INNER",
    "a chunk below nothing": POST + CHUNKED + b"-1\r\n{}\r\n0\r\n\r\n@INNER",
    "a chunk that overflows": POST + CHUNKED + b"10000000000000002\r\n{}\r\n0\r\n\r\n@INNER",
    "chunks with half line ends": POST + CHUNKED + b"2\n{}\n0\n\n@INNER",
    "a chunk longer than it says": POST + CHUNKED + b"2\r\n{}XX0\r\n\r\n@INNER",
    "a credential in a trailer": (
        b"POST /api/v1/stop HTTP/1.1\r\n@HOST"
        + CHUNKED
        + b"2\r\n{}\r\n0\r\nAuthorization: Bearer @BEARER\r\n\r\n@INNER"
    ),
    "a host in a trailer": POST + CHUNKED + b"2\r\n{}\r\n0\r\nHost: evil.example.com\r\n\r\n@INNER",
    "half line ends": GET.replace(b"\r\n", b"\n") + b"\n\n",
    "the other half of line ends": GET.replace(b"\r\n", b"\r") + b"\r\r",
    "a NUL in a header": GET + b"X-A: a\x00b\r\n\r\n",
    "a header without a colon": GET + b"nonsense\r\n\r\n",
    "a host with a space": b"GET /api/v1/status HTTP/1.1\r\nHost : evil.example.com\r\n@HEAD\r\n",
    "a second host in the target": b"GET http://evil.example.com/api/v1/status HTTP/1.1\r\n@HEAD\r\n",
    "a tunnel": b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n@HEAD\r\n",
    "another version's greeting": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n@INNER",
    "a method in small letters": b"get /api/v1/status HTTP/1.1\r\n@HEAD\r\n",
    "a WebSocket with a body": POST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}@INNER",
}
"""Each has a body that could be a request of its own, or a header that counts for one reader and not for another."""
BOMBS = {
    "a long target": b"GET /api/v1/search?q=" + b"a" * 200_000 + b" HTTP/1.1\r\n@HEAD\r\n",
    "many headers": GET + b"".join(b"X-%d: 1\r\n" % n for n in range(50_000)) + b"\r\n",
    "a long header": GET + b"X-A: " + b"a" * 200_000 + b"\r\n\r\n",
    "a long trailer": POST + CHUNKED + b"2\r\n{}\r\n0\r\nX-A: " + b"b" * 1_000_000 + b"\r\n\r\n",
    "a long chunk extension": POST + CHUNKED + b"2;" + b"a" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n",
}
NEST = b"[" * 1_000_000
ANSWERED = {
    "a body that is too large": (POST + b"Content-Length: 2000001\r\n\r\n{}", [413]),
    "one that is announced first": (POST + b"Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n", [413]),
    "one in chunks": (POST + CHUNKED + b"200000\r\n" + b" " * 0x200000 + b"\r\n0\r\n\r\n", [413]),
    "deep nesting": (POST + b"Content-Length: %d\r\n\r\n" % len(NEST) + NEST, [400]),
    "a compressed body": (POST + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00", [400]),
    "a credential for the first of two": (GET + b"\r\nGET /api/v1/status HTTP/1.1\r\n@HOST\r\n", [200, 401]),
    "another protocol": (GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", [200]),
    "a WebSocket that is none": (
        GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        [404],
    ),
}


def filled(who: Knocker, template: bytes) -> bytes:
    """The bytes of a request: ``@INNER`` is one that would change something if anybody read it."""
    head = b"@HOSTAuthorization: Bearer @BEARER\r\nContent-Type: application/json\r\nIdempotency-Key: from-the-wire\r\n"
    body = b'{"daily":{"tokens":7,"usd_micros":"unlimited"}}'
    inner = b"POST /api/v1/cap HTTP/1.1\r\n@HEADContent-Length: %d\r\n\r\n" % len(body) + body
    for name, text in ((b"@INNER", inner), (b"@HEAD", head), (b"@HOST", f"Host: {who.api}\r\n".encode())):
        template = template.replace(name, text)
    return template.replace(b"@BEARER", who.bearer.encode())


def exchange(who: Knocker, request: bytes, answers: int) -> list[int]:
    """Send bytes; gives the statuses that come back until the other side hangs up or has answered so often."""
    found: list[int] = []
    heard = b""
    with socket.create_connection(("127.0.0.1", who.port), timeout=DEADLINE_S) as wire:
        # It may hang up before it has heard all of it.
        with contextlib.suppress(ConnectionError):
            wire.sendall(request)
        with contextlib.suppress(ConnectionError):
            while len(found) < answers and (data := wire.recv(65536)):
                heard += data
                found = [int(status) for status in re.findall(rb"HTTP/1\.1 ([2-5]\d\d) ", heard)]
    return found


def cap(who: Knocker) -> object:
    return who.house.get("/cap")["daily"]["tokens"]


@pytest.mark.parametrize("name", TWO_READINGS)
def test_a_request_with_two_readings_is_turned_away_and_the_connection_with_it(knocker: Knocker, name: str) -> None:
    assert exchange(knocker, filled(knocker, TWO_READINGS[name]), answers=99) == [400]
    assert cap(knocker) == "unlimited", "what was hidden in it was carried out"


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_turned_away_before_it_has_gone_off(knocker: Knocker, name: str) -> None:
    before = memory_kb(knocker)
    for _ in range(5):
        assert exchange(knocker, filled(knocker, BOMBS[name]), answers=99) in ([400], [])
    assert knocker.house.get("/status")["version"]
    assert memory_kb(knocker) - before < 20_000


@pytest.mark.parametrize("name", ANSWERED)
def test_what_has_one_reading_is_answered_and_goes_no_further(knocker: Knocker, name: str) -> None:
    request, expected = ANSWERED[name]
    assert exchange(knocker, filled(knocker, request), answers=len(expected)) == expected


def test_a_length_that_is_too_short_makes_the_rest_a_request_of_its_own(knocker: Knocker) -> None:
    """As it must: the rest needs a credential of its own, and without one it is refused."""
    stranger = b"POST /api/v1/cap HTTP/1.1\r\n@HOSTContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    request = filled(knocker, POST + b"Content-Length: 2\r\n\r\n{}" + stranger)
    assert exchange(knocker, request, answers=2) == [200, 401]


@contextlib.contextmanager
def crowd(who: Knocker, each: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Many connections that have all said this much."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count + 500)), hard))
    wires: list[socket.socket] = []
    try:
        for _ in range(count):
            wires.append(socket.create_connection(("127.0.0.1", who.port), timeout=DEADLINE_S))
            with contextlib.suppress(ConnectionError):
                wires[-1].sendall(each)
        yield wires
    finally:
        for wire in wires:
            wire.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET /api/v1/sta",
        b"GET /api/v1/status HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /api/v1/stop HTTP/1.1\r\n@HEADContent-Length: 100\r\n\r\n{",
        b"GET /api/v1/status HTTP/1.1\r\n@HEADContent-Length: 100\r\n\r\n{",
    ],
)
def test_a_crowd_that_dawdles_keeps_nobody_waiting_and_stays_bounded(knocker: Knocker, said: bytes) -> None:
    assert knocker.house.process is not None
    before = memory_kb(knocker)
    with crowd(knocker, filled(knocker, said), 1500):
        # A crowd that holds the person's own credential has used up their rate; it comes back in a moment.
        until_served(knocker, partial(knocker.house.get, "/status"))
        assert memory_kb(knocker) - before < 60_000
        opened = len(list((knocker_proc(knocker)).joinpath("fd").iterdir()))
        assert opened < 1300, "the number of connections has no bound"
    until_served(knocker, partial(knocker.house.get, "/status"))


def test_readers_that_take_nothing_cost_little_and_lose_nothing(knocker: Knocker) -> None:
    """Their queues are bounded; what they miss is in the journal."""
    until_served(knocker, partial(knocker.house.get, "/status"))
    before = memory_kb(knocker)
    request = b"GET /api/v1/events/stream HTTP/1.1\r\n@HEAD\r\n"
    with crowd(knocker, filled(knocker, request), 100):
        for number in range(50):
            cap = {"daily": {"tokens": number + 1, "usd_micros": "unlimited"}}
            until_served(knocker, partial(knocker.house.post, "/cap", cap))
        assert memory_kb(knocker) - before < 60_000
        until_served(knocker, lambda: knocker.house.events("home"))
        assert len(knocker.house.events("home")) >= 50
    uncapped = {"daily": {"tokens": "unlimited", "usd_micros": "unlimited"}}
    until_served(knocker, partial(knocker.house.post, "/cap", uncapped))


def until_served(who: Knocker, ask: Callable[[], object]) -> None:
    """Ask, and again while word comes that it was too often: the rate is back within seconds."""

    def served() -> bool:
        try:
            ask()
        except ApiError as refused:
            assert refused.status == 429, refused
            return False
        return True

    who.house.until(served, "the person to be served", timeout_s=10)


def knocker_proc(who: Knocker) -> Path:
    assert who.house.process is not None
    return Path(f"/proc/{who.house.process.pid}")


def memory_kb(who: Knocker) -> int:
    """What the daemon has in memory."""
    status = (knocker_proc(who) / "status").read_text("utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1])
