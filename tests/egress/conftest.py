"""A site on loopback, and a way out to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.egress.bench import Site, Way, open_way, site


@pytest.fixture
async def shop() -> AsyncIterator[Site]:
    """A site."""
    async with site() as made:
        yield made


@pytest.fixture
async def way(tmp_path: Path, shop: Site) -> AsyncIterator[Way]:
    """A machine's way out; ``shop.example.com`` is allowed at the site's port."""
    async with open_way(tmp_path, shop.port, hosts=[f"shop.example.com:{shop.port}"]) as opened:
        yield opened
