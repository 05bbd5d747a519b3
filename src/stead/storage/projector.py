"""Writes what events change into the read models' file.

Layer: storage. ``projection`` says what changes; this keeps it in tables. One lives for one transaction.

The rows that a batch of events touches are read with one statement a table and written with one (ADR 0037): each call
of the database gives up the interpreter's lock, and while sessions are busy it is slow to come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, ApprovalId, SessionId
from stead.domain.memory_events import ContentRedacted
from stead.domain.messages import ToolCall
from stead.domain.rows import ApprovalRow
from stead.domain.timeline import Item, ReplyItem, StepItem
from stead.domain.timeline_fold import ENDINGS, follow
from stead.storage import projection
from stead.storage.codec import tag_of
from stead.storage.packing import pack, unpack
from stead.storage.projection import Objective

if TYPE_CHECKING:
    from sqlite3 import Connection

_encode = msgspec.json.Encoder().encode
decode_objective = msgspec.json.Decoder(Objective).decode
_item_decoder: msgspec.json.Decoder[Item] = msgspec.json.Decoder(Item)
decode_approval = msgspec.json.Decoder(ApprovalRow).decode

_OF_QUESTIONS = (ev.ApprovalRequested, ev.ApprovalGiven, ev.ApprovalDenied, ev.ApprovalLapsed, ev.ObjectiveEnded)
_STATEMENT_ROWS = 1000
"""Of one statement; the database takes 32,766 parameters."""

# In each, the rows that are given stand for the dots.
_STATES_OF = "WITH given (id) AS (VALUES ...) SELECT session, state FROM states JOIN given ON session = id"
_ASKED = """
    WITH RECURSIVE below (id) AS (VALUES (?) UNION SELECT o.id FROM objectives o JOIN below b ON o.parent = b.id)
    SELECT count(*) FROM approvals WHERE status = 'pending' AND session IN (SELECT id FROM below)
"""
_ITEMS_OF = """
    WITH given (session, named) AS (VALUES ...)
    SELECT o.id, i.id, i.item FROM given
    CROSS JOIN objectives o ON o.id = session CROSS JOIN items i ON i.of = o.seq AND i.id = named
"""
_SET_STATES = """
    WITH given (id, status, waiting, archived, tags, state) AS (VALUES ...)
    UPDATE states SET status = given.status, waiting = given.waiting, archived = given.archived, tags = given.tags,
    state = given.state FROM given WHERE session = id
"""
_SET_ITEMS = """
    WITH given (session, place, id, step, changed, item) AS (VALUES ...)
    INSERT INTO items (n, of, id, step, changed, item)
    SELECT (o.seq << 24) + g.place, o.seq, g.id, g.step, g.changed, g.item
    FROM given g CROSS JOIN objectives o ON o.id = g.session
    WHERE true ON CONFLICT (n) DO UPDATE SET changed = excluded.changed, item = excluded.item
"""
_ADD_TEXTS = """
    WITH given (seq, session, ts_ms, type, who, text) AS (VALUES ...)
    INSERT INTO texts (seq, of, ts_ms, type, who, text)
    SELECT g.seq, o.seq, g.ts_ms, g.type, g.who, g.text FROM given g CROSS JOIN objectives o ON o.id = g.session
