"""HTTP as platforms share it: a small client, and sessions of aiohttp for those whose wire has sockets.

Layer: channels. Every connection goes through the proxy of the environment, and no redirect is followed.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec

from stead.channels.base import ChannelFault, Platform, check_size
from stead.domain.channel_wire import MOST_FILE_BYTES, FileOut
from stead.domain.hosts import parse_host

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from httpcore2 import AsyncConnectionPool

PATIENCE_S = 30
_CONNECT_S, _KEPT_S = 20.0, 5.0
_OF_PROXY = "Refused by Stead"
"""Begins what the proxy of this machine answers by itself."""
_MOST_ANSWER_BYTES = 1_000_000
_MOST_WAIT_S = 86_400.0
Read = TypeVar("Read")


class Answer(NamedTuple):
    """What a server answered. ``headers``: names in lower case; ``body``: cut where there was more than was wanted."""

    status: int
    headers: dict[str, str]
    body: bytes

    def read(self, kind: type[Read]) -> Read | None:
        """The body, as a type; None where it is none."""
        return read(self.body, kind)

    def wait_s(self, usual_s: float = 0.0) -> float:
        """How long the server wants to be left alone, up to a day; ``usual_s`` where it does not say in seconds."""
        return seconds(self.headers.get("retry-after", ""), usual_s)

    def file(self) -> bytes:
        """The body as a file; raises ``ChannelFault`` where it is none."""
        if self.status != 200:
            raise ChannelFault(f"the file could not be had: {self.status}", final=400 <= self.status < 500)
        check_size(len(self.body))
        return self.body


class Http:
    """A client with few connections.

    Args:
        title: what it speaks to, for faults.
    """

    def __init__(self, title: str) -> None:
        self._title = title

    @cached_property
    def _pool(self) -> AsyncConnectionPool:
        import httpcore2

        shared: dict[str, Any] = {"ssl_context": ssl.create_default_context(), "keepalive_expiry": _KEPT_S}
        proxy = _proxy()
        return httpcore2.AsyncHTTPProxy(proxy, **shared) if proxy else httpcore2.AsyncConnectionPool(**shared)

    async def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        most_bytes: int = _MOST_ANSWER_BYTES,
        patience_s: float = PATIENCE_S,
    ) -> Answer:
        """What a server answers; nothing is tried again here, and no address stands in an error.

        It is read until it has more than ``most_bytes``, which then is no JSON, within ``patience_s``. Raises
        ``ChannelFault`` where there is none.
        """
        import httpcore2

        host = urlsplit(url).netloc.rpartition("@")[2]
        given = [("User-Agent", "stead"), ("Host", host), *(headers or {}).items()]
        try:
            async with (
                asyncio.timeout(patience_s),
                self._pool.stream(
                    method, url, headers=given, content=body, extensions={"timeout": {"connect": _CONNECT_S}}
                ) as answer,
            ):
                named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
                phrase = answer.extensions.get("reason_phrase", b"").decode("latin-1")
                if phrase.startswith(_OF_PROXY):
                    raise ChannelFault(f"{self._title} cannot be reached: {phrase}"[:500])
                return Answer(answer.status, named, await bounded(answer.aiter_stream(), most_bytes))
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise ChannelFault(f"{self._title} does not answer") from error
        except httpcore2.ProtocolError as error:
            raise ChannelFault(f"the answer of {self._title} is no HTTP: {type(error).__name__}") from error
        except (httpcore2.NetworkError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol, OSError) as error:
            raise ChannelFault(
                f"{self._title} cannot be reached: {str(error) or type(error).__name__}"[:500]
            ) from error

    async def file(self, url: str, headers: Mapping[str, str] | None = None) -> bytes:
        """The bytes of a file; raises ``ChannelFault`` for one that cannot be had or is too large."""
        return (await self.ask("GET", url, headers, most_bytes=MOST_FILE_BYTES, patience_s=2 * PATIENCE_S)).file()

    async def close(self) -> None:
        """Let connections go."""
        if "_pool" in vars(self):
            await self._pool.aclose()


class HttpPlatform(Platform):
    """A platform that is spoken to by requests alone."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.http = Http(self.manifest.title)

    async def close(self) -> None:
        """See ``Platform``."""
        await self.http.close()


def _proxy() -> str | None:
    return os.environ.get("HTTPS_PROXY") or os.environ.get("HTTP_PROXY")


