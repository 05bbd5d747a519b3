"""Watchers of a session at a running daemon's door, who come back whenever they are cut off."""

from __future__ import annotations

import asyncio
import contextlib
import json

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.flows.house import Json, LivingHome
from tests.web.door import events_of

DEADLINE_S = 60.0
_LOST = (ConnectionError, OSError, WebSocketException, httpx2.TransportError)
"""How a cut looks: the test's own, the daemon's end, or that there is no daemon yet."""


class Watcher:
    """Watches one session over a transport.

    Args:
        house: whose door it is.
        session: which.
        transport: "ws" or "sse".
        cuts: how often it hangs up by itself on the way.
        last: the type of the event after which it leaves, and how many of these it waits for.
    """

    def __init__(
        self, house: LivingHome, session: str, transport: str, *, cuts: int = 0, last: tuple[str, int]
    ) -> None:
        self._house = house
        self._session = session
        self._transport = transport
        self._cuts = cuts
        self._last, self._count = last
        self.seen: list[Json] = []
        self.transients: list[Json] = []
        self.connections = 0

    @property
    def done(self) -> bool:
        """Whether it has seen all that it waits for."""
        kinds = [str(envelope["body"]["type"]) for envelope in self.seen]
        return kinds.count(self._last) >= self._count

    async def until_the_end(self) -> None:
        """Watch, and come back after each cut, until the last event."""
        async with asyncio.timeout(DEADLINE_S):
            while not self.done:
                with contextlib.suppress(*_LOST):
                    await (self._by_socket() if self._transport == "ws" else self._by_events())
                if not self.done:
                    await asyncio.sleep(0.02)  # a daemon that is down takes a moment to come back

    def _take(self, frame: list[Json]) -> bool:
        self.seen += [envelope for envelope in frame if "seq" in envelope]
        self.transients += [envelope for envelope in frame if "ts" in envelope and "seq" not in envelope]
        if self._cuts and len(self.seen) % 3 == 2:
            self._cuts -= 1
            raise ConnectionAbortedError
        return self.done

    def _door(self) -> tuple[str, dict[str, str]]:
        """Where the door is now, and what opens it; a daemon that starts again has another bearer."""
        address = json.loads(self._house.home.address.read_text("utf-8"))
        after = self.seen[-1]["seq"] if self.seen else 0
        place = f"127.0.0.1:{address['port']}/api/v1"
        self._query = f"after={after}&streams={self._session}"
        return place, {"Authorization": f"Bearer {address['bearer']}"}

    async def _by_socket(self) -> None:
        place, bearer = self._door()
        async with connect(f"ws://{place}/live?{self._query}", additional_headers=bearer, proxy=None) as socket:
            self.connections += 1
            async for text in socket:
                if self._take(json.loads(text)):
                    return

    async def _by_events(self) -> None:
        place, bearer = self._door()
        async with (
            httpx2.AsyncClient(timeout=DEADLINE_S, trust_env=False) as client,
            client.stream("GET", f"http://{place}/events/stream?{self._query}", headers=bearer) as response,
        ):
            self.connections += 1
            async for _, frame in events_of(response.aiter_lines()):
                if self._take(frame):
                    return
