"""A strict Slack on loopback: its Web API, its sockets of Socket Mode, its files, and what it sends to a listener.

It checks every request as Slack documents it: the token and its kind, the arguments' names and types, the limits of
texts and blocks; an unknown method is ``unknown_method``, and what is missing or too long is refused by Slack's own
codes. What is not acknowledged at a socket comes again at the next one, until ``give_up``. Two libraries are tried on
it: Slack's for Python, and Slack's for Node.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import ssl
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from urllib.parse import urlencode

from aiohttp import WSMsgType, web

TOKEN, APP_TOKEN, SECRET = "xoxb-12-34-invented", "xapp-1-A0-12-invented", "5f1c0ffee0123456789abcdef0123456"
BOT, BOT_ID, APP, TEAM = "U0STEAD", "B0STEAD", "A0STEAD", "T0TEAM"
Json = dict[str, Any]

_BOOL, _STR = (bool,), (str,)
_COMMON = {"as_user": _BOOL, "attachments": (list,), "blocks": (list,), "link_names": _BOOL, "parse": _STR}
_ARGUMENTS: dict[str, tuple[set[str], dict[str, tuple[type, ...]]]] = {
    "auth.test": (set(), {}),
    "apps.connections.open": (set(), {}),
    "chat.postMessage": (
        {"channel"},
        {
            **_COMMON,
            **{name: _BOOL for name in ("mrkdwn", "unfurl_links", "unfurl_media", "reply_broadcast")},
            **{name: _STR for name in ("channel", "text", "thread_ts", "username", "icon_emoji", "icon_url")},
        },
    ),
    "chat.update": ({"channel", "ts"}, {**_COMMON, "channel": _STR, "ts": _STR, "text": _STR}),
    "chat.postEphemeral": (
        {"channel", "user"},
        {**_COMMON, "channel": _STR, "user": _STR, "text": _STR, "thread_ts": _STR},
    ),
    "files.getUploadURLExternal": ({"filename", "length"}, {"filename": _STR, "length": (int,), "alt_txt": _STR}),
    "files.completeUploadExternal": (
        {"files"},
        {"files": (list,), "channel_id": _STR, "thread_ts": _STR, "initial_comment": _STR},
    ),
    "files.info": ({"file"}, {"file": _STR}),
    "conversations.history": (
        {"channel"},
        {"inclusive": _BOOL, "limit": (int,), **{name: _STR for name in ("channel", "cursor", "latest", "oldest")}},
    ),
}
"""Of each method: what it needs, and the types of all that it takes."""


class Refused(Exception):
    """What Slack answers with ``ok: false``."""


class FakeSlack:
    """A running Slack with one workspace and one app.

    Attributes:
        sent: what ``chat.postMessage`` took, as it stands now, by its ts.
        whispers: what ``chat.postEphemeral`` took.
        written: what people wrote in each private chat that the app may read the history of.
        calls: how often each method was called, refused or not.
        files: bytes by id; those that came from the app are in ``shared`` once they were completed.
        faults: what the next calls of the Web API meet instead of an answer: "429:SECONDS", "500", "garbage",
            "nothing" (an answer that does not come), "drop"; "" for an answer.
        revoked: the token holds no more.
        acknowledged: ids of envelopes, in the order of their acknowledgement.
        posts: sends a request to the app's listener instead of an envelope; see ``slack_requests``.
    """

    def __init__(self) -> None:
        self.base = ""
        self.sent: OrderedDict[str, Json] = OrderedDict()
        self.written: dict[str, list[Json]] = {}
        self.whispers: list[Json] = []
        self.shared: list[Json] = []
        self.calls: Counter[str] = Counter()
        self.files: dict[str, tuple[str, bytes]] = {}
        self.files_tokens: list[str] = []
        self.uploads_tokens: list[str] = []
        self.urls: dict[str, str] = {}
        self.faults: list[str] = []
        self.revoked = False
        self.acknowledged: list[str] = []
        self.changed = asyncio.Condition()
        self.sockets: set[web.WebSocketResponse] = set()
        self.connections: Callable[[], Sequence[web.RequestHandler | asyncio.StreamWriter]] = tuple
        self.posts: Callable[[str, Json], None] | None = None
        self._pending: OrderedDict[str, Json] = OrderedDict()
        self._tickets: set[str] = set()
        self._uploads: dict[str, tuple[str, int, bytes | None]] = {}
        self._numbers = count(1)

    # -- what a test does ------------------------------------------------------------------------------------------

    def ts(self) -> str:
        """The name of one more message."""
        return f"1790000000.{next(self._numbers):06}"

    async def says(self, text: str, *, channel: str = "D0ANN", user: str = "U0ANN", **more: Any) -> str:
        """Somebody wrote: in a private chat, or with ``channel`` C… where the app was mentioned. Gives the ts."""
        ts = self.ts()
        kind = {"D": {"type": "message", "channel_type": "im"}, "C": {"type": "app_mention"}}[channel[0]]
        if channel[0] == "D":
            said = {"type": "message", "user": user, "ts": ts, "text": text, "team": TEAM, **more}
            self.written.setdefault(channel, []).append(said)
        await self.happens({**kind, "channel": channel, "user": user, "ts": ts, "text": text, **more})
        return ts

    async def shares(self, text: str, note: str = "", *, files: list[Json] | None = None, **more: Any) -> str:
        """Somebody shared another's message, with a note of their own or without. Gives the ts."""
        shared: Json = {"is_msg_unfurl": True, "is_share": True, "text": text, "fallback": f"[12:00] bob: {text}"}
        shared |= {
            "author_id": "U0BOB",
            "author_name": "bob",
            "channel_id": "C0DEV",
            "ts": self.ts(),
            "mrkdwn_in": ["text"],
        }
        return await self.says(note, attachments=[shared | ({"files": files} if files else {})], **more)

    def give_up(self) -> None:
        """Send again no more what was not acknowledged, as Slack does after a third time, six minutes later."""
        self._pending.clear()

    async def happens(self, event: Json, **call: Any) -> str:
        """An event for the sockets. Gives the id of its envelope."""
        return await self.push("events_api", self.called(event) | call)

    def called(self, event: Json) -> Json:
        """What Slack sends of an event."""
        number = next(self._numbers)
        return {
            "token": "verification",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": {"event_ts": event.get("ts", ""), "team": TEAM, **event},
            "type": "event_callback",
            "event_id": f"Ev{number:08}",
            "event_time": 1790000000,
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
        }

    def press(self, message: str, value: str, *, channel: str = "D0ANN", user: str = "U0ANN", name: str = "") -> Json:
        """What Slack sends of a press on a button of a message that the app sent."""
        about = self.sent[message]
        found = next(
            one
            for block in about["blocks"]
            if block["type"] == "actions"
            for one in block["elements"]
            if one["value"] == value
        )
        thread = {"thread_ts": about["thread_ts"]} if about.get("thread_ts") else {}
        return {
            "type": "block_actions",
            "user": {"id": user, "username": "ann", "name": "ann", "team_id": TEAM},
            "api_app_id": APP,
            "team": {"id": TEAM, "domain": "example"},
            "container": {"type": "message", "message_ts": message, "channel_id": channel, **thread},
            "trigger_id": "1.2.3",
            "channel": {"id": channel, "name": name or ("directmessage" if channel[0] == "D" else "general")},
            "message": {"type": "message", "user": BOT, "bot_id": BOT_ID, "ts": message, "text": about["text"]},
            "response_url": f"{self.base}/actions/invented",
            "actions": [{**found, "block_id": "b", "action_ts": self.ts()}],
        }

    async def push(self, kind: str, payload: Json) -> str:
        """An envelope for the sockets, sent until it is acknowledged; or a request. Gives the id of the envelope."""
        if self.posts:
            self.posts(kind, payload)
            return ""
        id = f"envelope-{next(self._numbers)}"
        self._pending[id] = {
            "envelope_id": id,
            "type": kind,
            "payload": payload,
            "accepts_response_payload": kind == "interactive",
        }
        for socket in list(self.sockets)[-1:]:
            await self._deliver(socket, id)
        return id

    def signed(self, body: bytes, media: str = "application/json", at: int | None = None) -> dict[str, str]:
        """The headers, in lower case, of a request that Slack sends to a listener."""
        stamp = str(int(time.time()) if at is None else at)
        made = hmac.new(SECRET.encode(), b"v0:%s:%s" % (stamp.encode(), body), hashlib.sha256).hexdigest()
        return {
            "content-type": media,
            "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "x-slack-request-timestamp": stamp,
            "x-slack-signature": f"v0={made}",
        }

    def form(self, payload: Json) -> bytes:
        """The body of an interaction that is sent to a listener."""
        return urlencode({"payload": json.dumps(payload)}).encode()

    def drop_sockets(self) -> None:
        """Cut them without a word."""
        for socket in tuple(self.sockets):
            if socket._req is not None and socket._req.transport is not None:  # the library has no other way
                socket._req.transport.abort()

    def cut(self) -> None:
        """Cut every connection without a word, those of requests too."""
        for connection in self.connections():
            if connection.transport is not None:
                connection.transport.abort()

    def keep(self, name: str, data: bytes) -> Json:
        """A file that somebody uploaded, as a message tells of it."""
        self.files[id := f"F{next(self._numbers):08}"] = name, data
        return {"id": id, "name": name, "mimetype": "text/plain", "size": len(data)}

    async def disconnect(self, reason: str) -> None:
        """Ask the clients to go, as Slack does before it renews a socket."""
        for socket in tuple(self.sockets):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink"}})

    async def until(self, holds: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait for something that a request brings about."""
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(holds)

    # -- the Web API -----------------------------------------------------------------------------------------------

    async def api(self, request: web.Request) -> web.StreamResponse:
        """Any method."""
        method = request.match_info["method"]
        self.calls[method] += 1
        await self._told()
        if self.faults and (answer := await self._fault(request, self.faults.pop(0))):
            return answer
        try:
            given = await _arguments(request)
            wanted = APP_TOKEN if method == "apps.connections.open" else TOKEN
            self._authorized(request.headers.get("Authorization", ""), wanted)
            if method not in _ARGUMENTS:
                raise Refused("unknown_method")
            answer_of: Callable[[Json], Json] = getattr(self, "_" + method.replace(".", "_"))
            said = answer_of(_checked(method, given))
        except Refused as refusal:
            return web.json_response({"ok": False, "error": str(refusal)})
        await self._told()
        return web.json_response({"ok": True, **said})

    def _authorized(self, header: str, wanted: str) -> None:
        kind, _, token = header.partition(" ")
        if kind != "Bearer" or not token:
            raise Refused("not_authed")
        if self.revoked:
            raise Refused("token_revoked")
        if token != wanted:
            raise Refused("not_allowed_token_type" if token in (TOKEN, APP_TOKEN) else "invalid_auth")

    def _auth_test(self, given: Json) -> Json:
        return {"url": f"{self.base}/", "team": "Example", "user": "stead", "team_id": TEAM, "user_id": BOT} | {
            "bot_id": BOT_ID,
            "is_enterprise_install": False,
        }

    def _apps_connections_open(self, given: Json) -> Json:
        self._tickets.add(ticket := f"ticket-{next(self._numbers)}")
        return {"url": f"{self.base.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP}"}

    def _chat_postMessage(self, given: Json) -> Json:
        _message_of(given)
        self.sent[ts := self.ts()] = given
        return {"channel": given["channel"], "ts": ts, "message": {"type": "message", "user": BOT, "ts": ts, **given}}

    def _chat_update(self, given: Json) -> Json:
        if given["ts"] not in self.sent or self.sent[given["ts"]]["channel"] != given["channel"]:
            raise Refused("message_not_found")
        _message_of(given)
        self.sent[given["ts"]] |= given
        return {"channel": given["channel"], "ts": given["ts"], "text": given.get("text", ""), "message": {}}

    def _chat_postEphemeral(self, given: Json) -> Json:
        _message_of(given)
        self.whispers.append(given)
        return {"message_ts": self.ts()}

    def _files_getUploadURLExternal(self, given: Json) -> Json:
        if given["length"] <= 0 or not given["filename"]:
            raise Refused("invalid_arguments")
        id = f"F{next(self._numbers):08}"
        self._uploads[id] = given["filename"], given["length"], None
        return {"upload_url": f"{self.base}/upload/v1/{id}", "file_id": id}

    def _files_completeUploadExternal(self, given: Json) -> Json:
        done = []
        for one in given["files"]:
            name, _, data = self._uploads.get(one["id"], ("", 0, None))
            if data is None:
                raise Refused("file_not_found")
            self.files[one["id"]] = name, data
            done.append({"id": one["id"], "title": one.get("title", name)})
        self.shared.append(given)
        return {"files": done}

    def _files_info(self, given: Json) -> Json:
        if given["file"] not in self.files:
            raise Refused("file_not_found")
        name, data = self.files[given["file"]]
        url = self.urls.get(given["file"], f"{self.base}/files-pri/{TEAM}-{given['file']}/{name}")
        return {"file": {"id": given["file"], "name": name, "size": len(data), "url_private": url}}

    def _conversations_history(self, given: Json) -> Json:
        if given["channel"] not in self.written:
            raise Refused("channel_not_found")
        limit, start = given.get("limit", 100), int(given.get("cursor", "0"))
        if not 1 <= limit <= 999:
            raise Refused("invalid_limit")
        later = [one for one in self.written[given["channel"]] if one["ts"] > given.get("oldest", "0")][::-1]
        more = len(later) > start + limit
        about = {"has_more": more, "response_metadata": {"next_cursor": str(start + limit) if more else ""}}
        return {"messages": later[start : start + limit], "pin_count": 0, **about}

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """The bytes of a file, by themselves or in a form; the address is its only right."""
        self.uploads_tokens.append(request.headers.get("Authorization", ""))
        name, length, had = self._uploads.get(id := request.match_info["id"], ("", 0, None))
        if request.content_type == "multipart/form-data":
            (part,) = (await request.post()).values()
            assert isinstance(part, web.FileField)
            data = part.file.read()
        else:
            data = await request.read()
        if not name or had is not None or len(data) != length:
            return web.Response(status=400, text="bad upload")
        self._uploads[id] = name, length, data
        return web.Response(text=f"OK - {length}")

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file, or Slack's page for signing in."""
        self.files_tokens.append(token := request.headers.get("Authorization", ""))
        found = self.files.get(request.match_info["id"])
        if token != f"Bearer {TOKEN}" or self.revoked:
            return web.Response(status=302, headers={"Location": f"{self.base}/?redir=files"})
        return web.Response(body=found[1]) if found else web.Response(status=404)

    # -- Socket Mode -----------------------------------------------------------------------------------------------

    async def link(self, request: web.Request) -> web.StreamResponse:
        """A socket: a ticket is good once."""
        if (ticket := request.query.get("ticket", "")) not in self._tickets:
            return web.Response(status=408)
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        try:
            await socket.send_json(
                {
                    "type": "hello",
                    "num_connections": len(self.sockets) + 1,
                    "connection_info": {"app_id": APP},
                    "debug_info": {"host": "applink", "approximate_connection_time": 18060},
                }
            )
            told: set[str] = set()
            while rest := [id for id in self._pending if id not in told]:
                for id in rest:
                    await self._deliver(socket, id)
                told |= set(rest)
            self.sockets.add(socket)
            await self._told()
            async for message in socket:
                if message.type is WSMsgType.TEXT and message.data:
                    await self._acknowledged(json.loads(message.data))
        except ConnectionError:
            return socket
        finally:
            self.sockets.discard(socket)
            await self._told()
        return socket

    async def _deliver(self, socket: web.WebSocketResponse, id: str) -> None:
        sent = self._pending.get(id)
        if sent and not socket.closed:
            again = sent.get("retry_attempt", -1) + 1
            sent |= {"retry_attempt": again, "retry_reason": "timeout" if again else ""}
            try:
                await socket.send_json(sent)
            except ConnectionError:
                return

    async def _acknowledged(self, said: Json) -> None:
        id = said.pop("envelope_id")
        sent = self._pending.get(id, {"accepts_response_payload": True})
        assert not said.get("payload") or sent["accepts_response_payload"], "an answer that is not taken"
        if self._pending.pop(id, None):
            self.acknowledged.append(id)
        await self._told()

    async def _told(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def _fault(self, request: web.Request, fault: str) -> web.StreamResponse | None:
        kind, _, seconds = fault.partition(":")
        if not kind:
            return None
        if kind == "429":
            return web.json_response(
                {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": seconds}
            )
        if kind == "500":
            return web.Response(status=500, text="<html>500</html>", content_type="text/html")
        if kind == "garbage":
            return web.Response(body=b'{"ok": tr', content_type="application/json")
        if kind == "nothing":
            await asyncio.sleep(3600)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


async def _arguments(request: web.Request) -> Json:
    """What a call was given: in its address, as a form, or as JSON; of a form, lists and booleans are written out."""
    if request.method not in ("GET", "POST"):
        raise Refused("method_not_supported_for_channel_type")
    given: Json = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = await request.json()
        except ValueError as error:
            raise Refused("invalid_json") from error
        if not isinstance(body, dict):
            raise Refused("json_not_object")
        return body
    if request.content_type not in ("application/x-www-form-urlencoded", "application/octet-stream"):
        raise Refused("invalid_post_type")
    given |= {name: str(value) for name, value in (await request.post()).items()}
    given.pop("token", None)
    for name, value in given.items():
        if name in ("blocks", "attachments", "files"):
            given[name] = json.loads(value)
        elif name in ("length", "limit"):
            given[name] = int(value) if value.isdecimal() else value
        elif value in ("true", "false", "0", "1") and name not in ("text", "filename"):
            given[name] = value in ("true", "1")
    return given


def _checked(method: str, given: Mapping[str, Any]) -> Json:
    needed, types = _ARGUMENTS[method]
    if needed - set(given):
        raise Refused("invalid_arguments")
    for name, value in given.items():
        if not isinstance(value, {"team_id": _STR, **types}.get(name, ())):
            raise Refused(f"invalid_arguments: {name}")
    if "parse" in given and given["parse"] not in ("none", "full"):
        raise Refused("invalid_arguments: parse")
    return dict(given)


def _message_of(given: Json) -> None:
    """Refuse a message that Slack would."""
    if given["channel"][:1] not in "CDG" or len(given["channel"]) < 2:
        raise Refused("channel_not_found")
    if not given.get("text") and not given.get("blocks"):
        raise Refused("no_text")
    if len(given.get("text", "")) > 40_000:
        raise Refused("msg_too_long")
    if given.get("thread_ts", "1.1").count(".") != 1:
        raise Refused("invalid_thread_ts")
    blocks = given.get("blocks", [])
    if len(blocks) > 50:
        raise Refused("invalid_blocks")
    seen: set[str] = set()
    for block in blocks:
        if block["type"] == "section":
            _words(block["text"], 3000)
        elif block["type"] == "actions":
            if not 1 <= len(block["elements"]) <= 25:
                raise Refused("invalid_blocks")
            for one in block["elements"]:
                if one["type"] != "button" or not 1 <= len(one["action_id"]) <= 255 or one["action_id"] in seen:
                    raise Refused("invalid_blocks")
                seen.add(one["action_id"])
                _words(one["text"], 75, ("plain_text",))
                if len(one.get("value", "")) > 2000:
                    raise Refused("invalid_blocks")
        else:
            raise Refused("invalid_blocks")


def _words(text: Json, most: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> None:
    known = {"type", "text", "emoji"} if text.get("type") == "plain_text" else {"type", "text", "verbatim"}
    if text.get("type") not in kinds or set(text) - known or not 1 <= len(text["text"]) <= most:
        raise Refused("invalid_blocks")


@asynccontextmanager
async def slack(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[FakeSlack]:
    """A running Slack; ``host`` is what it calls itself in addresses."""
    fake = FakeSlack()
    app = web.Application(client_max_size=32 << 20)
    app.router.add_route("*", "/api/{method}", fake.api)
    app.router.add_post("/upload/v1/{id}", fake.upload)
    app.router.add_get(f"/files-pri/{TEAM}-{{id}}/{{name}}", fake.download)
    app.router.add_get("/link/", fake.link)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    server = runner.server
    assert server is not None
    fake.connections = lambda: server.connections
    port = runner.addresses[0][1]
    fake.base = f"{'https' if tls else 'http'}://{host}:{port}"
    try:
        yield fake
    finally:
        fake.cut()
        await runner.cleanup()
