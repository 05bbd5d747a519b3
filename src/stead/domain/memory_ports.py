"""What the runtime and the tools need of memory, as narrow protocols.

Layer: domain. The indexes implement the first three, the runtime the last; ``daemon.py`` puts them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from stead.domain.ids import SessionId
from stead.domain.memory import (
    Evidence,
    Kind,
    Memory,
    MemoryId,
    MemoryRow,
    Origin,
    PlaceId,
    ProposalId,
    Query,
    Recalled,
    RunId,
    Scope,
    Standing,
    Viewer,
)
from stead.domain.memory_commands import Change
from stead.domain.memory_events import MemoryConsolidated, MemoryProposed
from stead.domain.policies import Label


class Said(msgspec.Struct, frozen=True):
    """Words of a session that a statement rests on.

    Args:
        evidence: where they stand.
        text: the words.
        who: "user", or a tool's name.
        label: whose they are: a stranger's unless the person said it in their own name.
        share: how much of the statement's own words stand in them, 0 to 1.
        ts_ms: when they were said.
    """

    evidence: Evidence
    text: str
    who: str
    label: Label
    share: float
    ts_ms: int


class RowsWanted(msgspec.Struct, frozen=True):
    """Which memories are listed, newest first; what is left empty takes all.

    Args:
        place: of which index; "" for every place.
        kinds: of these kinds.
        status: in one of these standings.
        origins: from one of these origins.
        pinned: the pinned alone.
        words: that stand in the text, as the search of the history has them.
        run: made by this run of consolidation.
        after: cursor of the page before.
        limit: at most, 1 to 1,000.
    """

    place: PlaceId | Literal[""] = ""
    kinds: tuple[Kind, ...] = ()
    status: tuple[Standing, ...] = ("live",)
    origins: tuple[Origin, ...] = ()
    pinned: bool = False
    words: str = ""
    run: RunId | Literal[""] = ""
    after: str = ""
    limit: int = 50


class Remembered(Protocol):
    """What is remembered, as of the journal's last event. It blocks; call it in a thread."""

    def row(self, id: MemoryId) -> MemoryRow:
        """One memory, in any state.

        Raises:
            NotFound: there is none, or it was forgotten.
        """

    def alike(self, scope: Scope, text: str, key: str, *, after_ms: int | None = None) -> tuple[MemoryRow, ...]:
        """The live memories of a scope with this canonical key ("" for none) or with the same words.

        Args:
            scope: exactly this one, none that it is a part of.
            text: the words.
            key: the canonical key, "" for none.
            after_ms: behind the live ones also those at the key that were superseded, and held after this moment.
        """

    def rows(self, wanted: RowsWanted) -> tuple[tuple[MemoryRow, ...], str]:
        """A page of memories, newest first, and the cursor of the next one, "" for none."""

    def said(self, session: SessionId, text: str) -> Said | None:
        """Where a session's words say this best: the person's own before a tool's; nothing when they do not."""

    def whereabouts(self, session: SessionId) -> Whereabouts:
        """As which viewer a session reads memory, from the event that opened it.

        Raises:
            NotFound: there is none.
        """


class Recalls(Protocol):
    """Finds what is remembered."""

    async def recall(self, query: Query, viewer: Viewer) -> Recalled:
        """What this viewer may see that the query finds. It never raises for a leg that is dead."""


class Whereabouts(msgspec.Struct, frozen=True):
    """A session as memory sees it.

    Args:
        viewer: as which it looks.
        tainted: its model has read strangers' words.
    """

    viewer: Viewer
    tainted: bool


class Place(msgspec.Struct, frozen=True):
    """Where things are remembered, as people see it.

    Args:
        id: as ``PlaceId``.
        title: "everywhere", the folder's path, or the channel's name.
        directory: of a workspace; "" otherwise.
        memories: that are live.
        episodes: turns that are indexed.
        embedded: of both, how many have a vector.
    """

    id: PlaceId
    title: str
    directory: str
    memories: int
    episodes: int
    embedded: int


class ProposalRow(msgspec.Struct, frozen=True):
    """A proposal and its answer, "" while it waits."""

    proposal: MemoryProposed
    made_ms: int
    answer: Literal["", "accepted", "refused"] = ""


class JournalLine(msgspec.Struct, frozen=True):
    """One thing that happened on a day.

    Args:
        ts_ms: when.
        place: of whose workspace.
        session: which.
        title: of it.
        text: how it ended, one line.
        private: the session is interactive.
        tainted: its model has read strangers' words, so the line may be theirs.
        failed: it came to nothing, so that no model is given it as an example.
    """

    ts_ms: int
    place: PlaceId
    session: SessionId
    title: str
    text: str
    private: bool = False
    tainted: bool = False
    failed: bool = False


