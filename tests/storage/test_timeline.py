"""The timeline: whoever asks for what is new or changed since an event ends with the items of all events."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead.domain import events as ev
from stead.domain.ids import CallKey, SessionId
from stead.domain.sessions import PERSON
from stead.domain.timeline import Item, StepItem
from stead.storage.journal import open_journal
from stead.storage.views import Views
from tests.build import Story, desk
from tests.storage.drafts import KEYS
from tests.storage.histories import History, histories
from tests.timelines import items_of

_decode: Callable[[bytes], Item] = msgspec.json.Decoder(Item).decode


class _Reader:
    """Somebody who shows a session, and asks for what is new."""

    def __init__(self, views: Views, session: SessionId) -> None:
        self._views = views
        self._session = session
        self._after = 0
        self.items: dict[int, Item] = {}

    def read(self, limit: int) -> int:
        """Up to now; gives how many items came."""
        came, more = 0, True
        while more:
            page = self._views.timeline(self._session, self._after, limit)
            self.items |= {item.place: item for item in map(_decode, page.items)}
            came, self._after, more = came + len(page.items), page.seq, page.more
        return came


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(history=histories(), limit=st.integers(1, 9), parts=st.integers(1, 4))
def test_pages_of_any_size_at_any_time_end_in_the_items_of_all_events(history: History, limit: int, parts: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "journal.db", KEYS)
        views = Views(Path(folder) / "views.db", KEYS, journal)
        readers = {id: _Reader(views, id) for id in history.stories}
        append: Any = journal.append
        try:
            size = len(history.drafts) // parts + 1
            for start in range(0, len(history.drafts), size):
                asyncio.run(append(history.drafts[start : start + size]))
                for id, reader in readers.items():
                    if any(True for _ in journal.events(session=id)) and not history.stories[id].session.deleted:
                        reader.read(limit)
            for id, story in history.stories.items():
                if not story.session.deleted:
                    assert readers[id].read(limit) == 0
                    events = [event for event in journal.events(session=id) if isinstance(event, ev.Event)]
                    assert [readers[id].items[place] for place in sorted(readers[id].items)] == items_of(events)
        finally:
            views.close()
            journal.close()


def test_a_call_is_one_item_from_the_wish_to_the_outcome_and_a_turns_end_drops_what_was_left() -> None:
    story = Story(desk()).tell(ev.MessageReceived("look", "cli", PERSON))
    story.turn("I look.", ("shell", '{"command":"ls"}'), ("read", "{}")).run(text="a.txt")
    story.tell(ev.TurnEnded(1, "stall", "It went in circles."))
    items = items_of(story.events)
    ran, left = (item for item in items if isinstance(item, StepItem))
    assert (ran.state, ran.finished and ran.finished.text, ran.reasoning) == ("done", "a.txt", "I look.")
    assert (left.key, left.state) == (CallKey("call_1_2"), "dropped")
    assert [item.turn for item in items] == [0, 1, 1, 1, 1, 1]
