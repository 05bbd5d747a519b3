"""Forgets in a process of its own, which is killed before a given statement of any of the home's databases.

``python -m tests.runtime.forget_and_die FOLDER NUMBER`` works on the home in ``FOLDER``; it says "done" if it comes to
its end. Between two statements nothing of the disk changes, so this is every moment that a crash can make differ.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stead.config import Home
from stead.domain.forget_commands import Forget
from stead.memory.books import MemoryBooks
from stead.memory.purging import MemoryPurges
from stead.runtime.bus import Bus
from stead.runtime.forgetting import Forgetting, Parts
from stead.runtime.memories import MemoryStream
from stead.storage.database import Connect, connect
from stead.storage.journal import JournalFile, open_journal
from stead.storage.purging import ReadModels
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue
from stead.storage.views import Views
from tests.fakes.world import KEYS, Ticking

if TYPE_CHECKING:
    from sqlite3 import Connection

PHRASE = "the quillfeather of Torvald Skaane"


class Nobody:
    """Writes no stream."""

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        yield


class QuietHome:
    """A home in which nobody is at work: its record, and what was made of it.

    Args:
        folder: with its files.
        connect: how connections are made.
    """

    def __init__(self, folder: Path, connect: Connect = connect) -> None:
        clock, bus = Ticking(), Bus()
        self.journal: JournalFile = open_journal(folder / "journal.db", KEYS, connect=connect)
        self.views = Views(folder / "views.db", KEYS, self.journal, connect=connect)
        self.books = MemoryBooks(folder / "memory", KEYS.views, self.journal, connect=connect)
        self.forgetting = Forgetting(
            Parts(
                journal=self.journal,
                memory=MemoryStream(journal=self.journal, tips=self.journal, bus=bus, clock=clock),
                holder=lambda id: Nobody(),
                purges=(ReadModels(self.views), MemoryPurges(self.books, None)),
                files=Residue(Home(folder), KEYS),
                receipts=HomeReceipts(KEYS),
                words_of=lambda evidence: "",
                bus=bus,
                clock=clock,
            )
        )

    def close(self) -> None:
        """Let the files go."""
        self.books.close()
        self.views.close()
        self.journal.close()


def main(folder: Path, number: int) -> None:
    """Forget until killed."""
    left = number
    burning = False

    def count(_statement: str) -> None:
        nonlocal left
        left -= burning
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(path: Path, key: bytes) -> Connection:
        connection = connect(path, key)
        connection.set_trace_callback(count)
        return connection

    home = QuietHome(folder, watched)
    burning = True
    asyncio.run(home.forgetting.forget(Forget(words=(PHRASE,)), "cli"))
    os.write(1, b"done\n")
    os.kill(os.getpid(), signal.SIGKILL)  # it does not leave in good order either


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
