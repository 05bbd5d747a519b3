"""What the door needs from the house: named here, put together in ``daemon.py``.

Layer: a door.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from stead.domain.audit import AuditReport, Decision, Head
from stead.domain.forecast import Run
from stead.domain.ids import ApprovalId, SessionId
from stead.domain.objectives import Spend
from stead.domain.ports import Clock, Journal
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
from stead.domain.timeline import Timeline
from stead.runtime.home import HomeState
from stead.runtime.rejudging import Rejudging
from stead.runtime.service import Service
from stead.web.auth import Auth
from stead.web.envelopes import Identity


class PresetRow(msgspec.Struct, frozen=True):
    """A provider that Stead knows how to reach. ``key_env``: where its key is looked for, "" if it needs none."""

    name: str
    title: str
    base_url: str
    model: str
    key_env: str


class Work(Protocol):
    """What was done and what is under way. Every method blocks; the door calls them in threads."""

    def objectives(self, *, kind: Kind, wanted: Wanted, after: str, limit: int) -> tuple[Sequence[ObjectiveRow], str]:
        """Those of a kind, newest first, and the cursor of the next page, "" when there is none."""

    def objective(self, id: SessionId) -> ObjectiveRow:
        """One objective or session.

        Raises:
            NotFound: no such objective.
        """

    def steps(self, id: SessionId, after: int, limit: int) -> Sequence[StepRow]:
        """In order, those whose index is past ``after``.

        Raises:
            NotFound: no such objective.
        """

    def open_runs(self) -> Sequence[OpenRunRow]:
        """What is under way."""

    def search(self, query: str, limit: int, *, since_ms: int, until_ms: int, context: int) -> Sequence[SearchRow]:
        """Where the history says it, in a while, with so many lines around it; see ``storage.views``."""


class Timelines(Protocol):
    """What people read of a session. It blocks."""

    def timeline(self, id: SessionId, after: int, limit: int) -> Timeline[msgspec.Raw]:
        """Items that are new or changed since event ``after``.

        Raises:
            NotFound: no such session.
        """


class ApprovalViews(Protocol):
    """Open questions, changes that wait for review, and usage."""

    def approvals(
        self, *, status: Literal["pending", "all"], session: SessionId | None, limit: int
    ) -> Sequence[ApprovalRow]:
        """Newest first."""

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """One question, with everything needed to answer it.

        Raises:
            NotFound: no such approval.
        """

    def reviews(self) -> Sequence[ObjectiveRow]:
        """Objectives and sessions with changes that wait for the person, the latest first; without their goals."""

    def usage(
        self, days: int, since: str = "", until: str = "", by: UsageBy = "model", per: UsagePer = "day"
    ) -> Sequence[UsageRow]:
        """What each model used, newest first: over so many days up to today, or from one day to another."""


class Figures(Protocol):
    """What runs cost and how many sessions there are. Both block."""

    def runs(self) -> Sequence[Run]:
        """What objectives that ended by themselves cost, the oldest first."""

    def counts(self) -> Sequence[tuple[str, str, int]]:
        """Kind, state and number: of objectives, of sessions, and of the "approval"s that wait."""


class Views(Work, Timelines, ApprovalViews, Protocol):
    """The read models."""

    def rebuild(self) -> int:
        """Drop them and make them again from the journal; gives how many events that were."""


class Auditor(Protocol):
    """Checking the record, and signing for it."""

    def verify(self) -> AuditReport:
        """Check everything that can be checked. Blocks, for long where the journal is large."""

    def last(self) -> Head:
        """The newest signed head of the journal.

        It blocks.

        Raises:
            NotFound: none has been signed.
        """

    async def sign(self) -> Head:
        """Sign a head over all events that there are now; without new ones, the newest head again.

        Raises:
            NotFound: there is no event.
            StorageFault: it cannot be kept, or the journal is no longer the one that was signed.
        """


class Decisions(Protocol):
    """Verdicts, and what became of them. Every method blocks."""

    def page(
        self,
        *,
        session: SessionId | None,
        verdict: Literal["allow", "ask", "deny", ""],
        call: str,
        before: int,
        limit: int,
    ) -> tuple[Sequence[Decision], str]:
        """Newest first, those whose seq is below ``before`` (0 for all), and the cursor of the next page."""

    def decision(self, seq: int) -> Decision:
        """The verdict that one event is.

        Raises:
            NotFound: it is no verdict.
        """


class Pace(msgspec.Struct, frozen=True):
    """The door's times.

    Args:
        tick_s: the distance of live frames; what comes meanwhile goes together.
        ping_s: how often an idle event stream says that it lives.
        beat_s: how often a WebSocket says so; a page that hears nothing for twice as long takes the daemon for gone.
        stall_s: a reader that takes nothing for this long is too slow.
        farewell_s: how long it may then take to hear so.
        command_s: how long a request waits for its command.
        body_s: how long a request's body may take to arrive.
        answer_s: how long any answer may take.
    """

    tick_s: float = 0.02
    ping_s: float = 15.0
    beat_s: float = 2.0
    stall_s: float = 10.0
    farewell_s: float = 60.0
    command_s: float = 30.0
    body_s: float = 15.0
    answer_s: float = 60.0


DEFAULT_PACE = Pace()


@dataclass(frozen=True)
class Backend:
    """Everything behind the door.

    Args:
        service: carries commands out.
        home: the facts of the home, as they are now.
        views: what lists and pages are read from.
        figures: what forecasts and metrics are made from.
        journal: what streams are read from.
        spent: on a day (``YYYY-MM-DD``) or in a month (``YYYY-MM``), by all or by one channel or chat as of
            ``SetCap``, open reservations included; it blocks.
        audit: checks the journal.
        decisions: what was allowed and refused.
        rejudging: gives the verdicts of the record again, by a changed policy.
        auth: who may come in.
        clock: stamps transients.
        identity: what streams are greeted with.
        presets: providers that can be set up by name.
        shut_down: asks the daemon to leave; returns at once.
        pace: its times.
    """

    service: Service
    home: Callable[[], HomeState]
    views: Views
    figures: Figures
    journal: Journal
    spent: Callable[[str, str], Spend]
    audit: Auditor
    decisions: Decisions
    rejudging: Rejudging
    auth: Auth
    clock: Clock
    identity: Identity
    presets: tuple[PresetRow, ...]
    shut_down: Callable[[], None]
    pace: Pace = DEFAULT_PACE
