"""Telegram, by its Bot API, through long polling.

Layer: channels. An update is forgotten by Telegram only once it was recorded: the offset moves on after that. Updates
are read one by one, as one that is malformed must not hold up those after it. See docs/adr/0086.

Source: https://core.telegram.org/bots/api
"""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from stead.channels.base import ChannelFault, check_size, remember
from stead.channels.http import PATIENCE_S, Answer, HttpPlatform, multipart
from stead.domain.channel_wire import Button, Edit, FileOut, RemoteFile, Send, Update

POLL_S = 50
_WANTED = ["message", "callback_query"]
_MOST_UPDATES_BYTES = 20_000_000
"""Of an answer with the most updates, a hundred, each of a long text of escaped signs that answers another."""
_FILES = ("document", "audio", "voice", "video", "video_note", "sticker")
_NAMES = ("mention", "text_mention", "bot_command")
_TOO_MANY, _CONFLICT, _PASSING = 429, 409, (408, 409, 429)
_CONFLICT_S = 30.0
_Whole = Annotated[int, msgspec.Meta(ge=0, le=1 << 43)]
T = TypeVar("T")


class _Parameters(msgspec.Struct):
    retry_after: float = 0
    migrate_to_chat_id: int = 0


class _Reply(msgspec.Struct):
    ok: bool
    result: Any = None
    error_code: int = 0
    description: str = ""
    parameters: _Parameters = msgspec.field(default_factory=_Parameters)


class _User(msgspec.Struct):
    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""


class _Chat(msgspec.Struct):
    id: int
    type: str
    title: str = ""


class _Entity(msgspec.Struct):
    """A part of a text that Telegram marked, in UTF-16 units."""

    type: str
    offset: _Whole
    length: _Whole
    user: _User | None = None


class _File(msgspec.Struct):
    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: _Whole = 0
    file_path: str = ""


class _Answered(msgspec.Struct, rename={"sender": "from"}):
    sender: _User | None = None
    forum_topic_created: Any = None


class _Message(msgspec.Struct, rename={"sender": "from"}):
    message_id: int
    date: _Whole
    chat: _Chat
    sender: _User | None = None
    sender_chat: Any = None
    text: str = ""
    caption: str = ""
    entities: list[_Entity] = []
    caption_entities: list[_Entity] = []
    forward_origin: Any = None
    via_bot: Any = None
    reply_to_message: _Answered | None = None
    message_thread_id: int = 0
    is_topic_message: bool = False
    photo: list[_File] = []
    document: _File | None = None
    audio: _File | None = None
    voice: _File | None = None
    video: _File | None = None
    video_note: _File | None = None
    sticker: _File | None = None


class _Press(msgspec.Struct, rename={"sender": "from"}):
    id: str
    sender: _User
    message: _Message | None = None
    data: str = ""


class _Update(msgspec.Struct):
    update_id: int
    message: _Message | None = None
    callback_query: _Press | None = None


class _Sent(msgspec.Struct):
    message_id: int


class Telegram(HttpPlatform):
    """One bot."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._sent: dict[tuple[str, int], str] = {}

    async def run(self) -> None:
        """See ``Platform``."""
        try:
            me = await self._call(_User, "getMe")
            self.up(str(me.id), f"@{me.username}", f"https://t.me/{me.username}?start={{}}")
            failed = False
            while True:
                try:
                    updates = await self._updates()
                except ChannelFault as fault:
                    if failed or fault.code:
                        raise
                    failed = True  # a long poll is broken off by its proxy every hour
                else:
                    failed = False
                    await self._take_all(updates, me)
        except ChannelFault as fault:
            fault.final = fault.refused
            raise

    async def _updates(self) -> list[Any]:
        """What came since the cursor, or nothing after a while."""
        wanted = {"offset": int(self.cursor or 0), "timeout": POLL_S, "allowed_updates": _WANTED}
        patience_s = POLL_S + PATIENCE_S
        return await self._call(list[Any], "getUpdates", wanted, patience_s=patience_s, most_bytes=_MOST_UPDATES_BYTES)

    async def _take_all(self, updates: list[Any], me: _User) -> None:
        """Take updates in, one by one, and go on after each."""
        before = self.cursor
        for update in updates:
            if not isinstance(update, dict) or type(id := update.get("update_id")) is not int:
                continue
            try:
                taken = _taken(msgspec.convert(update, _Update), me)
            except msgspec.ValidationError:
                taken = None
            if taken:
                await self.take(taken)
            self.cursor = str(id + 1)
        if updates and self.cursor == before:
            raise ChannelFault("Telegram sent updates without a number")

    async def _call(
        self,
        kind: type[T],
        method: str,
        given: dict[str, Any] | None = None,
        *,
        file: FileOut | None = None,
        **bounds: Any,
    ) -> T:
        """What the Bot API answers to a call; ``bounds``: of time and size, see ``Http.ask``."""
        given = {name: value for name, value in (given or {}).items() if value is not None}
        if file:
            body, media = multipart({name: str(value) for name, value in given.items()}, "document", file)
        else:
            body, media = msgspec.json.encode(given), "application/json"
        answer = await self.http.ask("POST", f"{self._url('bot')}/{method}", {"Content-Type": media}, body, **bounds)
        try:
            reply = msgspec.convert(json.loads(answer.body), _Reply)  # halves of characters, which anyone can send, too
            if reply.ok:
                return msgspec.convert(reply.result, kind)
        except (ValueError, RecursionError, msgspec.ValidationError):
            reply = None
        raise _fault(answer, reply)

    def _url(self, what: str) -> str:
        return f"{self.settings['api'].rstrip('/')}/{what}{self.tokens['token']}"

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        pieces: list[FileOut | None] = [*([None] if message.text or not message.files else []), *message.files]
        names: list[str] = []
        for number, piece in enumerate(pieces):
            key = (message.key, number)
            if key not in self._sent:
                if names:
                    await asyncio.sleep(self.manifest.chat_s)
                remember(self._sent, key, await self._send(message, piece))
            names.append(self._sent[key])
        return names[0]

    async def _send(self, message: Send, file: FileOut | None) -> str:
        """One message of Telegram's: the text, or a file."""
        to = {"chat_id": message.chat, "message_thread_id": int(message.thread) if message.thread else None}
        if file:
            return str((await self._call(_Sent, "sendDocument", to, file=file)).message_id)
        return str((await self._call(_Sent, "sendMessage", {**to, **_said(message.text, message.buttons)})).message_id)

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        which = {"chat_id": edit.chat, "message_id": int(edit.message)}
        try:
            await self._call(_Sent, "editMessageText", {**which, **_said(edit.text, edit.buttons)})
        except ChannelFault as fault:
            if "not modified" not in str(fault):
                raise

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        topic = int(thread) if thread else None
        await self._call(bool, "sendChatAction", {"chat_id": chat, "message_thread_id": topic, "action": "typing"})

    async def pressed(self, press: str, text: str) -> None:
        """See ``Platform``."""
        await self._call(bool, "answerCallbackQuery", {"callback_query_id": press, "text": text[:200]})

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        found = await self._call(_File, "getFile", {"file_id": file})
        check_size(found.file_size)
        return await self.http.file(f"{self._url('file/bot')}/{quote(found.file_path)}")

    async def probe(self) -> str:
        """See ``Platform``."""
        return f"@{(await self._call(_User, 'getMe')).username}"


