"""JSON messages, one a line, over the standard input and output of a program in a machine.

Layer: net. What MCP servers over stdio and agents of the Agent Client Protocol speak. The program is a port, and a
stranger: a message is bounded, lines that are none are put up with up to a point, and nonsense ends the conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from stead.domain.errors import FetchFault, SteadError
from stead.domain.mcp import Program
from stead.domain.messages import is_shallow

LARGEST_BYTES = 8 << 20
"""Of one message."""
MOST_NOISE = 1000
"""Lines that are no messages, which some programs print before they begin."""


@dataclass(eq=False, repr=False)
class JsonLines:
    """One conversation.

    Args:
        program: that was started, and is ended by ``close``.
        receive: takes each message. Must not block.
        broken: called once when no more comes, with the reason.
        who: what the program is called in errors.
        most_bytes: that it may print in all; 0 for as many as it likes.
    """

    _program: Program
    _receive: Callable[[dict[str, Any]], None]
    _broken: Callable[[SteadError], None]
    _who: str = "server"
    _most_bytes: int = 0

    def __post_init__(self) -> None:
        self._writing = asyncio.Lock()
        self._reading = asyncio.create_task(self._read(), name=f"messages of the {self._who}")

    async def write(self, message: Mapping[str, object]) -> None:
        """Send one.

        Raises:
            ToolFault, MachineDied: the program has ended.
        """
        async with self._writing:
            await self._program.write(msgspec.json.encode(message) + b"\n")

    async def close(self) -> None:
        """End the program."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        await self._program.end()

    async def _read(self) -> None:
        rest, noise, size_bytes = bytearray(), 0, 0
        try:
            while data := await self._program.read():
                rest += data
                size_bytes += len(data)
                if 0 < self._most_bytes < size_bytes:
                    raise FetchFault("the {} printed more than {} MB", self._who, self._most_bytes >> 20)
                if len(rest) > LARGEST_BYTES + len(data):
                    raise FetchFault("a message of the {} is larger than {} MB", self._who, LARGEST_BYTES >> 20)
                if b"\n" not in data:
                    continue
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                for line in filter(None, map(bytes.strip, lines)):
                    if not line.startswith(b"{"):
                        noise += 1
                        if noise > MOST_NOISE:
                            raise FetchFault("the {} prints what is no message: {}", self._who, line[:60])
                        continue
                    self._receive(read_message(line, self._who))
            raise FetchFault("the {} ended: {}", self._who, self._program.last_words or "it said nothing")
        except SteadError as fault:
            self._broken(fault)
            await self._program.end()


def read_message(data: bytes, who: str = "server") -> dict[str, Any]:
    """One message.

    Raises:
        FetchFault: it is no JSON object, or nested too deep.
    """
    try:
        message = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise FetchFault("the {} sent what is no JSON: {}", who, str(error)[:200]) from error
    if not isinstance(message, dict) or not is_shallow(message):
        raise FetchFault("the {} sent {}, which is no message", who, repr(message)[:60])
    return message
