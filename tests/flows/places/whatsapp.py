"""Ada's chat on WhatsApp."""

from __future__ import annotations

import hashlib
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.fakes.gate import Gate
from tests.fakes.whatsapp import APP_SECRET, PHONE, TOKEN, VERIFY_TOKEN, FakeWhatsApp, Json, signed, whatsapp
from tests.flows.places import Aside, Place, aside, gated
from tests.flows.places.posting import Posting, posting

ADA = "4915550001"


class WhatsAppPlace(Place):
    """See ``Place``."""

    def __init__(self, served: Aside[FakeWhatsApp], sender: Posting, gates: list[Gate]) -> None:
        tokens = {"token": TOKEN, "app_secret": APP_SECRET, "verify_token": VERIFY_TOKEN}
        super().__init__("whatsapp", tokens, {"phone_id": PHONE, "api": served.server.url}, posts=True, gates=gates)
        self._meta, self._run, self._sender = served.server, served.run, sender

    def _posts(self, message: Json) -> None:
        body = self._meta.webhook(message)
        self._sender.post(lambda: self.url, body, lambda: signed(body))

    def writes(self, text: str) -> None:
        self._posts(self._run(self._meta.text, ADA, text))

    def request(self, text: str, *, age_s: int = 0) -> tuple[bytes, Mapping[str, str]]:
        body = self._meta.webhook(self._run(self._meta.text, ADA, text, at=time.time() - age_s))
        return body, signed(body)

    def sends(self, name: str, data: bytes, words: str) -> None:
        id = self._run(self._meta.uploaded, "text/plain", data)
        content = {"id": id, "mime_type": "text/plain", "filename": name, "caption": words}
        content["sha256"] = b64encode(hashlib.sha256(data).digest()).decode()
        self._posts(self._run(self._meta.message, ADA, "document", content))

    def sent(self) -> list[str]:
        return [text for one in self._taken() if (text := _text(one))]

    def files(self) -> list[bytes]:
        return [self._meta.media[one["document"]["id"]][1] for one in self._taken() if one["type"] == "document"]

    def presses(self, part: str, button: str) -> None:
        asked = next(one for one in reversed(self._taken()) if part in _text(one) and one["type"] == "interactive")
        action: dict[str, Any] = asked["interactive"]["action"]
        rows = [row for section in action.get("sections", ()) for row in section["rows"]]
        keys = rows or [one["reply"] for one in action["buttons"]]
        data = next(one["id"] for one in keys if one["title"] == button)
        self._posts(self._run(self._meta.pressed, ADA, asked["id"], data, row=bool(rows)))

    def cut(self) -> None:
        self._sender.cut()
        self._run(self._meta.cut)

    def revokes(self) -> None:
        self._meta.revoked = True

    def renews(self) -> Mapping[str, str]:
        self._meta.revoked = False
        return {"token": TOKEN}

    def _taken(self) -> list[Json]:
        return self._run(lambda: list(self._meta.sent))


def _text(message: Json) -> str:
    interactive: Json = message.get("interactive") or {"body": {"text": ""}}
    return str(message["text"]["body"] if message["type"] == "text" else interactive["body"]["text"])


@contextmanager
def place() -> Iterator[Place]:
    """The double, served."""
    gates: list[Gate] = []
    with aside(lambda: gated(whatsapp(), "port", gates)) as served, posting() as sender:
        yield WhatsAppPlace(served, sender, gates)
