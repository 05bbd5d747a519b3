"""A stop that holds though it could not be recorded: while it is owed, its session starts nothing.

Layer: runtime. In memory alone: a daemon that is started again before the stop is on record knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from stead.domain import events as ev
from stead.domain.errors import Conflict
from stead.domain.sessions import Session
from stead.runtime.performing import Performer
from stead.runtime.stream import Stream


class Hold:
    """One session's.

    Args:
        performer: what starts nothing while it is halted.
        retry: has the session tried again in a while.
    """

    def __init__(self, performer: Performer, retry: Callable[[], None]) -> None:
        self._performer = performer
        self._retry = retry
        self._owed: Callable[[Session], tuple[ev.Body, ...]] | None = None

    def owe(self, stop: Callable[[Session], tuple[ev.Body, ...]]) -> None:
        """Start nothing until this stop is on record. To be called halted, when the disk has refused it.

        Args:
            stop: its facts; it raises ``Conflict`` for a session that has ended.
        """
        self._owed = stop
        self._retry()

    def release(self) -> None:
        """Let things be started again, unless a stop is owed."""
        if self._owed is None:
            self._performer.release()

    async def record(self, stream: Stream) -> None:
        """Record the stop that is owed, if one is.

        Raises:
            Fenced, StorageFault: it is still owed.
        """
        if self._owed is not None:
            with suppress(Conflict):  # it ended before the stop
                stream.add(*self._owed(stream.session), actor="person")
            await stream.commit()
            self._owed = None
            self._performer.release()
