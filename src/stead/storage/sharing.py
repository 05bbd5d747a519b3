"""A door through which many go at once, or one alone.

Layer: storage. Whoever cleans up goes alone, since what it would throw away may be what another is about to rely on. It
waits for those inside, and keeps nobody out while it waits: a short errand never stands behind a long one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stead.domain.errors import Conflict, StorageFault

_WAIT_S = 600.0


class Door:
    """Safe to use from many threads; whoever is inside does not go in again."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._shut = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Be inside with others.

        Raises:
            StorageFault: the door was shut for good.
            Conflict: somebody has been alone inside for ten minutes.
        """
        with self._changed:
            self._wait(others=False)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be inside, and nobody else.

        Raises:
            StorageFault: the door was shut for good.
            Conflict: there has been somebody inside at any time for ten minutes.
        """
        with self._changed:
            self._wait(others=True)
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    def shut(self, timeout_s: float) -> bool:
        """Let nobody in any more; whether all came out in time."""
        with self._changed:
            self._shut = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._inside and not self._alone, timeout_s)

    def _wait(self, *, others: bool) -> None:
        free = self._changed.wait_for(
            lambda: self._shut or not (self._alone or (others and self._inside)), timeout=_WAIT_S
        )
        if self._shut:
            raise StorageFault("the checkpoints are closed; start Stead again")
        if not free:
            raise Conflict("the checkpoints have been in use for ten minutes; try again when that is done")
