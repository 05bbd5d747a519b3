"""Strangers, and platforms, at the way in for channels: what is reached there, and what a flood of it costs."""

from __future__ import annotations

import asyncio
import http.client
import random
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import pytest

from stead.domain.channel_wire import Request, Response
from stead.domain.errors import MachineDied, NotFound
from stead.domain.triggers import MOST_BYTES
from stead.runtime.arrivals import Arrivals
from stead.runtime.home import HomeState
from stead.web import channel_requests
from stead.web.channel_requests import PLACES, PLACES_PER_S
from stead.web.server import WebServer, listen
from stead.web.webhooks import WebhookApp
from tests.fakes.webhook_senders import Headers, send
from tests.web.simulator import SetClock

SIGNED = ("x-signed", "yes")


class Channels:
    """Has one channel, ``bot``, whose process takes what is signed. Implements ``runtime.arrivals.ChannelRequests``."""

    wanted = True

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.waits = asyncio.Event()
        self.waits.set()
        self.fault: Exception | None = None
        self.answers: Callable[[Request], Awaitable[Response]] | None = None

    async def request(self, name: str, request: Request) -> Response:
        if name != "bot":
            raise NotFound("there is none")
        self.seen.append(request)
        if self.fault:
            raise self.fault
        await self.waits.wait()
        if self.answers:
            return await self.answers(request)
        if request.headers.get(SIGNED[0]) != SIGNED[1]:
            return Response(0, 401)
        return Response(0, 200, '{"text": "größer"}', "application/json")


class Listener:
    """The listener, open. ``log`` is what it wrote."""

    def __init__(self, port: int, channels: Channels, clock: SetClock, log: pytest.LogCaptureFixture) -> None:
        self.port, self.channels, self.clock, self.log = port, channels, clock, log
        self.url = f"http://127.0.0.1:{port}/channels/bot"

    async def send(self, body: bytes = b"{}", headers: Headers = (SIGNED,), **more: Any) -> tuple[int, bytes]:
        return await asyncio.to_thread(lambda: send(self.url, body, headers, **more))


@asynccontextmanager
async def listening(log: pytest.LogCaptureFixture) -> AsyncIterator[Listener]:
    nothing = cast(Any, None)  # no trigger is there, so none of it is reached
    clock = SetClock()
    arrivals = Arrivals(HomeState, nothing, nothing, nothing, nothing, clock)
    arrivals.channels = channels = Channels()
    listener = listen(0)
    server = WebServer(WebhookApp(arrivals, clock, frozenset({"127.0.0.1", "hooks.example.com"})), listener)
    await server.start()
    try:
        yield Listener(server.address[1], channels, clock, log)
    finally:
        channels.waits.set()
        await server.stop()


@pytest.fixture
async def house(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Listener]:
    async with listening(caplog) as opened:
        yield opened


async def test_a_request_reaches_its_channel_whole_and_the_answer_its_sender(house: Listener) -> None:
    body = b'{"a": "\xff\x00"}'
    answer = await house.send(body, [("X-Signed", "yes"), ("X-Hub-Signature-256", "sha256=1")])
    assert answer == (200, '{"text": "größer"}'.encode())
    (seen,) = house.channels.seen
    assert (seen.method, seen.query, seen.body) == ("POST", "", body)
    assert seen.headers["x-hub-signature-256"] == "sha256=1" and all(name == name.lower() for name in seen.headers)
    assert (await house.send(b"", method="GET", target="/channels/bot?hub.mode=subscribe&a=%20"))[0] == 200
    assert (house.channels.seen[-1].method, house.channels.seen[-1].query) == ("GET", "hub.mode=subscribe&a=%20")
    assert (await house.send(b"x" * 20, chunked=True))[0] == 200 and house.channels.seen[-1].body == b"x" * 20


async def test_a_channel_that_is_not_there_is_answered_as_a_strangers_hook(house: Listener) -> None:
    for target in ("/channels/other", "/channels/", "/channels/bot/", "/channels/%62ot", "//channels/bot", "/bot"):
        assert await house.send(target=target) == (404, b""), target
    assert await house.send(target="/hooks/bot") == (404, b"")
    for method in ("PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"):
        assert await house.send(b"", method=method) == (404, b"")
    assert await house.send(host="evil.example.com") == (404, b"")
    for path in ("/", "/api/v1/status", "/api/v1/shutdown", "/index.html", "/channels/../api/v1/status"):
        assert await house.send(b"", method="GET", target=path) == (404, b"")
    assert house.channels.seen == []
    assert (await house.send(host="hooks.example.com"))[0] == 200


async def test_without_channels_there_is_no_way_in(house: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await house.send())[0] == 200
    house.channels.fault = NotFound("it is off")
    assert await house.send() == (404, b"")
    house.channels.fault = MachineDied("its process is gone")
    assert await house.send() == (503, b"")


async def test_what_is_doubled_fits_no_signature_and_what_is_too_large_is_not_read(house: Listener) -> None:
    assert (await house.send(headers=[SIGNED, SIGNED]))[0] == 401
    assert house.channels.seen[-1].headers["x-signed"] == "yes, yes"
    before = len(house.channels.seen)
    assert (await house.send(b"x" * (MOST_BYTES + 1)))[0] == 413
    assert (await house.send(b"x", [SIGNED, ("Content-Length", "5"), ("Content-Length", "1")]))[0] in (400, 413)
    assert (await house.send(b"x", [("Host", "127.0.0.1"), SIGNED]))[0] in (400, 404)
    assert len(house.channels.seen) == before


