"""One connection out of a machine: read the request, have it judged, carry it out, report the outcome.

Layer: egress. Knows no session and no allow-list; it asks ``Outlet`` for a verdict and tells it the end.

One request a connection. What came in is never passed on as it came: it is read by h11, judged by what was understood,
and written again from that, so that two readers cannot disagree about where a request ends or whom it is for. Bytes go
through untouched in one case only, a TLS tunnel, whose first message must name the host that was allowed.

Source: RFC 9110 (7.6.1 hop-by-hop fields, 9.3.6 CONNECT), RFC 9112 (3.2.2 absolute form, 6.3 message length).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import h11

from stead.domain.errors import AddressRefused, FetchFault
from stead.domain.hosts import USUAL_PORTS
from stead.domain.ids import CallKey, SessionId
from stead.domain.policies import Reason
from stead.domain.secrets import Filler, Release, RequestHead
from stead.egress.cleaning import Cleaned, Fields
from stead.egress.filling import Filling
from stead.egress.refusal import Refusal
from stead.guardian.reach import Target, Unreachable, read_url
from stead.net.dialing import Dialer, Streams
from stead.screen.redaction import Redactor

HEAD_LIMIT_BYTES = 64 << 10
HEAD_LIMIT_S = 20.0
IDLE_LIMIT_S = 300.0
TOTAL_LIMIT_S = 3600.0
CONNECTION_LIMIT_BYTES = 4 << 30
FILLED_LIMIT_BYTES = 1 << 20
"""A body up to this size is held back and looked through for placeholders; a larger one passes as it is."""

_CHUNK_BYTES = 64 << 10
_LEAVING_S = 5.0
_TLS_RECORD = b"\x16"
"""The first byte of a TLS handshake."""
_AUTHORITY = re.compile(r"[^\s/?#@\\]+:[0-9]{1,5}")
_HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
}


@dataclass(frozen=True)
class Admission:
    """A host that may be reached. ``key``: the call whose permit covers it, "" when an allow-list does.

    ``name``: the host, or the pattern that covers it where the machine could choose among names.
    """

    key: CallKey
    reason: Reason
    name: str


Judge = Callable[[Target], Admission]
Connect = Callable[[Target, Admission, bool], Awaitable[tuple[Streams, str]]]


@dataclass
class Used:
    """What is known of a connection so far; becomes its event."""

    started_s: float = field(default_factory=time.monotonic)
    target: Target | None = None
    admission: Admission | None = None
    refusal: Reason | None = None
    address: str = ""
    method: str = ""
    path: str = ""
    up_bytes: int = 0
    down_bytes: int = 0
    body_bytes: int = 0
    filled: dict[str, None] = field(default_factory=dict)
    left: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Parts:
    """What every connection works with. ``context`` gives how to be a host towards the machine.

    ``opens_tls``: whether TLS to a host is opened, so that values can be put in.
    """

    dialer: Dialer
    release: Callable[[], Release]
    redactor: Callable[[], Redactor]
    context: Callable[[str], ssl.SSLContext]
    opens_tls: Callable[[str], bool]


class Exchange:
    """One connection.

    Args:
        client: to and from the machine.
        parts: the daemon's services that it needs.
        session: whose machine.
        judge: whether a host may be reached; says no by a ``Refusal``.
        connect: connects to a host that was admitted, by TLS or without; gives its address too.
    """

    def __init__(self, client: Streams, parts: Parts, session: SessionId, judge: Judge, connect: Connect) -> None:
        self._reader, self._writer = client
        self._parts, self._session, self._judge, self._connect = parts, session, judge, connect
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT_BYTES)
        self._answered = False
        self._patience = asyncio.timeout(HEAD_LIMIT_S)
        self._end_s = asyncio.get_running_loop().time() + TOTAL_LIMIT_S
        self.used = Used()

    async def serve(self) -> None:
        """Carry it out. Whatever a client or a server does wrong ends this connection and nothing else."""
        try:
            async with self._patience:
                await self._serve()
        except Refusal as refusal:
            await self.refuse(refusal)
        except FetchFault as fault:
            refused = isinstance(fault, AddressRefused)
            status, rule = (403, "egress-address") if refused else (502, "egress-unreachable")
            await self.refuse(Refusal(status, rule, str(fault)))
        except TimeoutError:
            await self.refuse(Refusal(408, "egress-limit", "the connection took too long, or nothing came through it"))
        except (h11.RemoteProtocolError, h11.LocalProtocolError):
            await self.refuse(Refusal(400, "egress-request", "what was sent is not HTTP as this proxy reads it"))
        except OSError as error:
            self.used.refusal = Reason("egress-unreachable", f"broken off: {error.strerror or type(error).__name__}")
        finally:
            self._writer.transport.abort()

    async def refuse(self, refusal: Refusal) -> None:
        """Say no, unless an answer has begun; then it is cut off."""
        self.used.refusal = refusal.reason
        if self._answered:
            return
        reason = refusal.reason
        body = json.dumps({"error": reason.text, "rule": reason.rule}).encode() + b"\n"
        head = (
            f"HTTP/1.1 {refusal.status} Refused by Stead ({reason.rule})\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        try:
            async with asyncio.timeout(_LEAVING_S):
                self._writer.write(head.encode() + body)
                await self._leave()
        except OSError:  # a time-out is one too
            return  # who is gone need not hear it

    async def _serve(self) -> None:
        request = await self._request()
        if request is None:
            return
        self.used.method = request.method.decode("ascii")
        target = self._understand(request, None)
        self.used.admission = self._judge(target)
        if request.method != b"CONNECT":
            await self._forward(request, target)
        elif self._parts.opens_tls(target.host):
            await self._open_tls(target)
        else:
            await self._tunnel(target)

    # -- requests -----------------------------------------------------------------------------------------------------

    async def _request(self) -> h11.Request | None:
        """The head of the request; nothing when the client leaves without one."""
        event = await self._next(self._http, self._reader)
        if not isinstance(event, h11.Request):
            return None
        names = [name for name, _ in event.headers]
        if b"transfer-encoding" in names and b"content-length" in names:
            raise Refusal(400, "egress-request", "a body has a length or is chunked, and not both")
        return event

    def _understand(self, request: h11.Request, tunnel: Target | None) -> Target:
        """What is asked for; inside an opened tunnel it must be the tunnel's own host."""
        asked = request.target.decode("latin-1")
        if tunnel is not None:
            fits, url = asked.startswith("/"), f"https://{tunnel.authority}{asked}"
        elif request.method == b"CONNECT":
            fits, url = bool(_AUTHORITY.fullmatch(asked)), f"https://{asked}/"
        else:
            fits, url = asked[:7].lower() == "http://", asked
        if not fits:
            raise Refusal(400, "egress-request", "ask a proxy by CONNECT host:port, or by http://host/path")
        target = read_url(url)
        if isinstance(target, Unreachable):
            raise Refusal(403, "egress-address", target.text)
        self.used.target = target
        self.used.path = "" if request.method == b"CONNECT" else target.path
        for name, value in request.headers:
            host = value.decode("latin-1").lower()
            if name == b"host" and host.removesuffix(f":{target.port}").removesuffix(".").strip("[]") != target.host:
                raise Refusal(403, "egress-request", f"the Host field names another host than {target.host!r}")
        return target

    async def _forward(self, request: h11.Request, target: Target) -> None:
        """Send the request on, filled in, and bring its answer back, redacted."""
        release, method = self._parts.release(), request.method.decode("ascii")
        if self._http.they_are_waiting_for_100_continue:
            self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])))
        body, whole = await self._begin_body()
        self.used.body_bytes = len(body)
        fields = _end_to_end(request.headers)
        given = dict(fields)
        head = RequestHead(target.scheme, target.host, method, target.path.partition("?")[0])
        filler = Filler(release, self._session, head)
        filling = Filling(filler)
        self.used.filled, self.used.left = filler.used, filler.left
        secretive = bool(release.known())
        if whole and b"content-encoding" not in given:
            body = filling.body(
                body, given.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
            )
        sent = [(b"host", target.authority.encode())]
        sent += [(name, filling.header(name, value)) for name, value in fields if name not in _rewritten(secretive)]
        if secretive:
            sent.append((b"accept-encoding", b"identity"))
        if not whole:
            sent.append(_framing(request.headers))
        elif body or b"content-length" in given:
            sent.append((b"content-length", str(len(body)).encode()))
        assert self.used.admission is not None
        secure = target.scheme == "https"
        streams, self.used.address = await self._connect(target, self.used.admission, secure)
        try:
            server = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_LIMIT_BYTES)
            path = filling.target(target.path)
            await self._send_request(
                server, streams[1], (method, path, [*sent, (b"connection", b"close")]), body, whole
            )
            await self._answer(server, streams[0], secretive=secretive)
        finally:
            streams[1].transport.abort()

    async def _begin_body(self) -> tuple[bytes, bool]:
        """The body as far as it is held back, and whether that is all of it."""
        body = bytearray()
        while isinstance(event := await self._next(self._http, self._reader), h11.Data):
            body += event.data
            self._count()
            if len(body) > FILLED_LIMIT_BYTES:
                return bytes(body), False
        return bytes(body), True

    async def _send_request(
        self,
        server: h11.Connection,
        writer: asyncio.StreamWriter,
        head: tuple[str, str, Fields],
        body: bytes,
        whole: bool,
    ) -> None:
        try:
            message = server.send(h11.Request(method=head[0], target=head[1], headers=head[2])) or b""
        except h11.LocalProtocolError:
            # Not its own text: that quotes the field, and the value may stand in it.
            text = "a value does not fit where it was to be put (a line end?)"
            raise Refusal(400, "egress-request", text) from None
        writer.write(message + (server.send(h11.Data(data=body)) or b""))
        self._count(up=len(message) + len(body))
        try:
            while not whole:
                await writer.drain()
                event = await self._next(self._http, self._reader)
                whole = not isinstance(event, h11.Data)
                if isinstance(event, h11.Data):
                    writer.write(server.send(event) or b"")
                    self._count(up=len(event.data))
                    self.used.body_bytes += len(event.data)
            writer.write(server.send(h11.EndOfMessage()) or b"")
            await writer.drain()
        except ConnectionError:
            return  # a server may answer before it has read everything, and its answer counts

    # -- answers ------------------------------------------------------------------------------------------------------

    async def _answer(self, server: h11.Connection, reader: asyncio.StreamReader, *, secretive: bool) -> None:
        """Bring the answer back; known values never get in with it."""
        head: object = await self._server_event(server, reader)
        while isinstance(head, h11.InformationalResponse):
            head = await self._server_event(server, reader)
        if not isinstance(head, h11.Response):
            raise Refusal(502, "egress-unreachable", "the server closed the connection without an answer")
        fields = _end_to_end(head.headers)
        cleaned = Cleaned(self._parts.redactor(), fields) if secretive else None
        if cleaned is not None:
            fields = cleaned.fields
        response = h11.Response(status_code=head.status_code, headers=[*fields, (b"connection", b"close")])
        self._write(self._http.send(response))
        self._answered = True
        while isinstance(event := await self._server_event(server, reader), h11.Data):
            data = bytes(event.data) if cleaned is None else cleaned.feed(bytes(event.data))
            self._write(self._http.send(h11.Data(data=data)))
            await self._writer.drain()
        if not isinstance(event, h11.EndOfMessage):
            raise Refusal(502, "egress-unreachable", "the server broke its answer off")
        if cleaned is not None:
            self._write(self._http.send(h11.Data(data=cleaned.end())))
        self._write(self._http.send(h11.EndOfMessage()))
        await self._leave()

    async def _server_event(self, server: h11.Connection, reader: asyncio.StreamReader) -> object:
        try:
            return await self._next(server, reader)
        except h11.RemoteProtocolError as error:
            raise Refusal(502, "egress-unreachable", "the server's answer is no HTTP, or was broken off") from error

    # -- tunnels ------------------------------------------------------------------------------------------------------

    async def _open_tls(self, target: Target) -> None:
        """Be the host towards the machine, and a strict client towards the host."""
        self._connected()
        if self._http.trailing_data[0]:
            raise Refusal(400, "egress-request", "wait for the tunnel before speaking in it")
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport = await loop.start_tls(
            self._writer.transport, protocol, self._parts.context(target.host), server_side=True
        )
        assert transport is not None
        protocol.connection_made(transport)
        self._reader, self._writer = reader, asyncio.StreamWriter(transport, protocol, reader, loop)
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT_BYTES)
        self._answered = False
        request = await self._request()
        if request is not None:
            self.used.method = request.method.decode("ascii")
            await self._forward(request, self._understand(request, target))

    async def _tunnel(self, target: Target) -> None:
        """Pass bytes both ways until either side ends."""
        assert self.used.admission is not None
        (reader, writer), self.used.address = await self._connect(target, self.used.admission, False)
        try:
            self._connected()
            pumps = [
                asyncio.create_task(self._pump_up(target, writer)),
                asyncio.create_task(self._pump(reader, self._writer, up=False)),
            ]
            try:
                await asyncio.gather(*pumps)
            except ConnectionError:
                return  # either side may end a tunnel as it likes
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.wait(pumps)
        finally:
            writer.transport.abort()

    async def _pump_up(self, target: Target, writer: asyncio.StreamWriter) -> None:
        first = self._http.trailing_data[0] or await self._reader.read(_CHUNK_BYTES)
        if not target.address and (target.port in USUAL_PORTS or first[:1] == _TLS_RECORD):
            first = await _hello(self._reader, target, first)
        writer.write(first)
        self._count(up=len(first))
        await self._pump(self._reader, writer, up=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, up: bool) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            self._count(up=len(data) if up else 0, down=0 if up else len(data))
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    def _connected(self) -> None:
        self._write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._answered = True

    # -- limits -------------------------------------------------------------------------------------------------------

    async def _next(self, http: h11.Connection, reader: asyncio.StreamReader) -> object:
        while (event := http.next_event()) is h11.NEED_DATA:
            data = await reader.read(_CHUNK_BYTES)
            # A read of what has already come does not yield, and a body of one-byte chunks would hold the loop.
            await asyncio.sleep(0)
            http.receive_data(data)
        return event

    async def _leave(self) -> None:
        """Say that this was all, and take what still comes: a close with bytes unread would void what was written."""
        await self._writer.drain()
        with contextlib.suppress(OSError):
            async with asyncio.timeout(_LEAVING_S):
                if not self._writer.can_write_eof():  # TLS cannot end one way only
                    self._writer.close()
                    await self._writer.wait_closed()
                    return
                self._writer.write_eof()
                while await self._reader.read(_CHUNK_BYTES):
                    continue

    def _write(self, data: bytes | None) -> None:
        if data:
            self._writer.write(data)
            self._count(down=len(data))

    def _count(self, *, up: int = 0, down: int = 0) -> None:
        """Note what came through: it shows that the connection lives, and it has an end."""
        self.used.up_bytes += up
        self.used.down_bytes += down
        if self.used.up_bytes + self.used.down_bytes > CONNECTION_LIMIT_BYTES:
            raise Refusal(413, "egress-limit", f"more than {CONNECTION_LIMIT_BYTES >> 30} GB through one connection")
        if not self._patience.expired():
            self._patience.reschedule(min(asyncio.get_running_loop().time() + IDLE_LIMIT_S, self._end_s))


