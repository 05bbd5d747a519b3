"""What is remembered, through the door: lists, the words behind each, what would be told, and what people say to it.

Layer: a door. It must not know what a memory means; who may see what is decided below. Whoever comes through this door
is the person, and sees every place.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import Path, Query
from fastapi.responses import Response

from stead.domain import memory_commands as cmd
from stead.domain.consolidating import RunDiff
from stead.domain.memory import (
    Kind,
    MemoryId,
    MemoryRow,
    Origin,
    PlaceId,
    ProposalId,
    Recalled,
    RunId,
    Source,
    Standing,
)
from stead.domain.memory import Query as Recall
from stead.domain.memory_events import LoadedFile, MemoryConsolidated
from stead.domain.memory_ports import Analytics, JournalLine, Place, ProposalRow, Quote, RowsWanted
from stead.runtime.memory_room import MemoryState
from stead.web.commands import Behind, CommandRouter
from stead.web.errors import Json
from stead.web.ids import know_ids
from stead.web.openapi import operation
from stead.web.views import Limit, Page

know_ids()
Id = Annotated[MemoryId, Path(pattern=r"^m_[0-9a-f]{16}$")]
Proposal = Annotated[ProposalId, Path(pattern=r"^p_[0-9a-f]{16}$")]
Run = Annotated[RunId, Path(pattern=r"^c_[0-9a-f]{16}$")]
router = CommandRouter(id=Id, proposal=Proposal, run=Run)
Where = Annotated[PlaceId, Query(pattern=r"^(global|[wc]_[0-9a-f]{16})?$", description='"" for every place.')]
Folder = Annotated[str, Query(max_length=4096, pattern="^(/.*)?$", description='A folder; "" for none.')]
EVERY_PLACE = PlaceId("")
After = Annotated[
    str,
    Query(
        pattern=r"^(((global|[wc]_[0-9a-f]{16})-)?[0-9]{1,16}_[0-9]{1,18})?$",
        description="The ``next`` of the page before.",
    ),
]
Moment = Annotated[int, Query(ge=0, le=2**53, description="Milliseconds since 1970; 0 for now.")]


# -- bodies ---------------------------------------------------------------------------------------------------------


class WantedMemories(cmd.Remember, frozen=True, tag=False, forbid_unknown_fields=True):
    """What is to be remembered, and who sees it."""


class WantedWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other words in place of a memory's; see ``CorrectMemory``."""

    text: str
    value: str = ""
    valid_from_ms: Annotated[int, msgspec.Meta(ge=0)] = 0
    was_wrong: bool = False


class WantedMarks(cmd.MarkMemories, frozen=True, tag=False, forbid_unknown_fields=True):
    """Which marks of which memories change."""


class NamedMemories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which memories."""

    ids: tuple[MemoryId, ...]


class Settlement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to a proposal."""

    accept: bool


class MemoryFile(cmd.ImportMemories, frozen=True, tag=False, forbid_unknown_fields=True):
    """A file of memories to take in."""


class RunRow(msgspec.Struct, frozen=True):
    """A run of consolidation, and when it ended."""

    ended_ms: int
    run: MemoryConsolidated


# -- looking --------------------------------------------------------------------------------------------------------


@router.get("/memories", **operation(Page[MemoryRow]))
async def list_memories(
    behind: Behind,
    place: Where = EVERY_PLACE,
    kind: Annotated[list[Kind] | None, Query()] = None,
    status: Annotated[list[Standing] | None, Query()] = None,
    origin: Annotated[list[Origin] | None, Query()] = None,
    pinned: bool = False,
    words: Annotated[str, Query(max_length=500)] = "",
    run: Annotated[str, Query(pattern=r"^(c_[0-9a-f]{16})?$")] = "",
    after: After = "",
    limit: Limit = 50,
) -> Response:
    """Memories, newest first; the live ones if no status is named."""
    wanted = RowsWanted(
        place=place,
        kinds=tuple(kind or ()),
        status=tuple(status or ("live",)),
        origins=tuple(origin or ()),
        pinned=pinned,
        words=words,
        run=RunId(run),
        after=after,
        limit=limit,
    )
    rows, cursor = await asyncio.to_thread(behind.service.memory.remembered.rows, wanted)
    return Json(Page(rows, cursor))


