"""The person's terminals in a session's folder: opened, closed, watched.

Layer: runtime. That there was one, who opened it and how it ended are facts; what is typed and printed is not recorded.
It is opened before the fact is: until its id is told nobody can type in it, and if the fact cannot be written it is
ended. Files that change in it are noticed by the session's next checkpoint as changed by the person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import SessionId
from stead.domain.ports import Claimed
from stead.domain.sessions import Session
from stead.domain.terminals import Ended, Terminal, TerminalRow
from stead.runtime.answers import answer, of
from stead.runtime.deps import Deps
from stead.runtime.own_lines import OwnLines
from stead.runtime.registry import Sessions

_SIZE = (50, 120)
"""Rows and columns of the terminal of a single line."""


@dataclass(frozen=True)
class TerminalRoom:
    """Implements ``service.TerminalQueries``, and carries commands out."""

    deps: Deps
    sessions: Sessions
    lines: OwnLines

    async def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        """See ``service.TerminalQueries``."""
        await self.sessions.actor(session).state()
        return self.deps.terminals.rows(session)

    async def terminal(self, session: SessionId, id: str) -> Terminal:
        """See ``service.TerminalQueries``."""
        await self.sessions.actor(session).state()
        return self.deps.terminals.at(session, id)

    async def carry_out(self, command: cmd.TerminalCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Open or close one.

        Raises:
            NotFound: there is no such session, or no such terminal.
            Conflict: the session is closed, ended or on trial, or there are as many as there may be.
            InvalidRequest: it cannot be so large, or so small.
            MachineUnavailable, MachineDied: no machine could be made.
            StorageFault: nothing was written.
        """
        match command:
            case cmd.OpenTerminal(rows=rows, columns=columns):
                return await self._open(command.session, rows, columns, claim, door)
            case cmd.RunLine(line=line):
                if not line.strip() or "\0" in line or len(line) > cmd.LINE_CHARS:
                    raise InvalidRequest(f"a line has 1 to {cmd.LINE_CHARS} characters, not all of them blank")
                answered = await self._open(command.session, *_SIZE, claim, door, line)
                await self.lines.begin(command.session, answered.text)
                return answered
            case cmd.CloseTerminal():
                return await self._close(command, claim, door)
            case _:
                assert_never(command)

    async def _open(
        self, session: SessionId, rows: int, columns: int, claim: Claimed, door: str, line: str = ""
    ) -> cmd.Answer:
        terminals = self.deps.terminals
        actor = self.sessions.actor(session)
        _require_open(await actor.state())
        id = self.deps.new_id("t")
        claim = of(claim, session, id)

        def facts(state: Session) -> tuple[ev.Body, ...]:
            _require_open(state)
            terminals.at(session, id)  # it may have been stopped as soon as it was there
            return (ev.TerminalOpened(id=id, rows=rows, columns=columns, door=door, line=line),)

        await terminals.open(session, id, rows, columns, line)
        try:
            return answer(claim, await actor.tell(facts, claim, cause=claim.id))
        except BaseException:
            await self._end(session, id)
            raise

    async def _close(self, command: cmd.CloseTerminal, claim: Claimed, door: str) -> cmd.Answer:
        session, id = command.session, command.terminal

        async def work(_state: Session) -> tuple[ev.Body, ...]:
            return (closed(id, await self.deps.terminals.close(session, id), door),)

        claim = of(claim, session)
        return answer(claim, await self.sessions.actor(session).carry_out(work, claim, cause=claim.id))

    async def _end(self, session: SessionId, id: str) -> None:
        """Whatever came in between, it does not stay."""
        if any(row.id == id for row in self.deps.terminals.rows(session)):
            await self.deps.terminals.close(session, id)


def closed(id: str, ended: Ended, door: str = "") -> ev.TerminalClosed:
    """The fact that one ended."""
    return ev.TerminalClosed(id=id, exit_code=ended.exit_code, why=ended.why, door=door)


def _require_open(session: Session) -> None:
    if session.deleted:
        raise NotFound(f"there is no session {session.id!r}; see `stead session list`")
    if session.phase == "ended":
        way = "say something in it to open it again" if session.spec.interactive else "open a session in its folder"
        raise Conflict(f"it is closed, and has no terminals; {way}")
