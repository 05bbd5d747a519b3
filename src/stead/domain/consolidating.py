"""What consolidation reads, and what it shows of a run.

Layer: domain. The indexes implement ``Material``; the runtime does the work.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Memory, MemoryId, MemoryRow, PlaceId, RunId
from stead.domain.memory_events import MemoryConsolidated, MemoryProposed
from stead.domain.memory_ports import Said

RULES = "rules"
BY_PERSON = "person"
"""Who extracted, where it was no model."""


class Unread(msgspec.Struct, frozen=True):
    """The person's turns in a place that no run has worked in yet.

    Args:
        turns: oldest first.
        upto: the last event that these speak for; there may be more behind it.
        more: whether there are.
    """

    turns: tuple[Episode, ...]
    upto: int
    more: bool = False


class Work(msgspec.Struct, frozen=True):
    """One piece of work: what the person asked for, what was done for it, and whether that came to a good end.

    Args:
        session: whose work it is.
        seq: of the words that asked.
        asked: these words.
        ts_ms: when they were said.
        steps: the calls that went well, in order: a tool's name, of commands with a program from a fixed list, as
            ``shell: pytest``. They hold no word that a stranger could have put there.
        ok: it ended as done.
    """

    session: SessionId
    seq: int
    asked: str
    ts_ms: int
    steps: tuple[str, ...]
    ok: bool


class Material(Protocol):
    """What was said and done, as consolidation reads it. Every method blocks."""

    def unread(self, place: PlaceId, *, model: bool, limit: int, since_ms: int = 0) -> Unread:
        """What no run has worked in yet.

        Args:
            place: whose turns.
            model: no run of a model's, instead of one of the rules'.
            limit: turns at most.
            since_ms: where there has been no run, what was said before that counts as worked in.
        """

    def requests(self, place: PlaceId, limit: int) -> tuple[Episode, ...]:
        """The newest turns of the person in a place, oldest first."""

    def work(self, session: SessionId) -> tuple[Work, ...]:
        """Every piece of work of a session that has come to an end, oldest first."""

    def due(self, place: PlaceId, now_ms: int, unused_since_ms: int) -> tuple[MemoryRow, ...]:
        """Live memories, not pinned, that are past their time or inferred and unused since then; at most 1,000."""

    def bears(self, statement: str, quote: str, turn: Episode) -> Said | None:
        """Where a turn says the quote in the person's own words, if the quote bears the statement out."""


class Changed(msgspec.Struct, frozen=True):
    """One memory that a run changed.

    Args:
        how: made, amended (its marks), retired (with why), or restored.
        before: as it was before the run; nothing when it is new.
        after: as the run left it; nothing when it was retired.
        why: of a retired one, as of ``MemoryRetired``; "" otherwise.
        by: the memory in its place, as of ``MemoryRetired``; "" otherwise.
    """

    how: Literal["made", "amended", "retired", "restored"]
    before: Memory | None
    after: Memory | None
    why: str = ""
    by: MemoryId | Literal[""] = ""


class RunDiff(msgspec.Struct, frozen=True):
    """What a run changed. What was forgotten since is left out.

    Args:
        run: its end.
        ts_ms: when that was.
        changed: in order.
        proposed: what it proposed.
        reverted_by: the run that took it back, "" for none.
    """

    run: MemoryConsolidated
    ts_ms: int
    changed: tuple[Changed, ...]
    proposed: tuple[MemoryProposed, ...]
    reverted_by: RunId | Literal[""] = ""
