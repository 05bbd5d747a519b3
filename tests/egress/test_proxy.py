"""The proxy over real sockets: what it lets through, how, and what it says of it."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead.domain.ids import SessionId
from stead.egress import exchange
from stead.egress.proxy import MOST_CONNECTIONS
from stead.egress.reports import MOST_EVENTS
from tests.egress.bench import DIRECTORY, Site, Way, fields_of, make_certificate, open_way, site
from tests.machines.bench import fresh_permit, live_permit, until

OTHER = SessionId("s_fedcba9876543210")


def refusal(answer: bytes, status: int) -> dict[str, str]:
    """The body of a refusal."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} Refused by Stead".encode()), answer
    found: dict[str, str] = json.loads(body)
    return found


# -- what is let through --------------------------------------------------------------------------------------------


async def test_a_request_to_an_allowed_host_is_written_anew_and_told_of(way: Way, shop: Site) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Kind: pen\r\nConnection: x-kind\r\n\r\nok"
    answer = await way.get(
        f"http://SHOP.example.com.:{shop.port}/a/b?q=tea&n=1#part",
        "Proxy-Authorization: Basic eDp5",
        "Proxy-Connection: keep-alive",
        "Connection: x-hop",
        "X-Hop: 1",
        "Upgrade: websocket",
        "TE: trailers",
        "X-Mine: yes",
    )
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nok") and b"x-kind" not in answer
    sent = fields_of(shop.requests[0])
    assert shop.requests[0].startswith(b"GET /a/b?q=tea&n=1 HTTP/1.1\r\n")
    assert sent == {"host": f"shop.example.com:{shop.port}", "x-mine": "yes", "connection": "close"}
    (used,) = await way.told()
    assert (used.host, used.port, used.address) == ("shop.example.com", shop.port, "127.0.0.1")
    assert (used.method, used.path, used.verdict, used.reason.rule) == ("GET", "/a/b?q=&n=", "allow", "egress-listed")
    assert used.up_bytes == len(shop.requests[0]) and used.down_bytes == len(answer) and used.key == ""


async def test_bodies_pass_both_ways_however_they_are_delimited(way: Way, shop: Site) -> None:
    shop.answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Late: 1\r\n\r\n"
    )
    url = f"http://shop.example.com:{shop.port}/"
    assert (await way.get(url, method="POST", body=b"x=1")).endswith(b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
    assert shop.requests[0].endswith(b"\r\n\r\nx=1")
    head = f"POST {url} HTTP/1.1\r\nHost: shop.example.com:{shop.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    await way.ask(head + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")
    assert shop.requests[1].endswith(b"\r\n\r\nhello") and fields_of(shop.requests[1])["content-length"] == "5"
    big = os.urandom(exchange.FILLED_LIMIT_BYTES + 70_000)
    await way.get(url, method="PUT", body=big)
    assert shop.requests[2].endswith(b"\r\n\r\n" + big) and fields_of(shop.requests[2])["content-length"] == str(
        len(big)
    )
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (big[:500_000], big[500_000:]))
    await way.ask(head.encode() + chunks + b"0\r\n\r\n")
    assert fields_of(shop.requests[3])["transfer-encoding"] == "chunked"


