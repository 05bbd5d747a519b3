"""The bytes between us and a model server: in time, in bounds, never retried, redirected or compressed.

Layer: providers. Knows HTTP and no vendor's wire. A prompt goes only where the person sent it. Deadlines are put on
every byte, pings included; sizes on the answer and on its lines.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import SplitResult, unquote, urlsplit

from stead import __version__
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.http1 import HttpConnection, Nonsense

LINE_LIMIT_BYTES = 4 * 1024 * 1024
"""A stream is lines of events; one that never ends its line would cost quadratic time to take in."""
SLICE_BYTES = 4096
"""Larger pieces are taken in by slices, so that others get their turn while a flood is parsed."""
LIMIT_BYTES = 16 * 1024 * 1024
"""How large an answer may be that is taken whole."""
KEPT_ALIVE = 20
KEPT_ALIVE_S = 20.0
ENDING_S = 5.0
"""How long a stream whose reply is whole may take to end in good order, so that its connection can be used again."""
NEXT_ADDRESS_S = 2.0
"""After so long without a connection the name's next address is tried."""


class Overflow(Exception):
    """The answer is larger than any reply can be."""


class Silence(Exception):
    """Nothing came in time."""


class Unsent(Exception):
    """No connection came about, or nothing could be sent by it; the cause says why if the system did."""


class ConnectTimeout(Unsent):
    """No connection within the time limit."""


BROKEN = (Unsent, OSError, Overflow, Nonsense, Silence)
"""What asking a server can raise, wherever it breaks off; ``Unsent`` alone comes before a byte of the request."""


class Answer:
    """An answer whose head is there. Header names are lower case."""

    def __init__(self, connection: HttpConnection, between_s: float, limit_bytes: int) -> None:
        self.status = connection.status
        self.headers = connection.headers
        self.is_whole = False
        """Set it when what may follow changes nothing: it is read in the background, and the connection kept."""
        self._connection = connection
        self._between_s = between_s
        self._limit_bytes = limit_bytes
        self._total_bytes = 0
        self._line_bytes = 0
        self._came = b""
        self._at = 0

    async def piece(self) -> bytes:
        """The next of the body, a slice at most; b"" at its end.

        Raises:
            BROKEN: it breaks off, comes too slowly or is too large.
        """
        self._at += SLICE_BYTES
        if self._at < len(self._came):
            await asyncio.sleep(0)
        else:
            self._came, self._at = await self._more(), 0
        return self._came[self._at : self._at + SLICE_BYTES]

    async def whole(self) -> bytes:
        """The whole body.

        Raises:
            BROKEN: as ``piece``.
        """
        body = b""
        while piece := await self.piece():
            body += piece
        return body

    async def _more(self) -> bytes:
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise Nonsense("it is compressed, which was not asked for")  # it could unpack past every limit
        while not (came := self._connection.take()) and not self._connection.ended:
            try:
                async with asyncio.timeout(self._between_s):
                    await self._connection.change()
            except TimeoutError:
                raise Silence(f"no data for {self._between_s:g} s") from None
        last_break = came.rfind(b"\n")
        self._total_bytes += len(came)
        self._line_bytes = self._line_bytes + len(came) if last_break < 0 else len(came) - last_break
        if self._total_bytes > self._limit_bytes or self._line_bytes > LINE_LIMIT_BYTES:
            raise Overflow(f"it passed {self._total_bytes // 1024} KiB")
        return came


