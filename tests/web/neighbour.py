"""A server that an agent started on another port of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

DEADLINE_S = 30.0


@dataclass
class Neighbour:
    """A server that an agent started: it writes down what it is sent."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(DEADLINE_S):
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            body = b"<!doctype html><title>neighbour</title>"
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: own=1\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
        writer.close()


@asynccontextmanager
async def neighbour() -> AsyncIterator[Neighbour]:
    server = Neighbour()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server
