"""Every way to knock at every route of the door, and what must come of it: the table of bar S12.

Routes are read from the OpenAPI document of the daemon that is asked, so a new one is in the matrix by itself. A knock
is a good one, of the command line or of the page, with flaws; each flaw says how it must be refused. Where a knock has
more than one, the door's own order decides (``web/auth.py``): host, origin, CSRF header, credential, content type.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

from tests.flows.house import Json, LivingHome

Door = Literal["cli", "page"]

SIGN_IN = "/api/v1/sign-in"
STREAM = "/api/v1/events/stream"
LIVE = "/api/v1/live"
BEARER_ONLY = {"/api/v1/sign-in-codes", "/api/v1/shutdown"}
PUBLIC = {("page", "POST", SIGN_IN)}
"""What is open to who shows no credential, beside the page's own files. Whoever adds to this list, thinks twice."""

BODY = b'["of no use to any route"]'
ORDER = ("host", "origin", "csrf", "credential", "content")


@dataclass(frozen=True)
class Route:
    """A method and a path that could exist."""

    method: str
    path: str

    @property
    def changes(self) -> bool:
        """Whether it does something, rather than show it."""
        return self.method not in ("GET", "HEAD", "WS")


@dataclass(frozen=True)
class Flaw:
    """One thing wrong with a knock.

    Args:
        name: for people.
        rule: which rule of the door it breaks, of ``ORDER``.
        door: whose knock it spoils.
        headers: what is sent instead; nothing for a header that is left out.
        statuses: how the door must answer.
        crossed: it brings the other door's name, or the other door's credential; both together are that door's knock.
        only: the knocks that it makes a difference to: of all routes, of those that change, or of a few.
    """

    name: str
    rule: str
    door: Door
    headers: Mapping[str, str | None]
    statuses: frozenset[int]
    only: Literal["all", "changes", "api-shown"] = "all"
    crossed: bool = False

    def matters(self, route: Route) -> bool:
        """Whether the flaw must be refused at this route."""
        if self.rule == "credential" and ("page", route.method, route.path) in PUBLIC and self.door == "page":
            return False
        if self.only == "changes":
            return route.changes
        if self.only == "api-shown":
            return route.changes or route.method == "WS" or route.path == STREAM
        return True


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Knocker:
    """Whoever knows the daemon's address, its credentials, and those of others.

    Args:
        house: whose door it is; runs.
        cookie: of a browser that is signed in.
        signed_out: of one that was.
        elsewhere: (bearer, cookie) of another home.
    """

    house: LivingHome
    cookie: str
    signed_out: str
    elsewhere: tuple[str, str]
    port: int = 0
    name: str = ""
    bearer: str = ""
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        address = json.loads(self.house.home.address.read_text("utf-8"))
        self.port, self.name, self.bearer = address["port"], address["name"], address["bearer"]

    @property
    def page(self) -> str:
        """The page's host."""
        return f"{self.name}.localhost:{self.port}"

    @property
    def api(self) -> str:
        """The command line's host."""
        return f"127.0.0.1:{self.port}"

    def good(self, door: Door, route: Route) -> dict[str, str]:
        """The headers of a knock with nothing wrong."""
        headers = {"Host": self.api, "Authorization": f"Bearer {self.bearer}"}
        if door == "page":
            headers = {"Host": self.page, "Cookie": f"stead={self.cookie}", "Sec-Fetch-Site": "same-origin"}
            headers |= {"Origin": f"http://{self.page}", "X-Stead": "1"}
        if route.changes:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(BODY))}
        if route.method == "WS":
            headers |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
        return headers

    def sign_in(self) -> None:
        """Be a browser that is signed in, by a fresh code."""
        route = Route("POST", SIGN_IN)
        body = json.dumps({"code": self.house.post("/sign-in-codes")["code"]}).encode()
        answer = self.knock(route, self.good("page", route) | {"Content-Length": str(len(body))}, body)
        assert answer.status == 200, answer.body
        self.cookie = answer.headers["set-cookie"].partition(";")[0].removeprefix("stead=")

    def knock(self, route: Route, headers: Mapping[str, str], body: bytes = BODY) -> Answer:
        """One request with exactly these headers; one that came too soon after the others is repeated."""
        while (answer := self._once(route, headers, body)).status == 429:
            time.sleep(float(answer.headers["retry-after"]))
        return answer

    def _once(self, route: Route, headers: Mapping[str, str], body: bytes) -> Answer:
        kept, self._connection = self._connection, None
        if kept is not None:
            # The daemon may have hung up meanwhile, as it does after some seconds; then a fresh connection will do.
            with suppress(http.client.RemoteDisconnected, ConnectionError):
                return self._exchange(kept, route, headers, body)
        return self._exchange(http.client.HTTPConnection("127.0.0.1", self.port, timeout=15), route, headers, body)

    def _exchange(
        self, connection: http.client.HTTPConnection, route: Route, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        unending = route.path == STREAM or route.method == "WS"
        connection.putrequest(
            "GET" if route.method == "WS" else route.method, route.path, skip_host=True, skip_accept_encoding=True
        )
        for name, value in headers.items():
            connection.putheader(name, value.encode("latin-1"))
        connection.endheaders(body if "Content-Length" in headers else None)
        answer = connection.getresponse()
        if unending and answer.status in (101, 200):
            connection.close()
            return Answer(answer.status, dict(answer.getheaders()), b"")
        content = answer.read()
        if answer.will_close:
            connection.close()
        else:
            self._connection = connection
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()


@contextmanager
def open_knocker(root: Path) -> Iterator[Knocker]:
    """A running daemon, a browser signed in, one that signed out again, and what another home's door would take.

    Args:
        root: an empty folder.
    """
    house, other = LivingHome(root / "home", forked=True), LivingHome(root / "other", forked=True)
    try:
        house.start()
        other.start()
        elsewhere = Knocker(other, "", "", ("", ""))
        elsewhere.sign_in()
        who = Knocker(house, "", "", (elsewhere.bearer, elsewhere.cookie))
        elsewhere.close()
        other.stop()
        who.sign_in()
        who.signed_out = who.cookie
        signing_out = who.good("page", Route("POST", "/api/v1/sign-out")) | {"Content-Length": "2"}
        assert who.knock(Route("POST", "/api/v1/sign-out"), signing_out, b"{}").status == 200
        who.sign_in()
        yield who
        who.close()
    finally:
        house.stop()
        other.stop()


def routes(document: Json) -> list[Route]:
    """Every operation of the document at a path that is well formed, and what no document can hold."""
    stands_for = {
        "session": "s_0123456789abcdef",
        "approval": "a_0123456789abcdef",
        "checkpoint": "k_0123456789abcdef",
        "call": "call_1_0",
        "terminal": "t_0123456789abcdef",
    }
    found = [
        Route(method.upper(), "/api/v1" + re.sub(r"\{(\w+)\}", lambda name: stands_for.get(name[1], "nobody"), path))
        for path, methods in document["paths"].items()
        for method in methods
    ]
    return [*found, Route("GET", "/api/v1/openapi.json"), Route("WS", LIVE)]


def flaws(who: Knocker) -> list[Flaw]:
    """Everything that can be wrong with a knock."""
    return [*_foreign_hosts(who), *_foreign_origins(who), *_forgeries(), *_credentials(who), *_contents()]


def _foreign_hosts(who: Knocker) -> Iterator[Flaw]:
    port = who.port
    hosts = [
        "evil.example.com",
        f"evil.example.com:{port}",
        f"localhost:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"127.0.0.1.:{port}",
        f"127.1:{port}",
        f"127.0.0.2:{port}",
        f"2130706433:{port}",
        f"0x7f000001:{port}",
        f"0.0.0.0:{port}",
        f"[::1]:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"127.0.0.1:{port}@evil.example.com",
        f"127.0.0.1:{port}.evil.example.com",
        f"127.0.0.1:0{port}",
        f"other-1234.localhost:{port}",
        f"x.{who.page}",
        f"{who.page}.",
        f"{who.name}.localhost.:{port}",
        f"{who.name}.localhost",
        f"{who.name}.localhost:{port + 1}",
        f"{who.name}:{port}",
        f"{who.api}, {who.page}",
        "",
    ]
    doors: tuple[Door, ...] = ("cli", "page")
    for door in doors:
        yield Flaw("no Host", "host", door, {"Host": None}, frozenset({421}))
        for host in hosts:
            yield Flaw(f"Host {host!r}", "host", door, {"Host": host}, frozenset({421}))
    # The right name for somebody else: the credential of the one door is none at the other.
    refused = frozenset({401, 403})
    yield Flaw("the page's Host", "host", "cli", {"Host": who.page}, refused, crossed=True)
    yield Flaw("the command line's Host", "host", "page", {"Host": who.api}, refused, crossed=True)


def _foreign_origins(who: Knocker) -> Iterator[Flaw]:
    port, refused = who.port, frozenset({403})
    origins = [
        "null",
        "http://evil.example.com",
        f"http://evil.example.com:{port}",
        f"http://localhost:{port}",
        f"http://{who.name}.localhost",
        f"http://{who.name}.localhost:{port + 1}",
        f"http://x.{who.page}",
        f"http://{who.page}.evil.example.com",
        f"http://{who.page}/",
        f"http://{who.page} http://evil.example.com",
        "file://",
        "chrome-extension://abcdefghijklmnop",
    ]
    own: tuple[tuple[Door, str, str], ...] = (("cli", who.api, who.page), ("page", who.page, who.api))
    for door, mine, other in own:
        for origin in (*origins, f"http://{other}", f"https://{mine}", f"HTTP://{mine}", mine):
            yield Flaw(f"Origin {origin!r}", "origin", door, {"Origin": origin}, refused)
        for site in ("cross-site", "same-site", "nonsense"):
            yield Flaw(f"Sec-Fetch-Site {site}", "origin", door, {"Sec-Fetch-Site": site}, refused)
    hidden = {"Origin": None, "Sec-Fetch-Site": None}
    yield Flaw("no Origin", "origin", "page", hidden, refused, "api-shown")
    typed = {"Origin": None, "Sec-Fetch-Site": "none"}
    yield Flaw("typed into the address bar", "origin", "page", typed, refused, "api-shown")


def _forgeries() -> Iterator[Flaw]:
    for value in (None, "", "0", "true", "1, 1"):
        yield Flaw(f"X-Stead {value!r}", "csrf", "page", {"X-Stead": value}, frozenset({403}), "changes")


def _credentials(who: Knocker) -> Iterator[Flaw]:
    refused = frozenset({401})
    bearer, cookie = who.elsewhere
    bearers = {
        "none": None,
        "an empty one": "",
        "a bare one": who.bearer,
        "an empty bearer": "Bearer ",
        "another scheme": f"Basic {who.bearer}",
        "one that is cut off": f"Bearer {who.bearer[:-1]}",
        "one that is too long": f"Bearer {who.bearer}A",
        "one in other letters": f"Bearer {who.bearer.swapcase()}",
        "one with bytes": "Bearer \xff\xfe",
        "one of another home": f"Bearer {bearer}",
        "a cookie's token": f"Bearer {who.cookie}",
        "two": f"Bearer {who.bearer}, Bearer {who.bearer}",
    }
    for name, value in bearers.items():
        yield Flaw(f"as credential, {name}", "credential", "cli", {"Authorization": value}, refused)
    at_wrong_name = {"Authorization": None, "Cookie": f"stead={who.cookie}"}
    yield Flaw("a cookie at the command line's name", "credential", "cli", at_wrong_name, refused, crossed=True)
    cookies = {
        "none": None,
        "an empty one": "",
        "an empty token": "stead=",
        "one that signed out": f"stead={who.signed_out}",
        "one of another home": f"stead={cookie}",
        "one that is cut off": f"stead={who.cookie[:-1]}",
        "one in other letters": f"stead={who.cookie.swapcase()}",
        "one of another name": f"Stead={who.cookie}; stead2={who.cookie}; __Host-stead={who.cookie}",
        "a quoted one": f'stead="{who.cookie}"',
        "one with bytes": "stead=\xff\xfe",
        "the bearer": f"stead={who.bearer}",
    }
    for name, value in cookies.items():
        yield Flaw(f"as cookie, {name}", "credential", "page", {"Cookie": value}, refused)
    bearer_at_page = {"Cookie": None, "Authorization": f"Bearer {who.bearer}"}
    yield Flaw("a bearer at the page's name", "credential", "page", bearer_at_page, refused, crossed=True)


def _contents() -> Iterator[Flaw]:
    doors: tuple[Door, ...] = ("cli", "page")
    for door in doors:
        for kind in (
            None,
            "",
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "text/json",
            "application/jsonp",
            "application/json5; application/json",
            "text/plain; application/json",
            "text/plain, application/json",
        ):
            wrong = {"Content-Type": kind}
            yield Flaw(f"Content-Type {kind!r}", "content", door, wrong, frozenset({415}), "changes")


@dataclass(frozen=True)
class Try:
    """A route, and a knock with flaws."""

    route: Route
    door: Door
    flaws: tuple[Flaw, ...]

    def headers(self, who: Knocker) -> dict[str, str]:
        """What is sent."""
        headers: dict[str, str | None] = dict(who.good(self.door, self.route))
        for flaw in self.flaws:
            headers |= flaw.headers
        return {name: value for name, value in headers.items() if value is not None}

    def expected(self) -> frozenset[int]:
        """How the door must answer: as the first rule says that is broken; nothing if none is."""
        broken = [flaw for flaw in self.flaws if flaw.matters(self.route)]
        first = min(broken, key=lambda flaw: ORDER.index(flaw.rule), default=None)
        return first.statuses if first else frozenset()

    def __str__(self) -> str:
        """For people."""
        return f"{self.door} {self.route.method} {self.route.path}: {', '.join(flaw.name for flaw in self.flaws)}"


def tries(all_routes: Sequence[Route], all_flaws: Sequence[Flaw], at_once: int) -> Iterator[Try]:
    """Every route with every choice of that many flaws of different rules."""
    for route in all_routes:
        for chosen in combinations(all_flaws, at_once):
            rules = {flaw.rule for flaw in chosen}
            doors = {flaw.door for flaw in chosen}
            one = Try(route, chosen[0].door, chosen)
            if sum(flaw.crossed for flaw in chosen) > 1:
                continue
            if len(rules) == at_once and len(doors) == 1 and one.expected():
                yield one


def judge(who: Knocker, one: Try, secrets: Sequence[str]) -> str:
    """Make a try; gives what is wrong with the answer, "" for nothing."""
    answer = who.knock(one.route, one.headers(who))
    if answer.status not in one.expected():
        return f"{one}: answered {answer.status}, not {set(one.expected())}"
    if leaked := [secret for secret in secrets if secret.encode() in answer.body]:
        return f"{one}: the refusal tells {leaked}"
    if any(name.startswith("access-control") for name in answer.headers):
        return f"{one}: the refusal opens the door to another origin"
    try:
        told = json.loads(answer.body)["error"]
    except (ValueError, KeyError, TypeError):
        return f"{one}: the refusal is not of the API's form: {answer.body[:100]!r}"
    return "" if told["code"] and told["message"] else f"{one}: the refusal says nothing"
