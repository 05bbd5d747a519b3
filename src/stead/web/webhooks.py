"""The listener for webhooks: a port of its own, with nothing behind it but the way in for what was signed.

Layer: a door, and part of the trusted base. It shares with the page's door the bounds of ``server.py`` on heads,
connections and time, and nothing else: no session, no page, no API, no cookie. A request's body is read to its bound
before anything is looked up, and everything that is not signed gets the same answer, so that nobody learns which
triggers there are. Requests of messaging platforms go on to their channels, whose processes check them. Nothing of a
request is logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import socket
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from starlette.types import Receive, Scope, Send

from stead.domain.channel_wire import Request, Response
from stead.domain.errors import Conflict, StorageFault
from stead.domain.ports import Clock
from stead.domain.triggers import MOST_BYTES, Webhook
from stead.domain.webhook_signatures import Signed, asked, verify
from stead.runtime.arrivals import Arrivals
from stead.web.channel_requests import ChannelDoor
from stead.web.door import write_private
from stead.web.server import WebServer, listen

log = logging.getLogger("stead")
_PATH = re.compile(r"/hooks/([a-z][a-z0-9-]{0,30})")
_CHANNEL = re.compile(r"/channels/([a-z][a-z0-9-]{0,30})")
_STATUS = {"taken": 200, "off": 503, "queue": 429, "rate": 429}
_WHY = {"queue": "too many runs waited already", "rate": "too many came within an hour"}
_NOBODY = Webhook("github", "none")
"""Stands for the trigger of a name that there is not, so that its requests are read and checked as others are."""
_LIMIT = re.compile(rb"[0-9]{1,18}")
TEST_S = 10.0


class WebhookApp:
    """The ASGI application of the listener.

    Args:
        arrivals: takes in what was signed.
        clock: says what time it is.
        hosts: by which names it answers, in lower case and without a port.
    """

    def __init__(self, arrivals: Arrivals, clock: Clock, hosts: frozenset[str]) -> None:
        self._arrivals = arrivals
        self._clock = clock
        self._hosts = hosts
        self._channels = ChannelDoor(arrivals, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        status, said, media = 500, "", "text/plain"
        try:
            if scope["type"] == "http" and (found := _CHANNEL.fullmatch(scope["path"])):
                answer = await self._to_channel(found[1], scope, receive)
                status, said, media = answer.status, answer.body, answer.media_type
            else:
                status, said = await self._answer(scope, receive)
        except StorageFault as fault:
            log.error("a webhook was not recorded, and its sender got a 503: %s", fault)
            status = 503
        except Exception:
            log.exception("a webhook failed")
        kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
        content = said.encode("utf-8", "replace")
        headers = [(b"content-length", str(len(content)).encode()), (b"connection", b"close")]
        headers += [(b"content-type", media.encode()), (b"x-content-type-options", b"nosniff")]
        headers += [(b"retry-after", b"600")] if status in (429, 503) else []
        await send({"type": f"{kind}.start", "status": status, "headers": headers})
        await send({"type": f"{kind}.body", "body": content})

    async def close_streams(self) -> None:
        """There are none."""

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, str]:
        if scope["type"] != "http" or not self._is_ours(scope):
            return 404, ""
        found = _PATH.fullmatch(scope["path"])
        name = found[1] if found and scope["raw_path"] == scope["path"].encode() else ""
        source = self._arrivals.source(name)
        hook = source if isinstance(source, Webhook) else None
        if scope["method"] == "GET":
            said = asked(hook.form, parse_qsl(scope["query_string"].decode("latin-1"))) if hook else ""
            return (200, said) if said else (404, "")
        if scope["method"] != "POST":
            return 404, ""
        body = await _read(scope, receive)
        if body is None:
            return 413, ""
        headers: dict[str, list[str]] = {}
        for key, value in scope["headers"]:
            headers.setdefault(key.decode("latin-1"), []).append(value.decode("latin-1"))
        known = hook or _NOBODY
        key = await asyncio.to_thread(self._arrivals.secret, known.secret) if hook else ""
        signed = await asyncio.to_thread(verify, known.form, key, headers, body, self._clock.now_ms())
        return await self._signed(name, signed, body)

    async def _signed(self, name: str, signed: Signed | str, body: bytes) -> tuple[int, str]:
        if isinstance(signed, str):
            await self._arrivals.refused(name, signed)
            return 404, ""
        if not signed.delivery:
            return 200, signed.challenge
        outcome = await self._arrivals.take(name, signed.delivery, body)
        if outcome == "queue" or outcome == "rate":
            await self._arrivals.refused(name, _WHY[outcome], skip=outcome)
        return _STATUS.get(outcome, 503), ""

    async def _to_channel(self, name: str, scope: Scope, receive: Receive) -> Response:
        spelled = scope["raw_path"] == scope["path"].encode()
        if not spelled or not self._is_ours(scope) or scope["method"] not in ("GET", "POST"):
            return Response(0, 404)
        body = await _read(scope, receive)
        if body is None:
            return Response(0, 413)
        headers: dict[str, str] = {}
        for key, value in scope[
            "headers"
        ]:  # one that is doubled is both together, so no signature that is doubled fits
            known = headers.get(header := key.decode("latin-1").lower())
            headers[header] = value.decode("latin-1") if known is None else f"{known}, {value.decode('latin-1')}"
        request = Request(0, scope["method"], scope["query_string"].decode("latin-1"), headers, body)
        return await self._channels.answer(name, (scope.get("client") or ("",))[0], request)

    def _is_ours(self, scope: Scope) -> bool:
        hosts = [value for key, value in scope["headers"] if key == b"host"]
        named = hosts[0].decode("latin-1").lower().rpartition(":") if len(hosts) == 1 else ("", "", "")
        return (named[0] if named[2].isdecimal() and named[0] else "".join(named)) in self._hosts


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The body; None where it is larger than what is taken, which an announced length says before a byte is read.

    The server bounds how long it may take; a sender that broke off has an empty body, which nobody signed.
    """
    lengths = [value for key, value in scope["headers"] if key == b"content-length"]
    if any(not _LIMIT.fullmatch(length) or int(length) > MOST_BYTES for length in lengths):
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


