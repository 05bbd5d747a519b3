"""Signal, by the JSON-RPC of a ``signal-cli daemon --http --receive-mode=manual`` that the person runs.

Layer: channels. signal-cli acknowledges a message to Signal before it hands it over, and hears nothing back: its stream
of events loses whatever was sent and not recorded. So messages are asked for one at a time, and at most the one that is
on its way when this process ends is lost. See ADR 0076.
"""

from __future__ import annotations

import asyncio
import base64
import re
from itertools import count
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import msgspec

from stead.channels.base import ChannelFault, check_size
from stead.channels.http import HttpPlatform, media_type, read
from stead.domain.channel_wire import MOST_FILE_BYTES, Edit, FileOut, RemoteFile, Send, Update

WAIT_S, _AGAIN_S = 10.0, 1.0
"""How long signal-cli waits for a message; one that comes after this process ended is lost for so long."""
PATIENCE_S = 60.0
_MOST_ANSWER_BYTES = MOST_FILE_BYTES * 4 // 3 + 100_000
_MENTION = "\N{OBJECT REPLACEMENT CHARACTER}"
_PERSON = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RATE_LIMIT, _NO_METHOD, _UNKNOWN_FIELD, _NO_ACCOUNT = -5, -32601, -32600, -32602
_FINAL = (-1, -4, _NO_METHOD)
"""What the caller did wrong, someone's key that changed, and calls that signal-cli does not know."""
Result = TypeVar("Result")


class _Mention(msgspec.Struct):
    number: str | None = None
    uuid: str | None = None


class _Quote(msgspec.Struct, rename="camel"):
    author_number: str | None = None


class _Group(msgspec.Struct, rename="camel"):
    group_id: str
    type: str = ""
    group_name: str | None = None


class _Attachment(msgspec.Struct, rename="camel"):
    id: str | None = None
    content_type: str | None = None
    filename: str | None = None
    size: int | None = None


class _Data(msgspec.Struct, rename="camel"):
    timestamp: int
    message: str | None = None
    quote: _Quote | None = None
    mentions: list[_Mention] | None = None
    attachments: list[_Attachment] | None = None
    group_info: _Group | None = None
    story_context: Any = None


class _Envelope(msgspec.Struct, rename="camel"):
    source_uuid: str | None = None
    source_name: str | None = None
    data_message: _Data | None = None


class _Received(msgspec.Struct):
    account: str = ""
    envelope: _Envelope | None = None


class _Result(msgspec.Struct, rename="camel"):
    type: str
    retry_after_seconds: float | None = None


class _Sent(msgspec.Struct):
    timestamp: int
    results: list[_Result] = []


class _Response(msgspec.Struct):
    response: _Sent | None = None


class _Account(msgspec.Struct):
    number: str


class _AttachmentData(msgspec.Struct):
    data: bytes


class _Error(msgspec.Struct):
    code: int
    message: str = ""
    data: Any = None


class _Answer(msgspec.Struct):
    jsonrpc: Literal["2.0"]
    id: int | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None


