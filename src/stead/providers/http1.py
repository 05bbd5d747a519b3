"""One HTTP/1.1 connection to a model server: a request, its answer, then the next request.

Layer: providers. Knows no vendor, no deadline and no size but its own buffers'. The event loop's callbacks parse what
comes as it comes, so an answer can be read to its end while nothing waits for it, and without a task.

Source: RFC 9110, RFC 9112.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Callable, Sequence
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

HEAD_LIMIT_BYTES = 100 * 1024
WAITING_BYTES = 64 * 1024
"""So much of a body may wait to be taken; then no more is read from the socket until it was."""


class Nonsense(Exception):
    """The answer breaks the form that every provider keeps to."""


class HttpConnection(asyncio.Protocol):
    """Serves one request at a time; httptools calls the ``on_`` methods.

    Args:
        on_free: gets this connection when an answer that is read in the background has ended.
        on_lost: gets it when it is closed, by whichever side.
    """

    def __init__(self, on_free: Callable[[HttpConnection], None], on_lost: Callable[[HttpConnection], None]) -> None:
        self.status = 0
        """Of the answer; 0 while its head is not there."""
        self.headers: dict[str, str] = {}
        """Names in lower case."""
        self.ended = False
        """The whole answer has come, though some of it may still have to be taken."""
        self.reusable = False
        """Another request can follow; known when the answer has ended."""
        self._on_free = on_free
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._parser = HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._closed = self._loop.create_future()
        self._fault: Exception | None = None
        self._head_bytes = 0
        self._pieces: list[bytes] = []
        self._waiting_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._bound: asyncio.TimerHandle | None = None
        """Set while the rest of an answer is read in the background."""

    # What its user calls

    def send(self, head: bytes, body: Sequence[bytes] = ()) -> None:
        """Begin a request.

        Args:
            head: request line and headers, with the empty line.
            body: all of it; the pieces are not copied.
        """
        self.take()
        self.status, self.headers, self.ended, self.reusable = 0, {}, False, False
        self._head_bytes = 0
        if self._transport is not None:
            self._transport.writelines([head, *body])

    async def change(self) -> None:
        """Wait until more of the answer has come.

        Raises:
            OSError, Nonsense: no more will.
        """
        if self._fault is not None:
            raise self._fault
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def take(self) -> bytes:
        """What has come of the body since the last time; b"" for nothing."""
        taken = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces = []
        if self._waiting_bytes > WAITING_BYTES and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        self._waiting_bytes = 0
        return taken

    def finish(self, within_s: float) -> None:
        """Read the rest of the answer in the background, dropping it; past the time limit the connection is closed."""
        self.take()
        if self._transport is not None:
            self._bound = self._loop.call_later(within_s, self.abort)

    async def start_tls(self, trust: ssl.SSLContext, host: str) -> None:
        """Go on in TLS behind a proxy that has answered.

        Raises:
            OSError: the host cannot be trusted, or the connection broke.
        """
        if self._fault is not None or self._transport is None:
            raise self._fault or ConnectionResetError("the proxy closed the connection")
        self._transport = await self._loop.start_tls(self._transport, self, trust, server_hostname=host)
        self._parser = HttpResponseParser(self)

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    async def closed(self) -> None:
        """Wait until it is closed; one that was never open is."""
        if self._transport is not None:
            await self._closed

    def is_readable(self) -> bool:
        """Whether something waits to be read, the end of the connection included."""
        if self._transport is None:
            return True
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See ``asyncio.Protocol``."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """See ``asyncio.Protocol``."""
        if not self.status:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._break(Nonsense(str(error.__context__ or error)))
        if not self.status and self._head_bytes > HEAD_LIMIT_BYTES:
            self._break(Nonsense("its head has no end"))

    def connection_lost(self, error: Exception | None) -> None:
        """See ``asyncio.Protocol``."""
        self._transport = None
        by_length = self.headers.keys() & {"content-length", "transfer-encoding"}
        if self.status and not by_length and error is None and self._fault is None:
            self.ended = True  # a body without a length ends with the connection
            self._wake()
        self._break(error or ConnectionResetError("the server closed the connection"))
        if self._bound is not None:
            self._bound.cancel()
        self._closed.set_result(None)
        self._on_lost(self)

    # What the parser calls

    def on_message_begin(self) -> None:
        """An answer begins."""
        if self.ended:
            raise Nonsense("it answers what was not asked")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header of it; of two with one name the last one counts."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Its head is there."""
        status = self._parser.get_status_code()
        if status < 200:  # an interim answer; the real one follows
            self.headers = {}
            return
        self.status = status
        self._wake()

    def on_body(self, data: bytes) -> None:
        """More of its body."""
        self._waiting_bytes += len(data)
        if self._bound is not None:
            if self._waiting_bytes > WAITING_BYTES:
                self._break(Nonsense("its stream does not end"))
            return
        self._pieces.append(data)
        full = self._waiting_bytes > WAITING_BYTES >= self._waiting_bytes - len(data)
        if full and self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
        self._wake()

    def on_message_complete(self) -> None:
        """It has ended."""
        if not self.status:
            return
        self.ended, self.reusable = True, self._parser.should_keep_alive()
        self._wake()
        if self._bound is not None:
            self._bound.cancel()
            self._bound = None
            self._on_free(self)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _break(self, fault: Exception) -> None:
        """The connection is of no more use; what waits for more of the answer gets the fault."""
        self._fault = self._fault or fault
        self.reusable = False
        self.abort()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(self._fault)
