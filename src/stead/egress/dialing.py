"""From a name to a connection: resolve once, check every address, connect to one that was checked.

Layer: egress. Knows no session and no allow-list. That a host was allowed by name says nothing about where its name
leads, so the addresses are judged here, and the name is never asked a second time.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from stead.domain.policies import Reason
from stead.guardian.reach import Reach, Target, Unreachable

CONNECT_LIMIT_S = 10.0

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refusal(Exception):
    """A connection that is not made, or not gone on with. ``status`` is what the client inside is answered with."""

    def __init__(self, status: int, rule: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.reason = Reason(rule, text)


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Every address that the system's resolver has for a name, in its order of preference.

    Raises:
        OSError: there is none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Dialer:
    """Reaches public hosts.

    Args:
        reach: which addresses; its ports do not count here, since allow-lists name theirs.
        resolve: turns a name into addresses.
        tls: how servers are trusted; nothing means by the system's certificates.
    """

    def __init__(self, reach: Reach, *, resolve: Resolve = resolve_name, tls: ssl.SSLContext | None = None) -> None:
        self._reach = msgspec.structs.replace(reach, ports=frozenset(range(1, 65536)))
        self._resolve = resolve
        self._tls = tls

    def read(self, url: str) -> Target:
        """What a URL asks for, read strictly.

        Raises:
            Refusal: it cannot be read in one way only, or it names an address or a host of this computer's networks.
        """
        target = self._reach.check_url(url)
        if isinstance(target, Unreachable):
            raise Refusal(403, "egress-address", target.text)
        if target.address:
            raise Refusal(403, "egress-address", f"{target.host} is an address; hosts are allowed by their names")
        return target

    async def addresses(self, target: Target) -> Sequence[str]:
        """Where a host is. One address that is not allowed spoils all: an honest name has none.

        Raises:
            Refusal: there is no such host, or it leads to where nothing may be reached.
        """
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                found = await self._resolve(target.host, target.port)
        except OSError as error:  # a time-out is one too
            raise Refusal(502, "egress-unreachable", f"there is no host {target.host!r}: {_cause(error)}") from error
        for address in found:
            refusal = self._reach.check_address(address, target.port)
            if refusal is not None:
                raise Refusal(403, "egress-address", f"{target.host!r}: {refusal.text}")
            if (address, target.port) not in self._reach.endpoints and _is_own(address):
                raise Refusal(403, "egress-address", f"{target.host!r}: {address} is this computer's own address")
        return found

    async def connect(self, target: Target, addresses: Sequence[str], *, secure: bool) -> tuple[Streams, str]:
        """Connect to the first address that answers; gives it too. The name is used for the certificate alone.

        Raises:
            Refusal: none answers, or, when ``secure``, its certificate is not the host's.
        """
        if secure and self._tls is None:
            self._tls = ssl.create_default_context()
        failure = "it has no address"
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):
                    streams = await asyncio.open_connection(
                        address,
                        target.port,
                        ssl=self._tls if secure else None,
                        server_hostname=target.host if secure else None,
                    )
                    return streams, address
            except ssl.SSLError as error:
                text = f"{target.host!r} has no trustworthy certificate: {error.reason or error}"
                raise Refusal(502, "egress-unreachable", text) from error
            except OSError as error:
                failure = f"{address}: {_cause(error)}"
        raise Refusal(502, "egress-unreachable", f"{target.host!r} could not be reached: {failure}")


def _cause(error: OSError) -> str:
    return error.strerror or str(error) or f"no answer within {CONNECT_LIMIT_S:g} s"


def _is_own(address: str) -> bool:
    """Whether an address is one of this host's.

    Connecting a datagram socket sends nothing: it picks a route, and a route to an own address starts at it.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError:
            return False
        return str(probe.getsockname()[0]) == address
