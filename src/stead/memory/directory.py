"""Which session and which memory belong to which place, and what is shown of memory beside the memories.

Layer: memory. One small encrypted file, derived from the journal. Its ``progress`` speaks for all indexes: an index may
be ahead of it after a crash, never behind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from stead.domain import events as ev
from stead.domain.consolidating import RULES
from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, MemoryId, PlaceId, ProposalId
from stead.domain.memory_ports import JournalLine, ProposalRow
from stead.domain.sessions import viewer
from stead.storage.database import Connect, Database, connect, transaction
from stead.storage.derived import opening

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = (Path(__file__).parent / "directory.sql").read_text("utf-8")
_SCHEMA_ID = hashlib.sha256(_SCHEMA.encode()).hexdigest()
_LINE_CHARS = 300
_MOST = 500
_MOST_LINES = 1_000
_READ = "INSERT INTO positions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET upto = max(upto, excluded.upto)"

_encode = msgspec.json.Encoder().encode
_proposed = msgspec.json.Decoder(ev.MemoryProposed).decode
_consolidated = msgspec.json.Decoder(ev.MemoryConsolidated).decode


class Known(msgspec.Struct, frozen=True):
    """A session as the directory has it."""

    place: PlaceId
    title: str
    attended: bool
    tainted: bool


class Directory:
    """Not safe for several threads at once; its owner holds a lock.

    Args:
        path: the file; its folder exists.
        key: 32 bytes.
        connect: how connections are made.

    Raises:
        StorageFault: it cannot be read; a ``Damaged`` or foreign one is to be dropped and made anew.
    """

    def __init__(self, path: Path, key: bytes, connect: Connect = connect) -> None:
        self.database = Database(path, key, connect, cure="rebuild the memory's indexes")
        with opening(self.database, _SCHEMA, (0, b"", _SCHEMA_ID)) as connection:
            self._connection = connection
        self.reached = self.progress[0]
        """The last event taken in, set by the owner once more is written."""

    @property
    def progress(self) -> tuple[int, bytes, bool]:
        """The last event taken in, its chain hash, and whether the file has the schema of this version."""
        ((seq, chain, schema),) = self._rows("SELECT seq, chain, schema FROM progress")
        return seq, chain, schema == _SCHEMA_ID

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction."""
        with self.database.faults(), transaction(self._connection):
            yield self._connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self.database.close()

    # -- where things are -----------------------------------------------------------------------------------------

    def session(self, id: SessionId) -> Known | None:
        """A session, if it is known and was not deleted."""
        row = self._row("SELECT place, title, attended, tainted FROM sessions WHERE session = ?", id)
        return Known(PlaceId(row[0]), row[1], bool(row[2]), bool(row[3])) if row else None

    def place_of(self, id: MemoryId) -> PlaceId:
        """Whose index has a memory.

        Raises:
            NotFound: there is no such memory.
        """
        row = self._row("SELECT place FROM memories WHERE id = ?", id)
        if row is None:
            raise NotFound(f"there is no memory {id!r}; `stead memory list` lists them")
        return PlaceId(row[0])

    def places(self) -> tuple[tuple[PlaceId, str, str], ...]:
        """Every place, its title and its folder; "everywhere" first."""
        rows = self._rows("SELECT place, title, directory FROM places ORDER BY place <> ?, title", GLOBAL)
        return tuple((PlaceId(place), title, directory) for place, title, directory in rows)

    def title(self, place: PlaceId) -> str:
        """What people call a place; its id where nothing was said in it yet."""
        row = self._row("SELECT title FROM places WHERE place = ?", place)
        return str(row[0]) if row else place

    # -- what is shown --------------------------------------------------------------------------------------------

    def proposals(self, waiting: bool) -> tuple[ProposalRow, ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        rows = self._rows(
            "SELECT row, ts_ms, answer FROM proposals WHERE answer = '' OR NOT ? ORDER BY seq DESC LIMIT ?",
            waiting,
            _MOST,
        )
        return tuple(map(_proposal, rows))

    def proposal(self, id: ProposalId) -> ProposalRow:
        """See ``domain.memory_ports.MemoryReports``."""
        row = self._row("SELECT row, ts_ms, answer FROM proposals WHERE id = ?", id)
        if row is None:
            raise NotFound(f"there is no proposal {id!r}; `stead memory proposals` lists them")
        return _proposal(row)

    def runs(self, limit: int) -> tuple[tuple[int, ev.MemoryConsolidated], ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        rows = self._rows("SELECT ts_ms, row FROM runs ORDER BY seq DESC LIMIT ?", limit)
        return tuple((ts_ms, _consolidated(row)) for ts_ms, row in rows)

    def position(self, place: PlaceId, model: bool) -> int | None:
        """The last event of a place that the runs of a model, or the others, have read; nothing before the first."""
        row = self._row("SELECT upto FROM positions WHERE place = ? AND model = ?", place, model)
        return row[0] if row else None

    def days(self, place: PlaceId, since_ms: int, until_ms: int) -> tuple[JournalLine, ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        rows = self._rows(
            "SELECT d.ts_ms, d.session, s.title, d.text, s.attended, s.tainted, d.failed "
            "FROM days d JOIN sessions s ON s.session = d.session "
            "WHERE d.place = ? AND d.ts_ms >= ? AND d.ts_ms < ? ORDER BY d.seq LIMIT ?",
            place,
            since_ms,
            until_ms,
            _MOST_LINES,
        )
        return tuple(
            JournalLine(ts_ms, place, SessionId(session), title, text, *map(bool, flags))
            for ts_ms, session, title, text, *flags in rows
        )

    def _row(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with self.database.faults():
            return cast("tuple[Any, ...] | None", self._connection.execute(sql, values).fetchone())

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.database.faults():
            return self._connection.execute(sql, values).fetchall()


def failed(body: ev.Body) -> bool:
    """Whether an event ends a run or a turn that came to nothing: a fault, a limit, work not done, a run cut off."""
    match body:
        case ev.ObjectiveEnded(status=status):
            return status in ("failed", "incomplete", "cancelled")
        case ev.TurnEnded(reason=reason):
            return reason not in ("done", "cancelled")
        case _:
            return False


def note(connection: Connection, event: ev.Event, known: Known | None) -> None:
    """Let the directory follow one event.

    Args:
        connection: inside a transaction.
        event: of any stream.
        known: its session, as the directory has it.
    """
    match event.body:
        case ev.SessionOpened() as spec:
            _open(connection, event, spec)
        case ev.SessionDeleted():
            connection.execute("DELETE FROM days WHERE session = ?", (event.session,))
            connection.execute("DELETE FROM sessions WHERE session = ?", (event.session,))
        case ev.TurnEnded(summary=summary) | ev.ObjectiveEnded(summary=summary) if known:
            line = " ".join(summary.split())[:_LINE_CHARS]
            connection.execute(
                "INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?, ?, ?)",
                (event.seq, known.place, event.ts_ms, event.session, line, failed(event.body)),
            )
        case ev.MemoryMade(memory=memory):
            connection.execute("INSERT OR REPLACE INTO memories VALUES (?, ?)", (memory.id, memory.scope.place))
            connection.execute(
                "INSERT OR IGNORE INTO places VALUES (?, ?, '')",
                (memory.scope.place, "everywhere" if memory.scope.place == GLOBAL else memory.scope.place),
            )
        case ev.MemoryProposed() as proposed:
            connection.execute(
                "INSERT OR REPLACE INTO proposals VALUES (?, ?, ?, ?, ?)",
                (proposed.id, event.seq, event.ts_ms, "", _encode(proposed)),
            )
        case ev.ProposalSettled(id=id, accepted=accepted):
            answer = "accepted" if accepted else "refused"
            connection.execute("UPDATE proposals SET answer = ? WHERE id = ?", (answer, id))
        case ev.MemoryConsolidated() as run:
            connection.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", (run.run, event.seq, event.ts_ms, _encode(run))
            )
            if not run.reverted:
                connection.execute(_READ, (run.place, run.by != RULES, run.upto))
        case _:
            return


def again(connection: Connection, seq: int, event: ev.Event | None, known: Known | None) -> None:
    """Let the directory say of an event what the journal says now, after words of it were taken out.

    Args:
        connection: inside a transaction.
        seq: of the event.
        event: as it is read now; nothing when nothing is.
        known: its session.
    """
    connection.execute("DELETE FROM days WHERE seq = ?", (seq,))
    answered = connection.execute("SELECT id, answer FROM proposals WHERE seq = ?", (seq,)).fetchall()
    connection.execute("DELETE FROM proposals WHERE seq = ?", (seq,))
    if event is None:
        return
    note(connection, event, known)
    for id, answer in answered:
        connection.execute("UPDATE proposals SET answer = ? WHERE id = ?", (answer, id))
    if known is not None and known.tainted:
        connection.execute("UPDATE sessions SET tainted = 1 WHERE session = ?", (event.session,))


def _open(connection: Connection, event: ev.Event, spec: ev.SessionOpened) -> None:
    looks = viewer(spec)
    place = looks.channel or looks.workspace
    title, directory = (spec.channel, "") if looks.channel else (spec.directory, spec.directory)
    values = (event.session, place, spec.title, looks.interactive, False)
    connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?)", values)
    connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", (place, title, directory))


def _proposal(row: tuple[Any, ...]) -> ProposalRow:
    answer = cast("Literal['', 'accepted', 'refused']", row[2])
    return ProposalRow(_proposed(row[0]), row[1], answer)
