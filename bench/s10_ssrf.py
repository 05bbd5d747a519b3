"""S10: addresses that lead inside, in every notation: how many the fetching client refuses without a connection.

Each is sent to the client of the product; a canary on every loopback address counts who connects.
"""

from __future__ import annotations

import asyncio

from bench.bar import Bar
from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.fetching import Fetcher
from tests.attacks.addresses import RESOLVED, numbered
from tests.attacks.test_ssrf import Canary, Names, listening


def measure() -> list[Bar]:
    """Refused forms, in percent."""
    return [asyncio.run(_measure())]


async def _measure() -> Bar:
    refused: list[bool] = []
    async with listening() as canary:
        reach = Reach(ports=Reach().ports | {canary.port})
        for _, url in numbered(canary.port):
            refused.append(
                await _refuses(canary, Fetcher(Dialer(reach, resolve=Names(["127.0.0.1"])), timeout_s=5), url)
            )
        for addresses in RESOLVED:
            url = f"http://pages.example.com:{canary.port}/"
            refused.append(await _refuses(canary, Fetcher(Dialer(reach, resolve=Names(addresses)), timeout_s=5), url))
        door = Reach(ports=reach.ports, endpoints=frozenset({("127.0.0.7", canary.port)}))
        for _, url in numbered(canary.port):
            head = f"HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n"
            canary.answer = head.encode("utf-8")
            if "\r" in url or "\n" in url:
                continue
            fetcher = Fetcher(Dialer(door, resolve=Names(["127.0.0.7"], ["127.0.0.1"])), timeout_s=5)
            refused.append(await _refuses(canary, fetcher, f"http://pages.example.com:{canary.port}/", visits=1))
    forms = len(list(numbered(0)))
    share = 100 * sum(refused) / len(refused)
    said = (
        f"{sum(refused)} of {len(refused)} refused: {forms} forms, {len(RESOLVED)} answers of a resolver, "
        "and the forms again as redirects"
    )
    return Bar(
        "S10", share, f"% of {len(refused)} refused", "100, of ≥ 40 forms", all(refused) and forms >= 40, {}, said
    )


async def _refuses(canary: Canary, fetcher: Fetcher, url: str, visits: int = 0) -> bool:
    canary.visits = 0
    try:
        await fetcher.fetch(url)
    except FetchFault:
        return canary.visits == visits
    return False
