"""What is remembered, through the door: lists, the words behind each, what would be told, and what people say to it.

Layer: a door. It must not know what a memory means; who may see what is decided below. Whoever comes through this door
is the person, and sees every place.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from stead.domain import memory_commands as cmd
from stead.domain.commands import Answer
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
from stead.web.commands import Ask, Behind, Nothing
from stead.web.errors import Json
from stead.web.ids import know_ids
from stead.web.openapi import body_of, operation
from stead.web.views import Limit, Page

know_ids()
router = APIRouter(generate_unique_id_function=lambda route: route.name)

Id = Annotated[MemoryId, Path(pattern=r"^m_[0-9a-f]{16}$")]
Proposal = Annotated[ProposalId, Path(pattern=r"^p_[0-9a-f]{16}$")]
Run = Annotated[RunId, Path(pattern=r"^c_[0-9a-f]{16}$")]
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


@router.post("/memories", **operation(Answer, takes=WantedMemories))
async def remember(body: Annotated[WantedMemories, body_of(WantedMemories)], ask: Ask) -> Response:
    """Remember things; the answer says of each what became of it, with its id."""
    return await ask(cmd.Remember(body.items, body.level, body.directory))


@router.post("/memories/mark", **operation(Answer, takes=WantedMarks))
async def mark_memories(body: Annotated[WantedMarks, body_of(WantedMarks)], ask: Ask) -> Response:
    """Pin, unpin, and change other marks."""
    return await ask(cmd.MarkMemories(**msgspec.structs.asdict(body)))


@router.post("/memories/retire", **operation(Answer, takes=NamedMemories))
async def retire_memories(body: Annotated[NamedMemories, body_of(NamedMemories)], ask: Ask) -> Response:
    """Tell them no longer; they can be had back."""
    return await ask(cmd.RetireMemories(body.ids))


@router.post("/memories/restore", **operation(Answer, takes=NamedMemories))
async def restore_memories(body: Annotated[NamedMemories, body_of(NamedMemories)], ask: Ask) -> Response:
    """Have retired ones back."""
    return await ask(cmd.RestoreMemories(body.ids))


@router.post("/memories/import", **operation(Answer, takes=MemoryFile))
async def import_memories(body: Annotated[MemoryFile, body_of(MemoryFile)], ask: Ask) -> Response:
    """Take a file of memories in; the answer says how many were made, there already, and refused."""
    return await ask(cmd.ImportMemories(body.name, body.text, body.level, body.directory))


@router.post("/memories/consolidate", **operation(Answer, takes=Nothing))
async def consolidate_memory(body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Work what was said since the last run into memory now."""
    return await ask(cmd.Consolidate())


@router.post("/memories/runs/{run}/revert", **operation(Answer, takes=Nothing))
async def revert_memory_run(run: Run, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Take back what one run changed."""
    return await ask(cmd.RevertRun(run))


@router.post("/memories/proposals/{proposal}", **operation(Answer, takes=Settlement))
async def settle_memory_proposal(
    proposal: Proposal, body: Annotated[Settlement, body_of(Settlement)], ask: Ask
) -> Response:
    """Answer a proposal."""
    return await ask(cmd.SettleProposal(proposal, body.accept))


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


@router.put("/memories/{id:memory}", **operation(Answer, takes=WantedWords))
async def correct_memory(id: Id, body: Annotated[WantedWords, body_of(WantedWords)], ask: Ask) -> Response:
    """Put other words in its place; the answer has the new one's id."""
    return await ask(cmd.CorrectMemory(id, body.text, body.value, body.valid_from_ms, body.was_wrong))
