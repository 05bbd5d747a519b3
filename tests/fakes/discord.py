"""A strict Discord on loopback: its REST API, its gateway with sessions that are resumed, and its files.

It checks every request as Discord documents it: the token, the agent's name, fields, types and limits; what is unknown
is 404, and a message that is not valid is 400 with Discord's own code. The gateway wants its opcodes in their order and
closes with its own codes. Content is left out of messages where an app without the privileged intent would not see it.
Two libraries are tried on it: discord.py and discord.js.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aiohttp import WSMsgType, web

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Ginvtd.invented-for-tests-and-nothing-else-00"
BOT, APP, ANN, EVE = "900000000000000001", "900000000000000002", "800000000000000001", "800000000000000002"
DM, GENERAL, THREAD, SERVER = (f"70000000000000000{number}" for number in range(1, 5))
Json = dict[str, Any]
_MESSAGE_CONTENT = 1 << 15
_NEEDED = {"GENERAL": 1 << 9, "DM": 1 << 12}


class Refused(Exception):
    """An answer of the REST API that is none of success."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class Session:
    """A session of the gateway; ``events`` are kept, so that it can be resumed."""

    id: str
    intents: int
    events: list[Json] = field(default_factory=list)
    socket: web.WebSocketResponse | None = None


class FakeDiscord:
    """A running Discord with one server and one application.

    Attributes:
        sent: messages that the application sent, as they stand, by id.
        calls: requests by method and path, with ids left out.
        uploads: files that came, by name.
        pressed: interactions that were answered, by id, with the kind of the answer.
        followups: what was told to those who pressed.
        typed: channels in which something was being written.
        faults: what the next requests meet instead of an answer: "429:SECONDS", "500", "garbage", "drop".
        revoked: the token holds no more.
        deaf: the gateway answers no heartbeat.
        privileged: whether the application may have the content of all messages.
        resumes, identifies: how often.
    """

    def __init__(self) -> None:
        self.base = ""
        self.sent: dict[str, Json] = {}
        self.history: dict[str, list[Json]] = {}
        self.calls: Counter[str] = Counter()
        self.uploads: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.files_tokens: list[str] = []
        self.pressed: dict[str, int] = {}
        self.followups: list[Json] = []
        self.typed: list[str] = []
        self.faults: list[str] = []
        self.revoked = self.privileged = self.deaf = False
        self.resumes = self.identifies = self.beats = 0
        self.heartbeat_ms = 41_250
        self.hidden: set[str] = set()
        self.changed = asyncio.Condition()
        self.sessions: dict[str, Session] = {}
        self.connections: Callable[[], list[web.RequestHandler]] = list
        self.channels: dict[str, Json] = {
            DM: {"id": DM, "type": 1, "last_message_id": None, "recipients": [_user(ANN)]},
            GENERAL: {"id": GENERAL, "type": 0, "guild_id": SERVER, "name": "general", "parent_id": None},
            THREAD: {"id": THREAD, "type": 11, "guild_id": SERVER, "name": "a thread", "parent_id": GENERAL},
        }
        self._nonces: dict[str, Json] = {}
        self._interactions: dict[str, str] = {}
        self._numbers = count(1)

    def id(self) -> str:
        """One more, as they rise with time."""
        return str(1_400_000_000_000_000_000 + next(self._numbers))

    # -- what a test does ------------------------------------------------------------------------------------------

    async def says(self, text: str, *, channel: str = DM, author: Json | None = None, **more: Any) -> str:
        """Somebody wrote. Gives the id."""
        mentions = [_user(BOT, bot=True)] if re.search(rf"<@!?{BOT}>", text) else []
        message = {
            "id": self.id(),
            "channel_id": channel,
            "author": author or _user(ANN),
            "content": text,
            "timestamp": "2026-09-21T12:00:00.000000+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": mentions,
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "components": [],
            **more,
        }
        self.history.setdefault(channel, []).append(message)
        await self.dispatch("MESSAGE_CREATE", message)
        return str(message["id"])

    async def forwards(self, text: str, *, attachments: list[Json] | None = None, **more: Any) -> str:
        """Somebody forwarded a message, which says nothing itself. Gives the id."""
        copy = {"type": 0, "content": text, "mentions": [], "mention_roles": [], "attachments": attachments or []}
        copy |= {"embeds": [], "timestamp": "2026-09-20T12:00:00.000000+00:00", "edited_timestamp": None, "flags": 0}
        reference = {"type": 1, "channel_id": GENERAL, "message_id": self.id()}
        return await self.says(
            "", message_reference=reference, message_snapshots=[{"message": copy}], flags=1 << 14, **more
        )

    async def press(self, name: str, data: str, *, user: str = ANN) -> str:
        """Somebody pressed a button of a message. Gives the id."""
        message = self.sent[name.rpartition("/")[2]]
        assert any(one["custom_id"] == data for row in message["components"] for one in row["components"])
        channel = self.channels[message["channel_id"]]
        id, token = self.id(), f"interaction-{next(self._numbers)}"
        self._interactions[id] = token
        who = {"user": _user(user)} if channel["type"] == 1 else {"member": _member(user), "guild_id": SERVER}
        await self.dispatch(
            "INTERACTION_CREATE",
            {
                "id": id,
                "application_id": APP,
                "type": 3,
                "token": token,
                "version": 1,
                "channel": channel,
                "channel_id": channel["id"],
                "data": {"custom_id": data, "component_type": 2},
                "message": message,
                "app_permissions": "0",
                "locale": "en-US",
                "entitlements": [],
                "authorizing_integration_owners": {},
                "attachment_size_limit": 10_000_000,
                **who,
            },
        )
        return id

    async def dispatch(self, event: str, data: Any) -> None:
        """An event for each session that its intents let see it."""
        for session in self.sessions.values():
            channel = self.channels.get(data.get("channel_id", "")) if isinstance(data, dict) else None
            if event == "MESSAGE_CREATE" and channel:
                private = channel["type"] == 1
                if not session.intents & _NEEDED["DM" if private else "GENERAL"]:
                    continue
                shown = self._seen(data, session.intents) | {"channel_type": channel["type"]}
                shown |= {} if private else {"guild_id": SERVER, "member": _member(data["author"]["id"])}
            else:
                shown = data
            session.events.append({"op": 0, "t": event, "s": len(session.events) + 1, "d": shown})
            if session.socket is not None:
                await _push(session.socket, session.events[-1])

    def drop_sockets(self, *, forget: bool = False) -> None:
        """Cut them without a word; with ``forget`` no session can be resumed."""
        for session in self.sessions.values():
            if (socket := session.socket) is not None:
                session.socket = None
                if socket._req is not None and socket._req.transport is not None:  # the library has no other way
                    socket._req.transport.abort()
        if forget:
            self.sessions.clear()

    def cut(self) -> None:
        """Cut every connection without a word, those of requests too."""
        self.drop_sockets()
        for connection in self.connections():
            if connection.transport is not None:
                connection.transport.abort()

    def keep(self, name: str, data: bytes) -> Json:
        """A file that somebody uploaded, as a message tells of it."""
        self.files[name] = data
        id = self.id()
        about = {"id": id, "filename": name, "content_type": "text/plain", "size": len(data)}
        return about | {"url": f"{self.base}/attachments/{DM}/{id}/{name}"}

    async def tell(self, frame: Json) -> None:
        """A frame that is no event, for every socket."""
        for session in tuple(self.sessions.values()):
            if session.socket is not None:
                await _push(session.socket, frame)

    async def end(self, code: int) -> None:
        """Close every socket with a code of the gateway's."""
        for session in tuple(self.sessions.values()):
            if (socket := session.socket) is not None:
                session.socket = None
                await socket.close(code=code)

    @property
    def connected(self) -> bool:
        """Whether there is a session on a socket."""
        return any(session.socket is not None for session in self.sessions.values())

    async def until(self, holds: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait for something that a request brings about."""
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(holds)

    def _seen(self, message: Json, intents: int = 0) -> Json:
        """A message as the application may see it."""
        meant = any(one["id"] == BOT for one in message.get("mentions", ())) or message["author"]["id"] == BOT
        if self.channels[message["channel_id"]]["type"] == 1 or meant or intents & _MESSAGE_CONTENT:
            return dict(message)
        return message | {"content": "", "attachments": [], "embeds": [], "components": []}

    # -- the REST API ----------------------------------------------------------------------------------------------

    async def rest(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        path = request.match_info["path"]
        self.calls[f"{request.method} {re.sub(r'[0-9]{15,}', 'ID', path)}"] += 1
        if self.faults and (answer := await self._fault(request, self.faults.pop(0))):
            return answer
        try:
            said = await self._answer(request, path)
        except Refused as refusal:
            return _json({"message": str(refusal), "code": refusal.code}, status=refusal.status)
        finally:
            await self._told()
        return _json(said) if said is not None else web.Response(status=204)

    async def _answer(self, request: web.Request, path: str) -> Any:
        method, given = request.method, re.fullmatch(r"interactions/(\d+)/([\w-]+)/callback", path)
        if method == "POST" and given:
            return await self._callback(request, given[1], given[2])
        if method == "POST" and (given := re.fullmatch(rf"webhooks/{APP}/([\w-]+)", path)):
            if given[1] not in self._interactions.values():
                raise Refused(404, 10015, "Unknown Webhook")
            self.followups.append(message := _valid(await _body(request, self), 4 | 64))
            return _whole(message, self.id(), DM)
        if request.headers.get("Authorization") != f"Bot {TOKEN}" or self.revoked:
            raise Refused(401, 0, "401: Unauthorized")
        if not request.headers.get("User-Agent", "").startswith("DiscordBot ("):
            raise Refused(403, 40333, "internal network error")
        if method == "GET" and path == "users/@me":
            return _user(BOT, bot=True)
        if method == "GET" and path == "oauth2/applications/@me":
            return {"id": APP, "name": "stead", "flags": 0, "bot_public": False, "bot_require_code_grant": False} | {
                "description": "",
                "icon": None,
                "summary": "",
                "rpc_origins": [],
                "owner": _user(ANN),
                "team": None,
                "install_params": None,
                "integration_types_config": {},
                "redirect_uris": [],
                "verify_key": "",
            }
        if method == "GET" and path == "gateway/bot":
            limit = {"total": 1000, "remaining": 999, "reset_after": 1000, "max_concurrency": 1}
            return {"url": self.gateway, "shards": 1, "session_start_limit": limit}
        if not (found := re.fullmatch(r"channels/(\d+)(/.*)?", path)):
            raise Refused(404, 0, "404: Not Found")
        return await self._in_channel(request, found[1], found[2] or "")

    async def _in_channel(self, request: web.Request, channel: str, rest: str) -> Any:
        method = request.method
        if channel not in self.channels:
            raise Refused(404, 10003, "Unknown Channel")
        if channel in self.hidden:
            raise Refused(403, 50001, "Missing Access")
        if method == "GET" and not rest:
            return self.channels[channel]
        if method == "POST" and rest == "/typing":
            self.typed.append(channel)
            return None
        if method == "POST" and rest == "/messages":
            return self._create(channel, await _body(request, self))
        if method == "GET" and rest == "/messages":
            after, limit = request.query.get("after", "0"), request.query.get("limit", "50")
            if not (after.isdecimal() and limit.isdecimal() and 1 <= int(limit) <= 100):
                raise Refused(400, 50035, "Invalid Form Body")
            later = [one for one in self.history.get(channel, []) if int(one["id"]) > int(after)]
            return [self._seen(one) for one in reversed(later[: int(limit)])]
        if not (found := re.fullmatch(r"/messages/(\d+)", rest)):
            raise Refused(404, 0, "404: Not Found")
        one = next((one for one in self.history.get(channel, []) if one["id"] == found[1]), None)
        if one is None:
            raise Refused(404, 10008, "Unknown Message")
        if method == "GET":
            return self._seen(one)
        if method != "PATCH":
            raise Refused(405, 0, "405: Method Not Allowed")
        if one["author"]["id"] != BOT:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        one |= _valid(await _body(request, self), 4)
        return one

    def _create(self, channel: str, body: Json) -> Json:
        message = _valid(body, 4 | 4096)
        nonce = str(body.get("nonce", ""))
        if body.get("enforce_nonce") and nonce in self._nonces:
            return self._nonces[nonce]
        sent = _whole(message, self.id(), channel)
        self.sent[sent["id"]] = self._nonces[nonce] = sent
        self.history.setdefault(channel, []).append(sent)
        return sent

    async def _callback(self, request: web.Request, id: str, token: str) -> Json | None:
        if self._interactions.get(id) != token:
            raise Refused(404, 10062, "Unknown interaction")
        if id in self.pressed:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        body = await request.json()
        if body.get("type") not in (4, 6, 7):
            raise Refused(400, 50035, "Invalid Form Body")
        self.pressed[id] = body["type"]
        if request.query.get("with_response") not in ("1", "true"):
            return None
        about = {"id": id, "type": 3, "response_message_ephemeral": False, "response_message_loading": False}
        return {"interaction": about}

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file, to whoever has its address."""
        self.files_tokens.append(request.headers.get("Authorization", ""))
        found = self.files.get(request.match_info["name"])
        return web.Response(body=found) if found is not None else web.Response(status=404)

    async def _fault(self, request: web.Request, fault: str) -> web.StreamResponse | None:
        kind, _, seconds = fault.partition(":")
        if kind == "429":
            return _json(
                {"message": "You are being rate limited.", "retry_after": float(seconds), "global": False},
                status=429,
                headers={"Retry-After": str(int(float(seconds))), "X-RateLimit-Scope": "user", "Via": "1.1 google"},
            )
        if kind == "500":
            return web.Response(status=500, text="<html>500</html>", content_type="text/html")
        if kind == "garbage":
            return web.Response(body=b'{"id": 12', content_type="application/json")
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    # -- the gateway -----------------------------------------------------------------------------------------------

    @property
    def gateway(self) -> str:
        """Where it is."""
        return f"{self.base.replace('http', 'ws', 1)}/gateway"

    async def link(self, request: web.Request) -> web.StreamResponse:
        """One socket."""
        socket = web.WebSocketResponse(max_msg_size=4096)
        await socket.prepare(request)
        if request.query.get("v") != "10" or request.query.get("encoding") != "json":
            await socket.close(code=4012)
            return socket
        session: Session | None = None
        try:
            await socket.send_json({"op": 10, "t": None, "s": None, "d": {"heartbeat_interval": self.heartbeat_ms}})
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                try:
                    frame = json.loads(message.data)
                    op, data = frame["op"], frame["d"]
                except (ValueError, KeyError, TypeError):
                    await socket.close(code=4002)
                    break
                session = await self._heard(socket, session, op, data)
                await self._told()
        except ConnectionError:
            return socket
        finally:
            if session is not None and session.socket is socket:
                session.socket = None
                if socket.close_code in (1000, 1001):  # whoever closes so does not come again
                    self.sessions.pop(session.id, None)
            await self._told()
        return socket

    async def _heard(
        self, socket: web.WebSocketResponse, session: Session | None, op: int, data: Any
    ) -> Session | None:
        if op == 1:
            if data is not None and not isinstance(data, int):
                await socket.close(code=4002)
            self.beats += 1
            if self.deaf:
                return session
            await _push(socket, {"op": 11, "d": None, "t": None, "s": None})
            return session
        if op in (2, 6) and session is not None:
            await socket.close(code=4005)
        elif op == 2:
            return await self._identify(socket, data)
        elif op == 6:
            return await self._resume(socket, data)
        elif session is None:
            await socket.close(code=4003)
        elif op != 3:
            await socket.close(code=4001)
        return session

    async def _identify(self, socket: web.WebSocketResponse, data: Json) -> Session | None:
        properties = data.get("properties", {})
        if data.get("token") != TOKEN or self.revoked:
            await socket.close(code=4004)
            return None
        if set(properties) < {"os", "browser", "device"} or not isinstance(data.get("intents"), int):
            await socket.close(code=4002 if "intents" in data else 4013)
            return None
        if data["intents"] & _MESSAGE_CONTENT and not self.privileged:
            await socket.close(code=4014)
            return None
        self.identifies += 1
        session = Session(f"session-{next(self._numbers)}", data["intents"])
        ready = {
            "v": 10,
            "user": _user(BOT, bot=True),
            "guilds": [],
            "session_id": session.id,
            "resume_gateway_url": self.gateway,
            "application": {"id": APP, "flags": 0},
            "shard": [0, 1],
        }
        session.events.append({"op": 0, "t": "READY", "s": 1, "d": ready})
        session.socket = socket
        self.sessions[session.id] = session
        await _push(socket, session.events[0])
        return session

    async def _resume(self, socket: web.WebSocketResponse, data: Json) -> Session | None:
        if data.get("token") != TOKEN or self.revoked:
            await socket.close(code=4004)
            return None
        session = self.sessions.get(data.get("session_id", ""))
        if session is None:
            await _push(socket, {"op": 9, "d": False, "t": None, "s": None})
            return None
        if not isinstance(data.get("seq"), int) or data["seq"] > len(session.events):
            await socket.close(code=4007)
            return None
        self.resumes += 1
        at = data["seq"]
        while at < len(session.events):
            await _push(socket, session.events[at])
            at += 1
        session.events.append({"op": 0, "t": "RESUMED", "s": at + 1, "d": {}})
        session.socket = socket
        await _push(socket, session.events[-1])
        return session

    async def _told(self) -> None:
        async with self.changed:
            self.changed.notify_all()


def _json(said: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Discord names no charset, and a client minds."""
    media = {"Content-Type": "application/json", **(headers or {})}
    return web.Response(body=json.dumps(said).encode(), status=status, headers=media)


async def _push(socket: web.WebSocketResponse, frame: Json) -> None:
    with suppress(ConnectionError):
        await socket.send_json(frame)


def _whole(message: Json, id: str, channel: str) -> Json:
    """A message of the application's, with all that a message has."""
    empty: Json = {"mentions": [], "embeds": [], "components": [], "type": 0, "tts": False}
    sent = {**empty, **message, "id": id, "channel_id": channel, "author": _user(BOT, bot=True), "attachments": []}
    sent |= {"timestamp": "2026-09-21T12:00:00.000000+00:00", "edited_timestamp": None, "pinned": False}
    return sent | {"mention_everyone": False, "mention_roles": []}


def _user(id: str, *, bot: bool = False) -> Json:
    name = {ANN: "ann", EVE: "eve", BOT: "stead"}[id]
    return {"id": id, "username": name, "discriminator": "0", "global_name": name.title(), "avatar": None, "bot": bot}


def _member(id: str) -> Json:
    return {"user": _user(id), "roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False} | {
        "flags": 0,
        "permissions": "0",
    }


async def _body(request: web.Request, fake: FakeDiscord) -> Json:
    """What a message was given as: JSON, or a form with files."""
    if request.content_type == "application/json":
        body = await request.json()
    elif request.content_type == "multipart/form-data":
        form = await request.post()
        given = form["payload_json"]
        body = json.loads(bytes(given) if isinstance(given, (bytes, bytearray)) else str(given))
        about = {str(one["id"]): one.get("filename") for one in body.get("attachments", [])}
        if len(about) > 10:
            raise Refused(400, 50035, "Invalid Form Body")
        for name, part in form.items():
            if name == "payload_json":
                continue
            number = re.fullmatch(r"files\[(\d+)\]", name)
            if not number or not isinstance(part, web.FileField) or number[1] not in about:
                raise Refused(400, 50035, "Invalid Form Body")
            fake.uploads[part.filename] = part.file.read()
    else:
        raise Refused(400, 50035, "Invalid Form Body")
    if not isinstance(body, dict):
        raise Refused(400, 50109, "The request body contains invalid JSON.")
    return body


def _valid(body: Json, flags: int) -> Json:
    """A message, or Discord's refusal of it."""
    types: dict[str, tuple[type, ...]] = {
        "content": (str, type(None)),
        "flags": (int, type(None)),
        "allowed_mentions": (dict, type(None)),
        "components": (list,),
        "attachments": (list,),
        "embeds": (list, type(None)),
        "nonce": (str, int, type(None)),
        "enforce_nonce": (bool,),
        "tts": (bool,),
        "message_reference": (dict, type(None)),
    }
    for name, value in body.items():
        if name in types and not isinstance(value, types[name]):
            raise Refused(400, 50035, f"Invalid Form Body: {name}")
    if len(body.get("content") or "") > 2000 or len(str(body.get("nonce", ""))) > 25:
        raise Refused(400, 50035, "Invalid Form Body: content")
    if (body.get("flags") or 0) & ~flags:
        raise Refused(400, 50035, "Invalid Form Body: flags")
    if not (body.get("content") or body.get("attachments") or body.get("embeds") or body.get("components")):
        raise Refused(400, 50006, "Cannot send an empty message")
    seen: set[str] = set()
    rows = body.get("components", [])
    for row in rows:
        if row.get("type") != 1 or not 1 <= len(row.get("components", [])) <= 5 or len(rows) > 5:
            raise Refused(400, 50035, "Invalid Form Body: components")
        for one in row["components"]:
            fits = 1 <= len(one.get("custom_id", "")) <= 100 and 1 <= len(one.get("label", "")) <= 80
            if one.get("type") != 2 or one.get("style") not in (1, 2, 3, 4) or not fits or one["custom_id"] in seen:
                raise Refused(400, 50035, "Invalid Form Body: components")
            seen.add(one["custom_id"])
    return {name: value for name, value in body.items() if name in types and name != "enforce_nonce"}


@asynccontextmanager
async def discord(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[FakeDiscord]:
    """A running Discord; ``host`` is what it calls itself in addresses."""
    fake = FakeDiscord()
    app = web.Application(client_max_size=32 << 20)
    app.router.add_route("*", "/api/v10/{path:.*}", fake.rest)
    app.router.add_get("/attachments/{channel}/{id}/{name}", fake.download)
    app.router.add_get("/gateway/", fake.link)
    app.router.add_get("/gateway", fake.link)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    server = runner.server
    assert server is not None
    fake.connections = lambda: server.connections
    fake.base = f"{'https' if tls else 'http'}://{host}:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        fake.cut()
        await runner.cleanup()
