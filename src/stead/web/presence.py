"""Who has which session before their eyes.

Layer: a door. A stream that names a session watches it; one that shows everything watches none in particular, unless
its reader says which it looks at. It is sent to watchers, some moments after it changes, so that a hundred who
come back at once are one piece of news. Nothing of it is recorded, and nothing decides by it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection

from stead.domain.errors import InvalidRequest
from stead.domain.ids import SessionId
from stead.domain.live import Presence
from stead.domain.ports import Clock
from stead.domain.work_rows import Watcher
from stead.runtime.bus import Bus

NEWS_S = 0.1
"""Changes of this time are sent together."""
SHOWN_LIMIT = 20
"""Watchers in a frame; the others are counted."""
_DOOR = re.compile(r"[a-z][a-z0-9-]{0,31}")


class Seat:
    """One stream's place among those who watch. ``since_ms``: by session."""

    def __init__(self, door: str) -> None:
        self.door = door
        self.since_ms: dict[SessionId, int] = {}


class Watchers:
    """Every seat that is taken.

    Args:
        bus: where changes are published.
        clock: since when each watcher watches.
    """

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._seats: dict[SessionId, dict[Seat, Watcher]] = {}
        self._changed: dict[SessionId, None] = {}
        self._news: asyncio.TimerHandle | None = None

    def look(self, seat: Seat, streams: Collection[SessionId]) -> None:
        """A seat has these sessions before its eyes from now on, and no others."""
        for session in set(seat.since_ms) - set(streams):
            del seat.since_ms[session]
            seats = self._seats[session]
            del seats[seat]
            if not seats:
                del self._seats[session]
            self._tell(session)
        for session in sorted(set(streams) - set(seat.since_ms)):
            now_ms = seat.since_ms[session] = self._clock.now_ms()
            self._seats.setdefault(session, {})[seat] = Watcher(seat.door, now_ms)
            self._tell(session)

    def of(self, session: SessionId) -> tuple[Watcher, ...]:
        """Who watches a session, the longest first."""
        return tuple(self._seats.get(session, {}).values())

    def close(self) -> None:
        """Tell nobody any more."""
        if self._news is not None:
            self._news.cancel()

    def _tell(self, session: SessionId) -> None:
        self._changed[session] = None
        if self._news is None:
            self._news = asyncio.get_running_loop().call_later(NEWS_S, self._publish)

    def _publish(self) -> None:
        changed, self._changed, self._news = self._changed, {}, None
        for session in changed:
            watchers = self.of(session)
            self._bus.publish((Presence(session, watchers[:SHOWN_LIMIT], len(watchers)),))


def parse_door(text: str, own: str) -> str:
    """What a watcher calls itself; "" leaves it at the door that its credential is for.

    Raises:
        InvalidRequest: it is no name.
    """
    if text and not _DOOR.fullmatch(text):
        raise InvalidRequest(f"door={text[:40]!r} is no name; give up to 32 of a-z, 0-9 and -, or leave it out")
    return text or own
