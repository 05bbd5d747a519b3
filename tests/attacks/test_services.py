"""Attacks through services and their previews: by other pages and clients, by the service, by the machine's runner."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from stead.domain.errors import InvalidRequest, MachineDied, NotFound
from stead.domain.ids import SessionId
from stead.machines.network import connect
from stead.machines.previews import HEAD_LIMIT_BYTES, MOST_CONNECTIONS, Previews
from stead.tools.shell import ShellTool
from tests.attacks.test_runner import in_other_hands
from tests.machines.bench import SESSION, Bench, live_permit, open_bench, until

SITE = "python3 -u -m http.server 8123 --bind 127.0.0.1"
NOTHING = b"There is no such preview, or no longer.\n"
OTHER = SessionId("s_fedcba9876543210")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


async def shown(bench: Bench) -> str:
    """Host and port of a preview of the project's folder."""
    (bench.project / "index.html").write_text("quay")
    await bench.machines.services.start(live_permit(), "web", SITE)
    return urlsplit((await bench.machines.services.preview(SESSION, "web", 0)).url).netloc


async def answered(port: int, head: bytes) -> bytes:
    """All that a client is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head)
        async with asyncio.timeout(20):
            return await reader.read()
    finally:
        writer.close()


def asking(*hosts: str, target: str = "/index.html") -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.0", *(f"Host: {host}" for host in hosts), "", ""]).encode()


def port_of(place: str) -> int:
    return int(place.rpartition(":")[2])


# -- by other pages and clients -------------------------------------------------------------------------------------


async def test_no_host_but_the_previews_own_gets_anything(bench: Bench) -> None:
    place = await shown(bench)
    name, port = place.split(".")[0], port_of(place)
    assert (await answered(port, asking(place))).endswith(b"quay")
    assert (await answered(port, asking(place.upper()))).endswith(b"quay"), "names of hosts have no case"
    wrong = [
        (),
        ("",),
        (f"127.0.0.1:{port}",),
        (f"localhost:{port}",),
        (f"{name}.localhost",),
        (f"{name}.localhost:{port + 1}",),
        (f"{name}.example.com:{port}",),
        (f"{name[:-1]}.localhost:{port}",),
        (f"x.{place}",),
        (f".localhost:{port}",),
        (place, place),
        (place, "example.com"),
    ]
    for hosts in wrong:
        assert (await answered(port, asking(*hosts))).endswith(NOTHING), hosts
    rebound = asking(f"rebound.example.com:{port}", target=f"http://{place}/index.html")
    assert (await answered(port, rebound)).endswith(NOTHING), "a whole URL is no Host"


async def test_a_head_too_long_or_unfinished_is_answered_with_nothing(bench: Bench) -> None:
    place = await shown(bench)
    long = asking(place)[:-2] + b"X: " + b"x" * HEAD_LIMIT_BYTES + b"\r\n\r\n"
    with contextlib.suppress(ConnectionError):  # the answer may be lost, as the rest of the head is not read
        assert (await answered(port_of(place), long)).endswith(NOTHING)
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(place))
    writer.write(b"GET / HTTP/1.1\r\nHost:")
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


async def test_a_slow_head_is_hung_up_on() -> None:
    async def dial(_session: SessionId, _service: str, _port: int) -> socket.socket | None:
        raise AssertionError("nobody was named")

    previews = Previews(dial, head_limit_s=0.2)
    port = urlsplit(await previews.open(SESSION, "0" * 16, 8123)).port or 0
    assert await answered(port, b"GET / HTTP/1.1\r\nHost: ") == b""
    await previews.close()


async def test_more_connections_than_may_be_are_hung_up_on(bench: Bench) -> None:
    place = await shown(bench)
    waiting = [await asyncio.open_connection("127.0.0.1", port_of(place)) for _ in range(MOST_CONNECTIONS)]
    with contextlib.suppress(ConnectionError):
        assert await answered(port_of(place), asking(place)) == b""
    for _, writer in waiting:
        writer.close()
    async with asyncio.timeout(10):
        while not await came_through(place):
            continue


async def came_through(place: str) -> bool:
    try:
        return (await answered(port_of(place), asking(place))).endswith(b"quay")
    except ConnectionError:
        return False


async def test_a_preview_is_gone_with_its_service_and_with_its_session(bench: Bench) -> None:
    place = await shown(bench)
    await bench.machines.services.stop(SESSION, "web")
    assert (await answered(port_of(place), asking(place))).endswith(NOTHING)
    again = await shown(bench)
    assert again != place, "another start is another service"
    assert (await answered(port_of(place), asking(place))).endswith(NOTHING)
    await bench.machines.kill(SESSION)
    assert (await answered(port_of(again), asking(again))).endswith(NOTHING)
    assert (await answered(port_of(place), asking(place))).endswith(NOTHING)


async def test_stopping_a_service_ends_the_connections_of_its_preview(bench: Bench) -> None:
    place = await shown(bench)
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(place))
    writer.write(f"GET /index.html HTTP/1.1\r\nHost: {place}\r\n".encode())  # which the service waits for the end of
    writer.write(b"\r\n")
    await reader.readuntil(b"\r\n\r\n")
    await bench.machines.services.stop(SESSION, "web")
    async with asyncio.timeout(10):
        await reader.read()
    writer.close()


async def test_no_session_reaches_anothers_services(bench: Bench) -> None:
    await shown(bench)
    bench.bind(session=OTHER)
    assert await bench.machines.services.rows(OTHER) == ()
    with pytest.raises(NotFound):
        await bench.machines.services.preview(OTHER, "web", 8123)


async def test_a_preview_never_reaches_the_hosts_own_loopback(bench: Bench) -> None:
    await shown(bench)
    machine = bench.machines.services._running(SESSION)
    assert machine
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(ConnectionRefusedError):
        await connect(machine.first, listener.getsockname()[1])
    (await connect(machine.first, 8123)).close()


# -- by the model and the service -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../web", "WEB", "web\n", "9", "a b", "-web", "wéb", "w" * 32, "web\0", "$(id)"])
async def test_a_hostile_name_is_refused_before_anything_runs(bench: Bench, name: str) -> None:
    tool = ShellTool(bench.machines, bench.machines.services)
    with pytest.raises(InvalidRequest):
        tool.parse(json.dumps({"command": "true", "service": name}))


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": ""},
        {"command": "", "stop": True},
        {"command": "true", "stop": True},
        {"command": "true", "service": "web", "stop": True},
        {"command": "true", "service": "web", "hosts": ["example.com"]},
    ],
)
async def test_arguments_that_contradict_each_other_are_refused(bench: Bench, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        ShellTool(bench.machines, bench.machines.services).parse(json.dumps(arguments))


async def test_a_service_that_floods_its_output_keeps_nobody_waiting(bench: Bench) -> None:
    services = bench.machines.services
    await services.start(live_permit(), "flood", "yes 0123456789 & exec yes 9876543210")
    assert await bench.output("echo still here") == "still here\n"
    seen = await services.log(SESSION, "flood")
    assert seen.service.size_bytes > 1 << 20
    assert len(seen.text.encode()) == 64 << 10
    stopped, _ = await services.stop(SESSION, "flood")
    assert stopped.service.status == "ended"
    assert await bench.output("pgrep -c yes || true") == "0\n"


async def test_what_outlives_its_first_process_is_still_the_service(bench: Bench) -> None:
    services = bench.machines.services
    seen, _ = await services.start(live_permit(), "web", f"(setsid {SITE} &) ; echo left; exit 0")
    assert seen.service.status == "running"
    await until_listening(bench)
    stopped, _ = await services.stop(SESSION, "web")
    assert stopped.service.status == "ended"
    assert await bench.output("pgrep -fc [h]ttp.server || true") == "0\n"


async def until_listening(bench: Bench) -> None:
    async with asyncio.timeout(10):
        while not (await bench.machines.services.rows(SESSION))[0].ports:
            await asyncio.sleep(0.05)


# -- by the runner --------------------------------------------------------------------------------------------------

_ROW = {"name": "web", "id": "0" * 16, "status": "running", "ports": [8123], "exit_code": 0, "why": "exit"}
_ROW |= {"size_bytes": 0, "command": "true"}


@pytest.mark.parametrize(
    "lie",
    [
        b"[]",
        b"\xff",
        *(
            json.dumps(_ROW | changed).encode()
            for changed in (
                {"ports": [0]},
                {"ports": [65_536]},
                {"ports": ["8123"]},
                {"ports": [8123] * 17},
                {"name": "../web"},
                {"id": "0"},
                {"status": "fine"},
                {"exit_code": 999},
                {"command": "x" * 301},
                {"why": "because"},
            )
        ),
    ],
)
async def test_a_runner_that_lies_about_services_is_ended(bench: Bench, lie: bytes) -> None:
    in_other_hands(
        bench,
        'frame(b"", b"hello", who("/space/folder"), b"1")\n'
        'frame(asked(), b"done")\n'
        f'while True: frame(asked(), b"done", {lie!r})\n',
    )
    with pytest.raises(MachineDied, match="made no sense"):
        await bench.machines.services.start(live_permit(), "web", "true")
    await until(lambda: bench.changes[-1][1] == "ended")
    assert await bench.machines.services.rows(SESSION) == ()