class Channel:
    """HTTP to one endpoint: connections that are kept alive, as many as there are requests under way. Close it.

    Args:
        endpoint: where; its key is not sent from here.

    Raises:
        Broken: the environment names a proxy of a kind that is not supported.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._server = urlsplit(endpoint.base_url)
        self._proxy = urlsplit(endpoint.proxy) if endpoint.proxy else None
        if self._proxy is not None and self._proxy.scheme not in ("http", "https"):
            text = f"a proxy by {self._proxy.scheme!r} is not supported"
            raise Broken(Failure("unconfigured", text, charged=False))
        secure = "https" in (self._server.scheme, self._proxy.scheme if self._proxy else "")
        # Loading the certificates of the world costs 40 ms; an address without TLS never needs them.
        self._trust = _trust() if secure else None
        self._headers = {
            b"host": self._server.netloc.rpartition("@")[2].encode("idna"),
            b"user-agent": f"stead/{__version__}".encode(),
            b"accept-encoding": b"identity",
        }
        # A name and password within an address, which a gateway in between asks for, stand in the key's place.
        self._named = _named(b"authorization", self._server)
        self._path = self._server.path.rstrip("/")
        if self._proxy is not None and self._server.scheme == "http":
            self._path = f"http://{self._headers[b'host'].decode()}{self._path}"
            self._named |= _named(b"proxy-authorization", self._proxy)
        self._connect_s = endpoint.deadlines.connect_s
        self._first_byte_s = endpoint.deadlines.first_byte_s * endpoint.preset.patience
        self._between_s = endpoint.deadlines.between_s
        self._open: set[HttpConnection] = set()
        self._idle: list[tuple[HttpConnection, float]] = []
        """With the time at which each was used last, the oldest first."""
        self._closed = False

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
        sent = {**self._headers, **headers, **self._named}
        if body is not None:
            sent |= {b"content-type": b"application/json", b"content-length": b"%d" % sum(map(len, body))}
        head = _head(b"GET" if body is None else b"POST", self._path + target, sent)
        connection = self._kept() or await self._connect(connect_s or self._connect_s)
        answer = None
        try:
            try:
                async with asyncio.timeout(self._first_byte_s):
                    connection.send(head, body or ())
                    while not connection.status:
                        await connection.change()
            except TimeoutError:
                raise Silence(f"no answer within {self._first_byte_s:g} s") from None
            answer = Answer(connection, self._between_s, limit_bytes)
            yield answer
        finally:
            if connection.ended:
                self._keep(connection)
            elif answer is not None and answer.is_whole:
                connection.finish(ENDING_S)
            else:
                connection.abort()

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        for connection in (closing := tuple(self._open)):
            connection.abort()
        for connection in closing:
            await connection.closed()

    def _kept(self) -> HttpConnection | None:
        """A connection that was kept alive and still is; the one that was used last."""
        while self._idle:
            connection, since = self._idle.pop()
            # Something to read, while nothing was asked, is the server's goodbye.
            if connection in self._open and time.monotonic() - since < KEPT_ALIVE_S and not connection.is_readable():
                return connection
            connection.abort()
        return None

    def _keep(self, connection: HttpConnection) -> None:
        """Keep a connection for the next request, if it can serve one."""
        if not connection.reusable or self._closed:
            connection.abort()
            return
        self._idle.append((connection, time.monotonic()))
        if len(self._idle) > KEPT_ALIVE:
            self._idle.pop(0)[0].abort()

    async def _connect(self, within_s: float) -> HttpConnection:
        """A new connection, through the proxy if there is one.

        Raises:
            Unsent: there is none.
        """
        if self._server.scheme not in ("http", "https"):
            raise Unsent("its address begins with neither http:// nor https://")
        connection = HttpConnection(self._keep, self._open.discard)
        self._open.add(connection)
        ready = False
        try:
            async with asyncio.timeout(within_s):
                await self._dial(connection, self._proxy or self._server)
                if self._proxy is not None and self._server.scheme == "https":
                    await self._tunnel(connection, self._proxy)
            ready = True
        except TimeoutError:
            raise ConnectTimeout("no connection within the time limit") from None
        except (OSError, Nonsense) as error:
            raise Unsent(str(error)) from error
        finally:
            if not ready:
                connection.abort()
                self._open.discard(connection)
        return connection

    async def _dial(self, connection: HttpConnection, place: SplitResult) -> None:
        """Connect to the first address that answers.

        Raises:
            OSError: none does.
        """
        loop = asyncio.get_running_loop()
        host, port = _host(place), _port(place)
        secure = self._trust if place.scheme == "https" else None
        addresses = [str(entry[4][0]) for entry in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        for at, address in enumerate(addresses, 1):
            try:
                async with asyncio.timeout(NEXT_ADDRESS_S if at < len(addresses) else None):
                    await loop.create_connection(
                        lambda: connection, address, port, ssl=secure, server_hostname=host if secure else None
                    )
                return
            except OSError:  # a TimeoutError is one
                if at == len(addresses):
                    raise

    async def _tunnel(self, connection: HttpConnection, proxy: SplitResult) -> None:
        """Have the proxy pass on what follows, and go on in TLS with the server itself."""
        place = f"{_host(self._server)}:{_port(self._server)}"
        connection.send(_head(b"CONNECT", place, {b"host": place.encode(), **_named(b"proxy-authorization", proxy)}))
        while not connection.status:
            await connection.change()
        if connection.status >= 300:
            raise Unsent(f"the proxy answers {connection.status}")
        assert self._trust is not None
        await connection.start_tls(self._trust, _host(self._server))


def _head(method: bytes, target: str, headers: Mapping[bytes, bytes]) -> bytes:
    """The head of a request.

    Raises:
        Unsent: something in it would end a line.
    """
    if not _TARGET.fullmatch(target) or not all(map(_VALUE.fullmatch, headers.values())):
        raise Unsent("its address or its key holds a character that no request can carry")
    lines = [b"%b %b HTTP/1.1" % (method, target.encode("ascii")), *(b"%b: %b" % line for line in headers.items())]
    return b"\r\n".join((*lines, b"", b""))


_TARGET = re.compile(r"[\x21-\x7e]+")
_VALUE = re.compile(rb"[\x21-\x7e\x80-\xff]([\t \x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?|")


def _host(place: SplitResult) -> str:
    return (place.hostname or "").encode("idna").decode()


def _port(place: SplitResult) -> int:
    return place.port or (443 if place.scheme == "https" else 80)


def _named(header: bytes, place: SplitResult) -> dict[bytes, bytes]:
    """The header for the name and password in an address; nothing when it has none."""
    if not place.username:
        return {}
    pair = f"{unquote(place.username)}:{unquote(place.password or '')}"
    return {header: b"Basic " + base64.b64encode(pair.encode())}


_BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


def _trust() -> ssl.SSLContext:
    """The certificates that this system trusts, found also where Python was built for another one."""
    trust = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    by_hash = bool(paths.capath) and any(name.endswith(".0") for name in os.listdir(paths.capath))
    bundle = next((path for path in _BUNDLES if os.path.isfile(path)), None)
    if not paths.cafile and not by_hash and bundle is not None:
        trust.load_verify_locations(bundle)
    return trust
