"""The way out of a channel's process as the daemon gives it: a proxy that passes TLS alone, to one host."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def proxy(known: str) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that takes one host's name for this computer. Gives its address, and the targets that were asked for."""
    asked: list[str] = []
    serving: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, _ = head.split("\r\n")[0].split(" ")
            asked.append(f"{method} {target}")
            host, _, port = target.rpartition(":")
            if method == "CONNECT" and host == known:
                back, there = await asyncio.open_connection("127.0.0.1", int(port))
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                try:
                    await asyncio.gather(_pass(reader, there), _pass(back, writer))
                finally:
                    there.close()
            else:
                writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()
