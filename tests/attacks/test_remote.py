"""Attacks on the page from outside: at its public name without a passkey or with another's, forged headers and codes.

The phone here speaks with the daemon as a proxy would that passes on everything, so that no proxy helps.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from stead.client import ApiError
from tests.attacks.test_door import Visitor
from tests.fakes.authenticator import Authenticator
from tests.fakes.phone import COOKIE, Phone
from tests.fakes.proxies import KINDS
from tests.flows.away import behind, direct, paired, reachable
from tests.flows.house import LivingHome
from tests.promises import promise

PUBLIC = {"remote/pair", "remote/pair/finish", "remote/challenge", "remote/sign-in"}
"""What answers who is not signed in; the page's files apart, which are no secret."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    """A home whose page has a public name."""
    with reachable(tmp_path_factory.mktemp("reach")) as living:
        yield living


@pytest.fixture(scope="module")
def phone(house: LivingHome) -> Phone:
    """One that is paired and signed in, for all: how often a passkey may be tried is limited."""
    return paired(house, direct(house))


def link_of(house: LivingHome, name: str = "eve-phone") -> str:
    return str(house.post("/remote/pairing", {"name": name})["url"])


def operations(house: LivingHome) -> list[tuple[str, str]]:
    paths = house.get("/openapi.json")["paths"]
    return [(method.upper(), path[1:]) for path, methods in paths.items() for method in methods]


@promise("SEC-12.tls")
def test_without_a_passkey_nothing_answers_at_the_public_name_but_the_way_in(house: LivingHome) -> None:
    stranger = direct(house)
    bearer = f"Bearer {json.loads(house.home.address.read_text())['bearer']}"
    for method, path in operations(house):
        body: object = None if method == "GET" else {}
        for extra in ({}, {"Authorization": bearer}, {"Cookie": f"{COOKIE}=guess"}, {"Cookie": "stead=guess"}):
            status = stranger.ask(method, path.replace("{", "").replace("}", ""), body, **extra).status_code
            assert status == (401 if path not in PUBLIC else 400 if "challenge" not in path else 200), (method, path)


def test_no_link_of_this_computer_and_no_code_of_it_signs_in_outside(house: LivingHome, phone: Phone) -> None:
    code = house.post("/sign-in-codes")["code"]
    stranger = direct(house)
    assert stranger.ask("POST", "sign-in", {"code": code}).status_code == 401
    assert phone.ask("POST", "sign-in", {"code": code}).status_code == 403
    for path, body in (("sign-in-codes", {}), ("shutdown", {}), ("remote/pairing", {"name": "eve-phone"})):
        assert stranger.ask("POST", path, body).status_code == 401
        assert phone.ask("POST", path, body).status_code == 403


def test_cookies_of_one_origin_are_worth_nothing_at_the_other(house: LivingHome, phone: Phone) -> None:
    import httpx2

    with httpx2.Client(timeout=15, trust_env=False) as client:
        visitor = Visitor(house, client)
        local = visitor.sign_in(house)
        assert visitor.ask("GET", "/api/v1/status", visitor.as_page(local)).status_code == 200
        for cookie in (f"stead={phone.cookie}", f"{COOKIE}={phone.cookie}", f"{COOKIE}={local}"):
            headers = visitor.as_page() | {"Cookie": cookie}
            assert visitor.ask("GET", "/api/v1/status", headers).status_code == 401, cookie
    for cookie in (f"{COOKIE}={local}", f"stead={local}", f"stead={phone.cookie}", f"__host-stead={phone.cookie}"):
        assert phone.ask("GET", "status", Cookie=cookie).status_code == 401, cookie
    assert phone.ask("GET", "status").status_code == 200


