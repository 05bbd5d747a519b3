"""MCP over the standard input and output of a program, a message a line.

Layer: mcp. The program is a port; where it runs is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from stead.domain.errors import FetchFault, SteadError
from stead.domain.mcp import Json, Program
from stead.mcp.messages import LARGEST_BYTES, read_message

MOST_NOISE = 1000
"""Lines that are no messages, which some servers print before they begin."""


class StdioWire:
    """Implements ``connection.Wire``.

    Args:
        program: that was started, and is ended by ``close``.
        receive: takes each message.
        broken: called once when no more comes, with the reason.
    """

    def __init__(self, program: Program, receive: Callable[[Json], None], broken: Callable[[SteadError], None]) -> None:
        self.host = ""
        self._program = program
        self._receive = receive
        self._broken = broken
        self._writing = asyncio.Lock()
        self._reading = asyncio.create_task(self._read(), name="mcp server")

    async def send(self, message: Json, headers: Mapping[str, str]) -> None:
        """Write a message; what HTTP says in headers, the message itself says too."""
        async with self._writing:
            await self._program.write(msgspec.json.encode(message) + b"\n")

    async def cancel(self, ident: int) -> bool:
        """Nothing to cut: the server needs a message for that."""
        return False

    async def close(self) -> None:
        """End the program."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        await self._program.end()

    async def _read(self) -> None:
        rest, noise = bytearray(), 0
        try:
            while data := await self._program.read():
                rest += data
                if len(rest) > LARGEST_BYTES + len(data):
                    raise FetchFault("a message of the server is larger than {} MB", LARGEST_BYTES >> 20)
                if b"\n" not in data:
                    continue
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                for line in filter(None, map(bytes.strip, lines)):
                    if not line.startswith(b"{"):
                        noise += 1
                        if noise > MOST_NOISE:
                            raise FetchFault("the server prints what is no message: {}", line[:60])
                        continue
                    self._receive(read_message(line))
            raise FetchFault("the server ended: {}", self._program.last_words or "it said nothing")
        except SteadError as fault:
            self._broken(fault)
            await self._program.end()
