"""The person's own terminals in a session's folder: a shell each, in a sandbox like the session's.

Layer: domain. Only the person opens one and types in it; no tool and no model does. What is typed and printed goes by
as bytes and is kept nowhere but, the last of it, in memory; the journal has that there was a terminal, and how it
ended.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from stead.domain.ids import SessionId

MOST_ROWS, MOST_COLUMNS = 500, 1_000
"""A terminal has at least one of each."""

Why = Literal["exited", "closed", "stopped", "disk", "memory", "lost"]
"""Why a terminal ended: its shell did, the person closed it, the session was stopped or closed (or Stead left), the
disk or the memory was nearly used up, or its machine was lost."""

KILLED = 137
"""The exit code of a shell that did not end by itself: 128 and SIGKILL."""


class TerminalRow(msgspec.Struct, frozen=True):
    """A terminal that is open.

    Args:
        id: its own.
        session: whose.
        rows: how many lines it shows.
        columns: how wide they are.
        opened_ms: when.
        watchers: how many look at it now.
        line: the one line of the person's that it runs; "" for a shell.
    """

    id: str
    session: SessionId
    rows: int
    columns: int
    opened_ms: int
    watchers: int = 0
    line: str = ""


class Ended(msgspec.Struct, frozen=True):
    """How a terminal ended. ``exit_code``: of its shell, 128 and the signal when it was killed."""

    exit_code: int
    why: Why


class Seat(Protocol):
    """One watcher's place at a terminal. Who takes it gives it back."""

    async def read(self) -> bytes:
        """What was printed since the last time, at most 64 kB; at first the last of what was printed before.

        Waits for some; b"" once the terminal has ended and all of it was read. What is not asked for keeps the programs
        inside waiting, unless another watcher is ahead.

        Raises:
            Conflict: more was printed than is kept before this watcher asked; attach again.
        """

    def leave(self) -> None:
        """Watch no longer."""


class Terminal(Protocol):
    """One that is open, or was a moment ago."""

    @property
    def row(self) -> TerminalRow:
        """As it is now."""

    @property
    def ended(self) -> Ended | None:
        """How it ended, if it has."""

    def watch(self) -> Seat:
        """Take a place at it."""

    async def type(self, data: bytes) -> None:
        """Give its shell what a person typed; waits while nothing inside reads. Nothing happens once it has ended."""

    async def resize(self, rows: int, columns: int) -> None:
        """Tell what runs inside how large it is now.

        Raises:
            InvalidRequest: it cannot be so large, or so small.
            Conflict: it has just ended.
        """


class Terminals(Protocol):
    """The life of terminals, for the runtime alone."""

    async def open(self, session: SessionId, id: str, rows: int, columns: int, line: str = "") -> None:
        """Start one in a machine of its own, which shows what the session's machine shows.

        With a ``line`` it runs this and no shell, once a line break is typed; its end is not reported.

        Raises:
            InvalidRequest: it cannot be so large, or so small.
            Conflict: there are as many as there may be, or the session is on trial.
            MachineUnavailable, MachineDied: no machine could be made.
        """

    async def close(self, session: SessionId, id: str) -> Ended:
        """End one with everything in it; it is not reported as others that end are.

        Raises:
            NotFound: there is none.
        """

    async def stop(self, session: SessionId | Literal["*"]) -> bool:
        """End all of a session, or all there are; true if there was one."""

    def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        """Those of a session that are open, oldest first."""

    def at(self, session: SessionId, id: str) -> Terminal:
        """One of them.

        Raises:
            NotFound: there is none.
        """
