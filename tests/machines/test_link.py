"""The wire to a runner: overlapping calls, and every way in which the far end can lie, over a real socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import MachineDied, ToolFault
from stead.machines.link import Link
from stead.machines.runner.frames import pack, unpack


@dataclass
class Wire:
    """The daemon's end, and the far end in the test's hands."""

    link: Link
    served: asyncio.Task[str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def asked(self) -> list[bytes]:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return unpack(await self.reader.readexactly(size))

    def answer(self, *fields: bytes) -> None:
        self.writer.write(pack(list(fields)))


@asynccontextmanager
async def open_wire() -> AsyncIterator[Wire]:
    near, far = socket.socketpair()
    link = Link(*await asyncio.open_connection(sock=near))
    reader, writer = await asyncio.open_connection(sock=far)
    served = asyncio.create_task(link.serve())
    try:
        yield Wire(link, served, reader, writer)
    finally:
        writer.close()
        await asyncio.wait_for(served, 5)
        link._writer.close()


async def test_calls_overlap_and_answers_find_their_callers() -> None:
    async with open_wire() as wire:
        first = asyncio.create_task(wire.link.call("read", b"a", limit_s=5))
        second = asyncio.create_task(wire.link.call("read", b"b", limit_s=5))
        one, two = await wire.asked(), await wire.asked()
        assert one[1:] == [b"read", b"a"] and two[1:] == [b"read", b"b"] and one[0] != two[0]
        wire.answer(two[0], b"done", b"B")
        wire.answer(one[0], b"done", b"A", b"")
        assert await first == [b"A", b""] and await second == [b"B"]


async def test_output_comes_before_the_answer_and_a_fault_is_a_tool_fault() -> None:
    async with open_wire() as wire:
        pieces: list[bytes] = []
        call = asyncio.create_task(wire.link.call("run", limit_s=5, on_output=pieces.append))
        ident = (await wire.asked())[0]
        wire.answer(ident, b"output", b"one")
        wire.answer(ident, b"output", b"two")
        wire.answer(ident, b"fault", b"no room")
        with pytest.raises(ToolFault, match="no room"):
            await call
        assert pieces == [b"one", b"two"]


def half(wire: Wire) -> None:
    wire.writer.write(b"\0\0\0\x05ab")
    wire.writer.close()


Lie = Callable[[Wire, bytes], None]
LIES: dict[str, Lie] = {
    "an id that was never given": lambda wire, _: wire.answer(b"12345678", b"done"),
    "an empty id": lambda wire, _: wire.answer(b"", b"done"),
    "a kind that does not exist": lambda wire, ident: wire.answer(ident, b"allow"),
    "output for a call that has none": lambda wire, ident: wire.answer(ident, b"output", b"x"),
    "a frame of four gigabytes": lambda wire, _: wire.writer.write(b"\xff\xff\xff\xff"),
    "a field that runs past its frame": lambda wire, _: wire.writer.write(b"\0\0\0\x05\0\0\0\x09x"),
    "an empty frame": lambda wire, _: wire.writer.write(b"\0\0\0\0"),
    "half a frame and the end": lambda wire, _: half(wire),
    "the end": lambda wire, _: wire.writer.close(),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
async def test_a_runner_that_lies_ends_the_link_and_fails_the_calls(lie: Lie) -> None:
    async with open_wire() as wire:
        calls = [asyncio.create_task(wire.link.call("read", limit_s=5)) for _ in range(2)]
        ident = (await wire.asked())[0]
        lie(wire, ident)
        for call in calls:
            with pytest.raises(MachineDied, match="went away"):
                await call
        assert await asyncio.wait_for(wire.served, 5)
        with pytest.raises(MachineDied):
            await wire.link.call("read", limit_s=5)


async def test_a_second_answer_to_one_call_ends_the_link() -> None:
    async with open_wire() as wire:
        call = asyncio.create_task(wire.link.call("read", limit_s=5))
        ident = (await wire.asked())[0]
        wire.answer(ident, b"done", b"first")
        wire.answer(ident, b"done", b"second")
        assert await call == [b"first"]
        assert "nothing was asked" in await asyncio.wait_for(wire.served, 5)


async def test_a_runner_that_never_answers_is_given_up() -> None:
    async with open_wire() as wire:
        with pytest.raises(MachineDied, match="did not answer 'read'"):
            await wire.link.call("read", limit_s=0.2)
        with pytest.raises(MachineDied):
            await wire.link.call("read", limit_s=5)


async def test_a_runner_that_never_reads_is_given_up() -> None:
    async with open_wire() as wire:
        with pytest.raises(MachineDied, match="did not answer"):
            await wire.link.call("write", bytes(8 << 20), limit_s=0.5)


async def test_a_cancelled_call_tells_the_runner_and_late_answers_are_dropped() -> None:
    async with open_wire() as wire:
        pieces: list[bytes] = []
        call = asyncio.create_task(wire.link.call("run", limit_s=5, on_output=pieces.append))
        ident = (await wire.asked())[0]
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await wire.asked())[1:] == [b"stop", ident]
        wire.answer(ident, b"output", b"late")
        wire.answer(ident, b"done", b"137")
        other = asyncio.create_task(wire.link.call("read", limit_s=5))
        wire.answer((await wire.asked())[0], b"done")
        assert await other == [] and pieces == [] and not wire.served.done()


@pytest.mark.parametrize("words", [[b"x", b"hello", b"", b""], [b"", b"done"], [b""]])
async def test_whoever_does_not_say_hello_is_no_runner(words: list[bytes]) -> None:
    near, far = socket.socketpair()
    link = Link(*await asyncio.open_connection(sock=near))
    with far:
        far.sendall(pack(words))
        with pytest.raises(ValueError, match=r"began|frame"):
            await link.hello()
    link._writer.close()


@given(st.lists(st.binary(max_size=50), max_size=8))
def test_frames_say_what_was_packed(fields: list[bytes]) -> None:
    frame = pack(fields)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert unpack(frame[4:]) == fields


@given(st.binary(max_size=60))
def test_any_bytes_are_fields_or_a_value_error(body: bytes) -> None:
    try:
        fields = unpack(body)
    except ValueError:
        return
    assert pack(fields)[4:] == body
