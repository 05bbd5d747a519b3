"""WhatsApp, by Meta's Cloud API: messages come as signed requests at the listener for webhooks.

Layer: channels. A request is answered only once what it brings was recorded. There are no groups in it, no threads and
no edits. docs/adr/0081 says why the calls are made here.

Source: Meta's Cloud API (messages, media, webhooks, error codes).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Annotated, Any
from urllib.parse import parse_qs, quote

import msgspec
from msgspec.structs import replace

from stead.channels.base import ChannelFault, parts, remember, typed, value_at
from stead.channels.http import Answer, HttpPlatform, is_of, media_type, multipart
from stead.domain.channel_wire import Button, FileOut, RemoteFile, Request, Send, Update

STALE_S = 8 * 86_400
"""Meta delivers again for up to seven days; what is older is a person's copy."""
LEFT_ALONE_S = 60.0
"""Where Meta asks to wait and does not say how long."""
_DIGITS = r"[0-9]{1,30}"
_BODY_CHARS, _REPLIES, _ROWS = 1024, 3, 10
"""Of a message with buttons; reply buttons; rows of a list."""
_TITLE_CHARS, _ROW_CHARS = 20, 24
_REFUSED, _CLOSED = 190, 131047
_BUSY = (4, 429, 80007, 130429, 131048, 131056)
_MEDIA = ("image", "document", "audio", "video", "sticker")


class _Media(msgspec.Struct):
    id: str
    mime_type: str = ""
    filename: str = ""
    caption: str = ""


class _Text(msgspec.Struct):
    body: str = ""


class _Pressed(msgspec.Struct):
    id: str


class _Interactive(msgspec.Struct):
    button_reply: _Pressed | None = None
    list_reply: _Pressed | None = None


class _Context(msgspec.Struct):
    forwarded: bool = False
    frequently_forwarded: bool = False


class _Message(msgspec.Struct):
    """What is used of a message. ``from_user_id``: Meta's own id of a person, who may hide the number."""

    id: str
    timestamp: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    number: str = msgspec.field(name="from", default="")
    from_user_id: str = ""
    group_id: Any = None
    text: _Text = msgspec.field(default_factory=_Text)
    interactive: _Interactive = msgspec.field(default_factory=_Interactive)
    context: _Context = msgspec.field(default_factory=_Context)
    image: _Media | None = None
    document: _Media | None = None
    audio: _Media | None = None
    video: _Media | None = None
    sticker: _Media | None = None


