"""Ada's chat on Slack, by Socket Mode, and by requests that Slack sends."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.gate import Gate
from tests.fakes.slack import APP_TOKEN, SECRET, TOKEN, FakeSlack, slack
from tests.fakes.slack_requests import slack_requests
from tests.flows.places import HOST, Aside, Place, aside, certificate, gated

CHAT = "D0ANN"


class SlackPlace(Place):
    """See ``Place``."""

    def __init__(self, double: Aside[FakeSlack], secrets: Mapping[str, str], ca_file: str, gates: list[Gate]) -> None:
        settings = {"api": f"{double.server.base}/api/"}
        super().__init__("slack", {"token": TOKEN, **secrets}, settings, ca_file, posts=not ca_file, gates=gates)
        self._double = double

    def writes(self, text: str) -> None:
        self._double.wait(self._double.server.says(text, channel=CHAT))

    def request(self, text: str, *, age_s: int = 0) -> tuple[bytes, Mapping[str, str]]:
        server, run = self._double.server, self._double.run
        said = {"type": "message", "channel_type": "im", "channel": CHAT, "user": "U0ANN", "ts": run(server.ts)}
        body = json.dumps(run(server.called, said | {"text": text})).encode()
        return body, server.signed(body, at=int(time.time()) - age_s)

    def sends(self, name: str, data: bytes, words: str) -> None:
        server = self._double.server
        about = self._double.run(server.keep, name, data)
        self._double.wait(server.says(words, channel=CHAT, subtype="file_share", files=[about]))

    def sent(self) -> list[str]:
        known = self._double.run(lambda: list(self._double.server.sent.values()))
        return [html.unescape(one["text"]) for one in known if one["channel"] == CHAT]

    def files(self) -> list[bytes]:
        server = self._double.server
        shared = self._double.run(lambda: [one for one in server.shared if one["channel_id"] == CHAT])
        return [server.files[file["id"]][1] for one in shared for file in one["files"]]

    def presses(self, part: str, button: str) -> None:
        self._double.wait(self._pressed(part, button))

    async def _pressed(self, part: str, button: str) -> None:
        server = self._double.server
        ts, message = [pair for pair in server.sent.items() if part in html.unescape(pair[1]["text"])][-1]
        buttons = [one for block in message["blocks"] if block["type"] == "actions" for one in block["elements"]]
        value = next(one["value"] for one in buttons if one["text"]["text"] == button)
        await server.push("interactive", server.press(ts, value, channel=CHAT))

    def cut(self) -> None:
        self._double.run(self._double.server.cut)

    def revokes(self) -> None:
        self._double.server.revoked = True

    def renews(self) -> Mapping[str, str]:
        self._double.server.revoked = False
        return {"token": TOKEN}


@contextmanager
def place() -> Iterator[Place]:
    """The double, served by TLS, since the way out of a channel's process has no WebSocket without."""
    gates: list[Gate] = []
    with certificate() as (tls, trusted), aside(lambda: gated(slack(tls, HOST), "base", gates, tls)) as double:
        yield SlackPlace(double, {"app_token": APP_TOKEN}, trusted, gates)


@contextmanager
def posting_place() -> Iterator[Place]:
    """The double, which sends requests to the listener where the app has no socket."""
    known: list[Place] = []
    gates: list[Gate] = []
    with aside(lambda: gated(slack_requests(lambda: known[0].url), "base", gates)) as double:
        known.append(SlackPlace(double, {"signing_secret": SECRET}, "", gates))
        yield known[0]
