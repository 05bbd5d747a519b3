"""Slack, by Socket Mode, or by signed requests at the listener where there is no app-level token.

Layer: channels. The library's web client is used; its Socket Mode client is not, since that tries a refused token again
for ever, tells of no lost connection, and runs what it calls for each envelope apart. An envelope is acknowledged once
it was recorded; one that was not, Slack sends again, for six minutes. What was written privately while nothing was
connected for longer is read from the history.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, cast
from urllib.parse import parse_qs

import msgspec
from aiohttp import ClientWebSocketResponse, WSMsgType
from msgspec.structs import replace
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from stead.channels.base import ChannelFault, Take
from stead.channels.http import SocketPlatform, read
from stead.channels.positions import base36, cursor_of, read_positions
from stead.channels.slack_text import plain, said
from stead.domain.channel_wire import MOST_FILE_BYTES, Begin, Edit, RemoteFile, Request, Send, Update

_FILES_HOST = "files.slack.com"
HEARTBEAT_S = 10
"""Between two pings; a connection without an answer is opened again."""
_LIVED_S = 5.0
"""A connection that lasted so long is opened again at once when it ends; a shorter one after the worker's wait."""
_MOST_OPEN = 100
"""Envelopes that wait to be recorded, of one connection."""
_PAGE, _MOST_READ = 100, 1000
"""Messages of a chat's history."""
_AGAIN_S = 2.0
"""Before a history that could not be read is asked for again."""
_PASSING = {
    *("accesslimited", "fatal_error", "internal_error", "ratelimited", "request_timeout", "rollup_error"),
    *("service_unavailable", "team_added_to_org"),
}
"""Errors that Slack says may pass; every other one is its last word."""
_REFUSALS = ("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked")
"""Of the token."""

_Id = Annotated[str, msgspec.Meta(max_length=100)]
_Words = Annotated[str, msgspec.Meta(max_length=200)]


class _File(msgspec.Struct):
    id: _Id
    name: str | None = None
    mimetype: str | None = None
    size: int = 0


class _Attachment(msgspec.Struct):
    """A preview, or a message of others that was shared."""

    is_share: bool = False
    is_msg_unfurl: bool = False
    text: str | None = None
    files: list[_File] = []


class _Event(msgspec.Struct):
    type: str
    channel: _Id = ""
    user: _Id = ""
    ts: _Id = ""
    thread_ts: _Id = ""
    parent_user_id: _Id = ""
    channel_type: str = ""
    subtype: str = ""
    bot_id: str | None = None
    text: str | None = None
    files: list[_File] = []
    attachments: list[_Attachment] = []


class _Call(msgspec.Struct):
    type: str
    event: _Event | None = None
    challenge: Annotated[str, msgspec.Meta(max_length=500)] = ""


class _Next(msgspec.Struct):
    next_cursor: str = ""


class _Page(msgspec.Struct):
    messages: list[msgspec.Raw] = []
    response_metadata: _Next | None = None


class _Named(msgspec.Struct):
    id: _Id
    name: _Words = ""


class _Container(msgspec.Struct):
    message_ts: _Id = ""
    thread_ts: _Id | None = None


class _Action(msgspec.Struct):
    type: str
    action_ts: _Id
    value: _Words = ""


class _Press(msgspec.Struct):
    type: str
    user: _Named | None = None
    channel: _Named | None = None
    container: _Container = msgspec.field(default_factory=_Container)
    actions: list[_Action] = []


