"""A redirect takes nobody to a host that was not asked for: it is told, as the page's word, and not followed.

Each case is a real exchange with servers on loopback; the stranger must never be called.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach, Target
from stead.net.dialing import Dialer
from stead.net.exchange import next_hop
from stead.tools.fetching import REDIRECT_LIMIT, Fetcher
from tests.attacks.addresses import LITERALS
from tests.fakes.http import Exchange, Request, serve
from tests.promises import promise

HOST, OTHER = "pages.example.com", "stranger.example.com"
HERE = Target("https", HOST, 443, "/a/b?c=d")


class Site:
    """Pages by path, or a redirect: (status, where to, further fields)."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[tuple[str, str]] = []
        self.hops: dict[str, tuple[int, dict[str, str]]] = {}

    async def handle(self, request: Request, exchange: Exchange) -> None:
        self.asked.append((request.headers["host"], request.path))
        status, fields = self.hops.get(request.path, (200, {}))
        body = f"<meta http-equiv=refresh content='0;url=http://{OTHER}:{self.port}/'>the page".encode()
        await exchange.send(status, body, {"content-type": "text/html", **fields})

    def fetcher(self) -> Fetcher:
        """One that finds every name at this site."""
        return Fetcher(Dialer(Reach(endpoints=frozenset({("127.0.0.1", self.port)})), resolve=_here), timeout_s=5)

    def url(self, path: str, host: str = HOST) -> str:
        return f"http://{host}:{self.port}{path}"


async def _here(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


@asynccontextmanager
async def opened() -> AsyncIterator[Site]:
    site = Site()
    async with serve(site.handle) as port:
        site.port = port
        yield site


@promise("SEC-6.network")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location", ["http://{other}/?d=salary+98000", "//{other}/", "HTTP://{other}", "http:\\\\{other}/"]
)
async def test_a_redirect_to_a_stranger_reaches_nobody_and_says_where_it_led(status: int, location: str) -> None:
    async with opened() as site:
        site.hops["/out"] = status, {"location": location.format(other=f"{OTHER}:{site.port}")}
        with pytest.raises(FetchFault, match=r"not followed|where nothing is fetched") as told:
            await site.fetcher().fetch(site.url("/out"))
        assert [host for host, _ in site.asked] == [f"{HOST}:{site.port}"]
        assert "\\" in location or OTHER in str(told.value)


@promise("SEC-6.network")
@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("/next", True),
        ("next", True),
        ("../next", True),
        ("?again", True),
        ("https://pages.example.com/next", True),
        ("https://PAGES.Example.COM/next", True),
        ("https://pages.example.com./next", True),
        ("https://pages.example.com:443/next", True),
        ("//pages.example.com/next", True),
        ("http://pages.example.com/next", False),
        ("https://pages.example.com:8443/next", False),
        ("https://pages.example.com:80/next", False),
        ("https://www.pages.example.com/next", False),
        ("https://example.com/next", False),
        ("https://pages.example.com.stranger.example.com/", False),
        ("https://pages.example.com@stranger.example.com/", False),
        ("https://stranger.example.com@pages.example.com/", False),
        ("https://stranger.example.com#pages.example.com", False),
        ("https://stranger.example.com\\@pages.example.com/", False),
        ("https://pages.example.com\t.stranger.example.com/", False),
        ("https://p\u0430ges.example.com/next", False),
        ("https://\uff50ages.example.com/next", False),
        ("https://pages\u3002example.com/next", False),
        ("https://xn--pges-53d.example.com/next", False),
        ("https://pages.example.com%2estranger.example.com/", False),
        ("https:///stranger.example.com/", True),
        ("https:/\\stranger.example.com/", False),
        ("ftp://pages.example.com/next", False),
        ("file:///etc/passwd", False),
        ("data:text/plain,hello", False),
        ("javascript:alert(1)", False),
        ("http://169.254.169.254/latest/meta-data/", False),
        ("http://[::ffff:169.254.169.254]/", False),
        ("http://2852039166/", False),
        ("//[::1]/", False),
        ("https://[pages.example.com]/", False),
        ("", True),
    ],
)
def test_only_the_same_scheme_host_and_port_are_followed_however_they_are_spelled(
    location: str, *, followed: bool
) -> None:
    if not followed:
        with pytest.raises(FetchFault):
            next_hop(HERE, location, Reach())
        return
    hop = next_hop(HERE, location, Reach())
    assert (hop.scheme, hop.host, hop.port, hop.address) == ("https", HOST, 443, "")


@pytest.mark.parametrize("form", LITERALS)
def test_a_redirect_to_an_address_inside_is_refused_from_any_page(form: str) -> None:
    for page in (HERE, Target("http", "127.0.0.7", 80, "/", "127.0.0.7")):
        with pytest.raises(FetchFault):
            next_hop(page, form.format(port=80), Reach())


async def test_a_chain_through_many_hosts_ends_at_the_first_and_a_loop_ends_too() -> None:
    async with opened() as site:
        for number in range(30):
            site.hops[f"/{number}"] = 302, {"location": site.url(f"/{number + 1}", f"h{number}.example.com")}
        with pytest.raises(FetchFault, match="not followed"):
            await site.fetcher().fetch(site.url("/0"))
        assert len(site.asked) == 1
        site.asked.clear()
        site.hops["/loop"] = 302, {"location": "/loop"}
        with pytest.raises(FetchFault, match="more than 5 times"):
            await site.fetcher().fetch(site.url("/loop"))
        assert len(site.asked) == REDIRECT_LIMIT + 1
        site.asked.clear()
        site.hops["/late"] = 302, {"location": "/later"}
        site.hops["/later"] = 302, {"location": site.url("/", OTHER)}
        with pytest.raises(FetchFault, match="not followed"):
            await site.fetcher().fetch(site.url("/late"))
        assert [host for host, _ in site.asked] == [f"{HOST}:{site.port}"] * 2


@pytest.mark.parametrize(
    "fields",
    [
        {"refresh": "0; url=http://stranger.example.com/"},
        {"link": "<http://stranger.example.com/>; rel=canonical"},
        {"content-location": "http://stranger.example.com/"},
        {"location": "http://stranger.example.com/"},
    ],
)
async def test_no_other_field_of_an_answer_and_no_element_of_a_page_is_a_redirect(fields: dict[str, str]) -> None:
    async with opened() as site:
        site.hops["/page"] = 200, fields
        page = await site.fetcher().fetch(site.url("/page"))
        assert (page.host, page.url, len(site.asked)) == (HOST, site.url("/page"), 1)
