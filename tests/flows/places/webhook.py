"""Ada's chat in a program of her own, which talks to the bot by signed webhooks.

The program sends again what was not taken, under the same id, and knows by its id what it was sent twice.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from urllib.parse import urlsplit

from standardwebhooks.webhooks import Webhook

from tests.fakes.gate import Gate, gate
from tests.fakes.program import SECRET, Json, Program, program
from tests.flows.places import Aside, Place, aside
from tests.flows.places.posting import Posting, posting

ADA: Json = {"chat": "ada", "person": "ada", "name": "Ada", "private": True}


class WebhookPlace(Place):
    """See ``Place``."""

    def __init__(self, served: Aside[tuple[Program, Gate]], posts: Posting) -> None:
        self._program, self._gate = served.server
        url = f"http://127.0.0.1:{self._gate.port}/hook"
        super().__init__("webhook", {"secret": SECRET}, {"url": url}, posts=True, gates=[self._gate])
        self._run, self._posting, self._ids = served.run, posts, count(1)

    def writes(self, text: str) -> None:
        self._write({"text": text})

    def sends(self, name: str, data: bytes, words: str) -> None:
        self._program.files[name] = data
        self._write({"text": words, "files": [{"id": name, "name": name, "size_bytes": len(data)}]})

    def request(self, text: str, *, age_s: int = 0) -> tuple[bytes, Mapping[str, str]]:
        body, id = json.dumps(ADA | {"text": text}), f"msg_{next(self._ids)}"
        return body.encode(), self._signed(body, id, age_s)

    def _write(self, body: Json) -> None:
        said, id = json.dumps(ADA | body), f"msg_{next(self._ids)}"
        self._posting.post(lambda: self.url, said.encode(), lambda: self._signed(said, id))

    def _signed(self, body: str, id: str, age_s: int = 0) -> dict[str, str]:
        at = datetime.now(UTC) - timedelta(seconds=age_s)
        signature = Webhook(self._program.secret).sign(id, at, body)
        return {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}

    def _messages(self) -> dict[str, Json]:
        """What was sent to her by its id, as it stands."""

        def taken() -> dict[str, Json]:
            messages = dict[str, Json]()
            for id, body in zip(self._program.ids, self._program.taken, strict=True):
                if body["type"] == "message":
                    messages.setdefault(id, dict(body))
                elif body["type"] == "edit":
                    messages[body["message"]] |= {"text": body["text"], "buttons": body["buttons"]}
            return messages

        return self._run(taken)

    def sent(self) -> list[str]:
        return [body["text"] for body in self._messages().values()]

    def files(self) -> list[bytes]:
        return [base64.b64decode(file["base64"]) for body in self._messages().values() for file in body["files"]]

    def presses(self, part: str, button: str) -> None:
        id, body = [(id, body) for id, body in self._messages().items() if part in body["text"] and body["buttons"]][-1]
        data = next(one["data"] for row in body["buttons"] for one in row if one["text"] == button)
        self._write({"press": f"press-{id}", "data": data, "message": id})

    def cut(self) -> None:
        self._posting.cut()
        self._run(self._gate.cut)

    def revokes(self) -> None:
        self._program.secret = f"whsec_{base64.b64encode(b'another secret, invented as well').decode()}"

    def renews(self) -> Mapping[str, str]:
        return {"secret": self._program.secret}


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[Program, Gate]]:
    async with program() as there, gate(urlsplit(there.url).port or 0) as port:
        yield there, port


@contextmanager
def place() -> Iterator[Place]:
    """The program, served."""
    with aside(_served) as served, posting() as posts:
        yield WebhookPlace(served, posts)
