"""Telegram's Bot API as a real server that is strict: what the real one refuses, it refuses.

Written from https://core.telegram.org/bots/api. It has one bot; what people do is made by methods, and what the bot
asked for and got is kept in ``accepted``.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

Json = dict[str, Any]
Fault = Literal["429", "500", "garbage", "drop", "after", "silence", "echo"]
"""``drop`` cuts the connection before the request is looked at, ``after`` once it was carried out.
``echo`` says no and quotes the token."""
_NAME = "stead_test_bot"
_ACTIONS = {"typing", "upload_photo", "upload_document", "record_voice", "choose_sticker", "find_location"}
_KINDS = ("message", "edited_message", "channel_post", "edited_channel_post", "callback_query", "my_chat_member")


class Refused(Exception):
    """What the API says no to."""

    def __init__(self, code: int, text: str, **parameters: object) -> None:
        super().__init__(text)
        self.code, self.text, self.parameters = code, text, parameters


@dataclass(frozen=True)
class Accepted:
    """A request that was carried out. ``files``: bytes by field."""

    method: str
    values: Json
    files: Mapping[str, bytes]


@dataclass
class Chat:
    """A chat.

    ``sent_s``: when the bot wrote there last; ``blocked``: it may not; ``paced_s``: at most so often; ``moved``: the
    supergroup that it has become.
    """

    fields: Json
    topics: set[int] = field(default_factory=set)
    sent_s: float = 0.0
    blocked: bool = False
    paced_s: float = 0.0
    moved: int = 0


class _Values:
    """A request's parameters, checked as they are asked for; what nobody asks for is refused."""

    def __init__(self, values: Json, files: dict[str, tuple[str, bytes]], *, plain: bool) -> None:
        self.values, self.files, self._plain = values, files, plain
        self._left = set(values)

    def _take(self, name: str, *, needed: bool) -> Any:
        self._left.discard(name)
        if (value := self.values.get(name)) is None and needed:
            raise Refused(400, f"Bad Request: {name} is empty")
        return value

    def text(self, name: str, least: int = 0, most: int = 4096, *, needed: bool = True) -> str:
        value = self._take(name, needed=needed)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Refused(400, f"Bad Request: {name} must be a string")
        if len(value.strip()) < least:
            raise Refused(400, f"Bad Request: {'message text' if name == 'text' else name} is empty")
        if len(value) > most:
            raise Refused(400, f"Bad Request: {'message' if name == 'text' else name} is too long")
        return value

    def number(self, name: str, *, needed: bool = False, low: int = -(2**52), high: int = 2**52) -> int | None:
        value = self._take(name, needed=needed)
        if isinstance(value, str) and (self._plain or name == "chat_id"):
            with suppress(ValueError):
                value = int(value)
        if value is not None and (type(value) is not int or not low <= value <= high):
            raise Refused(400, f"Bad Request: {name} must be a number from {low} to {high}")
        return value

    def truth(self, name: str) -> bool:
        value = self._take(name, needed=False)
        if self._plain and isinstance(value, str):
            value = {"true": True, "false": False, "1": True, "0": False}.get(value.lower())
        if value not in (None, True, False):
            raise Refused(400, f"Bad Request: {name} must be a Boolean")
        return bool(value)

    def object(self, name: str, kind: type) -> Any:
        value = self._take(name, needed=False)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise Refused(400, f"Bad Request: can't parse {name} JSON object") from error
        if value is not None and not isinstance(value, kind):
            raise Refused(400, f"Bad Request: object expected as {name}")
        return value

    def file(self, name: str) -> tuple[str, bytes] | str:
        value = self._take(name, needed=False)
        if name in self.files:
            return self.files[name]
        if isinstance(value, str) and value.startswith("attach://"):
            if value[9:] not in self.files:
                raise Refused(400, "Bad Request: attached file not found")
            return self.files[value[9:]]
        if not value:
            raise Refused(400, f"Bad Request: there is no {name} in the request")
        return str(value)

    def end(self) -> None:
        if self._left:
            raise Refused(400, f"Bad Request: unknown parameters {sorted(self._left)}")


