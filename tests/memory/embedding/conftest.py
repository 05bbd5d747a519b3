"""An embedder for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from stead.memory.embedding.embedder import Embedder


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    """Ready, so that no deadline of a test counts the start of a process."""
    made = Embedder()
    await made.ready()
    yield made
    await made.close()