class Signal(HttpPlatform):
    """One account."""

    _deaf = False
    """Whether messages go to another, for longer than a connection that is gone keeps them."""
    _alone: bool | None = None
    """Whether it serves one account alone; some calls that name one it does not take then. None: to be asked."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._ids = count(1)

    async def run(self) -> None:
        """See ``Platform``."""
        account, now = await self.probe(), asyncio.get_running_loop().time
        if not self._deaf:
            self.up(account, account, "")
        until_s = 0.0 if self._deaf else now() + WAIT_S + 2 * _AGAIN_S
        while True:
            try:
                came = await self._call("receive", {"timeout": WAIT_S, "maxMessages": 1}, list[msgspec.Raw])
            except ChannelFault as fault:
                if "already being received" not in str(fault):
                    raise
                if now() < until_s:  # for a connection that is gone, as long as it would have waited
                    await asyncio.sleep(_AGAIN_S)
                    continue
                self._deaf = True
                text = f"{fault}: it has to run with --receive-mode=manual, and for nobody else"
                raise ChannelFault(text) from fault
            if self._deaf:
                self._deaf = False
                self.up(account, account, "")
            for item in came:
                if update := self._taken(item):
                    await self.take(update)

    async def probe(self) -> str:
        """See ``Platform``."""
        account = self.settings["account"]
        try:
            known = await self._call("listAccounts", {}, list[_Account])
            self._alone = False
        except ChannelFault as refused:
            if refused.code != _NO_METHOD:
                raise
            self._alone = True
        else:
            if account not in [one.number for one in known]:  # it may not have been loaded, which this call does
                await self._call("listStickerPacks", {}, msgspec.Raw)
        return account

    async def _call(self, method: str, params: dict[str, Any], result: type[Result]) -> Result:
        """What signal-cli answers to one call.

        A call that names an account has signal-cli load it, where it could not as it began, for want of a network. One
        that is not registered, or is no more, is no final fault: that it is back is known by a call alone.
        """
        if self._alone is None and method != "listAccounts":
            await self.probe()
        id = next(self._ids)
        account = {} if self._alone else {"account": self.settings["account"]}
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, **account}}
        response = await self.http.ask(
            "POST",
            f"{self.settings['url'].rstrip('/')}/api/v1/rpc",
            {"Content-Type": "application/json"},
            msgspec.json.encode(request),
            most_bytes=_MOST_ANSWER_BYTES,
            patience_s=PATIENCE_S,
        )
        if response.status != 200:
            final = response.status in (404, 405, 415, 421)
            raise ChannelFault(f"signal-cli answers with status {response.status}", final=final)
        answer = response.read(_Answer)
        if answer and answer.error:
            if answer.error.code in (_UNKNOWN_FIELD, _NO_ACCOUNT):
                self._alone = None  # it may have been started again for other accounts
            raise _refused(answer.error, self.settings["account"])
        found = read(answer.result, result) if answer and answer.id == id else None
        if found is None:
            raise ChannelFault("what answers at this address is not signal-cli")
        return found

    def _taken(self, item: msgspec.Raw) -> Update | None:
        """What of an envelope is taken in; receipts, typing, edits, reactions, stories and our own are none."""
        if (received := read(item, _Received)) is None:
            return None  # it was acknowledged before it came here, and comes no second time
        envelope = received.envelope
        if received.account not in ("", self.settings["account"]):
            raise ChannelFault("signal-cli serves another account than this channel is for", final=True)
        if envelope is None:
            return None
        data, person = envelope.data_message, envelope.source_uuid or ""
        if data is None or data.story_context is not None or not _PERSON.fullmatch(person):
            return None
        group = data.group_info
        if group and (group.type == "UPDATE" or _PERSON.fullmatch(group.group_id) or len(group.group_id) > 200):
            return None
        chat = group.group_id if group else person
        text, called = self._called(data)
        files = tuple(_file(chat, one) for one in data.attachments or () if one.id)[:20]
        if not text and not files:
            return None
        answered = data.quote is not None and data.quote.author_number == self.settings["account"]
        return Update(
            id=f"{data.timestamp}-{person}",
            chat=chat,
            person=person,
            name=(envelope.source_name or "")[:500],
            title=((group.group_name if group else "") or "")[:500],
            private=group is None,
            addressed=group is None or called or answered,
            text=text,
            files=files,
            sent_ms=min(max(data.timestamp, 0), 1 << 53),
        )

    def _called(self, data: _Data) -> tuple[str, bool]:
        """The text with names in the places of its mentions, without the bot's own, and whether that was among them."""
        text, called = data.message or "", False
        for mention in data.mentions or ():
            mine = mention.number == self.settings["account"]
            called = called or mine
            text = text.replace(_MENTION, "" if mine else f"@{mention.number or mention.uuid or ''}", 1)
        return text.strip(), called

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        params: dict[str, Any] = {**_to(message.chat), "message": message.text}
        if message.files:
            params["attachment"] = [_data_uri(file) for file in message.files]
        return str((await self._call("send", params, _Sent)).timestamp)

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        params = {**_to(edit.chat), "message": edit.text, "editTimestamp": int(edit.message)}
        await self._call("send", params, _Sent)

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        await self._call("sendTyping", _to(chat), msgspec.Raw)

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        chat, _, id = file.rpartition("/")
        to = {"recipient": chat} if _PERSON.fullmatch(chat) else {"groupId": chat}
        found = await self._call("getAttachment", {"id": id, **to}, _AttachmentData)
        check_size(len(found.data))
        return found.data


def _to(chat: str) -> dict[str, Any]:
    return {"recipient": [chat]} if _PERSON.fullmatch(chat) else {"groupId": chat}


def _data_uri(file: FileOut) -> str:
    return f"data:{media_type(file)};filename={quote(file.name, safe='')};base64,{base64.b64encode(file.data).decode()}"


def _file(chat: str, one: _Attachment) -> RemoteFile:
    name = (one.filename or one.id or "file")[:200]
    return RemoteFile(
        f"{chat}/{one.id}"[:500], name, (one.content_type or "")[:100], min(max(one.size or 0, 0), 1 << 53)
    )


def _refused(error: _Error, account: str) -> ChannelFault:
    if error.code == _NO_ACCOUNT:  # which is said of nothing else
        way_out = "Register or link that number there; it is tried again by itself, and what is to be sent waits"
        return ChannelFault(f"signal-cli serves no {account} ({error.message[:200]}). {way_out}", code=error.code)
    try:
        sent = msgspec.convert(error.data, _Response).response
    except msgspec.ValidationError:
        sent = None
    results = sent.results if sent else []
    wait_s = 0.0
    if error.code == _RATE_LIMIT or any(one.type == "RATE_LIMIT_FAILURE" for one in results):
        wait_s = max([one.retry_after_seconds or 0 for one in results], default=0) or 60.0
    passing = wait_s > 0 or any(one.type == "NETWORK_FAILURE" for one in results)
    final = error.code in _FINAL and not passing
    return ChannelFault(f"signal-cli: {error.message}"[:500], after_s=wait_s, final=final, code=error.code)
