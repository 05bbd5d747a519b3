"""What time does to memories: some are over, and a conclusion that was not used for long is believed less.

Layer: brain. Pure. How old something may be to be recalled is the ranking's to weigh; here a memory changes only when
its own end has come, or when Stead concluded it by itself and it never was of use. What the person said stays as it was
said, and so does what they pinned, and what has yet to begin.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from stead.brain.consolidating import DOOR
from stead.brain.dates import DAY_MS
from stead.domain import events as ev
from stead.domain.memory import MemoryRow, RunId
from stead.domain.memory_events import MemoryFact

FADES_MS = 60 * DAY_MS
"""Unused for so long, a conclusion is believed less, unless the settings say otherwise."""
FADED = 0.3
SURE = 1.0
"""Of a conclusion that the person stands by; none has it by itself."""
ENDS_TIMES = 3
"""Unused for so many times as long, it is recalled no longer."""


def decayed(rows: Sequence[MemoryRow], now_ms: int, run: RunId, fades_ms: int = FADES_MS) -> tuple[MemoryFact, ...]:
    """The facts that time makes of memories; doing it twice adds nothing."""
    return tuple(fact for row in rows if (fact := _decayed(row, now_ms, run, fades_ms)))


def _decayed(row: MemoryRow, now_ms: int, run: RunId, fades_ms: int) -> MemoryFact | None:
    memory = row.memory
    if row.status != "live" or memory.pinned:
        return None
    if 0 < memory.expires_ms <= now_ms:
        return ev.MemoryRetired(memory.id, "expired", "", memory.expires_ms, DOOR, run)
    if memory.origin != "inferred" or memory.valid_from_ms > now_ms or memory.confidence >= SURE:
        return None
    unused_ms = now_ms - max(row.recorded_ms, row.last_used_ms)
    if unused_ms >= fades_ms * ENDS_TIMES:
        return ev.MemoryRetired(memory.id, "expired", "", now_ms, DOOR, run)
    if unused_ms >= fades_ms and memory.confidence > FADED:
        return ev.MemoryAmended(replace(memory, confidence=FADED), DOOR, run)
    return None
