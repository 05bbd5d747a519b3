"""Lines that the person runs themselves in a session's folder, on record with what they printed.

Layer: runtime. Each has a terminal of its own, in the same walls as what the model runs. Its output goes the way of a
tool's: screened, without secrets, cut to what a model reads. It is labelled as what it is, not as the person's word.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import time
from collections.abc import Callable
from contextlib import suppress

from stead.domain import events as ev
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import CallKey, SessionId
from stead.domain.live import OutputDelta
from stead.domain.terminals import KILLED, Ended, Terminal
from stead.runtime.deps import Deps
from stead.runtime.registry import Sessions
from stead.runtime.screening import ScreenedStream, came_in
from stead.runtime.secrets import SecretBook
from stead.tools.output import clip

LIMIT_S = 600
"""A line that runs longer is ended; what is to run on is a service."""
_KEPT_BYTES = 1 << 20
_MOST_BYTES = 4 * _KEPT_BYTES
"""A line that prints more is ended too."""
_SHOWN_BYTES = 256 << 10
"""What watchers get of it as it comes; all look at it is the loop's own time."""
_BEGIN = b"\n\x04"
"""The line break that lets it begin, and the end of its input: nobody types in it."""
_OVERWRITTEN = re.compile(r"[^\n]*\r+(?!\n|\r)")


class OwnLines:
    """Those that run.

    Args:
        deps: journal, machines and live stream.
        sessions: whose they are.
        book: what is to be kept out of their output.
    """

    def __init__(self, deps: Deps, sessions: Sessions, book: SecretBook) -> None:
        self._deps = deps
        self._sessions = sessions
        self._book = book
        self._running: set[asyncio.Task[None]] = set()

    async def begin(self, session: SessionId, id: str) -> None:
        """Let the line of a terminal begin that is on record; a repeated command finds it begun."""
        try:
            terminal = self._deps.terminals.at(session, id)
        except NotFound:
            return  # it has ended
        if any(task.get_name() == id for task in self._running):
            return
        directory = (await self._sessions.actor(session).state()).spec.directory
        task = asyncio.create_task(self._follow(terminal, directory), name=id)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await terminal.type(_BEGIN)

    async def close(self) -> None:
        """Wait until the lines that were ended are noted."""
        if self._running:
            await asyncio.wait(self._running)

    async def _follow(self, terminal: Terminal, directory: str) -> None:
        """Pass on what it prints, and note its end."""
        row, began = terminal.row, time.monotonic()
        printed = _Printed()
        watchers = ScreenedStream(self._book, self._teller(row.session, CallKey(row.id)), detect=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(LIMIT_S):
                await _read(terminal, printed, watchers)
        if terminal.ended is None:
            with suppress(NotFound):  # it ends just now
                await self._deps.terminals.close(row.session, row.id)
        watchers.close()
        ended = terminal.ended or Ended(KILLED, "lost")
        seen = await asyncio.to_thread(came_in, clip(printed.text.strip("\n")), self._book, row.session)
        self._sessions.note(
            row.session,
            ev.LineRan(
                id=row.id,
                line=row.line,
                exit_code=ended.exit_code,
                why=ended.why,
                text=seen.text.strip("\n"),
                size_bytes=printed.size_bytes,
                duration_ms=int((time.monotonic() - began) * 1000),
                source=self._deps.gate.source_of_folder(directory),
            ),
        )

    def _teller(self, session: SessionId, key: CallKey) -> Callable[[str], None]:
        offset = 0

        def tell(text: str) -> None:
            nonlocal offset
            at, offset = offset, offset + len(text)
            self._deps.bus.publish((OutputDelta(session, key, at, text),))

        return tell


class _Printed:
    """What was printed, its head and its tail when it is much."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._head, self._tail = bytearray(), bytearray()

    def add(self, data: bytes) -> None:
        self.size_bytes += len(data)
        room = _KEPT_BYTES // 2 - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: max(0, len(self._tail) - _KEPT_BYTES // 2)]

    @property
    def text(self) -> str:
        """As it stands at the end: of a line that was written over, the last state."""
        data = bytes(self._head + self._tail)
        return _OVERWRITTEN.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))


async def _read(terminal: Terminal, printed: _Printed, watchers: ScreenedStream) -> None:
    """Until it has ended, or has printed too much."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    seat = terminal.watch()
    try:
        while printed.size_bytes <= _MOST_BYTES:
            try:
                data = await seat.read()
            except Conflict:  # another watcher was ahead, and less is kept than was printed since
                seat.leave()
                seat = terminal.watch()
                continue
            if not data:
                return
            if not printed.size_bytes:
                data = data.lstrip(b"\r\n")  # the terminal shows the line break that let it begin
            printed.add(data)
            if printed.size_bytes <= _SHOWN_BYTES:
                watchers.feed(decode(data).replace("\r\n", "\n"))
    finally:
        seat.leave()
