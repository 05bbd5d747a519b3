"""Secrets through the whole daemon to the server that they are bound to: it reads the value, and nobody else does."""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote

import pytest

from stead.domain.ends import WELL
from tests.attacks.canaries import descendants
from tests.egress.bench import make_certificate
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.models import Call, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import HELD, by_turn, holding, in_thread, served
from tests.promises import promise

VALUE = "correct-horse-battery-staple-4711"
SHOP, OTHER = "shop.example.com", "other.example.com"


@dataclass
class Echo:
    """A server that sends back what it was sent, as it was and in base64."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Send it back."""
        self.requests.append(request)
        packed = base64.b64encode(request.body).decode()
        said = {"headers": dict(request.headers), "body": request.body.decode(), "packed": packed}
        await exchange.send(200, json.dumps(said).encode(), {"x-echo": request.path})


@contextlib.asynccontextmanager
async def echoing(tls: ssl.SSLContext | None = None) -> AsyncIterator[Echo]:
    """Serve it."""
    echo = Echo()
    async with serve(echo.handle, tls=tls) as port:
        echo.port = port
        yield echo


@dataclass
class Shop:
    """A home whose machines can reach one server by two names, and the server."""

    house: LivingHome
    echo: Echo
    project: Path
    told: str = ""
    """All that left while it ran: prompts, events, answers, the log."""

    def add(self, name: str, value: str, *bindings: Json) -> str:
        """Add a secret, and bind it; gives what stands for its value in texts."""
        self.house.post("/secrets", {"name": name, "value": value})
        for binding in bindings:
            self.house.post(f"/secrets/{name}/bindings", {"binding": {"type": "host", **binding}})
        (row,) = (row for row in self.house.get("/secrets")["items"] if row["name"] == name)
        return str(row["placeholder"])

    def order(self, *commands: str, hosts: tuple[str, ...] = (SHOP, OTHER)) -> tuple[list[str], list[Json]]:
        """Have a model run commands; gives what it read of each, and the events of connections."""
        reached = [f"{host}:{self.echo.port}" for host in hosts]
        calls = [Turn("", calls=(Call("shell", {"command": text, "hosts": reached}),)) for text in commands]
        with served(holding(by_turn(*calls))) as model:
            use_model(self.house, model.openai)
            id = self.house.give("order tea", self.project, secrets=["shop"])
            assert self.house.finish(id, answer="once", timeout_s=60)["status"] in WELL
            self.told += b"".join(seen.request.body for seen in model.requests()).decode()
        self.told += json.dumps(self.house.events()) + json.dumps(self.house.get(f"/objectives/{id}/steps"))
        self.told += self.house.home.log.read_text("utf-8")
        return [end["text"] for end in self.house.bodies(id, "tool.finished")], self.house.bodies(id, "egress.used")


