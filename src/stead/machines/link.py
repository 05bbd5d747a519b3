"""The daemon's end of the wire to a runner.

Layer: machines. What comes from a runner is not trusted: frames are bounded, ids are minted here at random and only
those under way are answered, and what does not fit ends the link, and with it the machine.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from dataclasses import dataclass

from stead.domain.errors import MachineDied, ToolFault
from stead.machines.runner.frames import pack, unpack

_LARGEST_ANSWER = 4 << 20


@dataclass
class _Call:
    answer: asyncio.Future[list[bytes]]
    on_output: Callable[[bytes], None] | None


class Link:
    """Calls and their answers, which may overlap.

    Args:
        reader: the runner's standard output.
        writer: its standard input.
    """

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._calls: dict[bytes, _Call] = {}
        self._over = ""

    async def hello(self) -> list[bytes]:
        """The runner's first words, before it has been given any work.

        Raises:
            ValueError: they are something else.
            asyncio.IncompleteReadError: it ended without any.
        """
        ident, kind, *values = await self._frame()
        if ident or kind != b"hello":
            raise ValueError(f"the runner began with {kind[:40]!r}")
        return values

    async def serve(self) -> str:
        """Hand out answers until the link ends; gives why it did. Every call under way then fails."""
        why = "its reader failed"
        try:
            while True:
                self._take(await self._frame())
        except asyncio.IncompleteReadError:
            why = "it ended"
        except (ValueError, ConnectionError) as error:
            why = f"it sent what makes no sense: {error}"
        finally:
            self.end(why)
        return self._over

    def end(self, why: str) -> None:
        """Fail every call under way, now; the first reason counts."""
        self._over = self._over or why
        while self._calls:
            _, call = self._calls.popitem()
            if not call.answer.done():
                call.answer.set_exception(MachineDied("the machine went away during the call: {}", self._over))

    async def call(
        self, operation: str, *arguments: bytes, limit_s: float, on_output: Callable[[bytes], None] | None = None
    ) -> list[bytes]:
        """Ask the runner for something. When the caller is cancelled, the work is stopped inside too.

        Args:
            operation: as ``runner.jobs`` knows it.
            arguments: its arguments.
            limit_s: seconds after which the runner counts as broken.
            on_output: takes a command's output as it comes.

        Raises:
            ToolFault: the work could not be done.
            MachineDied: the link ended, or the runner did not answer in time; then the machine is to be killed.
        """
        if self._over:
            raise MachineDied("the machine went away: {}", self._over)
        ident = secrets.token_bytes(8)
        call = self._calls[ident] = _Call(asyncio.get_running_loop().create_future(), on_output)
        try:
            async with asyncio.timeout(limit_s):
                self._writer.write(pack([ident, operation.encode(), *arguments]))
                await self._writer.drain()
                return await call.answer
        except TimeoutError as error:
            self.end(f"it did not answer {operation!r} within {limit_s:.0f} s")
            raise MachineDied("the machine went away: {}", self._over) from error
        except ConnectionError as error:
            call.answer.cancel()
            raise MachineDied("the machine went away: {}", error) from error
        except asyncio.CancelledError:
            self._writer.write(pack([secrets.token_bytes(8), b"stop", ident]))
            raise

    async def _frame(self) -> list[bytes]:
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        if size > _LARGEST_ANSWER:
            raise ValueError(f"a frame of {size} bytes")
        fields = unpack(await self._reader.readexactly(size))
        if len(fields) < 2:
            raise ValueError("a frame without a kind")
        return fields

    def _take(self, fields: list[bytes]) -> None:
        ident, kind, *values = fields
        call = self._calls.get(ident)
        if call is None:
            raise ValueError("an answer that nothing was asked for")
        if kind == b"output" and call.on_output and len(values) == 1:
            if not call.answer.done():
                call.on_output(values[0])
            return
        if kind not in (b"done", b"fault"):
            raise ValueError(f"an answer of kind {kind[:40]!r}")
        del self._calls[ident]
        if call.answer.done():
            return
        if kind == b"done":
            call.answer.set_result(values)
        else:
            call.answer.set_exception(ToolFault("{}", b" ".join(values)[:2000].decode("utf-8", "replace")))
