"""The live streams: server-sent events for scripts, a WebSocket for the page, the same frames on both.

Layer: a door. Plain Starlette routes and ready-made bytes, because these are the hot paths. Streams only show: whatever
changes something is a POST. A WebSocket may choose what it is shown, say what is before its reader's eyes and
acknowledge what it saw, nothing else.

A reader that takes nothing for a while must come back (4408 on a WebSocket, the end of the response else) as soon
as it reads again; the server's sockets give up on one that never does. It resumes by ``after`` and has lost nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
from typing import Any, TypeVar

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from stead.domain.errors import InvalidRequest
from stead.domain.ids import SessionId
from stead.domain.ports import Journal
from stead.web.auth import Caller
from stead.web.backend import Backend
from stead.web.envelopes import Encoded, Hello, Identity, Reset, encode_control
from stead.web.errors import Problem, answer, problem_of
from stead.web.presence import Seat, Watchers, parse_door
from stead.web.watch import Frame, Watch

STREAMS_LIMIT = 1024
"""Streams open at once; each holds a bounded queue."""
LAST_WORD_S = 0.5
SEQ_MAX = 2**63 - 1
NAMES_LIMIT = 100
_NAME = re.compile(r"[a-z0-9_]{1,64}")

BAD_MESSAGE, SIGNED_OUT, TOO_SLOW, GOING_AWAY = 4400, 4401, 4408, 1001
"""Why a WebSocket is closed. After 4408 and 1001 the watcher comes back with ``after``."""
GONE = 0
"""The reader left by itself; there is nobody to tell why."""

_T = TypeVar("_T")


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe", forbid_unknown_fields=True):
    """From now on show these streams; empty for all. What was before is read at ``GET /events``."""

    streams: tuple[str, ...]


class Look(msgspec.Struct, frozen=True, tag="look", forbid_unknown_fields=True):
    """These sessions are before the watcher's eyes, whatever else it is shown; empty for none in particular."""

    streams: tuple[str, ...]


class Ack(msgspec.Struct, frozen=True, tag="ack", forbid_unknown_fields=True):
    """The watcher has dealt with everything up to ``seq``. Nothing depends on it."""

    seq: int


_incoming: msgspec.json.Decoder[Subscribe | Look | Ack] = msgspec.json.Decoder(Subscribe | Look | Ack)


class Streams:
    """Every open stream of the door.

    Args:
        backend: everything behind the door.
        identity: gives what is said in the first frame; the page may be built again while the daemon runs.
    """

    def __init__(self, backend: Backend, identity: Callable[[], Identity]) -> None:
        self.pace = backend.pace
        self.watchers = Watchers(backend.service.bus, backend.clock)
        self._backend = backend
        self._encoded = Encoded(backend.clock)
        self._identity = identity
        self._closing = asyncio.Event()
        self._open: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """End every stream, now and from now on, so that the server can leave; waits a moment for readers to hear."""
        self._closing.set()
        if self._open:
            await asyncio.wait(self._open, timeout=LAST_WORD_S)
        self.watchers.close()

    async def events(self, request: Request) -> Response:
        """``GET /events/stream``: server-sent events. ``Last-Event-ID`` goes before ``after``."""
        query = request.query_params
        after = parse_seq(request.headers.get("last-event-id") or query.get("after", ""))
        streams = parse_streams(query.get("streams", ""))
        seat = _seat(request)
        if full := self.refuse():
            return answer(full)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return _EventStream(self, after, streams, seat)

    async def live(self, socket: WebSocket) -> None:
        """``WS /live``: text frames, each a JSON array of envelopes."""
        query = socket.query_params
        refused = self.refuse()
        try:
            after, streams = parse_seq(query.get("after", "")), parse_streams(query.get("streams", ""))
            seat = _seat(socket)
        except InvalidRequest as error:
            after, streams, seat, refused = 0, frozenset(), Seat(""), problem_of(error)
        if refused:
            await socket.send_denial_response(answer(refused))
            return
        async with self.watching(after, streams, seat) as (greeting, watch):
            await socket.accept()
            show, listen = self._show(socket, greeting, watch), self._listen(socket, watch, seat)
            code = await first_of(show, listen, self._beat(socket), self.ends())
            watch.close()
            if code != GONE:
                await self.farewell(socket.close(code), code)

    @asynccontextmanager
    async def watching(
        self, after: int, streams: Collection[SessionId], seat: Seat
    ) -> AsyncIterator[tuple[Frame, Watch]]:
        """A watcher, and the frame that greets it."""
        journal, bus = self._backend.journal, self._backend.service.bus
        watch = Watch(journal, bus, self._encoded, after, streams, self.pace.tick_s)
        self.watchers.look(seat, streams)
        try:
            with self.counted():
                oldest, head = await asyncio.to_thread(_bounds, journal)
                who = self._identity()
                greeting = [encode_control(Hello(who.server_id, who.epoch, head, oldest, who.build))]
                if after > head:
                    watch.seen = head
                    greeting.append(encode_control(Reset("ahead", head)))
                yield Frame(watch.seen, greeting), watch
        finally:
            self.watchers.look(seat, ())
            watch.close()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the task that runs among the open streams; the door waits for them when it closes."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            yield
        finally:
            self._open.discard(task)

    async def farewell(self, last: Awaitable[None], code: int) -> None:
        """Say why a stream ends, if its reader hears it; a daemon that leaves does not wait for slow ones."""
        try:
            async with asyncio.timeout(LAST_WORD_S if code == GOING_AWAY else self.pace.farewell_s):
                await last
        except (TimeoutError, WebSocketDisconnect):
            return

    async def ends(self) -> int:
        """Wait for the door to close."""
        await self._closing.wait()
        return GOING_AWAY

    def welcomes(self, connection: HTTPConnection) -> bool:
        """Whether the stream's owner may go on watching; a browser that signed out may not."""
        caller: Caller = connection.state.caller
        return self._backend.auth.holds(caller)

    def refuse(self) -> Problem | None:
        """The refusal of one more stream, if there are as many as there may be."""
        if len(self._open) < STREAMS_LIMIT:
            return None
        return Problem(429, "rate", f"{STREAMS_LIMIT} streams are open, which is the limit; close some", 5.0)

    async def _show(self, socket: WebSocket, greeting: Frame, watch: Watch) -> int:
        """Send until the reader leaves, is too slow, or is no longer welcome; gives the close code."""
        frame: Frame | None = greeting
        while self.welcomes(socket):
            if frame is not None:
                try:
                    async with asyncio.timeout(self.pace.stall_s):
                        await socket.send_text(frame.array().decode())
                except TimeoutError:
                    return TOO_SLOW
                except WebSocketDisconnect:
                    return GONE
            frame = await watch.next(self.pace.ping_s)
        return SIGNED_OUT

    async def _beat(self, socket: WebSocket) -> int:
        """Send empty frames for as long as the reader is there: silence means that the daemon or the network is not."""
        while True:
            await asyncio.sleep(self.pace.beat_s)
            try:
                await socket.send_text("[]")
            except WebSocketDisconnect:
                return GONE

    async def _listen(self, socket: WebSocket, watch: Watch, seat: Seat) -> int:
        """Take what the reader says, until it leaves or says something that it may not; gives the close code."""
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return GONE
            try:
                said = _incoming.decode(message.get("text") or message.get("bytes") or b"")
                if isinstance(said, Ack):
                    continue
                streams = check_streams(said.streams)
                if isinstance(said, Subscribe):
                    watch.streams = streams
                self.watchers.look(seat, streams)
                watch.look(streams)
            except (msgspec.MsgspecError, InvalidRequest, ValueError):
                return BAD_MESSAGE


