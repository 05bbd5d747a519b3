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


@pytest.fixture
def house(tmp_path: Path) -> Iterator[LivingHome]:
    """A running daemon of a fresh home."""
    living = LivingHome(tmp_path / "home", forked=True)
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
