"""A channel's process in a real machine: what goes through, what it sees, where it gets."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from stead.domain import channel_wire as wire
from stead.domain.hosts import OF_CHANNELS
from stead.domain.ids import HOME
from stead.domain.mcp import Program
from stead.domain.secrets import HostBinding
from stead.machines.machine import Binding
from stead.machines.own_python import python_line
from tests.egress.bench import Way, make_certificate
from tests.fakes.telegram import Telegram, serve
from tests.machines.bench import Bench, require_sandbox, until

TOKEN = "123456:fake-token-of-tests"
PATIENCE_S = 60.0
_decoder: msgspec.json.Decoder[wire.FromChannel] = msgspec.json.Decoder(wire.FromChannel)


class Spoken:
    """A channel's process and the lines that it says."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._read = b""

    async def tell(self, line: wire.ToChannel | wire.Begin) -> None:
        await self.program.write(msgspec.json.encode(line) + b"\n")

    async def next(self) -> wire.FromChannel:
        async with asyncio.timeout(PATIENCE_S):
            while b"\n" not in self._read:
                piece = await self.program.read()
                assert piece, self.program.last_words
                self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return _decoder.decode(line)


class Channels:
    """Machines for channels, and the way out of them."""

    def __init__(self, root: Path) -> None:
        self.way = Way(root, [], session=HOME)
        self.bench = Bench(root, egress=self.way.proxy)

    @asynccontextmanager
    async def open(self, *hosts: str) -> AsyncIterator[Spoken]:
        """One that reaches these hosts; not begun."""
        program = await self.bench.machines.programs.start_channel("home", hosts)
        try:
            yield Spoken(program)
        finally:
            await program.end()

    @asynccontextmanager
    async def telegram(self, api: str, *hosts: str) -> AsyncIterator[Spoken]:
        async with self.open(*hosts) as spoken:
            await spoken.tell(wire.Begin("telegram", {"api": api}, {"token": TOKEN}))
            yield spoken


@pytest.fixture
async def channels(tmp_path: Path) -> AsyncIterator[Channels]:
    require_sandbox()
    made = Channels(tmp_path)
    yield made
    await made.bench.machines.close()


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with serve(Telegram(TOKEN)) as served:
        yield served


def local(server: Telegram) -> str:
    return server.url.partition("://")[2].replace("127.0.0.1", "localhost")


async def test_messages_go_in_and_out_through_the_proxy(channels: Channels, server: Telegram) -> None:
    ada = server.person()
    async with channels.telegram(f"http://{local(server)}", local(server)) as spoken:
        assert isinstance(await spoken.next(), wire.Up)
        server.writes(ada, "hello")
        update = await spoken.next()
        assert isinstance(update, wire.Update) and update.text == "hello"
        await spoken.tell(wire.Ack(update.n))
        await spoken.tell(wire.Send(1, "k", "42", "", "hello to you"))
        done = await spoken.next()
        assert isinstance(done, wire.Done) and server.messages[42, int(done.value)]["text"] == "hello to you"
        large = server.file(os.urandom(4_000_000))
        await spoken.tell(wire.Fetch(2, large["file_id"]))
        brought = await spoken.next()
        assert isinstance(brought, wire.Done) and brought.data == server._files[large["file_id"]]
    assert channels.way.reached[0] == (f"{OF_CHANNELS}home", "localhost")


async def test_it_reaches_no_other_host_than_it_was_given(channels: Channels, server: Telegram) -> None:
    async with channels.telegram(f"http://{local(server)}", "localhost:1", "api.telegram.org") as spoken:
        down = await spoken.next()
        assert isinstance(down, wire.Down) and not down.final
        (used, *_) = channels.way.events
        assert "is none of the hosts that the person named for 'home'" in used.reason.text
    assert server.requests == 0


async def test_it_never_reaches_the_daemon_itself(channels: Channels, server: Telegram) -> None:
    channels.way.proxy.own_ports = {int(server.url.rpartition(":")[2])}
    async with channels.telegram(f"http://{local(server)}", local(server)) as spoken:
        down = await spoken.next()
        assert isinstance(down, wire.Down)
        await until(lambda: bool(channels.way.events))
        assert "is Stead itself" in channels.way.events[0].reason.text
    assert server.requests == 0


async def test_a_folders_machine_reaches_no_local_host_by_its_objective(channels: Channels, server: Telegram) -> None:
    await channels.way.open(local(server), session=HOME, directory="/home/ada/dev/null/channel/home")
    assert b" 403 " in (await channels.way.get(f"{server.url}/bot{TOKEN}/getMe")).split(b"\r\n")[0]
    channels.way.proxy.close(channels.way.machine)


