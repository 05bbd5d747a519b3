"""The read models of one workspace: lists, pages and the search of its history.

Layer: storage. One encrypted file, derived from the journal and rebuilt from it at any time; nothing decides by it.
Every read first takes in the events that have come since the last one, which ``follower`` keeps few; so a writer
never waits for this file, and a reader never long.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Raw
from msgspec.structs import asdict, replace

from stead.domain.errors import InvalidRequest, NotFound, StorageFault, WrongKey
from stead.domain.events import VERSIONS
from stead.domain.ids import ApprovalId, SessionId
from stead.domain.rows import (
    ApprovalRow,
    Kind,
    ObjectiveRow,
    OpenRunRow,
    SearchRow,
    StepRow,
    UsageBy,
    UsagePer,
    UsageRow,
    Wanted,
)
from stead.domain.timeline import SHAPE, ReplyItem, StepItem, Timeline, step_row
from stead.storage import projection
from stead.storage.archives import Archive
from stead.storage.database import Connect, Damaged, Database, connect, transaction
from stead.storage.derived import opening
from stead.storage.history import lines_around, matching
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.ledger import day_of
from stead.storage.packing import DICTIONARY, unpack, unpacked
from stead.storage.projector import Projector, decode_approval, decode_item, decode_objective

if TYPE_CHECKING:
    from sqlite3 import Connection

CHUNK_EVENTS = 500
_SCHEMA = (Path(__file__).parent / "schema" / "views.sql").read_text("utf-8")
_SCHEMA_ID = hashlib.sha256(f"{_SCHEMA}{SHAPE}{sorted(VERSIONS.items())}".encode() + DICTIONARY).hexdigest()
_NEWEST = 2**62
_OBJECTIVES = """
    WITH RECURSIVE below (id) AS
        (VALUES (:below) UNION SELECT o.id FROM objectives o JOIN below b ON o.parent = b.id WHERE b.id <> '')
    SELECT s.seq, s.state, o.goal FROM states s JOIN objectives o ON o.id = s.session
    WHERE s.kind = :kind AND s.seq < :before AND :status IN ('', s.status) AND :directory IN ('', o.directory)
    AND CASE WHEN :below = '' THEN o.parent = '' ELSE o.id <> :below AND o.id IN (SELECT id FROM below) END
    AND o.created_ms >= :since_ms AND (:until_ms = 0 OR o.created_ms <= :until_ms)
    AND (:archived = 'any' OR s.archived = CASE :archived WHEN 'trash' THEN 2 ELSE :archived = 'yes' END)
    AND (:tag = '' OR :tag IN (SELECT value FROM json_each(s.tags))) ORDER BY s.seq DESC LIMIT :most
"""
_APPROVALS = """
    WITH RECURSIVE below (id) AS
        (VALUES (:id) UNION SELECT o.id FROM objectives o JOIN below b ON o.parent = b.id WHERE b.id <> '')
    SELECT row FROM approvals
    WHERE :status IN ('all', status) AND (:id = '' OR session IN (SELECT id FROM below)) ORDER BY seq DESC LIMIT :most
"""
_FOUND = """
    SELECT t.seq, s.session, t.ts_ms, t.type, {text}
    FROM words JOIN texts t ON t.seq = words.rowid JOIN states s ON s.seq = t.of
    WHERE words MATCH ? AND s.archived < 2 AND t.ts_ms >= ? AND (? = 0 OR t.ts_ms < ?)
    ORDER BY words.rank, t.seq DESC LIMIT ?
