"""Getting one page: resolve once, check every address, connect to what was checked.

Layer: tools. It knows nothing of permits and of models, and it parses no page.

A library client resolves and connects by itself, follows redirects by itself and reads proxies from the environment;
each of these would be a way around the check. So this is a plain HTTP/1.1 exchange over asyncio streams, with h11 for
the wire format: one request a connection, no cookies, no proxy, no credentials, nothing kept.

Source: RFC 9110, RFC 9112; OWASP, Server-Side Request Forgery Prevention.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

import h11

from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach, Target, Unreachable

BODY_LIMIT_BYTES = 2_000_000
WIRE_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES
TIME_LIMIT_S = 20.0
CONNECT_LIMIT_S = 5.0
REDIRECT_LIMIT = 5
HEAD_LIMIT_BYTES = 64_000
USER_AGENT = "stead-fetch/1"

_CHUNK_BYTES = 16_384
_REDIRECTS = (301, 302, 303, 307, 308)
_GZIP = 31  # zlib's window argument for a gzip header and trailer

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True)
class Page:
    """What came back.

    Args:
        url: after redirects.
        media_type: lower-case, without parameters: ``text/html``.
        charset: as the server named it; "" when it did not.
        body: decompressed, at most ``BODY_LIMIT_BYTES``.
        cut: there was more.
    """

    url: str
    media_type: str
    charset: str
    body: bytes
    cut: bool


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Every address that the system's resolver has for a name, in its order of preference.

    Raises:
        OSError: there is none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Fetcher:
    """Fetches pages of the public Internet.

    Args:
        reach: which URLs and addresses; the default is the product's.
        resolve: turns a name into addresses, asked once a hop.
        tls: how servers are trusted; nothing means by the system's certificates.
        timeout_s: for everything together, redirects included.
    """

    def __init__(
        self,
        reach: Reach | None = None,
        *,
        resolve: Resolve = resolve_name,
        tls: ssl.SSLContext | None = None,
        timeout_s: float = TIME_LIMIT_S,
    ) -> None:
        self._reach = reach or Reach()
        self._resolve = resolve
        self._tls = tls
        self._timeout_s = timeout_s

    async def fetch(self, url: str) -> Page:
        """Get a page by GET, following up to five redirects, each checked like the first address.

        Raises:
            FetchFault: refused, not reached, too slow, not text, or an answer that is no page; anything else is a bug.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(url)
        except TimeoutError as error:
            raise FetchFault(f"{url!r} was not answered within {self._timeout_s:g} s; try another source") from error

    async def _follow(self, url: str) -> Page:
        for _ in range(REDIRECT_LIMIT + 1):
            target = self._reach.check_url(url)
            if isinstance(target, Unreachable):
                raise FetchFault(target.text)
            answer = await self._exchange(target)
            if isinstance(answer, Page):
                return answer
            url = answer
        raise FetchFault(f"{url!r} is the end of {REDIRECT_LIMIT} redirects and redirects again; try another source")

    async def _exchange(self, target: Target) -> Page | str:
        """One request and its answer: a page, or the URL that it redirects to."""
        reader, writer = await self._connect(target, await self._addresses(target))
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_LIMIT_BYTES)
        try:
            writer.write(_request(connection, target))
            return await _Answer(target, connection, reader).read()
        except h11.RemoteProtocolError as error:
            raise FetchFault(f"{target.url!r} sent an answer that is no HTTP: {error}") from error
        except OSError as error:
            raise FetchFault(f"{target.url!r} broke the connection off: {error}") from error
        finally:
            # Not a graceful close: an endless body would be waited for.
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _addresses(self, target: Target) -> Sequence[str]:
        """Where the target is. One address that is not allowed spoils all: an honest name has none."""
        if target.address:
            found: Sequence[str] = [target.address]
        else:
            try:
                found = await self._resolve(target.host, target.port)
            except OSError as error:
                raise FetchFault(f"there is no host {target.host!r}: {error.strerror or error}") from error
        for address in found:
            refusal = self._reach.check_address(address, target.port)
            if refusal is not None:
                raise FetchFault(f"{target.host!r}: {refusal.text}")
            if (address, target.port) not in self._reach.endpoints and _is_own(address):
                raise FetchFault(f"{target.host!r}: {address} is this host's own address; its services are not fetched")
        return found

    async def _connect(
        self, target: Target, addresses: Sequence[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first address that answers; the name is used for nothing but the certificate."""
        secure = target.scheme == "https"
        if secure and self._tls is None:
            self._tls = ssl.create_default_context()
        failure = "it has no address"
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):
                    return await asyncio.open_connection(
                        address,
                        target.port,
                        ssl=self._tls if secure else None,
                        server_hostname=target.host if secure else None,
                    )
            except ssl.SSLError as error:
                raise FetchFault(f"{target.url!r} has no trustworthy certificate: {error.reason or error}") from error
            except OSError as error:
                failure = error.strerror or str(error) or f"no answer from {address} within {CONNECT_LIMIT_S:g} s"
        raise FetchFault(f"{target.url!r} could not be reached: {failure}")


def _request(connection: h11.Connection, target: Target) -> bytes:
    headers = [
        ("Host", target.authority),
        ("User-Agent", USER_AGENT),
        ("Accept", "text/html, text/*, application/json, application/xml;q=0.9"),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]
    request = connection.send(h11.Request(method="GET", target=target.path, headers=headers)) or b""
    return request + (connection.send(h11.EndOfMessage()) or b"")


class _Answer:
    """One response while it is read, with every size bounded."""

    def __init__(self, target: Target, connection: h11.Connection, reader: asyncio.StreamReader) -> None:
        self._target = target
        self._connection = connection
        self._reader = reader
        self._wire_bytes = 0

    async def read(self) -> Page | str:
        """The page, or where it went."""
        head = await self._next()
        while isinstance(head, h11.InformationalResponse) and self._wire_bytes < HEAD_LIMIT_BYTES:
            head = await self._next()
        if not isinstance(head, h11.Response):
            raise FetchFault(f"{self._target.url!r} closed the connection without an answer")
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        if head.status_code in _REDIRECTS and "location" in fields:
            return self._redirected(fields["location"])
        if not 200 <= head.status_code < 300:
            raise FetchFault(f"{self._target.url!r} answered {head.status_code}")
        media_type, charset = _media_type(fields.get("content-type", ""))
        if not _is_text(media_type):
            raise FetchFault(
                f"{self._target.url!r} is {_brief(media_type) or 'of no stated type'}; only text is fetched"
            )
        body, cut = await self._body(fields.get("content-encoding", "identity").strip().lower())
        return Page(self._target.url, media_type, charset, body, cut)

    def _redirected(self, location: str) -> str:
        try:
            url = urljoin(self._target.url, location)
        except ValueError as error:
            raise FetchFault(f"{self._target.url!r} redirects to {_brief(location)!r}, which is no URL") from error
        if self._target.scheme == "https" and url.lower().startswith("http:"):
            raise FetchFault(
                f"{self._target.url!r} redirects to {_brief(url)!r}, which is not encrypted; fetch that by itself"
            )
        return url

    async def _body(self, encoding: str) -> tuple[bytes, bool]:
        """The decompressed body up to the limit, and whether there was more."""
        if encoding not in ("identity", "gzip", "x-gzip"):
            raise FetchFault(f"{self._target.url!r} is compressed with {_brief(encoding)!r}, which was not asked for")
        gunzip = None if encoding == "identity" else zlib.decompressobj(_GZIP)
        body = bytearray()
        while isinstance(event := await self._next(), h11.Data):
            room = BODY_LIMIT_BYTES + 1 - len(body)
            try:
                # ``max_length`` stops the decompressor itself, so a small bomb never grows in memory.
                body += bytes(event.data)[:room] if gunzip is None else gunzip.decompress(bytes(event.data), room)
            except zlib.error as error:
                raise FetchFault(f"{self._target.url!r} says that it is gzip and is not") from error
            if len(body) > BODY_LIMIT_BYTES or self._wire_bytes > WIRE_LIMIT_BYTES:
                return bytes(body[:BODY_LIMIT_BYTES]), True
        if gunzip is not None and not gunzip.eof:
            raise FetchFault(f"{self._target.url!r} sent gzip that is not whole; try again")
        return bytes(body), gunzip is not None and bool(gunzip.unused_data)

    async def _next(self) -> object:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_CHUNK_BYTES)
            # A read of what has already come does not yield, and a page of one-byte chunks would hold the loop.
            await asyncio.sleep(0)
            self._wire_bytes += len(data)
            self._connection.receive_data(data)
        return event


def _brief(text: str) -> str:
    """What a server said, short enough to quote."""
    return text if len(text) <= 100 else text[:100] + "…"


def _media_type(field: str) -> tuple[str, str]:
    """(media type, charset) of a ``Content-Type`` field, both lower-case, "" when it does not say."""
    kind, *parameters = field.lower().split(";")
    for parameter in parameters:
        name, _, value = parameter.strip().partition("=")
        if name == "charset":
            return kind.strip(), value.strip().strip('"')
    return kind.strip(), ""


def _is_text(media_type: str) -> bool:
    main, _, sub = media_type.partition("/")
    return main == "text" or (main == "application" and (sub in ("json", "xml") or sub.endswith(("+json", "+xml"))))


def _is_own(address: str) -> bool:
    """Whether an address is one of this host's.

    Connecting a datagram socket sends nothing: it picks a route, and a route to an own address starts at it.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError:
            return False
        return str(probe.getsockname()[0]) == address