def test_the_cookie_stays_with_the_public_name_and_goes_over_tls_alone(house: LivingHome, phone: Phone) -> None:
    cookie = phone.sign_in().headers["set-cookie"]
    parts = {part.strip() for part in cookie.split(";")[1:]}
    assert cookie.startswith(f"{COOKIE}=") and {"Path=/", "Secure", "HttpOnly", "SameSite=Strict"} <= parts
    assert not any(part.lower().startswith("domain") for part in parts)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "STEAD.example.com.",
        "stead.example.com.evil.example.com",
        "stead.example.com:443",
        "stead.example.com:80",
        "stead.example.com@evil.example.com",
        "example.com",
        "127.0.0.1",
        "localhost",
        "",
    ],
)
def test_the_proxys_port_answers_the_public_name_alone(house: LivingHome, phone: Phone, host: str) -> None:
    assert phone.ask("GET", "status", Host=host).status_code in (400, 421)
    assert phone.ask("GET", "/", Host=host).status_code in (400, 421)


def test_the_names_of_this_computer_do_not_answer_at_the_proxys_port_nor_the_public_name_at_the_pages(
    house: LivingHome, phone: Phone
) -> None:
    address = json.loads(house.home.address.read_text())
    bearer = f"Bearer {address['bearer']}"
    for port in (address["port"], phone.port):
        for host in (f"127.0.0.1:{port}", f"{address['name']}.localhost:{port}"):
            assert phone.ask("GET", "status", Host=host, Authorization=bearer, Origin=None).status_code == 421
    inside = Phone(phone.url, address["port"], cookie=phone.cookie)
    assert inside.ask("GET", "status").status_code == 421
    assert inside.ask("POST", "remote/challenge", {}).status_code == 421


def test_what_proxies_write_into_headers_changes_nothing(house: LivingHome, phone: Phone) -> None:
    address = json.loads(house.home.address.read_text())
    local = f"{address['name']}.localhost:{address['port']}"
    forged = {"X_Forwarded_Host": local, "X_Forwarded_Proto": "http", "X_Forwarded_For": "127.0.0.1"}
    forged |= {"Forwarded": f"for=127.0.0.1;host={local};proto=http", "X_Real_IP": "127.0.0.1", "X_Original_URL": "/"}
    stranger = direct(house)
    assert stranger.ask("GET", "status", **forged).status_code == 401
    assert stranger.ask("GET", "status", Host="evil.example.com", X_Forwarded_Host=phone.host).status_code == 421
    assert phone.ask("GET", "status", Host="evil.example.com", X_Forwarded_Host=phone.host).status_code == 421
    assert phone.ask("POST", "stop", {}, Origin="https://evil.example.com", **forged).status_code == 403
    plain = Phone(phone.url, address["port"], cookie=phone.cookie)
    assert plain.ask("GET", "status", Host="127.0.0.1", X_Forwarded_Host=local).status_code == 421


