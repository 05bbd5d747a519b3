"""A journal, its indexes and what consolidates it, for tests; time is the sayings'."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.memory import MemoryId, MemoryRow, ProposalId, RunId
from stead.domain.memory_events import MemoryConsolidated, MemoryProposed
from stead.domain.memory_ports import RowsWanted
from stead.domain.policies import Label
from stead.domain.sessions import PERSON
from stead.memory.books import MemoryBooks
from stead.memory.material import BooksMaterial
from stead.memory.retrieval import Retriever
from stead.runtime.bus import Bus
from stead.runtime.consolidation import Consolidation
from stead.runtime.memories import Memories, MemoryStream
from stead.runtime.reverting import Runs
from stead.runtime.settling import Settling
from stead.storage.journal import JournalFile, open_journal
from tests.memory.saying import Sayings
from tests.storage.drafts import DAY_MS, KEYS


class Talk(Sayings):
    """Sayings beside a daemon's own part, which writes to the stream of memory."""

    def __init__(self, journal: JournalFile) -> None:
        super().__init__(journal)
        self.journal = journal

    async def tell(self, id: SessionId, body: ev.Body) -> int:
        """Let something be recorded."""
        self._places[id] = self.journal.place_of(id)
        return await super().tell(id, body)

    async def works(self, id: SessionId, asked: str, *steps: str, ok: bool = True, label: Label = PERSON) -> None:
        """The person asks for something, the model runs these commands, and the turn ends."""
        await self.says(id, asked)
        for number, step in enumerate(steps):
            key = CallKey(f"call_1_{number}")
            arguments = f'{{"command":"{step}"}}'
            await self.tell(id, ev.ToolStarted(key, "shell", arguments, CallDigest(""), idempotent=False))
            source = "web:crook.example" if label.taints else ""
            await self.tell(id, ev.ToolFinished(key, "shell", "ok", "fine", label, 4, 1, source=source))
        await self.tell(id, ev.TurnEnded(1, "done" if ok else "stall", "Done."))


class House:
    """One home's memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = open_journal(folder / "journal.db", KEYS)
        self.talk = Talk(self.journal)
        self.books = MemoryBooks(folder / "memory", KEYS.views, self.journal)
        numbers = itertools.count(self.journal.head() + 1)
        self.forgotten: set[str] = set()
        self.bus = Bus()
        stream = MemoryStream(journal=self.journal, bus=self.bus, clock=self)
        self.memories = Memories(
            stream,
            self.books,
            self.books,
            new_id=lambda prefix: f"{prefix}_{next(numbers):016x}",
            keeps_secret=lambda said: "it looks like a secret" if "hunter2" in said else "",
            forgotten=lambda said: any(word in said for word in self.forgotten),
        )
        self.material = BooksMaterial(self.books, self.journal)
        self.consolidation = Consolidation(self.memories, self.material, UTC)
        self.runs = Runs(self.journal, self.books, self.books)
        self.forgot: list[MemoryId] = []
        self.souls: list[str] = []
        self.settling = Settling(self.memories, self._forget, self._set_soul)
        self.retriever = Retriever(self.books.index, now_ms=self.now_ms)

    def now_ms(self) -> int:
        """By the talk's clock."""
        return self.talk.now_ms

    def later(self, days: float) -> None:
        """Let time pass."""
        self.talk.now_ms += int(days * DAY_MS)

    async def hears(self, id: SessionId, *texts: str, directory: str = "/ada/notes") -> None:
        """The person says these in a session of their own, which is begun if it has not been."""
        if not self.journal.place_of(id):
            await self.talk.open(id, directory)
        for text in texts:
            await self.talk.says(id, text)

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Consolidate."""
        return await self.consolidation.run()

    async def take_back(self, run: MemoryConsolidated) -> MemoryConsolidated:
        """Revert a run."""
        async with self.memories.stream.lock:
            facts, _ = await self.runs.taken_back(run.run, RunId(self.memories.new_id("c")), "cli")
            await self.memories.stream.record(facts, by="person")
        closing = facts[-1]
        assert isinstance(closing, MemoryConsolidated)
        return closing

    def asked(self, what: str, text: str = "") -> MemoryProposed:
        """The one proposal of a kind that waits."""
        waiting = [row.proposal for row in self.books.proposals(waiting=True)]
        (one,) = [proposal for proposal in waiting if (proposal.what, proposal.text) == (what, text)]
        return one

    async def settle(self, id: ProposalId, *, accept: bool) -> str:
        """Answer a proposal."""
        await self.settling.before(id, accept, "cli")
        async with self.memories.stream.lock:
            facts, text = await self.settling.facts(id, accept, "cli")
            await self.memories.stream.record(facts, by="person")
        return text

    async def _forget(self, ids: Sequence[MemoryId], door: str) -> str:
        self.forgot += ids
        return "forgotten"

    async def _set_soul(self, text: str, door: str, proposed_ms: int) -> None:
        self.souls.append(text)

    def rows(self, **wanted: object) -> list[MemoryRow]:
        """Memories, oldest first."""
        rows, _ = self.books.rows(replace(RowsWanted(limit=1000), **wanted))
        return list(reversed(rows))

    def live(self) -> dict[str, str]:
        """What holds now: values by key."""
        return {row.memory.key: row.memory.value for row in self.rows()}

    def close(self) -> None:
        """Close the files."""
        self.books.close()
        self.journal.close()
