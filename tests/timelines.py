"""Timelines of events, as the read models keep them."""

from __future__ import annotations

from collections.abc import Iterable

from stead.domain import events as ev
from stead.domain.timeline import Item
from stead.domain.timeline_fold import follow
from stead.storage import projection


def items_of(events: Iterable[ev.Event]) -> list[Item]:
    """The items of a session's events, in order."""
    first, *others = events
    assert isinstance(first.body, ev.SessionOpened)
    items: dict[str, Item] = {}
    known = after = projection.opened(first, first.body)
    for event in (first, *others):
        if event is not first:
            after = projection.advanced(known, event)
        changed = follow(event, projection.standing(known, after)._replace(items=len(items)), items.get)
        items |= {item.id: item for item in changed}
        known = after
    assert [item.place for item in items.values()] == list(range(len(items)))
    return list(items.values())
