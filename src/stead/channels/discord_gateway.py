"""What Discord's gateway sends, and a session of it over one socket after another.

Layer: channels. Every frame is taken as a stranger's: one that is not of its type is passed over.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated

import msgspec
from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType

from stead.channels.base import ChannelFault
from stead.channels.http import read

_INTENTS = 1 << 9 | 1 << 12
"""Messages in servers, and private ones. Their content comes without the privileged intent where the bot is meant."""
_RETRIES_S = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Before a session is resumed again; then the worker waits, and a new one begins."""
_LIVED_S = 5.0
"""A socket that lasted so long, or brought something, was no failure."""
_FATAL = {
    4004: "the token was refused",
    4010: "the shard is not valid",
    4011: "the bot is in so many servers that it needs shards",
    4012: "the version of its gateway is gone",
    4013: "the intents are not valid",
    4014: "the intents are not allowed to this bot",
}
_SESSION_GONE = (4007, 4009)
"""Codes with which the gateway closes; after others the session is resumed."""
_Id = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,20}$")]
_Words = Annotated[str, msgspec.Meta(max_length=200)]


class User(msgspec.Struct):
    """Someone, or a bot."""

    id: _Id
    username: _Words = ""
    global_name: _Words | None = None
    bot: bool = False


class Attachment(msgspec.Struct):
    """A file of a message."""

    id: _Id
    filename: str = "file"
    content_type: str | None = None
    size: int = 0


class Referenced(msgspec.Struct):
    """The message that one replies to."""

    author: User | None = None


class Written(msgspec.Struct):
    """What a message says."""

    content: str = ""
    mentions: list[User] = []
    attachments: list[Attachment] = []


class Snapshot(msgspec.Struct):
    """A message as it was when it was forwarded, without its author."""

    message: Written


class Message(Written, kw_only=True):
    """A message, as the gateway sends it and the history has it. One that forwards others says nothing itself."""

    id: _Id
    channel_id: _Id
    author: User
    type: int = 0
    webhook_id: str | None = None
    referenced_message: Referenced | None = None
    message_snapshots: list[Snapshot] = []


class Channel(msgspec.Struct):
    """A channel of a server, a thread, or a private chat."""

    id: _Id
    type: int
    name: _Words | None = None
    parent_id: _Id | None = None


class Member(msgspec.Struct):
    """Someone in a server."""

    user: User


class Named(msgspec.Struct):
    """What only its id is wanted of."""

    id: _Id


class Pressed(msgspec.Struct):
    """What was pressed."""

    custom_id: Annotated[str, msgspec.Meta(max_length=100)]
    component_type: int


class Interaction(msgspec.Struct):
    """A press, or another interaction."""

    id: _Id
    type: int
    token: Annotated[str, msgspec.Meta(max_length=2000)]
    channel_id: _Id
    data: Pressed
    user: User | None = None
    member: Member | None = None


class Ready(msgspec.Struct):
    """A session has begun."""

    user: User
    application: Named
    session_id: str
    resume_gateway_url: str


class _Hello(msgspec.Struct):
    heartbeat_interval: Annotated[float, msgspec.Meta(ge=50, le=600_000)]


class _Frame(msgspec.Struct):
    op: int
    d: msgspec.Raw = msgspec.Raw(b"null")
    s: int | None = None
    t: str | None = None


Event = Ready | Message | Interaction | None
"""What of a dispatch is passed on; None once a session was resumed."""