@pytest.fixture
def shop(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """A shop by plain HTTP; by TLS when the test asks for it."""
    trust, context = "", None
    if getattr(request, "param", "") == "tls":
        context, certificate = make_certificate(tmp_path, SHOP, OTHER)
        trust = str(certificate)
    with in_thread(echoing(context)) as echo:
        env = {"FETCH_PORT": str(echo.port), "FETCH_TRUST": trust}
        house = LivingHome(tmp_path / "home", env, "tests.flows.loopback_daemon", forked=True)
        house.start()
        try:
            yield Shop(house, echo, project)
        finally:
            house.stop()


@promise("SEC-7.bound", "SEC-5.egress")
def test_a_server_gets_the_value_that_is_bound_to_it_and_its_echo_reaches_nobody(shop: Shop) -> None:
    there: Json = {"host": SHOP, "methods": ["POST"], "path": "/v1"}
    mark = shop.add("shop", VALUE, there, {**there, "place": "query:key"})
    other = shop.add("other", "another value of a person")
    url = f"http://{SHOP}:{shop.echo.port}"
    text = f"{HELD} {other} {{{{secret:shop#00000000}}}}"
    send = f"curl -sS -i -H 'X-Key: {HELD}' -H 'Content-Type: text/plain' --data-binary '{text}'"
    elsewhere = f"{send} {url.replace(SHOP, OTHER)}/v1/orders"
    texts, used = shop.order(
        f"{send} '{url}/v1/orders?n=1' | tee got.txt",
        f"{send} {url}/v2",
        f"{send} --path-as-is {url}/v1/../v2",
        elsewhere,
        f"{send} -X PUT {url}/v1/orders",
        f"curl -sS -d pens '{url}/v1/orders?key={quote(HELD)}&text={quote(HELD)}'",
    )
    ordered, *unbound, queried = shop.echo.requests
    assert ordered.headers["x-key"] == VALUE and ordered.path == "/v1/orders?n=1"
    assert queried.path.startswith(f"/v1/orders?key={VALUE}&text=%7B%7Bsecret")
    assert len(unbound) == 4
    for request in (ordered, *unbound):
        assert VALUE.encode() not in request.body and b"{{secret:shop#" in request.body
    assert all(request.headers["x-key"].startswith("{{secret:shop#") for request in unbound)
    assert mark in texts[0]
    assert VALUE not in shop.told + (shop.project / "got.txt").read_text("utf-8")
    assert [one["secrets"] for one in used] == [["shop"], [], [], [], [], ["shop"]]
    assert all("shop" in one["reason"]["text"].partition("left as placeholders: ")[2] for one in used)
    (row,) = (row for row in shop.house.get("/secrets")["items"] if row["name"] == "shop")
    assert row["used_at"] == SHOP


@promise("SEC-7.bound", "SEC-5.egress")
@pytest.mark.parametrize("shop", ["tls"], indirect=True)
def test_a_value_goes_into_tls_that_the_person_let_be_opened_and_not_in_the_clear(shop: Shop) -> None:
    held, mark = HELD, shop.add("shop", VALUE, {"host": SHOP, "tls": True})
    url = f"https://{SHOP}:{shop.echo.port}/v1/orders"
    program = (
        "import urllib.request as u\n"
        f"asked = u.Request('{url}', data=b'pens', headers={{'X-Key': '{held}'}})\n"
        "print(u.urlopen(asked).read().decode())"
    )
    texts, used = shop.order(
        f"curl -sS -H 'X-Key: {held}' {url}",
        f"curl -sS -u 'ada:{held}' {url}",
        f'python3 -c "{program}"',
        f"curl -sS -m 10 -H 'X-Key: {held}' {url.replace('https', 'http')}",
        f"curl -sS -m 10 -H 'X-Key: {held}' {url.replace(SHOP, OTHER)}",
    )
    by_curl, signed_in, by_python = shop.echo.requests
    assert by_curl.headers["x-key"] == by_python.headers["x-key"] == VALUE
    assert base64.b64decode(signed_in.headers["authorization"].removeprefix("Basic ")).decode() == f"ada:{VALUE}"
    assert mark in texts[0] and mark in texts[2]
    assert "certificate" in texts[4]  # of that name nobody let TLS be opened, and this server is not publicly trusted
    assert [one["secrets"] for one in used] == [["shop"], ["shop"], ["shop"], [], []]
    assert VALUE not in shop.told
    assert base64.b64encode(f"ada:{VALUE}".encode()).decode() not in shop.told


@promise("SEC-5.egress")
def test_a_daemon_that_is_killed_cuts_every_connection_and_the_next_one_opens_a_new_way_out(shop: Shop) -> None:
    host = f"{SHOP}:{shop.echo.port}"
    hold = (
        "import socket\n"
        "held = [socket.create_connection(('127.0.0.1', 3128)) for _ in range(5)]\n"
        f"for one in held: one.sendall(b'CONNECT {host} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n')\n"
        "print([one.recv(99)[:12] for one in held], flush=True)\n"
        "open('/proc/self/comm', 'w').write('holding'); held[0].recv(99)"
    )
    (shop.project / "hold.py").write_text(hold, "utf-8")
    commands = ("python3 hold.py", f"curl -sS http://{host}/")
    turns = [Turn("", calls=(Call("shell", {"command": text, "hosts": [host]}),)) for text in commands]
    with served(by_turn(*turns)) as model:
        use_model(shop.house, model.openai)
        id = shop.house.give("hold on", shop.project, allow=["shell"])
        shop.house.until(lambda: _answered(shop.house, id) and _holding(shop.house), "connections")
        assert shop.house.process is not None
        inside = set(descendants(shop.house.process.pid))
        left = [path for path in (shop.house.home.run / "egress").iterdir() if path.is_dir()]
        shop.house.kill()
        assert left and inside
        shop.house.until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in inside), "the machine to end")
        shop.house.start()
        assert not any(path.exists() for path in left)
        assert shop.house.finish(id, answer="once", timeout_s=60)["status"] in WELL
    assert "headers" in shop.house.bodies(id, "tool.finished")[-1]["text"]


def _holding(house: LivingHome) -> bool:
    """Whether the command has its connections, which it tells by its name."""
    assert house.process is not None
    names = (Path(f"/proc/{pid}/comm") for pid in descendants(house.process.pid))
    return any(name.exists() and name.read_text("utf-8") == "holding\n" for name in names)


def _answered(house: LivingHome, id: str) -> bool:
    """Say yes to whatever is asked."""
    for question in house.get("/approvals", session=id)["items"]:
        house.post(
            f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"], "whole": True}
        )
    return True


@promise("SEC-7.bound")
@pytest.mark.parametrize("shop", ["tls"], indirect=True)
def test_a_value_with_line_ends_goes_into_no_header_and_the_event_names_its_secret(shop: Shop) -> None:
    lines = "first-line-of-it\r\nX-Injected: second-line-of-it"
    held = HELD
    shop.add("shop", lines, *({"host": SHOP, "tls": True, "place": place} for place in ("header", "body:key")))
    url = f"https://{SHOP}:{shop.echo.port}/v1"
    in_body = f"curl -sS -d 'key={held}' {url}"
    texts, used = shop.order(f"curl -sS -H 'X-Key: {held}' {url}", in_body)
    assert "shop" in texts[0] and "egress-request" in texts[0]
    assert (used[0]["reason"]["rule"], used[0]["secrets"], used[0]["verdict"]) == ("egress-request", [], "deny")
    assert "'shop'" in used[0]["reason"]["text"] and "body" in used[0]["reason"]["text"]
    (request,) = shop.echo.requests
    assert parse_qs(request.body.decode()) == {"key": [lines]} and "x-injected" not in request.headers
    assert "second-line-of-it" not in shop.told
