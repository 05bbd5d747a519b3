"""A consolidation in a process of its own that kills itself at a step.

``python -m tests.runtime.consolidating FOLDER STEP NUMBER``: before the NUMBER-th time that STEP happens, the process
is gone, as by a power cut. Steps: "statement" (one is looked at), "append" (a run is about to be written), "written"
(it has been, and nothing has come after it).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from stead.domain.memory import Memory
from tests.runtime.house import House


class Killer:
    """Counts a step down."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self) -> None:
        """The step happens."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def arm(house: House, step: str, kill: Killer) -> None:
    """Let the killer see the step."""
    save: Callable[[Memory], Memory] = house.memories.require_savable
    append: Callable[..., Awaitable[Any]] = house.journal.append

    def saving(memory: Memory) -> Memory:
        kill()
        return save(memory)

    async def appending(*drafts: Any, **claim: Any) -> Any:
        if step == "append":
            kill()
        events = await append(*drafts, **claim)
        if step == "written":
            kill()
        return events

    if step == "statement":
        house.memories.require_savable = saving  # type: ignore[method-assign]
    else:
        house.journal.append = appending  # type: ignore[method-assign]


if __name__ == "__main__":
    opened = House(Path(sys.argv[1]))
    arm(opened, sys.argv[2], Killer(int(sys.argv[3])))
    asyncio.run(opened.run())
    opened.close()
