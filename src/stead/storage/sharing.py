"""A readers-writer lock: many hold it together, or one exclusively.

Layer: storage. What cleans up holds it exclusively, since what it would throw away may be what another is about to rely
on. It waits for all that hold it, and keeps nobody out while it waits: a short task never waits behind a long one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stead.domain.errors import Conflict, StorageFault

_WAIT_S = 600.0


class SharedLock:
    """Safe to use from many threads; a thread that holds it does not take it again."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders = 0
        self._exclusive = False
        self._closed = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold it together with others.

        Raises:
            StorageFault: it was closed for good.
            Conflict: it has been held exclusively for ten minutes.
        """
        with self._changed:
            self._wait(alone=False)
            self._holders += 1
        try:
            yield
        finally:
            with self._changed:
                self._holders -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold it, and nobody else.

        Raises:
            StorageFault: it was closed for good.
            Conflict: it has been held at any time for ten minutes.
        """
        with self._changed:
            self._wait(alone=True)
            self._exclusive = True
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()

    def close(self, timeout_s: float) -> bool:
        """Let nobody take it any more; whether all let go of it in time."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._holders and not self._exclusive, timeout_s)

    def _wait(self, *, alone: bool) -> None:
        free = self._changed.wait_for(
            lambda: self._closed or not (self._exclusive or (alone and self._holders)), timeout=_WAIT_S
        )
        if self._closed:
            raise StorageFault("the checkpoints are closed; start Stead again")
        if not free:
            raise Conflict("the checkpoints have been in use for ten minutes; try again when that is done")