"""
_OF = "(SELECT seq FROM objectives WHERE id = ?)"
_ANY = Wanted()

_log = logging.getLogger(__name__)


class Views:
    """Safe to call from several threads; each call waits for the one before it.

    Args:
        path: the file; its folder exists.
        keys: the home's.
        journal: the truth.
        now_ms: milliseconds since 1970, for "the last days".
        connect: how connections are made.

    Every method raises ``StorageFault`` when a file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        keys: Keys,
        journal: JournalFile,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        connect: Connect = connect,
    ) -> None:
        self._path = path
        self._key = keys.views
        self._journal = journal
        self._now_ms = now_ms
        self._connect = connect
        self._archived = 0  # the last archive whose texts were taken out
        self._lock = threading.RLock()  # held from the first statement of a call to its last
        self._database, self._connection, self.reached = _open_or_renew(path, keys.views, connect, journal)
        """``reached``: the seq of the last event taken in."""

    # -- keeping up -----------------------------------------------------------------------------------------------

    def catch_up(self) -> int:
        """Take in every event since the last one taken in; gives how many. Every read does this first."""
        with self._lock, self._database.faults():
            count, erased = 0, False
            while taken := self._take_chunk():
                count += taken[0]
                erased = erased or taken[1]
            if new := [archive for archive in self._journal.archived() if archive.id > self._archived]:
                _leave_out(self._connection, new)
                self._archived, erased = new[-1].id, True
            if count >= CHUNK_EVENTS:  # a batch makes the log as long as it is itself
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if erased:
            self._database.scrub()
        return count

    async def ingest(self, seq: int) -> int:
        """Take in every event up to this one; gives how far the search reaches now. As ``domain.ports.Ingested``."""
        await asyncio.to_thread(self.catch_up)
        if self.reached < seq:
            raise StorageFault(f"the history reaches event {self.reached} and not {seq}; see `stead doctor`")
        return self.reached

    def purge(self) -> None:
        """Catch up with what was forgotten, and empty the log of it, in case a crash came before that was done."""
        self.catch_up()
        self._database.scrub()

    def rebuild(self) -> int:
        """Drop the file and replay the journal; gives how many events that were. Readers wait."""
        with self._lock:
            self.close()
            self._database, self._connection, self.reached = _renew(self._path, self._key, self._connect)
            self._archived = 0
            return self.catch_up()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
            self._database.close()

    # -- objectives -----------------------------------------------------------------------------------------------

    def objectives(
        self,
        *,
        kind: Kind = "objective",
        wanted: Wanted = _ANY,
        after: str = "",
        limit: int = 50,
    ) -> tuple[list[ObjectiveRow], str]:
        """Those of a kind, newest first, and the cursor of the next page, "" when there is none.

        Raises:
            InvalidRequest: ``after`` is not a cursor of this list.
        """
        if after and not after.isdecimal():
            raise InvalidRequest(f"{after!r} is no place in the list; start without one")
        before = int(after) if after else _NEWEST
        rows = self._rows(_OBJECTIVES, **asdict(wanted), kind=kind, before=before, most=limit + 1)
        page = rows[:limit]
        return [_objective(state, goal) for _, state, goal in page], str(page[-1][0]) if len(rows) > limit else ""

    def objective(self, id: SessionId) -> ObjectiveRow:
        """One, of either kind.

        Raises:
            NotFound: no such objective.
        """
        rows = self._rows(
            "SELECT s.state, o.goal FROM states s JOIN objectives o ON o.id = s.session WHERE s.session = ?", id
        )
        if not rows:
            raise _missing(id)
        return _objective(*rows[0])

    def steps(self, id: SessionId, after: int = 0, limit: int = 50) -> list[StepRow]:
        """In order, those whose index is past ``after``.

        Raises:
            NotFound: no such objective.
        """
        self.objective(id)
        asked = f"SELECT item FROM items WHERE of = {_OF} AND step > max(0, ?) ORDER BY step LIMIT ?"  # noqa: S608
        items = (decode_item(item) for (item,) in self._rows(asked, id, after, limit))
        return [step_row(id, item) for item in items if isinstance(item, ReplyItem | StepItem)]

    def timeline(self, id: SessionId, after: int = 0, limit: int = 500) -> Timeline[Raw]:
        """The items that are new or changed since event ``after``, in the order of their last change.

        Raises:
            NotFound: no such session.
        """
        with self.reading() as connection:
            known = connection.execute("SELECT state, seq FROM states WHERE session = ?", (id,)).fetchone()
            if known is None:
                raise _missing(id)
            (seq,) = connection.execute("SELECT seq FROM progress").fetchone()
            rows = connection.execute(
                "SELECT changed, item FROM items WHERE of = ? AND changed > ? ORDER BY changed, n LIMIT ?",
                (known[1], after, limit + 1),
            ).fetchall()
            if more := len(rows) > limit:  # what one event changed is not torn apart
                seq = rows[limit - 1][0]
                whole = connection.execute(
                    "SELECT changed, item FROM items INDEXED BY items_by_change "
                    "WHERE of = ? AND changed = ? ORDER BY n",
                    (known[1], seq),
                ).fetchall()
                rows = [row for row in rows if row[0] < seq] + whole
        objective = decode_objective(known[0])
        items = tuple(Raw(unpack(item)) for _, item in rows)
        return Timeline(items, seq, more, objective.row, projection.request(objective), objective.replied)

    def open_runs(self) -> list[OpenRunRow]:
        """What every objective that has not ended, and every session that is at work, is at, the longest first."""
        rows = self._rows(
            "SELECT state FROM states WHERE status IN ('pending', 'running', 'waiting', 'paused') ORDER BY seq"
        )
        return sorted((projection.open_run(decode_objective(state)) for (state,) in rows), key=lambda run: run.since_ms)

    def under_way(self) -> tuple[SessionId, ...]:
        """What works or waits for an answer, objectives and sessions, the oldest first; not what rests or is held."""
        asked = "SELECT session FROM states WHERE status IN ('pending', 'running', 'waiting') ORDER BY seq"
        return tuple(id for (id,) in self._rows(asked))

    # -- what waits for a person, what was spent ------------------------------------------------------------------

    def reviews(self) -> list[ObjectiveRow]:
        """Objectives and sessions with changes that wait for the person, the latest first; without their goals."""
        rows = self._rows("SELECT state FROM states WHERE waiting != 0 AND archived < 2 ORDER BY seq DESC")
        return [decode_objective(state).row for (state,) in rows]

    def approvals(
        self, *, status: Literal["pending", "all"] = "pending", session: SessionId | None = None, limit: int = 50
    ) -> list[ApprovalRow]:
        """Questions to the person, newest first; of one session, and of all subagents below it, if named."""
        rows = self._rows(_APPROVALS, status=status, id=session or "", most=limit)
        return [decode_approval(row) for (row,) in rows]

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """One.

        Raises:
            NotFound: no such approval.
        """
        rows = self._rows("SELECT row FROM approvals WHERE id = ?", id)
        if not rows:
            raise NotFound(f"there is no approval {id!r}; 'stead approve' without an id lists what waits")
        return decode_approval(rows[0][0])

    def usage(
        self, days: int = 30, since: str = "", until: str = "", by: UsageBy = "model", per: UsagePer = "day"
    ) -> list[UsageRow]:
        """What each model used on the person's last ``days`` days, today included, or from a day on, up to another.

        It comes from the journal's ledger, so it stays when a session is deleted.
        """
        last = str(date.fromisoformat(day_of(self._now_ms())) - timedelta(days - 1))
        return self._journal.usage(since or last, until or "9", by, per)

    # -- searching ------------------------------------------------------------------------------------------------

    def search(
        self, query: str, limit: int = 50, *, since_ms: int = 0, until_ms: int = 0, context: int = 0
    ) -> list[SearchRow]:
        """Where goals, messages, replies, tool inputs and outputs have all of these words, best first.

        The last word may be a beginning. There is no syntax: marks count as spaces.

        Args:
            query: the words.
            limit: of the hits.
            since_ms: what was said from then on.
            until_ms: and before then; 0 for any.
            context: with so many lines before and after the first one that has a match; 0 for a few words around it.
        """
        match = matching(query)
        if not match:
            return []
        text = "highlight(words, 0, char(2), char(3))" if context else "snippet(words, 0, '«', '»', '…', 24)"
        with self.reading() as connection:
            rows = connection.execute(_FOUND.format(text=text), (match, since_ms, until_ms, until_ms, limit))
            found = (SearchRow(*row) for row in rows)
            return [replace(hit, excerpt=lines_around(hit.excerpt, context)) if context else hit for hit in found]

    # -- the file -------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The tables, up to date, for as long as it is entered; nobody else reads meanwhile."""
        with self._lock:
            self.catch_up()
            with self._database.faults():
                yield self._connection

    def _rows(self, asked: str, *parameters: object, **named: object) -> list[tuple[Any, ...]]:
        """What a query finds in the tables as they are now."""
        with self.reading() as connection:
            return connection.execute(asked, named or parameters).fetchall()

    def _take_chunk(self) -> tuple[int, bool] | None:
        """Take in the next events in one transaction: (how many, whether rows went with them); None when up to date."""
        if self.reached >= self._journal.head():
            return None
        connection = self._connection
        with transaction(connection):
            (reached,) = connection.execute("SELECT seq FROM progress").fetchone()
            events = list(islice(self._journal.events(after=reached), CHUNK_EVENTS))
            projector = Projector(connection, lambda id: self._journal.events(session=id))
            projector.take(events)
            if events:
                reached = events[-1].seq
                connection.execute("UPDATE progress SET seq = ?, chain = ?", (reached, self._journal.chain_at(reached)))
        self.reached = reached
        return len(events), projector.erased


