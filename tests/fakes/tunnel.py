"""A proxy as a machine's is: CONNECT alone, to named targets, with TLS from the first byte on for the host itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class Tunnel:
    """The proxy. ``targets``: what it let through, in order; ``refused``: what it did not; ``open``: how many now."""

    url: str = ""
    allowed: set[str] = field(default_factory=set)
    targets: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def drop(self) -> int:
        """End every connection; how many there were."""
        left = list(self._open)
        for writer in left:
            writer.transport.abort()
        return len(left)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._pass(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, version = head.split("\r\n", 1)[0].split(" ")
        host, _, port = target.rpartition(":")
        assert version == "HTTP/1.1" and f"\r\nHost: {target}\r\n" in head
        if method != "CONNECT" or target not in self.allowed:
            self.refused.append(target)
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        hello = await reader.read(4096)
        if hello[:1] != b"\x16" or host.encode() not in hello:
            self.refused.append(target)
            return
        self.targets.append(target)
        there, away = await asyncio.open_connection(host, int(port))
        self._open.add(away)
        away.write(hello)
        try:
            await asyncio.gather(_copy(reader, away), _copy(there, writer))
        finally:
            self._open.discard(away)
            away.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(65_536):
        sink.write(piece)
        await sink.drain()
    sink.close()


@contextlib.asynccontextmanager
async def tunnel(*allowed: str) -> AsyncIterator[Tunnel]:
    """The proxy, at a port of its own."""
    there = Tunnel(allowed=set(allowed))
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0)
    there.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield there
    finally:
        server.close()
        there.drop()
