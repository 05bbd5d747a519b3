"""Telegram, by its Bot API, through long polling.

Layer: channels. The library's client alone is used, with its types; none of its dispatching, so that an update is
forgotten by Telegram only once it was recorded: the offset moves on after that. Updates are parsed one by one, as one
that is malformed must not hold up those after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from msgspec.structs import replace
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputFile, LinkPreviewOptions, Message, User
from telegram import Update as TelegramUpdate
from telegram import error as errors
from telegram.request import HTTPXRequest

from stead.channels.base import ChannelFault, Platform, check_size, remember
from stead.domain.channel_wire import Button, Edit, FileOut, RemoteFile, Send, Update

POLL_S = 50
_WANTED = json.dumps(["message", "callback_query"])
_FILES = ("document", "audio", "voice", "video", "video_note", "sticker")
_MALFORMED = (AttributeError, TypeError, ValueError, LookupError, ArithmeticError, OSError)
"""What parsing an update raises that is none."""
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


class Telegram(Platform):
    """One bot."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._sent: dict[tuple[str, int], str] = {}

    async def run(self) -> None:
        """See ``Platform``."""
        try:
            me = await self._bot.get_me()
            self.up(str(me.id), f"@{me.username}", f"https://t.me/{me.username}?start={{}}")
            failed = False
            while True:
                try:
                    updates = await self._updates()
                except errors.NetworkError as error:
                    if failed or isinstance(error, errors.BadRequest):
                        raise
                    failed = True  # a long poll is broken off by its proxy every hour
                else:
                    failed = False
                    await self._take_all(updates, me)
        except errors.TelegramError as error:
            fault = self.fault(error)
            fault.final = fault.refused
            raise fault from error

    async def _updates(self) -> list[Any]:
        """What came since the cursor, or nothing after a while."""
        query = urlencode({"offset": self.cursor or 0, "timeout": POLL_S, "allowed_updates": _WANTED})
        url = f"{self._base()}{self.tokens['token']}/getUpdates?{query}"
        try:
            updates = await self._polls.post(url, read_timeout=POLL_S + 10)
        except (LookupError, TypeError) as error:
            raise ChannelFault("Telegram answered what makes no sense") from error
        if not isinstance(updates, list):
            raise ChannelFault("Telegram answered what makes no sense")
        return updates

    async def _take_all(self, updates: list[Any], me: User) -> None:
        """Take updates in, one by one, and go on after each."""
        before = self.cursor
        for update in updates:
            if not isinstance(update, dict) or type(id := update.get("update_id")) is not int:
                continue
            try:
                taken = _taken(TelegramUpdate.de_json(update, self._bot), me)
            except _MALFORMED:
                taken = None
            if taken:
                await self.take(taken)
            self.cursor = str(id + 1)
        if updates and self.cursor == before:
            raise ChannelFault("Telegram sent updates without a number")

    def _base(self) -> str:
        return f"{self.settings['api'].rstrip('/')}/bot"

    @cached_property
    def _bot(self) -> Bot:
        os.environ["PTB_TIMEDELTA"] = "1"  # times as such, and no warning that they will be
        return Bot(
            self.tokens["token"],
            base_url=self._base(),
            base_file_url=f"{self.settings['api'].rstrip('/')}/file/bot",
            request=self._client(4),
            get_updates_request=self._polls,
        )

    @cached_property
    def _polls(self) -> HTTPXRequest:
        return self._client(1)

    @cached_property
    def _trust(self) -> dict[str, Any]:
        return {"verify": ssl.create_default_context()}  # each would read its own

    def _client(self, size: int) -> HTTPXRequest:
        return HTTPXRequest(
            connection_pool_size=size, read_timeout=30, media_write_timeout=60, httpx_kwargs=self._trust
        )

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
        chat, thread = message.chat, int(message.thread) if message.thread else None
        if file:
            given = InputFile(file.data, filename=file.name)
            return str((await self._bot.send_document(chat, given, message_thread_id=thread)).message_id)
        sent = await self._bot.send_message(
            chat,
            message.text,
            message_thread_id=thread,
            reply_markup=_markup(message.buttons),
            link_preview_options=_NO_PREVIEW,
        )
        return str(sent.message_id)

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        text, buttons = edit.text, _markup(edit.buttons)
        try:
            await self._bot.edit_message_text(
                text, edit.chat, int(edit.message), reply_markup=buttons, link_preview_options=_NO_PREVIEW
            )
        except errors.BadRequest as error:
            if "not modified" not in str(error):
                raise

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        topic = int(thread) if thread else None
        await self._bot.send_chat_action(chat, "typing", message_thread_id=topic)

    async def pressed(self, press: str, text: str) -> None:
        """See ``Platform``."""
        await self._bot.answer_callback_query(press, text[:200])

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        found = await self._bot.get_file(file)
        check_size(found.file_size or 0)
        data = bytes(await found.download_as_bytearray())
        check_size(len(data))
        return data

    async def probe(self) -> str:
        """See ``Platform``."""
        return f"@{(await self._bot.get_me()).username}"

    def fault(self, error: Exception) -> ChannelFault:
        """See ``Platform``; the library's own text for a token that was refused quotes it."""
        match error:
            case errors.RetryAfter():
                wait = error.retry_after  # as a time, by the setting above
                wait_s = wait if isinstance(wait, int) else wait.total_seconds()
                return ChannelFault("Telegram asks to wait", after_s=wait_s)
            case errors.InvalidToken():
                return ChannelFault("Telegram refuses the token, or has no bot of it", refused=True)
            case errors.ChatMigrated():
                return ChannelFault("the group became another one on Telegram; pair it again", final=True)
            case errors.TelegramError():
                final = isinstance(error, errors.BadRequest | errors.Forbidden)
                after_s = 30 if isinstance(error, errors.Conflict) else 0
                return ChannelFault(f"Telegram: {error}"[:500], after_s=after_s, final=final)
            case _:
                return super().fault(error)

    async def close(self) -> None:
        """See ``Platform``."""
        if "_bot" in vars(self):
            await asyncio.gather(self._bot.request.shutdown(), self._polls.shutdown())


