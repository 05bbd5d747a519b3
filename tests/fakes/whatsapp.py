"""A strict double of WhatsApp's Cloud API, written from Meta's pages alone: a real server, and a sender of webhooks.

It refuses what Meta refuses, by Meta's codes: a wrong token, unknown fields, texts and buttons beyond their limits, and
whoever has not written within a day. What it took is in ``sent``; ``fails`` says how the next requests end instead.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from itertools import count
from typing import Any

from tests.fakes.http import Exchange, Request, serve

TOKEN, APP_SECRET, VERIFY_TOKEN = "EAAexampletoken0123456789", "0123456789abcdef0123456789abcdef", "a word for Meta"
PHONE, ACCOUNT, BSUID = "106540352242922", "102290129340398", "US.13491208655302741918"
Json = dict[str, Any]
_PATH = re.compile(r"/v\d\d\.\d/([^/?]+)(?:/(messages|media))?(?:\?(.*))?")


@dataclass(frozen=True)
class Failure:
    """How one request ends: with a status, a code of Meta's, headers and a body; "drop" cuts, "silent" says nothing."""

    status: int = 500
    code: int = 131000
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    end: str = ""


class Refusal(Exception):
    """By Meta's code."""

    def __init__(self, status: int, code: int, text: str) -> None:
        super().__init__(text)
        self.status, self.code = status, code


