"""A browser, fresh for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.browsing.bench import Browsing, open_browsing


@pytest.fixture
async def browsing(tmp_path: Path) -> AsyncIterator[Browsing]:
    """A browser that nothing was asked of yet."""
    async with open_browsing(tmp_path) as opened:
        yield opened


@pytest.fixture
async def hasty(tmp_path: Path) -> AsyncIterator[Browsing]:
    """Likewise; it waits for a page for a few seconds only."""
    async with open_browsing(tmp_path, load_s=3.0) as opened:
        yield opened
