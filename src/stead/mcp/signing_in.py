"""Where a person's browser comes back to after they signed in: a port of this computer, open for that moment alone.

Layer: mcp. It takes one request with the state that was minted for this sign-in; anything else is turned away.

Source: RFC 8252, section 7.3.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from stead.domain.errors import FetchFault

PATIENCE_S = 600.0
_READ_S = 5.0
_HEAD_BYTES = 16 << 10
_PATH = "/callback"
_PAGE = "<!doctype html><meta charset=utf-8><title>Stead</title><p>{}</p>"


class Loopback:
    """Implements ``oauth.Person``. ``shown`` is set once there is a ``url`` for the person to open."""

    def __init__(self) -> None:
        self.redirect = self.url = ""
        self.shown = asyncio.Event()
        self._state = b""
        self._back: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Open the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.redirect = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"

    async def come_back(self, url: str, state: str) -> Mapping[str, str]:
        """See ``Person``."""
        self.url, self._state = url, state.encode()
        self._back = asyncio.get_running_loop().create_future()
        self.shown.set()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._back
        except TimeoutError as error:
            raise FetchFault("nobody signed in within ten minutes; begin again") from error

    async def close(self) -> None:
        """Close the port."""
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_READ_S):
                head = await reader.readuntil(b"\r\n")
            method, target, *_ = head.decode("latin-1").split(" ")
            parts = urlsplit(target)
            found = dict(parse_qsl(parts.query))
            own = hmac.compare_digest(found.get("state", "").encode(), self._state) and bool(self._state)
            taken = method == "GET" and parts.path == _PATH and own and not self._back.done()
            if taken:
                self._back.set_result(found)
            said = "You can close this page and go back to Stead." if taken else "Nothing is expected here."
            body = _PAGE.format(said).encode()
            status = b"200 OK" if taken else b"404 Not Found"
            fields = b"Content-Type: text/html\r\nConnection: close\r\nReferrer-Policy: no-referrer\r\n"
            writer.write(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, fields, len(body), body))
            await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # it was no browser that comes back
        finally:
            writer.close()
