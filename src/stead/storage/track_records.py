"""What each model's replies were, counted as they are recorded: one row a reply, kept like the ledger.

Layer: storage. Nothing here is counted again: a track record is the sum of a model's newest rows, found by an index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stead.domain.events import CallJudged, Draft, ModelRef, ModelReplied, NoticeGiven, ObjectiveEnded, TurnEnded
from stead.domain.messages import ToolCall
from stead.domain.trust import WINDOW, TrackRecord
from stead.storage.database import Database

if TYPE_CHECKING:
    from sqlite3 import Connection

_OWN_CALL = re.compile(r"call_(\d+)_\d+")
_MALFORMED = "UPDATE replies SET malformed = malformed + 1 WHERE session = ? AND number = ?"
_UNKNOWN = "UPDATE replies SET unknown = unknown + 1 WHERE session = ? AND number = ?"
_FAULTS = {"arguments": _MALFORMED, "unknown-tool": _UNKNOWN, "not-offered": _UNKNOWN}
"""By the guardian's rules that name a fault of the model's, what counts it."""
_INSERT = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, '') ON CONFLICT DO NOTHING"
_SENT_BACK = """
    UPDATE replies SET sent_back = 1
    WHERE session = ? AND number = (SELECT max(number) FROM replies WHERE session = ?)
"""
_ENDED = """
    UPDATE replies SET ended = ? WHERE session = ? AND number = (SELECT max(number) FROM replies WHERE session = ?)
"""
_SUMS = """
    SELECT count(*), sum(calls), sum(min(calls, malformed)), sum(min(calls, unknown)), sum(sent_back),
           sum(ended = 'repeated'), sum(ended = 'verified'), sum(ended <> '')
    FROM (SELECT * FROM replies WHERE provider = ? AND model = ? ORDER BY ts_ms DESC LIMIT ?)
"""
_MODELS = "SELECT DISTINCT provider, model FROM replies ORDER BY provider, model"


def record(connection: Connection, draft: Draft) -> None:
    """Let the rows follow one event, inside the transaction that writes it."""
    match draft.body:
        case ModelReplied(number=number, model=model, parts=parts):
            calls = sum(isinstance(part, ToolCall) for part in parts)
            connection.execute(_INSERT, (draft.session, number, draft.ts_ms, model.provider, model.model, calls))
        case CallJudged(verdict="deny", key=key, reason=reason) if counted := _FAULTS.get(reason.rule):
            if own := _OWN_CALL.fullmatch(key):
                connection.execute(counted, (draft.session, int(own[1])))
        case NoticeGiven(why="completion" | "checks"):  # what only one tier sends back counts for none
            connection.execute(_SENT_BACK, (draft.session, draft.session))
        case ObjectiveEnded() | TurnEnded() as end:
            connection.execute(_ENDED, (_ended(end), draft.session, draft.session))
        case _:
            pass


class TrackRecordTable:
    """Implements ``domain.trust.TrackRecords``.

    Args:
        database: the journal's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, model: ModelRef) -> TrackRecord:
        """What a model's newest replies were; of one that never replied, zeros."""
        with self._database.reading() as connection:
            row = connection.execute(_SUMS, (model.provider, model.model, WINDOW)).fetchone()
        return TrackRecord(*(figure or 0 for figure in row))

    def models(self) -> list[ModelRef]:
        """Every model that has replied to a session, by name."""
        with self._database.reading() as connection:
            return [ModelRef(*row) for row in connection.execute(_MODELS)]


def _ended(end: ObjectiveEnded | TurnEnded) -> str:
    """How a run or turn ended, as far as it says something of the model; a limit of the person's says nothing."""
    if end.reason in ("stall", "repetition"):
        return "repeated"
    return end.status if end.reason in ("done", "confirm", "checks", "plan") else ""
