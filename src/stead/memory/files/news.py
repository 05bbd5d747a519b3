"""What the files of memory have to say of the events since the last sync.

Layer: memory. Every method blocks.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from stead.domain import events as ev
from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.domain.memory import PlaceId, Scope
from stead.domain.memory_ports import Remembered
from stead.domain.ports import Journal
from stead.memory.files.days import Days, Line
from stead.memory.files.scope_sync import row_of


@dataclass
class News:
    """What happened since the last sync, as far as files say it.

    Args:
        seq: of the last event.
        ts_ms: of the last event.
        gone: a session was deleted, or words were forgotten.
        every: every scope may have changed.
        souls: a directive was changed.
        places: whose memories changed.
        made: lines of memories that were made.
        ended: where turns ended, and the first moment.
    """

    seq: int
    ts_ms: int = 0
    gone: bool = False
    every: bool = False
    souls: bool = False
    places: set[PlaceId] = field(default_factory=set)
    made: dict[Scope, list[Line]] = field(default_factory=lambda: defaultdict(list))
    ended: dict[Scope, int] = field(default_factory=dict)


class NewsReader:
    """Reads them.

    Args:
        journal: where they are.
        remembered: what is remembered, and who sessions are.
        days: makes their lines.
    """

    def __init__(self, journal: Journal, remembered: Remembered, days: Days) -> None:
        self._journal = journal
        self._remembered = remembered
        self._days = days

    def since(self, seq: int) -> News:
        """What came after an event."""
        news = News(seq)
        for event in self._journal.events(after=seq):
            news.seq = event.seq
            if isinstance(event, ev.Event):
                news.ts_ms = event.ts_ms
                self._note(event, news)
        return news

    def _note(self, event: ev.Event, news: News) -> None:
        match event.body:
            case ev.SessionDeleted() | ev.ForgettingBegun() | ev.MemoryForgotten():
                news.gone = True
            case ev.ProposalSettled():
                news.every = True
            case ev.DirectiveSet() | ev.DirectiveRemoved():
                news.souls = True
            case ev.MemoryMade(memory=memory):
                news.places.add(memory.scope.place)
                news.made[memory.scope].append(self._days.made(event.ts_ms, memory.id, memory.text))
            case ev.MemoryAmended(memory=memory):
                news.places.add(memory.scope.place)
            case ev.MemoryRetired(id=id) | ev.MemoryRestored(id=id):
                row = None if news.every else row_of(self._remembered, id)
                news.places |= {row.memory.scope.place} if row else set()
                news.every = row is None
            case ev.TurnEnded() | ev.ObjectiveEnded():
                if scope := self._scope_of(event.session):
                    news.ended.setdefault(scope, event.ts_ms)
            case _:
                return

    def _scope_of(self, session: SessionId) -> Scope | None:
        """Where what a session did is written down; None for one that was deleted."""
        try:
            viewer = self._remembered.whereabouts(session).viewer
        except NotFound:
            return None
        if viewer.channel:
            return Scope("channel", viewer.channel)
        return Scope("private" if viewer.attended else "workspace", viewer.workspace)
