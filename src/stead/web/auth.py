"""Who may come in: the rules for every request, before any of it is read.

Layer: a door, and part of the trusted base. Pure decisions over what a request says of itself; it must not know HTTP's
machinery, routes or the runtime. The rules, in order:

1. The ``Host`` is exactly one of two names. ``127.0.0.1:PORT`` takes the bearer of the 0600 file that the command line
   reads, and never a cookie. ``NAME.localhost:PORT`` takes the browser's cookie, and never a bearer. Cookies ignore
   ports, so a server that an agent starts on 127.0.0.1 must not share its name with the page; and any other Host is a
   name that another party pointed at us (DNS rebinding). What the person's own proxy leads to us from outside comes in
   by a port of its own, where the ``Host`` is exactly the public one, and by that port nothing else is let in: neither
   a bearer nor a code, but a passkey that was made before, and then a cookie of a third kind. The port is a fact of the
   socket; what proxies write into headers (``X-Forwarded-*``) is not read.
2. An ``Origin``, when there is one, is our own. The page must show it on whatever changes something and on a WebSocket.
   Browsers send none with a GET to the same origin, so an event stream may show ``Sec-Fetch-Site: same-origin``
   instead, which no script can set.
3. What changes something from the page is JSON and carries ``X-Stead: 1``: no form of another page can send either.
4. Then the credential: 256 random bits, of which only a hash is kept, compared in constant time.

Guessing 256 bits needs no lock-out; a one-time code gets one all the same, as it is what strangers may try. A correct
bearer is never locked out, so that nobody can shut the person out of their own daemon.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from stead.domain.ports import Clock, Secrets
from stead.web.errors import Problem
from stead.web.passkeys import Passkeys
from stead.web.signin import BrowserSessions, SignInCodes, TokenBucket, fingerprint

SIGN_IN = "/api/v1/sign-in"
STREAM = "/api/v1/events/stream"
BEARER_ONLY = frozenset({"/api/v1/sign-in-codes", "/api/v1/shutdown"})
PAIRING = "/api/v1/remote/pairing"
LOCAL_ONLY = BEARER_ONLY | {SIGN_IN, PAIRING}
"""What nobody does from outside: let another browser in."""
PASSKEY = frozenset(f"/api/v1/remote/{step}" for step in ("pair", "pair/finish", "challenge", "sign-in"))
"""What is open at the public name to a browser that is not signed in."""
COOKIE, REMOTE_COOKIE = "stead", "__Host-stead"
_READS = frozenset({"GET", "HEAD"})
_BEARER_MIN_CHARS = 32
_BURST, _PER_S = 2000, 500.0

Door = Literal["cli", "web", "remote"]
BRIDGES = frozenset({"acp"})
"""Programs that pass on what a person says elsewhere. They have the command line's rights, and a name on record."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request says of itself: everything that letting it in depends on.

    Args:
        method: as on the wire; "WS" for a WebSocket handshake.
        path: decoded, from "/".
        host: the one Host header, in lower case.
        origin: the Origin header; "" for none, as for the following.
        authorization: whole.
        cookies: every value under our cookie's name.
        csrf: the X-Stead header.
        fetch_site: the Sec-Fetch-Site header, which browsers set and scripts cannot.
        bridge: the X-Stead-Door header.
        is_json: whether the body is declared as JSON.
        has_body: whether a body is announced.
        port: at which it came in; a fact of the socket.
    """

    method: str
    path: str
    host: str
    origin: str = ""
    authorization: str = ""
    cookies: tuple[str, ...] = ()
    csrf: str = ""
    fetch_site: str = ""
    bridge: str = ""
    is_json: bool = False
    has_body: bool = False
    port: int = 0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who came in, by which door.

    Args:
        door: whose rights it has.
        session: names the browser's session; "" for the CLI and for who has none yet.
        bridge: one of ``BRIDGES`` that speaks for the person at the command line's door; "" for none.
        device: name of the one that came in from outside; "" for none.
    """

    door: Door
    session: str = ""
    bridge: str = ""
    device: str = ""

    @property
    def name(self) -> str:
        """The door, as the record has it. It says where something was said, and grants nothing."""
        return self.bridge or (f"{self.door}:{self.device}" if self.device else self.door)


