"""The edge of the door: what is true for every request, whatever it asks for.

Layer: a door, and part of the trusted base. Plain ASGI around the whole application: it reads what ``auth.py`` decides
by, bounds the body in size and time, bounds how long an answer may take, sets the security headers, and is the one
place where an unforeseen exception ends. Of paths it knows that a stream has no end, and an imported file is long.
"""

from __future__ import annotations

import asyncio
import logging

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stead.web.auth import COOKIE, REMOTE_COOKIE, STREAM, Auth, Credentials, is_api
from stead.web.backend import Pace
from stead.web.errors import UNEXPECTED, Problem, answer

_log = logging.getLogger(__name__)

BODY_LIMIT_BYTES = 2_000_000
LONG_BODIES = {
    "/api/v1/memories/import": 32_000_000,  # a file of 10 MB, as it is in JSON
    "/api/v1/attachments": 27_000_000,  # one of 20 MB in Base64
}
_SINGLE = ("host", "origin", "authorization", "content-type", "content-length", "x-stead", "sec-fetch-site")
"""Headers that decide something."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types stead-push"
)
"""``stead-push`` is the one policy that makes a string a script's address, and of one string: the push worker's."""
_HEADERS: list[tuple[bytes, bytes]] = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]
_NO_STORE = (b"cache-control", b"no-store")
_TLS_ONLY = (b"strict-transport-security", b"max-age=31536000")
"""At the public name alone; loopback has no TLS."""


class Guard:
    """Wraps the application; nothing reaches it but through here.

    Args:
        app: gets ``scope["state"]["caller"]``, and a body that is whole and within its limit.
        auth: decides who comes in.
        pace: how long a body and an answer may take.
    """

    def __init__(self, app: ASGIApp, auth: Auth, pace: Pace) -> None:
        self._app = app
        self._auth = auth
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        public = self._auth.is_public(scope["server"][1])
        more = [*([_NO_STORE] if is_api(scope["path"]) else []), *([_TLS_ONLY] if public else [])]
        reply = _Reply(send, [*_HEADERS, *more])
        try:
            problem = await self._serve(scope, receive, reply)
        except Exception:  # noqa: BLE001 - the edge of a door; it is logged whole and answered for
            _log.exception("a request to %s failed", scope["path"])
            problem = UNEXPECTED
        if problem is not None and not reply.started:
            await answer(problem)(scope, receive, reply)

    async def _serve(self, scope: Scope, receive: Receive, reply: _Reply) -> Problem | None:
        headers = Headers(scope=scope)
        if twice := next((name for name in _SINGLE if len(headers.getlist(name)) > 1), ""):
            return Problem(400, "invalid", f"the header {twice!r} came twice; send it once")
        port = scope["server"][1]
        cookie = REMOTE_COOKIE if self._auth.is_public(port) else COOKIE
        caller = self._auth.admit(_credentials(scope, headers, port, cookie))
        if isinstance(caller, Problem):
            return caller
        await self._auth.note_seen(caller)
        scope.setdefault("state", {})["caller"] = caller
        if scope["type"] == "websocket" or scope["path"] == STREAM:
            await self._app(scope, receive, reply)
            return None
        if scope["method"] not in ("GET", "HEAD"):
            body = await _read_body(
                headers, receive, self._pace.body_s, LONG_BODIES.get(scope["path"], BODY_LIMIT_BYTES)
            )
            if isinstance(body, Problem):
                return body
            receive = _Replay(body, receive)
        try:
            async with asyncio.timeout(self._pace.answer_s):
                await self._app(scope, receive, reply)
        except TimeoutError:
            return Problem(504, "timeout", f"no answer within {self._pace.answer_s:g} s; look with: stead status")
        return None


class _Reply:
    """``send``, with the security headers on whatever starts an answer."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            message["headers"] = [*message.get("headers", ()), *self._headers]
            self.started = True
        elif message["type"] == "websocket.accept":
            self.started = True
        await self._send(message)


class _Replay:
    """``receive``, for a body that has been read already."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _credentials(scope: Scope, headers: Headers, port: int, cookie: str) -> Credentials:
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return Credentials(
        method="WS" if scope["type"] == "websocket" else scope["method"],
        path=scope["path"],
        host=headers.get("host", "").lower(),
        origin=headers.get("origin", ""),
        authorization=headers.get("authorization", ""),
        cookies=_cookies("; ".join(headers.getlist("cookie")), cookie),
        csrf=headers.get("x-stead", ""),
        fetch_site=headers.get("sec-fetch-site", ""),
        bridge=headers.get("x-stead-door", ""),
        is_json=media_type == "application/json",
        has_body=headers.get("content-length", "0") != "0" or "transfer-encoding" in headers,
        port=port,
    )


def _cookies(header: str, wanted: str) -> tuple[str, ...]:
    """Every value under our name. A neighbour on the same host may have set another one; it must not shadow ours."""
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return tuple(value for name, _, value in pairs if name == wanted)


async def _read_body(headers: Headers, receive: Receive, timeout_s: float, most_bytes: int) -> bytes | Problem:
    too_large = Problem(413, "too_large", f"a body has at most {most_bytes} bytes; put long text into a file")
    announced = headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > most_bytes:
        return too_large
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Problem(400, "invalid", "the request broke off before its body ended; send it again")
                body += message.get("body", b"")
                if len(body) > most_bytes:
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return Problem(408, "timeout", f"the body did not arrive within {timeout_s:g} s; send it again")
