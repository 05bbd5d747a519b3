"""Matrix, by the client-server API of its homeserver, through long polling.

Layer: channels. Events are taken in from ``sync``, whose token moves on once all of a batch is recorded. Messages of
encrypted rooms cannot be read: the bot says so there, and leaves.
"""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from stead.channels.base import ChannelFault
from stead.channels.http import Answer, HttpPlatform
from stead.domain.channel_wire import Edit, FileOut, RemoteFile, Send, Update

POLL_S, PATIENCE_S = 30, 30.0
MOST_ROOMS = 200
"""An invitation beyond is declined."""
MOST_MISSED = 2000
"""Events of one room that are fetched after having been away; what is older is left."""
FRESH_MS = 600_000
"""Messages up to this age are new at a first start, which one killed before its first record makes, too."""
_PAGE = 50
_MOST_BATCH_BYTES = 32 << 20
_MEDIA = ("m.audio", "m.file", "m.image", "m.video")
_STATE = ["m.room.name", "m.room.encryption", "m.room.join_rules", "m.room.history_visibility"]
_EVENTS = [*_STATE, "m.room.message", "m.room.member"]
_REFUSALS = ("M_MISSING_TOKEN", "M_UNKNOWN_TOKEN", "M_USER_DEACTIVATED")
"""Of the token."""
_NOTHING: dict[str, Any] = {"types": []}
_ROOMS = {"account_data": _NOTHING, "ephemeral": _NOTHING, "state": {"types": _STATE}}
_TIMELINE = {"timeline": {"types": _EVENTS, "limit": _PAGE}}
_FILTER = {"presence": _NOTHING, "account_data": _NOTHING, "room": {**_ROOMS, **_TIMELINE}}
_UNREADABLE = (
    "This room is encrypted, and this bot cannot read encrypted rooms. Invite it to a room without encryption."
)
T = TypeVar("T")


class _Event(msgspec.Struct):
    type: str
    sender: str
    content: dict[str, Any]
    event_id: str = ""
    state_key: str | None = None
    unsigned: dict[str, Any] = {}


class _Timeline(msgspec.Struct):
    events: list[Any] = []
    limited: bool = False
    prev_batch: str = ""


class _State(msgspec.Struct):
    events: list[Any] = []


class _Joined(msgspec.Struct):
    state: _State = msgspec.field(default_factory=_State)
    timeline: _Timeline = msgspec.field(default_factory=_Timeline)


class _Rooms(msgspec.Struct):
    join: dict[str, _Joined] = {}
    invite: dict[str, Any] = {}
    leave: dict[str, Any] = {}


class _Batch(msgspec.Struct):
    next_batch: str
    rooms: _Rooms = msgspec.field(default_factory=_Rooms)


class _Account(msgspec.Struct):
    user_id: str


class _Profile(msgspec.Struct):
    displayname: Any = None


class _Page(msgspec.Struct):
    chunk: list[Any] = []
    end: str = ""


class _Members(msgspec.Struct):
    joined: dict[str, dict[str, Any]]


class _Sent(msgspec.Struct):
    event_id: str


class _Uploaded(msgspec.Struct):
    content_uri: str


@dataclass
class _Room:
    """What is known of a room. ``members``: those who joined, and their names; None where they have to be asked for."""

    name: str = ""
    join_rule: str = ""
    visibility: str = ""
    encrypted: bool = False
    members: dict[str, str] | None = None

    def see(self, event: _Event) -> None:
        """Follow an event that says what the room is."""
        match event.type:
            case "m.room.member":
                self.members = None
            case "m.room.name":
                self.name = _text(event.content, "name")
            case "m.room.join_rules":
                self.join_rule = _text(event.content, "join_rule")
            case "m.room.history_visibility":
                self.visibility = _text(event.content, "history_visibility")
            case "m.room.encryption":
                self.encrypted = True
            case _:
                pass  # a message

    def is_of(self, *people: str) -> bool:
        """Whether these people alone read it, and nobody comes in uninvited."""
        closed = self.join_rule in ("invite", "private") and self.visibility != "world_readable"
        return closed and self.members is not None and set(self.members) == set(people)


