"""What of the files of memory a session begins with.

Layer: runtime. It is made from what is remembered and not from the files, so that a session never waits for a folder;
a person's edits have been taken in by then (``memory.files.sync``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta, tzinfo
from itertools import chain
from typing import Protocol

from stead.brain.memory_files import LOADED_CHARS, Day, ScopeFiles, folder_of, happened_in, loaded_files, scopes_of
from stead.brain.remembering import overtaken
from stead.domain.memory import MemoryRow, PlaceId, Viewer, visible
from stead.domain.memory_events import LoadedFile
from stead.domain.memory_ports import JournalLine, Remembered, RowsWanted
from stead.domain.policies import Confidentiality

RECALLED = 10
"""Memories and turns that go with each message unasked, unless the settings say otherwise."""
_PINNED, _PREFERENCES, _NEWEST = 200, 500, 500
"""Memories of a place at most; more than fit into the files."""


class Days(Protocol):
    """What happened in a place. It blocks."""

    def title(self, place: PlaceId) -> str:
        """What people call a place; its id where nothing was said in it yet."""

    def days(self, place: PlaceId, since_ms: int, until_ms: int) -> tuple[JournalLine, ...]:
        """As of ``domain.memory_ports.MemoryReports``."""


class Loading:
    """What a session is told of the files before it begins. Every method blocks.

    Args:
        remembered: the memories.
        reports: the places, and what happened in them.
        zone: where the person lives; none for that of the process, which is the person's.
        recalled: how many memories and turns a session is given with each message.
    """

    def __init__(
        self, remembered: Remembered, reports: Days, zone: tzinfo | None = None, *, recalled: int = RECALLED
    ) -> None:
        self.recalled = recalled
        self._remembered = remembered
        self._reports = reports
        self._zone = zone

    def loaded(
        self, viewer: Viewer, now_ms: int, clearance: Confidentiality, limit_chars: int = LOADED_CHARS
    ) -> tuple[LoadedFile, ...]:
        """The files that this viewer may read, in the order in which they are told.

        Args:
            viewer: whose session.
            now_ms: which day it is.
            clearance: nothing more confidential than this.
            limit_chars: of all texts together.
        """
        today = day_of(now_ms, self._zone)
        days = (today, day_of(today.since_ms - 1, self._zone))
        scopes = scopes_of(viewer)
        found = {place: self._rows(place) for place in dict.fromkeys(scope.place for scope in scopes)}
        seen = [row for every, _ in found.values() for row in every if visible(row.memory.scope, viewer)]
        seen = [row for row in seen if _holds(row, now_ms)]
        seen = [row for row in seen if not row.memory.label.confidentiality.exceeds(clearance)]
        gone = overtaken(row.memory for row in seen)
        by_scope = []
        for scope in scopes:
            whole = found[scope.place][1]
            rows = [row for row in seen if row.memory.scope == scope and row.memory.id not in gone]
            lines: Sequence[JournalLine] = ()
            if scope.level != "global" and not Confidentiality.PRIVATE.exceeds(clearance):
                every_line = (self._reports.days(scope.place, day.since_ms, day.until_ms) for day in reversed(days))
                lines = happened_in([line for each in every_line for line in each], scope)
            folder = folder_of(scope, self._reports.title(scope.place))
            by_scope.append(ScopeFiles(scope, folder, rows, 0 if whole else -1, lines))
        return loaded_files(by_scope, days, lambda ts_ms: local(ts_ms, self._zone).strftime("%H:%M"), limit_chars)

    def _rows(self, place: PlaceId) -> tuple[list[MemoryRow], bool]:
        """The live memories of a place, and whether those are all: the pinned, preferences, and the newest."""
        rows, after = self._remembered.rows(RowsWanted(place=place, limit=_NEWEST))
        if not after:
            return list(rows), True
        pinned = RowsWanted(place=place, pinned=True, limit=_PINNED)
        preferences = RowsWanted(place=place, kinds=("preference", "correction"), limit=_PREFERENCES)
        every = chain(self._remembered.rows(pinned)[0], self._remembered.rows(preferences)[0], rows)
        return list({row.memory.id: row for row in every}.values()), False


def _holds(row: MemoryRow, now_ms: int) -> bool:
    """Whether a live memory holds at a moment, which a clock that went back never puts before it was recorded."""
    memory = row.memory
    ends = [end for end in (memory.valid_to_ms, 0 if memory.pinned else memory.expires_ms) if end]
    return memory.valid_from_ms <= max(now_ms, row.recorded_ms) and now_ms < min(ends, default=now_ms + 1)


def day_of(ts_ms: int, zone: tzinfo | None = None) -> Day:
    """The day of a moment; one on which the clocks change is an hour longer or shorter."""
    date = local(ts_ms, zone).date()
    since, until = (local_start(datetime.combine(day, time.min), zone) for day in (date, date + timedelta(days=1)))
    return Day(date.isoformat(), since, until)


def local(ts_ms: int, zone: tzinfo | None) -> datetime:
    """A moment as the person's clock shows it."""
    return datetime.fromtimestamp(ts_ms / 1000, zone)


def local_start(midnight: datetime, zone: tzinfo | None) -> int:
    """The first moment of a day, in milliseconds since 1970."""
    return int(midnight.replace(tzinfo=zone).timestamp() * 1000)
