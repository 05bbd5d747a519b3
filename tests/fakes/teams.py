"""A strict double of what a bot on Microsoft Teams speaks with, written from Microsoft's pages alone.

Four services on one port: the login that gives tokens for a client secret, the document and the keys by which the
connector's own tokens are checked, the connector, and where people's files are. ``activity`` and ``signed`` make what
the connector sends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qs, unquote

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.fakes.http import Exchange, Request, serve

APP, TENANT = "9f2b1c3d-1111-4222-8333-444455556666", "0a1b2c3d-aaaa-4bbb-8ccc-ddddeeeeffff"
SECRET = "Xy8Q~example.client.secret.value"
ISSUER = "https://api.botframework.com"
Json = dict[str, Any]
_PATH = re.compile(r"/teams/v3/conversations/([^/]+)/activities(?:/([^/]+))?")
_ALLOWED = {"type", "text", "textFormat", "attachments", "from", "conversation", "id", "channelId", "serviceUrl"}
_ALLOWED |= {"recipient", "replyToId", "entities", "timestamp", "inputHint", "locale"}


@dataclass(frozen=True)
class Failure:
    """How one request to the connector ends; "drop" cuts it."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": {"code": "ServiceError", "message": "It was asked to fail"}}'
    end: str = ""


class FakeTeams:
    """One bot in one tenant."""

    def __init__(self) -> None:
        self.port = 0
        self.revoked = False
        self.tokens: list[str] = []
        self.lives_s = 3600
        self.sent: list[Json] = []
        """What was taken: activities, with their ids."""
        self.edits: list[Json] = []
        self.typing: list[str] = []
        self.files: dict[str, bytes] = {}
        self.drive: dict[str, bytes | None] = {}
        """People's files; None for one that may be put there."""
        self.fails: list[Failure] = []
        self.requests = self.key_requests = 0
        self.keys = {"key-1": new_key()}
        self.odd_keys: list[Any] = []
        """What else stands in the set of keys, before and after those that hold."""
        self.endorsements = ["msteams"]
        self._numbers = count(1)
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Drop every connection."""
        while self._open:
            self._open.pop().transport.abort()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def service(self) -> str:
        """The address of the connector, as activities name it."""
        return f"{self.url}/teams/"

    @property
    def settings(self) -> dict[str, str]:
        """A channel's."""
        openid = f"{self.url}/v1/.well-known/openidconfiguration"
        return {"app_id": APP, "tenant": TENANT, "login": self.url, "openid": openid, "service": self.service}

    async def handle(self, request: Request, exchange: Exchange) -> None:
        self._open.add(exchange.writer)
        path = request.path
        if request.method == "GET" and path == "/v1/.well-known/openidconfiguration":
            keys = f"{self.url}/v1/.well-known/keys"
            await answer(
                exchange, 200, {"issuer": ISSUER, "jwks_uri": keys, "authorization_endpoint": "https://invalid"}
            )
        elif request.method == "GET" and path == "/v1/.well-known/keys":
            self.key_requests += 1
            keys_now = [public(id, key) | {"endorsements": self.endorsements} for id, key in self.keys.items()]
            await answer(exchange, 200, {"keys": [*self.odd_keys, *keys_now, *self.odd_keys]})
        elif request.method == "POST" and path == f"/{TENANT}/oauth2/v2.0/token":
            await self._login(request, exchange)
        elif path.startswith("/drive/"):
            await self._share(request, exchange)
        else:
            await self._connector(request, exchange)

    async def _login(self, request: Request, exchange: Exchange) -> None:
        form = {key: values[0] for key, values in parse_qs(request.body.decode()).items() if len(values) == 1}
        wanted = {
            "grant_type": "client_credentials",
            "client_id": APP,
            "scope": "https://api.botframework.com/.default",
        }
        kind = request.headers.get("content-type", "")
        if kind != "application/x-www-form-urlencoded" or not wanted.items() <= form.items():
            await answer(exchange, 400, {"error": "invalid_request", "error_description": "AADSTS900144"})
        elif self.revoked or form != wanted | {"client_secret": SECRET}:
            await answer(exchange, 401, {"error": "invalid_client", "error_description": "AADSTS7000215"})
        else:
            self.tokens.append(f"eyJexample.token.{len(self.tokens)}")
            told = {"token_type": "Bearer", "expires_in": self.lives_s, "access_token": self.tokens[-1]}
            await answer(exchange, 200, told)

    async def _share(self, request: Request, exchange: Exchange) -> None:
        """Give a person's file, or take one that they agreed to; whose address it has needs no token, and gets none."""
        name, size = request.path[7:], len(request.body)
        known = self.drive.get(name)
        if "authorization" in request.headers or name not in self.drive:
            await answer(exchange, 404, {"error": {"code": "itemNotFound", "message": name}})
        elif request.method == "GET" and known is not None:
            await exchange.send(200, known, {"content-type": "application/octet-stream"})
        elif request.method == "PUT" and known is None and size:
            if request.headers.get("content-range") == f"bytes 0-{size - 1}/{size}":
                self.drive[name] = request.body
                await answer(exchange, 201, {"id": name, "name": name, "size": size})
            else:
                await answer(exchange, 416, {"error": {"code": "invalidRange", "message": "Content-Range"}})
        else:
            await answer(exchange, 405, {"error": {"code": "invalidRequest", "message": request.method}})

    async def _connector(self, request: Request, exchange: Exchange) -> None:
        self.requests += 1
        if self.fails:
            failure = self.fails.pop(0)
            if failure.end == "drop":
                exchange.drop()
            else:
                await exchange.send(failure.status, failure.body, failure.headers)
            return
        known = [f"Bearer {token}" for token in self.tokens[-1:]]
        if request.path.startswith("/files/") and request.method == "GET":
            good = request.headers.get("authorization") in known and request.path[7:] in self.files
            await exchange.send(200 if good else 404, self.files[request.path[7:]] if good else b"", {})
            return
        found = _PATH.fullmatch(request.path)
        if found is None:
            await answer(exchange, 404, {"error": {"code": "NotFound", "message": "no such method"}})
        elif request.headers.get("authorization") not in known or self.revoked:
            await answer(exchange, 401, {"error": {"code": "Unauthorized", "message": "Authorization has been denied"}})
        elif why := self._refusal(request, unquote(found[1]), found[2]):
            await answer(exchange, 400, {"error": {"code": "BadSyntax", "message": why}})
        else:
            await self._take(json.loads(request.body), unquote(found[1]), found[2] or "", exchange)

    def _refusal(self, request: Request, chat: str, id: str | None) -> str:
        """Why an activity is not taken; "" where it is."""
        if request.method not in ("POST", "PUT") or (request.method == "PUT") != bool(id):
            return "method"
        if not request.headers.get("content-type", "").startswith("application/json"):
            return "content type"
        if not re.fullmatch(r"(a:|19:)[\w@.:-]+(;messageid=\d+)?", chat):
            return "conversation"
        try:
            body = json.loads(request.body)
        except ValueError:
            return "JSON"
        if not isinstance(body, dict) or body.keys() - _ALLOWED:
            return f"properties: {sorted(body.keys() - _ALLOWED)}"
        if body.get("type") == "typing":
            return ""
        if body.get("type") != "message" or len(request.body) > 100_000:
            return "type or size"
        if not body.get("text") and not body.get("attachments"):
            return "Activity text is empty"
        if body.get("textFormat", "markdown") not in ("plain", "markdown", "xml"):
            return "textFormat"
        return next((why for one in body.get("attachments", ()) if (why := self._wrong(one, chat))), "")

    def _wrong(self, attachment: Json, chat: str) -> str:
        """What is wrong with an attachment; "" for nothing."""
        content = attachment.get("content", {})
        match attachment.get("contentType"):
            case "application/vnd.microsoft.teams.card.file.consent":
                needed = {"description", "sizeInBytes", "acceptContext", "declineContext"}
                good = chat.startswith("a:") and content.keys() == needed and content["sizeInBytes"] > 0
                return "" if good and attachment.get("name") else "consent"
            case "application/vnd.microsoft.teams.card.file.info":
                good = self.drive.get(content.get("uniqueId")) is not None and attachment.get("name")
                return "" if good and attachment.get("contentUrl") else "file"
            case _:
                return wrong_card(attachment)

    async def _take(self, body: Json, chat: str, id: str, exchange: Exchange) -> None:
        if body["type"] == "typing":
            self.typing.append(chat)
            await answer(exchange, 202, {})
            return
        if id:
            if id not in {one["id"] for one in self.sent}:
                await answer(exchange, 404, {"error": {"code": "ActivityNotFoundInConversation", "message": id}})
                return
            self.edits.append({**body, "chat": chat, "id": id})
        else:
            id = str(1_700_000_000_000 + next(self._numbers))
            self.sent.append({**body, "chat": chat, "id": id})
        await answer(exchange, 201, {"id": id})

    # -- what it sends ---------------------------------------------------------------------------------------------

    def activity(self, text: str = "", *, person: str = "29:ann", chat: str = "a:ann", **more: Any) -> Json:
        """A message in a personal chat, unless ``more`` says otherwise."""
        return {
            "type": "message",
            "id": str(1_690_000_000_000 + next(self._numbers)),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.1234567Z", time.gmtime()),
            "serviceUrl": self.service,
            "channelId": "msteams",
            "from": {"id": person, "name": f"Person {person[3:]}", "aadObjectId": f"aad-{person[3:]}"},
            "conversation": {"conversationType": "personal", "tenantId": TENANT, "id": chat},
            "recipient": {"id": f"28:{APP}", "name": "Helper"},
            "entities": [{"locale": "en-GB", "country": "GB", "platform": "Web", "type": "clientInfo"}],
            "channelData": {"tenant": {"id": TENANT}},
            "locale": "en-GB",
            "textFormat": "plain",
            "text": text,
            **more,
        }

    def quoting(self, quoted: str, text: str = "", *, how: str = "Forward", **more: Any) -> Json:
        """A message that forwards another, or with ``how`` "Reply" quotes it. The plain text has both, unmarked."""
        content = (
            f'<p>{text}</p><blockquote itemscope itemtype="http://schema.skype.com/{how}"><p>{quoted}</p></blockquote>'
        )
        whole = f"{text}\r\n\r\n{quoted}".strip()
        return self.activity(whole, attachments=[{"contentType": "text/html", "content": content}], **more)

    def shares(self, name: str, data: bytes, text: str, **more: Any) -> Json:
        """A message with a file, which is in the person's own drive then."""
        self.drive[id := f"{next(self._numbers)}"] = data
        content = {"downloadUrl": f"{self.url}/drive/{id}", "uniqueId": id, "fileType": name.rpartition(".")[2]}
        file = {"contentType": "application/vnd.microsoft.teams.file.download.info", "name": name, "content": content}
        shown = {"contentType": "text/html", "content": f"<p>{text}</p>"}
        return self.activity(text, attachments=[{**file, "contentUrl": f"{self.url}/drive/{id}"}, shown], **more)

    def consents(self, asked: Json, *, accepts: bool = True, **more: Any) -> Json:
        """What comes when a person was asked to take a file, and does or does not."""
        (card,) = asked["attachments"]
        self.drive[id := f"{next(self._numbers)}"] = None
        to = f"{self.url}/drive/{id}"
        info = {"contentUrl": to, "name": card["name"], "uploadUrl": to, "uniqueId": id, "fileType": "bin"}
        context = card["content"]["acceptContext" if accepts else "declineContext"]
        value: Json = {"type": "fileUpload", "action": "accept" if accepts else "decline", "context": context}
        value |= {"uploadInfo": info} if accepts else {}
        named = {"type": "invoke", "name": "fileConsent/invoke", "replyToId": asked["id"]}
        return self.activity(**named, chat=asked["chat"], value=value, **more)

    def post(self, text: str, thread: str, *, person: str = "29:ann", mentioned: bool = True) -> Json:
        """A message in a channel's thread."""
        tag = {"type": "mention", "text": "<at>Helper</at>", "mentioned": {"id": f"28:{APP}", "name": "Helper"}}
        other = {"type": "mention", "text": "<at>Bob</at>", "mentioned": {"id": "29:bob", "name": "Bob"}}
        where = {"isGroup": True, "conversationType": "channel", "tenantId": TENANT}
        where |= {"id": f"19:general@thread.tacv2;messageid={thread}"}
        return self.activity(text, person=person, conversation=where, entities=[tag, other] if mentioned else [other])

    def signed(self, activity: Json, *, key: str = "key-1", kid: str = "", alg: str = "RS256", **changed: Any) -> str:
        """The header by which the connector vouches for an activity; a claim that is changed to None is left out."""
        now = int(time.time())
        claims: Json = {"iss": ISSUER, "aud": APP, "nbf": now - 10, "exp": now + 3600}
        claims |= {"serviceurl": activity.get("serviceUrl"), **changed}
        claims = {name: value for name, value in claims.items() if value is not None}
        return f"Bearer {token(self.keys[key], kid or key, claims, alg)}"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(key: rsa.RSAPrivateKey, kid: str, claims: Json, alg: str = "RS256") -> str:
    head = encoded(json.dumps({"alg": alg, "typ": "JWT", "kid": kid}).encode())
    text = f"{head}.{encoded(json.dumps(claims).encode())}"
    signature = b"" if alg == "none" else key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{text}.{encoded(signature)}"


