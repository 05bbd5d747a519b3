"""The bytes between us and a model server: in time, in bounds, and well formed, before any library takes them apart.

Layer: providers. Knows HTTP and the frame of event streams, no vendor's wire. Deadlines are put on every byte, pings
included; sizes on the answer and on its lines. Each event must hold a JSON object: the vendors' clients pass over some
events that they cannot read, and what is passed over may have been text.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextvars import ContextVar

import httpx2
import msgspec

from stead import __version__
from stead.providers.directory import Endpoint

LINE_LIMIT_BYTES = 4 * 1024 * 1024
"""A stream is lines of events; one that never ends its line would cost quadratic time to take in."""
SLICE_BYTES = 4096
"""Larger pieces are taken in by slices, so that others get their turn while a flood is parsed."""
response_limit_bytes: ContextVar[int] = ContextVar("response_limit_bytes", default=16 * 1024 * 1024)
"""How large an answer may be, for requests made in this context."""

_KEEPALIVE = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=20.0)
"""A connection for each request under way: sessions are bounded already, and one must not wait for another's reply."""
_OWN_HEADERS = {
    b"user-agent": f"stead/{__version__}".encode(),
    b"accept-encoding": b"identity",  # a compressed answer could unpack past every limit
}
_KEY_HEADERS = (b"authorization", b"x-api-key")
"""Not sent where there is no key; the vendors' clients insist on one."""
_ACCOUNT_HEADERS = (b"openai-organization", b"openai-project")
"""What the environment says of an OpenAI account, which the client adds by itself, is nobody else's business."""
_DONE = b"[DONE]"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Overflow(httpx2.TransportError):
    """The answer is larger than any reply can be."""


class Nonsense(httpx2.TransportError):
    """The answer breaks the form that every provider keeps to."""


class Transport(httpx2.AsyncBaseTransport):
    """Sends requests to one endpoint. Nothing is retried, redirected or compressed."""

    def __init__(self, endpoint: Endpoint) -> None:
        # Loading the certificates of the world costs 40 ms; an address without TLS never needs them.
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if endpoint.base_url.startswith("http:") else True
        proxy = endpoint.proxy or None
        self._inner = httpx2.AsyncHTTPTransport(verify=trust, limits=_KEEPALIVE, retries=0, proxy=proxy)
        keyless = () if endpoint.key else _KEY_HEADERS
        account = () if endpoint.preset.name == "openai" else _ACCOUNT_HEADERS
        self._withheld = {*keyless, *account, *_OWN_HEADERS}
        self._first_byte_s = endpoint.deadlines.first_byte_s * endpoint.preset.patience
        self._between_s = endpoint.deadlines.between_s

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send, and give the answer once its head is there."""
        request.headers = httpx2.Headers([*filter(self._passes, request.headers.raw), *_OWN_HEADERS.items()])
        try:
            async with asyncio.timeout(self._first_byte_s):
                response = await self._inner.handle_async_request(request)
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no answer within {self._first_byte_s:g} s", request=request) from None
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await stream.aclose()
            raise Nonsense("it is compressed, which was not asked for", request=request)
        is_events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Body(stream, self._between_s, request, _Events() if is_events else None)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    def _passes(self, header: tuple[bytes, bytes]) -> bool:
        name = header[0].lower()
        return name not in self._withheld and not name.startswith(b"x-stainless-")


class _Body(httpx2.AsyncByteStream):
    def __init__(
        self, inner: httpx2.AsyncByteStream, between_s: float, request: httpx2.Request, events: _Events | None
    ) -> None:
        self._inner = inner
        self._between_s = between_s
        self._request = request
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit, total, line = response_limit_bytes.get(), 0, 0
        pieces = aiter(self._inner)
        while True:
            try:
                async with asyncio.timeout(self._between_s):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise httpx2.ReadTimeout(f"no data for {self._between_s:g} s", request=self._request) from None
            total += len(piece)
            last_break = piece.rfind(b"\n")
            line = line + len(piece) if last_break < 0 else len(piece) - last_break
            if total > limit or line > LINE_LIMIT_BYTES:
                raise Overflow(f"it passed {total // 1024} KiB", request=self._request)
            for at in range(0, len(piece), SLICE_BYTES):
                if at:
                    await asyncio.sleep(0)
                part = piece[at : at + SLICE_BYTES]
                if self._events is not None and (flaw := self._events.flaw(part)):
                    raise Nonsense(flaw, request=self._request)
                yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Events:
    """Reads an event stream along: whether each event's data is a JSON object, or the mark of the end.

    Source: HTML standard, server-sent events, section 9.2.6, as far as data goes.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._data: list[bytes] = []

    def flaw(self, part: bytes) -> str:
        """What is wrong with the events that end in this part, "" for nothing."""
        first, *others = part.split(b"\n")
        self._rest.append(first)
        if not others:
            return ""
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:])
            elif not line.strip() and self._data:
                data, self._data = b"\n".join(self._data).strip(), []
                if data and not data.startswith(_DONE) and not _is_object(data):
                    return f"an event holds no JSON object: {data[:60].decode('utf-8', 'replace')!r}"
        return ""


def _is_object(data: bytes) -> bool:
    try:
        _OBJECT.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return _is_sloppy_object(data)
    return True


def _is_sloppy_object(data: bytes) -> bool:
    """Whether it is one that the vendors' clients take: with halves of characters, which some servers split."""
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
