"""A person's terminal over a WebSocket: what is printed goes out, what is typed comes in, both as binary frames.

Layer: a door. Plain Starlette, as the live stream is. The bytes are a program's and may be hostile: they are passed on
as they are and mean nothing here. A new watcher first gets the last 256 kB of what was printed. The socket is closed
with 1000 and how the terminal ended as its reason ("exited 0", "stopped 137"), with 4400 after a frame that is no
bytes, and otherwise as the live stream is.
"""

from __future__ import annotations

import asyncio
import re

from starlette.websockets import WebSocket, WebSocketDisconnect

from stead.domain.errors import Conflict, NotFound, SteadError
from stead.domain.ids import SessionId
from stead.domain.terminals import Seat, Terminal
from stead.runtime.service import TerminalQueries
from stead.web.errors import answer, problem_of
from stead.web.live import BAD_MESSAGE, GONE, SIGNED_OUT, TOO_SLOW, Streams, first_of

ENDED = 1000
_LOOK_S = 1.0
"""How often it is looked whether the watcher has signed out elsewhere."""
_SESSION, _TERMINAL = re.compile(r"s_[0-9a-f]{16}"), re.compile(r"t_[0-9a-f]{16}")


class TerminalSockets:
    """Every watched terminal.

    Args:
        terminals: finds a session's terminal by its id.
        streams: who says whether a watcher is still welcome, and when the door closes.
    """

    def __init__(self, terminals: TerminalQueries, streams: Streams) -> None:
        self._terminals = terminals
        self._streams = streams

    async def serve(self, socket: WebSocket) -> None:
        """``WS /sessions/{session}/terminals/{terminal}``."""
        try:
            terminal = await self._terminal(socket.path_params["session"], socket.path_params["terminal"])
        except SteadError as error:
            await socket.send_denial_response(answer(problem_of(error)))
            return
        if full := self._streams.refuse():
            await socket.send_denial_response(answer(full))
            return
        with self._streams.counted():
            code = await self._watch(socket, terminal)
            if code != GONE:
                await self._streams.farewell(socket.close(code, _how(terminal) if code == ENDED else ""), code)

    async def _watch(self, socket: WebSocket, terminal: Terminal) -> int:
        """Until it is over, for whatever reason; gives the close code. The place is free before goodbyes are said."""
        await socket.accept()
        seat = terminal.watch()
        try:
            return await first_of(self._show(socket, seat), self._listen(socket, terminal), self._streams.ends())
        finally:
            seat.leave()

    async def _terminal(self, session: str, id: str) -> Terminal:
        if not (_SESSION.fullmatch(session) and _TERMINAL.fullmatch(id)):
            raise NotFound("there is no such terminal; list those of a session")
        return await self._terminals.terminal(SessionId(session), id)

    async def _show(self, socket: WebSocket, seat: Seat) -> int:
        """Send what is printed until there is no more, or the watcher is too slow or not welcome; gives the code."""
        try:
            while self._streams.welcomes(socket):
                data = await _read(seat)
                if data is None:
                    continue
                if not data:
                    return ENDED
                async with asyncio.timeout(self._streams.pace.stall_s):
                    await socket.send_bytes(data)
        except (TimeoutError, Conflict):
            return TOO_SLOW
        except WebSocketDisconnect:
            return GONE
        return SIGNED_OUT

    async def _listen(self, socket: WebSocket, terminal: Terminal) -> int:
        """Pass on what is typed until the watcher leaves or sends what is no bytes; gives the close code."""
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return GONE
            if not self._streams.welcomes(socket):
                return SIGNED_OUT
            typed = message.get("bytes")
            if typed is None:
                return BAD_MESSAGE
            await terminal.type(typed)


async def _read(seat: Seat) -> bytes | None:
    """What was printed, b"" at the end; nothing when nothing was for a while."""
    try:
        async with asyncio.timeout(_LOOK_S):
            return await seat.read()
    except TimeoutError:
        return None


def _how(terminal: Terminal) -> str:
    ended = terminal.ended
    return f"{ended.why} {ended.exit_code}" if ended else ""
