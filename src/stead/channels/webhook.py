"""Signed webhooks: a program of one's own is the platform. It is sent messages, and sends what its people write.

Layer: channels. Both ways are a POST of JSON, signed as Standard Webhooks says with one secret. What goes out has a
``type`` and nobody's name, what comes in has a person and no type: neither can be sent back as the other.

Sources: the specification of Standard Webhooks; RFC 9110 (Retry-After §10.2.3).
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec

from stead.channels.base import ChannelFault, check_size
from stead.channels.http import Answer, HttpPlatform
from stead.domain.channel_wire import (
    MOST_FILE_BYTES,
    MOST_TEXT_CHARS,
    Edit,
    RemoteFile,
    Request,
    Send,
    Update,
)
from stead.domain.webhook_signatures import sign, verify

_MOST_ANSWER_BYTES = 64_000
_MOST_FILE_ANSWER_BYTES = MOST_FILE_BYTES * 4 // 3 + _MOST_ANSWER_BYTES
_MOST_WAIT_S = 3_600.0
_Named = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_Short = Annotated[str, msgspec.Meta(max_length=500)]


class _Answered(msgspec.Struct):
    message: _Short = ""
    base64: bytes | None = None


class _Offered(msgspec.Struct, forbid_unknown_fields=True):
    id: _Named
    name: Annotated[str, msgspec.Meta(max_length=200)]
    media_type: Annotated[str, msgspec.Meta(max_length=100)] = ""
    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 50)] = 0


class _Incoming(msgspec.Struct, forbid_unknown_fields=True):
    """What a program sends: a message, or the press of a button."""

    chat: _Named
    person: _Named
    thread: _Short = ""
    name: _Short = ""
    title: _Short = ""
    private: bool = False
    addressed: bool = True
    forwarded: bool = False
    text: Annotated[str, msgspec.Meta(max_length=MOST_TEXT_CHARS)] = ""
    files: Annotated[tuple[_Offered, ...], msgspec.Meta(max_length=20)] = ()
    press: _Short = ""
    data: _Short = ""
    message: _Short = ""


class Webhook(HttpPlatform):
    """One program."""

    async def run(self) -> None:
        """See ``Platform``."""
        name = await self.probe()
        # Of one host's programs each is another bot; where on the host it is may be nobody's to see.
        self.up(hashlib.sha256(self.settings["url"].encode()).hexdigest()[:16], name, "")
        await asyncio.Event().wait()  # what comes in comes as requests

    async def probe(self) -> str:
        """See ``Platform``."""
        try:
            await self._post({"type": "ping"})
        except ChannelFault as fault:
            raise ChannelFault(str(fault), final=fault.code in (401, 403, 410)) from None
        return urlsplit(self.settings["url"]).hostname or ""

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        files = [{"name": one.name, "media_type": one.media_type, "base64": one.data} for one in message.files]
        body = {"type": "message", "chat": message.chat, "thread": message.thread, "text": message.text}
        sent = await self._post({**body, "buttons": message.buttons, "files": files}, message.key)
        return sent.message or message.key

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        body = {"type": "edit", "chat": edit.chat, "message": edit.message, "text": edit.text}
        await self._post({**body, "buttons": edit.buttons})

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        data = (await self._post({"type": "file", "file": file}, most_bytes=_MOST_FILE_ANSWER_BYTES)).base64
        if data is None:
            raise ChannelFault("the program answers without the file", final=True)
        check_size(len(data))
        return data

    async def request(self, request: Request) -> tuple[int, str]:
        """See ``Platform``."""
        if request.method != "POST":
            return 405, ""
        headers = {name: [value] for name, value in request.headers.items()}
        signed = verify("standard", self.tokens["secret"], headers, request.body, int(time.time() * 1000))
        if isinstance(signed, str):
            return 401, _said(signed)
        try:
            posted = msgspec.json.decode(request.body, type=_Incoming)
        except (msgspec.MsgspecError, RecursionError) as error:
            return 400, _said(str(error)[:300])
        if not (posted.text or posted.files or posted.press):
            return 400, _said("give a text, files, or a press")
        update = Update(
            id=signed.delivery,
            chat=posted.chat,
            person=posted.person,
            private=posted.private,
            thread=posted.thread,
            name=posted.name,
            title=posted.title,
            addressed=posted.addressed or posted.private,
            forwarded=posted.forwarded,
            text=posted.text,
            files=tuple(RemoteFile(one.id, one.name, one.media_type, one.size_bytes) for one in posted.files),
            press=posted.press,
            data=posted.data,
        )
        await self.take(update)
        return 200, "{}"

    async def _post(self, body: dict[str, Any], id: str = "", most_bytes: int = _MOST_ANSWER_BYTES) -> _Answered:
        data = msgspec.json.encode(body)
        signed = sign("standard", self.tokens["secret"], id or uuid4().hex, data, int(time.time() * 1000))
        headers = {"Content-Type": "application/json", **signed}
        answer = await self.http.ask("POST", self.settings["url"], headers, data, most_bytes=most_bytes)
        if not 200 <= answer.status < 300:
            raise _refused(answer)
        return answer.read(_Answered) or _Answered()  # it was taken; a page of words is no answer of ours


def _refused(answer: Answer) -> ChannelFault:
    """What a receiver answered that is not 2xx."""
    why = ", a redirect, which is not followed" if 300 <= answer.status < 400 else ""
    passing = answer.status >= 500 or answer.status in (408, 425, 429)
    text, after_s = f"the program answers {answer.status}{why}", _seconds(answer) if passing else 0.0
    refused = answer.status in (401, 410)  # of a signature, as of every other then; 403 may be of this body alone
    return ChannelFault(text, after_s=after_s, final=not passing, code=answer.status, refused=refused)


def _said(error: str) -> str:
    return msgspec.json.encode({"error": error}).decode()


def _seconds(answer: Answer) -> float:
    """How long to wait, up to an hour; 0 where it does not say."""
    from email.utils import parsedate_to_datetime

    wait_s = answer.wait_s()
    try:
        wait_s = wait_s or parsedate_to_datetime(answer.headers.get("retry-after", "")).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(wait_s, 0.0), _MOST_WAIT_S)
