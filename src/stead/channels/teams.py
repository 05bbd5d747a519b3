"""Microsoft Teams, by the Bot Framework's connector: activities come as requests at the listener for webhooks.

Layer: channels. A request bears a token of the connector, which vouches for the sender and for the address that is
answered at (``serviceUrl``); nothing of an activity is used before. docs/adr/0078 says why the calls are made here.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec.structs import replace

from stead.channels.base import ChannelFault, parts, remember, value_at
from stead.channels.http import Answer, HttpPlatform, is_of, read
from stead.channels.teams_tokens import Claims, Keys, bearer
from stead.domain.channel_wire import Button, Edit, FileOut, RemoteFile, Request, Send, Update

LEFT_ALONE_S = 30.0
EARLY_S = 300
"""A token is asked for again so long before it ends."""
_SCOPE = "https://api.botframework.com/.default"
_REFUSALS = ("invalid_client", "invalid_request", "unauthorized_client")
"""A secret that does not hold; a tenant, an application that there is not."""
_CARD = "application/vnd.microsoft.card.adaptive"
_FILE = "application/vnd.microsoft.teams.file.download.info"
_OTHERS = re.compile(r"schema\.skype\.com/(Forward|Reply)", re.IGNORECASE)
"""What marks, in a message's HTML, words that were forwarded or quoted; its plain text has them unmarked."""
_CONSENT, _GIVEN = "application/vnd.microsoft.teams.card.file.consent", "application/vnd.microsoft.teams.card.file.info"
_CONNECTOR, _SHARED = ("*.botframework.com", "smba.trafficmanager.net"), "*.sharepoint.com"
"""Where the bot answers; and where people's files are, which are brought and put there without the token."""
_MOST_OFFERS, _INLINE_BYTES = 5, 60_000


class _Account(msgspec.Struct, rename="camel"):
    id: str = ""
    name: str | None = None
    aad_object_id: str | None = None


class _Conversation(msgspec.Struct, rename="camel"):
    id: str
    conversation_type: str | None = None
    tenant_id: str | None = None
    name: str | None = None


class _Activity(msgspec.Struct, rename="camel"):
    """What is used of an activity."""

    type: str
    service_url: str
    channel_id: str
    conversation: _Conversation
    sender: _Account = msgspec.field(name="from", default_factory=_Account)
    recipient: _Account = msgspec.field(default_factory=_Account)
    id: str = ""
    name: str | None = None
    text: str | None = None
    value: Any = None
    entities: list[Any] | None = None
    attachments: list[Any] | None = None
    channel_data: Any = None