@pytest.mark.parametrize(
    "change",
    [
        {"Origin": "https://evil.example.com"},
        {"Origin": "http://stead.example.com"},
        {"Origin": "https://stead.example.com:8443"},
        {"Origin": "null"},
        {"Origin": None},
        {"X_Stead": None},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_site_changes_nothing_with_the_phones_cookie(
    house: LivingHome, phone: Phone, change: dict[str, str | None]
) -> None:
    head = house.get("/status")["head"]
    for path, body in (("stop", {"why": "forged"}), ("remote/challenge", {}), ("remote/pair", {"code": "x"})):
        assert phone.ask("POST", path, body, **change).status_code in (403, 415), path
    assert house.get("/status")["head"] == head


def test_a_websocket_and_a_stream_of_another_origin_are_refused(house: LivingHome, phone: Phone) -> None:
    with phone.socket():
        pass
    for origin in ("https://evil.example.com", "http://stead.example.com", "null", None):
        with pytest.raises(InvalidStatus) as refused, phone.socket(Origin=origin):
            pass
        assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus) as nobody, direct(house).socket():
        pass
    assert nobody.value.response.status_code == 401
    assert phone.ask("GET", "events/stream", Origin=None, Sec_Fetch_Site="cross-site").status_code == 403


def test_the_page_cannot_be_framed_and_says_so_outside_too(house: LivingHome) -> None:
    page = direct(house).ask("GET", "/")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert "access-control-allow-origin" not in page.headers


@promise("SEC-12.pairing")
def test_a_code_is_guessed_five_times_at_most_and_counts_once(house: LivingHome) -> None:
    stranger, link = direct(house), link_of(house)
    for _ in range(5):
        assert stranger.ask("POST", "remote/pair", {"code": "guess"}).status_code == 401
    assert stranger.ask("POST", "remote/pair", {"code": link.partition("#")[2]}).status_code == 401
    link = link_of(house)
    assert stranger.pair(link).status_code == 200
    code = {"code": link.partition("#")[2]}
    assert direct(house).ask("POST", "remote/pair", code).status_code == 401
    assert stranger.ask("GET", "status").status_code == 401  # it makes a passkey, and lets nobody in
    house.client().command("DELETE", "/remote/devices/eve-phone")


@pytest.mark.parametrize("origin", ["https://evil.example.com", "http://stead.example.com"])
def test_a_page_that_poses_as_ours_gets_no_passkey_made_and_none_used(
    house: LivingHome, phone: Phone, origin: str
) -> None:
    fooled = direct(house)
    fooled.authenticator.origin = origin
    assert fooled.pair(link_of(house)).status_code == 401
    signed = replace(phone.authenticator, origin=origin).get(phone.options("challenge", {}))
    assert phone.ask("POST", "remote/sign-in", {"credential": signed}).status_code == 401


def test_an_answer_is_worth_nothing_a_second_time_nor_for_another_rp_nor_from_another_key(
    house: LivingHome, phone: Phone
) -> None:
    signed = phone.authenticator.get(phone.options("challenge", {}))
    assert phone.ask("POST", "remote/sign-in", {"credential": signed}).status_code == 200
    assert phone.ask("POST", "remote/sign-in", {"credential": signed}).status_code == 401
    other = phone.authenticator.get(phone.options("challenge", {}), rp_id="example.com")
    assert phone.ask("POST", "remote/sign-in", {"credential": other}).status_code == 401
    stranger = Authenticator(phone.url, phone.authenticator.credential, count=99)
    forged = stranger.get(phone.options("challenge", {}))
    assert phone.ask("POST", "remote/sign-in", {"credential": forged}).status_code == 401
    copied = replace(phone.authenticator, count=0).get(phone.options("challenge", {}))
    assert phone.ask("POST", "remote/sign-in", {"credential": copied}).status_code == 401


def test_passkeys_count_for_nothing_on_this_computer_itself(house: LivingHome, phone: Phone) -> None:
    signed = phone.authenticator.get(phone.options("challenge", {}))
    for path, body in (("challenge", {}), ("sign-in", {"credential": signed}), ("pair", {"code": "x"})):
        with pytest.raises(Exception, match="public address"):
            house.post(f"/remote/{path}", body)


def test_a_removed_device_that_is_paired_again_under_its_name_does_not_get_its_old_session_back(
    house: LivingHome,
) -> None:
    phone = paired(house, direct(house), "lost-phone")
    house.client().command("DELETE", "/remote/devices/lost-phone")
    assert phone.ask("GET", "status").status_code == 401
    assert direct(house).pair(link_of(house, "lost-phone")).status_code == 200
    assert phone.ask("GET", "status").status_code == 401
    assert phone.sign_in().status_code == 401


@pytest.fixture
def renaming(tmp_path: Path) -> Iterator[LivingHome]:
    """Another home: its test signs in three times, and the shared one has none left."""
    with reachable(tmp_path) as living:
        yield living


def test_a_device_takes_no_name_of_another_nor_one_that_cannot_be_and_renaming_gives_nothing_new(
    renaming: LivingHome,
) -> None:
    house = renaming
    phone = paired(house, direct(house))
    other = paired(house, direct(house), "other-phone")
    before = {one["name"]: one["credential"] for one in house.get("/remote")["devices"]}
    mine = next(name for name in before if name != "other-phone")
    wanted = (("other-phone", 409), (mine, 409), ("", 400), ("A b", 400), ("a" * 32, 400), ("a:b", 400))
    for n, (to, status) in enumerate(wanted):
        asked = phone.ask("PUT", f"remote/devices/{mine}", {"to": to}, Idempotency_Key=f"renaming-to-{n}")
        assert asked.status_code == status, (to, asked.text)
    for name in ("", "Ada", "a:b", "a\nb", "a" * 32):
        with pytest.raises(ApiError, match="cannot be"):
            house.post("/remote/pairing", {"name": name})
    for path, status in (("no-such-phone", 404), ("%2e%2e", 404), ("A", 404)):
        asked = phone.ask("PUT", f"remote/devices/{path}", {"to": "new-phone"}, Idempotency_Key="renaming-of-none")
        assert asked.status_code == status, (path, asked.text)
    stranger = direct(house).ask("PUT", "remote/devices/other-phone", {"to": "eve"}, Idempotency_Key="renaming-by-eve")
    assert stranger.status_code == 401
    assert {one["name"]: one["credential"] for one in house.get("/remote")["devices"]} == before

    assert phone.ask(
        "PUT", "remote/devices/other-phone", {"to": "third-phone"}, Idempotency_Key="renaming-3"
    ).is_success
    assert direct(house).pair(link_of(house, "other-phone")).status_code == 200
    house.client().command("DELETE", "/remote/devices/third-phone")
    assert other.ask("GET", "status").status_code == 401 and other.sign_in().status_code == 401
    house.client().command("DELETE", "/remote/devices/other-phone")


def raw(port: int, request: bytes) -> bytes:
    """What comes back for exactly these bytes, until the other side hangs up or says nothing for a second."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(request)
        connection.settimeout(2)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except TimeoutError:
            pass
        return answer


SMUGGLED = b"GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(SMUGGLED),
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(SMUGGLED),
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Content-Length: +4\r\n",
        b"Host: evil.example.com\r\n",
        b"X: y\r\n\x00Content-Length: 4\r\n",
    ],
)
def test_what_two_parsers_could_read_differently_is_refused(house: LivingHome, head: bytes) -> None:
    """Of a proxy that passes it on, nothing of one request becomes another one."""
    start = (
        b"POST /api/v1/remote/challenge HTTP/1.1\r\nHost: stead.example.com\r\nOrigin: https://stead.example.com\r\n"
    )
    request = start + b"X-Stead: 1\r\nContent-Type: application/json\r\n" + head + b"\r\n0\r\n\r\n" + SMUGGLED
    answer = raw(direct(house).port, request)
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 421")), answer[:200]
    assert b"200 OK" not in answer and b'"head"' not in answer


@pytest.mark.parametrize("kind", KINDS)
def test_behind_a_real_proxy_the_same_holds(kind: str, tmp_path: Path) -> None:
    with behind(kind, tmp_path) as (house, proxy):
        phone = paired(house, Phone(proxy.url(), proxy.port, proxy.context()))
        address = json.loads(house.home.address.read_text())
        local = f"{address['name']}.localhost:{address['port']}"
        bearer = f"Bearer {address['bearer']}"
        for host in (local, f"127.0.0.1:{address['port']}", "evil.example.com", ""):
            answer = phone.ask("GET", "status", Host=host, Authorization=bearer)
            assert answer.status_code in (400, 421) or not answer.content, (host, answer.text)
        stranger = Phone(proxy.url(), proxy.port, proxy.context())
        forged = {"X_Forwarded_Host": local, "X_Forwarded_For": "127.0.0.1", "X_Forwarded_Proto": "http"}
        assert stranger.ask("GET", "status", **forged).status_code == 401
        assert phone.ask("POST", "stop", {}, Origin="https://evil.example.com").status_code == 403
        with pytest.raises(InvalidStatus), phone.socket(Origin="https://evil.example.com"):
            pass
        with pytest.raises(InvalidStatus), stranger.socket():
            pass
