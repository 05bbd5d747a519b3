"""Interactive sessions, as far as the simulated home has them: opened, planned and closed."""

from __future__ import annotations

from collections.abc import Callable

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checkpoints import FileChange
from stead.domain.context_rows import ContextRow
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId, WorkspaceId
from stead.domain.sessions import Session
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow, WaitingRow

REHEARSAL = ev.ModelRef("rehearsal", "rehearsal")


class SimulatedSessions:
    """Implements ``service.Work`` over folded sessions.

    Args:
        state: the fold of one; raises ``NotFound``.
    """

    def __init__(self, state: Callable[[SessionId], Session]) -> None:
        self._state = state

    async def calls(self, session: SessionId) -> tuple[CallRow, ...]:
        return tuple(
            CallRow(call.key, call.tool, call.arguments, call.step, call.approval, bool(call.edited))
            for call in self._state(session).calls.values()
        )

    async def waiting(self, session: SessionId) -> tuple[WaitingRow, ...]:
        return tuple(WaitingRow(number, said.text) for number, said in self._state(session).waiting.items())

    async def checkpoints(self, session: SessionId) -> tuple[CheckpointRow, ...]:
        self._state(session)
        return ()

    async def edits(self, session: SessionId) -> tuple[EditRow, ...]:
        self._state(session)
        return ()

    async def differences(self, session: SessionId, old: str, new: str) -> tuple[FileChange, ...]:
        self._state(session)
        raise NotFound("nothing is kept here")

    async def context(self, session: SessionId) -> ContextRow:
        messages = len(self._state(session).messages)
        return ContextRow((), 0, 1000, 0.0, 800, 0, messages, False, REHEARSAL, 0, 0, True)


def opened(command: cmd.OpenSession) -> ev.SessionOpened:
    """The fact that opens a session."""
    return ev.SessionOpened(
        workspace=WorkspaceId("default"),
        title=command.title or "a desk",
        directory=command.directory,
        tools=command.tools,
        chain=command.chain or (REHEARSAL,),
        budget=command.budget or cmd.SESSION_BUDGET,
        limits=command.limits,
        profile=command.profile,
        instructions="",
    )


def worked(command: cmd.Command, door: str) -> tuple[SessionId, tuple[ev.Body, ...]] | None:
    """What a command makes of a session; nothing for one that is about something else."""
    match command:
        case cmd.CloseSession(session=id):
            return id, (ev.SessionClosed(door),)
        case cmd.SetPlan(session=id, steps=steps):
            return id, (ev.PlanMade(steps, "person"),)
        case cmd.RaiseBudget(session=id, budget=budget):
            return id, (ev.BudgetRaised(budget, door),)
        case cmd.TakeCheckpoint() | cmd.RestoreCheckpoint() | cmd.UndoEdit() | cmd.ForkSession():
            raise Conflict("nothing is kept here")
        case cmd.EditCall(key=key) | cmd.CancelCall(key=key) | cmd.RetryCall(key=key):
            raise NotFound(f"there is no open call {key!r}")
        case _:
            return None
