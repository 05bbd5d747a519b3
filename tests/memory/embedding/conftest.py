"""The real model, built once a run, and an embedder over it for each test."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.memory.embedding.embedder import Embedder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built model, shared by the processes of a run."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / "embedder.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asyncio.run(_build(base / "embedder"))
    return base / "embedder"


async def _build(folder: Path) -> None:
    embedder = Embedder(folder)
    try:
        await embedder.ready()
    finally:
        await embedder.close()


@pytest.fixture
async def embedder(cache: Path) -> AsyncIterator[Embedder]:
    """Ready, so that no deadline of a test counts the start of a process."""
    made = Embedder(cache)
    await made.ready()
    yield made
    await made.close()
