"""A port in front of a server of any protocol, whose connections a test can drop, or answer with nonsense."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Literal

Fault = Literal["", "500", "page", "garbage", "nothing"]
"""An error of the server, a page of words for every request, bytes that are of no protocol, no answer at all."""
_HTTP = {"500": ("500 Internal Server Error", "text/html"), "page": ("200 OK", "text/html")}
_PAGE = b"<html><h1>Back soon</h1></html>"


class Gate:
    """The port, on loopback.

    Args:
        behind: the server's port.
        tls: by which the server is known, where what is said of an error has to come by TLS.
        error: what a server says that has an error and is not one of HTTP, as its first words.
    """

    def __init__(self, behind: int, tls: ssl.SSLContext | None = None, error: bytes = b"") -> None:
        self.port = 0
        self.asked = 0
        """How many connections came while it did not work."""
        self._loop = asyncio.get_running_loop()
        self._fault: Fault = ""
        self._tls, self._error = tls, error
        self._behind = behind
        self._open: dict[asyncio.Task[None], tuple[asyncio.StreamWriter, ...]] = {}

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._open[task] = (writer,)
        task.add_done_callback(self._open.pop)

    def breaks(self, fault: Fault) -> None:
        """What is behind it does not work from now on, or with "" it does. From any thread."""
        self._fault = fault
        self._loop.call_soon_threadsafe(self.cut)

    async def _fail(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        with contextlib.suppress(OSError):
            if self._tls and self._fault != "nothing":
                await writer.start_tls(self._tls)
            if self._error and self._fault != "nothing":
                writer.write(self._error if self._fault == "500" else b"\0\xff of no protocol\r\n")
            while await reader.read(65_536):
                if self._fault != "nothing":
                    status, kind = _HTTP.get(self._fault, ("", ""))
                    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(_PAGE)}\r\n\r\n"
                    writer.write(head.encode() + _PAGE if status else b"\0\xff of no protocol\r\n\r\n")
                    break
            await writer.drain()
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._fault:
            await self._fail(reader, writer)
            return
        try:
            there, away = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = (writer, away)
        await asyncio.gather(_pass(reader, away), _pass(there, writer))

    def cut(self) -> None:
        """Drop every connection, on both sides."""
        for writers in self._open.values():
            for writer in writers:
                writer.transport.abort()

    async def close(self) -> None:
        """Drop every connection for good."""
        self.cut()
        await asyncio.gather(*self._open, return_exceptions=True)


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while piece := await source.read(65_536):
            sink.write(piece)
            await sink.drain()
        sink.close()
    except OSError:
        sink.transport.abort()


@contextlib.asynccontextmanager
async def gate(behind: int, tls: ssl.SSLContext | None = None, error: bytes = b"") -> AsyncIterator[Gate]:
    """One in front of a port of loopback; see ``Gate``."""
    there = Gate(behind, tls, error)
    server = await asyncio.start_server(there.connected, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    try:
        yield there
    finally:
        server.close()
        await there.close()