async def test_a_client_that_waits_for_leave_to_send_its_body_gets_it(way: Way, shop: Site) -> None:
    reader, writer = await way.connect()
    head = f"POST http://shop.example.com:{shop.port}/ HTTP/1.1\r\nHost: shop.example.com:{shop.port}\r\n"
    writer.write(f"{head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    writer.write(b"hi")
    assert (await reader.read()).endswith(b"ok")
    assert shop.requests[0].endswith(b"\r\n\r\nhi") and "expect" not in fields_of(shop.requests[0])
    writer.close()


@pytest.mark.parametrize(
    ("method", "answer", "end"),
    [
        (
            "HEAD",
            b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n",
            b"content-length: 900\r\nconnection: close\r\n\r\n",
        ),
        ("GET", b"HTTP/1.1 204 No\r\n\r\n", b"connection: close\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 No\r\nETag: a\r\n\r\n", b"etag: a\r\nconnection: close\r\n\r\n"),
        ("GET", b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", b"\r\n\r\nx"),
        ("GET", b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"d\r\nuntil the end\r\n0\r\n\r\n"),
    ],
)
async def test_answers_of_every_shape_come_back_whole(
    way: Way, shop: Site, method: str, answer: bytes, end: bytes
) -> None:
    shop.answer = answer
    assert (await way.get(f"http://shop.example.com:{shop.port}/", method=method)).endswith(end)


async def test_a_client_of_http_1_0_is_served(way: Way, shop: Site) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    answer = await way.ask(f"GET http://shop.example.com:{shop.port}/ HTTP/1.0\r\n\r\n")
    assert answer.endswith(b"\r\n\r\nok") and b"chunked" not in answer


async def test_a_tunnel_carries_bytes_both_ways_until_both_sides_are_done(tmp_path: Path) -> None:
    heard = bytearray()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"banner\n")
        while data := await reader.read(1000):
            heard.extend(data)
        writer.write(b"goodbye")
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with open_way(tmp_path, port, hosts=[f"shop.example.com:{port}"]) as way:
            reader, writer = await way.tunnel(f"shop.example.com:{port}")
            assert await reader.readexactly(7) == b"banner\n"
            writer.write(b"x" * 300_000)
            writer.write_eof()
            assert await reader.read() == b"goodbye"
            writer.close()
            (used,) = await way.told()
    assert len(heard) == used.up_bytes == 300_000
    assert (used.method, used.path, used.verdict, used.down_bytes) == ("CONNECT", "", "allow", 14 + 39)


async def test_tls_in_a_tunnel_must_be_for_the_host_that_was_allowed(way: Way, tmp_path: Path) -> None:
    server_side, trusted = make_certificate(tmp_path, "shop.example.com", "other.example.com")
    async with site(tls=server_side) as shop, open_way(tmp_path / "x", shop.port) as way:
        way.proxy.configure([(DIRECTORY, f"shop.example.com:{shop.port}")])
        client_side = ssl.create_default_context(cafile=str(trusted))
        for name, fits in (("shop.example.com", True), ("other.example.com", False)):
            reader, writer = await way.tunnel(f"shop.example.com:{shop.port}")
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = client_side.wrap_bio(incoming, outgoing, server_hostname=name)
            with pytest.raises(ssl.SSLWantReadError):
                tls.do_handshake()
            hello = outgoing.read()
            writer.write(hello[:40])
            await writer.drain()
            await asyncio.sleep(0)
            writer.write(hello[40:])
            answer = await asyncio.wait_for(reader.read(1000), 10)
            assert bool(answer) == fits
            writer.transport.abort()
        used = await way.told(2)
    assert [one.verdict for one in used] == ["allow", "deny"]
    assert used[1].reason.rule == "egress-tls" and used[1].up_bytes == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may listen at port 443 on loopback; run the tests as root")
async def test_a_tunnel_to_the_usual_ports_carries_tls_and_nothing_else(tmp_path: Path) -> None:
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read())
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 443), open_way(tmp_path, 443) as way:
        way.proxy.configure([(DIRECTORY, "shop.example.com")])
        for words in (
            b"GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
            b"\x16\x03\x01\x00\x05rubbish",
            b"SSH-2.0-x\r\n",
        ):
            reader, writer = await way.tunnel("shop.example.com:443")
            writer.write(words)
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        used = await way.told(3)
    assert {one.reason.rule for one in used} == {"egress-tls"} and heard == b""


# -- what is not ----------------------------------------------------------------------------------------------------


async def test_a_host_that_nobody_allowed_is_refused_by_name_with_the_way_out(way: Way, shop: Site) -> None:
    for message in (
        "GET http://other.example.com/x HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
        "CONNECT other.example.com:443 HTTP/1.1\r\nHost: other.example.com\r\n\r\n",
        "CONNECT shop.example.com:443 HTTP/1.1\r\nHost: shop.example.com\r\n\r\n",
    ):
        said = refusal(await way.ask(message), 403)
        assert said["rule"] == "egress-host" and "stead egress allow " in said["error"] and "`hosts`" in said["error"]
    assert way.names.asked == [] and shop.visits == 0
    used = await way.told(3)
    assert [one.verdict for one in used] == ["deny"] * 3 and {one.reason.rule for one in used} == {"egress-host"}


async def test_a_name_is_asked_once_and_what_was_checked_is_connected_to(way: Way, shop: Site) -> None:
    way.names.answers["shop.example.com"] = [["127.0.0.1"], ["127.0.0.2"], ["93.184.216.34", "10.0.0.1"]]
    url = f"http://shop.example.com:{shop.port}/"
    assert (await way.get(url)).startswith(b"HTTP/1.1 200")
    for _ in range(2):
        assert refusal(await way.get(url), 403)["rule"] == "egress-address"
    assert shop.visits == 1 and way.names.asked == ["shop.example.com"] * 3
    await way.told(3)
    assert [one.verdict for one in way.events] == ["allow", "deny", "deny"]


