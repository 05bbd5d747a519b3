"""A host of this computer or its networks is reached by the person's exact rule, and in no other way.

A canary listens on loopback. The rules here are real ones, as a person makes them; each attack tries to get further
than they say: by another notation or port, a name that changes its mind, a redirect, or a yes that a call was given.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.errors import InvalidRequest
from stead.domain.hosts import COMPUTER, may_lead, parse_allowed, parse_host
from tests.attacks.addresses import FORMS, LITERALS, NAMES, RESOLVED
from tests.egress.bench import DIRECTORY, Site, Way, open_way
from tests.machines.bench import SESSION, live_permit
from tests.promises import promise

LOOPBACK, NEAR = {"127.0.0.1", "127.53.0.1", "::1"}, {"192.168.0.1", "172.20.0.1", "10.1.2.3"}


@pytest.fixture
async def canary() -> AsyncIterator[Site]:
    """A site on every IPv4 address of this computer."""
    made = Site()
    async with await asyncio.start_server(made.serve, "0.0.0.0") as server:
        made.port = server.sockets[0].getsockname()[1]
        yield made


@pytest.fixture
async def way(tmp_path: Path) -> AsyncIterator[Way]:
    """A way out by which nothing may be reached."""
    async with open_way(tmp_path) as opened:
        yield opened


def allow(way: Way, *hosts: str, directory: str = DIRECTORY) -> None:
    """The person allows these and nothing else, in the spelling in which rules are kept."""
    way.proxy.configure([(directory, str(parse_allowed(host))) for host in hosts])


async def answers(way: Way, url: str) -> list[str]:
    """What a request and a tunnel to a URL's host are answered with."""
    authority = url.partition("://")[2].partition("/")[0]
    tunnel = authority if ":" in authority.rpartition("]")[2] else f"{authority}:80"
    got = []
    for line in (f"GET {url}", f"CONNECT {tunnel}"):
        reader, writer = await way.connect()
        writer.write(f"{line} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        got.append((await asyncio.wait_for(reader.readline(), 10)).decode().strip())
        writer.transport.abort()
        await asyncio.wait([asyncio.create_task(writer.wait_closed())])
    return got


def allowed(got: list[str]) -> bool:
    """Whether both got through; one alone would be a hole of its own."""
    through = {answer.startswith("HTTP/1.1 200") for answer in got}
    assert len(through) == 1, got
    assert all(answer.startswith(("HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 403")) for answer in got), got
    return through.pop()


@promise("SEC-6.network")
async def test_a_port_of_this_computer_is_reached_once_the_person_allowed_it_for_the_folder(
    way: Way, canary: Site
) -> None:
    urls = [f"http://{host}:{canary.port}/" for host in ("localhost", "LOCALHOST.", COMPUTER, "127.0.0.1")]
    for url in urls:
        assert not allowed(await answers(way, url))
    allow(way, f"localhost:{canary.port}", directory="/home/ada/other")
    assert not allowed(await answers(way, urls[0])) and canary.visits == 0
    allow(way, f"localhost:{canary.port}")
    for url in urls:
        assert allowed(await answers(way, url)), url
    assert [host for _, host in way.reached] == [*["localhost"] * 4, *[COMPUTER] * 2, *["127.0.0.1"] * 2]
    reader, writer = await way.tunnel(f"localhost:{canary.port}")
    allow(way)
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    assert not allowed(await answers(way, urls[0]))


@promise("SEC-6.network")
async def test_an_address_of_ipv6_is_reached_by_its_rule(way: Way) -> None:
    made = Site()
    async with await asyncio.start_server(made.serve, "::1") as server:
        port = server.sockets[0].getsockname()[1]
        for rule in (f"[::1]:{port}", f"[0:0::0:1]:{port}", f"localhost:{port}"):
            allow(way, rule)
            assert allowed(await answers(way, f"http://[::1]:{port}/"))
            assert not allowed(await answers(way, f"http://[::ffff:127.0.0.1]:{port}/"))
    assert made.visits == 6


@promise("SEC-6.network")
@pytest.mark.parametrize("form", [*LITERALS, *NAMES, *FORMS])
async def test_a_rule_covers_no_other_address_name_or_port(way: Way, canary: Site, form: str) -> None:
    allow(way, "localhost:1", "127.0.0.9:1", "192.168.1.20:8080", "db.internal:*", "*.example.com")
    assert not allowed(await answers(way, form.format(port=canary.port)))
    assert canary.visits == 0
    assert set(way.names.asked) <= {"example.com"}


@promise("SEC-6.network")
@pytest.mark.parametrize("form", [form for form in (*LITERALS, *NAMES) if "{port}" in form])
async def test_localhost_stands_for_its_own_notations_alone(way: Way, canary: Site, form: str) -> None:
    allow(way, f"localhost:{canary.port}")
    host = form.lower().removeprefix("http://").removesuffix(":{port}/")
    got = await answers(way, form.format(port=canary.port))
    if host == "[::1]":  # it may be connected to, and nobody listens there
        assert "(egress-unreachable)" in got[0]
    else:
        assert allowed(got) is (host in ("localhost", "localhost.", "127.0.0.1", COMPUTER))
    assert bool(canary.visits) is (host in ("localhost", "localhost.", "127.0.0.1", COMPUTER))


@promise("SEC-6.network")
@pytest.mark.parametrize("addresses", RESOLVED, ids=" ".join)
async def test_no_name_leads_to_where_it_has_no_business(way: Way, canary: Site, addresses: list[str]) -> None:
    allow(way, *(f"{name}:{canary.port}" for name in ("db.internal", "nas", "localhost", "pages.example.com")))
    for name, within in (("db.internal", NEAR), ("nas", NEAR), ("localhost", LOOPBACK), ("pages.example.com", set())):
        if set(addresses) <= within:
            continue
        way.names.answers[name] = [addresses]
        for answer in await answers(way, f"http://{name}:{canary.port}/"):
            assert "(egress-address)" in answer, (name, answer)
    assert canary.visits == 0


@promise("SEC-6.network")
async def test_a_name_that_changes_its_mind_gains_nothing(way: Way, canary: Site) -> None:
    allow(way, f"localhost:{canary.port}", f"db.internal:{canary.port}")
    way.names.answers["localhost"] = [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"]]
    way.names.answers["db.internal"] = [["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1", "93.184.216.34"]]
    url = f"http://localhost:{canary.port}/"
    assert b" 200 " in (await way.get(url)).splitlines()[0]
    for host in ("localhost",) * 3 + ("db.internal",) * 3:
        assert b"(egress-address)" in await way.get(f"http://{host}:{canary.port}/")
    assert canary.visits == 1


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        *((address, True) for address in ("10.1.2.3", "172.16.0.1", "192.168.1.20", "100.64.0.1", "fd12:3456::7")),
        *((address, False) for address in ("127.0.0.1", "::1", "0.0.0.0", "::", "8.8.8.8", "2606:2800::1")),
        *((address, False) for address in ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200")),
        *((address, False) for address in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1", "224.0.0.1", "172.32.0.1")),
    ],
)
def test_a_name_of_the_networks_leads_to_private_addresses_and_to_no_metadata(address: str, leads: bool) -> None:
    assert may_lead("db.internal", address) is leads


@promise("SEC-6.network")
async def test_a_redirect_from_an_allowed_host_is_judged_like_any_request(way: Way, canary: Site) -> None:
    allow(way, f"localhost:{canary.port}")
    for there in ("http://169.254.169.254/latest/", f"http://127.0.0.2:{canary.port}/", "http://db.internal/"):
        canary.answer = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        assert there.encode() in await way.get(f"http://localhost:{canary.port}/")
        assert not allowed(await answers(way, there))


@promise("SEC-6.network")
async def test_metadata_is_reached_by_its_exact_address_alone_and_is_never_offered(way: Way) -> None:
    allow(way, "*.example.com", "db.internal:*", "metadata.google.internal:80")
    way.names.answers["metadata.google.internal"] = [["169.254.169.254"]]
    with way.proxy.refusals(SESSION) as refused:
        for url in ("http://169.254.169.254/latest/", "http://metadata.google.internal/", "http://2852039166/"):
            assert not allowed(await answers(way, url))
    assert refused == {}
    assert str(parse_allowed("169.254.169.254:80")) == "169.254.169.254:80"


@promise("SEC-6.network")
async def test_the_daemon_is_reached_by_nobody_whatever_was_allowed(way: Way, canary: Site) -> None:
    way.proxy.own_ports = {canary.port}
    allow(way, *(f"{host}:{canary.port}" for host in ("localhost", "127.0.0.1", "127.0.0.2", "[::1]", "db.internal")))
    way.names.answers["localhost"] = [["127.0.0.1", "::1"]]
    for host in ("localhost", "127.0.0.1", "127.0.0.2", "[::1]", "name.localhost", "db.internal", COMPUTER):
        assert not allowed(await answers(way, f"http://{host}:{canary.port}/")), host
    assert canary.visits == 0


@promise("SEC-6.network")
async def test_no_call_is_granted_a_local_host_and_no_session_brings_one(way: Way, canary: Site) -> None:
    for host in ("localhost", "127.0.0.1", "db.internal", "nas", "[::1]", "app.localhost"):
        with pytest.raises(InvalidRequest, match="egress allow"):
            parse_host(f"{host}:{canary.port}", wildcard=False)
        with pytest.raises(InvalidRequest), way.proxy.grant(live_permit(), [f"{host}:{canary.port}"]):
            pass
    first = way.machine
    await way.open(f"localhost:{canary.port}", f"127.0.0.1:{canary.port}", "db.internal:*")
    assert not allowed(await answers(way, f"http://localhost:{canary.port}/")) and canary.visits == 0
    way.proxy.close(way.machine)
    way.machine = first


@pytest.mark.parametrize(
    "text",
    [
        *(
            "localhost",
            "localhost:*",
            "localhost:0",
            "app.localhost:80",
            "*.internal:80",
            "*.localhost:80",
            "nas",
            "nas:",
        ),
        *("127.0.0.1", "127.0.0.1:*", "192.168.1.20:*", "127.1:80", "0x7f.1:80", "2130706433:80", "0177.0.0.1:80"),
        *("0.0.0.0:80", "[::]:80", "[::ffff:127.0.0.1]:80", "[64:ff9b::7f00:1]:80", "[::1%lo]:80", "::1:80", "[::1]"),
        *("8.8.8.8:53", "224.0.0.1:80", "255.255.255.255:80", "192.168.0.0/16:80", "db.internal:65536", "db..lan:80"),
        *("*:80", "*", "registries:80:80", "db_.internal:x", "127.0.0.1.:80:", "168.63.129.16:80", "example.com:*"),
    ],
)
def test_what_is_no_single_local_host_with_its_port_is_no_rule(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_allowed(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *(("LocalHost:5432", "localhost:5432"), ("192.168.1.20:8080", "192.168.1.20:8080")),
        *(("DB.internal.:*", "db.internal:*"), ("[FD12:0::7]:22", "[fd12::7]:22"), ("nas:80", "nas:80")),
        *(("Docs.Example.com", "docs.example.com"), ("*.example.com:8443", "*.example.com:8443")),
    ],
)
def test_a_rule_is_kept_in_one_spelling_that_reads_back(text: str, kept: str) -> None:
    assert str(parse_allowed(text)) == kept
    assert str(parse_allowed(kept)) == kept
