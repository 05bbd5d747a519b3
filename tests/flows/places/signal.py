"""Ada's chat on Signal, by a signal-cli that is reached through a port whose connections can be dropped."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from itertools import count

from tests.fakes.gate import Gate, gate
from tests.fakes.signal_cli import SignalCli, signal_cli
from tests.flows.places import Aside, Place, aside

BOT, ADA = "+4915550100", "11111111-2222-4333-8444-555555555555"


class SignalPlace(Place):
    """See ``Place``."""

    def __init__(self, served: Aside[tuple[SignalCli, Gate]]) -> None:
        self._cli, self._gate = served.server
        settings = {"url": f"http://127.0.0.1:{self._gate.port}", "account": BOT}
        super().__init__("signal", {}, settings, answering="code", keeps=False, gates=[self._gate])
        self._run, self._files = served.run, count(1)

    def writes(self, text: str) -> None:
        self._run(self._cli.say, ADA, text)

    def sends(self, name: str, data: bytes, words: str) -> None:
        id = f"{next(self._files)}.txt"
        self._cli.attachments[id] = data
        about = {"contentType": "text/plain", "filename": name, "id": id, "size": len(data)}
        self._run(self._cli.say, ADA, words, attachments=[about])

    def sent(self) -> list[str]:
        texts: dict[int, str] = {}
        for one in self._run(lambda: list(self._cli.sent)):
            if one.get("recipient") == [ADA] and "message" in one:
                texts[one.get("editTimestamp", one["timestamp"])] = one["message"]
        return list(texts.values())

    def files(self) -> list[bytes]:
        sent = self._run(lambda: list(self._cli.sent))
        return [base64.b64decode(uri.rpartition(",")[2]) for one in sent for uri in one.get("attachment", [])]

    def waits(self) -> bool:
        return self._run(lambda: self._cli.waiting > 0)

    def revokes(self) -> None:
        self._run(self._cli.accounts.clear)

    def renews(self) -> Mapping[str, str]:
        self._run(self._cli.accounts.append, BOT)
        return {}

    def cut(self) -> None:
        self._run(self._gate.cut)


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[SignalCli, Gate]]:
    async with signal_cli(BOT) as cli, gate(cli.port) as port:
        yield cli, port


@contextmanager
def place() -> Iterator[Place]:
    """The double, served."""
    with aside(_served) as served:
        yield SignalPlace(served)
