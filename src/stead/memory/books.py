"""What the indexes of a home hold, as it is read: memories, what was said, places, and what happened.

Layer: memory. How they are kept up is ``shelf``'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from stead.domain.errors import NotFound
from stead.domain.events import Erased
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, MemoryId, MemoryRow, PlaceId, ProposalId, Scope, Viewer
from stead.domain.memory_events import MemoryConsolidated
from stead.domain.memory_ports import JournalLine, Place, ProposalRow, RowsWanted, Said, Whereabouts
from stead.memory.directory import Directory, Known
from stead.memory.evidence import Spoken, borne_out, told, witness
from stead.memory.index import Counts
from stead.memory.shelf import Shelf


class MemoryBooks(Shelf):
    """Implements ``Remembered`` and ``MemoryReports`` of ``domain.memory_ports``; as ``Shelf`` otherwise."""

    def row(self, id: MemoryId) -> MemoryRow:
        """See ``domain.memory_ports.Remembered``."""
        row = self._in(self._read(lambda directory: directory.place_of(id)), lambda index: index.row(id), None)
        if row is None:
            raise NotFound(f"there is no memory {id!r}; `stead memory list` lists them")
        return row

    def alike(self, scope: Scope, text: str, key: str, *, after_ms: int | None = None) -> tuple[MemoryRow, ...]:
        """See ``domain.memory_ports.Remembered``."""
        return self._in(scope.place, lambda index: index.alike(scope.level, text, key, after_ms), ())

    def rows(self, wanted: RowsWanted) -> tuple[tuple[MemoryRow, ...], str]:
        """See ``domain.memory_ports.Remembered``."""
        if wanted.place:
            nothing: tuple[tuple[MemoryRow, ...], str] = ((), "")
            return self._in(wanted.place, lambda index: index.rows(wanted), nothing)
        return self._read(lambda directory: self._rows_everywhere(directory, wanted))

    def said(self, session: SessionId, text: str) -> Said | None:
        """See ``domain.memory_ports.Remembered``."""
        return borne_out(text, self._witnesses(session, text))

    def places(self) -> tuple[Place, ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        found = []
        for id, title, path in self._read(Directory.places):
            counts = self._in(id, lambda index: index.counts(self._model), Counts(0, 0, 0))
            if id == GLOBAL or counts.memories or counts.episodes:
                found.append(Place(id, title, path, counts.memories, counts.episodes, counts.embedded))
        return tuple(found)

    def title(self, place: PlaceId) -> str:
        """See ``runtime.loading.Days``."""
        return self._read(lambda directory: directory.title(place))

    def bare_places(self) -> tuple[PlaceId, ...]:
        """The places that have texts without a vector."""
        places = [id for id, _, _ in self._read(Directory.places)]
        return tuple(id for id in places if self._in(id, lambda index: index.is_bare(self._model), False))

    def proposals(self, *, waiting: bool) -> tuple[ProposalRow, ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        return self._read(lambda directory: directory.proposals(waiting))

    def proposal(self, id: ProposalId) -> ProposalRow:
        """See ``domain.memory_ports.MemoryReports``."""
        return self._read(lambda directory: directory.proposal(id))

    def runs(self, limit: int) -> tuple[tuple[int, MemoryConsolidated], ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        return self._read(lambda directory: directory.runs(limit))

    def position(self, place: PlaceId, model: bool) -> int | None:
        """How far the runs of a model, or the others, have read in a place; nothing before the first."""
        return self._read(lambda directory: directory.position(place, model))

    def days(self, place: PlaceId, since_ms: int, until_ms: int) -> tuple[JournalLine, ...]:
        """See ``domain.memory_ports.MemoryReports``."""
        return self._read(lambda directory: directory.days(place, since_ms, until_ms))

    def known(self, session: str) -> Known | None:
        """A session, if it was not deleted."""
        return self._read(lambda directory: directory.session(SessionId(session)))

    def whereabouts(self, session: SessionId) -> Whereabouts:
        """See ``domain.memory_ports.Remembered``."""
        known = self.known(session)
        if known is None:
            raise NotFound(f"there is no session {session!r}; it was deleted")
        channel = known.place if known.place.startswith("c_") else PlaceId("")
        return Whereabouts(Viewer(known.place, channel, known.attended), known.tainted)

    def _witnesses(self, session: SessionId, statement: str) -> Iterator[Spoken]:
        """What a statement may rest on, each with how much of it the model or memory had said before."""
        known = 0.0
        for event in self._record.events(session=session):
            if isinstance(event, Erased):
                continue
            if one := witness(event):
                yield replace(one, known=known)
            known = max(known, told(event, statement))

    def _rows_everywhere(self, directory: Directory, wanted: RowsWanted) -> tuple[tuple[MemoryRow, ...], str]:
        """Pages of all places, merged by when each row was recorded; one moment's rows stand place by place.

        The cursor is the last row's place and its cursor there. Every other place goes on at that moment: behind it
        if its rows stand before those of the last one's, and with it if they stand after.
        """
        found: list[tuple[MemoryRow, PlaceId]] = []
        more = False
        for id in sorted(place for place, _, _ in directory.places()):
            rows, cursor = self._index(id).rows(replace(wanted, place=id, after=_behind(wanted.after, id)))
            found += [(row, id) for row in rows]
            more = more or bool(cursor)
        shown = sorted(found, key=lambda one: (-one[0].recorded_ms, one[1]))[: wanted.limit]
        if not shown or not (more or len(found) > len(shown)):
            return tuple(row for row, _ in shown), ""
        (row, place), used = shown[-1], sum(id == shown[-1][1] for _, id in shown)
        part = replace(wanted, place=place, after=_behind(wanted.after, place), limit=used)
        cursor = self._index(place).rows(part)[1]
        return tuple(row for row, _ in shown), f"{place}-{cursor or f'{row.recorded_ms}_0'}"


def _behind(after: str, place: PlaceId) -> str:
    """Where a place goes on behind a cursor of all places, as its own cursor."""
    last, _, at = after.partition("-")
    moment, _, _ = at.partition("_")
    if not moment.isdecimal():
        return ""
    return at if place == last else f"{int(moment) + (place > last)}_0"