class WhatsApp(HttpPlatform):
    """One phone number."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._last: dict[str, str] = {}
        """The last message of a chat, which the sign of typing has to name."""

    async def run(self) -> None:
        """See ``Platform``."""
        number, name = await self._number()
        self.up(self.settings["phone_id"], name, f"https://wa.me/{number}?text={{}}" if number else "")
        await asyncio.Event().wait()  # what comes in comes as requests

    async def _number(self) -> tuple[str, str]:
        """The phone number in digits, and what the account is called."""
        reply = await self._call("GET", f"{self.settings['phone_id']}?fields=verified_name,display_phone_number")
        shown = str(reply.get("display_phone_number", ""))
        return re.sub(r"\D", "", shown)[:20], str(reply.get("verified_name") or shown)

    async def _call(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> dict[str, Any]:
        """What the Graph API answers."""
        url = f"{self.settings['api'].rstrip('/')}/v{self.settings['version']}/{path}"
        answer = await self.http.ask(method, url, {**self._key(), "Content-Type": kind}, body)
        reply = answer.read(dict[str, Any])
        if answer.status == 200 and reply is not None:
            return reply
        raise _fault(answer, reply or {})

    def _key(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens['token']}"}

    async def request(self, request: Request) -> tuple[int, str]:
        """See ``Platform``."""
        if request.method == "GET":
            asked = {key: values[0] for key, values in parse_qs(request.query).items() if len(values) == 1}
            given, challenge = asked.get("hub.verify_token", ""), asked.get("hub.challenge", "")
            known = asked.get("hub.mode") == "subscribe" and _same(given, self.tokens["verify_token"])
            return (200, challenge) if known and re.fullmatch(r"[\w.-]{1,200}", challenge, re.ASCII) else (401, "")
        made = hmac.new(self.tokens["app_secret"].encode(), request.body, hashlib.sha256).hexdigest()
        if not _same(request.headers.get("x-hub-signature-256", ""), f"sha256={made}"):
            return 401, ""
        for update in self._updates(request.body):
            await self.take(update)
        return 200, ""

    def _updates(self, body: bytes) -> Iterator[Update]:
        """What of a request is taken in: messages to this number; states of what was sent are none."""
        for value, message in _messages(body):
            # What is signed and cannot be read is passed over: Meta would deliver it, and all behind it, for days.
            with suppress(msgspec.ValidationError):
                read = msgspec.convert(message, _Message, strict=False)
                if value_at(value, "metadata", "phone_number_id") == self.settings["phone_id"] and not read.group_id:
                    yield from self._taken(value, read)

    def _taken(self, value: dict[str, Any], message: _Message) -> Iterator[Update]:
        person = message.number or message.from_user_id
        if not person or time.time() - message.timestamp > STALE_S:
            return
        remember(self._last, person, message.id)
        context, pressed = message.context, message.interactive.button_reply or message.interactive.list_reply
        update = Update(
            id=message.id,
            chat=person,
            person=person,
            private=True,
            name=_name(value, message),
            forwarded=context.forwarded or context.frequently_forwarded,
        )
        files = [(kind, one) for kind in _MEDIA if (one := getattr(message, kind))]
        found = tuple(RemoteFile(one.id, one.filename or kind, one.mime_type) for kind, one in files)
        text = message.text.body or next((one.caption for _, one in files), "")
        if pressed:
            yield replace(update, press=message.id, data=pressed.id, forwarded=False)
        elif text or found:
            yield replace(update, text=text, files=found)

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        buttons = [one for row in message.buttons for one in row]
        text, sent = message.text, ""
        if len(buttons) > _ROWS:
            text, buttons = f"{text}\n{typed(message.buttons)}", []
        *before, last = parts(text, _BODY_CHARS if buttons else self.manifest.text_chars)
        for piece in before:
            await self._say(message.chat, "text", {"body": piece, "preview_url": False})
        if buttons:
            sent = await self._say(message.chat, "interactive", {"body": {"text": last or "…"}, **_keys(buttons)})
        elif last or not message.files:
            sent = await self._say(message.chat, "text", {"body": last, "preview_url": False})
        for file in message.files:
            document = {"id": await self._uploaded(file), "filename": file.name[:240]}
            id = await self._say(message.chat, "document", document)
            sent = sent or id
        return sent

    async def _say(self, chat: str, kind: str, content: dict[str, Any]) -> str:
        to = "to" if chat.isdigit() else "recipient"
        said = await self._post({"recipient_type": "individual", to: chat, "type": kind, kind: content})
        id = value_at((said.get("messages") or [None])[0], "id")
        if not isinstance(id, str):
            raise ChannelFault("WhatsApp gave an answer that cannot be read")
        return id

    async def _post(self, message: dict[str, Any]) -> dict[str, Any]:
        body = msgspec.json.encode({"messaging_product": "whatsapp", **message})
        return await self._call("POST", f"{self.settings['phone_id']}/messages", body)

    async def _uploaded(self, file: FileOut) -> str:
        about = {"messaging_product": "whatsapp", "type": media_type(file)}
        body, media = multipart(about, "file", file)
        return str((await self._call("POST", f"{self.settings['phone_id']}/media", body, media))["id"])

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        if last := self._last.get(chat):
            await self._post({"status": "read", "message_id": last, "typing_indicator": {"type": "text"}})

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        if not re.fullmatch(_DIGITS, file):
            raise ChannelFault("that is no id of a file", final=True)
        url = str((await self._call("GET", quote(file, safe=""))).get("url", ""))
        if not is_of(url, self.manifest.hosts, self.settings["api"]):  # the token goes along
            raise ChannelFault("WhatsApp named a file on a host that is not its own", final=True)
        return await self.http.file(url, self._key())

    async def probe(self) -> str:
        """See ``Platform``."""
        return (await self._number())[1]


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _messages(body: bytes) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Value and message of each message in a request."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        for entry in json.loads(body)["entry"]:
            for change in entry["changes"]:
                if change["field"] == "messages":
                    for message in change["value"].get("messages", ()):
                        yield change["value"], message


def _name(value: dict[str, Any], message: _Message) -> str:
    """What the one who wrote it calls themselves; a name of another's is not taken for it."""
    ids = {message.number, message.from_user_id} - {""}
    contacts = value.get("contacts")
    for one in contacts if isinstance(contacts, list) else ():
        if value_at(one, "wa_id") in ids or value_at(one, "user_id") in ids:
            return str(value_at(one, "profile", "name") or "")
    return ""


def _keys(buttons: list[Button]) -> dict[str, Any]:
    """Up to three short ones as reply buttons, others as a list that opens, whose rows say the whole of each."""
    titles = {one.text for one in buttons}
    if len(titles) == len(buttons) <= _REPLIES and all(len(one) <= _TITLE_CHARS for one in titles):
        replies = [{"type": "reply", "reply": {"id": one.data, "title": one.text}} for one in buttons]
        return {"type": "button", "action": {"buttons": replies}}
    rows = [
        {"id": one.data, "title": one.text[:_ROW_CHARS]}
        | ({"description": one.text} if len(one.text) > _ROW_CHARS else {})
        for one in buttons
    ]
    return {"type": "list", "action": {"button": "…", "sections": [{"title": "…", "rows": rows}]}}


def _fault(answer: Answer, reply: dict[str, Any]) -> ChannelFault:
    code = value_at(reply, "error", "code")
    if answer.status == 401 or code == _REFUSED:
        return ChannelFault("WhatsApp refused the token", refused=True)
    if code == _CLOSED:
        text = "WhatsApp takes no message to a person who has not written for 24 hours; they have to write first"
        return ChannelFault(text, final=True)
    if code in _BUSY or answer.status == 429:
        return ChannelFault("WhatsApp asks to wait", after_s=_hint(answer))
    words = (value_at(reply, "error", "message"), value_at(reply, "error", "error_data", "details"))
    said = " ".join(" ".join(str(one) for one in words if one).split())
    known = isinstance(code, int) and 400 <= answer.status < 500
    return ChannelFault(f"WhatsApp: {answer.status} {said}"[:400], final=known)


def _hint(answer: Answer) -> float:
    """How long Meta wants to be left alone: its header in seconds, or in its account of usage in minutes."""
    if wait_s := answer.wait_s():
        return wait_s
    with suppress(ValueError, TypeError, AttributeError):
        usage = chain.from_iterable(json.loads(answer.headers.get("x-business-use-case-usage", "{}")).values())
        minutes = max((float(one.get("estimated_time_to_regain_access", 0)) for one in usage), default=0.0)
        return min(minutes * 60, 86_400.0) or LEFT_ALONE_S
    return LEFT_ALONE_S
