"""The door over the wire: what the rules mean for real requests, and what every answer carries."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import time

import pytest
from websockets.exceptions import InvalidStatus

from stead.domain.errors import Conflict
from stead.domain.providers import ProviderRow
from stead.web.backend import Pace
from stead.web.server import listen
from tests.web.door import BEARER, DEADLINE_S, Door, open_door
from tests.web.simulator import Home, SetClock


async def test_a_browser_signs_in_with_the_code_once_and_out_again(door: Door) -> None:
    async with door.cli() as cli:
        made = (await door.post(cli, "/sign-in-codes")).json()
        assert made["url"] == f"{door.page}/#code={made['code']}"
        assert (await door.post(cli, "/sign-in", {"code": made["code"]})).status_code == 403
    async with door.browser("") as page:
        answer = await door.post(page, "/sign-in", {"code": made["code"]})
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        for rule in ("HttpOnly", "SameSite=Strict", "Path=/"):
            assert rule in cookie
        assert "domain" not in cookie.lower()
        assert (await door.post(page, "/sign-in", {"code": made["code"]})).status_code == 401
    token = cookie.partition(";")[0].removeprefix("stead=")
    async with door.browser(token) as page:
        assert (await page.get("/api/v1/status")).status_code == 200
        out = await door.post(page, "/sign-out")
        assert "Max-Age=0" in out.headers["set-cookie"]
        assert (await page.get("/api/v1/status")).status_code == 401


async def test_guessing_codes_is_slowed_down(door: Door) -> None:
    async with door.browser("") as page:
        for _ in range(5):
            assert (await door.post(page, "/sign-in", {"code": "guess"})).status_code == 401
        slowed = await door.post(page, "/sign-in", {"code": "guess"})
    assert slowed.status_code == 429
    assert int(slowed.headers["retry-after"]) >= 1
    assert slowed.json()["error"]["code"] == "rate"


async def test_a_cookie_is_never_accepted_on_127_0_0_1_nor_a_bearer_on_the_page(door: Door) -> None:
    cookie = await door.sign_in()
    async with door.client({"Cookie": f"stead={cookie}"}) as wrong:
        assert (await wrong.get("/api/v1/status")).status_code == 401
    async with door.client({"Host": door.page_host, "Authorization": f"Bearer {BEARER}"}) as wrong:
        assert (await wrong.get("/api/v1/status")).status_code == 401


@pytest.mark.parametrize("path", ["/", "/api/v1/status", "/api/v1/objectives", "/api/v1/events/stream", "/nowhere"])
async def test_a_foreign_host_gets_nothing(door: Door, path: str) -> None:
    async with door.cli(Host=f"rebound.example.com:{door.port}") as cli:
        answer = await cli.get(path)
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "host"


async def test_a_header_that_decides_may_come_only_once(door: Door) -> None:
    request = (
        f"GET /api/v1/status HTTP/1.1\r\nHost: {door.api_host}\r\nHost: evil.example.com\r\n"
        f"Authorization: Bearer {BEARER}\r\nConnection: close\r\n\r\n"
    )
    assert b" 400 " in await raw(door, request.encode())


async def test_a_forged_request_of_another_page_changes_nothing(door: Door) -> None:
    cookie = await door.sign_in()
    forms: list[dict[str, str]] = [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Origin": "http://evil.example.com"},
        {"Content-Type": "application/json", "Origin": door.page},
        {"Content-Type": "application/json", "Origin": door.page, "X-Stead": "1", "Sec-Fetch-Site": "cross-site"},
        {"Content-Type": "application/json", "X-Stead": "1"},
    ]
    for form in forms:
        headers = {"Host": door.page_host, "Cookie": f"stead={cookie}", "Idempotency-Key": door.key(), **form}
        async with door.client(headers) as forged:
            answer = await forged.post("/api/v1/stop", content=b'{"why": "forged"}')
        assert answer.status_code in (403, 415), form
    assert door.home.journal.head() == 0


async def test_no_answer_opens_the_api_to_another_origin(door: Door) -> None:
    async with door.browser(await door.sign_in(), Origin="http://evil.example.com") as page:
        for method in ("GET", "OPTIONS"):
            answer = await page.request(method, "/api/v1/status", headers={"Access-Control-Request-Method": "POST"})
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_a_websocket_is_refused_like_any_request(door: Door) -> None:
    cookie = await door.sign_in()
    for changed, expected in (
        ({"cookie": "wrong"}, 401),
        ({"cookie": cookie, "origin": "http://evil.example.com"}, 403),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"cookie": cookie, "Authorization": "", "origin": door.page}, 101),
    ):
        if expected == 101:
            async with door.socket(**changed):
                continue
        with pytest.raises(InvalidStatus) as refused:
            async with door.socket(**changed):
                pass
        assert refused.value.response.status_code == expected
        assert json.loads(refused.value.response.body or b"")["error"]["message"]


async def test_every_answer_carries_the_security_headers(door: Door) -> None:
    async with door.browser(await door.sign_in()) as page, door.cli(Host="evil.example.com") as stranger:
        answers = [
            await page.get("/"),
            await page.get("/api/v1/status"),
            await page.get("/api/v1/objectives"),
            await page.get("/api/v1/objectives/none"),
            await page.get("/nowhere"),
            await stranger.get("/"),
        ]
    for answer in answers:
        policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
        assert policy["frame-ancestors"] == policy["form-action"] == "'none'"
        assert policy["trusted-types"] == "stead-push"  # of one constant: features/notifications/push.ts
        assert policy["script-src"] == policy["connect-src"] == policy["font-src"] == policy["worker-src"] == "'self'"
        assert policy["require-trusted-types-for"] == "'script'"
        assert "http" not in answer.headers["content-security-policy"], "everything comes from the daemon alone"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
    assert all(answer.headers["cache-control"] == "no-store" for answer in answers[1:4])


async def test_the_page_is_served_at_its_own_name_only(door: Door) -> None:
    async with door.client({"Host": door.page_host}) as page, door.cli() as cli:
        index = await page.get("/")
        assert index.status_code == 200
        assert index.headers["content-type"] == "text/html; charset=utf-8"
        assert (await page.get("/", headers={"If-None-Match": index.headers["etag"]})).status_code == 304
        assert (await page.get("/../auth.py")).status_code == 404
        assert (await page.get("/%2e%2e/auth.py")).status_code == 404
        assert (await page.post("/", json={}, headers={"Origin": door.page})).status_code == 405
        assert (await cli.get("/")).status_code == 404


async def test_a_body_that_never_ends_is_given_up(home: Home) -> None:
    async with open_door(home, Pace(body_s=0.2)) as door:
        head = (
            f"POST /api/v1/stop HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n"
            "Content-Type: application/json\r\nIdempotency-Key: never-ending\r\nContent-Length: 100\r\n\r\n{"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(head.encode())
        async with asyncio.timeout(DEADLINE_S):
            assert b" 408 " in await reader.readline()
        writer.close()
        await writer.wait_closed()
    assert home.journal.head() == 0


@pytest.mark.parametrize("announced", ["Content-Length: 2000001\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n"])
async def test_a_body_that_is_too_large_is_refused_whether_or_not_it_says_so(door: Door, announced: str) -> None:
    head = (
        f"POST /api/v1/stop HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: too-large\r\n{announced}"
    )
    body = f"{2_000_001:x}\r\n{' ' * 2_000_001}\r\n0\r\n\r\n" if "chunked" in announced else ""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write((head + body).encode())
    async with asyncio.timeout(DEADLINE_S):
        assert b" 413 " in await reader.readline()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    assert door.home.journal.head() == 0


@pytest.mark.parametrize(("size_bytes", "status"), [(2_000_001, b" 400 "), (32_000_001, b" 413 ")])
async def test_a_file_to_import_may_be_longer_and_is_bounded_too(door: Door, size_bytes: int, status: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    head = (
        f"POST /api/v1/memories/import HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: long-file\r\nContent-Length: {size_bytes}\r\n\r\n"
    )
    writer.write(head.encode() + (b" " * size_bytes if status == b" 400 " else b""))
    async with asyncio.timeout(DEADLINE_S):
        assert status in await reader.readline()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_an_answer_that_takes_too_long_is_given_up(home: Home) -> None:
    home.hold.clear()
    async with open_door(home, Pace(answer_s=0.2)) as door, door.cli() as cli:
        answer = await door.post(cli, "/stop")
        home.hold.set()
    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "timeout"


@pytest.mark.parametrize(
    "request_bytes",
    [b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET /\r\n\r\n"],
)
async def test_what_is_not_http_is_turned_away(door: Door, request_bytes: bytes) -> None:
    answer = await raw(door, request_bytes)
    assert answer == b"" or b" 400 " in answer or b" 421 " in answer
    assert answer == b"" or json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
    async with door.cli() as cli:
        assert (await cli.get("/api/v1/status")).status_code == 200


async def test_a_head_that_never_ends_is_turned_away(door: Door) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(b"GET / HTTP/1.1\r\nX-Endless: ")
    sent = 0
    async with asyncio.timeout(DEADLINE_S):
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof() and sent < 50_000_000:
                writer.write(b"x" * 20_000)
                sent += 20_000
                await writer.drain()
                if b" 400 " in await read_some(reader):
                    break
    assert sent < 5_000_000
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_a_large_body_in_one_piece_with_its_head_is_not_taken_for_a_head(door: Door) -> None:
    body = json.dumps({"goal": "x" * 150_000, "directory": "/"})
    head = (
        f"POST /api/v1/objectives HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: in-one-piece\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    assert b" 201 " in await raw(door, (head + body).encode(), half_close=False)


async def test_a_caller_that_hangs_up_in_the_middle_of_a_body_changes_nothing(door: Door) -> None:
    request = (
        f"POST /api/v1/stop HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n"
        'Content-Type: application/json\r\nIdempotency-Key: hung-up-on\r\nContent-Length: 99\r\n\r\n{"why": '
    )
    await raw(door, request.encode())
    async with door.cli() as cli:
        assert (await cli.get("/api/v1/status")).json()["head"] == 0


class BrokenHome(Home):
    """A home with a bug."""

    async def providers(self) -> tuple[ProviderRow, ...]:
        raise RuntimeError("a bug, and what it knows")


async def test_a_bug_is_answered_for_without_telling_what_it_knows(
    clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_door(BrokenHome(clock)) as door, door.cli() as cli:
        answer = await cli.get("/api/v1/providers")
        assert (await cli.get("/api/v1/status")).status_code == 200
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "stead logs" in answer.json()["error"]["message"]
    assert "what it knows" not in answer.text
    assert "a bug, and what it knows" in caplog.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_door_loads_no_library_that_it_does_not_need() -> None:
    script = (
        "import sys; import stead.web.app, stead.web.server; "
        "print(sorted({'fastapi', 'pydantic', 'websockets', 'httpx2', 'sqlcipher3'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


async def test_no_secret_reaches_a_log(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with door.cli() as cli:
        code = (await door.post(cli, "/sign-in-codes")).json()["code"]
        await door.post(cli, "/providers/mine/key", {"key": "sk-example-secret"})
    async with door.browser("") as page:
        cookie = (await door.post(page, "/sign-in", {"code": code})).headers["set-cookie"]
    token = cookie.partition(";")[0].removeprefix("stead=")
    async with door.socket(cookie=token) as watching:
        await watching.recv()
    for secret in (code, token, BEARER, "sk-example-secret"):
        ours = [record for record in caplog.records if not record.name.startswith(("websockets", "httpx", "httpcore"))]
        assert secret not in "\n".join(record.getMessage() for record in ours)


async def test_it_listens_on_127_0_0_1_alone(door: Door) -> None:
    assert door.server.address == ("127.0.0.1", door.port)
    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)} - {"127.0.0.1"}
    for address in (*others, "127.0.0.2", "::1"):
        with pytest.raises(OSError):
            socket.create_connection((address, door.port), timeout=2).close()


def test_a_port_in_use_is_a_clear_error() -> None:
    with listen(0) as taken:
        taken.listen()
        with pytest.raises(Conflict, match=r"config\.toml"):
            listen(taken.getsockname()[1])


async def test_leaving_takes_at_most_two_seconds_with_streams_open(home: Home) -> None:
    async with (
        open_door(home) as door,
        door.cli() as cli,
        door.socket() as one,
        door.socket() as two,
        cli.stream("GET", "/api/v1/events/stream") as three,
    ):
        await one.recv()
        await two.recv()
        began = time.monotonic()
        await door.server.stop()
        assert time.monotonic() - began < 2.0
        async with asyncio.timeout(DEADLINE_S):
            await one.wait_closed()
            assert one.close_code == 1001
            assert b"hello" in await three.aread()


async def test_a_request_under_way_is_finished_before_leaving(home: Home) -> None:
    async with open_door(home) as door, door.cli() as cli:
        home.hold.clear()
        body = {"goal": "last", "directory": os.getcwd()}
        asking = asyncio.create_task(cli.post("/api/v1/objectives", json=body, headers={"Idempotency-Key": "last-one"}))
        async with asyncio.timeout(DEADLINE_S):
            await home.entered.wait()
            stopping = asyncio.create_task(door.server.stop())
            await asyncio.sleep(0)
            home.hold.set()
            assert (await asking).status_code == 201
            await stopping


async def read_some(reader: asyncio.StreamReader) -> bytes:
    """What is there within a moment."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.01):
            return await reader.read(1000)
    return b""


async def raw(door: Door, request: bytes, *, half_close: bool = True) -> bytes:
    """Send bytes, give what comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(request)
    if half_close:
        writer.write_eof()
    async with asyncio.timeout(DEADLINE_S):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def test_a_port_that_is_chosen_is_none_that_systems_give_to_outgoing_connections() -> None:
    """A watcher that tries to reach a daemon while it starts again must not be given its port."""
    with listen(0) as one, listen(0) as other:
        ports = {one.getsockname()[1], other.getsockname()[1]}
    assert len(ports) == 2
    assert all(20_000 <= port < 32_768 for port in ports)