class _Envelope(msgspec.Struct):
    type: str
    envelope_id: _Id = ""
    reason: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class Slack(SocketPlatform):
    """One app's bot in one workspace."""

    _me = _name = ""

    def __init__(self, begin: Begin, take: Take, up: Callable[[str, str, str], None]) -> None:
        super().__init__(begin, take, up)
        self._positions = read_positions(begin.cursor)
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """See ``Platform``."""
        me = await _asked(self._client.auth_test())
        self._me, self._name = str(me["user_id"]), f"@{me.get('user', '')}"
        if self.tokens.get("app_token"):
            while await self._listen():
                pass
            raise ChannelFault("Slack ended the connection")
        if not self.tokens.get("signing_secret"):
            raise ChannelFault("Slack needs an app-level token or a signing secret", final=True)
        self.up(self._me, self._name, "")
        await self._catch_up()
        await asyncio.Event().wait()

    @cached_property
    def _client(self) -> AsyncWebClient:
        # Its own handler would repeat a message whose connection broke, which Slack may have taken.
        return AsyncWebClient(
            self.tokens["token"], base_url=self.settings["api"], session=self.session, retry_handlers=[]
        )

    async def _listen(self) -> bool:
        """Take in what one connection brings until it ends; gives whether the next may be opened at once."""
        link = await _asked(self._client.apps_connections_open(app_token=self.tokens["app_token"]))
        loop = asyncio.get_running_loop()
        doing: set[asyncio.Task[None]] = set()
        brought = False
        begun = loop.time()
        try:
            async with self.session.ws_connect(
                str(link["url"]), heartbeat=HEARTBEAT_S, max_msg_size=MOST_FILE_BYTES
            ) as socket:
                async for message in socket:
                    envelope = read(message.data, _Envelope) if message.type is WSMsgType.TEXT else None
                    if envelope is None:
                        continue
                    if envelope.type == "hello":
                        self.up(self._me, self._name, "")
                        doing.add(asyncio.create_task(self._catch_up()))
                    elif envelope.type == "disconnect":
                        if envelope.reason == "link_disabled":
                            raise ChannelFault("Socket Mode was switched off for this app", final=True)
                        if envelope.reason != "warning":  # which comes some seconds ahead
                            return True
                    elif envelope.envelope_id:
                        brought = True
                        doing.add(task := asyncio.create_task(self._enveloped(socket, envelope)))
                        task.add_done_callback(doing.discard)
                        if len(doing) >= _MOST_OPEN:
                            await asyncio.wait(doing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in doing:
                task.cancel()
            await asyncio.gather(*doing, return_exceptions=True)
        return brought or loop.time() - begun > _LIVED_S

    async def _enveloped(self, socket: ClientWebSocketResponse, envelope: _Envelope) -> None:
        """Take in what an envelope brings, then acknowledge it; what is no update is only acknowledged."""
        update = None
        if envelope.type == "events_api" and (call := read(envelope.payload, _Call)) and call.event:
            update = self._message(call.event)
        elif envelope.type == "interactive" and (press := read(envelope.payload, _Press)):
            update = _pressed(press)
        if update:
            await self._record(update)
        with suppress(ConnectionError):  # Slack sends again what it holds for not acknowledged
            await socket.send_json({"envelope_id": envelope.envelope_id})

    async def _catch_up(self) -> None:
        """Take in what was written, in the private chats that are known, since the last that was recorded."""
        async with self._turn:
            for chat, last in tuple(self._positions.items()):
                oldest = f"{last // 1_000_000}.{last % 1_000_000:06}"
                for event in await self._history(base36(chat).upper(), oldest):
                    if update := self._message(event):
                        await self._take_next(update)

    async def _history(self, chat: str, oldest: str) -> list[_Event]:
        """What was written in a private chat after a message, oldest first; nothing where it may not be read."""
        found: list[_Event] = []
        call, at = self._client.conversations_history, ""
        while len(found) < _MOST_READ:
            try:
                page_of = _asked(call(channel=chat, oldest=oldest, limit=_PAGE, cursor=at or None))
                answer = await self.attempted(page_of)
            except ChannelFault as fault:
                if fault.final:
                    break
                await asyncio.sleep(fault.after_s or _AGAIN_S)
                continue
            page = read(msgspec.json.encode(answer), _Page) or _Page()
            for event in filter(None, (read(one, _Event) for one in page.messages)):
                event.channel, event.channel_type = chat, "im"
                event.thread_ts = event.thread_ts if event.thread_ts != event.ts else ""  # of one with answers
                found.append(event)
            at = page.response_metadata.next_cursor if page.response_metadata else ""
            if not at:
                break
        return found[::-1]

    async def _record(self, update: Update) -> None:
        """Take in an update; private messages one by one, since the cursor passes over what is before the last."""
        if update.press or not update.private:
            await self.take(update)
            return
        async with self._turn:
            await self._take_next(update)

    async def _take_next(self, update: Update) -> None:
        if found := re.fullmatch(r"(D[A-Z0-9]{1,11})/([0-9]{10})\.([0-9]{6})", update.id):
            chat, at = int(found[1], 36), int(found[2] + found[3])
            read_to = self._positions | {chat: max(at, self._positions.get(chat, 0))}
            await self.take(replace(update, cursor=cursor_of(read_to)))
            self._positions = read_to
        else:
            await self.take(update)

    def _message(self, event: _Event) -> Update | None:
        """What of an event is taken in: what people wrote, not edits, joins or what bots wrote."""
        wanted = event.type in ("message", "app_mention") and event.subtype in ("", "file_share", "thread_broadcast")
        if not wanted or event.bot_id or event.user in ("", self._me) or not (event.channel and event.ts):
            return None
        private = event.channel_type == "im"
        mention = re.compile(rf"<@{re.escape(self._me)}(\|[^>]*)?>")
        text = event.text or ""
        shared = [one for one in event.attachments if one.is_share or one.is_msg_unfurl]
        addressed = private or event.parent_user_id == self._me or bool(mention.search(text))
        if found := mention.match(text.lstrip()):
            text = text.lstrip()[found.end() :].lstrip(" ,:")
        return Update(
            id=f"{event.channel}/{event.ts}",  # a mention comes as two events of one message
            chat=event.channel,
            thread=event.thread_ts or (event.ts if addressed and not private else ""),
            person=event.user,
            private=private,
            addressed=addressed,
            text="\n\n".join(filter(None, (plain(one or "") for one in (text, *(each.text for each in shared))))),
            files=tuple(
                RemoteFile(one.id, one.name or "file", one.mimetype or "", one.size)
                for one in (*event.files, *(file for each in shared for file in each.files))
            ),
            forwarded=bool(shared),
        )

    async def request(self, request: Request) -> tuple[int, str]:
        """See ``Platform``."""
        try:
            verifier = SignatureVerifier(self.tokens.get("signing_secret", ""))
            signed = verifier.is_valid_request(request.body, request.headers)
        except (ValueError, TypeError, OverflowError):  # no secret; a time or a body that is none
            signed = False
        if not signed:
            return 401, ""
        if not self._me:
            raise ChannelFault("not connected yet")
        if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            press = read(parse_qs(request.body.decode()).get("payload", [""])[0], _Press)
            update = _pressed(press) if press else None
        else:
            if (call := read(request.body, _Call)) is None:
                return 400, ""
            if call.type == "url_verification":
                return 200, msgspec.json.encode({"challenge": call.challenge}).decode()
            update = self._message(call.event) if call.event else None
        if update:
            await self._record(update)
        return 200, ""

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        thread = message.thread or None
        name = ""
        if message.text or not message.files:
            whole = said(message.text, message.buttons)
            whole |= {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
            sent = await _asked(self._client.chat_postMessage(channel=message.chat, thread_ts=thread, **whole))
            name = str(sent["ts"])
        if message.files:
            uploads = [{"file": file.data, "filename": file.name} for file in message.files]
            sent = await _asked(
                self._client.files_upload_v2(file_uploads=uploads, channel=message.chat, thread_ts=thread)
            )
            name = name or str(sent["files"][0]["id"])
        return name

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        whole = said(edit.text, edit.buttons)
        await _asked(self._client.chat_update(channel=edit.chat, ts=edit.message, **whole))

    async def pressed(self, press: str, text: str) -> None:
        """See ``Platform``."""
        chat, thread, person, *_ = press.split("/")
        call = self._client.chat_postEphemeral
        await _asked(call(channel=chat, user=person, thread_ts=thread or None, **said(text, ())))

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        found = (await _asked(self._client.files_info(file=file)))["file"]
        url = str(found.get("url_private") or "")
        return await self.bring(url, (_FILES_HOST,), self.tokens["token"])

    async def probe(self) -> str:
        """See ``Platform``."""
        return f"@{(await _asked(self._client.auth_test())).get('user', '')}"

    def fault(self, error: Exception) -> ChannelFault:
        """See ``Platform``."""
        match error:
            case SlackApiError():
                return _fault(error.response)
            case SlackClientError():
                return ChannelFault(f"Slack: {error}"[:500])
            case AttributeError() | TypeError() | ValueError():  # of the library, over an answer that is not JSON
                return ChannelFault("Slack's answer is not of its API")
            case _:
                return super().fault(error)


async def _asked(call: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
    """What the Web API answers."""
    return cast("dict[str, Any]", (await call).data)


def _fault(response: Any) -> ChannelFault:
    """Why the Web API refused."""
    status = getattr(response, "status_code", 0) or getattr(response, "status", 0)
    data = getattr(response, "data", None)
    code = str(data.get("error") or "") if isinstance(data, dict) else ""
    if status == 429 or code == "ratelimited":
        hint = str(response.headers.get("Retry-After", ""))
        return ChannelFault("Slack asks to wait", after_s=float(hint) if hint.isdecimal() else 30.0)
    if not code:
        return ChannelFault(f"Slack answers {status}, and not by its API")
    needed = f", needs {data['needed']}" if isinstance(data, dict) and data.get("needed") else ""
    final, refused = code not in _PASSING and status < 500, code in _REFUSALS
    return ChannelFault(f"Slack: {code}{needed}"[:500], final=final, refused=refused)


def _pressed(press: _Press) -> Update | None:
    """What of an interaction is taken in: a press of a button."""
    if press.type != "block_actions" or not (press.user and press.channel and press.actions):
        return None
    action = press.actions[0]
    if action.type != "button" or not press.container.message_ts:
        return None
    chat, thread = press.channel, press.container.thread_ts or ""
    id = "/".join((chat.id, thread, press.user.id, press.container.message_ts, action.action_ts))
    return Update(
        id=id,
        chat=chat.id,
        thread=thread,
        person=press.user.id,
        name=press.user.name,
        title=chat.name,
        private=chat.id.startswith("D") and chat.name == "directmessage",  # a channel can have that name
        press=id,
        data=action.value,
    )
