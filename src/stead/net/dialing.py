"""From a name to a connection: resolve once, check every address, connect to one that was checked.

Layer: net. Knows no tool, no machine and no allow-list; the caller has judged the name. That says
nothing about where the name leads, so the addresses are judged here, and the name is never asked a second time: what
changes its mind between two look-ups gains nothing. Whatever goes out on a model's or a machine's word connects here.

Source: OWASP, Server-Side Request Forgery Prevention.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence

from stead.domain.errors import AddressRefused, FetchFault
from stead.guardian.reach import Reach, Target

RESOLVE_LIMIT_S = 10.0
CONNECT_LIMIT_S = 5.0
"""For one address, its TLS included; the next one is tried after it."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Judge = Callable[[Target, str], None]
"""Raises ``AddressRefused`` for an address that a target may not lead to."""


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Every address that the system's resolver has for a name, in its order of preference.

    Raises:
        OSError: there is none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Dialer:
    """Connects to public hosts.

    Args:
        reach: which addresses.
        resolve: turns a name into addresses, asked once a connection.
        tls: how servers are trusted; nothing means by the system's certificates.
    """

    def __init__(self, reach: Reach, *, resolve: Resolve = resolve_name, tls: ssl.SSLContext | None = None) -> None:
        self.reach = reach
        self._resolve = resolve
        self._tls = tls

    async def dial(self, target: Target, *, secure: bool, judge: Judge | None = None) -> tuple[Streams, str]:
        """Connect to the first address that answers; gives it too. The name is used for the certificate alone.

        Args:
            target: as ``Reach.check_url`` understood it.
            secure: speak TLS, and have the host's name shown by a certificate.
            judge: says no to an address, where the person named this very host, so that it may be a private one.

        Raises:
            AddressRefused: it leads to where nothing may be reached.
            FetchFault: there is no such host, none of its addresses answers, or its certificate is not its own.
        """
        addresses = await self.addresses(target, judge)
        context = self.trust() if secure else None
        failure = "it has no address"
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):
                    streams = await asyncio.open_connection(
                        address,
                        target.port,
                        ssl=context,
                        server_hostname=target.host if secure else None,
                    )
                    return streams, address
            except ssl.SSLError as error:
                why = error.reason or error
                raise FetchFault("{!r} has no trustworthy certificate: {}", target.host, why) from error
            except OSError as error:
                failure = f"{address}: {_cause(error, CONNECT_LIMIT_S)}"
        raise FetchFault("{!r} could not be reached: {}", target.host, failure)

    def trust(self) -> ssl.SSLContext:
        """How servers are trusted."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    async def addresses(self, target: Target, judge: Judge | None = None) -> Sequence[str]:
        """Where a target leads, each place allowed. Raises as ``dial``."""
        addresses = await self._addresses(target)
        for address in addresses:  # one that is not allowed spoils all: an honest name has none
            (judge or self._check)(target, address)
        return addresses

    async def _addresses(self, target: Target) -> Sequence[str]:
        if target.address:
            return [target.address]
        try:
            async with asyncio.timeout(RESOLVE_LIMIT_S):
                return await self._resolve(target.host, target.port)
        except OSError as error:
            raise FetchFault("there is no host {!r}: {}", target.host, _cause(error, RESOLVE_LIMIT_S)) from error

    def _check(self, target: Target, address: str) -> None:
        refusal = self.reach.check_address(address, target.port)
        if refusal is not None:
            raise AddressRefused("{!r}: {}", target.host, refusal.text)
        if (address, target.port) not in self.reach.endpoints and is_own(address):
            raise AddressRefused(
                "{!r}: {} is this host's own address; its services are not reached", target.host, address
            )


def _cause(error: OSError, limit_s: float) -> str:
    """Why, also when it only took too long, which is an ``OSError`` too."""
    return error.strerror or str(error) or f"no answer within {limit_s:g} s"


def is_own(address: str) -> bool:
    """Whether an address is one of this computer's.

    Connecting a datagram socket sends nothing: it picks a route, and a route to an own address starts at it.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError:
            return False
        return str(probe.getsockname()[0]) == address
