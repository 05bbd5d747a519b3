"""One HTTP request and its answer, over a connection that ``net`` checked and made.

Layer: net. It knows nothing of tools, permits and models, and parses no body.

A library client resolves and connects by itself, follows redirects by itself and reads proxies from the environment;
each of these would be a way around the check. So this is a plain HTTP/1.1 exchange over asyncio streams, with h11 for
the wire format: one request a connection, no cookies, no proxy, no credentials but those that the caller hands in,
nothing kept.

Source: RFC 9110, RFC 9112.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import h11

from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach, Target, Unreachable
from stead.net.dialing import Dialer, Judge

HEAD_LIMIT_BYTES = 64_000
USER_AGENT = "stead-fetch/1"

_CHUNK_BYTES = 16_384
_REDIRECTS = (301, 302, 303, 307, 308)
_WITH_BODY = ("POST", "PUT", "PATCH")
_GZIP = 31  # zlib's window argument for a gzip header and trailer


@dataclass(frozen=True)
class Request:
    """What is sent.

    Args:
        target: where to; its path has the query.
        method: upper case.
        headers: besides those that the exchange itself needs; no line ends.
        body: with its length sent when it is not empty, or when the method is one that has a body.
        anywhere: the person named this very address, so it may be a private one.
        streams: the body is read piece by piece as it comes, so it is asked for uncompressed.
    """

    target: Target
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    anywhere: bool = False
    streams: bool = False


@contextlib.asynccontextmanager
async def send(dialer: Dialer, request: Request, judge: Judge | None = None) -> AsyncIterator[Answer]:
    """Send a request over a connection of its own; gives the answer, its body still to be read.

    The connection ends with the block. The caller sets the deadline. ``judge``: as ``Dialer.dial`` takes it.

    Raises:
        FetchFault: refused, not reached, broken off, or answered with what is no HTTP; inside the block too.
    """
    target = request.target
    secure = target.scheme == "https"
    judge = (lambda _target, _address: None) if request.anywhere else judge
    (reader, writer), _ = await dialer.dial(target, secure=secure, judge=judge)
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_LIMIT_BYTES)
    try:
        writer.write(encoded(connection, request))
        answer = Answer(target, connection, reader)
        await answer.begin()
        yield answer
    except h11.RemoteProtocolError as error:
        raise FetchFault("{!r} sent an answer that is no HTTP: {}", target.url, error) from error
    except OSError as error:
        raise FetchFault("{!r} broke the connection off: {}", target.url, error) from error
    finally:
        # Not a graceful close: an endless body would be waited for.
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def follow(dialer: Dialer, request: Request, most: int) -> AsyncIterator[Answer]:
    """As ``send``, following up to ``most`` redirects of one scheme, host and port to itself; gives the last answer."""
    url = request.target.url
    for _ in range(most + 1):
        async with send(dialer, request) as answer:
            if answer.status not in _REDIRECTS or "location" not in answer.fields:
                yield answer
                return
        request = replace(request, target=next_hop(request.target, answer.fields["location"], dialer.reach))
    raise FetchFault("{!r} redirects more than {} times; try another source", url, most)


def encoded(connection: h11.Connection, request: Request) -> bytes:
    """The request as it goes over the wire."""
    length = [("Content-Length", str(len(request.body)))] if request.body or request.method in _WITH_BODY else []
    headers = [
        ("Host", request.target.authority),
        ("User-Agent", USER_AGENT),
        *request.headers,
        ("Accept-Encoding", "identity" if request.streams else "gzip"),
        *length,
        ("Connection", "close"),
    ]
    event = h11.Request(method=request.method, target=request.target.path, headers=headers)
    sent = connection.send(event) or b""
    if request.body:
        sent += connection.send(h11.Data(data=request.body)) or b""
    return sent + (connection.send(h11.EndOfMessage()) or b"")


class Answer:
    """One response while it is read, with every size bounded.

    ``status`` and ``fields`` (names in small letters) are there from the start.
    """

    status: int
    fields: dict[str, str]

    def __init__(self, target: Target, connection: h11.Connection, reader: asyncio.StreamReader) -> None:
        self.target = target
        self._connection = connection
        self._reader = reader
        self._wire_bytes = 0

    async def begin(self) -> None:
        """Read up to the body."""
        head = await self._next()
        while isinstance(head, h11.InformationalResponse) and self._wire_bytes < HEAD_LIMIT_BYTES:
            head = await self._next()
        if not isinstance(head, h11.Response):
            raise FetchFault("{!r} closed the connection without an answer", self.target.url)
        self.status = head.status_code
        self.fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}

    @property
    def media_type(self) -> tuple[str, str]:
        """(media type, charset) as the server named them, both lower-case, "" when it does not say."""
        kind, *parameters = self.fields.get("content-type", "").lower().split(";")
        for parameter in parameters:
            name, _, value = parameter.strip().partition("=")
            if name == "charset":
                return kind.strip(), value.strip().strip('"')
        return kind.strip(), ""

    async def body(self, limit_bytes: int) -> tuple[bytes, bool]:
        """The decompressed body up to a limit, and whether there was more. Twice the limit is read at most.

        Raises:
            FetchFault: it is compressed in a way that was not asked for, or not whole.
        """
        encoding = self.fields.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip", "x-gzip"):
            raise FetchFault("{!r} is compressed with {!r}, which was not asked for", self.target.url, brief(encoding))
        gunzip = None if encoding == "identity" else zlib.decompressobj(_GZIP)
        body, began = bytearray(), False
        while isinstance(event := await self._next(), h11.Data):
            room, began = limit_bytes + 1 - len(body), True
            try:
                # ``max_length`` stops the decompressor itself, so a small bomb never grows in memory.
                body += bytes(event.data)[:room] if gunzip is None else gunzip.decompress(bytes(event.data), room)
            except zlib.error as error:
                raise FetchFault("{!r} says that it is gzip and is not", self.target.url) from error
            if len(body) > limit_bytes or self._wire_bytes > 2 * limit_bytes + HEAD_LIMIT_BYTES:
                return bytes(body[:limit_bytes]), True
        if gunzip is not None and not gunzip.eof and began:
            raise FetchFault("{!r} sent gzip that is not whole; try again", self.target.url)
        return bytes(body), gunzip is not None and bool(gunzip.unused_data)

    async def pieces(self, limit_bytes: int) -> AsyncGenerator[bytes]:
        """The body as it comes, of a request that ``streams``.

        Raises:
            FetchFault: it is compressed, which was not asked for, or larger than the limit.
        """
        if self.fields.get("content-encoding", "identity").strip().lower() != "identity":
            raise FetchFault("{!r} is compressed, which was not asked for", self.target.url)
        size_bytes = 0
        while isinstance(event := await self._next(), h11.Data):
            size_bytes += len(event.data)
            if size_bytes > limit_bytes:
                raise FetchFault("{!r} sent more than {} MB", self.target.url, limit_bytes >> 20)
            yield bytes(event.data)

    async def _next(self) -> object:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_CHUNK_BYTES)
            # A read of what has already come does not yield, and a page of one-byte chunks would hold the loop.
            await asyncio.sleep(0)
            self._wire_bytes += len(data)
            self._connection.receive_data(data)
        return event


def brief(text: str) -> str:
    """What a server said, short enough to quote."""
    return text if len(text) <= 100 else text[:100] + "…"


def next_hop(target: Target, location: str, reach: Reach) -> Target:
    """Where a redirect leads, if it may be followed: to the same scheme, host and port.

    Leave to send a request to one host is none for another. The comparison is made between what the check understood of
    both, so that no spelling of a host is another host.

    Raises:
        FetchFault: it leads elsewhere, or nowhere; says where to, so that it can be asked for by itself.
    """
    try:
        found = reach.check_url(urljoin(target.url, location))
    except ValueError as error:
        raise FetchFault("{!r} redirects to {!r}, which is no URL", target.url, brief(location)) from error
    if isinstance(found, Unreachable):
        raise FetchFault("{!r} redirects to where nothing is fetched: {}", target.url, found.text)
    if (found.scheme, found.host, found.port) != (target.scheme, target.host, target.port):
        raise FetchFault(
            "{!r} redirects to another place, {!r}, which was not followed; that is the page's word; fetch it "
            "by itself if it is wanted",
            *(target.url, found.url),
        )
    return found