class Gateway:
    """A session of the gateway, over one socket after another.

    Args:
        http: for its sockets.
        token: of the bot.
        url: where a session begins.
        heard: takes what was dispatched, in order.
    """

    def __init__(self, http: ClientSession, token: str, url: str, heard: Callable[[Event], Awaitable[None]]) -> None:
        self._http, self._token, self._url, self._heard = http, token, url, heard
        self._session = self._resume_url = ""
        self._sequence: int | None = None
        self._answered = self._brought = False

    async def run(self) -> None:
        """Keep the session; raises ``ChannelFault`` where it cannot be."""
        loop, failures = asyncio.get_running_loop(), 0
        while failures < len(_RETRIES_S):
            begun, self._brought = loop.time(), False
            with suppress(ClientError, OSError, TimeoutError):  # each of them is a connection that ended
                await self._socket()
            if self._brought or loop.time() - begun > _LIVED_S:
                failures = 0
            await asyncio.sleep(_RETRIES_S[failures])
            failures += 1
        raise ChannelFault("Discord's gateway cannot be reached")

    async def _socket(self) -> None:
        url = f"{(self._resume_url or self._url).rstrip('/')}/?v=10&encoding=json"
        async with self._http.ws_connect(url, timeout=ClientWSTimeout(ws_close=2), max_msg_size=16 << 20) as socket:
            beating: asyncio.Task[None] | None = None
            try:
                async for message in socket:
                    frame = read(message.data, _Frame) if message.type is WSMsgType.TEXT else None
                    if frame is None:
                        continue
                    if frame.op == 10 and beating is None and (hello := read(frame.d, _Hello)):
                        self._answered = True
                        beating = asyncio.create_task(self._beat(socket, hello.heartbeat_interval / 1000))
                        await self._greet(socket)
                    elif not await self._followed(socket, frame):
                        break
            finally:
                if beating:
                    beating.cancel()
                await socket.close(code=4000)  # the session would be over with the usual code
        if why := _FATAL.get(socket.close_code or 0):
            raise ChannelFault(f"Discord: {why}", final=True)
        if socket.close_code in _SESSION_GONE:
            self._session = self._resume_url = ""

    async def _greet(self, socket: ClientWebSocketResponse) -> None:
        if self._session:
            resumed = {"token": self._token, "session_id": self._session, "seq": self._sequence}
            await socket.send_json({"op": 6, "d": resumed})
            return
        self._sequence = None
        properties = {"os": "linux", "browser": "stead", "device": "stead"}
        identity = {"token": self._token, "intents": _INTENTS, "properties": properties, "large_threshold": 50}
        await socket.send_json({"op": 2, "d": identity})

    async def _followed(self, socket: ClientWebSocketResponse, frame: _Frame) -> bool:
        """Do what a frame says; gives whether the socket is kept."""
        match frame.op:
            case 0:
                self._sequence = frame.s if frame.s is not None else self._sequence
                await self._dispatched(frame)
            case 1:
                await socket.send_json({"op": 1, "d": self._sequence})
            case 7:
                return False
            case 9:
                if bytes(frame.d) != b"true":
                    self._session = self._resume_url = ""
                await asyncio.sleep(random.uniform(1, 5))  # noqa: S311 - as Discord asks; it is no secret
                return False
            case 11:
                self._answered = True
            case _:
                return True  # of a later version
        return True

    async def _dispatched(self, frame: _Frame) -> None:
        event: Event = None
        match frame.t:
            case "READY":
                if (event := read(frame.d, Ready)) is None:
                    raise ChannelFault("Discord's gateway does not speak version 10")
                self._session, self._resume_url = event.session_id, event.resume_gateway_url
            case "MESSAGE_CREATE":
                event = read(frame.d, Message)
            case "INTERACTION_CREATE":
                event = read(frame.d, Interaction)
            case _:
                pass
        if event or frame.t == "RESUMED":
            self._brought = self._brought or isinstance(event, Message | Interaction)
            await self._heard(event)

    async def _beat(self, socket: ClientWebSocketResponse, interval_s: float) -> None:
        await asyncio.sleep(interval_s * random.random())  # noqa: S311 - as above
        while self._answered:
            self._answered = False
            await socket.send_json({"op": 1, "d": self._sequence})
            await asyncio.sleep(interval_s)
        await socket.close(code=4000)