class _EventStream(Response):
    """The response of an event stream; its body is written as things happen."""

    def __init__(self, streams: Streams, after: int, names: Collection[SessionId], seat: Seat) -> None:
        super().__init__(media_type="text/event-stream")
        del self.headers["content-length"]
        self._streams = streams
        self._after = after
        self._names = names
        self._seat = seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._streams.watching(self._after, self._names, self._seat) as (greeting, watch):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            show = self._show(HTTPConnection(scope), send, greeting, watch)
            code = await first_of(show, _hang_up(receive), self._streams.ends())
            watch.close()
            if code != GONE:
                last = send({"type": "http.response.body", "body": b""})
                await self._streams.farewell(last, code)

    async def _show(self, connection: HTTPConnection, send: Send, greeting: Frame, watch: Watch) -> int:
        pace = self._streams.pace
        # The greeting moves the reader's place only when it resets it.
        place = f"id: {greeting.seen}\n" if len(greeting.envelopes) > 1 else ""
        data = f"retry: 1000\n{place}data: ".encode() + greeting.array() + b"\n\n"
        while self._streams.welcomes(connection):
            try:
                async with asyncio.timeout(pace.stall_s):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            except TimeoutError:
                return TOO_SLOW
            frame = await watch.next(pace.ping_s)
            data = b"id: %d\ndata: %b\n\n" % (frame.seen, frame.array()) if frame else b": ping\n\n"
        return SIGNED_OUT


async def first_of(*works: Coroutine[Any, Any, _T]) -> _T:
    """Run all until one returns; gives what it returned. The others are cancelled and have ended by then."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return next(iter(done)).result()


def parse_seq(text: str) -> int:
    """A place in the journal; "" is its beginning.

    Raises:
        InvalidRequest: it is none.
    """
    if not text:
        return 0
    if len(text) > 19 or not (text.isascii() and text.isdecimal()) or int(text) > SEQ_MAX:
        raise InvalidRequest(f"after={text!r} is no place in the journal; give the seq of the last event seen, or 0")
    return int(text)


def parse_streams(text: str) -> frozenset[SessionId]:
    """Names of streams, with commas between them; "" means all.

    Raises:
        InvalidRequest: too many, or something that cannot be a name.
    """
    names = text.split(",") if text else []
    return check_streams(names)


def check_streams(names: Collection[str]) -> frozenset[SessionId]:
    """As above, for names that come one by one."""
    if len(names) > NAMES_LIMIT:
        raise InvalidRequest(f"{len(names)} streams are too many to name; name {NAMES_LIMIT}, or none for all")
    for name in names:
        if not _NAME.fullmatch(name):
            raise InvalidRequest(f"{name!r} is no stream; give ids of sessions, or home")
    return frozenset(SessionId(name) for name in names)


def _seat(connection: HTTPConnection) -> Seat:
    caller: Caller = connection.state.caller
    return Seat(parse_door(connection.query_params.get("door", ""), caller.door))


def _bounds(journal: Journal) -> tuple[int, int]:
    """The first and the last seq of the journal, 0 for none."""
    return next((event.seq for event in islice(journal.events(), 1)), 0), journal.head()


async def _hang_up(receive: Receive) -> int:
    """Wait for the reader to leave."""
    while (await receive())["type"] != "http.disconnect":
        pass
    return GONE