class _Token(msgspec.Struct):
    error: str = ""
    access_token: str = ""
    expires_in: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Teams(HttpPlatform):
    """One bot in one tenant."""

    _token, _token_ends = "", 0.0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._app, self._tenant = self.settings["app_id"].lower(), self.settings["tenant"].lower()
        self._keys = Keys(self.http, self.settings["openid"], self._app)
        self._service = self.cursor if self._answers(self.cursor) else ""
        self._files: dict[str, tuple[str, bool]] = {}
        """By id: where a file is, and whether the token goes along."""
        self._offers: dict[str, tuple[str, FileOut]] = {}
        """By key: files that people were asked to take, with their chats. Each is 5 MB at most, so few are kept."""

    async def run(self) -> None:
        """See ``Platform``."""
        await self._bearer()
        await self._keys.load()
        self.up(self._app, self._app, f"https://teams.microsoft.com/l/chat/0/0?users=28:{self._app}&message={{}}")
        await asyncio.Event().wait()  # what comes in comes as requests

    # -- what comes in ---------------------------------------------------------------------------------------------

    async def request(self, request: Request) -> tuple[int, str]:
        """See ``Platform``."""
        claims = await self._keys.claims(bearer(request.headers)) if request.method == "POST" else None
        if claims is None:
            return 401, ""
        if (activity := read(request.body, _Activity)) is None:
            return 400, ""
        if not self._vouched(activity, claims):
            return 403, ""
        self._service = activity.service_url
        if activity.type == "invoke" and activity.name == "fileConsent/invoke":
            return await self._consented(activity), ""
        if activity.type == "invoke" and activity.name != "adaptiveCard/action":
            return 501, ""
        if taken := self._taken(activity):
            await self.take(taken)
        done = '{"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": "…"}'
        return 200, done if activity.type == "invoke" else ""

    def _vouched(self, activity: _Activity, claims: Claims) -> bool:
        """Whether the token is for this address and channel, the address is one to answer at, the tenant ours."""
        return (
            claims.serviceurl == activity.service_url
            and self._answers(activity.service_url)
            and activity.channel_id == "msteams"
            and activity.channel_id in claims.endorsements
            and (activity.conversation.tenant_id or "").lower() == self._tenant
            and activity.recipient.id == f"28:{self._app}"
        )

    def _answers(self, url: str, hosts: tuple[str, ...] = _CONNECTOR) -> bool:
        """Whether the token, or a file, may go to an address: one of Microsoft's, or the one that the settings name."""
        return is_of(url, hosts, self.settings["service"])

    def _taken(self, activity: _Activity) -> Update | None:
        """What is taken in: messages of people, and presses; edits, reactions and members are none."""
        who, where = activity.sender, activity.conversation
        person = who.aad_object_id or who.id
        if activity.type not in ("message", "invoke") or not activity.id or not person or who.id.startswith("28:"):
            return None
        chat, _, thread = where.id.partition(";messageid=")
        private = where.conversation_type == "personal"
        update = Update(
            id=f"{hashlib.sha256(where.id.encode()).hexdigest()[:24]}/{activity.id}"[:500],
            cursor=activity.service_url,
            chat=chat,
            thread=thread,
            person=person,
            name=(who.name or "")[:200],
            title=str(where.name or value_at(activity.channel_data, "team", "name") or "")[:200],
            private=private,
        )
        pressed = activity.value if activity.type == "message" else value_at(activity.value, "action", "data")
        if data := value_at(pressed, "press"):
            return replace(update, press=update.id, data=str(data)[:500])
        if activity.type == "invoke":
            return None
        text, called = _without_mentions(activity.text or "", activity.entities or [], f"28:{self._app}")
        given = activity.attachments or []
        update = replace(update, text=text, addressed=private or called, files=self._offered(update.id, given))
        others = any(
            _OTHERS.search(str(value_at(one, "content")))
            for one in given
            if value_at(one, "contentType") == "text/html"
        )
        return replace(update, forwarded=others) if text or update.files else None

    def _offered(self, id: str, attachments: list[Any]) -> tuple[RemoteFile, ...]:
        """Files that came along. Their addresses are longer than an id may be, and are kept here for a while."""
        found: list[RemoteFile] = []
        for attachment in attachments[:20]:
            kind, name = str(value_at(attachment, "contentType") or ""), str(value_at(attachment, "name") or "")
            shared = kind == _FILE
            url = str(
                (value_at(attachment, "content", "downloadUrl") if shared else value_at(attachment, "contentUrl")) or ""
            )
            if not self._answers(url, (_SHARED,)) if shared else not (kind.startswith("image/") and self._answers(url)):
                continue
            remember(self._files, key := f"{id}/{len(found)}", (url, not shared))
            found.append(RemoteFile(key, (name or kind.replace("/", "."))[:200], "" if shared else kind[:100]))
        return tuple(found)

    async def fetch(self, file: str) -> bytes:
        """See ``Platform``."""
        if file not in self._files:
            raise ChannelFault("where the file is was forgotten; it has to be sent again", final=True)
        url, ours = self._files[file]
        headers = {"Authorization": f"Bearer {await self._bearer()}"} if ours else {}
        return await self.http.file(url, headers)

    # -- what goes out ---------------------------------------------------------------------------------------------

    async def send(self, message: Send) -> str:
        """See ``Platform``. A text file goes as text; a person is asked to take another, as Teams wants it."""
        bodies = [_message(message.text, message.buttons)] if message.text or not message.files else []
        for at, file in enumerate(message.files):
            if text := _inlined(file, personal=not message.chat.startswith("19:")):
                bodies += [_message(piece, ()) for piece in parts(text, self.manifest.text_chars)]
            else:
                bodies.append(self._offer(f"{message.key}/{at}", message.chat, file))
        sent = ""
        for body in bodies:
            reply = await self._call("POST", _named_chat(message.chat, message.thread), "", body)
            sent = sent or _named(message.thread, str(reply.get("id", "")))
        return sent

    def _offer(self, key: str, chat: str, file: FileOut) -> dict[str, Any]:
        """Ask a person to take a file, and keep it until they did."""
        remember(self._offers, key, (chat, file), _MOST_OFFERS)
        contexts = {"acceptContext": {"file": key}, "declineContext": {"file": key}}
        content = {"description": "", "sizeInBytes": len(file.data), **contexts}
        return _attached({"contentType": _CONSENT, "name": file.name[:200], "content": content})

    async def _consented(self, activity: _Activity) -> int:
        """Put a file that a person takes where they say, and show it to them; gives the status of the answer."""
        key, info = str(value_at(activity.value, "context", "file")), value_at(activity.value, "uploadInfo")
        chat, file = self._offers.get(key, ("", None))
        if file is None or chat != activity.conversation.id:
            return 404  # Teams then says that it did not work
        if value_at(activity.value, "action") != "accept":
            self._offers.pop(key, None)
            return 200
        url, size = str(value_at(info, "uploadUrl") or ""), len(file.data)
        if not self._answers(url, (_SHARED,)):
            return 403
        span = {"Content-Range": f"bytes 0-{size - 1}/{size}", "Content-Type": "application/octet-stream"}
        answer = await self.http.ask("PUT", url, span, file.data)
        if answer.status not in (200, 201):
            raise _fault(answer)
        self._offers.pop(key, None)  # it is there now; the address takes it no second time
        about = {name: str(value_at(info, name) or "")[:200] for name in ("uniqueId", "fileType")}
        card = {"contentType": _GIVEN, "contentUrl": str(value_at(info, "contentUrl") or "")[:4000]}
        await self._call("POST", chat, "", _attached({**card, "name": file.name[:200], "content": about}))
        return 200

    async def edit(self, edit: Edit) -> None:
        """See ``Platform``."""
        thread, _, id = edit.message.rpartition("/")
        await self._call("PUT", _named_chat(edit.chat, thread), id, _message(edit.text, edit.buttons))

    async def typing(self, chat: str, thread: str) -> None:
        """See ``Platform``."""
        await self._call("POST", _named_chat(chat, thread), "", {"type": "typing"})

    async def probe(self) -> str:
        """See ``Platform``."""
        self._token = ""
        await self._bearer()
        return self._app

    async def _call(self, method: str, chat: str, activity: str, body: dict[str, Any]) -> dict[str, Any]:
        if not self._service:
            raise ChannelFault("no one has written to the bot yet, so where to answer is not known")
        at = f"/{quote(activity, safe='')}" if activity else ""
        url = f"{self._service.rstrip('/')}/v3/conversations/{quote(chat, safe='')}/activities{at}"
        headers = {"Authorization": f"Bearer {await self._bearer()}", "Content-Type": "application/json"}
        body = {**body, "from": {"id": f"28:{self._app}"}, "conversation": {"id": chat}}
        answer = await self.http.ask(method, url, headers, msgspec.json.encode(body))
        if answer.status == 401:
            self._token = ""  # it was taken back before its time; the next one is new
        if answer.status not in (200, 201, 202):
            raise _fault(answer)
        reply = answer.read(dict[str, Any]) if answer.body else {}
        if reply is None:
            raise ChannelFault("Teams gave an answer that cannot be read")
        return reply

    async def _bearer(self) -> str:
        """The token by which the bot is known; asked for again when it ends."""
        if self._token and time.monotonic() < self._token_ends:
            return self._token
        given = {"grant_type": "client_credentials", "client_id": self._app, "scope": _SCOPE}
        url = f"{self.settings['login'].rstrip('/')}/{self._tenant}/oauth2/v2.0/token"
        form = urlencode({**given, "client_secret": self.tokens["secret"]}).encode()
        answer = await self.http.ask("POST", url, {"Content-Type": "application/x-www-form-urlencoded"}, form)
        reply = answer.read(_Token) or _Token()
        if reply.error in _REFUSALS:
            raise ChannelFault(f"Microsoft refused the client secret: {reply.error}", refused=True)
        if answer.status != 200 or not reply.access_token:
            raise _fault(answer)
        self._token, self._token_ends = reply.access_token, time.monotonic() + max(60.0, reply.expires_in - EARLY_S)
        return self._token


