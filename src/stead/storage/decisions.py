"""Reading decisions out of the journal: who was allowed what, newest first.

Layer: storage. What a decision is follows in ``domain/audit.py``; here is only where its events are found. A verdict
whose payload was erased is gone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, cast

import msgspec

from stead.domain import events as ev
from stead.domain.audit import DECISION_EVENTS, Decision, decisions
from stead.domain.errors import NotFound
from stead.domain.ids import HOME, SessionId
from stead.storage.codec import tag_of
from stead.storage.database import Database
from stead.storage.event_rows import THERE, EventRow, read

SEQ_MAX = 2**63 - 1
_CHUNK_ROWS = 200
_JUDGED = tag_of(ev.CallJudged)
_TOLD = tuple(tag_of(kind) for kind in DECISION_EVENTS)
_MARKS = ", ".join("?" * len(_TOLD))

_VERDICTS = f"e.seq < ? AND e.tag = '{_JUDGED}' AND {THERE} ORDER BY e.seq DESC LIMIT ?"
_VERDICTS_OF = f"e.session = ? AND e.seq < ? AND e.tag = '{_JUDGED}' AND {THERE} ORDER BY e.session_seq DESC LIMIT ?"
_LAST = f"SELECT e.seq, e.session, NOT {THERE} FROM events e WHERE e.tag = '{_JUDGED}' ORDER BY e.seq DESC LIMIT ?"  # noqa: S608 - a constant
_ABOUT = f"""
    e.tag IN (SELECT value FROM json_each(?)) AND (e.ts_ms >= ? OR e.tag LIKE 'grant.%' OR e.tag LIKE 'session.%')
    AND (e.tag != '{_JUDGED}' OR json_extract(CAST(e.payload AS text), '$.reason.rule') = 'granted')
    AND {THERE} ORDER BY e.seq
"""  # noqa: S608 - a constant
_STREAM = f"e.session = ? AND e.tag IN ({_MARKS}) AND {THERE} ORDER BY e.session_seq"
_FIRST = f"e.session = ? AND e.session_seq = 1 AND {THERE}"

Verdict = Literal["allow", "ask", "deny", ""]


class DecisionLog:
    """The decisions in a journal's file. Every method blocks.

    Args:
        database: the journal's file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, *, session: SessionId | None, verdict: Verdict, call: str, before: int, limit: int
    ) -> tuple[list[Decision], str]:
        """Decisions before a place, newest first, and the cursor of the next page, "" when there is none.

        Args:
            session: of this one alone.
            verdict: these alone, "" for all.
            call: of calls with this key alone, "" for all.
            before: only verdicts whose seq is smaller; 0 for the newest.
            limit: how many at most.

        Raises:
            StorageFault: the file cannot be read.
        """
        found: list[ev.Event] = []
        for event in self._verdicts(session, before or SEQ_MAX):
            judged = cast("ev.CallJudged", event.body)
            if verdict in ("", judged.verdict) and call in ("", judged.key):
                found.append(event)
                if len(found) > limit:
                    break
        told = self._told(found[:limit])
        return told, str(told[-1].seq) if len(found) > limit else ""

    def decision(self, seq: int) -> Decision:
        """The one whose verdict is this event.

        Raises:
            NotFound: the event is no verdict, or its payload was erased.
            StorageFault: the file cannot be read.
        """
        event = next(self._verdicts(None, seq + 1), None)
        if event is None or event.seq != seq:
            raise NotFound(f"event {seq} is no verdict that is still there; see 'stead audit log'")
        return self._told([event])[0]

    def newest(self, limit: int) -> list[tuple[int, SessionId, bool]]:
        """The seq and session of the last verdicts, newest first, and whether what they said was erased.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            return [(seq, id, bool(erased)) for seq, id, erased in connection.execute(_LAST, (limit,))]

    def about(self, kinds: Sequence[type[ev.Body]], since_ms: int) -> list[ev.Event]:
        """Events of these kinds from a time on, in order: of grants and openings all, of verdicts those by a grant.

        Raises:
            StorageFault: the file cannot be read.
        """
        tags = msgspec.json.encode([tag_of(kind) for kind in kinds]).decode()
        with self._database.reading() as connection:
            return list(map(_event, read(connection, _ABOUT, (tags, since_ms))))

    def _verdicts(self, session: SessionId | None, before: int) -> Iterator[ev.Event]:
        while True:
            with self._database.reading() as connection:
                if session is None:
                    rows = read(connection, _VERDICTS, (before, _CHUNK_ROWS))
                else:
                    rows = read(connection, _VERDICTS_OF, (session, before, _CHUNK_ROWS))
            yield from map(_event, rows)
            if len(rows) < _CHUNK_ROWS:
                return
            before = rows[-1].header.seq

    def _told(self, verdicts: Iterable[ev.Event]) -> list[Decision]:
        """Verdicts with what followed them, in the order that they were given in."""
        wanted = list(verdicts)
        told: dict[int, Decision] = {}
        for session in {event.session for event in wanted}:
            events, grants = self._stream(session), self._grants(session)
            told |= {decision.seq: decision for decision in decisions(events, grants)}
        return [told[event.seq] for event in wanted if event.seq in told]

    def _stream(self, session: SessionId) -> list[ev.Event]:
        with self._database.reading() as connection:
            return list(map(_event, read(connection, _STREAM, (session, *_TOLD))))

    def _grants(self, session: SessionId) -> list[ev.Event]:
        """Those of the home for the session's folder."""
        with self._database.reading() as connection:
            first = read(connection, _FIRST, (session,))
        opening = _event(first[0]).body if first else None
        if not isinstance(opening, ev.SessionOpened):
            return []
        return [
            event
            for event in self._stream(HOME)
            if isinstance(event.body, ev.GrantMade) and event.body.directory == opening.directory
        ]


def _event(row: EventRow) -> ev.Event:
    event = row.event()
    assert isinstance(event, ev.Event)  # the queries pass over what was erased
    return event
