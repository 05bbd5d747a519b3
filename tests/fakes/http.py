"""A small HTTP/1.1 server on asyncio streams, for model servers that tests script.

It knows no model's wire. It keeps connections alive, takes bodies by length, sends chunked replies, and hands every
request over with the exact bytes of its body. Requests that break HTTP get 400 and end the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

BODY_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True)
class Request:
    """One request as it came. Header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Exchange:
    """The way to answer one request: either ``send`` once, or ``start``, ``chunk`` and ``finish``."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    answered: bool = field(default=False)

    async def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer, JSON unless the headers say otherwise."""
        lines = {"content-type": "application/json", **(headers or {}), "content-length": str(len(body))}
        self._head(status, lines)
        self.writer.write(body)
        await self.writer.drain()

    async def start(self, headers: Mapping[str, str] | None = None) -> None:
        """Begin a chunked event stream."""
        self._head(200, {"content-type": "text/event-stream", **(headers or {}), "transfer-encoding": "chunked"})
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """Send a piece of the stream at once."""
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def finish(self) -> None:
        """End the stream properly."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def left_within(self, seconds: float) -> bool:
        """Wait, and say whether the client closed its side meanwhile."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                await self.reader.read(1)
            return True
        return self.writer.transport.is_closing()

    def drop(self) -> None:
        """Cut the connection in the middle, without a word."""
        self.writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.answered = True
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())


Handler = Callable[[Request, Exchange], Awaitable[None]]


@contextlib.asynccontextmanager
async def serve(
    handler: Handler,
    port: int = 0,
    on_connect: Callable[[], None] = lambda: None,
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Serve on 127.0.0.1 and give the port; at the end every connection is closed."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        on_connect()
        try:
            await _converse(handler, reader, writer)
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port, limit=1024 * 1024, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _converse(handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    gone = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
    with contextlib.suppress(*gone):
        while (request := await _read(reader)) is not None:
            exchange = Exchange(reader, writer)
            await handler(request, exchange)
            if not exchange.answered or writer.transport.is_closing():
                return


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request, or nothing when the client has gone."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _version = first.split(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    size = int(headers.get("content-length", "0"))
    if size > BODY_LIMIT or headers.get("transfer-encoding"):
        return None
    return Request(method, path, headers, await reader.readexactly(size))