class Matrix(HttpPlatform):
    """One bot."""

    _name = ""
    _synced = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._me = self.settings["user"]
        self._url = f"{self.settings['homeserver'].rstrip('/')}/_matrix"
        self._key = {"Authorization": f"Bearer {self.tokens['token']}"}
        self._rooms: dict[str, _Room] = {}

    async def run(self) -> None:
        """See ``Platform``."""
        name = await self.probe()
        self._rooms, self._synced = {}, False
        invited: asyncio.Queue[str] = asyncio.Queue()
        joining = asyncio.create_task(self._join(invited), name="invitations")
        try:
            while True:
                batch = await self._sync()
                if not self._synced:
                    self._synced = True
                    self.up(self._me, name, f"https://matrix.to/#/{self._me}")
                await self._taken_in(batch)
                for room_id in batch.rooms.invite:
                    invited.put_nowait(room_id)
                self.cursor = batch.next_batch
        finally:
            joining.cancel()

    async def probe(self) -> str:
        """See ``Platform``."""
        me = await self._call(_Account, "GET", "account", "whoami")
        if me.user_id != self._me:
            raise ChannelFault(f"the token is one of {me.user_id}"[:500], final=True)
        profile = await self._call(_Profile, "GET", "profile", self._me, "displayname")
        self._name = _text({"name": profile.displayname}, "name") or self._me
        return self._name

    async def _sync(self) -> _Batch:
        """The next batch, or an empty one after a while."""
        query = {"timeout": str(POLL_S * 1000), "filter": json.dumps(_FILTER)}
        query |= {"since": self.cursor} if self.cursor else {}
        query |= {} if self._synced else {"full_state": "true"}
        return await self._call(_Batch, "GET", "sync", query=query, patience_s=POLL_S + PATIENCE_S)

    async def _call(
        self,
        kind: type[T],
        method: str,
        *path: str,
        content: Any = None,
        query: dict[str, str] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> T:
        """What the client-server API answers to a request whose body is ``content``, a file's as it is."""
        file = content if isinstance(content, FileOut) else None
        at = "/".join(quote(part, safe="") for part in path)
        answer = await self.http.ask(
            method,
            f"{self._url}/{'media' if file else 'client'}/v3/{at}?{urlencode(query or {})}",
            {**self._key, "Content-Type": file.media_type if file else "application/json"},
            file.data if file else b"" if content is None else msgspec.json.encode(content),
            most_bytes=_MOST_BATCH_BYTES,
            patience_s=patience_s,
        )
        try:
            said = json.loads(answer.body)  # unlike msgspec it takes halves of characters, which anyone can send
            if answer.status == 200:
                return msgspec.convert(said, kind)
        except (ValueError, RecursionError, msgspec.ValidationError):
            said = None
        raise _fault(answer, said if isinstance(said, dict) else {})

    async def _allowed(self, kind: type[T], *call: str, **more: Any) -> T | None:
        """As ``_call``; None where the server refuses it for good."""
        try:
            return await self._call(kind, *call, **more)
        except ChannelFault as fault:
            if not fault.final:
                raise
            return None

    async def _join(self, invited: asyncio.Queue[str]) -> None:
        """Join where the bot is invited: nobody is heard in a chat before it was paired."""
        while True:
            room_id = await invited.get()
            what = "join" if len(self._rooms) < MOST_ROOMS else "leave"
            try:
                await self._call(dict[str, Any], "POST", "rooms", room_id, what, content={})
            except (
                ChannelFault
            ) as fault:  # where its server does not answer, the one who wants the bot invites it again
                if fault.after_s:
                    await asyncio.sleep(fault.after_s)
                    invited.put_nowait(room_id)

    # -- what comes in -------------------------------------------------------------------------------------------------

    async def _taken_in(self, batch: _Batch) -> None:
        """Take in a batch; until its last update is recorded, the cursor is that of the batch before."""
        for room_id in batch.rooms.leave:
            self._rooms.pop(room_id, None)
        updates: list[Update] = []
        for room_id, joined in batch.rooms.join.items():
            room = self._rooms.setdefault(room_id, _Room())
            events = _events(joined.timeline.events)
            for event in (*_events(joined.state.events), *events):
                room.see(event)
            if room.encrypted:
                await self._leave(room_id)
            else:
                updates += await self._of_room(room_id, room, events, joined.timeline)
        for number, update in enumerate(updates, 1):
            await self.take(replace(update, cursor=batch.next_batch if number == len(updates) else self.cursor))

    async def _leave(self, id: str) -> None:
        said = _said(_UNREADABLE)
        await self._allowed(_Sent, "PUT", "rooms", id, "send", "m.room.message", f"unreadable-{id}", content=said)
        await self._allowed(dict[str, Any], "POST", "rooms", id, "leave", content={})
        self._rooms.pop(id, None)

    async def _of_room(self, id: str, room: _Room, events: list[_Event], timeline: _Timeline) -> list[Update]:
        if timeline.limited:
            room.members = None
            if self.cursor and timeline.prev_batch:
                events = [*await self._missed(id, timeline.prev_batch), *events]
        if not self.cursor:
            events = [event for event in events if _age_ms(event) <= FRESH_MS]
        for at, event in reversed(list(enumerate(events))):
            came = ("invite", "join")
            before = _object(event.unsigned, "prev_content").get("membership")
            mine = event.type == "m.room.member" and event.state_key == self._me
            if mine and event.content.get("membership") in came and before not in came:
                events = events[at:]  # what others said before the bot was invited was not said to it
                break
        taken = [await self._taken(id, room, event) for event in events]
        return [update for update in taken if update]

    async def _missed(self, id: str, back_from: str) -> list[_Event]:
        """What a batch left out, back to the cursor, in order."""
        missed: list[_Event] = []
        query = {"dir": "b", "to": self.cursor, "limit": str(_PAGE), "filter": json.dumps({"types": _EVENTS})}
        while len(missed) < MOST_MISSED:
            query["from"] = back_from
            if not (page := await self._allowed(_Page, "GET", "rooms", id, "messages", query=query)):
                break
            missed += _events(page.chunk)
            if not page.end or page.end == back_from:
                break
            back_from = page.end
        return missed[::-1]

    async def _taken(self, id: str, room: _Room, event: _Event) -> Update | None:
        """What of an event is taken in; edits, notices, which are bots', and the bot's own messages are none."""
        content = event.content
        kind, body, relation = content.get("msgtype"), content.get("body"), _object(content, "m.relates_to")
        if event.type != "m.room.message" or event.sender == self._me or relation.get("rel_type") == "m.replace":
            return None
        if not isinstance(body, str) or kind not in ("m.text", "m.emote", *_MEDIA):
            return None
        if kind in _MEDIA and not isinstance(content.get("url"), str):
            return None
        if room.members is None and (found := await self._allowed(_Members, "GET", "rooms", id, "joined_members")):
            room.members = {user: _text(one, "display_name") for user, one in found.joined.items()}
        private = room.is_of(self._me, event.sender)
        file = _file(content, body) if kind in _MEDIA else None
        text = "" if file and content.get("filename", body) == body else _clean(body)
        answered = _text(_object(relation, "m.in_reply_to"), "event_id")
        if answered and text.startswith("> <"):
            text = text.partition("\n\n")[2]  # some clients repeat what is answered
        mentions = _object(content, "m.mentions").get("user_ids")
        mentioned = self._me in text.split() or (isinstance(mentions, list) and self._me in mentions)
        thread = _text(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""
        if thread and (relation.get("is_falling_back") is True or not answered):
            answered = thread  # what is named besides is the thread's last message, for clients without threads
        return Update(
            id=event.event_id,
            chat=id,
            thread=thread,
            person=event.sender,
            name=(room.members or {}).get(event.sender, ""),
            title=room.name,
            private=private,
            addressed=private or mentioned or await self._is_mine(id, answered),
            text=_without_name(text, self._me, self._name) if mentioned else text,
            files=(file,) if file else (),
        )

    async def _is_mine(self, id: str, event_id: str) -> bool:
        """Whether the bot sent an event: an answer to it is meant for the bot."""
        found = await self._allowed(_Event, "GET", "rooms", id, "event", event_id) if event_id else None
        return found is not None and found.sender == self._me

    # -- what goes out -------------------------------------------------------------------------------------------------

    async def _say(self, chat: str, transaction: str, content: dict[str, Any]) -> str:
        """Send an event; nothing is said to an encrypted room without encryption."""
        if not self._synced:
            raise ChannelFault("not connected yet", after_s=1)
        if (room := self._rooms.get(chat)) is None or room.encrypted:
            raise ChannelFault("the bot is not in this room, or it is encrypted", final=True)
        call = ("PUT", "rooms", chat, "send", "m.room.message", transaction)
        return (await self._call(_Sent, *call, content=content)).event_id

    async def send(self, message: Send) -> str:
        """See ``Platform``."""
        contents: list[dict[str, Any]] = []
        if message.text or not message.files:
            contents.append(_said(message.text))
        contents += [await self._uploaded(file) for file in message.files]
        sent = []
        for number, content in enumerate(contents):
            if message.thread:
                content["m.relates_to"] = _in_thread(message.thread)
            # The server takes one transaction once, however often it is sent.
            sent.append(await self._say(message.chat, f"{message.key}.{number}", content))
        return sent[0]

    async def _uploaded(self, file: FileOut) -> dict[str, Any]:
        name = {"filename": file.name}
        made = await self._call(_Uploaded, "POST", "upload", content=file, query=name, patience_s=2 * PATIENCE_S)
        return {
            **_said(file.name),
            **name,
            "msgtype": "m.image" if file.media_type.startswith("image/") else "m.file",
            "url": made.content_uri,
            "info": {"mimetype": file.media_type, "size": len(file.data)},
        }

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        content = {
            **_said(f"* {edit.text}"),
            "m.new_content": _said(edit.text),
            "m.relates_to": {"rel_type": "m.replace", "event_id": edit.message},
        }
        await self._say(edit.chat, f"{edit.message}.{uuid4().hex}", content)

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        shown = {"typing": True, "timeout": 10_000}
        await self._call(dict[str, Any], "PUT", "rooms", chat, "typing", self._me, content=shown)

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        server, _, media = file.removeprefix("mxc://").partition("/")
        at = f"{quote(server, safe='')}/{quote(media, safe='')}"
        return await self.http.file(f"{self._url}/client/v1/media/download/{at}", self._key)


def _events(given: list[Any]) -> list[_Event]:
    """Those that are events."""
    found = []
    for one in given:
        with suppress(msgspec.ValidationError):
            found.append(msgspec.convert(one, _Event))
    return found


def _said(text: str) -> dict[str, Any]:
    """Plain text; not a notice, for which phones do not ring; and nobody is called by what stands in it."""
    return {"msgtype": "m.text", "body": text, "m.mentions": {}}


def _in_thread(root: str) -> dict[str, Any]:
    return {"rel_type": "m.thread", "event_id": root, "is_falling_back": True, "m.in_reply_to": {"event_id": root}}


def _without_name(text: str, user: str, display_name: str) -> str:
    for name in (user, display_name, user.partition(":")[0], user[1:].partition(":")[0]):
        rest = text[len(name) :]
        if name and text.casefold().startswith(name.casefold()) and (not rest or rest[0] in " :,"):
            return rest.lstrip(" :,")
    return text


def _object(content: dict[str, Any], name: str) -> dict[str, Any]:
    """A part of what someone wrote, where it has the shape that it should have."""
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def _text(content: dict[str, Any], name: str) -> str:
    found = content.get(name)
    return _clean(found)[:500] if isinstance(found, str) else ""


def _clean(text: str) -> str:
    """A text without halves of characters, which JSON can hold and UTF-8 cannot."""
    return text.encode(errors="replace").decode()


def _age_ms(event: _Event) -> float:
    age = event.unsigned.get("age")
    return age if isinstance(age, int) else math.inf


def _file(content: dict[str, Any], body: str) -> RemoteFile | None:
    if not (url := _text(content, "url")).startswith("mxc://") or url != content["url"]:
        return None
    info = _object(content, "info")
    size = info.get("size")
    known = min(size, 1 << 53) if isinstance(size, int) and size > 0 else 0
    return RemoteFile(url, _text(content, "filename") or _clean(body) or "file", _text(info, "mimetype"), known)


def _fault(answer: Answer, said: dict[str, Any]) -> ChannelFault:
    """What the server refused."""
    code = _text(said, "errcode")
    text = f"Matrix: {code or f'status {answer.status}'}: {_text(said, 'error')}"[:500].rstrip(": ")
    if answer.status == 429 or code == "M_LIMIT_EXCEEDED":
        wait_ms = said.get("retry_after_ms")
        return ChannelFault(
            text, after_s=wait_ms / 1000 if isinstance(wait_ms, int) and wait_ms > 0 else answer.wait_s(5)
        )
    final, refused = 400 <= answer.status < 500 and bool(code), code in _REFUSALS
    return ChannelFault(text, final=final, refused=refused)
