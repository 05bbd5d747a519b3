"""A wire between the browser and the daemon that can be cut: connections end in the middle of a message, unannounced.

The browser keeps asking for the page's own name and port, so nothing else differs from the product.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from playwright.sync_api import Browser

from tests.browser.chrome import CHROMIUM, FLAGS
from tests.browser.stage import Stage
from tests.flows.served import in_thread

_LIVE = b"GET /api/v1/live?"
_CHUNK_BYTES = 16_384


@dataclass
class Wire:
    """Carries bytes to a port of this computer and back.

    ``cuts`` says of the next live connections, in turn, after how many bytes from the daemon each is cut; once it is
    empty nothing is. ``done`` counts the cuts.
    """

    target: int
    port: int = 0
    cuts: list[int] = field(default_factory=list)
    done: int = 0

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[Wire]:
        """Carry while the block runs."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = int(server.sockets[0].getsockname()[1])
        yield self
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        with contextlib.suppress(OSError):  # either end may be gone at any time; the other hears of it
            first = await reader.read(_CHUNK_BYTES)
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
            limit = self.cuts.pop(0) if first.startswith(_LIVE) and self.cuts else None
            ends.append(forth)
            forth.write(first)
            ways = [asyncio.ensure_future(one) for one in (_carry(reader, forth), _carry(back, writer, limit))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            self.done += sum(result is True for result in await asyncio.gather(*ways, return_exceptions=True))
        for end in ends:
            end.transport.abort()


async def _carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter, limit: int | None = None) -> bool:
    """One way, until its end; True if it was cut before."""
    carried = 0
    while piece := await source.read(_CHUNK_BYTES):
        cut = limit is not None and carried + len(piece) >= limit
        sink.write(piece[: limit - carried] if cut and limit is not None else piece)
        await sink.drain()
        if cut:
            return True
        carried += len(piece)
    return False


@contextlib.contextmanager
def wired(browser: Browser, stage: Stage) -> Iterator[tuple[Wire, Browser]]:
    """A wire to this home's daemon, and another browser whose connections to it all go through that wire."""
    with in_thread(Wire(stage.house.client().address.port).serve()) as wire:
        rule = f"--host-resolver-rules=MAP {stage.host} 127.0.0.1:{wire.port}"
        other = browser.browser_type.launch(executable_path=CHROMIUM, args=[*FLAGS, rule])
        try:
            yield wire, other
        finally:
            other.close()
