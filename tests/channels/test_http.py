"""The HTTP client that platforms share, against servers that do their worst."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from stead.channels.base import ChannelFault
from stead.channels.http import Answer, Http, is_of, read

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(write: Write) -> AsyncIterator[str]:
    """One that answers each request so; gives its address."""
    open_: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_.add(writer)
        try:
            await reader.readuntil(b"\r\n\r\n")
            await write(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        writer.close()

    serving = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}/secret-path"
    finally:
        serving.close()
        for writer in open_:
            writer.transport.abort()


@asynccontextmanager
async def client() -> AsyncIterator[Http]:
    http = Http("the platform")
    try:
        yield http
    finally:
        await http.close()


@pytest.fixture(autouse=True)
def no_proxy_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def test_an_answer_without_end_is_cut_and_is_no_file() -> None:
    async with server(endless) as url, client() as http:
        answer = await http.ask("GET", url, most_bytes=1000)
        assert 1000 < len(answer.body) < 200_000
        assert answer.read(dict[str, str]) is None
        with pytest.raises(ChannelFault, match="5 MB") as fault:
            await http.file(url)
        assert fault.value.final


async def test_an_answer_that_drips_ends_with_the_patience() -> None:
    async def drips(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with server(drips) as url, client() as http:
        with pytest.raises(ChannelFault, match="does not answer") as fault:
            await http.ask("GET", url, patience_s=0.3)
        assert not fault.value.final


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"\x00\xff no HTTP\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", "no HTTP"),
        (b"", ""),
    ],
)
async def test_what_is_no_answer_is_a_fault_that_names_no_address(said: bytes, words: str) -> None:
    async def answers(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    async with server(answers) as url, client() as http:
        with pytest.raises(ChannelFault) as fault:
            await http.ask("GET", url)
        assert words in str(fault.value) and "secret-path" not in str(fault.value)
        assert not fault.value.final


async def test_a_redirect_is_an_answer_like_another() -> None:
    async def elsewhere(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()

    async with server(elsewhere) as url, client() as http:
        assert (await http.ask("GET", url)).status == 302
        with pytest.raises(ChannelFault, match="302"):
            await http.file(url)


HOSTS = ("*.example.com", "files.example.net")


@pytest.mark.parametrize(
    ("url", "own", "goes"),
    [
        ("https://a.example.com/x", "", True),
        ("https://files.example.net/x", "", True),
        ("http://files.example.net/x", "", False),
        ("https://files.example.net:8443/x", "", False),
        ("https://files.example.net@other.example.org/x", "", False),
        ("https://me@files.example.net/x", "", False),
        ("https://files.example.net.example.org/x", "", False),
        ("https://example.com.example.org/", "", False),
        ("https://[files.example.net/", "", False),
        ("https://files.example.net:x/", "", False),
        ("//files.example.net/", "", False),
        ("", "", False),
        (f"https://files.example.net/{'x' * 4000}", "", False),
        ("http://127.0.0.1:8000/x", "http://127.0.0.1:8000/api", True),
        ("http://127.0.0.1:8001/x", "http://127.0.0.1:8000/api", False),
        ("https://127.0.0.1:8000/x", "http://127.0.0.1:8000/api", False),
        ("http://me@127.0.0.1:8000/x", "http://127.0.0.1:8000/api", False),
    ],
)
def test_a_token_goes_to_the_hosts_that_are_named_and_no_further(url: str, own: str, goes: bool) -> None:
    assert is_of(url, HOSTS, own) is goes


@pytest.mark.parametrize(
    ("hint", "wait_s"),
    [("", 7), ("17", 17), ("-1", 7), ("1e9", 7), ("9" * 400, 86_400), ("²", 7), ("Wed, 21 Oct 2026 07:28:00 GMT", 7)],
)
def test_a_wish_to_be_left_alone_is_a_number_up_to_a_day(hint: str, wait_s: float) -> None:
    assert Answer(429, {"retry-after": hint}, b"").wait_s(7) == wait_s


def test_what_cannot_be_read_is_nothing() -> None:
    for data in (b"", b"[", b"\xff", b"[" * 100_000, b'"text"'):
        assert read(data, dict[str, str]) is None
