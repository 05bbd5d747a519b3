"""The page from outside: behind Caddy and nginx as the guide has them, signed in by a passkey."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.fakes.phone import Phone
from tests.fakes.pictures import chunk, png
from tests.fakes.proxies import HOOKS, Proxy, free_port, proxied
from tests.flows.away import behind, direct, paired, reachable
from tests.flows.house import LivingHome
from tests.promises import promise

KEY = "an-invented-key-of-github"


@pytest.fixture(scope="module", params=["caddy", pytest.param("nginx", marks=pytest.mark.long)])
def outside(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LivingHome, Proxy]]:
    """A home behind each proxy."""
    with behind(request.param, tmp_path_factory.mktemp(request.param)) as both:
        yield both


def phone_of(proxy: Proxy) -> Phone:
    return Phone(proxy.url(), proxy.port, proxy.context())


@promise("SEC-12.tls", "SEC-12.guides")
def test_behind_a_real_proxy_the_page_loads_and_a_paired_phone_watches_uploads_and_acts(
    outside: tuple[LivingHome, Proxy], tmp_path: Path
) -> None:
    house, proxy = outside
    phone = phone_of(proxy)
    page = phone.ask("GET", "/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert phone.ask("GET", "/", Host="evil.example.com").status_code in (200, 421)  # Caddy answers it empty, by itself
    assert b"Stead" not in phone.ask("GET", "/", Host="evil.example.com").content
    assert phone.ask("GET", "status").status_code == 401

    paired(house, phone)
    assert phone.ask("GET", "status").json()["version"]
    (tmp_path / "notes").mkdir()
    with phone.socket() as live, phone.stream() as lines:
        wish = {"goal": "List the files", "directory": str(tmp_path / "notes")}
        made = phone.ask("POST", "objectives", wish, Idempotency_Key="goal-from-phone")
        session = made.json()["session"]
        assert any(session in line for line in lines)
        while session not in live.recv(20):
            pass
    picture = base64.b64encode(png(400, 300, chunk(b"tEXt", b"Comment\0" + b"x" * 9_000_000))).decode()
    sent = phone.ask("POST", "attachments", {"name": "sea.png", "data": picture}, Idempotency_Key="an-upload-1")
    assert sent.status_code == 201, sent.text


@promise("SEC-12.pairing")
def test_a_phone_that_is_paired_signs_in_by_its_passkey_until_it_is_removed(
    outside: tuple[LivingHome, Proxy],
) -> None:
    house, proxy = outside
    phone = paired(house, phone_of(proxy), "eve-phone")
    assert phone.ask("POST", "sign-out", {}).status_code == 200
    assert phone.ask("GET", "status").status_code == 401
    assert phone.sign_in().status_code == 200
    assert [event["name"] for event in house.bodies("home", "device.signed_in")][-2:] == ["eve-phone"] * 2
    with phone.socket() as live:
        house.client().command("DELETE", "/remote/devices/eve-phone")
        with pytest.raises(ConnectionClosed):
            while True:
                live.recv(20)
    assert phone.ask("GET", "status").status_code == 401
    assert phone.sign_in().status_code == 401


@promise("SEC-12.pairing")
def test_the_command_line_shows_a_code_that_pairs_and_lists_and_removes_devices(tmp_path: Path) -> None:
    with reachable(tmp_path) as house:
        assert "No device is paired" in house.cli("remote").stdout
        shown = house.cli("remote", "pair", "ada-phone").stdout
        assert "█" in shown
        link = next(line for line in shown.splitlines() if line.startswith("https://"))
        assert link.startswith("https://stead.example.com/pair#")
        phone = direct(house)
        assert phone.pair(link).status_code == 200
        assert "never" in house.cli("remote", "list").stdout
        assert phone.sign_in().status_code == 200
        told = house.cli("remote", "list").stdout
        assert "ada-phone" in told and "never" not in told
        assert json.loads(house.cli("remote", "list", "--json").stdout)["name"] == "ada-phone"
        again = house.cli("remote", "pair", "ada-phone")
        assert again.returncode != 0 and "stead remote remove ada-phone" in again.stderr
        renamed = house.cli("remote", "rename", "ada-phone", "ada-tablet")
        assert renamed.stdout.strip() == "ada-phone is now called ada-tablet.", renamed
        assert json.loads(house.cli("remote", "list", "--json").stdout)["name"] == "ada-tablet"
        stopped = phone.ask("POST", "stop", {"why": "enough"}, Idempotency_Key="stop-from-tablet")
        assert stopped.status_code == 200 and phone.sign_in().status_code == 200
        assert house.bodies("home", "device.renamed")[0]["door"] == "cli"
        house.stop()
        house.start()
        assert [one["name"] for one in house.get("/remote")["devices"]] == ["ada-tablet"]
        assert house.cli("remote", "rename", "ada-phone", "eve-phone").returncode != 0
        assert house.cli("remote", "rename", "ada-tablet", "ada-phone").returncode == 0
        assert house.cli("remote", "remove", "ada-phone", "--yes").returncode == 0
        assert phone.ask("GET", "status").status_code == 401
        assert house.cli("remote", "remove", "ada-phone", "--yes").returncode != 0


def test_without_a_public_address_nothing_is_open_outside_and_it_is_said_how(own_house: LivingHome) -> None:
    assert own_house.get("/remote") == {"url": "", "proxy_to": "", "devices": []}
    assert "public_url" in own_house.cli("remote").stdout
    assert "public_url" in own_house.cli("remote", "pair", "ada-phone").stderr


def test_devices_and_their_sessions_outlast_a_restart_and_a_crash(tmp_path: Path) -> None:
    with reachable(tmp_path) as house:
        phone = paired(house, direct(house))
        house.kill()
        house.start()
        assert direct(house).port == phone.port
        assert phone.ask("GET", "status").status_code == 200
        assert phone.sign_in().status_code == 200


def test_what_is_done_from_a_device_has_its_name_on_record(tmp_path: Path) -> None:
    with reachable(tmp_path) as house:
        phone = paired(house, direct(house))
        stopped = phone.ask("POST", "stop", {"why": "enough"}, Idempotency_Key="stop-from-phone")
        assert stopped.status_code == 200
        phone.ask("DELETE", "remote/devices/ada-phone", Idempotency_Key="gone-from-phone")
        (removed,) = house.bodies("home", "device.removed")
        assert removed["door"] == "remote:ada-phone"
        assert phone.ask("GET", "status").status_code == 401


@promise("SEC-12.guides")
def test_a_vpn_guides_caddy_serves_the_page_with_a_certificate_of_its_own(tmp_path: Path) -> None:
    with behind("caddy", tmp_path, block_name="caddy-vpn") as (house, proxy):
        house.until(proxy.authority.exists, "Caddy's own authority")
        assert paired(house, phone_of(proxy)).ask("GET", "status").status_code == 200


@promise("SEC-12.webhooks", "SEC-12.guides")
@pytest.mark.parametrize("kind", ["nginx", pytest.param("caddy", marks=pytest.mark.long)])
def test_webhooks_come_in_behind_the_same_proxy_by_a_name_of_their_own(kind: str, tmp_path: Path) -> None:
    port, public_port, hooks_port = free_port(), free_port(), free_port()
    more = f'webhook_port = {hooks_port}\nwebhook_url = "https://hooks.example.com:{port}"\n'
    with reachable(tmp_path, port=port, public_port=public_port, more=more) as house:
        (tmp_path / "notes").mkdir()
        house.post("/secrets", {"name": "of-github", "value": KEY})
        add = ("trigger", "add", "builds", "List the files", "--dir", str(tmp_path / "notes"))
        assert house.cli(*add, "--from", "webhook:github", "--key", "of-github").returncode == 0
        with proxied(kind, tmp_path / "proxy", public_port, hooks_port, port) as proxy:
            hooks = Phone(proxy.url(HOOKS), proxy.port, proxy.context())
            signed = hmac.new(KEY.encode(), b'{"a": 1}', "sha256").hexdigest()
            headers = {"X_Hub_Signature_256": f"sha256={signed}", "X_GitHub_Event": "push"}
            assert hooks.ask("POST", "/hooks/builds", {"a": 1}, **headers).status_code == 200
            assert hooks.ask("POST", "/hooks/builds", {"a": 2}, **headers).status_code == 404
            for path in ("/", "/api/v1/status", "/index.html"):
                answer = hooks.ask("GET", path)
                assert answer.status_code == 404 and b"Stead" not in answer.content
            house.until(lambda: bool(house.bodies("home", "schedule.due")), "the run")
