"""A home in memory and its door, fresh for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.web.door import Door, open_door
from tests.web.simulator import Home, SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def home(clock: SetClock) -> Home:
    return Home(clock)


@pytest.fixture
async def door(home: Home) -> AsyncIterator[Door]:
    async with open_door(home) as opened:
        yield opened
