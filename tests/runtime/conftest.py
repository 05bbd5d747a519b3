"""Rooms for the tests of the runtime, and a journal with memory for those that need no room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from stead.domain.trials import Trials
from tests.memory.conftest import books, journal, sayings
from tests.runtime.room import Room, Turn, WireModels

__all__ = ["Enter", "books", "enter", "journal", "sayings"]

Enter = Callable[..., Room]


@pytest.fixture
async def enter(tmp_path: Path) -> AsyncIterator[Enter]:
    """Make a room whose model says these turns. Another one of the same test is the next life of the first."""
    made: list[Room] = []

    def make(*turns: Turn, window_tokens: int = 100_000, trials: Trials | None = None) -> Room:
        made.append(Room(tmp_path, WireModels(turns, window_tokens=window_tokens), trials=trials))
        return made[-1]

    yield make
    for room in made:
        await room.leave()