def _taken(update: TelegramUpdate, me: User) -> Update | None:
    """What of an update is taken in; edits, channels' posts and bots' messages are none."""
    press, message = update.callback_query, update.message
    where = press.message if press else message
    who = press.from_user if press else message.from_user if message else None
    if where is None or who is None or who.is_bot:
        return None
    taken = Update(
        id=str(update.update_id),
        cursor=str(update.update_id + 1),
        chat=str(where.chat.id),
        thread=_thread(where),
        person=str(who.id),
        name=who.full_name,
        title=where.chat.title or "",
        private=where.chat.type == "private",
    )
    if press:
        return replace(taken, press=press.id, data=press.data or "")
    if message is None or message.sender_chat:
        return None
    text, called = _addressed(message, me)
    forwarded = bool(message.forward_origin or message.via_bot)
    answered = message.reply_to_message
    # In a topic, what answers nothing answers the message that opened it.
    to_me = answered is not None and answered.from_user == me and answered.forum_topic_created is None
    addressed = taken.private or to_me or (called and not forwarded)  # others' words call nobody
    return replace(taken, addressed=addressed, forwarded=forwarded, text=text, files=_files(message))


def _addressed(message: Message, me: User) -> tuple[str, bool]:
    """The text without the bot's own name at its start, and whether it was called by it, as Telegram marked it."""
    kinds: list[str | None] = ["mention", "text_mention", "bot_command"]
    text = message.text or message.caption or ""
    found = message.parse_entities(kinds) if message.text else message.parse_caption_entities(kinds)
    name, called = f"@{me.username}".casefold(), False
    for entity, said in found.items():
        ours = said.casefold().endswith(name) if entity.type == "bot_command" else said.casefold() == name
        if not ours and not (entity.user and entity.user.id == me.id):
            continue
        called = True
        if entity.offset == 0:
            rest = text[len(said) :]
            text = said[: -len(name)] + rest if entity.type == "bot_command" else rest.lstrip(",: \n")
    return text, called


def _thread(message: Any) -> str:
    topic = getattr(message, "is_topic_message", False)
    return str(message.message_thread_id) if topic and message.message_thread_id else ""


def _files(message: Message) -> tuple[RemoteFile, ...]:
    found: list[RemoteFile] = []
    if message.photo:
        largest = message.photo[-1]
        found.append(RemoteFile(largest.file_id, "photo.jpg", "image/jpeg", largest.file_size or 0))
    for kind in _FILES:
        if one := getattr(message, kind):
            name, media = getattr(one, "file_name", None) or kind, getattr(one, "mime_type", None) or ""
            found.append(RemoteFile(one.file_id, name, media, one.file_size or 0))
    return tuple(found)


def _markup(buttons: tuple[tuple[Button, ...], ...]) -> Any:
    rows = [[InlineKeyboardButton(one.text, callback_data=one.data) for one in row] for row in buttons]
    return InlineKeyboardMarkup(rows) if rows else None
