"""A person's own program as a channel's platform: a real server, which signs by the library of Standard Webhooks.

It verifies what it is sent, checks the shape of each body, and keeps what it took.
"""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.fakes import http

SECRET = "whsec_" + base64.b64encode(b"an invented secret of 32 bytes..").decode()
Json = dict[str, Any]
SHAPES: dict[str, dict[str, type]] = {
    "ping": {},
    "message": {"chat": str, "thread": str, "text": str, "buttons": list, "files": list},
    "edit": {"chat": str, "message": str, "text": str, "buttons": list},
    "file": {"file": str},
}
Answer = tuple[int, Mapping[str, str], bytes]


@dataclass
class Program:
    """What a person's own program is: it verifies, checks each body's shape, and answers what ``answers`` has next."""

    secret: str = SECRET
    url: str = ""
    taken: list[Json] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answers: list[Answer | str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    async def answer(self, request: http.Request, exchange: http.Exchange) -> None:
        self.paths.append(request.path)
        try:
            body = Webhook(self.secret).verify(request.body, dict(request.headers))
        except WebhookVerificationError:
            await exchange.send(401, b"")
            return
        assert request.method == "POST" and request.headers["content-type"] == "application/json"
        kind = body.pop("type")
        assert {name: type(value) for name, value in body.items()} == SHAPES[kind]
        given = self.answers.pop(0) if self.answers and kind != "ping" else (200, {}, b"")
        if given == "garbage":
            exchange.writer.write(b"\x00\xff no HTTP at all\r\n\r\n")
            await exchange.writer.drain()
        elif isinstance(given, str):
            exchange.drop()
        else:
            if given[0] < 300 and kind != "ping":
                self.taken.append({"type": kind, **body})
                self.ids.append(request.headers["webhook-id"])
            held = self.files.get(body.get("file", ""))
            said = json.dumps({"base64": base64.b64encode(held).decode()}).encode() if held is not None else given[2]
            await exchange.send(given[0], said, given[1])


@contextlib.asynccontextmanager
async def program(secret: str = SECRET, tls: ssl.SSLContext | None = None) -> AsyncIterator[Program]:
    there = Program(secret)
    async with http.serve(there.answer, tls=tls) as port:
        there.url = f"http{'s' if tls else ''}://{'localhost' if tls else '127.0.0.1'}:{port}/hook/tok?a=1"
        yield there