async def test_a_process_that_does_not_answer_is_waited_for_no_longer(
    house: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_requests, "ANSWER_S", 0.2)
    house.channels.waits.clear()
    assert await house.send() == (503, b"")


async def test_a_flood_of_what_is_not_signed_ends_before_the_process(house: Listener) -> None:
    answers = [(await house.send(headers=[]))[0] for _ in range(PLACES + 20)]
    assert answers.count(401) == PLACES == len(house.channels.seen) and answers[-20:] == [429] * 20
    house.clock.advance(2 / PLACES_PER_S)
    assert [(await house.send())[0] for _ in range(5)] == [200] * 5, "what is signed gives its place back"
    assert [(await house.send(headers=[]))[0] for _ in range(3)] == [401, 401, 429]


async def test_no_more_are_under_way_at_a_time_than_there_are_places(house: Listener) -> None:
    house.channels.waits.clear()
    sent = [asyncio.create_task(raw(house.port, request())) for _ in range(PLACES + 8)]
    done = 0
    while done < 8:
        done = sum(task.done() for task in sent)
        await asyncio.sleep(0)
    house.channels.waits.set()
    answers = [await task for task in sent]
    assert sorted(answer[9:12] for answer in answers) == [b"200"] * PLACES + [b"429"] * 8
    assert (await house.send())[0] == 200


async def test_whoever_sends_slowly_holds_nobody_up(house: Listener) -> None:
    slow = [await asyncio.open_connection("127.0.0.1", house.port) for _ in range(30)]
    for _, writer in slow:
        writer.write(b"POST /channels/bot HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{")
    began = time.monotonic()
    assert (await house.send())[0] == 200 and time.monotonic() - began < 5
    assert len(house.channels.seen) == 1, "what has not come whole is nobody's request"
    for _, writer in slow:
        writer.close()


def request(path: bytes = b"/channels/bot", body: bytes = b"{}") -> bytes:
    head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Signed: yes\r\nContent-Length: %d\r\n\r\n"
    return head % (path, len(body)) + body


async def raw(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        with suppress(ConnectionError):
            async with asyncio.timeout(20):
                return await reader.read(4096)
        return b""
    finally:
        writer.close()


def spoiled(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(changed))
        match chance.randrange(3):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                del changed[at : at + chance.randrange(20)]
            case _:
                changed[at:at] = chance.randbytes(chance.randrange(20))
    return bytes(changed)


PATHS: tuple[Callable[[random.Random], bytes], ...] = (
    lambda chance: b"/channels/bot",
    lambda chance: b"/channels/" + bytes(chance.randrange(33, 127) for _ in range(chance.randrange(40))),
    lambda chance: b"/hooks/" + bytes(chance.randrange(33, 127) for _ in range(chance.randrange(10))),
    lambda chance: b"/api/v1/" + chance.choice([b"status", b"shutdown", b"live", b"schedules", b"secrets"]),
    lambda chance: b"/" + chance.randbytes(8).hex().encode(),
)


async def fuzzed(house: Listener, count: int) -> None:
    """Send so many requests that are nearly right: each reaches the channel as it is or nothing at all."""
    chance = random.Random(27)
    for number in range(count):
        data = spoiled(chance, request(chance.choice(PATHS)(chance), chance.randbytes(chance.randrange(60))))
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(data)
        writer.write_eof()
        answer = b""
        with suppress(ConnectionError):
            async with asyncio.timeout(20):
                answer = await reader.read(4096)
        writer.close()
        assert answer[:12] != b"HTTP/1.1 500" and answer[9:12] in (b"", *STATUSES), (data, answer)
        if number % 20 == 0:
            house.clock.advance(60)
    assert all(one.method in ("GET", "POST") and len(one.body) <= MOST_BYTES for one in house.channels.seen)
    assert house.channels.seen, "some of it was whole"
    assert not [one for one in house.log.records if one.levelname == "ERROR"]
    house.clock.advance(60)
    assert (await house.send())[0] == 200


STATUSES = tuple(str(one).encode() for one in (101, 200, 400, 401, 404, 413, 421, 426, 429, 431))


async def test_fuzzed_requests_reach_nothing_else(house: Listener) -> None:
    await fuzzed(house, 500)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_ten_thousand_fuzzed_requests_reach_nothing_else(house: Listener) -> None:
    await fuzzed(house, 10_000)


def test_a_listener_is_spoken_to_as_the_platforms_do(caplog: pytest.LogCaptureFixture) -> None:
    async def opened() -> None:
        async with listening(caplog) as house:

            def ask() -> tuple[int, str | None]:
                connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=10)
                connection.request("POST", "/channels/bot", b"{}", {"X-Signed": "yes"})
                answer = connection.getresponse()
                return answer.status, answer.getheader("content-type")

            assert await asyncio.to_thread(ask) == (200, "application/json")
            with socket.create_connection(("127.0.0.1", house.port), timeout=10) as plain:
                plain.sendall(
                    b"GET /channels/bot HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                )
                assert (await asyncio.to_thread(plain.recv, 1000)).startswith(b"HTTP/1.1 404")

    asyncio.run(opened())
