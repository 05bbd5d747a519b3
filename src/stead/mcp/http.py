"""MCP over Streamable HTTP: a POST for each message, whose answer is JSON or a stream of events.

Layer: mcp. Each request is an exchange of ``net.exchange``: its address is checked as any other that goes out, and no
redirect is followed to another place. A stream that breaks off is taken up again where it stopped, if the server
numbers its events.

Source: Model Context Protocol, transports; HTML standard, server-sent events.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Protocol

import h11
import msgspec

from stead.domain.errors import FetchFault, SteadError
from stead.domain.mcp import Json
from stead.guardian.reach import Target, Unreachable, read_url
from stead.mcp.messages import METHOD_NOT_FOUND
from stead.net.dialing import Dialer
from stead.net.exchange import Answer, Request, next_hop, send
from stead.net.json_lines import LARGEST_BYTES, read_message

STREAM_BYTES = 64 << 20
MOST_RESUMED = 5
LONGEST_RETRY_S = 10.0
_WAIT_S = 1.0


class Authorizes(Protocol):
    """Says with which token a request goes out, and gets a better one."""

    async def header(self) -> str:
        """For ``Authorization``; "" for none."""

    async def challenged(self, status: int, asked: str) -> bool:
        """The server wants another token, as ``WWW-Authenticate`` says; true when there is one now.

        Raises:
            FetchFault: the person has to sign in.
        """


class Places:
    """Which addresses may be asked, and how.

    Args:
        dialer: how public hosts are reached.
        named: the URL of a server that the person said is a private one; "" for none.
    """

    def __init__(self, dialer: Dialer, named: str = "") -> None:
        self._dialer = dialer
        own = read_url(named) if named else None
        self._host = own.host if isinstance(own, Target) else ""

    def request(self, url: str, method: str, headers: Mapping[str, str], body: bytes, *, streams: bool) -> Request:
        """A request to a place that may be asked.

        Raises:
            FetchFault: it may not be.
        """
        found = read_url(url)
        near = isinstance(found, Target) and self._host == found.host
        if not near:
            found = self._dialer.reach.check_url(url)
        if isinstance(found, Unreachable):
            raise FetchFault("{}", found.text)
        return Request(found, method, tuple(headers.items()), body, anywhere=near, streams=streams)

    @contextlib.asynccontextmanager
    async def ask(self, request: Request) -> AsyncIterator[Answer]:
        """Send it; one redirect within the same scheme, host and port is followed, if it keeps the method."""
        async with send(self._dialer, request) as answer:
            if answer.status not in (307, 308) or request.anywhere:
                yield answer
                return
            target = next_hop(request.target, answer.fields.get("location", ""), self._dialer.reach)
        async with send(self._dialer, replace(request, target=target)) as answer:
            yield answer


class HttpWire:
    """Implements ``connection.Wire``.

    Args:
        url: of the server's endpoint.
        headers: that the person set, secrets in them.
        places: which addresses may be asked.
        authorizes: how it signs in.
        receive: takes each message.
        failed: takes why a request brought no answer, by the request's id.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        places: Places,
        authorizes: Authorizes,
        receive: Callable[[Json], None],
        failed: Callable[[int, SteadError], None],
    ) -> None:
        target = read_url(url)
        self.host = target.host if isinstance(target, Target) else ""
        self.session = ""
        self._url = url
        self._headers = {**headers, "Accept": "application/json, text/event-stream"}
        self._places = places
        self._authorizes = authorizes
        self._receive = receive
        self._failed = failed
        self._posts: dict[int, asyncio.Task[None]] = {}
        self._listening: asyncio.Task[None] | None = None

    async def send(self, message: Json, headers: Mapping[str, str]) -> None:
        """Post a message. The answer to a request comes to ``receive``, whenever it comes."""
        if "method" not in message or "id" not in message:
            await self._post(message, headers)
            if message.get("method") == "notifications/initialized":
                self._listening = asyncio.create_task(self._listen(headers), name="mcp server's own stream")
            return
        ident = message["id"]
        task = asyncio.create_task(self._carried(message, headers), name=f"mcp request {ident}")
        self._posts[ident] = task
        task.add_done_callback(lambda _: self._posts.pop(ident, None))

    async def cancel(self, ident: int) -> bool:
        """Close the stream of a request, by which the stateless revision cancels it."""
        if task := self._posts.get(ident):
            task.cancel()
        return True

    async def close(self) -> None:
        """End every request, and the server's session."""
        left = [*self._posts.values(), *([self._listening] if self._listening else [])]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self.session:
            with contextlib.suppress(SteadError, TimeoutError):
                async with asyncio.timeout(5), self._asked("DELETE", {}, b""):
                    self.session = ""

    async def _carried(self, message: Json, headers: Mapping[str, str]) -> None:
        try:
            await self._post(message, headers)
        except SteadError as fault:
            self._failed(message["id"], fault)

    async def _post(self, message: Json, headers: Mapping[str, str]) -> None:
        body = msgspec.json.encode(message)
        status = 0
        for _ in range(3):
            async with self._asked("POST", {"Content-Type": "application/json", **headers}, body) as answer:
                if answer.status not in (401, 403):
                    await self._answered(answer, message, headers)
                    return
                status, wanted = answer.status, answer.fields.get("www-authenticate", "")
            if not await self._authorizes.challenged(status, wanted):
                break
        raise FetchFault("{!r} refuses the request with {}", self.host, status)

    @contextlib.asynccontextmanager
    async def _asked(self, method: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Answer]:
        own = {**self._headers, **headers}
        if self.session:
            own["Mcp-Session-Id"] = self.session
        if token := await self._authorizes.header():
            own["Authorization"] = token
        async with self._places.ask(self._places.request(self._url, method, own, body, streams=True)) as answer:
            yield answer

    async def _answered(self, answer: Answer, message: Json, headers: Mapping[str, str]) -> None:
        asked = "method" in message and "id" in message
        kind, _ = answer.media_type
        if message.get("method") == "initialize" and answer.status == 200:
            self.session = answer.fields.get("mcp-session-id", "")[:500]
        if answer.status == 404 and self.session and asked:
            self.session = ""
            raise SessionGone("{!r} has ended the session; call again", self.host)
        if asked and answer.status == 200 and kind == "text/event-stream":
            await self._follow(answer, message["id"], headers)
        elif asked and kind == "application/json":
            body, more = await answer.body(LARGEST_BYTES)
            if more:
                raise FetchFault("{!r} answers with more than {} MB", self.host, LARGEST_BYTES >> 20)
            reply = read_message(body)
            if answer.status >= 400 and "error" not in reply:
                raise FetchFault("{!r} refuses the request with {}", self.host, answer.status)
            self._receive({**reply, "id": message["id"]})
        elif asked and answer.status in (400, 404, 405):  # what a server that does not know a method may say
            self._receive({"id": message["id"], "error": {"code": METHOD_NOT_FOUND, "message": f"{answer.status}"}})
        elif asked or answer.status >= 400:
            raise FetchFault("{!r} answers with {} and {!r}", self.host, answer.status, kind or "nothing")

    async def _follow(self, answer: Answer, ident: int, headers: Mapping[str, str]) -> None:
        """Read a stream until it has answered the request, across breaks."""
        events = Events()
        if await self._read(answer, events, ident):
            return
        for _ in range(MOST_RESUMED):
            if not events.last:
                break
            await asyncio.sleep(min(events.retry_s, LONGEST_RETRY_S))
            async with self._asked("GET", {**headers, "Last-Event-ID": events.last}, b"") as again:
                if again.status != 200 or again.media_type[0] != "text/event-stream":
                    break
                if await self._read(again, events, ident):
                    return
        raise FetchFault("{!r} ended its answer half-way; what it did is not known", self.host)

    async def _listen(self, headers: Mapping[str, str]) -> None:
        """Read the stream on which a server of the handshake's revisions begins to speak by itself, if it has one."""
        events = Events()
        with contextlib.suppress(SteadError):  # what it has to say matters only while a request is under way
            for _ in range(MOST_RESUMED):
                last = {"Last-Event-ID": events.last} if events.last else {}
                async with self._asked("GET", {**headers, **last}, b"") as answer:
                    if answer.status != 200 or answer.media_type[0] != "text/event-stream":
                        return
                    await self._read(answer, events, 0)
                await asyncio.sleep(min(events.retry_s, LONGEST_RETRY_S))

    async def _read(self, answer: Answer, events: Events, ident: int) -> bool:
        """Hand on what comes; true once the request was answered (0 for none)."""
        try:
            async with contextlib.aclosing(answer.pieces(STREAM_BYTES)) as pieces:
                async for piece in pieces:
                    for data in events.take(piece):
                        message = read_message(data)
                        self._receive(message)
                        if message.get("id") == ident and "method" not in message:
                            return True
        except (OSError, h11.RemoteProtocolError):
            return False
        return False


class SessionGone(FetchFault):
    """The server has forgotten its session: it has to be begun again."""


class Events:
    """Takes a stream of events apart. ``last``: the id of the last one; ``retry_s``: how long to wait after a break."""

    def __init__(self) -> None:
        self.last = ""
        self.retry_s = _WAIT_S
        self._rest = bytearray()
        self._data: list[bytes] = []

    def take(self, piece: bytes) -> list[bytes]:
        """The data of the events that end in a piece.

        Raises:
            FetchFault: an event is too large.
        """
        self._rest += piece
        if len(self._rest) + sum(map(len, self._data)) > LARGEST_BYTES:
            raise FetchFault("an event of the server is larger than {} MB", LARGEST_BYTES >> 20)
        if b"\n" not in piece:
            return []
        *lines, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        ended = []
        for line in (bytes(one).rstrip(b"\r") for one in lines):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"id" and b"\0" not in value:
                self.last = value.decode("utf-8", "replace")[:500]
            elif name == b"retry" and value.isdigit() and len(value) < 9:
                self.retry_s = int(value) / 1000
            elif not line:
                if data := b"\n".join(self._data).strip():
                    ended.append(data)
                self._data = []
        return ended
