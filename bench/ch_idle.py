"""CH.idle: what a channel's own process holds when it is connected and nothing happens, of each platform.

Each is started as it is in a machine, through a proxy, against the tests' server of its platform. The figure is the
resident memory of the process, the median of three.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

from bench.bar import Bar
from bench.meters import rss_mib
from stead.domain import channel_wire as wire
from tests.channels import test_mail, test_signal, test_whatsapp
from tests.channels.driving import Driven, channel
from tests.fakes.discord import TOKEN as DISCORD_TOKEN
from tests.fakes.discord import discord
from tests.fakes.homeserver import homeserver
from tests.fakes.program import SECRET as PROGRAMS_SECRET
from tests.fakes.program import program
from tests.fakes.relay import relay
from tests.fakes.signal_cli import signal_cli
from tests.fakes.slack import APP_TOKEN, slack
from tests.fakes.slack import TOKEN as SLACK_TOKEN
from tests.fakes.teams import SECRET, teams
from tests.fakes.telegram import Telegram, serve
from tests.fakes.whatsapp import PHONE, whatsapp

MOST_MIB = 40
SETTLED_S = 3.0
"""After it is connected: what a connection brings at its beginning is over."""
TIMES = 3
Settings = tuple[dict[str, str], dict[str, str]]
"""Settings and tokens."""


@asynccontextmanager
async def _discord() -> AsyncIterator[Settings]:
    async with discord() as fake:
        yield {"api": f"{fake.base}/api/v10"}, {"token": DISCORD_TOKEN}


@asynccontextmanager
async def _matrix() -> AsyncIterator[Settings]:
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as folder, ExitStack() as closing:
        server = await asyncio.to_thread(closing.enter_context, homeserver(Path(folder)))
        async with server.person("bot") as bot, server.person("anna") as anna:
            for _ in range(3):
                await anna.room(bot.id, is_direct=True)
            yield {"homeserver": server.url, "user": bot.id}, {"token": bot.token}


@asynccontextmanager
async def _signal() -> AsyncIterator[Settings]:
    async with signal_cli(test_signal.BOT, alone=True) as server:
        yield {"url": server.url, "account": test_signal.BOT}, {}


@asynccontextmanager
async def _slack() -> AsyncIterator[Settings]:
    async with slack() as fake:
        yield {"api": f"{fake.base}/api/"}, {"token": SLACK_TOKEN, "app_token": APP_TOKEN}


@asynccontextmanager
async def _teams() -> AsyncIterator[Settings]:
    async with teams() as fake:
        yield fake.settings, {"secret": SECRET}


@asynccontextmanager
async def _telegram() -> AsyncIterator[Settings]:
    async with serve(Telegram("123456:fake-token-of-tests")) as server:
        yield {"api": server.url}, {"token": server.token}


@asynccontextmanager
async def _webhook() -> AsyncIterator[Settings]:
    async with program() as there:
        yield {"url": there.url}, {"secret": PROGRAMS_SECRET}


@asynccontextmanager
async def _whatsapp() -> AsyncIterator[Settings]:
    async with whatsapp() as meta:
        yield {"phone_id": PHONE, "api": meta.url}, test_whatsapp.TOKENS


SERVERS: dict[str, Callable[[], AbstractAsyncContextManager[Settings]]] = {
    "discord": _discord,
    "matrix": _matrix,
    "signal": _signal,
    "slack": _slack,
    "teams": _teams,
    "telegram": _telegram,
    "webhook": _webhook,
    "whatsapp": _whatsapp,
}
"""By kind; a mailbox needs a proxy of its own."""
DIRECT = ("discord", "slack", "webhook")
"""Without a proxy: the tests' passes no sockets, and no signed address."""


async def _settled(begun: Callable[[], AbstractAsyncContextManager[Driven]]) -> list[float]:
    """What each of a few holds that run side by side."""
    async with AsyncExitStack() as running:
        several = [await running.enter_async_context(begun()) for _ in range(TIMES)]
        await asyncio.gather(*(one.next(wire.Up) for one in several))
        await asyncio.sleep(SETTLED_S)
        return [rss_mib(one.process.pid) for one in several]


async def _of(kind: str) -> list[float]:
    if kind == "email":
        async with test_mail.serving() as post:
            return await _settled(post.channel)
    async with SERVERS[kind]() as (settings, tokens), relay() as proxy:
        environment = {} if kind in DIRECT else proxy.environment
        return await _settled(lambda: channel(kind, settings, tokens, environment=environment))


def measure() -> list[Bar]:
    """A bar for each platform."""
    bars = []
    for kind in sorted((*SERVERS, "email")):
        found = asyncio.run(_of(kind))
        figure, said = statistics.median(found), f"{TIMES} processes, {min(found):.1f} to {max(found):.1f}"
        named = (f"CH.idle.{kind}", round(figure, 1), "MiB of an idle channel")
        bars.append(Bar(*named, f"≤ {MOST_MIB}", figure <= MOST_MIB, conditions=said))
    return bars
