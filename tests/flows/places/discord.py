"""Ada's private chat on Discord."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.discord import DM, TOKEN, FakeDiscord, discord
from tests.fakes.gate import Gate
from tests.flows.places import HOST, Aside, Place, aside, certificate, gated


class DiscordPlace(Place):
    """See ``Place``."""

    def __init__(self, double: Aside[FakeDiscord], ca_file: str, gates: list[Gate]) -> None:
        settings = {"api": f"{double.server.base}/api/v10"}
        super().__init__("discord", {"token": TOKEN}, settings, ca_file, gates=gates)
        self._double = double

    def writes(self, text: str) -> None:
        self._double.wait(self._double.server.says(text))

    def sends(self, name: str, data: bytes, words: str) -> None:
        about = self._double.run(self._double.server.keep, name, data)
        self._double.wait(self._double.server.says(words, attachments=[about]))

    def sent(self) -> list[str]:
        known = self._double.run(lambda: list(self._double.server.sent.values()))
        return [_shown(one["content"]) for one in known if one["channel_id"] == DM]

    def files(self) -> list[bytes]:
        return self._double.run(lambda: list(self._double.server.uploads.values()))

    def presses(self, part: str, button: str) -> None:
        self._double.wait(self._pressed(part, button))

    async def _pressed(self, part: str, button: str) -> None:
        server = self._double.server
        message = [one for one in server.sent.values() if part in _shown(one["content"])][-1]
        buttons = [one for row in message["components"] for one in row["components"]]
        data = next(one["custom_id"] for one in buttons if one["label"] == button)
        await server.press(message["id"], data)

    def cut(self) -> None:
        self._double.run(self._double.server.cut)

    def revokes(self) -> None:
        self._double.server.revoked = True

    def renews(self) -> Mapping[str, str]:
        self._double.server.revoked = False
        return {"token": TOKEN}


def _shown(content: str) -> str:
    """A message as one reads it: what is escaped stands for itself."""
    return re.sub(r"\\(.)", r"\1", content)


@contextmanager
def place() -> Iterator[Place]:
    """The double, served by TLS, since the way out of a channel's process has no WebSocket without."""
    gates: list[Gate] = []
    with certificate() as (tls, trusted), aside(lambda: gated(discord(tls, HOST), "base", gates, tls)) as double:
        yield DiscordPlace(double, trusted, gates)
