"""Serving the door on loopback: uvicorn in the daemon's own loop.

Layer: a door. Knows uvicorn and sockets; must not know what is served. Signals belong to the daemon, and an idle server
wakes up for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import socket
from collections.abc import Iterator
from random import SystemRandom
from typing import Any, Protocol, cast

import msgspec
from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from stead.domain.errors import Conflict
from stead.web.errors import ErrorBody, ErrorText

START_TIMEOUT_S = 10.0
GRACE_S = 1
"""What requests under way get to finish in; streams are ended before."""
UNREAD_TIMEOUT_MS = 30_000
"""The kernel breaks a connection whose peer takes nothing for this long."""
HEAD_LIMIT_BYTES = 64_000
HEAD_TIMEOUT_S = 15.0
MESSAGE_TIMEOUT_S = 60.0
"""For all of a request to come, whether or not anybody waits for its body."""
FRAMING_PER_BYTE = 8
"""Bytes around a body's chunks for each of its own, beyond what a head may have; past that the client is hostile."""
CONNECTIONS_LIMIT = 1024
"""Open at once, WebSockets apart. Past that the one that has been idle longest makes room."""
MESSAGE_LIMIT_BYTES = 64_000
"""Of a WebSocket message that comes in; only short ones may."""
_CHOSEN, _TRIES = range(20_000, 32_768), 20
"""Ports to choose from, below those that systems give to outgoing connections: one of these, a watcher's that looks for
the daemon even, could otherwise hold its port while it starts again."""
_READ_BYTES = 256_000
"""What is read at once; the head of the request, and other requests, may be in it."""


def listen(port: int) -> socket.socket:
    """A socket on 127.0.0.1. ``port`` 0 takes a free one.

    Raises:
        Conflict: the port is in use.
    """
    if port:
        return _bound(port)
    for chosen in SystemRandom().sample(_CHOSEN, _TRIES):
        with contextlib.suppress(Conflict):
            return _bound(chosen)
    return _bound(0)


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; elsewhere the streams' own farewell bounds it
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_TIMEOUT_MS)
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise Conflict(
                f"port {port} of 127.0.0.1 cannot be had ({error.strerror}); end what uses it, "
                "or set another port in config.toml"
            ) from error
        raise
    return listener


class Served(Protocol):
    """An ASGI application that can be asked to end its streams."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""

    async def close_streams(self) -> None:
        """End what has no end; the first step of leaving."""


class WebServer:
    """The door, open.

    Args:
        app: what is served.
        listeners: from ``listen``; closed at the end.
    """

    def __init__(self, app: Served, *listeners: socket.socket) -> None:
        self._app = app
        self._listeners = listeners
        self._server = _QuietServer(
            Config(
                app,
                http=cast("type[asyncio.Protocol]", functools.partial(_BoundedHttp, {})),
                ws=cast("type[asyncio.Protocol]", _web_socket),
                lifespan="off",
                log_config=None,
                log_level="warning",  # below that it logs whole requests, cookies included
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                ws_max_size=MESSAGE_LIMIT_BYTES,
                ws_per_message_deflate=False,
            )
        )
        self._task: asyncio.Task[None] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens first."""
        host, port = self._listeners[0].getsockname()
        return host, port

    async def start(self) -> None:
        """Take connections from now on.

        Raises:
            OSError: the socket does not listen.
        """
        self._task = asyncio.create_task(self._server.serve(list(self._listeners)), name="web")
        ready = asyncio.create_task(self._server.ready.wait())
        try:
            await asyncio.wait({self._task, ready}, timeout=START_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self._task.done():
            await self._task
        if not self._server.started:
            raise TimeoutError(f"the web server did not start within {START_TIMEOUT_S:g} s")

    async def stop(self) -> None:
        """End the streams, let requests finish, and close; at most about two seconds."""
        await self._app.close_streams()
        self._server.leave()
        if self._task is not None:
            await self._task
        for listener in self._listeners:
            listener.close()


class _BoundedHttp(HttpToolsProtocol):
    """HTTP whose requests are bounded in size, time and number, and have one reading only.

    uvicorn leaves that to a proxy, and there is none. What is no HTTP at all is answered in the API's own form, too.

    Args:
        open_ones: every connection of the server, oldest first; shared by all of them.
    """

    def __init__(self, open_ones: dict[_BoundedHttp, None], **parts: Any) -> None:
        super().__init__(**parts)
        self._open_ones = open_ones
        self._in_head = True
        self._head_bytes = self._framing_bytes = self._body_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered, or nothing can be before the caller goes on."""
        return self._deadline is not None or self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its base has it
        super().connection_made(transport)
        self._await(HEAD_TIMEOUT_S)
        if len(self._open_ones) >= CONNECTIONS_LIMIT:
            next((other for other in self._open_ones if other.idle), self).transport.abort()
        self._open_ones[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._await(HEAD_TIMEOUT_S)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:
            raise ValueError("a trailer is no header: nothing may be added to a request that was let in")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self.url.startswith(b"/"):
            raise ValueError("the target must be a path: a whole URL would name a second host")
        if self.parser.should_upgrade() and self.parser.get_method() != b"GET":
            raise ValueError("only a GET becomes a WebSocket")
        self._in_head, self._framing_bytes, self._body_bytes = False, 0, 0
        self._await(MESSAGE_TIMEOUT_S)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._framing_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._end_wait()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._leave()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_LIMIT_BYTES:
                self.send_400_response(f"a request's head has at most {HEAD_LIMIT_BYTES} bytes")
        elif self._deadline is not None:
            self._framing_bytes += len(data)
            if self._framing_bytes > _READ_BYTES + HEAD_LIMIT_BYTES + FRAMING_PER_BYTE * self._body_bytes:
                self.send_400_response("the body is nearly all chunk headers; send larger chunks")

    def send_400_response(self, msg: str) -> None:
        body = msgspec.json.encode(ErrorBody(ErrorText("invalid", msg)))
        head = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        self.transport.close()

    def _await(self, timeout_s: float) -> None:
        """From now on, let what comes next be there in time, or hang up."""
        self._end_wait()
        self._deadline = self.loop.call_later(timeout_s, self.transport.close)

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _leave(self) -> None:
        self._end_wait()
        self._open_ones.pop(self, None)


def _web_socket(**parts: Any) -> asyncio.Protocol:
    """The WebSocket of uvicorn, imported when the first one is opened: a daemon need not wait for it to be ready."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    return WebSocketsSansIOProtocol(**parts)


class _QuietServer(Server):
    """uvicorn, without its own signal handlers and its ten wake-ups a second."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Begin to shut down."""
        self.should_exit = True
        self._leaving.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As its base does it, which sleeps for 100 ms first, whatever is under way."""
        state = self.server_state
        for server in self.servers:
            server.close()
        for connection in list(state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                while state.connections or state.tasks:  # noqa: ASYNC110 - nothing of it says when they have ended
                    await asyncio.sleep(0.01)
        for task in state.tasks:
            task.cancel()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
