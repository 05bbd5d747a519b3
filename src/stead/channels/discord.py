"""Discord, by its gateway and its REST API.

Layer: channels. The gateway acknowledges nothing: what was sent while nobody was connected is replayed when the session
is resumed, and where it cannot be, the history of each known channel is read from the last message that was recorded.
Spoken over aiohttp alone; see docs/adr/0075.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from aiohttp import FormData
from msgspec.structs import replace

from stead.channels.base import ChannelFault, Take, parts, remember
from stead.channels.discord_gateway import Channel, Event, Gateway, Interaction, Message, Ready, User, Written
from stead.channels.http import SocketPlatform, read
from stead.channels.positions import cursor_of, read_positions
from stead.domain.channel_wire import Begin, Button, Edit, RemoteFile, Send, Update

_FILES_HOST = "cdn.discordapp.com"
_TEXT_CHARS = 2000
_SUPPRESS_EMBEDS, _EPHEMERAL = 1 << 2, 1 << 6
_PRIVATE, _THREADS = 1, (10, 11, 12)
"""Types of channels."""
_WRITTEN = (0, 19)
"""Types of messages that people write: plain ones, and replies."""
_MOST_WAITING = 1000
"""Events that wait to be recorded."""
_PAGE = 100


class Discord(SocketPlatform):
    """One application's bot."""

    _me = _name = _application = ""

    def __init__(self, begin: Begin, take: Take, up: Callable[[str, str, str], None]) -> None:
        super().__init__(begin, take, up)
        self._positions = read_positions(begin.cursor)
        self._taken: dict[str, None] = {}
        self._channels: dict[str, Channel] = {}
        self._presses: dict[str, str] = {}
        self._deferring: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """See ``Platform``."""
        self._name = f"@{(await self._call('GET', '/users/@me'))['username']}"
        url = str((await self._call("GET", "/gateway/bot"))["url"])
        events: asyncio.Queue[Event] = asyncio.Queue(_MOST_WAITING)

        async def heard(event: Event) -> None:
            if isinstance(event, Interaction):
                # The one who pressed sees a failure after three seconds.
                self._deferring.add(task := asyncio.create_task(self._defer(event)))
                task.add_done_callback(self._deferring.discard)
            await events.put(event)

        gateway = Gateway(self.session, self.tokens["token"], url, heard)
        both = [asyncio.create_task(gateway.run()), asyncio.create_task(self._work(events))]
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _work(self, events: asyncio.Queue[Event]) -> None:
        """Take in one event after the other."""
        while True:
            match await events.get():
                case Ready() as ready:
                    self._me, self._application = ready.user.id, ready.application.id
                    self.up(self._me, self._name, "")
                    await self._catch_up()
                case Message() as message:
                    await self._message(message)
                case Interaction() as press:
                    await self._press(press)
                case None:
                    self.up(self._me, self._name, "")

    async def _catch_up(self) -> None:
        """Take in what was written, in the channels that are known, since the last that was recorded."""
        for channel in tuple(self._positions):
            after = self._positions[channel]
            while True:
                try:
                    page = await self._call("GET", f"/channels/{channel}/messages?after={after}&limit={_PAGE}")
                except ChannelFault as refusal:
                    if refusal.after_s:
                        await asyncio.sleep(refusal.after_s)
                        continue
                    if refusal.code not in (403, 404):
                        raise
                    break  # the bot may not read there any more
                found = [one for one in page if isinstance(one, dict) and str(one.get("id", "")).isdecimal()]
                for one in sorted(found, key=lambda one: int(one["id"])):
                    after = max(after, int(one["id"]))
                    if message := read(msgspec.json.encode(one), Message):
                        await self._message(message)
                if len(page) < _PAGE or not found:
                    break

    async def _message(self, message: Message) -> None:
        """Take in what people wrote that was meant for the bot; of others' messages there is no content to take."""
        channel = int(message.channel_id)
        update = None if message.id in self._taken else await self._update(message)
        if update:
            await self.take(update)
            remember(self._taken, message.id, None)
        if update or channel in self._positions:
            self._positions[channel] = self._latest(message)

    def _latest(self, message: Message) -> int:
        return max(int(message.id), self._positions.get(int(message.channel_id), 0))

    async def _update(self, message: Message) -> Update | None:
        author, referenced = message.author, message.referenced_message
        if message.type not in _WRITTEN or author.bot or message.webhook_id or author.id == self._me:
            return None
        if (channel := await self._channel(message.channel_id)) is None:
            return None
        private = channel.type == _PRIVATE
        answered = referenced is not None and referenced.author is not None and referenced.author.id == self._me
        addressed = private or answered or any(one.id == self._me for one in message.mentions)
        forwarded = [one.message for one in message.message_snapshots]
        said = [message, *forwarded]
        if not addressed or not any(one.content or one.attachments for one in said):
            return None
        cursor = cursor_of(self._positions | {int(message.channel_id): self._latest(message)})
        at = f"{message.channel_id}/{message.id}"
        files = [
            RemoteFile(f"{at}/{one.id}", one.filename, one.content_type or "", one.size)
            for each in said
            for one in each.attachments
        ]
        text = "\n\n".join(filter(None, (_text(one, self._me) for one in said)))
        begun = _begun(message.id, author, channel, cursor)
        return replace(begun, text=text, files=tuple(files), forwarded=bool(forwarded))

    async def _press(self, press: Interaction) -> None:
        user = press.user or (press.member.user if press.member else None)
        if press.type != 3 or press.data.component_type != 2 or user is None:
            return
        if channel := await self._channel(press.channel_id):
            update = _begun(press.id, user, channel, cursor_of(self._positions))
            await self.take(replace(update, press=press.id, data=press.data.custom_id))

    async def _defer(self, press: Interaction) -> None:
        """Tell Discord that a press arrived; what came of it is said by ``pressed``."""
        remember(self._presses, press.id, press.token)
        with suppress(ChannelFault, OSError, TimeoutError):  # then it is shown as failed, and is taken in all the same
            await self._call("POST", f"/interactions/{press.id}/{press.token}/callback", {"type": 6}, token=False)

    async def pressed(self, press: str, text: str) -> None:
        """See ``Platform``."""
        if token := self._presses.get(press):
            said = _said(text[: _TEXT_CHARS // 2], ()) | {"flags": _EPHEMERAL | _SUPPRESS_EMBEDS}
            await self._call("POST", f"/webhooks/{self._application}/{token}", said, token=False)

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        where, sent = message.thread or message.chat, ""
        pieces = _fitting(message.text)
        for number, piece in enumerate(pieces, 1):
            last = number == len(pieces)
            said = _said(piece, message.buttons if last else ())
            if message.key:  # with one that stands there already Discord answers with that message
                nonce = hashlib.sha256(f"{message.key}.{number}".encode()).hexdigest()[:25]
                said |= {"nonce": nonce, "enforce_nonce": True}
            files = [(file.name, file.data) for file in message.files] if last else []
            sent = str((await self._call("POST", f"/channels/{where}/messages", said, files=files))["id"])
        return f"{where}/{sent}"

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        channel, _, message = edit.message.partition("/")
        text = edit.text if len(_escaped(edit.text)) <= _TEXT_CHARS else f"{edit.text[: _TEXT_CHARS // 2 - 1]}…"
        await self._call("PATCH", f"/channels/{channel}/messages/{message}", _said(text, edit.buttons))

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        await self._call("POST", f"/channels/{thread or chat}/typing", {})

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        channel, message, id = file.split("/")
        found = await self._call("GET", f"/channels/{channel}/messages/{message}")
        copies = [one["message"] for one in found.get("message_snapshots", [])]
        files = [file for one in (found, *copies) for file in one.get("attachments", [])]
        url = next((str(one.get("url")) for one in files if one.get("id") == id), "")
        return await self.bring(url, (_FILES_HOST,))

    async def probe(self) -> str:
        """See ``Platform``."""
        return f"@{(await self._call('GET', '/users/@me'))['username']}"

    async def _channel(self, id: str) -> Channel | None:
        """What a channel is, asked for once; None where the bot may not see it."""
        if id not in self._channels:
            try:
                found = await self._call("GET", f"/channels/{id}")
            except ChannelFault as refusal:
                if refusal.code in (403, 404):
                    return None
                raise
            remember(self._channels, id, msgspec.convert(found, Channel))
        return self._channels[id]

    async def _call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        files: list[tuple[str, bytes]] | None = None,
        token: bool = True,
    ) -> Any:
        """What the REST API answers, read as JSON. Nothing is tried again here; no address stands in an error."""
        given: dict[str, Any] = {"json": body} if body is not None else {}
        if files and body is not None:
            files = [
                (re.sub(r'[\x00-\x1f\x7f"\\]', "_", name), data) for name, data in files
            ]  # they end a field's head
            names = [{"id": number, "filename": name} for number, (name, _) in enumerate(files)]
            form = FormData(quote_fields=False)  # Discord takes no name of a field with its brackets written out
            said = msgspec.json.encode(body | {"attachments": names}).decode()  # of bytes it would make a file
            form.add_field("payload_json", said, content_type="application/json")
            for number, (name, data) in enumerate(files):
                form.add_field(f"files[{number}]", data, filename=name, content_type="application/octet-stream")
            given = {"data": form}
        headers = {"Authorization": f"Bot {self.tokens['token']}"} if token else {}
        url = self.settings["api"].rstrip("/") + path
        async with self.session.request(method, url, headers=headers, allow_redirects=False, **given) as answer:
            data = await answer.read()
        heard: Any = None
        with suppress(msgspec.DecodeError):
            heard = msgspec.json.decode(data) if data else {}
        if 200 <= answer.status < 300 and heard is not None:
            return heard
        raise _refused(answer.status, heard, answer.headers.get("Retry-After", ""))


def _refused(status: int, said: Any, hint: str) -> ChannelFault:
    said = said if isinstance(said, dict) else {}
    if status == 429:
        wait = said.get("retry_after", hint)
        wait_s = float(wait) if re.fullmatch(r"\d{1,7}(\.\d+)?", str(wait)) else 60.0
        return ChannelFault("Discord asks to wait", after_s=max(wait_s, 0.1), code=status)
    text = f"Discord: {status} {said.get('message', '')}".strip()
    refused = status == 401 and not said.get("code")  # with a code it is that of a press, which has its own token
    return ChannelFault(text[:500], final=400 <= status < 500 and status != 408, code=status, refused=refused)


def _begun(id: str, user: User, channel: Channel, cursor: str) -> Update:
    """An update without what was said or pressed. A thread is a channel of its own there."""
    in_thread = channel.type in _THREADS and channel.parent_id
    return Update(
        id=id,
        cursor=cursor,
        chat=(channel.parent_id or "") if in_thread else channel.id,
        thread=channel.id if in_thread else "",
        person=user.id,
        name=user.global_name or user.username,
        title=channel.name or "",
        private=channel.type == _PRIVATE,
    )


def _text(message: Written, me: str) -> str:
    """What was written, without the bot's name at its start, and with other names as they read."""
    text = re.sub(rf"^\s*<@!?{me}>[\s,:]*", "", message.content)
    for one in message.mentions:
        text = re.sub(rf"<@!?{one.id}>", lambda _, one=one: f"@{one.global_name or one.username}", text)  # type: ignore[misc]
    return text


def _escaped(text: str) -> str:
    """A text in which Discord finds no markup and no mention; it reads an address to its end as one."""
    marks = r"(https?://[^\s<]+)|([\\*_~`|<>\[\]#]|(?<![^\n])[-+])"
    return re.sub(marks, lambda found: found[1] or f"\\{found[2]}", text)


def _fitting(text: str) -> list[str]:
    """A text as one message, or as two where so much of it is escaped."""
    return [text] if len(_escaped(text)) <= _TEXT_CHARS else list(parts(text, _TEXT_CHARS // 2))


def _said(text: str, buttons: tuple[tuple[Button, ...], ...]) -> dict[str, Any]:
    """A message: nobody is called by it, and no address in it is looked up for a preview."""
    return {
        "content": _escaped(text),
        "flags": _SUPPRESS_EMBEDS,
        "allowed_mentions": {"parse": []},
        "components": [
            {
                "type": 1,
                "components": [{"type": 2, "style": 2, "label": one.text[:80], "custom_id": one.data} for one in row],
            }
            for row in buttons
        ],
    }
