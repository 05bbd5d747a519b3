"""A machine's way out leads nowhere inside: every notation of S10 is sent through the proxy.

The allow-list here is as wide as a list can be made, so that the address alone is what is refused; a canary listens on
every loopback address and must never hear of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stead.domain.hosts import HostPattern, is_local
from tests.attacks.addresses import FORMS, LITERALS, NAMES, RESOLVED
from tests.egress.bench import DIRECTORY, Way, open_way
from tests.promises import promise


@dataclass
class Canary:
    """A server that counts who connects."""

    visits: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer anybody."""
        self.visits += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
        writer.close()


@pytest.fixture
async def canary() -> AsyncIterator[Canary]:
    """One that listens."""
    made = Canary()
    async with await asyncio.start_server(made.serve, "0.0.0.0") as server:
        made.port = server.sockets[0].getsockname()[1]
        yield made


class Everything(HostPattern, frozen=True):
    """A pattern that no list can hold: every public name is allowed, at every port."""

    def covers(self, host: str, port: int) -> bool:
        """Whether it is public."""
        return not is_local(host)


@pytest.fixture
async def way(tmp_path: Path) -> AsyncIterator[Way]:
    """A way out by which every name may be reached, at every port."""
    async with open_way(tmp_path) as opened:
        opened.proxy.configure([])
        opened.proxy._lists[DIRECTORY] = (Everything("every.name"),)
        yield opened


@promise("SEC-6.network")
@pytest.mark.parametrize("form", [*LITERALS, *NAMES, *FORMS])
async def test_a_url_that_leads_inside_is_refused_by_the_proxy_without_a_connection(
    way: Way, canary: Canary, form: str
) -> None:
    url = form.format(port=canary.port)
    authority = url.partition("://")[2].partition("/")[0]
    tunnel = authority if ":" in authority.rpartition("]")[2] else f"{authority}:80"
    for message in (
        f"GET {url} HTTP/1.1\r\nHost: {authority}\r\n\r\n",
        f"CONNECT {tunnel} HTTP/1.1\r\nHost: {authority}\r\n\r\n",
    ):
        answer = await way.ask(message)
        assert answer[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 403 "), answer
    assert canary.visits == 0
    assert set(way.names.asked) <= {"example.com"}  # which leads to loopback here, and is refused for that


@promise("SEC-6.network")
@pytest.mark.parametrize("addresses", RESOLVED, ids=" ".join)
async def test_an_allowed_name_that_resolves_inside_is_refused_without_a_connection(
    way: Way, canary: Canary, addresses: list[str]
) -> None:
    way.names.answers["pages.example.com"] = [addresses]
    for message in (
        f"GET http://pages.example.com:{canary.port}/ HTTP/1.1\r\nHost: pages.example.com:{canary.port}\r\n\r\n",
        f"CONNECT pages.example.com:{canary.port} HTTP/1.1\r\nHost: pages.example.com\r\n\r\n",
    ):
        answer = await way.ask(message)
        assert answer.startswith(b"HTTP/1.1 403 Refused by Stead (egress-address)"), answer
    assert canary.visits == 0
    assert {used.verdict for used in await way.told(2)} == {"deny"}
