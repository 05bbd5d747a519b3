"""The bytes between us and a model server: in time, in bounds, never retried, redirected or compressed.

Layer: providers. Knows HTTP and no vendor's wire. A prompt goes only where the person sent it. Deadlines are put on
every byte, pings included; sizes on the answer and on its lines. Importing this loads the HTTP library.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

import httpcore2

from stead import __version__
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.pricing import is_loopback

LINE_LIMIT_BYTES = 4 * 1024 * 1024
"""A stream is lines of events; one that never ends its line would cost quadratic time to take in."""
SLICE_BYTES = 4096
"""Larger pieces are taken in by slices, so that others get their turn while a flood is parsed."""
LIMIT_BYTES = 16 * 1024 * 1024
"""How large an answer may be that is taken whole."""
KEPT_ALIVE = 20
KEPT_ALIVE_S = 20.0


class Overflow(Exception):
    """The answer is larger than any reply can be."""


class Nonsense(Exception):
    """The answer breaks the form that every provider keeps to."""


class Silence(Exception):
    """Nothing came in time."""


BROKEN = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    OSError,
    Overflow,
    Nonsense,
    Silence,
)
"""What asking a server can raise, wherever it breaks off."""
UNSENT = (
    httpcore2.ConnectError,
    httpcore2.ConnectTimeout,
    httpcore2.PoolTimeout,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)
"""Those of ``BROKEN`` that come before a byte of the request was sent."""


class Answer:
    """An answer whose head is there. Header names are lower case."""

    def __init__(
        self, response: httpcore2.Response, between_s: float, limit_bytes: int, waits: set[asyncio.Timeout]
    ) -> None:
        self.status = response.status
        self.headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in response.headers}
        self.is_whole = False
        """Set it when what may follow changes nothing: it is read in the background, and the connection kept."""
        self._response = response
        self._stream = aiter(response.stream)  # type: ignore[arg-type]  # an async one, since the pool is
        self._between_s = between_s
        self._limit_bytes = limit_bytes
        self._waits = waits

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it comes, in slices; a second call goes on where the first one stopped.

        Raises:
            BROKEN: it breaks off, comes too slowly or is too large.
        """
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise Nonsense("it is compressed, which was not asked for")  # it could unpack past every limit
        total, line = 0, 0
        while True:
            wait = asyncio.timeout(self._between_s)
            self._waits.add(wait)
            try:
                async with wait:
                    piece = await anext(self._stream)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Silence(f"no data for {self._between_s:g} s, or since this computer woke") from None
            finally:
                self._waits.discard(wait)
            total += len(piece)
            last_break = piece.rfind(b"\n")
            line = line + len(piece) if last_break < 0 else len(piece) - last_break
            if total > self._limit_bytes or line > LINE_LIMIT_BYTES:
                raise Overflow(f"it passed {total // 1024} KiB")
            for at in range(0, len(piece), SLICE_BYTES):
                if at:
                    await asyncio.sleep(0)
                yield piece[at : at + SLICE_BYTES]

    async def whole(self) -> bytes:
        """The whole body.

        Raises:
            BROKEN: as ``pieces``.
        """
        return b"".join([piece async for piece in self.pieces()])

    async def close(self) -> None:
        """Let go of the connection: kept for another request if the answer has been read to its end, else closed."""
        await self._response.aclose()

    async def end(self, within_s: float) -> None:
        """Read what is left, within the time and size that are allowed; then close."""
        try:
            async with asyncio.timeout(within_s):
                async for _ in self.pieces():
                    continue
        except (*BROKEN, TimeoutError):
            return  # the reply is whole already
        finally:
            await self.close()