async def test_its_tls_is_its_own_also_where_a_secret_would_be_put_into_others(
    channels: Channels, tmp_path: Path
) -> None:
    tls, certificate = make_certificate(tmp_path, "localhost")
    channels.way.book.add("key", "value-of-it", HostBinding("localhost", tls=True))
    async with serve(Telegram(TOKEN), tls=tls) as server, channels.open(host := local(server)) as spoken:
        begin = wire.Begin("telegram", {"api": f"https://{host}"}, {"token": TOKEN}, ca=certificate.read_text())
        await spoken.tell(begin)
        assert isinstance(up := await spoken.next(), wire.Up), up


_LOOK = """
import json, os, sys
def tried(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path).read()
    except OSError as error:
        return error.strerror
found = {path: tried(path) for path in sys.argv[1:]}
found["environment"] = dict(os.environ)
found["command"] = open("/proc/self/cmdline").read()
found["user"] = os.getuid()
try:
    open(sys.prefix + "/lib/planted", "w")
except OSError as error:
    found["planted"] = error.strerror
import msgspec, stead.channels.worker
found["stead"] = stead.__file__
print(json.dumps(found), flush=True)
sys.stdin.read()
"""


async def test_it_sees_python_and_packages_and_nothing_of_the_persons(
    channels: Channels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is run here is not the worker, but has all that the worker has."""
    (channels.bench.project / "secret").write_text("of the person's")
    monkeypatch.setenv("STEAD_TOKEN", TOKEN)
    paths = [
        *("/root", "/home", "/etc/shadow", "/etc/hostname", "/work", "/var", "/opt", "/tools", "/stead-channel"),
        *(str(path) for path in (Path.home(), channels.bench.home.root, channels.bench.project, Path.cwd() / "tests")),
    ]
    words, environment = python_line("stead.channels.worker")
    maker = channels.bench.machines.programs._channels
    machine = await maker.make(HOME, Binding("", writable=False), lambda _: None, "program", listed=f"{OF_CHANNELS}x")
    given = [f"{name}={value}".encode() for name, value in environment.items()]
    line = [word.encode() for word in (*words[:-2], "-c", _LOOK, *paths)]
    await machine.call("open", b"%d" % len(given), *given, *line, limit_s=PATIENCE_S)
    said = b""
    async with asyncio.timeout(PATIENCE_S):
        while not said.endswith(b"\n"):
            piece, code, why = await machine.call("read", limit_s=PATIENCE_S)
            assert not code, why
            said += piece
    machine.kill("seen")
    await machine.gone()
    found = msgspec.json.decode(said)
    gone = "No such file or directory"
    assert {path: found[path] for path in paths if found[path] not in (gone, [])} == {
        "/stead-channel": found["/stead-channel"]
    }
    assert set(found["/stead-channel"]) - {"packages0", "packages1"} <= {"python", "code"}
    assert (found["stead"], found["user"]) == ("/stead-channel/code/stead/__init__.py", 1000)
    assert found["planted"] == "Read-only file system"
    assert TOKEN not in found["command"] + str(found["environment"])
    assert not {"STEAD_HOME", "STEAD_TOKEN", "SSH_AUTH_SOCK"} & set(found["environment"])


async def test_no_token_is_on_its_command_line_or_in_its_environment(channels: Channels, server: Telegram) -> None:
    async with channels.telegram(f"http://{local(server)}", local(server)) as spoken:
        assert isinstance(await spoken.next(), wire.Up)
        workers = [
            path for path in Path("/proc").glob("[0-9]*") if b"stead.channels.worker" in _bytes(path / "cmdline")
        ]
        assert workers
        for path in workers:
            assert TOKEN.encode() not in _bytes(path / "cmdline") + _bytes(path / "environ")


async def test_it_goes_on_when_every_session_is_stopped_and_ends_when_told(
    channels: Channels, server: Telegram
) -> None:
    ada = server.person()
    async with channels.telegram(f"http://{local(server)}", local(server)) as spoken:
        assert isinstance(await spoken.next(), wire.Up)
        await channels.bench.machines.close()
        server.writes(ada, "still there?")
        assert isinstance(await spoken.next(), wire.Update)
        await spoken.program.end()
        assert await spoken.program.read() == b""


_DAEMON = """
import asyncio, os, sys
from pathlib import Path
from tests.egress.bench import Way
from tests.machines.bench import Bench
from stead.domain.hosts import OF_CHANNELS
from stead.domain.ids import HOME
async def main():
    root = Path(sys.argv[1])
    bench = Bench(root, egress=Way(root, [], session=HOME).proxy)
    program = await bench.machines.programs.start_channel(sys.argv[2], [])
    print(program._machine._process.pid, flush=True)
    await asyncio.sleep(100)
asyncio.run(main())
"""


async def test_it_dies_with_the_daemon(tmp_path: Path) -> None:
    require_sandbox()
    line = [sys.executable, "-c", _DAEMON, str(tmp_path), "mortal"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        outer = int(await asyncio.to_thread(daemon.stdout.readline))
        assert _alive(outer)
        daemon.send_signal(signal.SIGKILL)
        await until(lambda: not _alive(outer))


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists() and b") Z" not in _bytes(Path(f"/proc/{pid}/stat"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
