"""A home with its files of memory on a real file system, and a person who edits them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, tzinfo
from pathlib import Path

from stead.domain import events as ev
from stead.domain.directive_commands import SetDirective
from stead.domain.ids import CommandId
from stead.domain.memory import Memory
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import RowsWanted
from stead.memory.books import MemoryBooks
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.souls import DirectiveSouls
from stead.memory.files.sync import FileSync
from stead.runtime.bus import Bus
from stead.runtime.directives import DirectiveRoom
from stead.runtime.home import HomeStream
from stead.runtime.memories import Memories, MemoryStream
from stead.storage.journal import open_journal
from tests.build import START_MS
from tests.memory.saying import Sayings
from tests.storage.drafts import KEYS

Folders = Callable[[Path, Path, Callable[[], int]], MemoryFolder]


class Ticking:
    """A clock on which a second passes with every look, unless it is stopped."""

    def __init__(self) -> None:
        self.ms = START_MS
        self.step_ms = 1_000

    def now_ms(self) -> int:
        self.ms += self.step_ms
        return self.ms


class MirrorRoom:
    """All of memory but what finds things; close it.

    Args:
        folder: of the home.
        files: makes the folder of the files.
        first: number of the first id.
    """

    def __init__(
        self,
        folder: Path,
        files: Callable[[Path, Path, Callable[[], int]], MemoryFolder] = MemoryFolder,
        first: int = 1,
    ) -> None:
        self.root = folder / "memory-files"
        self.journal = open_journal(folder / "journal.db", KEYS)
        self.books = MemoryBooks(folder / "memory", KEYS.views, self.journal)
        self.sayings = Sayings(self.journal)
        self.clock = Ticking()
        self.bus = Bus()
        self.forgotten: set[str] = set()
        self.ids = itertools.count(first)
        self.memories = Memories(
            MemoryStream(journal=self.journal, bus=self.bus, clock=self.clock),
            self.books,
            self.books,
            new_id=lambda prefix: f"{prefix}_{next(self.ids):016x}",
            keeps_secret=lambda said: "it holds what looks like a secret" if "SECRET" in said else "",
            forgotten=lambda said: said.strip() in self.forgotten,
        )
        self.home = HomeStream(journal=self.journal, bus=self.bus, clock=self.clock)
        self.home.load()
        self.directives = DirectiveRoom(lambda: self.home.state, self.journal, self.memories.new_id)
        self.souls = DirectiveSouls(lambda: self.home.state.directives, self.change)
        self.files = files(self.root, folder / "mirror.json", self.clock.now_ms)
        self.mirroring = self.anew(UTC)

    def anew(self, zone: tzinfo | None = None) -> FileSync:
        """The sync as the next start has it."""
        return FileSync(self.memories, self.books, self.journal, self.files, self.souls, zone=zone)

    def close(self) -> None:
        self.books.close()
        self.journal.close()

    async def change(self, command: SetDirective) -> None:
        fact = await self.directives.change(command, "mirror")
        await self.home.record(fact, cause=CommandId("c_1"))

    async def remember(self, *memories: Memory) -> None:
        await self.note(*(ev.MemoryMade(memory, "cli") for memory in memories))

    async def note(self, *facts: MemoryFact) -> None:
        async with self.memories.stream.lock:
            await self.memories.stream.record(facts, by="person")

    def said(self) -> dict[str, Memory]:
        """The live memories, by their words."""
        found: dict[str, Memory] = {}
        after = ""
        while True:
            rows, after = self.books.rows(RowsWanted(limit=1_000, after=after))
            found.update((row.memory.text, row.memory) for row in rows)
            if not after:
                return found

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def edit(self, path: str, text: str) -> None:
        """As an editor saves: a new file in the old one's place."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f"{target.name}~")
        fresh.write_text(text, "utf-8")
        fresh.replace(target)

    def proposed(self) -> list[tuple[str, tuple[str, ...]]]:
        """What waits for an answer: the kind of proposal, and of which memories."""
        return [(row.proposal.what, row.proposal.memories) for row in self.books.proposals(waiting=True)]

    def every_file(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*.md"))}