class Channel:
    """HTTP to one endpoint: connections that are kept alive. Close it.

    Args:
        endpoint: where; its key is not sent from here.

    Raises:
        Broken: the environment names a proxy of a kind that is not supported.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        parts = urlsplit(endpoint.base_url)
        self._origin = (parts.scheme.encode(), (parts.hostname or "").encode("idna"), parts.port)
        self._path = parts.path.rstrip("/")
        self._headers = {
            b"host": parts.netloc.rpartition("@")[2].encode("idna"),
            b"user-agent": f"stead/{__version__}".encode(),
            b"accept-encoding": b"identity",
        }
        # A name and password within an address, which a gateway in between asks for, stand in the key's place.
        self._named = {b"authorization": b"Basic " + _basic(parts.username, parts.password)} if parts.username else {}
        self._pool = _pool(endpoint, plain=parts.scheme == "http")
        self._connect_s = endpoint.deadlines.connect_s
        self._first_byte_s = endpoint.deadlines.first_byte_s * endpoint.preset.patience
        self._between_s = endpoint.deadlines.between_s
        self._ending_s = endpoint.deadlines.ending_s
        self._after_sleep_s = endpoint.deadlines.after_sleep_s
        self._is_near = is_loopback(endpoint.base_url)
        self._first_waits: set[asyncio.Timeout] = set()
        self._waits: set[asyncio.Timeout] = set()
        """Of requests that wait for their answer to begin, and for more of it."""
        self._endings: set[asyncio.Task[None]] = set()
        """They read what comes behind a whole reply."""

    @contextlib.asynccontextmanager
    async def ask(
        self,
        target: str,
        headers: Mapping[bytes, bytes],
        body: Sequence[bytes] | None = None,
        *,
        limit_bytes: int = LIMIT_BYTES,
        connect_s: float | None = None,
    ) -> AsyncIterator[Answer]:
        """Send a request; the answer is there for as long as the block runs, and is cut off at its end.

        Args:
            target: path and query, below the base URL.
            headers: what it carries besides our own.
            body: JSON in pieces, sent by POST; None asks by GET.
            limit_bytes: how large the answer may be.
            connect_s: another time limit for reaching the server than the endpoint's.

        Raises:
            BROKEN: no answer came.
        """
        scheme, host, port = self._origin
        sent = {**self._headers, **headers, **self._named}
        if body is not None:
            sent |= {b"content-type": b"application/json", b"content-length": b"%d" % sum(map(len, body))}
        request = httpcore2.Request(
            "GET" if body is None else "POST",
            httpcore2.URL(scheme=scheme, host=host, port=port, target=(self._path + target).encode("ascii")),
            headers=list(sent.items()),
            content=None if body is None else _each(body),
            extensions={"timeout": {"connect": connect_s or self._connect_s}},
        )
        wait = asyncio.timeout(self._first_byte_s)
        self._first_waits.add(wait)
        try:
            async with wait:
                response = await self._pool.handle_async_request(request)
        except TimeoutError:
            raise Silence(f"no answer within {self._first_byte_s:g} s, or since this computer woke") from None
        finally:
            self._first_waits.discard(wait)
        answer = Answer(response, self._between_s, limit_bytes, self._waits)
        try:
            yield answer
        finally:
            if answer.is_whole:
                ending = asyncio.create_task(answer.end(self._ending_s))
                self._endings.add(ending)
                ending.add_done_callback(self._endings.discard)
                await asyncio.sleep(0)  # most often the end is here already, and the connection is free after one step
            else:
                await answer.close()

    def woke(self) -> None:
        """The host has slept. What is waited for comes soon, or not at all: a connection is lost without a word.

        A server on this computer slept too, and may go on thinking before it begins to answer.
        """
        limit = asyncio.get_running_loop().time() + self._after_sleep_s
        for wait in (*self._waits, *(() if self._is_near else self._first_waits)):
            if not wait.expired() and (wait.when() or 0) > limit:
                wait.reschedule(limit)

    async def close(self) -> None:
        """Close every connection."""
        for ending in (endings := tuple(self._endings)):
            ending.cancel()
        await asyncio.gather(*endings, return_exceptions=True)
        await self._pool.aclose()


async def _each(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _pool(endpoint: Endpoint, *, plain: bool) -> httpcore2.AsyncConnectionPool:
    # Loading the certificates of the world costs 40 ms; an address without TLS never needs them.
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpcore2.default_ssl_context()
    # A connection for each request under way: sessions are bounded already, and one must not wait for another's reply.
    most, kept = sys.maxsize, KEPT_ALIVE
    if not endpoint.proxy:
        return httpcore2.AsyncConnectionPool(trust, None, most, kept, KEPT_ALIVE_S)
    proxy = urlsplit(endpoint.proxy)
    if proxy.scheme not in ("http", "https"):
        raise Broken(Failure("unconfigured", f"a proxy by {proxy.scheme!r} is not supported", charged=False))
    named = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
    address = proxy._replace(netloc=proxy.netloc.rpartition("@")[2]).geturl()
    return httpcore2.AsyncHTTPProxy(address, named, None, trust, None, most, kept, KEPT_ALIVE_S)


def _basic(name: str, password: str | None) -> bytes:
    return base64.b64encode(f"{unquote(name)}:{unquote(password or '')}".encode())