class MemoryReports(Protocol):
    """Lists for people about places, proposals, runs and days. Every method blocks."""

    def places(self) -> tuple[Place, ...]:
        """Every place that has anything, "everywhere" first."""

    def proposals(self, *, waiting: bool) -> tuple[ProposalRow, ...]:
        """Newest first, at most 500; those that wait for an answer, or all."""

    def proposal(self, id: ProposalId) -> ProposalRow:
        """One.

        Raises:
            NotFound: there is none.
        """

    def runs(self, limit: int) -> tuple[tuple[int, MemoryConsolidated], ...]:
        """Runs of consolidation and when each ended, newest first."""

    def days(self, place: PlaceId, since_ms: int, until_ms: int) -> tuple[JournalLine, ...]:
        """What happened in a place, oldest first, at most 1,000 lines."""


class Quote(msgspec.Struct, frozen=True):
    """Words that a memory rests on.

    Args:
        session: where they were said.
        title: of it, "" when it was deleted.
        seq: of the event.
        who: "user", "assistant" or a tool's name; "" when nothing is left of it.
        ts_ms: when.
        text: the whole of what was said, cut at 2,000 characters around the words.
        start: of the words in ``text``.
        end: behind them.
        gone: the event was erased, or its words forgotten.
    """

    session: SessionId
    title: str
    seq: int
    who: str
    ts_ms: int
    text: str
    start: int
    end: int
    gone: bool = False


class Tally(msgspec.Struct, frozen=True):
    """How many there are of one kind of something."""

    name: str
    count: int


class Growth(msgspec.Struct, frozen=True):
    """What one day (UTC, ``YYYY-MM-DD``) brought: memories made and retired, turns indexed."""

    day: str
    made: int
    retired: int
    episodes: int


class Analytics(msgspec.Struct, frozen=True):
    """Statistics of one place's memory, or of all places.

    Args:
        live: memories that hold.
        made: that were ever made and not forgotten.
        junk: of those made without the person's own hand, how many were duplicates or taken back.
        inferred: made without the person's own hand.
        never_used: live, older than 30 days, and never in a prompt.
        growth: day by day, oldest first.
        kinds: live ones by kind.
        origins: live ones by origin.
        statuses: all by status.
        most_used: up to 20.
        patterns: live ones of the kind pattern, up to 20.
    """

    live: int
    made: int
    junk: int
    inferred: int
    never_used: int
    growth: tuple[Growth, ...]
    kinds: tuple[Tally, ...]
    origins: tuple[Tally, ...]
    statuses: tuple[Tally, ...]
    most_used: tuple[MemoryRow, ...]
    patterns: tuple[MemoryRow, ...]


class MemoryInsights(Protocol):
    """Quotes, history and statistics of memories. Every method blocks."""

    def quotes(self, memory: Memory) -> tuple[Quote, ...]:
        """The words that it rests on."""

    def chain(self, id: MemoryId) -> tuple[MemoryRow, ...]:
        """A memory with all that it superseded and that superseded it, oldest first.

        Raises:
            NotFound: there is no such memory.
        """

    def analytics(self, place: PlaceId | Literal[""], since_ms: int, now_ms: int) -> Analytics:
        """Of one place, "" for all; growth from ``since_ms`` on."""


class Remembering(Protocol):
    """Memory as a session's tools use it. The daemon passes the session; a model cannot choose it."""

    async def remember(self, session: SessionId, items: Sequence[Wanted]) -> tuple[Done, ...]:
        """Take statements in that the session's own words bear out."""

    async def correct(self, session: SessionId, old: str, item: Wanted) -> Done:
        """Put a statement in the place of the memory that ``old`` names or says."""

    async def candidates(self, session: SessionId, text: str) -> tuple[Memory, ...]:
        """The memories that a text names by id, says exactly, says but for case, or nearly says; at most 20."""

    async def forget(self, session: SessionId, ids: Sequence[MemoryId]) -> str:
        """Forget them for good, as the person has just confirmed; what was done, in words."""

    async def recall(self, session: SessionId, query: Query) -> Recalled:
        """Look something up."""


class SoulProposing(Protocol):
    """Proposing another soul, which only the person decides about."""

    async def propose(self, session: SessionId, text: str, why: str) -> Done:
        """Propose a text for the whole of ``soul.md``, with a reason; nothing changes until the person accepts."""


class Wanted(msgspec.Struct, frozen=True):
    """What a model would have remembered. Fields as of ``Memory``."""

    text: str
    kind: Kind = "knowledge"
    key: str = ""
    value: str = ""
    aliases: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True):
    """The result of a change, in words for the model; ``id`` is of the memory that now holds it, "" when none does."""

    change: Change
    id: MemoryId | Literal[""]
    text: str
