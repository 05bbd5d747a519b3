"""Memory, put together: a part of the composition root.

Layer: below the daemon, which hands in what the whole daemon shares.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from stead.brain.dates import DAY_MS
from stead.config import Home, Settings
from stead.domain.directive_commands import SetDirective
from stead.domain.directives import Directives
from stead.domain.events import Event
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import Holder, Purges
from stead.domain.ids import SessionId
from stead.domain.memory import Evidence, MemoryId
from stead.domain.ports import Clock, Models
from stead.memory.backfill import Backfill
from stead.memory.books import MemoryBooks
from stead.memory.embedding.embedder import Embedder
from stead.memory.evidence import spoken
from stead.memory.files.export import MemoryExport
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.souls import DirectiveSouls
from stead.memory.files.sync import FileSync
from stead.memory.insights import Insights
from stead.memory.material import BooksMaterial
from stead.memory.meaning import Meaning
from stead.memory.purging import MemoryPurges
from stead.memory.retrieval import Retriever
from stead.providers.models import ProviderModels
from stead.runtime.bus import Bus
from stead.runtime.consolidation import Consolidation
from stead.runtime.extractor import Extractor
from stead.runtime.forgetting import Forgetting, Parts, said
from stead.runtime.loading import Loading
from stead.runtime.memories import Memories, MemoryStream
from stead.runtime.memory_files import FilePurges, MemoryFiles
from stead.runtime.memory_import import MemoryImport
from stead.runtime.memory_service import MemoryQueries, MemoryService
from stead.runtime.recalling import Recollection
from stead.runtime.reverting import Runs
from stead.runtime.settling import Settling
from stead.runtime.skills import Skills
from stead.runtime.soul_proposing import SoulProposals
from stead.runtime.upkeep import Upkeep
from stead.screen.redaction import Redactor
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue

if TYPE_CHECKING:
    from stead.providers.chosen_embedder import ChosenEmbedder

MEANING_DEADLINE_S = 1.0
"""How long a recall waits for its query's vector, and for what is near it."""


def new_id(prefix: str) -> str:
    """A fresh id with this prefix."""
    return f"{prefix}_{secrets.token_hex(8)}"


@dataclass(frozen=True)
class Shared:
    """What memory shares with the rest of the daemon.

    Args:
        journal: the truth.
        bus: the live stream.
        clock: see there.
        models: the providers, of which one may make vectors; says what a chain may be sent.
        copies: what else of the home holds copies of what the journal has.
        screened: the models that memory may ask, to which no secret goes.
        redactor: knows every secret of the home.
        holder: the writer of a stream, a session's or the home's.
        directives: as they are now.
        change_directive: sets one, through a door.
        live: whether anybody works, or looks.
    """

    journal: JournalFile
    bus: Bus
    clock: Clock
    models: ProviderModels
    copies: Sequence[Purges]
    screened: Callable[[], Models]
    redactor: Callable[[], Redactor]
    holder: Callable[[SessionId], Holder]
    directives: Callable[[], Directives]
    change_directive: Callable[[SetDirective, str], Awaitable[object]]
    live: Callable[[], bool]