@router.get("/memories/recall", **operation(Recalled))
async def preview_recall(
    behind: Behind,
    query: Annotated[str, Query(max_length=4000)],
    directory: Folder = "",
    attended: bool = True,
    as_of_ms: Moment = 0,
    known_ms: Moment = 0,
    source: Annotated[list[Source] | None, Query()] = None,
    kind: Annotated[list[Kind] | None, Query()] = None,
    trusted: bool = True,
    superseded: bool = False,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """What a session in a folder would be told for these words, and why; it is not counted as told."""
    asked = Recall(
        query,
        limit=limit,
        as_of_ms=as_of_ms,
        known_ms=known_ms,
        sources=tuple(source or ()),
        kinds=tuple(kind or ()),
        trusted=trusted,
        superseded=superseded,
    )
    return Json(await behind.service.memory.preview(asked, directory, attended=attended))


@router.get("/memories/loaded", **operation(Page[LoadedFile]))
async def list_loaded_files(behind: Behind, directory: Folder = "", attended: bool = True) -> Response:
    """The files of memory with which a session in a folder would begin now, in the order in which they are told."""
    return Json(Page(await behind.service.memory.loaded(directory, attended=attended)))


@router.get("/memories/state", **operation(MemoryState))
async def show_memory_state(behind: Behind) -> Response:
    """Whether memory works: its legs, its places, what waits."""
    return Json(await behind.service.memory.state())


@router.get("/memories/places", **operation(Page[Place]))
async def list_memory_places(behind: Behind) -> Response:
    """Where things are remembered."""
    return Json(Page(await asyncio.to_thread(behind.service.memory.reports.places)))


@router.get("/memories/analytics", **operation(Analytics))
async def show_memory_analytics(
    behind: Behind, place: Where = EVERY_PLACE, days: Annotated[int, Query(ge=1, le=3660)] = 90
) -> Response:
    """How memory grows, what is used, and how much of it is junk."""
    now_ms = behind.clock.now_ms()
    since_ms = now_ms - days * 86_400_000
    return Json(await asyncio.to_thread(behind.service.memory.insights.analytics, place, since_ms, now_ms))


@router.get("/memories/journal", **operation(Page[JournalLine]))
async def list_memory_journal(
    behind: Behind, place: Annotated[PlaceId, Query(pattern=r"^[wc]_[0-9a-f]{16}$")], since_ms: Moment, until_ms: Moment
) -> Response:
    """What happened in a place, oldest first."""
    return Json(Page(await asyncio.to_thread(behind.service.memory.reports.days, place, since_ms, until_ms)))


@router.get("/memories/export", **operation({"type": "string"}, media_type="text/plain"))
async def export_memories(
    behind: Behind, format: Literal["jsonl", "markdown"] = "jsonl", place: Where = EVERY_PLACE
) -> Response:
    """What is remembered, as text: lines of JSON that this home has back as they were, or Markdown to be read."""
    lines = behind.service.memory.whole.export.lines
    text = await asyncio.to_thread(lambda: b"".join(lines(format, place, behind.clock.now_ms())))
    return Response(text, media_type="text/plain; charset=utf-8")


@router.get("/memories/proposals", **operation(Page[ProposalRow]))
async def list_memory_proposals(behind: Behind, status: Literal["waiting", "all"] = "waiting") -> Response:
    """What Stead, a file or a model would change and only the person may, newest first."""
    waiting = status == "waiting"
    rows = await asyncio.to_thread(lambda: behind.service.memory.reports.proposals(waiting=waiting))
    return Json(Page(rows))


@router.get("/memories/runs", **operation(Page[RunRow]))
async def list_memory_runs(behind: Behind, limit: Limit = 50) -> Response:
    """Runs of consolidation, newest first."""
    runs = await asyncio.to_thread(behind.service.memory.reports.runs, limit)
    return Json(Page(tuple(RunRow(ended_ms, run) for ended_ms, run in runs)))


@router.get("/memories/runs/{run}/diff", **operation(RunDiff))
async def show_memory_run(run: Run, behind: Behind) -> Response:
    """What one run changed: each memory before and after it, and what it proposed."""
    return Json(await behind.service.memory.whole.runs.diff(run))


# -- saying ---------------------------------------------------------------------------------------------------------


router.command("/memories", "remember", cmd.Remember, WantedMemories)
router.command("/memories/mark", "mark_memories", cmd.MarkMemories, WantedMarks)
router.command("/memories/retire", "retire_memories", cmd.RetireMemories, NamedMemories)
router.command("/memories/restore", "restore_memories", cmd.RestoreMemories, NamedMemories)
router.command("/memories/import", "import_memories", cmd.ImportMemories, MemoryFile)
router.command("/memories/consolidate", "consolidate_memory", cmd.Consolidate)
router.command("/memories/runs/{run}/revert", "revert_memory_run", cmd.RevertRun)
router.command("/memories/proposals/{proposal}", "settle_memory_proposal", cmd.SettleProposal, Settlement)


# -- one of them: last, since words stand above where an id could --------------------------------------------------


@router.get("/memories/{id:memory}", **operation(MemoryRow))
async def show_memory(id: Id, behind: Behind) -> Response:
    """One memory, whatever became of it."""
    return Json(await asyncio.to_thread(behind.service.memory.remembered.row, id))


@router.get("/memories/{id:memory}/evidence", **operation(Page[Quote]))
async def list_memory_evidence(id: Id, behind: Behind) -> Response:
    """The words that it rests on."""
    desk = behind.service.memory
    return Json(Page(await asyncio.to_thread(lambda: desk.insights.quotes(desk.remembered.row(id).memory))))


@router.get("/memories/{id:memory}/versions", **operation(Page[MemoryRow]))
async def list_memory_versions(id: Id, behind: Behind) -> Response:
    """All that was held in its place, oldest first."""
    return Json(Page(await asyncio.to_thread(behind.service.memory.insights.chain, id)))


router.command("/memories/{id:memory}", "correct_memory", cmd.CorrectMemory, WantedWords, method="PUT")