async def test_a_host_that_cannot_be_reached_is_said_to(tmp_path: Path) -> None:
    async with site() as gone:
        pass
    async with open_way(tmp_path, gone.port, hosts=[f"*.example.com:{gone.port}"]) as way:
        way.names.answers["nowhere.example.com"] = [[]]
        for name, why in (("shop", "could not be reached"), ("nowhere", "has no address")):
            said = refusal(await way.get(f"http://{name}.example.com:{gone.port}/"), 502)
            assert said["rule"] == "egress-unreachable" and why in said["error"]


HOSTILE = [
    ("GET / HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 400),
    ("GET https://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 400),
    ("GET ftp://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 400),
    ("GET http://shop.example.com:{port}/ HTTP/1.1\r\nHost: other.example.com\r\n\r\n", 403),
    ("GET http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\nHost: a.example\r\n\r\n", 400),
    ("GET http://shop.example.com:{port}/ HTTP/1.1\r\n\r\n", 400),
    ("GET http://user:word@shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 403),
    ("GET http://other.example.com\\@shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 403),
    ("GET http://shop.example.com:{port}\\@other.example.com/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 403),
    ("CONNECT shop.example.com HTTP/1.1\r\nHost: shop.example.com\r\n\r\n", 400),
    ("CONNECT shop.example.com:{port}/x HTTP/1.1\r\nHost: shop.example.com\r\n\r\n", 400),
    ("CONNECT user@shop.example.com:{port} HTTP/1.1\r\nHost: shop.example.com\r\n\r\n", 400),
    ("CONNECT shop.example.com:{port}?a HTTP/1.1\r\nHost: shop.example.com\r\n\r\n", 400),
    ("CONNECT other.example.com:{port} HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 403),
    ("CONNECT shop.example.com:{port} HTTP/1.1\r\nHost: other.example.com:{port}\r\n\r\n", 403),
    ("CONNECT http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com\r\n\r\n", 400),
    ("POST http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n"
     "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n", 400),
    ("POST http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n"
     "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", 400),
    ("POST http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n"
     "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    ("POST http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n"
     "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\n"
     "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ("GET http://shop.example.com:{port}/\x01 HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 400),
    ("GET http://shop.example.com:{port}/ HTTP/1.1\r\nHost: shop.example.com:{port}\r\nX: a\x00b\r\n\r\n", 400),
    ("GET http://shop.example.com:{port}/" + "a" * 5000 + " HTTP/1.1\r\nHost: shop.example.com:{port}\r\n\r\n", 403),
    ("GET http://shop.example.com:{port}/ HTTP/1.1\r\nX: " + "a" * 70_000 + "\r\n\r\n", 400),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("\x16\x03\x01\x00\x05hello\r\n\r\n", 400),
    ("\x05\x01\x00\r\n\r\n", 400),
]  # fmt: skip


@pytest.mark.parametrize(("message", "status"), HOSTILE, ids=lambda value: str(value)[:60])
async def test_what_could_be_read_in_two_ways_is_refused_and_reaches_nobody(
    way: Way, shop: Site, message: str, status: int
) -> None:
    refusal(await way.ask(message.replace("{port}", str(shop.port))), status)
    assert shop.visits == 0
    (used,) = await way.told()
    assert used.verdict == "deny" and used.address == ""


async def test_a_second_request_in_the_same_connection_goes_nowhere(way: Way, shop: Site) -> None:
    request = f"GET http://shop.example.com:{shop.port}/ HTTP/1.1\r\nHost: shop.example.com:{shop.port}\r\n\r\n"
    answer = await way.ask(request + request.replace("shop", "other", 2) + request)
    assert answer.count(b"HTTP/1.1") == 1 and shop.visits == 1


WORDS = (
    b"GET|CONNECT| |\r\n|\n|http://|other.example.com|127.0.0.1|:|443|/|@|HTTP/1.1|HTTP/1.0|Host|Content-Length|"
    b"Transfer-Encoding|chunked|\x00|5"
).split(b"|")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_bytes_break_the_proxy_or_reach_a_host_that_is_not_allowed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = st.sampled_from(WORDS)
    message = b"".join(data.draw(st.lists(st.one_of(words, st.binary(max_size=8)), max_size=30))) + b"\r\n\r\n"

    async def try_it() -> None:
        async with open_way(tmp_path_factory.mktemp("way"), 1, hosts=["shop.example.com"]) as way:
            answer = await way.ask(message, end=True)
            assert answer == b"" or answer[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 403 ", b"HTTP/1.1 502 "), answer
            assert set(way.names.asked) <= {"shop.example.com"}

    asyncio.run(try_it())


# -- grants and lists -----------------------------------------------------------------------------------------------


async def test_a_grant_lives_as_long_as_its_permit_and_what_it_covered_is_cut_with_it(way: Way, shop: Site) -> None:
    permit = live_permit()
    host = f"pens.example.com:{shop.port}"
    refusal(await way.get(f"http://{host}/"), 403)
    with way.proxy.grant(permit, [host]):
        assert (await way.get(f"http://{host}/")).endswith(b"ok")
        reader, writer = await way.tunnel(host)
        listed, other = await way.tunnel(f"shop.example.com:{shop.port}")
    assert await asyncio.wait_for(reader.read(), 10) == b""
    refusal(await way.get(f"http://{host}/"), 403)
    assert not listed.at_eof()
    other.write(b"GET / HTTP/1.1\r\n\r\n")
    assert (await asyncio.wait_for(listed.read(), 10)).endswith(b"ok")
    for one in (writer, other):
        one.close()
    used = await way.told(5)
    assert [(one.key, one.reason.rule) for one in used] == [
        ("", "egress-host"),
        (permit.call, "egress-granted"),
        (permit.call, "egress-cut"),
        ("", "egress-host"),
        ("", "egress-listed"),
    ]


async def test_a_grant_covers_nothing_once_its_permit_is_closed_or_before_it_is_spent(way: Way, shop: Site) -> None:
    host = f"pens.example.com:{shop.port}"
    for permit in (live_permit(), fresh_permit()):
        permit.close()
        with way.proxy.grant(permit, [host]):
            refusal(await way.get(f"http://{host}/"), 403)
    with way.proxy.grant(live_permit(OTHER), [host]):
        refusal(await way.get(f"http://{host}/"), 403)
    assert shop.visits == 0


async def test_what_was_refused_stays_so_on_record_although_the_call_ends_before_the_connection(way: Way) -> None:
    host = "pens.example.com:1"
    with way.proxy.grant(live_permit(), [host]):
        reader, writer = await way.connect()
        writer.write(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)).startswith(b"HTTP/1.1 403 ")
    (used,) = await way.told()
    assert used.reason.rule == "egress-address"
    writer.close()


async def test_a_change_of_the_list_counts_at_once_also_for_what_is_open(way: Way, shop: Site) -> None:
    host = f"pens.example.com:{shop.port}"
    way.proxy.configure([(DIRECTORY, host), ("/elsewhere", f"inks.example.com:{shop.port}")])
    reader, writer = await way.tunnel(host)
    refusal(await way.get(f"http://inks.example.com:{shop.port}/"), 403)
    way.proxy.configure([(DIRECTORY, f"*.example.com:{shop.port}")])
    assert (await way.get(f"http://inks.example.com:{shop.port}/")).endswith(b"ok")
    assert not reader.at_eof()
    way.proxy.configure([])
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    refusal(await way.get(f"http://{host}/"), 403)


async def test_the_end_of_a_machine_cuts_its_connections_and_is_told_at_once(way: Way, shop: Site) -> None:
    reader, writer = await way.tunnel(f"shop.example.com:{shop.port}")
    way.proxy.close(way.machine)
    assert [one.reason.rule for one in way.events] == ["egress-cut"]
    assert await asyncio.wait_for(reader.read(), 10) == b"" and not Path(way.machine).exists()
    writer.close()
    with pytest.raises(OSError):
        await way.connect()
    await asyncio.sleep(0.05)
    assert len(way.events) == 1


async def test_each_machine_has_a_socket_of_its_own_that_only_its_user_may_use(way: Way, shop: Site) -> None:
    first = way.machine
    await way.open(f"inks.example.com:{shop.port}", session=OTHER)
    second, way.machine = way.machine, first
    refusal(await way.get(f"http://inks.example.com:{shop.port}/"), 403)
    found = os.stat(f"{first}/proxy.sock")
    assert stat.S_IMODE(found.st_mode) == 0o600 and first != second
    assert found.st_uid == (65534 if os.geteuid() == 0 else os.geteuid())
    assert "PRIVATE KEY" not in Path(first, "ca.pem").read_text("utf-8")
    way.proxy.close(second)


# -- limits ---------------------------------------------------------------------------------------------------------


async def test_a_request_that_never_ends_is_given_up(way: Way, shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "HEAD_LIMIT_S", 0.2)
    refused = refusal(await way.ask(f"GET http://shop.example.com:{shop.port}/ HTTP/1.1\r\nX: "), 408)
    assert refused["rule"] == "egress-limit" and shop.visits == 0


async def test_a_connection_through_which_nothing_comes_is_given_up(
    way: Way, shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "IDLE_LIMIT_S", 0.2)
    reader, writer = await way.tunnel(f"shop.example.com:{shop.port}")
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    assert (await way.told())[0].reason.rule == "egress-limit"


async def test_the_total_time_of_a_busy_connection_is_bounded(
    way: Way, shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "TOTAL_LIMIT_S", 0.4)
    reader, writer = await way.tunnel(f"shop.example.com:{shop.port}")

    async def chatter() -> None:
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    task = asyncio.create_task(chatter())
    assert await asyncio.wait_for(reader.read(), 10) == b""
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() or isinstance(task.exception(), ConnectionError)
    writer.transport.abort()


async def test_what_comes_through_one_connection_is_bounded(
    way: Way, shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "CONNECTION_LIMIT_BYTES", 100_000)
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + bytes(9_000_000)
    answer = await way.get(f"http://shop.example.com:{shop.port}/")
    assert len(answer) < 1_000_000
    assert (await way.told())[0].reason.rule == "egress-limit"


async def test_the_connections_of_a_machine_are_bounded(way: Way, shop: Site) -> None:
    held = [await way.connect() for _ in range(MOST_CONNECTIONS)]
    outlet = way.proxy._outlets[way.machine]
    await until(lambda: len(outlet.open) == MOST_CONNECTIONS)
    assert refusal(await way.get(f"http://shop.example.com:{shop.port}/"), 503)["rule"] == "egress-limit"
    for _, writer in held:
        writer.close()
    await until(lambda: not outlet.open)
    assert (await way.get(f"http://shop.example.com:{shop.port}/")).endswith(b"ok")
    assert len(await way.told(2)) == 2  # who connects and says nothing leaves no event


async def test_a_flood_of_connections_is_told_of_in_one_line(way: Way) -> None:
    for _ in range(MOST_EVENTS + 37):
        await way.ask("CONNECT x.example.com:443 HTTP/1.1\r\nHost: x.example.com\r\n\r\n")
    await until(lambda: not way.proxy._outlets[way.machine].open)
    assert len(way.events) == MOST_EVENTS
    way.proxy.close(way.machine)
    assert len(way.events) == MOST_EVENTS + 1
    assert (way.events[-1].connections, way.events[-1].reason.rule) == (37, "egress-flood")


# -- broken servers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [b"", b"rubbish\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"]
)
async def test_an_answer_that_is_none_is_a_bad_gateway(way: Way, shop: Site, answer: bytes) -> None:
    shop.answer = answer
    assert refusal(await way.get(f"http://shop.example.com:{shop.port}/"), 502)["rule"] == "egress-unreachable"


async def test_an_answer_that_breaks_off_is_not_made_to_look_whole(way: Way, shop: Site) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    answer = await way.get(f"http://shop.example.com:{shop.port}/")
    assert b"hello" in answer and not answer.endswith(b"0\r\n\r\n")
    assert (await way.told())[0].reason.rule == "egress-unreachable"


async def test_a_server_may_answer_before_it_has_read_everything(tmp_path: Path) -> None:
    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await writer.drain()
        writer.write_eof()
        while await reader.read(65_536):
            continue
        writer.close()

    async with await asyncio.start_server(hasty, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with open_way(tmp_path, port, hosts=[f"shop.example.com:{port}"]) as way:
            answer = await way.get(f"http://shop.example.com:{port}/", method="PUT", body=bytes(2_000_000))
    assert answer.startswith(b"HTTP/1.1 413") and answer.endswith(b"big")


async def test_a_host_is_on_record_before_anything_of_it_comes_in_and_else_nothing_does(
    tmp_path: Path, shop: Site
) -> None:
    port = shop.port
    async with open_way(tmp_path, port, hosts=[f"shop.example.com:{port}", f"*.wide.example.com:{port}"]) as way:
        way.unrecorded = True
        answer = await way.get(f"http://shop.example.com:{port}/")
        assert refusal(answer, 503)["rule"] == "egress-unreachable" and shop.requests == []
        assert (await way.told())[0].verdict == "deny" and way.reached == []
        way.unrecorded = False
        for host in ("shop", "other", "a.wide", "b.wide"):
            await way.get(f"http://{host}.example.com:{port}/")
        named = ["shop.example.com", "*.wide.example.com", "*.wide.example.com"]
        assert way.reached == [(DIRECTORY, host) for host in named]
