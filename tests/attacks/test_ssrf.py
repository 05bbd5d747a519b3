"""No page can be used to reach this host, its networks or a cloud's metadata.

Every form is sent to the fetching client as the product has it, except that the port of a listening canary counts as a
web port: the address alone has to be what is refused, and the canary must never be connected to.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.fetching import Fetcher
from tests.attacks.addresses import FORMS, LITERALS, NAMES, RESOLVED
from tests.promises import promise


class Canary:
    """A server on every loopback address that counts who connects, and answers as it is told."""

    def __init__(self) -> None:
        self.visits = 0
        self.port = 0
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Canary]:
    canary = Canary()
    async with await asyncio.start_server(canary.serve, "0.0.0.0") as server:
        canary.port = server.sockets[0].getsockname()[1]
        yield canary


class Names:
    """A resolver whose answers are written down; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@promise("SEC-6.network")
@pytest.mark.parametrize("form", [*LITERALS, *NAMES, *FORMS])
async def test_a_url_that_leads_inside_is_refused_without_a_connection(form: str) -> None:
    async with listening() as canary:
        names = Names(["127.0.0.1"])
        fetcher = Fetcher(Dialer(Reach(ports=Reach().ports | {canary.port}), resolve=names), timeout_s=5)

        with pytest.raises(FetchFault) as refused:
            await fetcher.fetch(form.format(port=canary.port))

        assert canary.visits == 0
        assert names.asked == []
        assert "was not answered" not in str(refused.value)


@promise("SEC-6.network")
@pytest.mark.parametrize("addresses", RESOLVED, ids=" ".join)
async def test_a_name_that_resolves_inside_is_refused_without_a_connection(addresses: list[str]) -> None:
    async with listening() as canary:
        fetcher = Fetcher(Dialer(Reach(ports=frozenset({canary.port})), resolve=Names(addresses)), timeout_s=5)

        with pytest.raises(FetchFault, match=r"public address|not an address"):
            await fetcher.fetch(f"http://pages.example.com:{canary.port}/")

        assert canary.visits == 0


@promise("SEC-6.network")
async def test_a_name_that_changes_its_mind_is_asked_once_and_the_answer_that_was_checked_is_used() -> None:
    async with listening() as canary:
        reach = Reach(endpoints=frozenset({("127.0.0.1", canary.port)}))
        names = Names(["127.0.0.1"], ["127.0.0.2"])
        fetcher = Fetcher(Dialer(reach, resolve=names), timeout_s=5)
        url = f"http://pages.example.com:{canary.port}/"

        page = await fetcher.fetch(url)
        with pytest.raises(FetchFault, match=r"127\.0\.0\.2 is not a public address"):
            await fetcher.fetch(url)

        assert page.body == b"secret"
        assert (canary.visits, names.asked) == (1, ["pages.example.com"] * 2)


@promise("SEC-6.network")
async def test_a_redirect_to_the_same_name_is_resolved_and_checked_again() -> None:
    async with listening() as canary:
        reach = Reach(endpoints=frozenset({("127.0.0.1", canary.port)}))
        canary.answer = b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"
        fetcher = Fetcher(Dialer(reach, resolve=Names(["127.0.0.1"], ["127.0.0.2"])), timeout_s=5)

        with pytest.raises(FetchFault, match=r"127\.0\.0\.2 is not a public address"):
            await fetcher.fetch(f"http://pages.example.com:{canary.port}/")

        assert canary.visits == 1


@promise("SEC-6.network")
@pytest.mark.parametrize("form", [*LITERALS, *NAMES, "file:///etc/passwd", "gopher://127.0.0.1/", "//user@127.0.0.1/"])
async def test_a_redirect_that_leads_inside_is_refused(form: str) -> None:
    async with listening() as canary:
        reach = Reach(ports=Reach().ports | {canary.port}, endpoints=frozenset({("127.0.0.7", canary.port)}))
        location = form.format(port=canary.port).encode("utf-8")
        canary.answer = b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
        fetcher = Fetcher(Dialer(reach, resolve=Names(["127.0.0.7"], ["127.0.0.1"])), timeout_s=5)

        with pytest.raises(FetchFault) as refused:
            await fetcher.fetch(f"http://pages.example.com:{canary.port}/")

        assert canary.visits == 1
        assert "was not answered" not in str(refused.value)


async def test_a_proxy_of_the_environment_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as canary, listening() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        fetcher = Fetcher(Dialer(Reach(endpoints=frozenset({("127.0.0.1", canary.port)}))), timeout_s=5)

        await fetcher.fetch(f"http://127.0.0.1:{canary.port}/")

        assert (canary.visits, proxy.visits) == (1, 0)


OWN_ADDRESS = """
import asyncio, ctypes, fcntl, os, socket, struct, sys
from stead.domain.errors import FetchFault
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.tools.fetching import Fetcher

PUBLIC = "93.184.216.34"
NEW_NET = 0x40000000
NEW_USER = 0x10000000
if ctypes.CDLL(None).unshare(NEW_NET | (0 if os.getuid() == 0 else NEW_USER)) != 0:
    sys.exit(77)
SET_FLAGS, SET_ADDRESS = 0x8914, 0x8916
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh14x", b"lo", 1))
    address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(PUBLIC))
    fcntl.ioctl(control, SET_ADDRESS, address)
visits = 0

async def serve(reader, writer):
    global visits
    visits += 1
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    writer.close()

async def main():
    async with await asyncio.start_server(serve, PUBLIC, 8080):
        open_to_it = Fetcher(Dialer(Reach(endpoints=frozenset({(PUBLIC, 8080)}))), timeout_s=5)
        assert (await open_to_it.fetch(f"http://{PUBLIC}:8080/")).body == b"ok"
        try:
            await Fetcher(Dialer(Reach()), timeout_s=5).fetch(f"http://{PUBLIC}:8080/")
        except FetchFault as fault:
            assert "this host's own address" in str(fault), fault
        else:
            raise AssertionError("it was fetched")
        assert visits == 1, visits

asyncio.run(main())
"""


@promise("SEC-6.network")
def test_a_public_address_of_this_very_host_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OWN_ADDRESS], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60
    )
    if done.returncode == 77:
        pytest.skip("SKIPPED: this host lets nobody make a network namespace, so no address can be lent to it")

    assert done.returncode == 0, done.stderr
