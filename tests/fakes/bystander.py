"""Somebody else on the loop, for tests of work that must not hold it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Bystander:
    """Counts how often it came round."""

    rounds: int = 0

    async def wait(self) -> None:
        """Come round until it is cancelled."""
        while True:
            await asyncio.sleep(0)
            self.rounds += 1


@asynccontextmanager
async def bystander() -> AsyncIterator[Bystander]:
    """Have one wait for as long as this is entered."""
    one = Bystander()
    waiting = asyncio.create_task(one.wait())
    try:
        yield one
    finally:
        waiting.cancel()