class WebhookListener:
    """Opens and closes it.

    Args:
        arrivals: see ``WebhookApp``.
        clock: so also.
        kept: the file that keeps its port.
        port: that the settings name; 0 for one of its own.
        url: how senders reach it; "" where only this computer does.
    """

    def __init__(self, arrivals: Arrivals, clock: Clock, kept: Path, port: int, url: str) -> None:
        self._arrivals = arrivals
        self._clock = clock
        self._kept = kept
        self._port = port
        self._public = url
        self._server: WebServer | None = None

    @property
    def url(self) -> str:
        """See ``runtime.arrivals.Listener``."""
        if self._server is None:
            return ""
        return f"{self._public or f'http://127.0.0.1:{self._server.address[1]}'}/hooks/"

    @property
    def channels_url(self) -> str:
        """See ``runtime.arrivals.Listener``."""
        return f"{self.url.removesuffix('hooks/')}channels/" if self.url else ""

    async def keep(self, *, wanted: bool) -> None:
        """Have it open, or closed.

        Raises:
            Conflict: its port is in use.
        """
        if wanted and self._server is None:
            listener = self._listen()
            hosts = frozenset({"127.0.0.1", "localhost", urlsplit(self._public).hostname or "localhost"})
            self._server = WebServer(WebhookApp(self._arrivals, self._clock, hosts), listener)
            await self._server.start()
        elif not wanted and self._server is not None:
            server, self._server = self._server, None
            await server.stop()

    async def post(self, name: str, headers: dict[str, str], body: bytes) -> int:
        """See ``runtime.arrivals.Listener``."""
        if self._server is None:
            raise OSError("it is closed")
        lines = [f"POST /hooks/{name} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body)}"]
        lines += [f"{key}: {value}" for key, value in {**headers, "content-type": "application/json"}.items()]
        async with asyncio.timeout(TEST_S):
            reader, writer = await asyncio.open_connection(*self._server.address)
            try:
                writer.write("\r\n".join((*lines, "", "")).encode() + body)
                answer = await reader.readline()
            finally:
                writer.close()
        status = answer.split(b" ")[1:2]
        if not status or not status[0].isdigit():
            raise OSError("it gave no answer")
        return int(status[0])

    def _listen(self) -> socket.socket:
        kept = 0
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = int(json.loads(self._kept.read_text("utf-8"))["port"])
        try:
            listener = listen(self._port or kept)
        except Conflict as taken:
            if self._port:
                raise
            log.warning("webhooks: %s; a new port is taken, so what leads to the older one is dead", taken)
            listener = listen(0)
        write_private(self._kept, json.dumps({"port": listener.getsockname()[1]}))
        return listener
