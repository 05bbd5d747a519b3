"""Memory as it is, over a test's own journal, without an embedder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path

from stead.config import Home
from stead.domain.errors import Conflict
from stead.domain.forgetting import Holder
from stead.domain.ids import SessionId
from stead.domain.memory import MemoryId
from stead.domain.mirroring import MirrorState
from stead.domain.ports import Clock, Models
from stead.memory.books import MemoryBooks
from stead.memory.files.export import MemoryExport
from stead.memory.insights import Insights
from stead.memory.material import BooksMaterial
from stead.memory.purging import MemoryPurges
from stead.memory.retrieval import Retriever
from stead.runtime.bus import Bus
from stead.runtime.consolidation import Consolidation
from stead.runtime.extractor import Extractor
from stead.runtime.forgetting import Forgetting, Parts
from stead.runtime.loading import Loading
from stead.runtime.memories import Memories, MemoryStream
from stead.runtime.memory_import import MemoryImport
from stead.runtime.memory_service import MemoryQueries, MemoryService
from stead.runtime.recalling import Recollection
from stead.runtime.reverting import Runs
from stead.runtime.settling import Settling
from stead.runtime.upkeep import Upkeep
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.purging import ReadModels
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue
from stead.storage.views import Views


def remembering(
    folder: Path,
    keys: Keys,
    journal: JournalFile,
    models: Models,
    bus: Bus,
    clock: Clock,
    new_id: Callable[[str], str],
    views: Views,
    holder: Callable[[SessionId], Holder],
) -> tuple[MemoryBooks, MemoryService]:
    """The indexes, which are to be closed, in a folder of their own, and what works with them."""
    books = MemoryBooks(Path(tempfile.mkdtemp(prefix="memory-", dir=folder)), keys.views, journal)
    retriever = Retriever(books.index, now_ms=clock.now_ms)
    memories = Memories(
        MemoryStream(journal=journal, bus=bus, clock=clock),
        books,
        books,
        new_id=new_id,
        keeps_secret=lambda said: "it holds what looks like a secret" if "SECRET" in said else "",
        forgotten=lambda said: False,
    )
    forgetting = Forgetting(
        Parts(
            journal=journal,
            memory=memories.stream,
            holder=holder,
            purges=(ReadModels(views), MemoryPurges(books, None)),
            files=Residue(Home(folder), keys),
            receipts=HomeReceipts(keys),
            words_of=lambda evidence: "",
            bus=bus,
            clock=clock,
        )
    )
    files = Loading(books, books)
    recollection = Recollection(memories, retriever, files, models=models, clock=clock, forget=_nothing_forgotten)
    export = MemoryExport(books, books, keys.digests)
    runs = Runs(journal, books, books)
    mirror = MirrorState(alive=True, reason="", folder="", last_sync_ms=0)
    insights = Insights(books)
    queries = MemoryQueries(
        books,
        books,
        insights,
        retriever,
        files,
        runs,
        forgetting,
        export,
        mirror=lambda: mirror,
        progress=lambda: (0, 0),
        now_ms=clock.now_ms,
    )
    consolidation = Consolidation(memories, BooksMaterial(books, journal), UTC)
    settling = Settling(memories, _nothing_forgotten, _no_soul)
    extractor = Extractor(consolidation, lambda: models, journal, tokens_a_day=0)  # the script is the sessions'
    upkeep = Upkeep(consolidation, extractor, runs, settling, bus)
    importing = MemoryImport(memories, export)
    return books, MemoryService(memories, recollection, queries, upkeep, importing, export, forgetting)


async def _no_soul(text: str, door: str, proposed_ms: int) -> None:
    raise Conflict(f"this world has no soul: {len(text)} characters, said in {door!r}, proposed at {proposed_ms}")


async def _nothing_forgotten(ids: Sequence[MemoryId], door: str) -> str:
    raise Conflict(f"this world forgets nothing: {len(ids)} memories, asked from {door!r}")