async def _hello(reader: asyncio.StreamReader, target: Target, data: bytes) -> bytes:
    """The client's first message, which must ask for the host that was allowed: at one address there are many."""
    seen: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    incoming = ssl.MemoryBIO()
    handshake = context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True)
    incoming.write(data)
    while len(data) < HEAD_LIMIT_BYTES:
        try:
            handshake.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            break  # it has no certificate to go on with, or this is no TLS
        if seen:
            break
        more = await reader.read(_CHUNK_BYTES)
        if not more:
            break
        incoming.write(more)
        data += more
    if not seen or (seen[0] or "").lower() != target.host:
        raise Refusal(403, "egress-tls", f"a tunnel to {target.host!r} carries TLS for that name and nothing else")
    return data


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Fields:
    """The fields that are meant for the other end; names in lower case."""
    fields = [(bytes(name), bytes(value)) for name, value in headers]
    named = {part.strip().lower() for name, value in fields if name == b"connection" for part in value.split(b",")}
    return [(name, value) for name, value in fields if name not in _HOP_BY_HOP and name not in named]


def _rewritten(secretive: bool) -> tuple[bytes, ...]:
    """Fields that the proxy writes itself, or leaves out: pieces of an answer could not be looked through."""
    own = (b"host", b"content-length", b"expect")
    return (*own, b"accept-encoding", b"range", b"if-range") if secretive else own


def _framing(headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """How a body that passes as it comes is delimited: as the client does it."""
    for name, value in headers:
        if name == b"content-length":
            return name, value
    return b"transfer-encoding", b"chunked"