class SocketPlatform(Platform):
    """A platform that is spoken to by aiohttp, as its wire has sockets."""

    @cached_property
    def session(self) -> ClientSession:
        """A session whose sockets go through the proxy of the environment too."""
        from aiohttp import ClientSession, ClientTimeout

        agent = {"User-Agent": "DiscordBot (stead, 1)"}  # as Discord wants it
        return ClientSession(timeout=ClientTimeout(PATIENCE_S), headers=agent, proxy=_proxy())

    async def bring(self, url: str, hosts: tuple[str, ...], token: str = "") -> bytes:
        """The bytes of a file.

        Args:
            url: where it is said to be.
            hosts: where else than at the platform's own address it may be; see ``is_of``. Nothing is sent to another.
            token: sent there.

        Raises:
            ChannelFault: it is elsewhere, too large, or cannot be had.
        """
        if not is_of(url, hosts, self.settings["api"]):
            raise ChannelFault("the file is not where the platform keeps files", final=True)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.session.get(url, headers=headers, allow_redirects=False) as answer:
            return Answer(answer.status, {}, await bounded(answer.content.iter_chunked(1 << 16))).file()

    def fault(self, error: Exception) -> ChannelFault:
        """See ``Platform``; aiohttp's own text may have an address, and in that a ticket."""
        from aiohttp import ClientError, ClientHttpProxyError

        if isinstance(error, ClientHttpProxyError):
            return ChannelFault(f"{self.manifest.title} cannot be reached: {error.message}"[:500])
        if isinstance(error, ClientError) and not isinstance(error, OSError):
            return ChannelFault(f"{self.manifest.title}: {type(error).__name__}")
        return super().fault(error)

    async def close(self) -> None:
        """See ``Platform``."""
        if "session" in vars(self):
            await self.session.close()


def read(data: str | bytes | msgspec.Raw, kind: type[Read]) -> Read | None:
    """What was sent, as a type; None where it is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def seconds(hint: str, usual_s: float) -> float:
    """What a server says of how long to wait, in seconds up to a day; ``usual_s`` where that is no number."""
    return min(float(hint[:10]), _MOST_WAIT_S) if hint.isascii() and hint.isdigit() else usual_s


async def bounded(pieces: AsyncIterable[bytes], most_bytes: int = MOST_FILE_BYTES) -> bytes:
    """What comes, until it is more than so many bytes."""
    found = bytearray()
    async for piece in pieces:
        found += piece
        if len(found) > most_bytes:
            break
    return bytes(found)


def multipart(fields: Mapping[str, str], name: str, file: FileOut) -> tuple[bytes, str]:
    """A form with a file in the field of that name: its bytes, and its media type."""
    edge, head = uuid4().hex, "Content-Disposition: form-data; name"
    given = [f'{head}="{field}"\r\n\r\n{value}' for field, value in fields.items()]
    named = re.sub(r'[\x00-\x1f\x7f"\\]', "_", file.name)[:240]  # they end a field's head
    given.append(f'{head}="{name}"; filename="{named}"\r\nContent-Type: {media_type(file)}\r\n\r\n')
    before = "\r\n".join(f"--{edge}\r\n{one}" for one in given).encode("utf-8", "replace")
    return before + file.data + f"\r\n--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def media_type(file: FileOut) -> str:
    """What a file says that it is, where that is one; else that of any bytes."""
    return (
        file.media_type if re.fullmatch(r"[\w.+-]+/[\w.+-]+", file.media_type, re.ASCII) else "application/octet-stream"
    )


def is_of(url: str, hosts: tuple[str, ...], own: str = "") -> bool:
    """Whether an address is where a token may go.

    Args:
        url: it.
        hosts: patterns of hosts, which it has to be one of, over TLS and at its usual port.
        own: or an address that the settings name, whose scheme, host and port it then has to have; "" for none.
    """
    try:
        to = urlsplit(url)
        host, port, named = to.hostname or "", to.port or 443, urlsplit(own)
    except ValueError:
        return False
    if own and (to.scheme, to.netloc.lower()) == (named.scheme, named.netloc.lower()):
        return True
    plain = to.scheme == "https" and "@" not in to.netloc and len(url) <= 4000
    return plain and any(parse_host(one).covers(host, port) for one in hosts)
