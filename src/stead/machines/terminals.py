"""The person's terminals, each in a machine of its own that shows what the session's machine shows.

Layer: machines. Implements ``domain.terminals.Terminals``. Apart from the session's machine, because that one is ended
whenever the session rests; with the same walls and the same allow-list of hosts, because what a person runs in there
may have been written by a model. It is one transaction, which lands at intervals and at its end.

Memory is bounded by asking: output is fetched from the machine in pieces, the next one when a watcher has taken the
last, no faster than a person's page can show it, and what nobody fetches makes the program wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from msgspec.structs import replace

from stead.domain.errors import Conflict, InvalidRequest, MachineDied, MachineUnavailable, NotFound, ToolFault
from stead.domain.ids import SessionId
from stead.domain.terminals import KILLED, MOST_COLUMNS, MOST_ROWS, Ended, TerminalRow, Why
from stead.machines.machine import Binding, Machine
from stead.machines.making import Maker
from stead.machines.scrollback import Place, Scrollback
from stead.machines.transactions import Transactions

MOST_OF_SESSION, MOST = 4, 16
MOST_BYTES_PER_S = 4 << 20
_ASK_LIMIT_S = 30.0
_FULL_S = 0.05
"""How long is waited before what was typed is offered again to a program that does not read."""
_LAST_CODE = 255
_WHYS: dict[bytes, Why] = {b"exited": "exited", b"disk": "disk", b"memory": "memory"}

Closed = Callable[[SessionId, str, Ended], None]
"""Called when a terminal ended that nobody closed. Must not block."""


@dataclass(eq=False, repr=False)
class _Terminal:
    """One terminal. Implements ``domain.terminals.Terminal``."""

    _row: TerminalRow
    _machine: Machine
    _on_output: Callable[[], None]
    _land: Callable[[], Awaitable[object]]
    _on_end: Callable[[_Terminal, Ended], None]

    def __post_init__(self) -> None:
        self.ended: Ended | None = None
        self.why: Why = "lost"
        self._scrollback = Scrollback()
        self._pumping = asyncio.create_task(self._pump(), name=f"terminal {self._row.id}")

    @property
    def row(self) -> TerminalRow:
        """As ``Terminal.row``."""
        return replace(self._row, watchers=len(self._scrollback.watchers))

    def watch(self) -> Place:
        """As ``Terminal.watch``."""
        return self._scrollback.watch()

    async def type(self, data: bytes) -> None:
        """As ``Terminal.type``."""
        while data and self.ended is None:
            try:
                (taken,) = await self._machine.call("type", data, limit_s=_ASK_LIMIT_S)
                data = data[_counted(taken, len(data)) :]
            except (MachineDied, ToolFault):
                return  # it ends just now, and its watchers learn how
            except ValueError:
                self._machine.kill("its runner answered what makes no sense")
                return
            if data:
                await asyncio.sleep(_FULL_S)

    async def resize(self, rows: int, columns: int) -> None:
        """As ``Terminal.resize``."""
        _check_size(rows, columns)
        try:
            await self._machine.call("size", b"%d" % rows, b"%d" % columns, limit_s=_ASK_LIMIT_S)
        except (MachineDied, ToolFault) as error:
            raise Conflict("the terminal has just ended; open another") from error
        self._row = replace(self._row, rows=rows, columns=columns)

    async def refresh(self) -> None:
        """Have it see what has landed meanwhile."""
        with suppress(MachineDied, ToolFault):  # it ends just now
            await self._machine.call("refresh", limit_s=_ASK_LIMIT_S)

    async def kill(self, why: Why) -> Ended:
        """End it, with everything in it, now."""
        if self.ended is None:
            self.why = why
            self._machine.kill(why)
            self._scrollback.hurry()
        await asyncio.wait([self._pumping])
        assert self.ended is not None
        return self.ended

    async def _pump(self) -> None:
        """Fetch what is printed until there is no more."""
        ended = Ended(KILLED, self.why)
        try:
            while True:
                data, code, why = await self._machine.call("read", limit_s=_ASK_LIMIT_S)
                if code:
                    ended = Ended(_counted(code, _LAST_CODE), _WHYS[why])
                    break
                self._scrollback.add(data)
                if data:
                    self._on_output()
                await self._scrollback.taken()
                await asyncio.sleep(len(data) / MOST_BYTES_PER_S)
        except (ToolFault, MachineDied):
            ended = Ended(KILLED, self.why)
        except (ValueError, KeyError):
            self._machine.kill("its runner answered what makes no sense")
        finally:
            self._machine.kill("its terminal ended")
            with suppress(MachineDied):  # it will go when its file system lets it
                await self._machine.gone()
            await self._land()
            self.ended = ended
            self._scrollback.finish()
            self._on_end(self, ended)


def _counted(field: bytes, most: int) -> int:
    """A number from 0 to so many that a runner said.

    Raises:
        ValueError: it is none.
    """
    if not 0 < len(field) <= 9 or not field.isdigit() or int(field) > most:
        raise ValueError(f"{field[:20]!r} is no number up to {most}")
    return int(field)


class MachineTerminals:
    """Every session's terminals.

    Args:
        maker: makes their machines.
        bindings: what each session's machine shows.
        transactions: where what is changed in there lands.
        on_closed: called when a terminal ended that no person closed.
    """

    def __init__(
        self,
        maker: Maker,
        bindings: Mapping[SessionId, Binding],
        transactions: Transactions,
        on_closed: Closed | None = None,
    ) -> None:
        self._maker = maker
        self._bindings = bindings
        self._transactions = transactions
        self._on_closed = on_closed or (lambda _session, _id, _ended: None)
        self._open: dict[str, _Terminal] = {}
        self._opening: dict[str, tuple[SessionId, asyncio.Task[Machine]]] = {}

    @property
    def sessions(self) -> set[SessionId]:
        """Those that have one, or are about to."""
        return {one.row.session for one in self._open.values()} | {session for session, _ in self._opening.values()}

    async def open(self, session: SessionId, id: str, rows: int, columns: int, line: str = "") -> None:
        """As ``Terminals.open``."""
        _check_size(rows, columns)
        binding = self._bindings.get(session)
        if binding is None:
            raise MachineUnavailable("no folder was chosen for {!r}", session)
        own = len(self.rows(session)) + sum(other == session for other, _ in self._opening.values())
        if own >= MOST_OF_SESSION or len(self._open) + len(self._opening) >= MOST:
            raise Conflict(f"{MOST_OF_SESSION} terminals of a session, {MOST} in all, may be open; close one first")
        job = self._transactions.begin(session, terminal=True)
        task = asyncio.create_task(
            self._start(session, binding, job, (rows, columns), line), name=f"start terminal {id}"
        )
        self._opening[id] = (session, task)
        try:
            machine = await task
        except asyncio.CancelledError:
            if task.cancelled():
                raise Conflict("it was stopped as it opened") from None
            raise
        finally:
            del self._opening[id]
            if not task.done() or task.cancelled() or task.exception():
                await self._transactions.land(session, job)
        row = TerminalRow(id, session, rows, columns, time.time_ns() // 1_000_000, line=line)
        self._open[id] = _Terminal(
            row,
            machine,
            partial(self._transactions.soon, session),
            partial(self._transactions.land, session, job, record=True),
            self._forget,
        )

    async def close(self, session: SessionId, id: str) -> Ended:
        """As ``Terminals.close``."""
        terminal = self._open.pop(self.at(session, id).row.id)
        return await terminal.kill("closed")

    async def stop(self, session: SessionId | Literal["*"]) -> bool:
        """As ``Terminals.stop``."""
        starting = [task for other, task in self._opening.values() if session in ("*", other)]
        for task in starting:
            task.cancel()
        ending = [one for one in self._open.values() if session in ("*", one.row.session)]
        await asyncio.gather(*(one.kill("stopped") for one in ending), *starting, return_exceptions=True)
        return bool(starting or ending)

    async def refresh(self, session: SessionId) -> None:
        """Have a session's terminals see what has landed meanwhile."""
        await asyncio.gather(*(one.refresh() for one in self._open.values() if one.row.session == session))

    def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        """As ``Terminals.rows``."""
        return tuple(one.row for one in self._open.values() if one.row.session == session)

    def at(self, session: SessionId, id: str) -> _Terminal:
        """As ``Terminals.at``."""
        terminal = self._open.get(id)
        if terminal is None or terminal.row.session != session:
            raise NotFound(f"there is no terminal {id!r} in {session!r}; it may have ended")
        return terminal

    async def _start(self, session: SessionId, binding: Binding, job: str, size: tuple[int, int], line: str) -> Machine:
        machine = await self._maker.make(session, binding, lambda _why: None, "terminal", job)
        try:
            if machine.copies:
                await self._transactions.copy(session, job)
            await machine.call("open", *(b"%d" % figure for figure in size), line.encode(), limit_s=_ASK_LIMIT_S)
        except BaseException as error:
            machine.kill("its shell did not start")
            if isinstance(error, ToolFault):
                raise MachineUnavailable("no shell could be started: {}", error) from error
            raise
        return machine

    def _forget(self, terminal: _Terminal, ended: Ended) -> None:
        if self._open.pop(terminal.row.id, None) and not terminal.row.line:
            self._on_closed(terminal.row.session, terminal.row.id, ended)


def _check_size(rows: int, columns: int) -> None:
    if not (1 <= rows <= MOST_ROWS and 1 <= columns <= MOST_COLUMNS):
        raise InvalidRequest(f"a terminal has 1 to {MOST_ROWS} rows and 1 to {MOST_COLUMNS} columns")
