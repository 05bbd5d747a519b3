"""Ada's chat on Telegram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.gate import Gate
from tests.fakes.telegram import Telegram, serve
from tests.flows.chatting import Bot
from tests.flows.places import Place, aside, gated


class TelegramPlace(Place):
    """See ``Place``."""

    def __init__(self, bot: Bot, gates: list[Gate]) -> None:
        super().__init__("telegram", {"token": bot.server.token}, {"api": bot.server.url}, gates=gates)
        self._bot = bot

    def writes(self, text: str) -> None:
        self._bot.writes(text)

    def sends(self, name: str, data: bytes, words: str) -> None:
        self._bot.run(self._bot.server.sends, self._bot.ada, data, name=name, caption=words)

    def sent(self) -> list[str]:
        known = self._bot.run(lambda: list(self._bot.server.messages.values()))
        return [one["text"] for one in known if one["from"]["is_bot"] and "text" in one]

    def files(self) -> list[bytes]:
        return [data for one in self._bot.done("sendDocument") for data in one.files.values()]

    def presses(self, part: str, button: str) -> None:
        self._bot.presses(self._bot.message(part), button)

    def cut(self) -> None:
        self._bot.run(self._bot.server.cut)

    def revokes(self) -> None:
        self._bot.run(self._bot.server.revoke)

    def renews(self) -> Mapping[str, str]:
        return {"token": self._bot.server.token}


@contextmanager
def place() -> Iterator[Place]:
    """The double, served."""
    gates: list[Gate] = []
    with aside(lambda: gated(serve(Telegram()), "url", gates)) as served:
        yield TelegramPlace(Bot(served), gates)
        served.run(served.server.cut)