class Telegram:
    """The server, its bot, and the people.

    Args:
        token: the bot's.
        privacy: as @BotFather sets it: of a group the bot is told only what is meant for it.
    """

    def __init__(self, token: str = "123456:fake-token-of-tests", *, privacy: bool = False) -> None:
        self.token, self.privacy, self.strict_rate = token, privacy, False
        self.me: Json = {"id": int(token.partition(":")[0]), "is_bot": True, "first_name": "Stead", "username": _NAME}
        self.url = ""
        self.accepted: list[Accepted] = []
        self.requests = self.unauthorized = 0
        self.chats: dict[int, Chat] = {}
        self.messages: dict[tuple[int, int], Json] = {}
        self._updates: deque[Json] = deque()
        self._update_id, self._message_id, self._query_id = 1000, 0, 0
        self._queries: dict[str, str] = {}
        self.answers: dict[str, str] = {}
        self._files: dict[str, bytes] = {}
        self._allowed: tuple[str, ...] = _KINDS
        self._changed = asyncio.Event()
        self._poller: asyncio.Future[None] | None = None
        self._faults: dict[str, deque[tuple[Fault, float]]] = {}
        self._open: dict[int, web.Request] = {}
        self._methods: dict[str, Callable[[_Values], Any]] = {
            "getMe": lambda values: self.me,
            "sendMessage": self._send_message,
            "sendDocument": self._send_document,
            "sendPhoto": self._send_photo,
            "editMessageText": self._edit,
            "answerCallbackQuery": self._answer,
            "sendChatAction": self._action,
            "getFile": self._get_file,
            "deleteWebhook": lambda values: values.truth("drop_pending_updates") or True,
        }

    # -- what people do -----------------------------------------------------------------------------------------------

    def person(self, id: int = 42, name: str = "Ada", **more: object) -> Json:
        """Somebody, with a private chat with the bot."""
        self.chats.setdefault(id, Chat({"id": id, "type": "private", "first_name": name}))
        return {"id": id, "is_bot": False, "first_name": name, **more}

    def group(self, id: int = -1001, title: str = "Garden", *, topics: tuple[int, ...] = (), kind: str = "") -> Json:
        """A group with these topics, or a channel."""
        fields: Json = {"id": id, "type": kind or "supergroup", "title": title}
        if topics:
            fields["is_forum"] = True
        self.chats[id] = Chat(fields, set(topics))
        return fields

    def writes(self, person: Json, text: str = "", *, chat: int = 0, topic: int = 0, **more: object) -> Json:
        """Write a message, to the bot itself or in a chat. ``more``: further fields of it."""
        shown = dict(self.chats[chat or person["id"]].fields)
        message: Json = {"message_id": self._next_message(), "date": int(time.time()), "chat": shown, "from": person}
        if text:
            message |= {"text": text, **_entities(text, "entities")}
        if topic:
            message |= {"message_thread_id": topic, "is_topic_message": True}
        message |= {"from" if name == "from_" else name: value for name, value in more.items()}
        self.messages[message["chat"]["id"], message["message_id"]] = message
        self.tell("message", message)
        return message

    def sends(self, person: Json, data: bytes, *, caption: str = "", name: str = "plan.txt", **more: object) -> Json:
        """Send a document."""
        fields: Json = {"document": self.file(data, file_name=name, mime_type="text/plain"), **more}
        if caption:
            fields |= {"caption": caption, **_entities(caption, "caption_entities")}
        return self.writes(person, **fields)

    def file(self, data: bytes, **more: object) -> Json:
        """A file that the bot may bring."""
        id = f"file{len(self._files)}"
        self._files[id] = data
        return {"file_id": id, "file_unique_id": f"u{id}", "file_size": len(data), **more}

    def presses(self, person: Json, message: Json, data: str) -> str:
        """Press a button of a message; gives the press's id."""
        self._query_id += 1
        id = f"q{self._query_id}"
        self._queries[id] = data
        buttons = [one for row in message["reply_markup"]["inline_keyboard"] for one in row]
        assert data in [one.get("callback_data") for one in buttons]
        shown = {"id": id, "from": person, "message": message, "chat_instance": "i", "data": data}
        self.tell("callback_query", shown)
        return id

    def edits(self, message: Json, text: str) -> None:
        """Change a message."""
        self.tell("edited_message", {**message, "text": text, "edit_date": int(time.time())})

    def posts(self, channel: int, text: str) -> None:
        """Post in a channel."""
        shown = self.chats[channel].fields
        message = {"message_id": self._next_message(), "date": 1, "chat": shown, "sender_chat": shown, "text": text}
        self.tell("channel_post", message)

    def tell(self, kind: str, what: object) -> int:
        """Give the bot an update of any kind, well formed or not; gives its id."""
        self._update_id += 1
        if kind == "message" and self.privacy and not self._is_meant(what):
            return 0
        if kind in self._allowed or kind not in _KINDS:
            self._updates.append({"update_id": self._update_id, kind: what})
        self._changed.set()
        return self._update_id

    def _is_meant(self, message: Any) -> bool:
        if message["chat"]["type"] == "private":
            return True
        text = message.get("text", message.get("caption", ""))
        reply = message.get("reply_to_message", {}).get("from", {})
        return text.startswith("/") or f"@{_NAME}" in text or reply.get("id") == self.me["id"]

    def _next_message(self) -> int:
        self._message_id += 1
        return self._message_id

    # -- what goes wrong ----------------------------------------------------------------------------------------------

    def fail(self, method: str, *faults: Fault, after_s: float = 3) -> None:
        """Have the next requests of a method go wrong, one by one."""
        self._faults.setdefault(method, deque()).extend((fault, after_s) for fault in faults)

    def revoke(self) -> None:
        """The token is no good any more."""
        self.token = "123456:another-token"
        self.cut()

    def cut(self) -> None:
        """Drop every connection."""
        for request in list(self._open.values()):
            if request.transport:
                request.transport.abort()

    @property
    def waiting(self) -> int:
        """Updates that the bot has not confirmed."""
        return len(self._updates)

    @property
    def polling(self) -> bool:
        """Whether the bot waits for updates at this moment."""
        return self._poller is not None and not self._poller.done()

    def done(self, method: str) -> list[Accepted]:
        """What was accepted of a method."""
        return [one for one in self.accepted if one.method == method]

    # -- the API ------------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self._open[id(request)] = request
        self.requests += 1
        try:
            return await self._respond(request)
        finally:
            del self._open[id(request)]

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        fault, after_s = self._faults[method].popleft() if self._faults.get(method) else ("", 0.0)
        try:
            if request.match_info["token"] != self.token:
                self.unauthorized += 1
                raise Refused(401, "Unauthorized")
            if fault and fault != "after":
                await self._go_wrong(request, fault, after_s)
            values = await _read(request)
            if method == "getUpdates":
                result: Any = await self._get_updates(request, values)
            elif method in self._methods:
                result = self._methods[method](values)
                values.end()
                self.accepted.append(Accepted(method, values.values, {k: v[1] for k, v in values.files.items()}))
            else:
                raise Refused(404, "Not Found")
        except Refused as refused:
            body: Json = {"ok": False, "error_code": refused.code, "description": refused.text}
            if refused.parameters:
                body["parameters"] = refused.parameters
            return web.json_response(body, status=refused.code)
        except _Garbage:
            return web.Response(body=b"<html>\xff{not json", content_type="application/json")
        if fault == "after":
            await self._go_wrong(request, "drop", 0)
        return web.json_response({"ok": True, "result": result})

    async def _go_wrong(self, request: web.Request, fault: str, after_s: float) -> None:
        match fault:
            case "429":
                raise _too_many(after_s)
            case "500":
                raise Refused(500, "Internal Server Error")
            case "echo":
                raise Refused(400, f"Bad Request: no {self.token} here")
            case "garbage":
                raise _Garbage
            case "silence":
                await asyncio.sleep(3600)
            case _:
                assert request.transport
                request.transport.abort()
                raise ConnectionResetError

    async def _get_updates(self, request: web.Request, values: _Values) -> list[Json]:
        offset = values.number("offset")
        limit = values.number("limit", low=1, high=100) or 100
        wait_s = values.number("timeout", low=0, high=50) or 0
        allowed = values.object("allowed_updates", list)
        values.end()
        if allowed is not None:
            if unknown := set(allowed) - set(_KINDS):
                raise Refused(400, f"Bad Request: unknown updates {unknown}")
            self._allowed = tuple(allowed) or _KINDS
        if self._poller and not self._poller.done():
            self._poller.set_exception(
                Refused(409, "Conflict: terminated by other getUpdates request; make sure that only one bot runs")
            )
        poller = self._poller = asyncio.get_running_loop().create_future()
        if offset is not None and offset < 0:
            offset = self._updates[max(offset, -len(self._updates))]["update_id"] if self._updates else 0
        numbered = ((at, one["update_id"]) for at, one in enumerate(self._updates))
        confirmed = [at for at, id in numbered if offset and isinstance(id, int) and id < offset]
        for _ in range(max(confirmed, default=-1) + 1):
            self._updates.popleft()
        end_s = time.monotonic() + wait_s
        while not self._updates and (left_s := end_s - time.monotonic()) > 0:
            self._changed.clear()
            changed = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait([changed, poller], timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
            if poller.done():
                break
        if poller.done():
            poller.result()
        poller.set_result(None)
        return list(self._updates)[:limit]

    def _chat(self, values: _Values) -> Chat:
        values._take("chat_id", needed=True)
        id = values.number("chat_id", needed=True)
        chat = self.chats.get(id or 0)
        if chat is None:
            raise Refused(400, "Bad Request: chat not found")
        if chat.moved:
            text = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refused(400, text, migrate_to_chat_id=chat.moved)
        if chat.blocked:
            raise Refused(403, "Forbidden: bot was blocked by the user")
        return chat

    def _thread(self, values: _Values, chat: Chat) -> Json:
        topic = values.number("message_thread_id")
        if topic is not None and topic not in chat.topics:
            raise Refused(400, "Bad Request: message thread not found")
        return {"message_thread_id": topic, "is_topic_message": True} if topic else {}

    def _sent(self, chat: Chat, fields: Json) -> Json:
        every_s = chat.paced_s or (1 if self.strict_rate else 0)
        if chat.sent_s and (left_s := chat.sent_s + every_s - time.monotonic()) > 0:
            raise _too_many(left_s)
        chat.sent_s = time.monotonic()
        where = {"chat": dict(chat.fields), "from": self.me, "date": int(time.time())}
        message = {"message_id": self._next_message(), **where, **fields}
        self.messages[chat.fields["id"], message["message_id"]] = message
        return message

    def _send_message(self, values: _Values) -> Json:
        chat = self._chat(values)
        fields = {"text": values.text("text", 1).strip(), **self._thread(values, chat), **_markup(values)}
        _options(values)
        return self._sent(chat, fields)

    def _send_document(self, values: _Values) -> Json:
        return self._send_file(values, "document", lambda kept: kept)

    def _send_photo(self, values: _Values) -> Json:
        return self._send_file(values, "photo", lambda kept: [{**kept, "width": 1, "height": 1}])

    def _send_file(self, values: _Values, kind: str, shape: Callable[[Json], Any]) -> Json:
        chat, given = self._chat(values), values.file(kind)
        if isinstance(given, str):
            if given not in self._files:
                raise Refused(400, "Bad Request: wrong file identifier/HTTP URL specified")
            kept: Json = {"file_id": given, "file_unique_id": f"u{given}", "file_size": len(self._files[given])}
        else:
            if not given[1]:
                raise Refused(400, "Bad Request: file must be non-empty")
            if len(given[1]) > 50_000_000:
                raise Refused(413, "Request Entity Too Large")
            kept = self.file(given[1], **({} if kind == "photo" else {"file_name": given[0]}))
        fields = {kind: shape(kept), **self._thread(values, chat), **_markup(values)}
        if caption := values.text("caption", most=1024, needed=False):
            fields["caption"] = caption
        _options(values)
        return self._sent(chat, fields)

    def _edit(self, values: _Values) -> Json:
        chat, text = self._chat(values), values.text("text", 1).strip()
        markup, id = _markup(values), values.number("message_id", needed=True)
        _options(values)
        known = self.messages.get((chat.fields["id"], id or 0))
        if known is None:
            raise Refused(400, "Bad Request: message to edit not found")
        if known["from"] != self.me or "text" not in known:
            raise Refused(400, "Bad Request: message can't be edited")
        if text == known["text"] and markup.get("reply_markup") == known.get("reply_markup"):
            same = "specified new message content and reply markup are exactly the same as a current content"
            raise Refused(400, f"Bad Request: message is not modified: {same}")
        known.pop("reply_markup", None)
        known |= {"text": text, "edit_date": int(time.time()), **markup}
        return known

    def _answer(self, values: _Values) -> bool:
        id = values.text("callback_query_id", 1)
        text = values.text("text", most=200, needed=False)
        values.truth("show_alert"), values.number("cache_time")
        if self._queries.pop(id, None) is None:
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        self.answers[id] = text
        return True

    def _action(self, values: _Values) -> bool:
        self._thread(values, self._chat(values))
        if values.text("action", 1) not in _ACTIONS:
            raise Refused(400, "Bad Request: wrong parameter action in request")
        return True

    def _get_file(self, values: _Values) -> Json:
        id = values.text("file_id", 1)
        if id not in self._files:
            raise Refused(400, "Bad Request: invalid file_id")
        if (size := len(self._files[id])) > 20_000_000:
            raise Refused(400, "Bad Request: file is too big")
        return {"file_id": id, "file_unique_id": f"u{id}", "file_size": size, "file_path": f"documents/{id}"}

    async def _download(self, request: web.Request) -> web.Response:
        data = self._files.get(request.match_info["file"])
        if request.match_info["token"] != self.token or data is None:
            return web.json_response({"ok": False, "error_code": 404, "description": "Not Found"}, status=404)
        return web.Response(body=data, content_type="application/octet-stream")


class _Garbage(Exception):
    pass


def _too_many(after_s: float) -> Refused:
    wait_s = max(1, round(after_s))
    return Refused(429, f"Too Many Requests: retry after {wait_s}", retry_after=wait_s)


async def _read(request: web.Request) -> _Values:
    """The parameters of a request, in any of the forms that the API takes."""
    kind, files, values = request.content_type, {}, dict[str, Any](request.query)
    if kind == "application/json":
        try:
            values |= await request.json()
        except ValueError as error:
            raise Refused(400, "Bad Request: can't parse JSON") from error
        return _Values(values, {}, plain=False)
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data") and request.can_read_body:
        raise Refused(400, f"Bad Request: unsupported content type {kind}")
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            files[name] = (value.filename, value.file.read())
        else:
            values[name] = value
    return _Values(values, files, plain=True)


def _options(values: _Values) -> None:
    """What several methods take, and nothing comes of here."""
    values.truth("disable_notification"), values.truth("protect_content"), values.truth("allow_paid_broadcast")
    values.truth("disable_content_type_detection")
    preview = values.object("link_preview_options", dict) or {}
    if not isinstance(preview.get("is_disabled", False), bool):
        raise Refused(400, "Bad Request: is_disabled must be a Boolean")
    if (mode := values.text("parse_mode", needed=False)) and mode not in ("HTML", "Markdown", "MarkdownV2"):
        raise Refused(400, "Bad Request: unsupported parse_mode")


def _markup(values: _Values) -> Json:
    markup = values.object("reply_markup", dict)
    if markup is None:
        return {}
    for row in markup.get("inline_keyboard") or [[{}]]:
        for button in row:
            data = button.get("callback_data")
            if not isinstance(button.get("text"), str) or not button["text"] or set(button) - {"text", "callback_data"}:
                raise Refused(400, "Bad Request: can't parse inline keyboard button")
            if not isinstance(data, str) or not 1 <= len(data.encode()) <= 64:
                raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
    return {"reply_markup": markup}


def _entities(text: str, name: str) -> Json:
    """Mentions and commands, in UTF-16 units."""
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        bare = word.rstrip(",:.!?")
        kind = {"@": "mention", "/": "bot_command"}.get(word[0])
        if kind and len(bare) > 1:
            units = [len(part.encode("utf-16-le")) // 2 for part in (text[:at], bare)]
            found.append({"type": kind, "offset": units[0], "length": units[1]})
        at += len(word)
    return {name: found} if found else {}


@asynccontextmanager
async def serve(
    server: Telegram, *, port: int = 0, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Telegram]:
    """Serve it on loopback; its ``url`` is set."""
    app = web.Application(client_max_size=60 << 20)
    app.router.add_route("*", "/bot{token}/{method}", server._handle)
    app.router.add_get("/file/bot{token}/{folder}/{file}", server._download)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, host, port, ssl_context=tls)
    await site.start()
    server.url = f"http{'s' if tls else ''}://{host}:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
