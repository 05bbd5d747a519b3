"""One channel's process as the daemon keeps it, in a real machine, when updates cannot be taken in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stead.domain import channel_wire as wire
from stead.domain.errors import ModelFault
from stead.domain.ids import HOME
from stead.runtime.alarms import WallClock
from stead.runtime.channel_process import ChannelProcess
from tests.egress.bench import Way
from tests.fakes.telegram import Telegram, serve
from tests.machines.bench import Bench, require_sandbox

TOKEN = "123456:fake-token-of-tests"
PATIENCE_S = 60.0


class Kept:
    """A process, and what became of it. ``heard``: texts as they came; ``stood``: its states, each once."""

    def __init__(self) -> None:
        self.process: ChannelProcess
        self.heard: list[str] = []
        self.stood: list[tuple[str, str]] = []

    def changed(self) -> None:
        now = (self.process.state, self.process.error)
        if now not in self.stood[-1:]:
            self.stood.append(now)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def kept(root: Path, server: Telegram, take: Callable[[wire.Update], Awaitable[None]]) -> AsyncIterator[Kept]:
    """The process of a bot; ``take`` records an update, or fails to."""
    way = Way(root, [], session=HOME)
    bench, found, host = Bench(root, egress=way.proxy), Kept(), server.url.partition("://")[2]

    async def begin() -> wire.Begin:
        return wire.Begin("telegram", {"api": server.url}, {"token": TOKEN})

    async def taken(_: str, update: wire.Update) -> None:
        found.heard.append(update.text)
        await take(update)

    found.process = ChannelProcess("phone", (host,), begin, bench.machines.programs, taken, found.changed, WallClock())
    keeping = asyncio.create_task(found.process.keep())
    try:
        await until(lambda: found.process.state == "connected")
        yield found
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await bench.machines.close()


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    require_sandbox()
    async with serve(Telegram(TOKEN)) as served:
        yield served


async def test_a_message_that_cannot_be_carried_out_is_logged_and_holds_up_none_behind_it(
    tmp_path: Path, server: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    async def take(update: wire.Update) -> None:
        if update.text == "first":
            raise ModelFault("the model has no window", kind="unconfigured")

    async with kept(tmp_path, server, take) as found:
        ada = server.person()
        for text in ("first", "second"):
            server.writes(ada, text)
        await until(lambda: found.heard[-1:] == ["second"] and not server.waiting)
        assert found.heard == ["first", "second"]
        assert found.stood == [("connected", "")]
    assert "a message of phone was not carried out: the model has no window" in caplog.text


async def test_after_a_fault_of_ours_the_process_begins_again_and_the_message_comes_again(
    tmp_path: Path, server: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    faults = [ZeroDivisionError("a fault of ours")]

    async def take(update: wire.Update) -> None:
        if faults:
            raise faults.pop()

    async with kept(tmp_path, server, take) as found:
        ada = server.person()
        for text in ("first", "second"):
            server.writes(ada, text)
        await until(lambda: found.heard[-1:] == ["second"] and not server.waiting)
        assert found.heard[0] == "first" and found.heard[-2:] == ["first", "second"]
        await until(lambda: found.process.state == "connected")
        assert [state for state, _ in found.stood] == ["connected", "down", "connected"]
        assert "could not be taken in" in found.stood[1][1]
    assert "a fault of ours" in caplog.text
