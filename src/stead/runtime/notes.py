"""What becomes known about a session's machine and folder beside its steps, on its way into the journal.

Layer: runtime. Knows no stream: whoever keeps the notes writes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from stead.domain import events as ev

WAIT_S = 1.0
"""How long a fact waits for others to be written with."""

Noted = (
    ev.MachineStarted
    | ev.MachineEnded
    | ev.ChangesLanded
    | ev.EgressUsed
    | ev.CheckpointTaken
    | ev.CheckpointFailed
    | ev.TerminalClosed
    | ev.LineRan
)


class Notes:
    """Facts that wait to be written with a session's next ones, or by themselves in a second at the latest.

    Args:
        write: takes the notes that are left by then, and writes them.
        name: of the task that waits.
    """

    def __init__(self, write: Callable[[], Awaitable[None]], name: str) -> None:
        self._write = write
        self._name = name
        self._facts: list[Noted] = []
        self._waiting: asyncio.Task[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._facts)

    def add(self, fact: Noted) -> None:
        """Keep a fact until it is taken."""
        self._facts.append(fact)
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.create_task(self._wait(), name=self._name)

    @property
    def ended(self) -> set[str]:
        """Terminals whose end is among them."""
        return {fact.id for fact in self._facts if isinstance(fact, ev.TerminalClosed | ev.LineRan)}

    def take(self) -> list[Noted]:
        """All of them, in their order; whoever takes them writes them."""
        facts, self._facts = self._facts, []
        return facts

    def cancel(self) -> None:
        """Write nothing by itself any more."""
        if self._waiting is not None:
            self._waiting.cancel()

    async def _wait(self) -> None:
        await asyncio.sleep(WAIT_S)
        await self._write()
