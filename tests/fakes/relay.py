"""A proxy as the egress proxy is one for plain HTTP, which does its worst where a test says so."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from tests.fakes.faults import Fault
from tests.fakes.http import Exchange, Request, serve

Change = Callable[[bytes], bytes]
_HOPS = ("host", "connection", "proxy-connection", "content-length", "accept-encoding")


class Relay:
    """A running one.

    ``requests`` are those that came; ``change`` alters what servers answer. Given a ``server`` it stands for that one.
    """

    def __init__(self, server: str = "") -> None:
        self._server = server
        self.requests: list[Request] = []
        self.change: Change = lambda body: body
        self.port = 0
        self._faults: list[tuple[re.Pattern[str], Fault]] = []
        self._open: list[Exchange] = []

    @property
    def environment(self) -> dict[str, str]:
        """Sends a program's requests through it."""
        names = ("HTTP_PROXY", "HTTPS_PROXY")
        return dict.fromkeys((*names, *map(str.lower, names)), f"http://127.0.0.1:{self.port}")

    def next(self, pattern: str, fault: Fault, times: int = 1) -> None:
        """What happens to the next requests whose address has the pattern."""
        self._faults += [(re.compile(pattern), fault)] * times

    def drop(self) -> int:
        """Cut every connection on which a request waits; gives how many."""
        waiting = list(self._open)
        for exchange in waiting:
            exchange.drop()
        return len(waiting)

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request."""
        self.requests.append(request)
        if request.method == "CONNECT":
            return await _tunnel(request, exchange)
        for at, (pattern, fault) in enumerate(self._faults):
            if pattern.search(request.path):
                del self._faults[at]
                return await fault(request, exchange)
        self._open.append(exchange)
        try:
            await self._forward(request, exchange)
        finally:
            self._open.remove(exchange)

    async def _forward(self, request: Request, exchange: Exchange) -> None:
        headers = {name: value for name, value in request.headers.items() if name not in _HOPS}
        async with aiohttp.ClientSession() as http:
            asking = asyncio.create_task(self._asked(http, request, headers))
            gone = asyncio.create_task(exchange.left_within(3600))
            await asyncio.wait({asking, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            asking.cancel()
            await asyncio.gather(asking, gone, return_exceptions=True)
            if asking.cancelled() or exchange.writer.transport.is_closing():
                return
            status, media, body = asking.result()
        await exchange.send(status, self.change(body), {"content-type": media})

    async def _asked(
        self, http: aiohttp.ClientSession, request: Request, headers: dict[str, str]
    ) -> tuple[int, str, bytes]:
        async with http.request(
            request.method, self._server + request.path, headers=headers, data=request.body
        ) as answer:
            return answer.status, answer.headers.get("content-type", ""), await answer.read()


async def _tunnel(request: Request, exchange: Exchange) -> None:
    host, _, port = request.path.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    exchange.answered = True
    exchange.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
        sink.close()

    try:
        await asyncio.gather(pump(exchange.reader, writer), pump(reader, exchange.writer), return_exceptions=True)
    finally:
        writer.close()


@asynccontextmanager
async def relay(server: str = "", tls: ssl.SSLContext | None = None) -> AsyncIterator[Relay]:
    """One on loopback: a proxy, or in front of a server, with TLS perhaps."""
    running = Relay(server)
    async with serve(running.handle, tls=tls) as running.port:
        yield running
