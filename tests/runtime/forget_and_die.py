"""Forgets in a process of its own, which is killed before a given step.

``python -m tests.runtime.forget_and_die FOLDER NUMBER`` works on the home in ``FOLDER``. A step is a statement that
writes into one of the home's databases, or a file that is opened for writing, moved or removed; between two of them
nothing of the disk changes, so this is every moment that a crash can make differ. With 0 it comes to its end, and says
of each step what kind it was.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stead.config import Home
from stead.domain import events as ev
from stead.domain.directive_commands import SetDirective
from stead.domain.directives import Directives
from stead.domain.forget_commands import Forget
from stead.domain.memory import MEMORY
from stead.memory.books import MemoryBooks
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.souls import DirectiveSouls
from stead.memory.files.sync import FileSync
from stead.memory.purging import MemoryPurges
from stead.runtime.bus import Bus
from stead.runtime.forgetting import Forgetting, Parts
from stead.runtime.memories import Memories, MemoryStream
from stead.runtime.memory_files import FilePurges
from stead.storage.database import Connect, connect
from stead.storage.journal import JournalFile, open_journal
from stead.storage.purging import ReadModels
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue
from stead.storage.views import Views
from tests import forks
from tests.fakes.world import KEYS, Ticking

if TYPE_CHECKING:
    from sqlite3 import Connection

PHRASE = "the quillfeather of Torvald Skaane"
SHARP = "Weißbachstraße"
LIKE_A_NAME = "person"
"""Stands in many facts as what somebody is, and in few as a word."""
SHORT = "PIN 4711"
"""A memory that is forgotten by its id."""
_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")


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
        stream = MemoryStream(journal=self.journal, bus=bus, clock=clock)
        ids = itertools.count(0xF000)
        self.memories = Memories(
            stream,
            self.books,
            self.books,
            new_id=lambda prefix: f"{prefix}_{next(ids):016x}",
            keeps_secret=lambda said: "",
            forgotten=lambda said: self.forgetting.is_forgotten(said),
        )
        files = MemoryFolder(folder / "memory-files", folder / "memory-files.json", stream.now_ms)
        souls = DirectiveSouls(Directives, _no_soul)
        self.mirroring = FileSync(self.memories, self.books, self.journal, files, souls)
        self.forgetting = Forgetting(
            Parts(
                journal=self.journal,
                memory=stream,
                holder=lambda id: Nobody(),
                purges=(
                    ReadModels(self.views),
                    MemoryPurges(self.books, None),
                    FilePurges(self.mirroring, files, inside=True),
                ),
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

    def wanted(self) -> Forget:
        """What is forgotten: words, and the short memory."""
        facts = (event.body for event in self.journal.events(session=MEMORY) if isinstance(event, ev.Event))
        short = [fact.memory.id for fact in facts if isinstance(fact, ev.MemoryMade) and fact.memory.text == SHORT]
        return Forget(memories=tuple(short), words=(PHRASE, SHARP, LIKE_A_NAME))


async def _no_soul(command: SetDirective) -> None:
    raise AssertionError(f"nobody has edited {command.title!r}")


def kinds_of_steps(folder: Path) -> list[str]:
    """Forget to the end; gives what kind each step was."""
    return _run(folder, 0).split("\n")


def killed_at(folder: Path, number: int) -> None:
    """Forget in another process, killed before this step, or at its end."""
    _run(folder, number)


def sampled(kinds: Sequence[str], rng: random.Random) -> list[int]:
    """Steps, one of each kind and the first and the last, in order; one behind the last for the end."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for number, kind in enumerate(kinds, 1):
        by_kind[kind].append(number)
    return sorted({1, len(kinds), len(kinds) + 1, *(rng.choice(numbers) for numbers in by_kind.values())})


def _run(folder: Path, number: int) -> str:
    ended = forks.run("tests.runtime.forget_and_die", [str(folder), str(number)], timeout_s=120)
    assert ended.returncode == -signal.SIGKILL, ended
    return ended.stdout


class Steps:
    """Counts steps of one folder, and dies before one of them.

    Args:
        folder: whose.
        number: of the step, from 1 on; 0 for none.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = str(folder)
        self.number = number
        self.kinds: list[str] = []
        self.burning = False

    def take(self, kind: str) -> None:
        """Here is the next step."""
        if self.burning:
            self.kinds.append(kind)
            if len(self.kinds) == self.number:
                os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, event: str, values: tuple[object, ...]) -> None:
        """What Python tells of its own doing."""
        if not self.burning or (event != "open" and event not in _CHANGES):
            return
        path = os.fsdecode(values[0]) if isinstance(values[0], str | bytes) else ""
        here = path.startswith(self.folder) or not path.startswith("/")  # the files of memory are named in their folder
        if here and (event != "open" or _writes(values)):
            self.take(f"{event} {Path(path).suffix}")

    def watched(self, path: Path, key: bytes) -> Connection:
        """A connection of which every statement counts."""
        connection = connect(path, key)

        def traced(statement: str) -> None:
            words = statement.removeprefix("-- ").split()
            if words[0] not in ("SELECT", "BEGIN", "PRAGMA") or words[1].startswith("wal_checkpoint"):
                self.take(f"{path.name} {' '.join(words[:2])}")

        connection.set_trace_callback(traced)
        return connection


def _writes(values: tuple[object, ...]) -> bool:
    _, mode, flags = values
    if isinstance(mode, str):
        return any(sign in mode for sign in "wax+")
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) != 0


def main(folder: Path, number: int) -> None:
    """Forget until killed."""
    steps = Steps(folder, number)
    sys.addaudithook(steps.heard)
    home = QuietHome(folder, steps.watched)
    steps.burning = True
    asyncio.run(home.forgetting.forget(home.wanted(), "cli"))
    steps.burning = False
    sys.stdout.write("\n".join(steps.kinds))
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)  # it does not leave in good order either


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
