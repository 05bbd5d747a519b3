"""Memories as the files need them.

Layer: memory. Both functions block.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead.domain.errors import NotFound
from stead.domain.memory import MemoryId, MemoryRow, PlaceId, Standing
from stead.domain.memory_ports import Remembered, RowsWanted

EVERY: tuple[Standing, ...] = ("live", "superseded", "expired", "retired")
_PAGE = 1_000


def row_of(remembered: Remembered, id: MemoryId) -> MemoryRow | None:
    """A memory, None for one that is gone."""
    try:
        return remembered.row(id)
    except NotFound:
        return None


def rows_of(remembered: Remembered, place: PlaceId, status: tuple[Standing, ...] = ("live",)) -> Iterator[MemoryRow]:
    """All memories of a place, newest first."""
    after = ""
    while True:
        rows, after = remembered.rows(RowsWanted(place=place, status=status, after=after, limit=_PAGE))
        yield from rows
        if not after:
            return