class Auth:
    """The keeper of the door.

    Args:
        name: the page's own host name is ``<name>.localhost``; random, so that nobody guesses it.
        port: on 127.0.0.1.
        bearer: of the command line, at least 32 characters.
        clock: for expiry and rates.
        random: gives that many random bytes.
        secrets: where browser sessions outlive a restart.
        passkeys: the way in from outside; None where there is none.
    """

    def __init__(
        self,
        name: str,
        port: int,
        bearer: str,
        clock: Clock,
        random: Callable[[int], bytes],
        secrets: Secrets,
        passkeys: Passkeys | None = None,
    ) -> None:
        if len(bearer) < _BEARER_MIN_CHARS:
            raise ValueError(f"a bearer of {len(bearer)} characters is guessable; make one of {_BEARER_MIN_CHARS}")
        self.page_host = f"{name}.localhost:{port}"
        self._api_host = f"127.0.0.1:{port}"
        self._plain_host = False
        self._bearer = fingerprint(bearer)
        self._codes = SignInCodes(clock, random)
        self.passkeys = passkeys
        self._sessions = BrowserSessions(clock, random, secrets, passkeys.name_of if passkeys else lambda _: "")
        self._rates = {door: TokenBucket(clock, _BURST, _PER_S) for door in (*get_args(Door), "strangers", "outside")}

    def admit(self, request: Credentials) -> Caller | Problem:
        """Let a request in, or say why not. It changes nothing but how much of a rate is left."""
        door = self._door(request)
        if door is None:
            return Problem(421, "host", f"{request.host!r} is not a name of this daemon; run: stead open")
        if refused := _refuse_foreign(request, door):
            return refused
        if not is_api(request.path):
            return _NO_PAGE_HERE if door == "cli" else Caller(door)
        caller = self._identify(request, door)
        known = caller and (caller.session or door != "remote")
        if wait_s := self._rates[door if known else "outside" if door == "remote" else "strangers"].take():
            return Problem(429, "rate", "too many requests at once; slow down and repeat this one", wait_s)
        if caller is None:
            return Problem(401, "auth", _HOW_TO_SIGN_IN[door])
        if _changes(request) and not request.is_json and (door != "cli" or request.has_body):
            return Problem(415, "content_type", "send the body as Content-Type: application/json")
        if request.bridge and (door != "cli" or request.bridge not in BRIDGES):
            return Problem(400, "invalid", "X-Stead-Door names no door that may be named; leave it out")
        if request.path in (BEARER_ONLY if door == "web" else LOCAL_ONLY if door == "remote" else ()):
            return Problem(403, "auth", "this is done on Stead's own computer alone; use stead open, or stead down")
        return caller

    def is_public(self, port: int) -> bool:
        """Whether this is the port to which the person's proxy leads."""
        return self.passkeys is not None and port == self.passkeys.port

    async def note_seen(self, caller: Caller) -> None:
        """Keep a device's session from running out while it is used; what is kept is an hour old at most.

        Raises:
            StorageFault: it cannot be kept.
        """
        if caller.device:
            await self._sessions.note_seen(caller.session)

    def holds(self, caller: Caller) -> bool:
        """Whether an admitted caller is still admitted: a stream asks before it sends more."""
        return caller.door == "cli" or self._sessions.holds(caller.session)

    async def sign_in_device(self, credential: str) -> str:
        """A session of a device whose signature was checked and recorded; gives its ``Set-Cookie`` value.

        Raises:
            StorageFault: it cannot be kept.
        """
        token = await self._sessions.open(credential)
        return f"{REMOTE_COOKIE}={token}; Max-Age={self._sessions.life_s}; Secure; {_COOKIE_RULES}"

    def make_code(self, *, plain_host: bool = False) -> tuple[str, str]:
        """A fresh one-time code, and the link that signs a browser in with it.

        Args:
            plain_host: from now on, until the daemon stops, serve the page at 127.0.0.1 too: for browsers that do not
                resolve ``.localhost``. Every local server that such a browser visits can then see the cookie.
        """
        self._plain_host |= plain_host
        code = self._codes.make()
        return code, f"http://{self._api_host if plain_host else self.page_host}/#code={code}"

    async def sign_in(self, code: str) -> str | Problem:
        """Spend a code; gives the ``Set-Cookie`` value of a new browser session.

        Raises:
            StorageFault: the session cannot be kept; the code is spent all the same.
        """
        if refused := self._codes.spend(code):
            return refused
        token = await self._sessions.open()
        return f"{COOKIE}={token}; Max-Age={self._sessions.life_s}; {_COOKIE_RULES}"

    async def sign_out(self, caller: Caller) -> str:
        """End the browser's session; gives the ``Set-Cookie`` value that removes its cookie."""
        await self._sessions.end(caller.session)
        name, more = (REMOTE_COOKIE, "Secure; ") if caller.door == "remote" else (COOKIE, "")
        return f"{name}=; Max-Age=0; {more}{_COOKIE_RULES}"

    def _door(self, request: Credentials) -> Door | None:
        if self.passkeys and request.port == self.passkeys.port:
            return "remote" if request.host == self.passkeys.host else None
        if request.host == self.page_host:
            return "web"
        if request.host == self._api_host:
            return "web" if self._plain_host and not request.authorization else "cli"
        return None

    def _identify(self, request: Credentials, door: Door) -> Caller | None:
        if door == "cli":
            scheme, _, bearer = request.authorization.partition(" ")
            known = scheme.lower() == "bearer" and hmac.compare_digest(fingerprint(bearer), self._bearer)
            return Caller("cli", bridge=request.bridge) if known else None
        if request.path in (PASSKEY if door == "remote" else (SIGN_IN,)):
            return Caller(door)
        for token in request.cookies:
            session, device = self._sessions.find(token)
            if session and bool(device) == (door == "remote"):
                return Caller(door, session, device=device)
        return None


_COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict"
"""No ``Domain``, so it stays with this one host; no ``Secure`` but from outside, as loopback has no TLS."""
_NO_PAGE_HERE = Problem(404, "not_found", "the page is served at its own name; run: stead open")
_HOW_TO_SIGN_IN: dict[Door, str] = {
    "cli": "this needs the bearer of run/daemon.json in Stead's home, as Authorization: Bearer",
    "web": "this browser is not signed in; run: stead open",
    "remote": "this browser is not signed in; use its passkey, or pair it: stead remote pair NAME",
}


def is_api(path: str) -> bool:
    """Whether a path is the API's, known or not; everything else is the page's files, which are no secret."""
    return f"{path}/".startswith("/api/")


def _refuse_foreign(request: Credentials, door: Door) -> Problem | None:
    """Why the request may be another page's doing, if it may."""
    own = f"{'https' if door == 'remote' else 'http'}://{request.host}"
    if request.origin and request.origin != own:
        return Problem(403, "origin", f"requests from {request.origin!r} are refused; use the page of: stead open")
    asks_api = is_api(request.path)
    if asks_api and request.fetch_site not in ("", "same-origin", "none"):
        return Problem(403, "origin", f"a {request.fetch_site!r} request is refused; use the page of: stead open")
    if door == "cli" or not asks_api:
        return None
    if _changes(request) or request.method == "WS" or request.path == STREAM:
        shown = request.origin == own or (request.path == STREAM and request.fetch_site == "same-origin")
        if not shown:
            return Problem(403, "origin", "this request must show its Origin; use the page of: stead open")
    if _changes(request) and request.csrf != "1":
        return Problem(403, "csrf", "this request needs the header X-Stead: 1")
    return None


def _changes(request: Credentials) -> bool:
    return request.method not in _READS and request.method != "WS"