class MemoryHouse:
    """All parts of memory of one home. Close it.

    Args:
        home: its folders exist.
        settings: see there.
        keys: the home's.
        shared: see there.
    """

    def __init__(self, home: Home, settings: Settings, keys: Keys, shared: Shared) -> None:
        journal, bus, clock, models = shared.journal, shared.bus, shared.clock, shared.models
        self._shared = shared
        self._worker = Embedder() if settings.embedder != "off" else None
        self._chosen = self._choose(settings.embedder)
        embeds = self._chosen or self._worker
        self.books = MemoryBooks(home.data / "memory", keys.views, journal, model=embeds.model_id if embeds else "")
        self._meaning: Meaning | None = None
        self._backfill: Backfill | None = None
        if embeds is not None and self._worker is not None:
            self._meaning = Meaning(embeds, self._worker, deadline_s=MEANING_DEADLINE_S)
            ready = self._worker.ready if embeds is self._worker else None
            self._backfill = Backfill(self.books, self._meaning, ready)
        retriever = Retriever(self.books.index, self._meaning, now_ms=clock.now_ms)
        memories = Memories(
            MemoryStream(journal=journal, bus=bus, clock=clock),
            self.books,
            self.books,
            new_id=new_id,
            keeps_secret=lambda said: _secret_in(said, shared.redactor()),
            forgotten=lambda said: self.forgetting.is_forgotten(said),
        )
        folder = MemoryFolder(home.memory_files, home.mirrored, clock.now_ms)
        souls = DirectiveSouls(shared.directives, lambda command: shared.change_directive(command, "mirror"))
        self.soul_proposals = SoulProposals(memories, souls)
        sync = FileSync(memories, self.books, journal, folder, souls)
        self.files = MemoryFiles(sync, bus)
        written = FilePurges(sync, folder, inside=home.memory_folder is None)
        purges = (*shared.copies, MemoryPurges(self.books, self._meaning), written)
        self.forgetting = self._forgetting(home, keys, shared, memories.stream, purges)
        files = Loading(self.books, self.books, recalled=settings.memory_recalled)
        recollection = Recollection(
            memories,
            retriever,
            files,
            models=models,
            clock=clock,
            forget=self.forget,
            fresh=self.files.fresh,
        )
        self.skills = Skills(recollection, retriever, self.books, journal)
        export = MemoryExport(self.books, self.books, hmac.digest(keys.digests, b"export of memory", "sha256"))
        runs = Runs(journal, self.books, self.books)
        importing = MemoryImport(memories, export)
        insights = Insights(self.books)
        queries = MemoryQueries(
            self.books,
            self.books,
            insights,
            retriever,
            files,
            runs,
            self.forgetting,
            export,
            mirror=lambda: self.files.state,
            progress=lambda: importing.progress,
            now_ms=clock.now_ms,
        )
        upkeep = self._upkeep(settings, shared, memories, runs)
        self.parts = MemoryService(memories, recollection, queries, upkeep, importing, export, self.forgetting)

    def _forgetting(
        self, home: Home, keys: Keys, shared: Shared, memory: MemoryStream, purges: Sequence[Purges]
    ) -> Forgetting:
        return Forgetting(
            Parts(
                journal=shared.journal,
                memory=memory,
                holder=shared.holder,
                purges=purges,
                files=Residue(home, keys),
                receipts=HomeReceipts(keys),
                words_of=self._words_of,
                bus=shared.bus,
                clock=shared.clock,
            )
        )

    def _upkeep(self, settings: Settings, shared: Shared, memories: Memories, runs: Runs) -> Upkeep:
        material, fades_ms = BooksMaterial(self.books, shared.journal), settings.memory_fades_days * DAY_MS
        consolidation = Consolidation(memories, material, fades_ms=fades_ms)
        return Upkeep(
            consolidation,
            Extractor(consolidation, shared.screened, shared.journal, tokens_a_day=settings.memory_tokens_a_day),
            runs,
            Settling(memories, self.forget, self._set_soul),
            shared.bus,
        )

    def grown(self, seq: int) -> None:
        """The journal has grown up to an event."""
        if self._backfill is not None:
            self._backfill.noticed(seq)

    @property
    def jobs(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What goes on beside the work, each for as long as the daemon lives."""
        files = partial(self.files.keep, self._shared.live)
        return [self.parts.upkeep.keep, files, *([self._backfill.keep] if self._backfill is not None else [])]

    async def forget(self, ids: Sequence[MemoryId], door: str) -> str:
        """Forget memories for good; what was done, in words."""
        return said(await self.forgetting.forget(Forget(memories=tuple(ids)), door))

    async def start(self) -> None:
        """Know what was forgotten, and finish forgetting what a crash cut off; before anything is taken in."""
        await asyncio.to_thread(self.forgetting.load)
        await self.forgetting.resume()

    async def _set_soul(self, text: str, door: str, proposed_ms: int) -> None:
        """Make a text that the person has accepted the soul, as if they had written it."""
        shared = self._shared
        souls = DirectiveSouls(shared.directives, lambda command: shared.change_directive(command, door))
        await souls.accept(text, proposed_ms)

    def _words_of(self, evidence: Evidence) -> str:
        event = self.books.event(evidence.seq)
        spoke = spoken(event, tainted=False) if isinstance(event, Event) else None
        return spoke.text if spoke else ""

    async def close(self) -> None:
        """Let everything go."""
        if self._meaning is not None:
            await self._meaning.close()
        if self._chosen is not None:
            await self._chosen.close()
        if self._worker is not None:
            await self._worker.close()
        self.books.close()

    def _choose(self, embedder: str) -> ChosenEmbedder | None:
        """The provider's embeddings that the settings name, if they do."""
        provider, _, model = embedder.partition("/")
        if not model:
            return None
        from stead.providers.chosen_embedder import ChosenEmbedder  # slow to import, and seldom chosen

        shared = self._shared
        return ChosenEmbedder(provider, model, shared.models.place, lambda text: shared.redactor().clean(text))


def _secret_in(text: str, redactor: Redactor) -> str:
    """What of a text is a secret, or looks like one, in words; "" for nothing."""
    found = next(iter(redactor.find(text)), None)
    if found is None:
        return ""
    return (
        f"it holds the value of the secret {found.name!r}"
        if found.name
        else f"it holds what looks like a secret ({found.rule})"
    )