class FakeWhatsApp:
    """One phone number of one account."""

    def __init__(self) -> None:
        self.port = 0
        self.revoked = False
        self.sent: list[Json] = []
        """What was taken, in order."""
        self.marked: list[Json] = []
        self.media: dict[str, tuple[str, bytes, str]] = {}
        """Type, bytes, and where it is said to be; "" for here."""
        self.fails: list[Failure] = []
        self.requests = 0
        self.received: set[str] = set()
        self.written: dict[str, float] = {}
        """When somebody wrote last."""
        self._numbers = count(1)
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Drop every connection."""
        while self._open:
            self._open.pop().transport.abort()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # -- what is asked of it ---------------------------------------------------------------------------------------

    async def handle(self, request: Request, exchange: Exchange) -> None:
        self._open.add(exchange.writer)
        self.requests += 1
        if self.fails:
            failure = self.fails.pop(0)
            if failure.end == "drop":
                exchange.drop()
            elif failure.end == "silent":
                await exchange.reader.read(1)
            else:
                body = failure.body if failure.body is not None else error(failure.code, "It was asked to fail")
                await exchange.send(failure.status, body, failure.headers)
            return
        try:
            if self.revoked or request.headers.get("authorization") != f"Bearer {TOKEN}":
                raise Refusal(401, 190, "Error validating access token")
            if request.method == "GET" and (found := re.fullmatch(r"/files/(\d+)", request.path)):
                kind, data, _ = self.media[found[1]]
                await exchange.send(200, data, {"content-type": kind})
                return
            await exchange.send(200, json.dumps(self._answer(request)).encode())
        except Refusal as refusal:
            await exchange.send(refusal.status, error(refusal.code, str(refusal)))

    def _answer(self, request: Request) -> Json:
        found = _PATH.fullmatch(request.path)
        if found is None:
            raise Refusal(404, 2500, "Unknown path components")
        match request.method, found[1], found[2]:
            case "POST", phone, "messages" if phone == PHONE:
                return self._message(decoded(request))
            case "POST", phone, "media" if phone == PHONE:
                return self._upload(request)
            case "GET", phone, None if phone == PHONE:
                if not re.fullmatch(r"fields=[a-z_]+(?:(?:,|%2C)[a-z_]+)*", found[3] or ""):
                    raise Refusal(400, 100, "fields is missing")
                return {"verified_name": "Example Ltd", "display_phone_number": "+1 555-012-3456", "id": PHONE}
            case "GET", media, None if media in self.media:
                kind, data, url = self.media[media]
                return {
                    "messaging_product": "whatsapp",
                    "url": url or f"{self.url}/files/{media}",
                    "mime_type": kind,
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "file_size": len(data),
                    "id": media,
                }
        raise Refusal(404, 100, "Unsupported request: the object does not exist or permissions are missing")

    def _message(self, body: Json) -> Json:
        need(body.get("messaging_product") == "whatsapp", 100, "messaging_product must be whatsapp")
        if body.get("status") == "read":
            only(body, {"messaging_product", "status", "message_id", "typing_indicator"})
            need(body["message_id"] in self.received, 131009, "no such message")
            need(body.get("typing_indicator") in (None, {"type": "text"}), 100, "typing_indicator")
            self.marked.append(body)
            return {"success": True}
        kind = body.get("type")
        only(body, {"messaging_product", "recipient_type", "to", "recipient", "type", "context", str(kind)})
        to = body.get("to") or body.get("recipient")
        need(isinstance(to, str) and bool(re.fullmatch(r"\d{5,20}|[A-Z]{2}\.\d+", str(to))), 131009, "to")
        need(body.get("recipient_type", "individual") == "individual", 100, "recipient_type")
        checks: dict[str, Callable[[Json], None]] = {
            "text": check_text,
            "interactive": check_interactive,
            "document": self._check_document,
        }
        need(kind in checks, 131051, "Unsupported message type")
        checks[str(kind)](body[str(kind)])
        if time.time() - self.written.get(str(to), 0) > 86_400:
            raise Refusal(400, 131047, "Re-engagement message")
        id = f"wamid.OUT{next(self._numbers)}"
        self.sent.append({**body, "id": id})
        contact = {"input": to, "wa_id": to} if body.get("to") else {"input": to, "user_id": to}
        return {"messaging_product": "whatsapp", "contacts": [contact], "messages": [{"id": id}]}

    def _check_document(self, document: Json) -> None:
        only(document, {"id", "caption", "filename"})
        need(document.get("id") in self.media, 131053, "the media was not uploaded")
        text(document.get("filename", "x"), 1, 240)
        text(document.get("caption", "x"), 1, 1024)

    def _upload(self, request: Request) -> Json:
        kind = request.headers.get("content-type", "")
        need(kind.startswith("multipart/form-data"), 100, "multipart/form-data is needed")
        whole = message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + request.body, policy=HTTP)
        parts = {str(part.get_param("name", header="content-disposition")): part for part in whole.iter_parts()}
        need({"file", "messaging_product"} <= parts.keys() <= {"file", "messaging_product", "type"}, 100, "fields")
        need(parts["messaging_product"].get_payload(decode=True) == b"whatsapp", 100, "messaging_product")
        file = parts["file"]
        data = file.get_payload(decode=True)
        need(bool(file.get_filename()), 100, "file has no name")
        return {"id": self.uploaded(file.get_content_type(), data if isinstance(data, bytes) else b"")}

    def uploaded(self, kind: str, data: bytes, url: str = "") -> str:
        """Keep a file, as of somebody who sends it; gives its id."""
        id = str(1_000_000 + next(self._numbers))
        self.media[id] = (kind, data, url)
        return id

    # -- what it sends ---------------------------------------------------------------------------------------------

    def message(self, person: str, kind: str, content: Json, *, at: float | None = None, **more: Any) -> Json:
        """A message as somebody writes it."""
        id = f"wamid.IN{next(self._numbers)}"
        now = time.time() if at is None else at
        self.received.add(id)
        self.written[person] = now
        who: Json = {"from": person, "from_user_id": f"US.{person}"}
        if not person.isdigit():
            who = {"from_user_id": person}
        return {**who, "id": id, "timestamp": str(int(now)), "type": kind, kind: content, **more}

    def text(self, person: str, body: str, **more: Any) -> Json:
        return self.message(person, "text", {"body": body}, **more)

    def pressed(self, person: str, about: str, data: str, *, row: bool = False) -> Json:
        """A press of a reply button, or of a row of a list."""
        key = "list_reply" if row else "button_reply"
        content = {"type": key, key: {"id": data, "title": "Yes"}}
        return self.message(person, "interactive", content, context={"from": "15550123456", "id": about})

    def webhook(self, *messages: Json, phone: str = PHONE, value: Json | None = None) -> bytes:
        """The body of a request with messages, or with another value."""
        people = {message.get("from") or message["from_user_id"]: message for message in messages}
        contacts = []
        for id, message in people.items():
            contact = {"profile": {"name": f"Person {id[-3:]}"}, "user_id": message["from_user_id"]}
            contacts.append(contact | ({"wa_id": id} if "from" in message else {}))
        whole = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "15550123456", "phone_number_id": phone},
            **({"contacts": contacts, "messages": list(messages)} if value is None else value),
        }
        entry = {"id": ACCOUNT, "changes": [{"value": whole, "field": "messages"}]}
        return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def signed(body: bytes, key: str = APP_SECRET) -> dict[str, str]:
    """The headers of a request that Meta signs."""
    made = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    return {"content-type": "application/json", "x-hub-signature-256": f"sha256={made}"}


def check_text(content: Json) -> None:
    only(content, {"body", "preview_url"})
    text(content.get("body"), 1, 4096)
    need(content.get("preview_url", False) is False, 100, "no preview was to be made")


def check_interactive(content: Json) -> None:
    only(content, {"type", "body", "action", "header", "footer"})
    only(content["body"], {"text"})
    text(content["body"].get("text"), 1, 1024)
    action = content["action"]
    if content["type"] == "button":
        only(action, {"buttons"})
        need(1 <= len(action["buttons"]) <= 3, 131009, "Invalid buttons count. Min allowed buttons: 1, Max: 3")
        for button in action["buttons"]:
            only(button, {"type", "reply"})
            need(button["type"] == "reply", 131009, "type")
            check_row(button["reply"], 20, 256)
        titles = [button["reply"]["title"] for button in action["buttons"]]
        need(len(set(titles)) == len(titles), 131009, "Duplicated title for a button")
        ids = [button["reply"]["id"] for button in action["buttons"]]
    elif content["type"] == "list":
        only(action, {"button", "sections"})
        text(action["button"], 1, 20)
        need(1 <= len(action["sections"]) <= 10, 131009, "sections")
        rows = [row for section in action["sections"] for row in section["rows"]]
        for section in action["sections"]:
            only(section, {"title", "rows"})
            text(section.get("title", "x"), 1, 24)
        need(1 <= len(rows) <= 10, 131009, "Total row count exceeds max allowed count: 10")
        for row in rows:
            check_row(row, 24, 200)
        ids = [row["id"] for row in rows]
    else:
        raise Refusal(400, 131009, "interactive.type")
    need(len(set(ids)) == len(ids), 131009, "Duplicated id")


def check_row(row: Json, title: int, id: int) -> None:
    only(row, {"id", "title", "description"})
    text(row.get("title"), 1, title)
    text(row.get("id"), 1, id)
    text(row.get("description", "x"), 1, 72)


def need(holds: bool, code: int, said: str) -> None:
    if not holds:
        raise Refusal(400, code, said)


def only(content: Json, keys: set[str]) -> None:
    need(isinstance(content, dict) and content.keys() <= keys, 100, f"Unexpected key in {sorted(content)}")


def text(value: object, least: int, most: int) -> None:
    need(isinstance(value, str) and least <= len(value) <= most, 131009, f"Length must be {least} to {most}")


def decoded(request: Request) -> Json:
    need(request.headers.get("content-type", "").startswith("application/json"), 100, "JSON is needed")
    try:
        body = json.loads(request.body)
    except ValueError:
        raise Refusal(400, 100, "Invalid JSON") from None
    need(isinstance(body, dict), 100, "an object is needed")
    return dict(body)


def error(code: int, said: str) -> bytes:
    body = {"message": f"(#{code}) {said}", "type": "OAuthException", "code": code, "fbtrace_id": "Az8or2yhqkZfEZ"}
    return json.dumps({"error": body | {"error_data": {"messaging_product": "whatsapp", "details": said}}}).encode()


@asynccontextmanager
async def whatsapp() -> AsyncIterator[FakeWhatsApp]:
    """The server, on loopback, until the block ends."""
    fake = FakeWhatsApp()
    async with serve(fake.handle) as port:
        fake.port = port
        yield fake
