"""The door open on loopback, for tests: a real server on a real socket, and the clients that knock."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from stead.domain.objectives import Spend
from stead.guardian.reach import Reach
from stead.runtime.gate import Gate
from stead.runtime.rejudging import Rejudging
from stead.web.app import create_app
from stead.web.auth import Auth
from stead.web.backend import DEFAULT_PACE, Backend, Pace, PresetRow
from stead.web.envelopes import Identity
from stead.web.pages import STATIC
from stead.web.server import WebServer, listen
from tests.web.simulated_audit import SimulatedAudit
from tests.web.simulator import Home

NAME = "lantern-4821"
BEARER = "b" * 43
DEADLINE_S = 15.0
_KEYS = itertools.count(1)

Json = dict[str, Any]


@dataclass
class Door:
    """An open door, and how to knock."""

    home: Home
    auth: Auth
    port: int
    server: WebServer
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def page(self) -> str:
        """The page's origin."""
        return f"http://{NAME}.localhost:{self.port}"

    @property
    def api_host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def page_host(self) -> str:
        return f"{NAME}.localhost:{self.port}"

    def key(self) -> str:
        """A fresh idempotency key."""
        return f"key-{next(_KEYS):08d}"

    def cli(self, **headers: str) -> httpx2.AsyncClient:
        """The command line's client."""
        return self.client({"Authorization": f"Bearer {BEARER}", **headers})

    def browser(self, cookie: str, **headers: str) -> httpx2.AsyncClient:
        """What a signed-in page sends."""
        page = {"Host": self.page_host, "Origin": self.page, "X-Stead": "1", "Sec-Fetch-Site": "same-origin"}
        return self.client({**page, "Cookie": f"stead={cookie}", **headers})

    def client(self, headers: dict[str, str]) -> httpx2.AsyncClient:
        """A client with exactly these headers."""
        return httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=DEADLINE_S, trust_env=False
        )

    async def post(self, client: httpx2.AsyncClient, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """A command with a fresh key."""
        sent = {"Idempotency-Key": self.key(), "Content-Type": "application/json", **headers}
        return await client.post(f"/api/v1{path}", content=json.dumps(body or {}), headers=sent)

    async def sign_in(self) -> str:
        """A fresh browser session's cookie."""
        code, _ = self.auth.make_code()
        cookie = await self.auth.sign_in(code)
        assert isinstance(cookie, str)
        return cookie.partition(";")[0].removeprefix("stead=")

    @asynccontextmanager
    async def socket(self, query: str = "", **changed: str) -> AsyncIterator[ClientConnection]:
        """A WebSocket of the command line, or, with ``cookie``, of the page; of another ``path``, too."""
        cookie, path = changed.pop("cookie", ""), changed.pop("path", "/live")
        host = self.page_host if cookie else self.api_host
        headers = {"Cookie": f"stead={cookie}"} if cookie else {"Authorization": f"Bearer {BEARER}"}
        async with connect(
            f"ws://{host}/api/v1{path}{query}",
            host="127.0.0.1",
            port=self.port,
            origin=changed.pop("origin", self.page) if cookie else None,  # type: ignore[arg-type]  # a NewType of str
            additional_headers={**headers, **changed},
            open_timeout=DEADLINE_S,
            max_size=8_000_000,
            proxy=None,
        ) as socket:
            yield socket


_NO_TOOLS = Gate([], None, reach=Reach(), digest_key=bytes(32), random_bytes=bytes)  # type: ignore[arg-type]
"""A gate without tools or machines, since nothing is run behind this door."""


@asynccontextmanager
async def open_door(
    home: Home, pace: Pace = DEFAULT_PACE, *, epoch: str = "epoch-1", port: int = 0, page: Path = STATIC
) -> AsyncIterator[Door]:
    """Serve a home, and the page that was built into this folder, until the block ends."""
    listener = listen(port)
    port = listener.getsockname()[1]
    auth = Auth(NAME, port, BEARER, home.clock, os.urandom, home.secrets)
    left = asyncio.Event()
    audit = SimulatedAudit(home.journal)
    backend = Backend(
        service=home,
        home=home.home_state,
        views=home,
        figures=home,
        journal=home.journal,
        spent=lambda period, channel: Spend(990),
        audit=audit,
        decisions=audit,
        rejudging=Rejudging(home.journal, audit, _NO_TOOLS, home.clock, "test"),
        auth=auth,
        clock=home.clock,
        identity=Identity(server_id="server-1", epoch=epoch, build="test"),
        presets=(PresetRow("anthropic", "Anthropic", "https://api.example.com", "model-1", "EXAMPLE_KEY"),),
        shut_down=left.set,
        pace=pace,
    )
    server = WebServer(create_app(backend, page), listener)
    async with asyncio.timeout(DEADLINE_S):
        await server.start()
    try:
        yield Door(home, auth, port, server, left)
    finally:
        async with asyncio.timeout(DEADLINE_S):
            await server.stop()


async def events_of(stream: AsyncIterator[str]) -> AsyncIterator[tuple[int | None, list[Json]]]:
    """The messages of a server-sent stream: (id, envelopes); pings are left out."""
    place: int | None = None
    async for line in stream:
        name, _, value = line.partition(": ")
        if name == "id":
            place = int(value)
        elif name == "data":
            yield place, json.loads(value)