"""
_ADD_WORDS = "INSERT INTO words (rowid, text) VALUES ..."


class Projector:
    """Takes a batch of events in.

    Args:
        connection: inside a transaction.
        events: gives all that the journal has of a session, in order.
    """

    def __init__(self, connection: Connection, events: Callable[[SessionId], Iterator[ev.Event | ev.Erased]]) -> None:
        self._connection = connection
        self._events = events
        self._objectives: dict[SessionId, Objective] = {}
        self._items: dict[tuple[SessionId, str], tuple[Item, int] | None] = {}
        self._texts: dict[int, tuple[ev.Event, str]] = {}
        self.erased = False

    def take(self, events: Sequence[ev.Event | ev.Erased]) -> None:
        """Let the rows follow these events, in order, the next ones after those of before.

        What was erased is passed over: the deletion after it removes the rest.
        """
        there = [event for event in events if isinstance(event, ev.Event)]
        self._load(there)
        for event in there:
            self._follow(event)
        self._write()

    # -- one event ------------------------------------------------------------------------------------------------

    def _follow(self, event: ev.Event) -> None:
        match event.body:
            case ev.SessionOpened() as body:
                if body.workspace != DEFAULT_WORKSPACE:
                    return
                self._open(event, body)
            case ev.SessionDeleted():
                self._forget(event.session)
                return
            case ContentRedacted():
                self._take_again(event)
            case _:
                known = self._objectives.get(event.session)
                if known is None:
                    return
                self._take_details(known, event)
                self._objectives[event.session] = self._show(event, known, projection.advanced(known, event))
                if isinstance(event.body, _OF_QUESTIONS):
                    self._count_questions(known.row.parent)
        if text := projection.searchable(event.body):
            self._texts[event.seq] = (event, text)

    def _take_again(self, redacted: ev.Event) -> None:
        """Let every row of the session follow from what the journal has of it now."""
        if redacted.session not in self._objectives:
            return
        self._forget(redacted.session)
        for event in self._events(redacted.session):
            if event.seq > redacted.seq or not isinstance(event, ev.Event):
                continue
            if not isinstance(event.body, ContentRedacted):
                self._follow(event)
            elif known := self._objectives.get(event.session):
                self._objectives[event.session] = self._show(event, known, known)
        self._count_questions(redacted.session)

    def _count_questions(self, id: SessionId) -> None:
        """What a session waits for is also what the subagents below it ask; so too for every session above it."""
        while id:
            if id not in self._objectives:
                self._objectives.update((id, decode_objective(state)) for id, state in self._given(_STATES_OF, [(id,)]))
            known = self._objectives.get(id)
            if known is None:  # deleted
                return
            (count,) = self._connection.execute(_ASKED, (id,)).fetchone()
            self._objectives[id] = projection.asks(known, count)
            id = known.row.parent

    def _open(self, event: ev.Event, body: ev.SessionOpened) -> None:
        goal = body.contract.goal if body.contract else ""
        self._connection.execute(
            "INSERT INTO objectives (id, seq, goal, directory, created_ms, parent, channel) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(event.session, event.seq, goal, body.directory, event.ts_ms),
                *(body.parent.session if body.parent else "", body.channel),
            ),
        )
        objective = projection.opened(event, body)
        self._connection.execute(
            "INSERT INTO states (session, seq, kind, status, waiting, archived, tags, state) "
            "VALUES (?, ?, ?, ?, 0, 0, '[]', ?)",
            (event.session, event.seq, objective.row.kind, objective.row.status, _encode(objective)),
        )
        self._objectives[event.session] = self._show(event, objective, objective)

    def _show(self, event: ev.Event, before: Objective, after: Objective) -> Objective:
        """Put what the event adds and changes into the timeline."""
        items = follow(event, projection.standing(before, after), lambda id: self._item(event.session, id))
        self._items.update(((event.session, item.id), (item, event.seq)) for item in items)
        return replace(after, items=before.items + sum(item.place >= before.items for item in items))

    def _item(self, session: SessionId, id: str) -> Item | None:
        if (session, id) not in self._items:
            self._load_items([(session, id)])
        held = self._items[session, id]
        return held and held[0]

    def _take_details(self, objective: Objective, event: ev.Event) -> None:
        match event.body:
            case ev.ApprovalRequested() as question:
                row = projection.asked(objective, event, question)
                self._connection.execute(
                    "INSERT INTO approvals (id, session, seq, status, row) VALUES (?, ?, ?, ?, ?)",
                    (row.id, row.session, event.seq, row.status, _encode(row)),
                )
            case ev.ApprovalGiven(id=id) | ev.ApprovalDenied(id=id) | ev.ApprovalLapsed(id=id):
                self._answer(id, event.body, event.ts_ms)
            case ev.GoalChanged(goal=goal):
                self._connection.execute("UPDATE objectives SET goal = ? WHERE id = ?", (goal, event.session))
            case ev.ObjectiveEnded():
                self._lapse(event.session, event.ts_ms)
            case _:
                pass

    def _answer(self, id: ApprovalId, body: projection.Answered, ts_ms: int) -> None:
        row = self._connection.execute("SELECT row FROM approvals WHERE id = ?", (id,)).fetchone()
        if row is not None:
            self._keep(projection.answered(decode_approval(row[0]), body, ts_ms))

    def _lapse(self, session: SessionId, ts_ms: int) -> None:
        """The end of an objective voids its open questions."""
        rows = self._connection.execute(
            "SELECT row FROM approvals WHERE session = ? AND status = 'pending'", (session,)
        ).fetchall()
        for (row,) in rows:
            approval = decode_approval(row)
            self._keep(projection.answered(approval, ev.ApprovalLapsed(approval.id, approval.key, "ended"), ts_ms))

    def _keep(self, row: ApprovalRow) -> None:
        self._connection.execute(
            "UPDATE approvals SET status = ?, row = ? WHERE id = ?", (row.status, _encode(row), row.id)
        )

    def _forget(self, session: SessionId) -> None:
        """Remove every trace; the file overwrites what it deletes."""
        self._connection.execute(
            "DELETE FROM words WHERE rowid IN "
            "(SELECT t.seq FROM texts t JOIN objectives o ON o.seq = t.of WHERE o.id = ?)",
            (session,),
        )
        self._connection.execute("DELETE FROM objectives WHERE id = ?", (session,))
        self._objectives.pop(session, None)
        self._items = {of: held for of, held in self._items.items() if of[0] != session}
        self._texts = {seq: kept for seq, kept in self._texts.items() if kept[0].session != session}
        self.erased = True

    # -- the tables -----------------------------------------------------------------------------------------------

    def _load(self, events: Sequence[ev.Event]) -> None:
        """Read the rows that the events may change."""
        for id, state in self._given(_STATES_OF, dict.fromkeys((event.session,) for event in events)):
            self._objectives[id] = decode_objective(state)
        self._load_items(dict.fromkeys((event.session, id) for event in events for id in self._named(event)))

    def _named(self, event: ev.Event) -> Iterable[str]:
        """The items that an event may be about: calls by their keys."""
        match event.body:
            case ev.ModelReplied(parts=parts):
                return [part.key for part in parts if isinstance(part, ToolCall)]
            case body if isinstance(body, ENDINGS) and event.session in self._objectives:
                return self._objectives[event.session].talk.unanswered
            case body:
                return [key] if isinstance(key := getattr(body, "key", None), str) else []

    def _load_items(self, ids: Iterable[tuple[SessionId, str]]) -> None:
        self._items.update(dict.fromkeys(ids := list(ids)))
        for session, id, item in self._given(_ITEMS_OF, ids):
            self._items[session, id] = (decode_item(item), 0)

    def _write(self) -> None:
        """Write the rows that have changed."""
        states = self._objectives.items()
        rows = ((id, it.row, _encode(it)) for id, it in states)
        said = (
            (id, it.status, it.review.waiting, 2 if it.trashed_ms else it.archived, _encode(it.tags).decode(), raw)
            for id, it, raw in rows
        )
        self._given(_SET_STATES, said)
        changed = [(session, *held) for (session, _), held in self._items.items() if held and held[1]]
        self._given(
            _SET_ITEMS, ((of, it.place, it.id, _step_of(it), seq, pack(_encode(it))) for of, it, seq in changed)
        )
        texts = self._texts.values()
        by = (
            (it.seq, it.session, it.ts_ms, tag_of(it.body), projection.by(it.body), pack(text.encode()))
            for it, text in texts
        )
        self._given(_ADD_TEXTS, by)
        self._given(_ADD_WORDS, ((it.seq, text) for it, text in texts))

    def _given(self, statement: str, rows: Iterable[tuple[object, ...]]) -> list[tuple[Any, ...]]:
        """Execute a statement for all these rows together; gives what it finds."""
        found: list[tuple[Any, ...]] = []
        left = iter(rows)
        while batch := list(islice(left, _STATEMENT_ROWS)):
            marks = ", ".join(["(" + ", ".join("?" * len(batch[0])) + ")"] * len(batch))
            done = self._connection.execute(statement.replace("...", marks), tuple(chain.from_iterable(batch)))
            found += done.fetchall()
        return found


def decode_item(stored: bytes) -> Item:
    """An item as it is kept."""
    return _item_decoder.decode(unpack(stored))


def _step_of(item: Item) -> int:
    return item.step if isinstance(item, ReplyItem) else item.index if isinstance(item, StepItem) else 0
