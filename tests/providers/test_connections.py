"""Connections to model servers: handed on at the reply's end, used again, bounded; through proxies; by TLS."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.errors import ModelFault
from stead.domain.events import ModelRef
from stead.domain.messages import Text
from stead.providers.directory import ProviderConfig
from stead.providers.presets import Deadlines
from tests.egress.bench import make_certificate
from tests.fakes.faults import answers
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.wire import Turn, anthropic_events, openai_events
from tests.providers.conftest import HASTY, MakeModels, ask, local

WIRES = ["openai", "anthropic"]
HERE = (ModelRef("here", "m"),)
HI = Turn("Hi.", usage=(11, 5, 0, 0))


class Lingering:
    """A server whose streams stay open after their last piece until ``ends`` is set, and say ``after`` on the way."""

    def __init__(self, wire: str) -> None:
        self.ends = asyncio.Event()
        self.left = asyncio.Event()
        self.connections = 0
        self.after = b""
        self._made = openai_events if wire == "openai" else anthropic_events

    async def handle(self, request: Request, exchange: Exchange) -> None:
        await exchange.start()
        for event in self._made(HI, "m", 1):
            await exchange.chunk(event)
        try:
            while self.after:
                await exchange.chunk(self.after)
        except ConnectionError:
            self.left.set()
            return
        leaving = asyncio.create_task(exchange.left_within(30))
        ending = asyncio.create_task(self.ends.wait())
        await asyncio.wait({leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
        if ending.done():
            leaving.cancel()
            await asyncio.wait({leaving})
            await exchange.finish()
        else:
            ending.cancel()
            self.left.set()

    def counted(self) -> None:
        self.connections += 1


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextlib.asynccontextmanager
async def lingering(wire: str) -> AsyncIterator[tuple[Lingering, ProviderConfig]]:
    server = Lingering(wire)
    async with serve(server.handle, on_connect=server.counted) as port:
        yield server, local("here", f"http://127.0.0.1:{port}", wire)


async def test_a_reply_is_there_before_its_stream_ends_and_the_connection_serves_again(
    wire: str, make_models: MakeModels
) -> None:
    async with lingering(wire) as (server, config):
        models = make_models(config)
        await models.warm()
        began = time.monotonic()
        reply = await models.reply(ask(HERE), lambda _: None)
        assert time.monotonic() - began < Deadlines().ending_s / 2
        assert (reply.parts, reply.usage.input, reply.usage.output) == ((Text("Hi."),), 11, 5)
        await models.reply(ask(HERE), lambda _: None)
        assert server.connections == 2  # the first one was still being read
        server.ends.set()
        async with asyncio.timeout(5):
            opened = 0
            while opened < server.connections:  # until a request opened none
                opened = server.connections
                await models.reply(ask(HERE), lambda _: None)


async def test_a_stream_that_never_ends_is_closed_when_its_time_is_up(wire: str, make_models: MakeModels) -> None:
    async with lingering(wire) as (server, config):
        models = make_models(config, deadlines=HASTY)
        await models.reply(ask(HERE), lambda _: None)
        await asyncio.wait_for(server.left.wait(), 5)
        server.ends.set()
        await models.reply(ask(HERE), lambda _: None)
        assert server.connections == 2


async def test_a_server_that_talks_on_after_its_reply_is_cut_off(wire: str, make_models: MakeModels) -> None:
    async with lingering(wire) as (server, config):
        server.after = b"data: {}\n\n" * 5000
        models = make_models(config)
        reply = await models.reply(ask(HERE), lambda _: None)
        assert reply.parts == (Text("Hi."),)
        await asyncio.wait_for(server.left.wait(), 5)


async def test_closing_leaves_no_stream_that_is_read_in_the_background(wire: str, make_models: MakeModels) -> None:
    async with lingering(wire) as (server, config):
        models = make_models(config)
        await models.reply(ask(HERE), lambda _: None)
        await models.close()
        await asyncio.wait_for(server.left.wait(), 5)


async def test_an_interim_answer_is_passed_over_and_a_body_may_end_with_the_connection(make_models: MakeModels) -> None:
    async def handle(request: Request, exchange: Exchange) -> None:
        exchange.writer.write(b"HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
        exchange.writer.write(b"".join(openai_events(HI, "m", 1)).replace(b"data: [DONE]\n\n", b""))
        exchange.writer.close()

    async with serve(handle) as port:
        reply = await make_models(local("here", f"http://127.0.0.1:{port}")).reply(ask(HERE), lambda _: None)
    assert reply.parts == (Text("Hi."),)


class Proxy:
    """Passes requests on to ``port``, whatever host they name, and keeps the heads of those that it got."""

    def __init__(self, port: int, answer: bytes = b"200 Connection established") -> None:
        self.heads: list[str] = []
        self._port = port
        self._answer = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode())
        there, onward = await asyncio.open_connection("127.0.0.1", self._port)
        if head.startswith(b"CONNECT"):
            writer.write(b"HTTP/1.1 " + self._answer + b"\r\n\r\n")
        else:
            onward.write(head)
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(_pass_on(reader, onward), _pass_on(there, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_of_the_environment_passes_requests_on(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_models: MakeModels
) -> None:
    context, certificate = make_certificate(tmp_path, "models.example.com")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    fine = answers(200, b"".join(openai_events(HI, "m", 1)))
    async with serve(fine, tls=context if scheme == "https" else None) as port:
        proxy = Proxy(port)
        async with await asyncio.start_server(proxy.serve, "127.0.0.1", 0) as listening:
            at = f"http://ann:p%40ss@127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            models = make_models(
                local("here", f"{scheme}://models.example.com/v1"), environ={f"{scheme.upper()}_PROXY": at}
            )
            for _ in range(2):
                reply = await models.reply(ask(HERE), lambda _: None)
                assert reply.parts == (Text("Hi."),)
            await models.close()
    (head,) = proxy.heads[:1]
    wanted = (
        "POST http://models.example.com/v1/chat/completions" if scheme == "http" else "CONNECT models.example.com:443"
    )
    assert head.startswith(f"{wanted} HTTP/1.1\r\n")
    assert "\r\nproxy-authorization: basic yw5uonbac3m=\r\n" in head.lower()
    assert len(proxy.heads) == 1  # the connection through it is used again


@pytest.mark.parametrize(
    ("names", "answer", "said"),
    [
        (("models.example.com",), b"407 Who are you", "407 who are you"),
        (("other.example.com",), b"200 OK", "certificate verify failed"),
    ],
    ids=["a proxy that refuses", "another host behind it"],
)
async def test_nothing_is_sent_where_a_proxy_does_not_lead_to_the_host(
    names: tuple[str, ...],
    answer: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_models: MakeModels,
) -> None:
    context, certificate = make_certificate(tmp_path, *names)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    came: list[Request] = []

    async def handle(request: Request, exchange: Exchange) -> None:
        came.append(request)

    async with serve(handle, tls=context) as port:
        proxy = Proxy(port, answer)
        async with await asyncio.start_server(proxy.serve, "127.0.0.1", 0) as listening:
            environ = {"HTTPS_PROXY": f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"}
            models = make_models(local("here", "https://models.example.com/v1"), environ=environ)
            with pytest.raises(ModelFault) as caught:
                await models.reply(ask(HERE), lambda _: None)
            await models.close()
    assert said.replace(" ", "") in str(caught.value).lower().replace("_", "").replace(" ", "")
    assert not caught.value.charged and not came
