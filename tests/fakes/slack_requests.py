"""The requests that Slack sends to the listener of an app without Socket Mode.

An event is sent again, with its id, until it was taken; what was pressed is sent once. Slack waits longer before it
sends again, and gives up after three times.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from urllib.parse import urlsplit

from tests.fakes.slack import FakeSlack, Json, slack

ANSWER_S, AGAIN_S = 3.0, 0.1


class Requests:
    """Those of one app.

    Args:
        fake: signs them.
        url: gives where the listener is.

    ``open`` are the connections of those that are on their way.
    """

    def __init__(self, fake: FakeSlack, url: Callable[[], str]) -> None:
        self._fake, self._url = fake, url
        self.open: set[asyncio.StreamWriter] = set()
        self._doing: set[asyncio.Task[None]] = set()

    def post(self, kind: str, payload: Json) -> None:
        """Send one, and again where that is done."""
        self._doing.add(task := asyncio.create_task(self._deliver(kind, payload)))
        task.add_done_callback(self._doing.discard)

    async def _deliver(self, kind: str, payload: Json) -> None:
        event = kind == "events_api"
        body = json.dumps(payload).encode() if event else self._fake.form(payload)
        media = "application/json" if event else "application/x-www-form-urlencoded"
        for tries in count():
            again = {"x-slack-retry-num": str(tries), "x-slack-retry-reason": "http_error"} if tries else {}
            status = b""
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(ANSWER_S):
                    status = await self._once(self._fake.signed(body, media) | again, body)
            if status == b"200" or not event:
                return
            await asyncio.sleep(AGAIN_S)

    async def _once(self, headers: Json, body: bytes) -> bytes:
        """One request; gives the status of its answer."""
        to = urlsplit(self._url())
        reader, writer = await asyncio.open_connection(to.hostname, to.port)
        self.open.add(writer)
        try:
            headers |= {"host": to.netloc, "content-length": len(body), "connection": "close"}
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            writer.write(f"POST {to.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
            return (await reader.readline())[9:12]
        finally:
            self.open.discard(writer)
            writer.transport.abort()

    async def end(self) -> None:
        """Send no more."""
        for task in self._doing:
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)


@asynccontextmanager
async def slack_requests(url: Callable[[], str]) -> AsyncIterator[FakeSlack]:
    """A running Slack whose app has a listener there."""
    async with slack() as fake:
        requests, served = Requests(fake, url), fake.connections
        fake.posts = requests.post
        fake.connections = lambda: [*served(), *requests.open]
        try:
            yield fake
        finally:
            await requests.end()
