"""Writes what events change into the read models' file.

Layer: storage. ``projection`` says what changes; this keeps it in tables. One lives for one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from stead.domain import events as ev
from stead.domain.ids import ApprovalId, SessionId, WorkspaceId
from stead.domain.memory_events import ContentRedacted
from stead.domain.rows import ApprovalRow, StepRow
from stead.storage import projection
from stead.storage.codec import tag_of
from stead.storage.projection import Objective

if TYPE_CHECKING:
    from sqlite3 import Connection

_encode = msgspec.json.Encoder().encode
decode_objective = msgspec.json.Decoder(Objective).decode
decode_step = msgspec.json.Decoder(StepRow).decode
decode_approval = msgspec.json.Decoder(ApprovalRow).decode


class Projector:
    """Takes events in, in order; ``flush`` writes what it still holds.

    Args:
        connection: inside a transaction.
        workspace: whose sessions are wanted; those of others are passed over.
        events: gives all that the journal has of a session, in order.
    """

    def __init__(
        self,
        connection: Connection,
        workspace: WorkspaceId,
        events: Callable[[SessionId], Iterable[ev.Event | ev.Erased]],
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._events = events
        self._objectives: dict[SessionId, Objective | None] = {}
        self.erased = False

    def take(self, event: ev.Event | ev.Erased) -> None:
        """Let the rows follow one event. What was erased is passed over: the deletion after it removes the rest."""
        if isinstance(event, ev.Erased):
            return
        match event.body:
            case ev.SessionOpened() as body:
                if body.workspace != self._workspace:
                    return
                self._open(event, body)
            case ev.SessionDeleted():
                self._forget(event.session)
                return
            case ContentRedacted():
                self._take_again(event)
            case _:
                known = self._objective(event.session)
                if known is None:
                    return
                self._take_details(known, event)
                self._objectives[event.session] = projection.advanced(known, event)
        self._index(event)

    def _take_again(self, redacted: ev.Event) -> None:
        """Let every row of the session follow from what the journal has of it now."""
        if self._objective(redacted.session) is None:
            return
        self._forget(redacted.session)
        del self._objectives[redacted.session]
        for event in self._events(redacted.session):
            if event.seq < redacted.seq and isinstance(event, ev.Event) and not isinstance(event.body, ContentRedacted):
                self.take(event)

    def _open(self, event: ev.Event, body: ev.SessionOpened) -> None:
        goal = body.contract.goal if body.contract else ""
        self._connection.execute(
            "INSERT INTO objectives (id, seq, goal) VALUES (?, ?, ?)", (event.session, event.seq, goal)
        )
        objective = projection.opened(event, body)
        self._connection.execute(
            "INSERT INTO states (session, seq, kind, status, waiting, state) VALUES (?, ?, ?, ?, 0, ?)",
            (event.session, event.seq, objective.row.kind, objective.row.status, _encode(objective)),
        )
        self._objectives[event.session] = objective

    def flush(self) -> None:
        """Write the objectives that changed."""
        self._connection.executemany(
            "UPDATE states SET status = ?, waiting = ?, state = ? WHERE session = ?",
            [
                (known.row.status, known.row.review.waiting, _encode(known), id)
                for id, known in self._objectives.items()
                if known
            ],
        )
        self._objectives.clear()

    def _objective(self, id: SessionId) -> Objective | None:
        if id not in self._objectives:
            row = self._connection.execute("SELECT state FROM states WHERE session = ?", (id,)).fetchone()
            self._objectives[id] = decode_objective(row[0]) if row else None
        return self._objectives[id]

    def _take_details(self, objective: Objective, event: ev.Event) -> None:
        match event.body:
            case ev.ModelReplied() as body:
                self._connection.executemany(
                    "INSERT INTO steps (session, step, call, row) VALUES (?, ?, ?, ?)",
                    [
                        (step.session, step.index, step.key, _encode(step))
                        for step in projection.new_steps(objective, event, body)
                    ],
                )
            case ev.CallJudged() | ev.ToolStarted() | ev.ToolFinished() as called:
                self._fill(event.session, called)
            case ev.CallEdited() | ev.CallCancelled() | ev.CallRetried() as queued:
                self._fill(event.session, queued)
            case ev.ApprovalRequested() as question:
                row = projection.asked(objective, event, question)
                self._connection.execute(
                    "INSERT INTO approvals (id, session, seq, status, row) VALUES (?, ?, ?, ?, ?)",
                    (row.id, row.session, event.seq, row.status, _encode(row)),
                )
            case ev.ApprovalGiven(id=id) | ev.ApprovalDenied(id=id) | ev.ApprovalLapsed(id=id):
                self._answer(id, event.body)
            case ev.ObjectiveEnded():
                self._lapse(event.session)
            case _:
                pass

    def _fill(self, session: SessionId, body: projection.Called) -> None:
        place = (session, body.key)
        row = self._connection.execute("SELECT row FROM steps WHERE session = ? AND call = ?", place).fetchone()
        if row is not None:
            step = projection.filled(decode_step(row[0]), body)
            self._connection.execute("UPDATE steps SET row = ? WHERE session = ? AND call = ?", (_encode(step), *place))

    def _answer(self, id: ApprovalId, body: projection.Answered) -> None:
        row = self._connection.execute("SELECT row FROM approvals WHERE id = ?", (id,)).fetchone()
        if row is not None:
            self._keep(projection.answered(decode_approval(row[0]), body))

    def _lapse(self, session: SessionId) -> None:
        """The end of an objective voids its open questions."""
        rows = self._connection.execute(
            "SELECT row FROM approvals WHERE session = ? AND status = 'pending'", (session,)
        ).fetchall()
        for (row,) in rows:
            approval = decode_approval(row)
            self._keep(projection.answered(approval, ev.ApprovalLapsed(approval.id, approval.key, "ended")))

    def _keep(self, row: ApprovalRow) -> None:
        self._connection.execute(
            "UPDATE approvals SET status = ?, row = ? WHERE id = ?", (row.status, _encode(row), row.id)
        )

    def _index(self, event: ev.Event) -> None:
        if text := projection.searchable(event.body):
            self._connection.execute(
                "INSERT INTO texts (seq, session, ts_ms, type, who) VALUES (?, ?, ?, ?, ?)",
                (event.seq, event.session, event.ts_ms, tag_of(event.body), projection.by(event.body)),
            )
            self._connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (event.seq, text))

    def _forget(self, session: SessionId) -> None:
        """Remove every trace; the file overwrites what it deletes."""
        self._connection.execute(
            "DELETE FROM words WHERE rowid IN (SELECT seq FROM texts WHERE session = ?)", (session,)
        )
        self._connection.execute("DELETE FROM objectives WHERE id = ?", (session,))
        self._objectives[session] = None
        self.erased = True