def public(id: str, key: rsa.RSAPrivateKey) -> Json:
    numbers = key.public_key().public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "kid": id,
        "n": encoded(numbers.n.to_bytes(256, "big")),
        "e": encoded(numbers.e.to_bytes(3, "big")),
    }


def wrong_card(attachment: Json) -> str:
    """What is wrong with an attachment; "" for nothing."""
    if attachment.get("contentType") != "application/vnd.microsoft.card.adaptive":
        return "contentType"
    card = attachment.get("content", {})
    if card.get("type") != "AdaptiveCard" or not re.fullmatch(r"1\.[0-6]", str(card.get("version"))):
        return "card"
    for row in card.get("body", ()):
        if row.get("type") == "TextBlock":
            continue
        if row.get("type") != "ActionSet" or not 1 <= len(row.get("actions", ())) <= 6:
            return "row"
        for action in row["actions"]:
            good = (
                action.get("type") == "Action.Submit" and isinstance(action.get("data"), dict) and action.get("title")
            )
            if not good:
                return "action"
    return ""


async def answer(exchange: Exchange, status: int, body: Json) -> None:
    await exchange.send(status, json.dumps(body).encode())


@asynccontextmanager
async def teams() -> AsyncIterator[FakeTeams]:
    """The services, on loopback, until the block ends."""
    fake = FakeTeams()
    async with serve(fake.handle) as port:
        fake.port = port
        yield fake
