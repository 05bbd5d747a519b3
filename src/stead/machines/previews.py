"""Previews: what services serve, at names of their own on loopback, for the person's browser.

Layer: machines. Reads the head of a connection's first request, finds the service by its Host, and from then on carries
bytes both ways, so that WebSockets and event streams work. Every later request of the connection goes to the same
service, whatever its Host says: all that a connection can reach is the one machine that its first request was for. A
name is 128 random bits and made when the person asks for it; no other Host gets anything, so no rebinding of DNS does.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable

from stead.domain.errors import MachineDied
from stead.domain.ids import SessionId

HEAD_LIMIT_BYTES = 32 << 10
MOST_CONNECTIONS = 200
_CHUNK = 64 << 10

Dial = Callable[[SessionId, str, int], Awaitable[socket.socket | None]]
"""Connects to a port of a session's service, by its id; None once that has ended."""


class Previews:
    """The listener, which opens with the first preview, and what its names lead to.

    Args:
        dial: connects to a service; see ``Dial``.
        head_limit_s: seconds for the first head to come.
    """

    def __init__(self, dial: Dial, head_limit_s: float = 10.0) -> None:
        self._dial = dial
        self._head_limit_s = head_limit_s
        self._targets: dict[str, tuple[SessionId, str, int]] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._suffix = ""

    async def open(self, session: SessionId, service: str, port: int) -> str:
        """The URL of a service's port; the same one until it is closed."""
        target = (session, service, port)
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT_BYTES)
            self._suffix = f".localhost:{self._server.sockets[0].getsockname()[1]}"
        token = next((name for name, known in self._targets.items() if known == target), "") or secrets.token_hex(16)
        self._targets[token] = target
        return f"http://{token}{self._suffix}/"

    async def close(self) -> None:
        """End all previews, with their connections. Those of one service end with it."""
        self._targets.clear()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        if self._server:
            self._server.close()
            self._server = None

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._open.add(task)
        try:
            if len(self._open) <= MOST_CONNECTIONS:
                await self._serve(reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, OSError):
            pass  # the browser or the service has left or says nothing, or the preview was closed: nobody waits for us
        finally:
            self._open.remove(task)
            writer.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._head_limit_s):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            head = b""
        token = self._named(head)
        try:
            machine = await self._dial(*self._targets[token]) if token else None
        except (OSError, MachineDied):
            await _say(writer, b"502 Bad Gateway", b"The service does not answer at the moment; look at its log.\n")
            return
        if machine is None:
            self._targets.pop(token, None)
            await _say(writer, b"404 Not Found", b"There is no such preview, or no longer.\n")
            return
        there, back = await asyncio.open_connection(sock=machine)
        try:
            back.write(head)
            await _carry((reader, writer), (there, back))
        finally:
            back.close()

    def _named(self, head: bytes) -> str:
        """The name that a request is for; "" for none of ours."""
        lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
        hosts = [value.strip().decode("latin-1").lower() for name, _, value in lines if name.lower() == b"host"]
        token = hosts[0].removesuffix(self._suffix) if len(hosts) == 1 and hosts[0].endswith(self._suffix) else ""
        return token if token in self._targets else ""


async def _say(writer: StreamWriter, status: bytes, text: bytes) -> None:
    head = b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    writer.write(head % (status, len(text)) + text)
    await writer.drain()


async def _carry(browser: tuple[StreamReader, StreamWriter], machine: tuple[StreamReader, StreamWriter]) -> None:
    """Carry bytes both ways until the service has said its last; neither side is read faster than the other takes."""
    try:
        async with asyncio.TaskGroup() as both:
            sending = both.create_task(_pump(browser[0], machine[1]))
            await _pump(machine[0], browser[1])
            sending.cancel()
    except* OSError:
        pass  # one side has left


async def _pump(reader: StreamReader, writer: StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.write_eof()