def _fault(answer: Answer) -> ChannelFault:
    status = answer.status
    if status in (412, 429):
        return ChannelFault("Teams asks to wait", after_s=answer.wait_s(LEFT_ALONE_S))
    said = " ".join(answer.body.decode("utf-8", "replace").split())[:300]
    return ChannelFault(f"Teams answered with {status}: {said}", final=400 <= status < 500 and status not in (401, 408))


def _named(thread: str, id: str) -> str:
    return f"{thread}/{id}" if thread else id


def _named_chat(chat: str, thread: str) -> str:
    return f"{chat};messageid={thread}" if thread else chat


def _without_mentions(text: str, entities: list[Any], bot: str) -> tuple[str, bool]:
    """The text without the bot's name, others' names without their tags; and whether the bot was mentioned."""
    called = False
    for entity in entities[:100]:
        tag, id = value_at(entity, "text"), value_at(entity, "mentioned", "id")
        if value_at(entity, "type") != "mention" or not isinstance(tag, str) or not tag:
            continue
        called = called or id == bot
        text = text.replace(tag, "" if id == bot else str(value_at(entity, "mentioned", "name") or ""))
    return text.replace("&nbsp;", " ").replace("\xa0", " ").strip(), called


def _message(text: str, buttons: tuple[tuple[Button, ...], ...]) -> dict[str, Any]:
    """An activity whose text is plain; buttons are a card below it, which has no text, since a card's is markup."""
    activity: dict[str, Any] = {"type": "message", "text": text, "textFormat": "plain"}
    if buttons:
        rows = [
            {"type": "ActionSet", "actions": [_action(one) for one in row[at : at + 6]]}
            for row in buttons
            for at in range(0, len(row), 6)
        ]
        card = {"type": "AdaptiveCard", "version": "1.4", "body": rows}
        activity["attachments"] = [{"contentType": _CARD, "content": card}]
    return activity


def _action(button: Button) -> dict[str, Any]:
    return {"type": "Action.Submit", "title": button.text, "data": {"press": button.data}}


def _attached(card: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "attachments": [card]}


def _inlined(file: FileOut, *, personal: bool) -> str:
    """A file as a text, or why it cannot be sent; "" where a person can be asked to take it."""
    kind = file.media_type.partition(";")[0]
    if (kind.startswith("text/") or kind == "application/json") and len(file.data) <= _INLINE_BYTES:
        with suppress(UnicodeDecodeError):
            return f"{file.name[:200]}:\n{file.data.decode()}"
    if personal and file.data:
        return ""
    return (
        f"{file.name[:200]} could not be attached: Teams takes files of bots only in personal chats, and no empty ones"
    )