def _fault(answer: Answer, reply: _Reply | None) -> ChannelFault:
    """What Telegram refused. ``code``: of what it says by itself, and no proxy on the way."""
    if reply is None or reply.ok:
        status = f" with status {answer.status}" if answer.status != 200 else ""
        return ChannelFault(f"Telegram answers{status} what makes no sense", after_s=answer.wait_s())
    code = reply.error_code or answer.status
    if code in (401, 404):
        return ChannelFault("Telegram refuses the token, or has no bot of it", refused=True, code=code)
    if reply.parameters.migrate_to_chat_id:
        return ChannelFault("the group became another one on Telegram; pair it again", final=True, code=code)
    if code == _TOO_MANY:
        return ChannelFault("Telegram asks to wait", after_s=reply.parameters.retry_after or 1, code=code)
    ours = 400 <= code < 500
    return ChannelFault(
        f"Telegram: {reply.description}"[:500],
        after_s=_CONFLICT_S if code == _CONFLICT else 0,
        final=ours and code not in _PASSING,
        code=code if ours else 0,
    )


def _taken(update: _Update, me: _User) -> Update | None:
    """What of an update is taken in; edits, channels' posts and bots' messages are none."""
    press, message = update.callback_query, update.message
    where = press.message if press else message
    who = press.sender if press else message.sender if message else None
    if where is None or who is None or who.is_bot:
        return None
    taken = Update(
        id=str(update.update_id),
        cursor=str(update.update_id + 1),
        chat=str(where.chat.id),
        thread=str(where.message_thread_id) if where.is_topic_message and where.message_thread_id else "",
        person=str(who.id),
        name=f"{who.first_name} {who.last_name}".strip(),
        title=where.chat.title,
        private=where.chat.type == "private",
    )
    if press:
        return replace(taken, press=press.id, data=press.data)
    if message is None or message.sender_chat:
        return None
    text, called = _addressed(message, me)
    forwarded = bool(message.forward_origin or message.via_bot)
    answered = message.reply_to_message
    # In a topic, what answers nothing answers the message that opened it.
    mine = answered is not None and answered.sender is not None and answered.sender.id == me.id
    to_me = mine and answered is not None and answered.forum_topic_created is None
    addressed = taken.private or to_me or (called and not forwarded)  # others' words call nobody
    return replace(taken, addressed=addressed, forwarded=forwarded, text=text, files=_files(message))


def _addressed(message: _Message, me: _User) -> tuple[str, bool]:
    """The text without the bot's own name at its start, and whether it was called by it, as Telegram marked it."""
    text = message.text or message.caption
    units = text.encode("utf-16-le", "surrogatepass")
    name, called = f"@{me.username}".casefold(), False
    for entity in message.entities if message.text else message.caption_entities:
        if entity.type not in _NAMES:
            continue
        said = units[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le", "surrogatepass")
        ours = said.casefold().endswith(name) if entity.type == "bot_command" else said.casefold() == name
        if not ours and not (entity.user and entity.user.id == me.id):
            continue
        called = True
        if entity.offset == 0:
            rest = text[len(said) :]
            text = said[: -len(name)] + rest if entity.type == "bot_command" else rest.lstrip(",: \n")
    return text, called


def _files(message: _Message) -> tuple[RemoteFile, ...]:
    found: list[RemoteFile] = []
    if message.photo:
        largest = message.photo[-1]
        found.append(RemoteFile(largest.file_id, "photo.jpg", "image/jpeg", largest.file_size))
    others = [(kind, one) for kind in _FILES if (one := getattr(message, kind))]
    found += [RemoteFile(one.file_id, one.file_name or kind, one.mime_type, one.file_size) for kind, one in others]
    return tuple(found)


def _said(text: str, buttons: tuple[tuple[Button, ...], ...]) -> dict[str, Any]:
    """A text without previews, and its buttons."""
    rows = [[{"text": one.text, "callback_data": one.data} for one in row] for row in buttons]
    markup = {"inline_keyboard": rows} if rows else None
    return {"text": text, "link_preview_options": {"is_disabled": True}, "reply_markup": markup}
