"""The requests of a platform that sends what people write to Stead's listener, until each was taken."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from threading import Event
from urllib.parse import urlsplit

AGAIN_S = 0.1
"""How long a platform waits before it sends again; the real ones wait longer each time."""
WAITED_S = 20.0


class Posting:
    """Sends each request of its own accord; one that was not answered, or by a fault, is sent again as it was."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._over = Event()
        self._open: set[http.client.HTTPConnection] = set()
        self._sent: list[Future[None]] = []
        self.times = 0
        """How often something was sent."""

    def post(self, url: Callable[[], str], body: bytes, headers: Callable[[], Mapping[str, str]]) -> None:
        """Send a body; headers are made each time, as signatures that hold for a while are."""
        self._sent = [one for one in self._sent if not one.done() or one.exception()]
        self._sent.append(self._pool.submit(self._deliver, url, body, headers))

    def _deliver(self, url: Callable[[], str], body: bytes, headers: Callable[[], Mapping[str, str]]) -> None:
        while not self._over.is_set():
            status = 0
            with suppress(OSError, http.client.HTTPException):
                status = self._once(url(), body, headers())
            if status == 200:
                return
            assert status in (0, 429, 503), f"{status}: {body!r}"
            self._over.wait(AGAIN_S)

    def _once(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        to = urlsplit(url)
        self.times += 1
        with closing(http.client.HTTPConnection(to.hostname or "", to.port, timeout=WAITED_S)) as connection:
            self._open.add(connection)
            try:
                connection.request("POST", to.path, body, dict(headers))
                return connection.getresponse().status
            finally:
                self._open.discard(connection)

    def cut(self) -> None:
        """Drop every request that is on its way."""
        for connection in list(self._open):
            if connection.sock:
                with suppress(OSError):
                    connection.sock.shutdown(2)

    def end(self) -> None:
        """Send nothing more, and raise what was refused."""
        self._over.set()
        for one in self._sent:
            one.result(WAITED_S + 1)


@contextmanager
def posting() -> Iterator[Posting]:
    """One platform's, until the end."""
    with ThreadPoolExecutor(4) as pool:
        sender = Posting(pool)
        try:
            yield sender
        finally:
            sender.end()