def _leave_out(connection: Connection, archives: list[Archive]) -> None:
    """Have the search without what was moved into archives."""
    with transaction(connection):
        for archive in archives:
            for table, column in (("words", "rowid"), ("texts", "seq")):
                where = f"IN (SELECT seq FROM texts WHERE of = {_OF} AND seq <= ?)"  # noqa: S608 - constants
                sql = f"DELETE FROM {table} WHERE {column} {where}"  # noqa: S608 - constants
                connection.execute(sql, (archive.session, archive.last))


def _open_or_renew(path: Path, key: bytes, connect: Connect, journal: JournalFile) -> tuple[Database, Connection, int]:
    """Open the file; one that is damaged, of another journal or of another schema is dropped and begun again."""
    try:
        database, connection, (seq, chain, schema) = _open(path, key, connect)
    except (Damaged, WrongKey) as error:
        _log.warning("the read models are begun again: %s", error)
        return _renew(path, key, connect)
    if schema == _SCHEMA_ID and journal.chain_at(seq) == chain:
        return database, connection, seq
    _log.info("the read models are begun again: they are of another journal or of another version of Stead")
    connection.close()
    database.close()
    return _renew(path, key, connect)


def _renew(path: Path, key: bytes, connect: Connect) -> tuple[Database, Connection, int]:
    """A fresh file in place of the one that is there."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    database, connection, _ = _open(path, key, connect)
    return database, connection, 0


def _open(path: Path, key: bytes, connect: Connect) -> tuple[Database, Connection, tuple[int, bytes, str]]:
    """The file, a connection to write with, and how far it has come, of which journal and schema."""
    database = Database(path, key, connect, cure="rebuild the read models")
    with opening(database, _SCHEMA, (0, b"", _SCHEMA_ID)) as connection:
        connection.create_function("unpacked", 1, unpacked, deterministic=True)
        progress = connection.execute("SELECT seq, chain, schema FROM progress").fetchone()
    return database, connection, progress


def _objective(state: bytes, goal: str) -> ObjectiveRow:
    return projection.shown(decode_objective(state), goal)


def _missing(id: SessionId) -> NotFound:
    return NotFound(f"there is no objective or session {id!r}; 'stead objectives' and 'stead session list' list them")
